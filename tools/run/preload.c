/* SPDX-License-Identifier: MIT */
/* preload.c - where the library is that is loaded, and the program's environment; see recorder.h. */
#define _GNU_SOURCE
#include "tools/run/recorder.h"

#include "tools/output/out.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define RINGS_MAX 8u

/* ---- The library ---- */

static bool is_there(struct pxt_preload *preload, const char *folder, const char *below)
{
	int bytes = snprintf(
	    preload->library, sizeof preload->library, "%s/%s/libptrace-preload.so", folder, below);

	return bytes < (int)sizeof preload->library && access(preload->library, R_OK) == 0;
}

static bool find(struct pxt_preload *preload)
{
	const char *given = getenv("PXTRACE_PRELOAD");
	char folder[PXT_PRELOAD_PATH - 64] = "";
	char *slash;

	if (given && *given) {
		(void)snprintf(preload->library, sizeof preload->library, "%s", given);
		if (access(preload->library, R_OK) == 0)
			return true;
		pxt_complain("run: %s (PXTRACE_PRELOAD): %s", given, strerror(errno));
		return false;
	}
	if (readlink("/proc/self/exe", folder, sizeof folder - 1) <= 0 ||
	    (slash = strrchr(folder, '/')) == NULL) {
		pxt_complain("run: /proc/self/exe, which says where libptrace-preload.so is: %s",
		    strerror(errno));
	} else {
		*slash = '\0';
		/* As it is installed; as it is built. */
		if (is_there(preload, folder, PXTRACE_LIBRARY_DIR) ||
		    is_there(preload, folder, "../sysevents"))
			return true;
		pxt_complain("run: libptrace-preload.so is not where pxtrace is installed");
	}
	pxt_explain("PXTRACE_PRELOAD=/path/to/libptrace-preload.so says where else it is");
	return false;
}

bool pxt_preload_find(struct pxt_preload *preload)
{
	if (!find(preload))
		return false;
	/* These end a name there, and nothing makes them part of one. */
	if (!strpbrk(preload->library, ": "))
		return true;
	pxt_complain("run: %s: LD_PRELOAD takes no path with a space or a colon", preload->library);
	return false;
}

/* ---- The environment ---- */

static void set(struct pxt_preload *preload, const char *name, const char *value)
{
	unsigned at = preload->count++;

	if (snprintf(preload->text[at], PXT_PRELOAD_VARIABLE, "%s=%s", name, value) >=
	    (int)PXT_PRELOAD_VARIABLE)
		pxt_complain("run: %s is cut, as it would be longer than %u bytes", name,
		    PXT_PRELOAD_VARIABLE);
	preload->list[at] = preload->text[at];
}

static void set_number(struct pxt_preload *preload, const char *name, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	set(preload, name, text);
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/*
 * The counter's rate, which this process had to measure: others need not, where they find that it is right
 * (port/posix/counter.c).  Any stream tells it, with the counter and the time at its creation.
 */
static void set_clock(struct pxt_preload *preload)
{
	struct posix_trace_clock_np clock;
	struct timespec raw;
	struct timespec civil;
	char text[96];
	trace_id_t trid;
	int error = posix_trace_create(0, NULL, &trid);

	if (error)
		return;
	error = posix_trace_getclock_np(trid, &clock, sizeof clock);
	(void)clock_gettime(CLOCK_REALTIME, &civil);
	(void)clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	(void)posix_trace_shutdown(trid);
	if (error)
		return;
	if (clock.posix_source_np != POSIX_TRACE_CLOCK_TSC_NP) {
		set(preload, "PXTRACE_CLOCK", "none");
		return;
	}
	(void)snprintf(text, sizeof text, "%" PRIu64 ":%" PRIu32 ":%" PRIu64 ":%" PRId64 ":%ld",
	    clock.posix_hz_np, clock.posix_error_ppm_np, clock.posix_anchor_ticks_np,
	    ns_of(&raw) - (ns_of(&civil) - ns_of(&clock.posix_anchor_np)),
	    sysconf(_SC_NPROCESSORS_CONF));
	set(preload, "PXTRACE_CLOCK", text);
}

/*
 * A ring for each CPU, as far as that helps and @bytes are enough for: a power of two.  So no process looks
 * for their number.
 */
static uint64_t rings(uint64_t bytes)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t count = 1;

	while (count < RINGS_MAX && (count < 2 || (long)count < cpus) &&
	       bytes / 2 / count >= PXT_PRELOAD_RING)
		count *= 2;
	return count;
}

/* Others' libraries come after ours. */
static void set_library(struct pxt_preload *preload)
{
	const char *others = getenv("LD_PRELOAD");
	char text[PXT_PRELOAD_VARIABLE];
	int bytes;

	others = others ? others : "";
	bytes = snprintf(text, sizeof text, "%s%s%s", preload->library, *others ? ":" : "", others);
	set(preload, "LD_PRELOAD", bytes < (int)sizeof text ? text : preload->library);
}

void pxt_preload_set(struct pxt_preload *preload, const struct pxt_preload_wish *wish)
{
	set_library(preload);
	set(preload, "PXTRACE_ATTACH", wish->stream);
	set_clock(preload);
	set_number(preload, "PXTRACE_LANES", rings(wish->buffer ? wish->buffer : UINT64_MAX));
	set_number(preload, "PXTRACE_EVENTS", wish->groups.types);
	set_number(preload, "PXTRACE_CALLS", wish->groups.calls);
	set_number(preload, "PXTRACE_KINDS", wish->groups.kinds);
	if (wish->buffer)
		set_number(preload, "PXTRACE_RING", wish->buffer);
	if (!wish->all)
		set_number(preload, "PXTRACE_TALLY", 1);
	if (wish->stack_us)
		set_number(preload, "PXTRACE_STACK_US", wish->stack_us);
}
