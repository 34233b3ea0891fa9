/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - system calls that a caller of the library must not notice: errno stays, and the thread
 * is not cancelled in the middle (a lock of Core may be held around it); nor are they told as the program's.
 */
#ifndef PXT_QUIET_H
#define PXT_QUIET_H

struct pxt_quiet {
	int error;
	int cancel;
};

struct pxt_quiet pxt_quiet_begin(void);
void pxt_quiet_end(struct pxt_quiet quiet);
/* The same, and returns @error. */
int pxt_quiet_error(struct pxt_quiet quiet, int error);

#endif
