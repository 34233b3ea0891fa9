/* SPDX-License-Identifier: MIT */
/*
 * driver.c - the fixed program that the footprint table links: one stream, one type, an event in
 * and out, as far as the configuration goes.  What it does not call, the linker leaves out.
 */
#include <trace.h>

#if _PXT_UNIT_ONLINE
static int make(trace_id_t *trid)
{
	return posix_trace_create(0, NULL, trid);
}

static int take(trace_id_t trid)
{
	struct posix_trace_event_info info;
	char data[16];
	size_t length;
	int nothing;

	return posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &length, &nothing);
}
#elif _PXT_UNIT_TOLOG
static int make(trace_id_t *trid)
{
	return posix_trace_create_withlog(0, NULL, 1, trid);
}

static int take(trace_id_t trid)
{
	return posix_trace_flush(trid);
}
#endif

#if _PXT_UNIT_USEREVENTS
static int put(int value)
{
	trace_event_id_t type;
	int error = posix_trace_eventid_open("event", &type);

	if (error == 0)
		posix_trace_event(type, &value, sizeof(value));
	return error;
}
#else
static int put(int value)
{
	return value - 1;
}
#endif

#if _PXT_UNIT_CORE
int main(void)
{
	trace_id_t trid;

	if (make(&trid) != 0 || posix_trace_start(trid) != 0 || put(1) != 0 ||
	    posix_trace_stop(trid) != 0 || take(trid) != 0)
		return 1;
	return posix_trace_shutdown(trid);
}
#else
int main(void)
{
	struct posix_trace_event_info info;
	trace_id_t trid;
	char data[16];
	size_t length;
	int nothing;

	(void)put(1);
	if (posix_trace_open(0, &trid) != 0 ||
	    posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &nothing) != 0)
		return 1;
	return posix_trace_close(trid);
}
#endif
