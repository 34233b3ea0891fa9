/* SPDX-License-Identifier: MIT */
/*
 * logger.h - what Zephyr's event logger holds, for its masks and clock as well (settings.c).
 *
 * Who beside whom: any number of threads and signal handlers put; one collector at a time reads,
 * others wait for it.  The two halves meet in the stream, and in @dropped.
 *
 * The buffer keeps old events and refuses new ones, event by event: so does a stream with the policy
 * DISCARD, which tells the reader how many were refused, too.  It has one slot for each word of the
 * buffer: an event of one or two words of data takes as many slots as it took words, a longer one
 * fewer.
 */
#ifndef COMPAT_ZEPHYR_LOGGER_H
#define COMPAT_ZEPHYR_LOGGER_H

#include <misc/kernel_event_hooks.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <trace_np.h>

/* Events with a type of their own: those that a mask can name. */
#define ZEPHYR_IDS       32
/* Any other event: its data begins with its identifier. */
#define ZEPHYR_OTHER     0
/* Of data: what the interface can say, and what fits into the buffer with its head of one word. */
#define ZEPHYR_MAX_WORDS 255
#define ZEPHYR_MOST_WORDS                                                                          \
	(CONFIG_KERNEL_EVENT_LOGGER_BUFFER_SIZE > ZEPHYR_MAX_WORDS                                 \
	        ? ZEPHYR_MAX_WORDS                                                                 \
	        : CONFIG_KERNEL_EVENT_LOGGER_BUFFER_SIZE - 1)

struct zephyr_logger {
	/* Calls that no stream can take, since the last event was taken. */
	_Atomic uint32_t dropped;
	_Atomic(sys_k_timer_func) timer;
	_Atomic uint32_t monitor_mask;
	_Atomic bool collected; /* @collector is known */
	bool processor;         /* the stamp clock is the processor's counter */
	trace_id_t stream;
	pthread_t collector;
	trace_event_id_t types[ZEPHYR_IDS + 1];
};

extern struct zephyr_logger zephyr_logger __attribute__((visibility("hidden")));

#endif
