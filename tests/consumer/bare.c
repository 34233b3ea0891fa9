/* SPDX-License-Identifier: MIT */
/*
 * bare.c - a board's program: what the bare profile must link.  It touches each unit once; on a
 * board it would run, here it is only linked.
 */
#include <trace.h>
#include <trace_np.h>

#define UART 1

int main(void)
{
	struct posix_trace_event_info info;
	trace_event_set_t none;
	trace_event_id_t id;
	trace_id_t trid;
	char data[16];
	size_t bytes;
	int unavailable;

	if (posix_trace_eventid_open("tick", &id) != 0 ||
	    posix_trace_eventid_setformat_np(id, "u32 count") != 0)
		return 1;
	if (posix_trace_eventset_empty(&none) != 0 || posix_trace_create(0, NULL, &trid) != 0)
		return 2;
	if (posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET) != 0 ||
	    posix_trace_start(trid) != 0)
		return 3;
	for (uint32_t count = 0; count < 10; count++) {
		if (posix_trace_wanted_np(id))
			posix_trace_event(id, &count, sizeof(count));
	}
	while (posix_trace_trygetnext_event(
	           trid, &info, data, sizeof(data), &bytes, &unavailable) == 0 &&
	       !unavailable)
		;
	if (posix_trace_shutdown(trid) != 0 ||
	    posix_trace_create_withlog(0, NULL, UART, &trid) != 0)
		return 4;
	if (posix_trace_start(trid) != 0 || posix_trace_flush(trid) != 0)
		return 5;
	return posix_trace_shutdown(trid);
}
