/* SPDX-License-Identifier: MIT */
/*
 * sets.c - a filter keeps a group of types out of a stream, but one.
 *
 * Page: posix_trace_eventset_add, posix_trace_eventset_del, posix_trace_eventset_empty,
 * posix_trace_eventset_fill, posix_trace_eventset_ismember,
 * posix_trace_eventset_addgroup_np - sets of event types
 * Page: posix_trace_set_filter, posix_trace_get_filter - the types that a stream does not record
 *
 * Prints:
 *	net_in: not recorded
 *	net_error: recorded
 *	disk_in: recorded
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	static const char *const names[] = { "net_in", "net_error", "disk_in" };
	trace_event_id_t types[3];
	trace_event_set_t set;
	trace_id_t trid;
	int filtered;

	must(posix_trace_create(0, NULL, &trid));
	for (size_t i = 0; i < 3; i++)
		must(posix_trace_eventid_open(names[i], &types[i]));
	must(posix_trace_eventset_empty(&set));
	must(posix_trace_eventset_addgroup_np("net_*", &set));
	must(posix_trace_eventset_del(types[1], &set));
	must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));

	must(posix_trace_get_filter(trid, &set));
	for (size_t i = 0; i < 3; i++) {
		must(posix_trace_eventset_ismember(types[i], &set, &filtered));
		(void)printf("%s: %s\n", names[i], filtered ? "not recorded" : "recorded");
	}
	must(posix_trace_shutdown(trid));
	return 0;
}
