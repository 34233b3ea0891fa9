/* SPDX-License-Identifier: MIT */
/*
 * ended.h - how a log came to its end: the signal that ended its process, what could not be written, how long
 * its stream lived; and whether it began at all.
 */
#ifndef PXT_ENDED_H
#define PXT_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

/* "signal 11 (SIGSEGV) ..."; false: by none. */
bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room);

/* "SIGSEGV", of Linux' numbers; "real-time" of others. */
const char *pxt_ended_signal(int number);

/* What every command says of a log of which the next is true. */
#define PXT_NEVER_STARTED                                                                          \
	"nothing was recorded, not even the start: the stream was never started "                  \
	"(posix_trace_start()), or all types are filtered"
/* Of a log in which @events were read to its end. */
bool pxt_never_started(const struct posix_trace_loginfo_np *info, uint64_t events);

/*
 * ---- Why a log could not be written, in words, and what else is not in it ----
 */

struct pxt_unwritten {
	char text[64];      /* "no space left on the device (ENOSPC)" */
	const char *advice; /* what loses less */
};

/* The first flush that failed, as the log's end says; false: none did. */
bool pxt_unwritten(trace_id_t trid, struct pxt_unwritten *why);
/* Records that the log was given and does not hold: overwritten, without room, or in a damaged place. */
uint64_t pxt_unwritten_records(const struct posix_trace_loginfo_np *info);

/*
 * ---- How long a log's stream lived, and where its clocks contradict each other ----
 *
 * Lengths come from CLOCK_MONOTONIC, by which events are placed, too.
 * The civil clock may be set meanwhile.
 */

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
