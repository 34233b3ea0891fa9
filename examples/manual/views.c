/* SPDX-License-Identifier: MIT */
/*
 * views.c - records an event in pieces, reads it whole, and then many events by one call, where
 * they lie.
 *
 * Page: posix_trace_trygetnext_whole_np, posix_trace_getnext_events_np - events whole, and many at
 * once
 * Page: posix_trace_pieces_begin_np, posix_trace_pieces_add_np,
 * posix_trace_pieces_end_np - an event in pieces
 *
 * Prints:
 *	the first event has 26 bytes: abcdefghijklmnopqrstuvwxyz
 *	2 events more: one two
 */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

static void record(const char *text)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, text, strlen(text));
}

/* What lies in several places is one event. */
static void record_pieces(const char *const *texts, size_t count)
{
	struct posix_trace_pieces_np pieces;
	char room[64];

	posix_trace_pieces_begin_np(&pieces, POSIX_TRACE_UNNAMED_USEREVENT, room, sizeof(room));
	for (size_t i = 0; i < count; i++)
		posix_trace_pieces_add_np(&pieces, texts[i], strlen(texts[i]));
	if (posix_trace_pieces_end_np(&pieces) != 0)
		(void)puts("some bytes found no room");
}

static void read_whole(trace_id_t trid)
{
	struct posix_trace_event_info event;
	char small[8];
	char *data = small;
	size_t room = sizeof(small);
	size_t length;
	int nothing;
	int error;

	while ((error = posix_trace_trygetnext_whole_np(
	            trid, &event, data, room, &length, &nothing)) == EMSGSIZE) {
		room = length;
		data = malloc(room);
		if (!data)
			exit(1);
	}
	must(error);
	(void)printf("the first event has %zu bytes: %.*s\n", length, (int)length, data);
	if (data != small)
		free(data);
}

int main(void)
{
	static const char *const letters[] = { "abcdefghi", "jklmnopqrst", "uvwxyz" };
	struct posix_trace_eventview_np views[8];
	trace_event_set_t no_start;
	trace_id_t trid;
	size_t count;

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_eventset_fill(&no_start, POSIX_TRACE_SYSTEM_EVENTS));
	must(posix_trace_set_filter(trid, &no_start, POSIX_TRACE_SET_EVENTSET));
	must(posix_trace_start(trid));
	record_pieces(letters, 3);
	record("one");
	record("two");
	read_whole(trid);
	must(posix_trace_getnext_events_np(trid, views, sizeof(*views), 8, &count));
	(void)printf("%zu events more:", count);
	for (size_t i = 0; i < count; i++)
		(void)printf(
		    " %.*s", (int)views[i].posix_bytes_np, (const char *)views[i].posix_data_np);
	(void)puts("");
	must(posix_trace_shutdown(trid));
	return 0;
}
