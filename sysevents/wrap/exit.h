/* SPDX-License-Identifier: MIT */
/* exit.h - the end of a process by exit(). */
#ifndef PXT_WRAP_EXIT_H
#define PXT_WRAP_EXIT_H

/* Before main(): whatever else is called at the end comes before ours. */
void pxt_exit_start(void) __attribute__((visibility("hidden")));

#endif
