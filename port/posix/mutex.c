/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the lock between control calls.  Priority inheritance, because a real-time thread
 * that stops a stream must not wait for an ordinary one that was preempted inside.
 */
#include "port/port.h"

#include <errno.h>
#include <pthread.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct pxt_port_mutex), "the mutex fits");
_Static_assert(
    _Alignof(pthread_mutex_t) <= _Alignof(struct pxt_port_mutex), "the mutex is aligned");

static pthread_mutex_t *inside(struct pxt_port_mutex *mutex)
{
	return (pthread_mutex_t *)(void *)mutex->opaque;
}

/* A kernel without PI futexes says ENOTSUP only when such a mutex is made: take a plain one. */
void pxt_port_mutex_init(struct pxt_port_mutex *mutex)
{
	pthread_mutexattr_t attr;
	int error;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	error = pthread_mutex_init(inside(mutex), &attr);
	(void)pthread_mutexattr_destroy(&attr);
	if (error != 0)
		(void)pthread_mutex_init(inside(mutex), NULL);
}

/* Neither fails for a mutex of this kind; the C library's calls leave errno alone. */
void pxt_port_mutex_lock(struct pxt_port_mutex *mutex)
{
	(void)pthread_mutex_lock(inside(mutex));
}

/*
 * Neither glibc's nor musl's takes a lock of its own for this: a compare-exchange on the mutex'
 * word, and the kernel's word for it where the owner has died.
 */
bool pxt_port_mutex_try(struct pxt_port_mutex *mutex)
{
	return pthread_mutex_trylock(inside(mutex)) == 0;
}

void pxt_port_mutex_unlock(struct pxt_port_mutex *mutex)
{
	(void)pthread_mutex_unlock(inside(mutex));
}
