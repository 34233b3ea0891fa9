/* SPDX-License-Identifier: MIT */
/* process.c - start of the library in a process, and again in its forked child; see process.h. */
#include "core/process.h"

#include "core/directory.h"
#include "core/family.h"
#include "core/forked.h"
#include "core/share.h"
#include "core/stream.h"
#include "core/wanted.h"

#include "port_atomic.h"

#include <stdatomic.h>

struct pxt_fork pxt_fork;
struct pxt_clock_rate pxt_clock;

#define STARTING 1u /* and, above these two bits, the pid of the process that does it */
#define STARTED  2u

static struct pxt_port_mutex process_mutex;
static uint32_t last_epoch;
static int32_t process_pid;
static bool at_fork_set;
static uint32_t comes_back; /* of a child: into so many trace points (core/forked.h) */

static bool inherits(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_family_keeps(i))
			return true;
	}
	return false;
}

/*
 * Runs in the child before fork() returns; the system may have wiped the page already.  A child
 * that goes on with a stream of its parent's is traced from its first trace point on, so it starts
 * here, else when it first asks for something.
 */
static void in_child(void)
{
	/* Behind a start by another thread of the parent, although the page may have been wiped since. */
	(void)atomic_load_explicit(&pxt_fork.state, memory_order_acquire);
	atomic_store_explicit(&pxt_fork.epoch, 0u, memory_order_relaxed);
	atomic_store_explicit(&pxt_fork.hot, PXT_NO_HOT, memory_order_relaxed);
	atomic_store_explicit(&pxt_fork.state, 0u, memory_order_relaxed);
	pxt_wanted_none();
	pxt_share_forget();
	pxt_handle_forget_claims();
	comes_back = pxt_self.at_fork;
	pxt_self.at_fork = 0;
	if (inherits() || comes_back) {
		pxt_process_lock();
		pxt_process_unlock();
	}
}

static void before_fork(void)
{
	pxt_forked_note();
	if (pxt_self.at_fork)
		pxt_streams_before_fork();
}

static void forget_parent(void)
{
	uint32_t inside = comes_back;
	enum pxt_after_fork how = PXT_FORKED;

	comes_back = 0;
	pxt_wanted_none();
	pxt_share_forget();
	pxt_threads_after_fork();
	pxt_forked_begin(inside);
	if (inside)
		how = inherits() && pxt_directory_move() ? PXT_FORKED_INSIDE : PXT_FORKED_ALONE;
	pxt_streams_after_fork(how);
	if (!pxt_family_after_fork())
		pxt_directory_after_fork(inside != 0);
	if (inside)
		pxt_forked_leave_behind();
}

static void start(void)
{
	bool child = CONFIG_PTRACE_PORT_POSIX && last_epoch != 0;

	pxt_port_mutex_init(&process_mutex);
	process_pid = pxt_port_pid();
	pxt_family_start();
	pxt_port_clock_start(&pxt_clock);
	if (child)
		forget_parent();
	if (CONFIG_PTRACE_PORT_POSIX && !at_fork_set) {
		pxt_port_around_fork(before_fork, NULL, in_child);
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

void pxt_process_lock(void)
{
	if (PXT_UNLIKELY(atomic_load_explicit(&pxt_fork.state, memory_order_acquire) != STARTED))
		start_once();
	pxt_port_mutex_lock(&process_mutex);
}

uint64_t pxt_patience_ns = 1000000000u;

#define SLICE_NS 50000u

bool pxt_lock_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience)
{
	while (!pxt_port_mutex_try(mutex)) {
		if (!pxt_patience_pause(patience, SLICE_NS))
			return false;
	}
	return true;
}

bool pxt_process_lock_within(struct pxt_patience *patience)
{
	return pxt_lock_within(&process_mutex, patience);
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
