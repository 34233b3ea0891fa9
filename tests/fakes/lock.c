/* SPDX-License-Identifier: MIT */
/* lock.c - who holds a lock still; who gives back one that it does not hold ends the program. */
#include "fakes.h"
#include "port/port.h"

#include <stdlib.h>
#include <unistd.h>

_Thread_local int pxt_locks_held;

PXT_WRAPPED(void, pxt_port_mutex_lock, (struct pxt_port_mutex * mutex))
{
	__real_pxt_port_mutex_lock(mutex);
	pxt_locks_held++;
}

PXT_WRAPPED(bool, pxt_port_mutex_try, (struct pxt_port_mutex * mutex))
{
	bool locked = __real_pxt_port_mutex_try(mutex);

	pxt_locks_held += locked;
	return locked;
}

PXT_WRAPPED(void, pxt_port_mutex_unlock, (struct pxt_port_mutex * mutex))
{
	static const char says[] = "a lock is given back by a thread that does not hold it\n";

	if (pxt_locks_held-- <= 0) {
		(void)!write(STDERR_FILENO, says, sizeof(says) - 1);
		abort();
	}
	__real_pxt_port_mutex_unlock(mutex);
}
