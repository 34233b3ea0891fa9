/* SPDX-License-Identifier: MIT */
/* ways.h - what several ways to fail have in common. */
#ifndef FAILING_WAYS_H
#define FAILING_WAYS_H

#include <stdbool.h>

/* The calling thread's pauses take no time, or as long as they should. */
void ways_hurry(bool hurry);
/* No more than @left descriptors can be opened; and as many as before. */
void ways_no_descriptors(unsigned left);
void ways_descriptors(void);
/* The path of a socket that is not there yet. */
const char *ways_path(void);
/* The process has no rights from now on, or those of before.  False: it cannot. */
bool ways_nobody(bool nobody);

#endif
