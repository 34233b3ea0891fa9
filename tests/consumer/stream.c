/* SPDX-License-Identifier: MIT */
/*
 * stream.c - users' programs.  It records one event and reads it back.
 *
 *	-DREADER      only reads logs: no stream, no thread
 *	-DTAILORED    holds what a configuration decides: a set's size, and, but with -DONLY_SETS, the table that
 *	              trace points look at.  0: the library is of the same configuration; else nothing of the kind
 *	              may happen.
 */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef READER
int main(void)
{
	FILE *file = tmpfile();
	trace_id_t trid;

	/* An empty file is no log. */
	return file && posix_trace_open(fileno(file), &trid) == EINVAL ? 0 : 1;
}
#elif defined(TAILORED)
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
#else
int main(void)
{
	struct posix_trace_event_info info;
	trace_event_id_t id;
	trace_id_t trid;
	char data[8];
	size_t bytes = 0;
	int none = 0;

	if (posix_trace_eventid_open("consumer", &id) != 0 ||
	    posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
		return 1;
	if (posix_trace_wanted_np(id))
		posix_trace_event(id, "payload", 7);
	do {
		if (posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) !=
		        0 ||
		    none)
			return 2;
	} while (!posix_trace_eventid_equal(trid, info.posix_event_id, id));
	(void)printf("%.*s\n", (int)bytes, data);
	return bytes == 7 && posix_trace_shutdown(trid) == 0 ? 0 : 3;
}
#endif
