/* SPDX-License-Identifier: MIT */
/*
 * lasting.h - how long a log's stream lived, and what its clocks contradict each other in.  Lengths come from
 * CLOCK_MONOTONIC, by which events are placed, too; the civil clock may be set meanwhile.
 */
#ifndef PXT_LASTING_H
#define PXT_LASTING_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

/* From creation to shutdown, in nanoseconds; 0 where that is not known. */
int64_t pxt_lasting_ns(const struct posix_trace_loginfo_np *info);
/* The end on the line on which the log's events are, since 1970; 0 where it is not known. */
int64_t pxt_lasting_end(const struct posix_trace_loginfo_np *info);
/* Whether the civil clock was set meanwhile, by more than a second; *by: forward, in nanoseconds. */
bool pxt_lasting_stepped(const struct posix_trace_loginfo_np *info, int64_t *by);

/*
 * Whether the CLOCK_MONOTONIC of two logs of one boot is one, as the processor's counter says, which is one for
 * all time namespaces, and which nobody sets.  *counted: it could say so; else they are taken for one.
 */
bool pxt_lasting_one_monotonic(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b, bool *counted);

#endif
