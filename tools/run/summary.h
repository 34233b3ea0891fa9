/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what a recorded run came to, in a few lines for a person: events and losses, the locks that
 * were waited for longest, what threads did with their time, the longest waits in a sentence each.
 */
#ifndef PXT_SUMMARY_H
#define PXT_SUMMARY_H

#include "tools/output/out.h"
#include "tools/run/recorder.h"
#include "tools/run/throttle.h"

struct pxt_summary {
	const char *path; /* of the log */
	bool replaced;    /* it took an older one's place */
	bool ring;        /* what the log does not hold was overwritten, as was asked for */
	const struct pxt_recorder_sum *sum;
	struct pxt_throttle throttled;
	uint64_t sched_lost;   /* records of the scheduler */
	uint64_t sched_beyond; /* its events that are not in the log because of --size */
};

/* An exit status. */
int pxt_summary(struct pxt_out *out, const struct pxt_summary *summary);

#endif
