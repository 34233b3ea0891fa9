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

/*
 * Looks the function up, at a cost of some microseconds at most: before main() and when a stream is created, since
 * a trace point may not.  Until then the C library's is called.
 */
void pxt_vdso_find(void);

/* As clock_gettime(); leaves errno alone where the clock is one that every kernel has. */
int pxt_vdso_gettime(clockid_t clock, struct timespec *now);

#endif
