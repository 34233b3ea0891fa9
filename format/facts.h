/* SPDX-License-Identifier: MIT */
/* facts.h - what a port finds out and a log holds: clocks, and the signal that ended the process. */
#ifndef PXT_FACTS_H
#define PXT_FACTS_H

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

/* The signal that ended a process. */
struct pxt_crash {
	uint32_t signal;  /* its number; 0: none, the rest means nothing */
	int32_t code;     /* si_code: above 0 the system found a fault, else somebody sent it */
	uint64_t address; /* of a fault: si_addr, the memory or instruction that it is about */
	uint64_t at;      /* the instruction that was interrupted; 0: not known */
	int32_t sender;   /* process that sent it; 0: none */
	int32_t tid;      /* the system's number of the thread that it came to */
};

#endif
