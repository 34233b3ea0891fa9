/* SPDX-License-Identifier: MIT */
/*
 * c11.h - the locks and threads of C11 (<threads.h>), which are POSIX's under other names.
 *
 * The C library's mtx_lock() does not come by pthread_mutex_lock(), so it has a wrapper of its own.
 * Where that tells something, it does what the C library does: POSIX's function on the same object, and its
 * error in C11's words.
 */
#ifndef PXT_WRAP_C11_H
#define PXT_WRAP_C11_H

#include "sysevents/wrap/wrap.h"

#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "glibc and musl have one kind of mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "and one kind of condition variable");

/* An error number of POSIX's. */
PXT_WRAP_INLINE int pxt_c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	default:
		return thrd_error;
	}
}

PXT_WRAP_INLINE pthread_mutex_t *pxt_c11_mutex(mtx_t *mutex)
{
	return (pthread_mutex_t *)(void *)mutex;
}

PXT_WRAP_INLINE pthread_cond_t *pxt_c11_cond(cnd_t *cond)
{
	return (pthread_cond_t *)(void *)cond;
}

#endif
