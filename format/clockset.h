/* SPDX-License-Identifier: MIT */
/* clockset.h - what a log and a port say about time. */
#ifndef PXT_CLOCKSET_H
#define PXT_CLOCKSET_H

#include <stdint.h>
#include <time.h>

/* Four clocks read as close together as the system allows. */
struct pxt_clock_set {
	uint64_t ticks;
	struct timespec realtime;
	struct timespec monotonic;
	struct timespec boottime;
};

struct pxt_clock_rate {
	uint64_t hz;        /* ticks per second */
	uint32_t error_ppm; /* bound of its error */
	int source;         /* POSIX_TRACE_CLOCK_..._NP */
	uint32_t step;      /* ticks that the counter goes on by at least; 0: not known, as 1 */
};

#endif
