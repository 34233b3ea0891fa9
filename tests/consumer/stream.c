/* SPDX-License-Identifier: MIT */
/*
 * stream.c - a user's program: records one event and reads it back; with -DREADER, one that only reads logs: no stream,
 * no thread.
 */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <stdio.h>

#ifdef READER
int main(void)
{
	FILE *file = tmpfile();
	trace_id_t trid;

	/* An empty file is no log. */
	return file && posix_trace_open(fileno(file), &trid) == EINVAL ? 0 : 1;
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
