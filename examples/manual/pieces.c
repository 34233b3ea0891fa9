/* SPDX-License-Identifier: MIT */
/*
 * pieces.c - an event whose data lies in several places.
 *
 * Page: posix_trace_pieces_begin_np, posix_trace_pieces_add_np,
 * posix_trace_pieces_end_np - an event in pieces
 *
 * Prints:
 *	12 bytes: one two four
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	static const char *const words[] = { "one", " two", " four" };
	struct posix_trace_pieces_np pieces;
	struct posix_trace_event_info event;
	trace_id_t trid;
	char room[64];
	char data[64];
	size_t length;
	int nothing;

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_start(trid));
	posix_trace_pieces_begin_np(&pieces, POSIX_TRACE_UNNAMED_USEREVENT, room, sizeof(room));
	for (size_t i = 0; i < 3; i++)
		posix_trace_pieces_add_np(&pieces, words[i], strlen(words[i]));
	if (posix_trace_pieces_end_np(&pieces) != 0)
		(void)puts("some bytes found no room");
	do {
		must(posix_trace_trygetnext_event(
		    trid, &event, data, sizeof(data), &length, &nothing));
	} while (!nothing && event.posix_event_id != POSIX_TRACE_UNNAMED_USEREVENT);
	(void)printf("%zu bytes: %.*s\n", length, (int)length, data);
	must(posix_trace_shutdown(trid));
	return 0;
}
