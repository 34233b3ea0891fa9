/* SPDX-License-Identifier: MIT */
/* quiet.c - errno and cancellation around system calls; see quiet.h. */
#include "port/posix/quiet.h"

#include <errno.h>
#include <pthread.h>

struct pxt_quiet pxt_quiet_begin(void)
{
	struct pxt_quiet quiet = { errno, 0 };

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet.cancel);
	return quiet;
}

void pxt_quiet_end(struct pxt_quiet quiet)
{
	(void)pthread_setcancelstate(quiet.cancel, &quiet.cancel);
	errno = quiet.error;
}

int pxt_quiet_error(struct pxt_quiet quiet, int error)
{
	pxt_quiet_end(quiet);
	return error;
}
