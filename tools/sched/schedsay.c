/* SPDX-License-Identifier: MIT */
/* schedsay.c - in a sentence, what the kernel does not let us record, and the line that would allow it. */
#include "tools/sched/schedwatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OWN_PARANOID 2 /* with more than this not even one's own threads are told of */

static void nothing(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	bool refused = told->error == EACCES || told->error == EPERM;

	(void)snprintf(say->what, sizeof say->what,
	    "the scheduler is not recorded: perf_event_open: %s", strerror(told->error));
	if (refused && told->paranoid > OWN_PARANOID && told->paranoid != PXT_SCHEDTOLD_UNKNOWN)
		(void)snprintf(say->how, sizeof say->how,
		    "kernel.perf_event_paranoid is %d; as root: sysctl "
		    "kernel.perf_event_paranoid=2",
		    told->paranoid);
	else if (refused)
		(void)snprintf(say->how, sizeof say->how,
		    "a container allows it with --cap-add PERFMON, or a seccomp profile that "
		    "has perf_event_open");
	else if (told->error == ENOSYS)
		(void)snprintf(
		    say->how, sizeof say->how, "this kernel has no perf events (PERF_EVENTS)");
	else if (told->error == EMFILE)
		(void)snprintf(say->how, sizeof say->how,
		    "each CPU wants descriptors; more of them: ulimit -n 4096");
}

static void own_only(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	(void)snprintf(say->what, sizeof say->what,
	    "of the scheduler it is recorded when threads of the program run, not who runs "
	    "instead, nor who wakes them");
	if (told->all_error == EMFILE)
		(void)snprintf(say->how, sizeof say->how,
		    "each CPU wants descriptors; more of them: ulimit -n 4096");
	else
		(void)snprintf(
		    say->how, sizeof say->how, "as root: sysctl kernel.perf_event_paranoid=-1");
}

static void no_points(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	(void)snprintf(say->what, sizeof say->what,
	    "of the scheduler it is recorded who runs, not who wakes whom, nor priorities");
	if (told->other_space)
		(void)snprintf(say->how, sizeof say->how,
		    "a container has its own numbers of threads; outside of it, or with "
		    "--pid=host, they are recorded");
	else if (told->points_error == ENOENT || told->points_error == ENODEV)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: mount -t tracefs tracefs /sys/kernel/tracing");
	else if (told->paranoid > -1 && told->paranoid != PXT_SCHEDTOLD_UNKNOWN)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: sysctl kernel.perf_event_paranoid=-1, and mount -o "
		    "remount,mode=755 /sys/kernel/tracing");
	else if (told->points_error == EACCES || told->points_error == EPERM)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: mount -o remount,mode=755 /sys/kernel/tracing");
	else
		(void)snprintf(
		    say->how, sizeof say->how, "tracefs: %s", strerror(told->points_error));
}

bool pxt_schedsay_missing(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	*say->what = *say->how = '\0';
	if (told->level == PXT_SCHEDLEVEL_NONE)
		nothing(say, told);
	else if (told->level == PXT_SCHEDLEVEL_OWN && told->all_error != 0)
		own_only(say, told);
	else if (told->level == PXT_SCHEDLEVEL_ALL && told->points_error != 0)
		no_points(say, told);
	return *say->what != '\0';
}
