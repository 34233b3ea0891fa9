/* SPDX-License-Identifier: MIT */
/*
 * quiet.h - system calls that a caller of the library must not notice: errno stays, and the thread
 * is not cancelled in the middle (a lock of Core may be held around it).
 */
#ifndef PXT_QUIET_H
#define PXT_QUIET_H

#include "base/compiler.h"

#include <errno.h>
#include <pthread.h>

struct pxt_quiet {
	int error;
	int cancel;
};

PXT_INLINE struct pxt_quiet pxt_quiet_begin(void)
{
	struct pxt_quiet quiet = { errno, 0 };

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet.cancel);
	return quiet;
}

PXT_INLINE void pxt_quiet_end(struct pxt_quiet quiet)
{
	(void)pthread_setcancelstate(quiet.cancel, &quiet.cancel);
	errno = quiet.error;
}

#endif
