/* SPDX-License-Identifier: MIT */
/*
 * schedopen.h - the kernel's records of threads: as many as it allows, in steps.
 *
 *	PXT_SCHEDLEVEL_POINTS  all threads: switches with states and priorities, wake-ups, migrations
 *	PXT_SCHEDLEVEL_ALL     all threads: switches
 *	PXT_SCHEDLEVEL_OWN     the watched threads: when they run, and whether they were preempted
 *	PXT_SCHEDLEVEL_NONE    nothing
 *
 * With any of them come page faults of user code, PXT_PERFREC_FAULTS_EACH at once; each one that waited
 * for a disk (a major one); and where a watched thread is, after each millisecond that it ran: as far as
 * the kernel counts them.
 *
 * A ring for each CPU, since the kernel fills none from two CPUs.  All of them together have at most
 * PXT_SCHEDOPEN_BYTES; fewer where the system allows fewer locked pages (perf_event_mlock_kb).
 */
#ifndef PXT_SCHEDOPEN_H
#define PXT_SCHEDOPEN_H

#include "tools/sched/perfrec.h"
#include "tools/sched/tracepoint.h"

#include <sys/types.h>

#define PXT_SCHEDOPEN_BYTES  (UINT64_C(64) << 20) /* of all rings */
#define PXT_SCHEDOPEN_LARGE  (UINT64_C(4) << 20)  /* of one, at most ... */
#define PXT_SCHEDOPEN_SMALL  (UINT64_C(32) << 10) /* ... and at least */
#define PXT_SCHEDOPEN_EVENTS (4u + PXT_TRACEPOINTS)
#define PXT_SCHEDOPEN_RUNS                                                                         \
	UINT64_C(1000000) /* nanoseconds that a thread runs between two records */

enum pxt_schedlevel {
	PXT_SCHEDLEVEL_NONE,
	PXT_SCHEDLEVEL_OWN,
	PXT_SCHEDLEVEL_ALL,
	PXT_SCHEDLEVEL_POINTS
};

/* One CPU. */
struct pxt_schedcpu {
	int fds[PXT_SCHEDOPEN_EVENTS]; /* the first one's mapping has the records; -1: none */
	size_t mapped;
	struct pxt_perfring ring;
};

struct pxt_schedrings {
	enum pxt_schedlevel level;
	int all_error;    /* why not of all threads; 0 */
	int points_error; /* why no tracepoints; 0 */
	bool other_space; /* ... because numbers of threads are not the kernel's own here */
	unsigned count;
	struct pxt_schedcpu *cpus;
	uint64_t ring_bytes; /* of one CPU */
	struct pxt_tracepoint points[PXT_TRACEPOINTS];
};

/* Watches @child as far as @most and as the kernel allows.  0, or the errno of the last step. */
int pxt_schedopen(struct pxt_schedrings *rings, pid_t child, enum pxt_schedlevel most);
/* Nothing is recorded any more; what was stays to be read. */
void pxt_schedopen_stop(struct pxt_schedrings *rings);
/* How many records had no room since the begin, as the kernel counts; 0 where it does not count. */
uint64_t pxt_schedopen_lost(const struct pxt_schedrings *rings);
void pxt_schedopen_close(struct pxt_schedrings *rings);

#endif
