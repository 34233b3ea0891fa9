/* SPDX-License-Identifier: MIT */
/* crash.h - the signal that ended a process, as a log has it. */
#ifndef PXT_CRASH_H
#define PXT_CRASH_H

#include <stdint.h>

struct pxt_crash {
	uint32_t signal;  /* its number; 0: none, the rest means nothing */
	int32_t code;     /* si_code: above 0 the system found a fault, else somebody sent it */
	uint64_t address; /* of a fault: si_addr, the memory or instruction that it is about */
	uint64_t at;      /* the instruction that was interrupted; 0: not known */
	int32_t sender;   /* process that sent it; 0: none */
	int32_t tid;      /* the system's number of the thread that it came to */
};

#endif
