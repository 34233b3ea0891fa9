/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - the lock between control calls.  Priority inheritance, because a real-time thread
 * that stops a stream must not wait for an ordinary one that was preempted inside.
 *
 *   concurrency: lock, try and unlock, any threads; try and unlock in signal handlers, too.
 *
 * A word as the kernel's priority-inheriting futexes want it: the number of the thread that holds
 * it, and a bit when others wait.  Who finds it free takes it by one exchange, as the C library's
 * mutex of this kind does, which runs five times as many instructions for its other kinds.
 */
#define _GNU_SOURCE
#include "port/posix/owncalls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's numbers; musl comes without the kernel's headers. */
#define LOCK_PI   (6 | 128) /* this process alone */
#define UNLOCK_PI (7 | 128)

/* Where the kernel cannot lend priority, or the holder is gone, it is asked for so often. */
#define AGAIN_NS 50000u

extern PXT_TLS uint32_t pxt_own_tid;
PXT_TLS uint32_t pxt_own_tid; /* 0: not known */

/* In a child the thread has another number. */
static void in_child(void)
{
	pxt_own_tid = 0;
}

static uint32_t tid(void)
{
	if (PXT_UNLIKELY(!pxt_own_tid))
		pxt_own_tid = (uint32_t)syscall(SYS_gettid);
	return pxt_own_tid;
}

static _Atomic uint32_t *word_of(struct pxt_port_mutex *mutex)
{
	return (_Atomic uint32_t *)(void *)mutex->opaque;
}

/* Acquire: what was done with the lock held is seen. */
static bool take(_Atomic uint32_t *word)
{
	uint32_t nobody = 0;

	return atomic_compare_exchange_strong_explicit(
	    word, &nobody, tid(), memory_order_acquire, memory_order_relaxed);
}

void pxt_port_mutex_init(struct pxt_port_mutex *mutex)
{
	static _Atomic uint32_t told;

	if (!atomic_exchange_explicit(&told, 1u, memory_order_relaxed))
		(void)pthread_atfork(NULL, NULL, in_child);
	atomic_store_explicit(word_of(mutex), 0u, memory_order_relaxed);
}

/* The kernel takes it for the caller; else another thread may have been faster. */
static PXT_COLD void wait_for(_Atomic uint32_t *word)
{
	PXT_KEEP_ERRNO();

	while (!take(word) && syscall(SYS_futex, word, LOCK_PI, 0, NULL, NULL, 0) != 0) {
		if (errno != EAGAIN && errno != EINTR)
			pxt_port_pause_ns(AGAIN_NS);
	}
	/* What the last holder said before it asked the kernel; the kernel orders it, too. */
	(void)atomic_load_explicit(word, memory_order_acquire);
}

void pxt_port_mutex_lock(struct pxt_port_mutex *mutex)
{
	if (PXT_UNLIKELY(!take(word_of(mutex))))
		wait_for(word_of(mutex));
}

bool pxt_port_mutex_try(struct pxt_port_mutex *mutex)
{
	return take(word_of(mutex));
}

/* The kernel gives it to the most urgent one who waits. */
static PXT_COLD void hand_over(_Atomic uint32_t *word)
{
	PXT_KEEP_ERRNO();

	(void)atomic_fetch_add_explicit(word, 0u, memory_order_release);
	(void)syscall(SYS_futex, word, UNLOCK_PI, 0, NULL, NULL, 0);
}

void pxt_port_mutex_unlock(struct pxt_port_mutex *mutex)
{
	_Atomic uint32_t *word = word_of(mutex);
	uint32_t mine = tid();

	if (PXT_UNLIKELY(!atomic_compare_exchange_strong_explicit(
	        word, &mine, 0u, memory_order_release, memory_order_relaxed)))
		hand_over(word);
}
