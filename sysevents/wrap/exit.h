/* SPDX-License-Identifier: MIT */
/* exit.h - the end of a process by exit(). */
#ifndef PXT_WRAP_EXIT_H
#define PXT_WRAP_EXIT_H

/*
 * After attaching, whose end has to come later.  What the program asks to be called at its end afterwards
 * comes before ours.  In a forked child, too; more than once does no harm.
 */
void pxt_exit_start(void) __attribute__((visibility("hidden")));

#endif
