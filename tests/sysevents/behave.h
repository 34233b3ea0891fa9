/* SPDX-License-Identifier: MIT */
/* behave.h - what the parts of that program have in common: they say what the C library answers. */
#ifndef PXT_BEHAVE_H
#define PXT_BEHAVE_H

#include <stdio.h>
#include <time.h>

#define SAY(...)  (void)printf(__VA_ARGS__)
/* A call, and what it said. */
#define ASK(call) SAY("%s: %d\n", #call, (int)(call))

/* That much later than now. */
struct timespec in_ms(clockid_t clock, long ms);

/* What wrappers pass on, or tell (behave_calls.c). */
void behave_modes(void);
void behave_c11(void);
void behave_limits(void);
void behave_dates(void);
void behave_names(void);
void behave_renamed(void);
void behave_queues(void);
void behave_shared(void);
void behave_inherited(void);
void behave_last_signal(void);

#endif
