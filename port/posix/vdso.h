/* SPDX-License-Identifier: MIT */
/*
 * vdso.h - the kernel's clocks, by the library that it maps into each process.
 *
 * A program may run with a library that gives it another time (libfaketime), by a clock_gettime() of its own that
 * every library calls.  Stamps, rates and waits are of the kernel's time all the same.
 *
 *   concurrency: any thread, signal handlers.
 */
#ifndef PXT_VDSO_H
#define PXT_VDSO_H

#include <time.h>

/* As clock_gettime(); leaves errno alone where the clock is one that every kernel has. */
int pxt_vdso_gettime(clockid_t clock, struct timespec *now);

#endif
