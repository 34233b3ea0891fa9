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

/* Of the kind: the word is as the kernel wants it, with a bit for those who wait. */
#define PXT_MUTEX_ROBUST  0x10
#define PXT_MUTEX_KERNEL  0x30 /* robust, or with priority inheritance */
#define PXT_MUTEX_WAITERS 0x80000000u
#define PXT_MUTEX_DIED    0x40000000u
#define PXT_MUTEX_THREAD  0x3fffffffu
/* Of the word of all others: 2 where others may sleep, beside a ceiling. */
#define PXT_MUTEX_STATE   0x7ffffu

PXT_WRAP_INLINE bool pxt_mutex_awaited(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	if (PXT_WRAP_LIKELY(word <= 1u))
		return false;
	if (__atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & PXT_MUTEX_KERNEL)
		return (word & PXT_MUTEX_WAITERS) != 0;
	return (word & PXT_MUTEX_STATE) > 1u;
}

/*
 * A try of one that cannot be repaired any more takes it and keeps it, and says that it did not, in this C
 * library: so a robust one is looked at.
 */
PXT_WRAP_INLINE bool pxt_mutex_is_robust(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED) & PXT_MUTEX_ROBUST;
}

/* Of a robust one: whether a thread has it that lives. */
PXT_WRAP_INLINE bool pxt_mutex_is_held(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);

	return (word & PXT_MUTEX_THREAD) && !(word & PXT_MUTEX_DIED);
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

PXT_WRAP_INLINE bool pxt_mutex_is_robust(const pthread_mutex_t *mutex)
{
	(void)mutex;
	return false;
}

PXT_WRAP_INLINE bool pxt_mutex_is_held(const pthread_mutex_t *mutex)
{
	(void)mutex;
	return false;
}
#endif

#endif
