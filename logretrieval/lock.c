/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the lock of a log, the objects that logs are made of, and what becomes of both at fork.
 *
 * An object is used again, never freed: a thread that looked an identifier up just before another
 * closed it finds a closed log, not foreign memory.
 *
 * A forked child goes on reading its parent's logs, and has one of the parent's threads.  So a fork
 * waits until no other thread is in the middle of a log; then the child finds all of them whole, and
 * unlocked.  It does not wait for ever: the holder may be the thread that forks, in a signal handler,
 * or be at work on a slow device.  A log that was not come by in time is closed in the child.
 */
#include "logretrieval/log.h"

#include <errno.h>

#define FREE    0u
#define HELD    1u
#define AWAITED 2u /* held, and a thread sleeps on it */

/* So long does a fork wait, for all logs together. */
#define FORK_PATIENCE_NS 1000000000u
#define FORK_SLICE_NS    50000u

static _Atomic uint32_t pool_lock;
static struct pxt_log *pool;
static struct pxt_log *all; /* every object there is, open or not */
/* This thread holds the pool, and the logs that say so. */
static __thread bool holds_for_fork;

/*
 * A process of one thread takes and gives back without an atomic exchange, which costs more than the rest of what a
 * call does.  A second thread is not begun between the two: the only one is in here.
 */
PXT_INLINE bool try_lock(_Atomic uint32_t *word)
{
	uint32_t seen = FREE;

	if (pxt_port_is_alone()) {
		seen = atomic_load_explicit(word, memory_order_relaxed);
		if (seen == FREE)
			atomic_store_explicit(word, HELD, memory_order_relaxed);
		return seen == FREE;
	}
	return atomic_compare_exchange_strong_explicit(
	    word, &seen, HELD, memory_order_acquire, memory_order_relaxed);
}

/* A thread that slept cannot know whether it was the last one, and so wakes the next. */
static PXT_COLD void sleep_for(_Atomic uint32_t *word)
{
	while (atomic_exchange_explicit(word, AWAITED, memory_order_acquire) != FREE)
		(void)pxt_port_wait(word, AWAITED, NULL, 0);
}

PXT_INLINE void lock(_Atomic uint32_t *word)
{
	if (!try_lock(word))
		sleep_for(word);
}

static void unlock(_Atomic uint32_t *word)
{
	if (pxt_port_is_alone())
		atomic_store_explicit(word, FREE, memory_order_relaxed);
	else if (atomic_exchange_explicit(word, FREE, memory_order_release) == AWAITED)
		pxt_port_wake(word);
}

void pxt_log_lock(struct pxt_log *log)
{
	lock(&log->lock);
}

int pxt_log_enter(void *object, trace_id_t trid)
{
	struct pxt_log *log = object;

	lock(&log->lock);
	return log->open && log->trid == trid ? 0 : pxt_log_leave(log, EINVAL);
}

void pxt_log_unlock(struct pxt_log *log)
{
	unlock(&log->lock);
}

int pxt_log_leave(void *object, int error)
{
	pxt_log_unlock(object);
	return error;
}

/* ---- Objects ---- */

static struct pxt_log *make_object(void)
{
	struct pxt_log *log = pxt_port_heap_resize(NULL, sizeof(*log));

	if (!log)
		return NULL;
	memset(log, 0, sizeof(*log));
	lock(&pool_lock);
	log->next_of_all = all;
	all = log;
	unlock(&pool_lock);
	return log;
}

struct pxt_log *pxt_log_take_object(void)
{
	struct pxt_log *log;

	lock(&pool_lock);
	log = pool;
	if (log)
		pool = log->next_free;
	unlock(&pool_lock);
	return log ? log : make_object();
}

void pxt_log_give_object(struct pxt_log *log)
{
	lock(&pool_lock);
	log->next_free = pool;
	pool = log;
	unlock(&pool_lock);
}

/* ---- Fork ---- */

static bool lock_in_time(_Atomic uint32_t *word, struct pxt_patience *patience)
{
	while (!try_lock(word)) {
		if (!pxt_patience_pause(patience, FORK_SLICE_NS))
			return false;
	}
	return true;
}

/*
 * The pool first: a thread that has a log's lock does not ask for the pool's.  What has no identifier yet, or
 * none any more, is nothing that a child could ask for: the scan of a large file is not waited for.
 */
static void before_fork(void)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, FORK_PATIENCE_NS);
	holds_for_fork = lock_in_time(&pool_lock, &patience);
	if (!holds_for_fork)
		return;
	for (struct pxt_log *log = all; log; log = log->next_of_all)
		log->held_for_fork = __atomic_load_n(&log->trid, __ATOMIC_RELAXED) != 0 &&
		                     lock_in_time(&log->lock, &patience);
}

static void in_parent(void)
{
	if (!holds_for_fork)
		return;
	for (struct pxt_log *log = all; log; log = log->next_of_all) {
		if (!log->held_for_fork)
			continue;
		log->held_for_fork = false;
		unlock(&log->lock);
	}
	holds_for_fork = false;
	unlock(&pool_lock);
}

/*
 * Alone in its process.  What another thread was in the middle of is left as it is, for its tables may
 * be half changed; if it was this thread, it goes on with them when the handler returns.
 */
static void in_child(void)
{
	for (struct pxt_log *log = all; log; log = log->next_of_all) {
		bool whole = holds_for_fork && log->held_for_fork;

		if (!whole && atomic_load_explicit(&log->lock, memory_order_relaxed) != FREE) {
			log->open = false;
			log->trid = 0;
		}
		log->held_for_fork = false;
		atomic_store_explicit(&log->lock, FREE, memory_order_relaxed);
	}
	holds_for_fork = false;
	atomic_store_explicit(&pool_lock, FREE, memory_order_relaxed);
	pxt_handle_forget_claims();
}

/* Before there can be a second thread: a lock is held for the first time after it. */
__attribute__((constructor)) static void watch_forks(void)
{
	pxt_port_around_fork(before_fork, in_parent, in_child);
}
