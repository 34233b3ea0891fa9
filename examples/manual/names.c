/* SPDX-License-Identifier: MIT */
/*
 * names.c - the list of event types, by name; a filter keeps a group of them out, but one.
 *
 * Page: posix_trace_eventid_get_name, posix_trace_eventid_equal,
 * posix_trace_trid_eventid_open - names of event types
 * Page: posix_trace_eventtypelist_getnext_id, posix_trace_eventtypelist_rewind - walk the list of
 * event types
 * Page: posix_trace_eventset_add, posix_trace_eventset_del, posix_trace_eventset_empty,
 * posix_trace_eventset_fill, posix_trace_eventset_ismember,
 * posix_trace_eventset_addgroup_np - sets of event types
 * Page: posix_trace_set_filter, posix_trace_get_filter - the types that a stream does not record
 *
 * Prints:
 *	posix_trace_unnamed_userevent: recorded
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

static void keep_out(trace_id_t trid, const char *group, trace_event_id_t but)
{
	trace_event_set_t set;

	must(posix_trace_eventset_empty(&set));
	must(posix_trace_eventset_addgroup_np(group, &set));
	must(posix_trace_eventset_del(but, &set));
	must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

int main(void)
{
	static const char *const names[] = { "net_in", "net_error", "disk_in" };
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t types[3];
	trace_event_id_t event;
	trace_event_set_t set;
	trace_id_t trid;
	int unavailable;
	int filtered;

	must(posix_trace_create(0, NULL, &trid));
	for (size_t i = 0; i < 3; i++)
		must(posix_trace_eventid_open(names[i], &types[i]));
	must(posix_trace_trid_eventid_open(trid, "net_error", &event));
	if (!posix_trace_eventid_equal(trid, event, types[1]))
		return 1;
	keep_out(trid, "net_*", event);

	must(posix_trace_get_filter(trid, &set));
	must(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		must(posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable));
		if (unavailable)
			break;
		must(posix_trace_eventid_get_name(trid, event, name));
		must(posix_trace_eventset_ismember(event, &set, &filtered));
		if (event >= POSIX_TRACE_UNNAMED_USEREVENT)
			(void)printf("%s: %s\n", name, filtered ? "not recorded" : "recorded");
	}
	must(posix_trace_shutdown(trid));
	return 0;
}
