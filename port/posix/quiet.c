/* SPDX-License-Identifier: MIT */
/* quiet.c - errno, cancellation and system events around system calls; see quiet.h. */
#include "port/posix/quiet.h"

#include "port/port.h"

#include <errno.h>
#include <pthread.h>

PXT_TLS uint32_t pxt_port_untold;

struct pxt_quiet pxt_quiet_begin(void)
{
	struct pxt_quiet quiet = { errno, 0 };

	pxt_port_untold_begin();
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet.cancel);
	return quiet;
}

void pxt_quiet_end(struct pxt_quiet quiet)
{
	(void)pthread_setcancelstate(quiet.cancel, &quiet.cancel);
	errno = quiet.error;
	pxt_port_untold_end();
}

int pxt_quiet_error(struct pxt_quiet quiet, int error)
{
	pxt_quiet_end(quiet);
	return error;
}
