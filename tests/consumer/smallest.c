/* SPDX-License-Identifier: MIT */
/*
 * smallest.c - a board's whole program, with -DTRACED traced: one stream, one event type, read
 * beside the work; with -DLOGGED, too, it goes to a log in place of that.  scripts/check-tiny.py links
 * all and says what tracing costs.
 */
#include <stddef.h>
#include <stdint.h>

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
