/* SPDX-License-Identifier: MIT */
/*
 * clock.c - a clock that a test moves.  The trace path reads the processor's counter inline, so
 * that is switched off and the slow reading, which is a call, is the one replaced.
 */
#include "fakes.h"
#include "port/port.h"
#include "port_atomic.h"

#include <trace_np.h>

#define NS_PER_S 1000000000u

static atomic_bool faked;
static uint64_t counter;
static uint64_t step;
static uint64_t rate_hz;

uint64_t (*pxt_fake_clock_told)(uint64_t ticks);

/* 64-bit words are no single access everywhere; nobody who holds it is interrupted by a reader. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void enter(void)
{
	while (atomic_flag_test_and_set(&busy))
		;
}

static void leave(void)
{
	atomic_flag_clear(&busy);
}

static uint64_t next_ticks(void)
{
	uint64_t (*told)(uint64_t) = pxt_fake_clock_told;
	uint64_t ticks;

	enter();
	ticks = counter;
	counter += step;
	leave();
	return told ? told(ticks) : ticks;
}

static struct timespec after(int64_t seconds, uint64_t ticks)
{
	struct timespec time;

	time.tv_sec = (time_t)(seconds + (int64_t)(ticks / rate_hz));
	time.tv_nsec = (long)(ticks % rate_hz * NS_PER_S / rate_hz);
	return time;
}

PXT_WRAPPED(uint64_t, pxt_port_ticks_slow, (void))
{
	return atomic_load(&faked) ? next_ticks() : __real_pxt_port_ticks_slow();
}

PXT_WRAPPED(void, pxt_port_clock_start, (struct pxt_clock_rate * rate))
{
	if (!atomic_load(&faked)) {
		__real_pxt_port_clock_start(rate);
		return;
	}
	rate->hz = rate_hz;
	rate->error_ppm = 0;
	rate->source = POSIX_TRACE_CLOCK_PORT_NP;
}

PXT_WRAPPED(void, pxt_port_clock_read, (struct pxt_clock_set * set))
{
	if (!atomic_load(&faked)) {
		__real_pxt_port_clock_read(set);
		return;
	}
	set->ticks = next_ticks();
	set->realtime = after(PXT_FAKE_EPOCH, set->ticks);
	set->monotonic = after(PXT_FAKE_UPTIME, set->ticks);
	set->boottime = set->monotonic;
}

void pxt_fake_clock_start(uint64_t hz)
{
#if defined(__x86_64__) || defined(__aarch64__)
	pxt_port_use_counter = false;
#endif
	rate_hz = hz;
	counter = 0;
	step = 0;
	atomic_store(&faked, true);
}

void pxt_fake_clock_set(uint64_t ticks)
{
	enter();
	counter = ticks;
	leave();
}

void pxt_fake_clock_advance(uint64_t ticks)
{
	enter();
	counter += ticks;
	leave();
}

void pxt_fake_clock_step(uint64_t ticks)
{
	enter();
	step = ticks;
	leave();
}
