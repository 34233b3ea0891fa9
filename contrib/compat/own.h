/* SPDX-License-Identifier: MIT */
/*
 * own.h - what the interfaces have in common: event types with their descriptions, and a stream that
 * holds nothing but those.
 */
#ifndef COMPAT_OWN_H
#define COMPAT_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <trace_np.h>

#define COMPAT_INSIDE __attribute__((visibility("hidden")))

/*
 * Opens a type.  @format: NULL: none.  ENOMEM: there is no room for its name, so that it could not be
 * told from others.
 */
int compat_open_type(const char *name, const char *format, trace_event_id_t *type) COMPAT_INSIDE;

struct compat_own {
	const char *name;              /* of the stream */
	int policy;                    /* what it does when it is full */
	size_t data_bytes;             /* largest data */
	size_t events;                 /* that it keeps, however small, ... */
	size_t event_bytes;            /* ... or with so much data */
	const trace_event_id_t *types; /* of @count places; 0: none */
	size_t count;
};

/* A stream of one lane that records these types and nothing else, and runs. */
int compat_make_stream(const struct compat_own *own, trace_id_t *stream) COMPAT_INSIDE;

/*
 * ---- The low 32 bits of the counter that stamps events, for messages that carry the time themselves:
 * the low 32 bits of what posix_ticks_np would be for an event at that moment ----
 */

/* Call it only if the stream's stamps are the processor's counter. */
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
