/* SPDX-License-Identifier: MIT */
/*
 * dpdk.c - DPDK's trace library: a buffer of 1 MiB for each thread, the oldest events overwritten,
 * without huge pages and devices.  Nothing is saved at the end.
 */
#define _GNU_SOURCE
#include "dpdk_points.h"
#include "rival.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_trace.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t words[32];

static void event_4(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		pxt_bench_4((uint32_t)i);
}

static void event_32(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		pxt_bench_32(words);
}

static void event_256(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		pxt_bench_256(words);
}

LINES_CALLS(lines_4, , pxt_bench_4(4))
LINES_CALLS(lines_32, uint64_t told[4] = { passes }, pxt_bench_32(told))

/* DPDK binds the calling thread to a CPU that it has to be given. */
static int first_cpu(void)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed))
			return i;
	}
	return 0;
}

/* What it says goes to the standard error: the standard output is for the figures. */
static int begin_quietly(int count, char **arguments)
{
	int out = dup(STDOUT_FILENO);
	int status;

	(void)fflush(stdout);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	status = rte_eal_init(count, arguments);
	(void)fflush(stdout);
	(void)dup2(out, STDOUT_FILENO);
	(void)close(out);
	return status;
}

static const char *begin(void)
{
	const char *folder = getenv("TMPDIR");
	char directory[4096];
	char cpu[32];
	char *arguments[] = { "dpdk", "--no-huge", "--no-pci", "--no-telemetry", "--no-shconf",
		"-m", "64", "--log-level=3", "--trace=pxt.bench.*", "--trace-bufsz=1M",
		"--trace-mode=overwrite", directory, cpu, NULL };

	(void)snprintf(directory, sizeof(directory), "--trace-dir=%s", folder ? folder : "/tmp");
	(void)snprintf(cpu, sizeof(cpu), "--lcores=0@%d", first_cpu());
	if (begin_quietly((int)(sizeof(arguments) / sizeof(arguments[0]) - 1), arguments) < 0)
		return rte_strerror(rte_errno);
	return rte_trace_is_enabled() ? NULL : "its trace points could not be enabled";
}

static const char *start(enum rival_payload payload)
{
	static const char *trouble;
	static bool begun;

	(void)payload;
	if (!begun)
		trouble = begin();
	begun = true;
	(void)rte_trace_point_enable(&__pxt_bench_4);
	return trouble;
}

static void stop(void)
{
	(void)rte_trace_point_disable(&__pxt_bench_4);
}

static void loss(struct rival_loss *loss)
{
	loss->why_not = "overwrites the oldest events and does not count them";
}

const struct rival rivals[] = {
	{ .name = "DPDK trace",
	    .loop = { event_4, event_32, event_256 },
	    .passes = { 50000, 50000, 40000 },
	    .lines = { lines_4, lines_32 },
	    .cold = true,
	    .off = event_4,
	    .start = start,
	    .stop = stop,
	    .loss = loss },
	{ .name = NULL },
};
