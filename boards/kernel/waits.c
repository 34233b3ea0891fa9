/* SPDX-License-Identifier: MIT */
/* waits.c - what libptrace's control calls wait by: the kernel's sleep and its mutex; see port/bare/board.h. */
#include "port/bare/board.h"

#include "kernel.h"

void pxt_board_idle(void)
{
	kernel_pause();
}

_Static_assert(sizeof(struct kernel_mutex) <= PXT_BOARD_LOCK_BYTES, "");

bool pxt_board_lock(void *lock, bool wait)
{
	struct kernel_mutex *mutex = lock;

	mutex->inherits = true;
	mutex->untraced = true;
	if (!wait)
		return kernel_try(mutex);
	kernel_lock(mutex);
	return true;
}

void pxt_board_unlock(void *lock)
{
	kernel_unlock(lock);
}
