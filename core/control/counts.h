/* SPDX-License-Identifier: MIT */
/*
 * counts.h - what a stream counted, and the law of its counts.
 *
 *   concurrency: under the stream's mutex, beside writers.
 */
#ifndef PXT_COUNTS_H
#define PXT_COUNTS_H

#include "core/stream/stream.h"

void pxt_counts_take(struct pxt_stream *stream, struct posix_trace_counts_np *counts);

#endif
