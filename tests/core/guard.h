/* SPDX-License-Identifier: MIT */
/*
 * guard.h - memory that the library gives back is taken from everybody, and nobody gets it again
 * soon: a thread that still touches it ends the test.  Link with -Wl,--wrap=pxt_port_free.
 */
#ifndef PXT_CORE_GUARD_H
#define PXT_CORE_GUARD_H

#include <stdbool.h>

/* Whether @memory is among what was given back lately (the last 256 pieces). */
bool guard_freed(const void *memory);
/* How often: where it was given back, other memory may come to lie. */
unsigned guard_times_freed(const void *memory);

#endif
