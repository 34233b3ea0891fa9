/* SPDX-License-Identifier: MIT */
/*
 * asleep.c - a board without a tick sleeps through three and a half rounds of a counter of 32 bits, and wakes twice
 * in each: the stamps of its events are as far apart as the sleeps were long.
 */
#include "kernel.h"

#include "port/bare/board.h"

#define NAP  0x80000000u
#define NAPS 7u

static volatile bool awake;
static trace_id_t trid;

static void wake(void)
{
	awake = true;
}

static void nap(void)
{
	awake = false;
	board_raise_after(NAP);
	while (!awake)
		kernel_port_idle();
}

static uint64_t next_ns(trace_event_id_t woke)
{
	struct posix_trace_event_info info;
	unsigned char data[32];
	size_t bytes;
	int none;

	do
		MUST(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &bytes, &none) ==
		         0 &&
		     !none);
	while (info.posix_event_id != woke);
	return (uint64_t)info.posix_timestamp.tv_sec * 1000000000u +
	       (uint64_t)info.posix_timestamp.tv_nsec;
}

int main(void)
{
	const uint64_t nap_us = UINT64_C(1000000) * NAP / pxt_board_hz();
	trace_event_id_t woke;
	uint64_t before;

	board_interrupt[0] = wake;
	MUST(posix_trace_create(0, NULL, &trid) == 0);
	MUST(posix_trace_eventid_open("woke", &woke) == 0);
	MUST(posix_trace_start(trid) == 0);
	for (uint32_t i = 0; i <= NAPS; i++) {
		posix_trace_event(woke, &i, sizeof(i));
		if (i < NAPS)
			nap();
	}
	before = next_ns(woke);
	for (uint32_t i = 0; i < NAPS; i++) {
		uint64_t now = next_ns(woke);

		/* And a thousandth for what comes between. */
		MUST((now - before) / 1000u >= nap_us - 1u);
		MUST((now - before) / 1000u <= nap_us + nap_us / 1000u);
		before = now;
	}
	return 0;
}
