/* SPDX-License-Identifier: MIT */
/*
 * time64.h - the C library's functions for programs that chose times of 64 bits on a 32-bit machine (_TIME_BITS).
 *
 * Their names are not those that such a program writes: the C library's headers put them in their place.  This
 * library is compiled without that choice, and knows both: here what they take, elsewhere each with its type.
 */
#ifndef PXT_WRAP_TIME64_H
#define PXT_WRAP_TIME64_H

#include <stdint.h>

struct pxt_timespec64 {
	int64_t tv_sec;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	int32_t unused;
	int32_t tv_nsec;
#else
	int32_t tv_nsec;
	int32_t unused;
#endif
};

struct pxt_itimerspec64 {
	struct pxt_timespec64 it_interval;
	struct pxt_timespec64 it_value;
};

struct pxt_timeval64 {
	int64_t tv_sec;
	int64_t tv_usec;
};

struct pxt_itimerval64 {
	struct pxt_timeval64 it_interval;
	struct pxt_timeval64 it_value;
};

struct pxt_rusage64; /* is only handed on */

#endif
