/* SPDX-License-Identifier: MIT */
/*
 * counter.h - the low 32 bits of the counter that stamps events, for messages that carry the time
 * themselves: the same number that posix_ticks_np of an event recorded at that moment ends in.
 */
#ifndef COMPAT_COUNTER_H
#define COMPAT_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <trace_np.h>

/* Only asked where the stream says that its stamps are the processor's counter. */
static inline uint64_t compat_processor_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

/* @processor: the stream's source is POSIX_TRACE_CLOCK_TSC_NP. */
static inline uint64_t compat_counter(bool processor)
{
	struct timespec now;

	if (processor)
		return compat_processor_counter();
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline bool compat_counter_is_processor(trace_id_t stream)
{
	struct posix_trace_clock_np clock;

	return posix_trace_getclock_np(stream, &clock, sizeof(clock)) == 0 &&
	       clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP;
}

#endif
