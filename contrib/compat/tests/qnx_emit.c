/* SPDX-License-Identifier: MIT */
/* qnx_emit.c - writes the log that tools.sh looks at.  usage: qnx_emit LOG [BYTES of data kept] */
#include <fcntl.h>
#define QNX_TRACE_TIMEOFF
#include <qnx_trace_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <trace_np.h>

/* QNX-10, by the names of paper 000. */
_Static_assert(sizeof(traceevent_t) == 16 && offsetof(traceevent_t, timeoff) == 4 &&
                   offsetof(traceevent_t, data) == 8,
    "the same slot");

int main(int argc, char **argv)
{
	const uint32_t header = QNX_HEADER(QNX_CLASS_CONTAINER, 7);
	const uint32_t number = 42;
	trace_event_id_t begin;
	trace_event_id_t end;
	trace_event_id_t native;
	trace_attr_t attr;
	trace_id_t stream;
	trace_state_t one;
	trace_state_t two;
	trace_state_t left;

	if (argc < 2 || posix_trace_attr_init(&attr) ||
	    (argc > 2 && posix_trace_attr_setmaxdatasize(&attr, strtoul(argv[2], NULL, 10))) ||
	    posix_trace_create_withlog(
	        0, &attr, open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666), &stream) ||
	    posix_trace_eventid_open("native", &native) ||
	    posix_trace_eventid_setformat_np(native, "u32 number") ||
	    posix_trace_eventid_open("job_begin", &begin) ||
	    posix_trace_eventid_open("job_end", &end) || posix_trace_start(stream))
		return 1;
	posix_trace_event(begin, NULL, 0);
	(void)add_trace_event(QNX_HEADER(QNX_CLASS_KERNEL_CALL, 14), 0x11, 0x22);
	posix_trace_event(end, NULL, 0);
	(void)add_trace_b_init(&one);
	(void)add_trace_b_init(&two);
	(void)add_trace_b_init(&left);
	(void)add_trace_b_add(&one, header, "one ", 4);
	(void)add_trace_b_add(&two, header, "two ", 4);
	posix_trace_event(native, &number, sizeof(number));
	(void)add_trace_b_add(&one, header, "and one", 7);
	(void)add_trace_b_end(&one, header);
	(void)add_trace_b_add(&two, header, "and two", 7);
	(void)add_trace_b_end(&two, header);
	(void)add_trace_string(QNX_HEADER(30, 1023), "%s", "text");
	(void)add_trace_b_add(&left, header, "left", 4);
	return posix_trace_shutdown(stream);
}
