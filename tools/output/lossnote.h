/* SPDX-License-Identifier: MIT */
/*
 * lossnote.h - notes in which pxtrace says where events of a log were lost that it wrote itself: such a loss
 * wants another remedy than one in the stream or the log.
 */
#ifndef PXT_LOSSNOTE_H
#define PXT_LOSSNOTE_H

#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define PXT_LOSSNOTE_LINK  "lost_on_link"      /* receive: frames that did not arrive */
#define PXT_LOSSNOTE_SCHED "lost_by_scheduler" /* run: the kernel had no room for its records */

void pxt_lossnote_make(struct posix_trace_lognote_np *note, const char *name, uint64_t events);
/* What the log's notes of that name add up to. */
uint64_t pxt_lossnote_sum(trace_id_t trid, const char *name);

#endif
