/* SPDX-License-Identifier: MIT */
/*
 * smallest.c - a board's whole program, with -DTRACED traced: one stream, one event type, read
 * beside the work; with -DLOGGED, too, it goes to a log in place of that.  scripts/check-tiny.py links
 * all and says what tracing costs.  With -DEVERY_UNIT it touches each unit once, which is what the bare
 * profile must link.  On a board it would run, here it is only linked.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef EVERY_UNIT
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
#else

volatile uint32_t device;

#ifdef TRACED
#include <trace.h>
#include <trace_np.h>

static trace_id_t trid;
static trace_event_id_t sample;

#ifdef LOGGED
#define DEVICE 1

static int create(void)
{
	return posix_trace_create_withlog(0, NULL, DEVICE, &trid);
}

static void hand_out(void)
{
	(void)posix_trace_flush(trid);
}
#else
static int create(void)
{
	return posix_trace_create(0, NULL, &trid);
}

static void hand_out(void)
{
	struct posix_trace_event_info info;
	uint32_t value;
	size_t bytes;
	int nothing;

	while (posix_trace_trygetnext_event(trid, &info, &value, sizeof(value), &bytes, &nothing) ==
	           0 &&
	       !nothing)
		device = value;
}
#endif

static int start(void)
{
	return posix_trace_eventid_open("sample", &sample) || create() || posix_trace_start(trid);
}

static void trace(uint32_t value)
{
	posix_trace_event(sample, &value, sizeof(value));
}
#else
static int start(void)
{
	return 0;
}

static void trace(uint32_t value)
{
	(void)value;
}

static void hand_out(void)
{
}
#endif

int main(void)
{
	if (start())
		return 1;
	for (uint32_t count = 0;; count++) {
		uint32_t value = device;

		trace(value);
		device = value + count;
		hand_out();
	}
}
#endif
