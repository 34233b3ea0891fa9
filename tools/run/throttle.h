/* SPDX-License-Identifier: MIT */
/*
 * throttle.h - how often and how long the kernel kept the processes of this one's cgroup from running, as that has
 * used up its share of CPU time (cpu.max, cpu.cfs_quota_us).
 */
#ifndef PXT_THROTTLE_H
#define PXT_THROTTLE_H

#include <stdint.h>

/* Since the cgroup is there; zeros where it has no limit, or nobody says. */
struct pxt_throttle {
	uint64_t times;
	uint64_t ns; /* of all its CPUs together */
};

struct pxt_throttle pxt_throttle_read(void);
/* What came since @before. */
struct pxt_throttle pxt_throttle_since(const struct pxt_throttle *before);

#endif
