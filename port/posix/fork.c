/* SPDX-License-Identifier: MIT */
/* fork.c - what is to be done about a fork, before it and after it. */
#include "port/port.h"

#include <pthread.h>

void pxt_port_at_fork(void (*child)(void))
{
	(void)pthread_atfork(NULL, NULL, child);
}

void pxt_port_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)pthread_atfork(before, parent, child);
}
