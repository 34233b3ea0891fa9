/* SPDX-License-Identifier: MIT */
/* mutex.h - what a mutex tells of itself: who has it, and whether others wait. */
#ifndef PXT_WRAP_MUTEX_H
#define PXT_WRAP_MUTEX_H

#include "sysevents/wrap/wrap.h"

#include <pthread.h>

#if defined(__GLIBC__)
/* The kernel's number of the thread that has it; 0: none, or not known. */
PXT_WRAP_INLINE uint32_t pxt_mutex_holder(const pthread_mutex_t *mutex)
{
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

/* Its word is 2 where others sleep, or has the kernel's bit for that. */
PXT_WRAP_INLINE bool pxt_mutex_awaited(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	return word == 2u || (word & 0x80000000u);
}
#else
PXT_WRAP_INLINE uint32_t pxt_mutex_holder(const pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

PXT_WRAP_INLINE bool pxt_mutex_awaited(const pthread_mutex_t *mutex)
{
	(void)mutex;
	return true;
}
#endif

#endif
