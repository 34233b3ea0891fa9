/* SPDX-License-Identifier: MIT */
/*
 * logger.h - what the writing and the reading half of Zephyr's event logger share.
 *
 * Who beside whom: any number of threads and signal handlers put; one collector at a time reads,
 * others wait for it.  The two halves meet in the stream, and in @room and @dropped.
 *
 * The buffer keeps old events and refuses new ones, event by event, which no stream of ours does
 * (UNTIL_FULL stops).  So its words are counted here: a put takes them from @room before it
 * records, the collector gives them back, and the stream below, which overwrites, is large enough
 * for whatever was let in.
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
/* No event, but how many were refused. */
#define ZEPHYR_DROPS     33
/* Words that an event takes of the buffer beside its data. */
#define ZEPHYR_HEAD      1
#define ZEPHYR_MAX_WORDS 255

struct zephyr_logger {
	_Atomic int32_t room;     /* words that are free; below 0 while somebody gives some back */
	_Atomic uint32_t dropped; /* events refused since the last one let in */
	_Atomic(sys_k_timer_func) timer;
	_Atomic uint32_t monitor_mask;
	_Atomic bool collected; /* @collector is known */
	bool processor;         /* the stamp clock is the processor's counter */
	trace_id_t stream;
	pthread_t collector;
	trace_event_id_t types[ZEPHYR_DROPS + 1];
};

extern struct zephyr_logger zephyr_logger __attribute__((visibility("hidden")));

/* Makes the stream once; false: it cannot be had, and every event is counted as dropped. */
bool zephyr_logger_ready(void) __attribute__((visibility("hidden")));

#endif
