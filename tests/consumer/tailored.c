/* SPDX-License-Identifier: MIT */
/*
 * tailored.c - a user's program that holds what a configuration decides: a set's size, and, but with ONLY_SETS,
 * the table that trace points look at.  0: the library is of the same configuration; else nothing of the kind
 * may happen.
 */
#include <trace_np.h>

#include <stdio.h>
#include <string.h>

#ifndef ONLY_SETS
POSIX_TRACE_DEFINE_NP(tick, u32, number);
#endif

int main(void)
{
	struct {
		trace_event_set_t set;
		unsigned char after[256];
	} room;
	struct posix_trace_counts_np counts;
	trace_id_t trid;
	unsigned made = 0;

	printf("begun: %s\n", _PXT_CONFIGURATION);
	(void)fflush(stdout);
	(void)memset(&room, 0x55, sizeof(room));
	if (posix_trace_eventset_fill(&room.set, POSIX_TRACE_ALL_EVENTS) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(room.after); i++) {
		if (room.after[i] != 0x55)
			return 2;
	}
	if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
		return 3;
#ifndef ONLY_SETS
	for (; made < 100; made++)
		posix_trace_point_np(tick, made);
#endif
	if (posix_trace_stop(trid) != 0 ||
	    posix_trace_getcounts_np(trid, &counts, sizeof(counts)) != 0)
		return 4;
	return counts.posix_written_np >= made && posix_trace_shutdown(trid) == 0 ? 0 : 5;
}
