/* SPDX-License-Identifier: MIT */
/*
 * smallest.c - a board's whole program, with -DTRACED traced: one stream, one event type, read
 * beside the work.  scripts/check-tiny.py links both and says what tracing costs.
 */
#include <stddef.h>
#include <stdint.h>

volatile uint32_t device;

#ifdef TRACED
#include <trace.h>
#include <trace_np.h>

static trace_id_t trid;
static trace_event_id_t sample;

static int start(void)
{
	return posix_trace_eventid_open("sample", &sample) || posix_trace_create(0, NULL, &trid) ||
	       posix_trace_start(trid);
}

static void trace(uint32_t value)
{
	posix_trace_event(sample, &value, sizeof(value));
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
