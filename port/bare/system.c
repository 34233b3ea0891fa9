/* SPDX-License-Identifier: MIT */
/* system.c - clock, identity, waiting and the mutex, from what the board has. */
#include "format/mul64.h"

#include "port/bare/board.h"
#include "port/port.h"
#include "port_atomic.h"

#include <errno.h>
#include <trace_np.h>

#define NS_PER_S 1000000000u
/* There is one process; its number is any that a process may have. */
#define ONLY_PID 1

void pxt_port_clock_start(struct pxt_clock_rate *rate)
{
	rate->hz = pxt_board_hz();
	/* What a crystal of a board keeps over its temperatures. */
	rate->error_ppm = 100;
	rate->source = POSIX_TRACE_CLOCK_PORT_NP;
	rate->step = 1;
}

void pxt_port_clock_read(struct pxt_clock_set *set)
{
	set->ticks = pxt_board_ticks();
	pxt_port_since(set->ticks, &set->monotonic);
	set->boottime = set->monotonic;
	pxt_board_realtime(&set->realtime);
}

int32_t pxt_port_pid(void)
{
	return ONLY_PID;
}

int pxt_port_may_trace(int32_t pid)
{
	return pid == ONLY_PID ? 0 : ESRCH;
}

unsigned pxt_port_cpus(void)
{
	return 1;
}

/* Nothing forks here. */
void pxt_port_at_fork(PXT_UNUSED void (*child)(void))
{
}

void pxt_port_around_fork(PXT_UNUSED void (*before)(void), PXT_UNUSED void (*parent)(void),
    PXT_UNUSED void (*child)(void))
{
}

void pxt_port_lend(PXT_UNUSED void *memory, PXT_UNUSED size_t bytes)
{
}

void *pxt_port_alias(PXT_UNUSED void *memory, PXT_UNUSED size_t bytes)
{
	return NULL;
}

bool pxt_port_wipe_on_fork(PXT_UNUSED void *memory, PXT_UNUSED size_t bytes)
{
	return true;
}

static bool reached(const struct timespec *until)
{
	struct timespec now;

	pxt_board_realtime(&now);
	return now.tv_sec > until->tv_sec ||
	       (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

static uint64_t ticks_of(uint64_t ns)
{
	uint64_t hz = pxt_board_hz();

	uint64_t rest = pxt_divide_wide(0, &ns, NS_PER_S) * hz;

	return ns * hz + pxt_divide(rest, NS_PER_S);
}

int pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns)
{
	uint64_t end = slice_ns != 0 ? pxt_board_ticks() + ticks_of(slice_ns) : UINT64_MAX;

	while (atomic_load_explicit(word, memory_order_acquire) == expected) {
		if (pxt_board_ticks() >= end || (until && reached(until)))
			return ETIMEDOUT;
		pxt_board_idle();
	}
	return 0;
}

/* Sleepers look at the word whenever the board has something to do. */
void pxt_port_wake(PXT_UNUSED _Atomic uint32_t *word)
{
}

/* One processor sees its own stores in order. */
bool pxt_port_fence_all(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

uint64_t pxt_port_now_ns(void)
{
	struct timespec now;

	pxt_port_since(pxt_board_ticks(), &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void pxt_port_pause_ns(uint64_t ns)
{
	uint64_t end = pxt_board_ticks() + ticks_of(ns);

	do
		pxt_board_idle();
	while (pxt_board_ticks() < end);
}

_Static_assert(sizeof(struct pxt_port_mutex) >= PXT_BOARD_LOCK_BYTES, "as board.h promises");

void pxt_port_mutex_init(struct pxt_port_mutex *mutex)
{
	memset(mutex, 0, sizeof(*mutex));
}

void pxt_port_mutex_lock(struct pxt_port_mutex *mutex)
{
	(void)pxt_board_lock(mutex->opaque, true);
}

bool pxt_port_mutex_try(struct pxt_port_mutex *mutex)
{
	return pxt_board_lock(mutex->opaque, false);
}

void pxt_port_mutex_unlock(struct pxt_port_mutex *mutex)
{
	pxt_board_unlock(mutex->opaque);
}

/* ---- Where the processor has no atomic instructions (a Cortex-M0): the compiler calls these ---- */

#ifndef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_4

#define WEAK __attribute__((weak))
#define ATOMIC(function, name, after)                                                              \
	WEAK uint32_t function(volatile void *at, uint32_t value, int order) __asm__(name);        \
	WEAK uint32_t function(volatile void *at, uint32_t value, int order)                       \
	{                                                                                          \
		volatile uint32_t *word = at;                                                      \
		uint32_t state = pxt_irq_save();                                                   \
		uint32_t before = *word;                                                           \
                                                                                                   \
		(void)order;                                                                       \
		*word = (after);                                                                   \
		pxt_irq_restore(state);                                                            \
		return before;                                                                     \
	}

ATOMIC(system_exchange, "__atomic_exchange_4", value)
ATOMIC(system_add, "__atomic_fetch_add_4", before + value)
ATOMIC(system_sub, "__atomic_fetch_sub_4", before - value)
ATOMIC(system_and, "__atomic_fetch_and_4", before &value)
ATOMIC(system_or, "__atomic_fetch_or_4", before | value)

WEAK bool system_swap(volatile void *at, void *expected, uint32_t value, int yes, int no) __asm__(
    "__atomic_compare_exchange_4");
WEAK bool system_swap(volatile void *at, void *expected, uint32_t value, int yes, int no)
{
	volatile uint32_t *word = at;
	uint32_t *wanted = expected;
	uint32_t state = pxt_irq_save();
	uint32_t before = *word;
	bool same = before == *wanted;

	(void)yes;
	(void)no;
	if (same)
		*word = value;
	pxt_irq_restore(state);
	*wanted = before;
	return same;
}

#endif
