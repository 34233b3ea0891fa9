/* SPDX-License-Identifier: MIT */
/*
 * seal.h - the stop of a stream when its process is about to end by a signal.
 *
 *   concurrency: in the handler of a fatal signal, with the stream's mutex alone.
 */
#ifndef PXT_SEAL_H
#define PXT_SEAL_H

#include "core/stream/stream.h"

/*
 * Stops because the process ends, as an automatic stop; in a signal handler, without the process
 * lock.  Takes up to the hold-back time.  Control calls of other streams put right what is left.
 */
void pxt_seal_stream(struct pxt_stream *stream);

#endif
