/* SPDX-License-Identifier: MIT */
/* process.c - start of the library in a process, and again in its forked child; see process.h. */
#include "core/process/process.h"

#include "base/handle.h"
#include "core/process/forked.h"
#include "core/process/forks.h"
#include "format/mul64.h"

struct pxt_clock_rate pxt_clock;

/* ---- How long a thread inside a trace point is waited for ---- */

uint64_t pxt_holdback_ns = (uint64_t)CONFIG_PTRACE_HOLDBACK_MS * 1000000u;

uint64_t pxt_process_ticks(uint64_t ns)
{
	uint64_t us = pxt_divide(ns, 1000);
	uint64_t per_us = pxt_divide(pxt_clock.hz, 1000000);
	uint64_t rest = pxt_clock.hz - per_us * 1000000u;

	/* At least one tick: a counter of less than 10 Hz must not cut the wait to nothing. */
	return per_us * us + pxt_divide(rest * us, 1000000) + 1u;
}

uint64_t pxt_process_holdback_ticks(void)
{
	return pxt_process_ticks(pxt_holdback_ns);
}

/* ---- Locks in a handler, or where the process ends ---- */

#define SLICE_NS 50000u

uint64_t pxt_lock_patience_ns = 1000000000u;

bool pxt_process_mutex_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience)
{
	while (!pxt_port_mutex_try(mutex)) {
		if (!pxt_patience_pause(patience, SLICE_NS))
			return false;
	}
	return true;
}

/* ---- The process ---- */

struct pxt_fork pxt_fork PXT_WIPED;

#define STARTING 1u /* and, above these two bits, the pid of the process that does it */
#define STARTED  2u

static struct pxt_port_mutex process_mutex;
static uint32_t last_epoch;
static int32_t process_pid;
static bool at_fork_set;
static uint32_t comes_back; /* of a child: into so many trace points (core/process/forked.h) */

bool (*_Atomic pxt_process_late)(void);
const struct pxt_child_part *_Atomic pxt_child_parts[PXT_CHILD_PARTS];

static const struct pxt_child_part *part(unsigned i)
{
	return atomic_load_explicit(&pxt_child_parts[i], memory_order_acquire);
}

static void forget(void)
{
	for (unsigned i = 0; i < PXT_CHILD_PARTS; i++) {
		if (part(i))
			part(i)->abandon();
	}
}

static bool goes_on(void)
{
	const struct pxt_child_part *streams = part(PXT_CHILD_STREAMS);

	return streams && streams->goes_on();
}

/* The streams first: they say whether the directory stays. */
static void forget_parent(void)
{
	uint32_t inside = comes_back;
	bool shared = false;

	comes_back = 0;
	forget();
	pxt_threads_after_fork();
	pxt_forked_begin(inside);
	for (unsigned i = 0; i < PXT_CHILD_PARTS; i++) {
		if (part(i))
			shared = part(i)->begin(shared, inside);
	}
	if (inside)
		pxt_forked_leave_behind();
}

static void before_fork(void)
{
	pxt_forked_note();
	if (!pxt_self.at_fork)
		return;
	for (unsigned i = 0; i < PXT_CHILD_PARTS; i++) {
		if (part(i))
			part(i)->lend();
	}
}

/*
 * Runs in the child before fork() returns; the system may have wiped the page already.  A child
 * that goes on with a stream of its parent's is traced from its first trace point on, so it starts
 * here, else when it first asks for something.
 */
static void in_child(void)
{
	/* After a start by another thread of the parent, although the page may have been wiped since. */
	(void)atomic_load_explicit(&pxt_fork.state, memory_order_acquire);
	atomic_store_explicit(&pxt_fork.epoch, 0u, memory_order_relaxed);
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_relaxed);
	atomic_store_explicit(&pxt_fork.state, 0u, memory_order_relaxed);
	forget();
	pxt_handle_forget_claims();
	comes_back = pxt_self.at_fork;
	pxt_self.at_fork = 0;
	if (goes_on() || comes_back) {
		pxt_process_lock();
		pxt_process_unlock();
	}
}

static void start(void)
{
	bool child = CONFIG_PTRACE_PORT_POSIX && last_epoch != 0;

	pxt_port_mutex_init(&process_mutex);
	process_pid = pxt_port_pid();
	pxt_forks_start(process_pid);
	pxt_port_clock_start(&pxt_clock);
	if (child)
		forget_parent();
	if (CONFIG_PTRACE_PORT_POSIX && !at_fork_set) {
		pxt_port_around_fork(before_fork, NULL, in_child);
		pxt_threads_watch_ends();
		at_fork_set = true;
	}
	(void)pxt_port_wipe_on_fork(&pxt_fork, sizeof(pxt_fork));
	if (!atomic_load_explicit(&pxt_fork.hot, memory_order_relaxed))
		atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_relaxed);
	pxt_fork.self_at = pxt_self_find();
	/* Last: a trace point that sees it meets a hot stream, or what stands for none. */
	atomic_store_explicit(&pxt_fork.epoch, ++last_epoch, memory_order_release);
	pxt_forked_identify();
}

/* A child that was forked while another thread of its parent started does not wait for that one. */
static void start_once(void)
{
	const uint32_t mine = (uint32_t)pxt_port_pid() << 2 | STARTING;
	uint32_t seen = atomic_load_explicit(&pxt_fork.state, memory_order_acquire);

	while (seen != STARTED) {
		if (seen == mine) {
			pxt_port_pause_ns(100000);
			seen = atomic_load_explicit(&pxt_fork.state, memory_order_acquire);
		} else if (atomic_compare_exchange_strong_explicit(&pxt_fork.state, &seen, mine,
		               memory_order_acquire, memory_order_acquire)) {
			start();
			atomic_store_explicit(&pxt_fork.state, STARTED, memory_order_release);
			return;
		}
	}
}

bool pxt_process_begin_late(void)
{
	bool (*late)(void) = NULL;

	if (CONFIG_PTRACE_PORT_POSIX)
		late = atomic_load_explicit(&pxt_process_late, memory_order_acquire);
	return late && pxt_fork_epoch() == 0 && late();
}

void pxt_process_lock(void)
{
	if (PXT_UNLIKELY(atomic_load_explicit(&pxt_fork.state, memory_order_acquire) != STARTED)) {
		(void)pxt_process_begin_late();
		start_once();
	}
	pxt_port_mutex_lock(&process_mutex);
}

bool pxt_process_lock_within(struct pxt_patience *patience)
{
	return pxt_process_mutex_within(&process_mutex, patience);
}

void pxt_process_unlock(void)
{
	pxt_port_mutex_unlock(&process_mutex);
}

int32_t pxt_process_pid(void)
{
	return process_pid;
}

bool pxt_process_owns(uint32_t epoch)
{
	return epoch != 0 && epoch == pxt_fork_epoch();
}
