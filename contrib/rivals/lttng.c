/* SPDX-License-Identifier: MIT */
/*
 * lttng.c - LTTng-UST.  Whether its trace points are enabled, where the events go and what was lost
 * is up to the recording session, which `run` has set up before this program starts.
 */
#define _GNU_SOURCE 1
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"
#include "rival.h"

#include <stddef.h>

static uint8_t payload[256];

static void event_4(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		lttng_ust_tracepoint(pxt_bench, bytes_4, (uint32_t)i);
}

static void event_32(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		lttng_ust_tracepoint(pxt_bench, bytes_32, payload);
}

static void event_256(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		lttng_ust_tracepoint(pxt_bench, bytes_256, payload);
}

LINES_CALLS(lines_4, , lttng_ust_tracepoint(pxt_bench, bytes_4, 4))
LINES_CALLS(lines_32, uint8_t told[32] = { 0 }, lttng_ust_tracepoint(pxt_bench, bytes_32, told))

const struct rival rivals[] = {
	{ .name = "LTTng-UST",
	    .loop = { event_4, event_32, event_256 },
	    .passes = { 6000, 6000, 5000 },
	    .lines = { lines_4, lines_32 },
	    .cold = true,
	    .off = event_4 },
	{ .name = NULL },
};
