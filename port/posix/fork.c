/* SPDX-License-Identifier: MIT */
/* fork.c - telling Core that it woke up in a child. */
#include "port/port.h"

#include <pthread.h>

void pxt_port_at_fork(void (*child)(void))
{
	(void)pthread_atfork(NULL, NULL, child);
}
