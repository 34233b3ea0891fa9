/* SPDX-License-Identifier: MIT */
/*
 * sleep.h - a reader that sleeps until a writer has stored something.
 *
 *   concurrency: by readers, with the stream's mutex; writers look at `asleep` at any time, and the
 *   one that finds it set wakes the readers.
 */
#ifndef PXT_SLEEP_H
#define PXT_SLEEP_H

#include "core/stream/stream.h"

/*
 * Sleeps until pxt_online_take() has an event for @request.  The stream's mutex is given up while
 * sleeping.  ETIMEDOUT; EINTR: a signal's handler ran; EINVAL: the time is none, or the stream was
 * shut down.
 */
int pxt_sleep_for_event(struct pxt_stream *stream, const struct pxt_getnext *request);

#endif
