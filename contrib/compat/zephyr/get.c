/* SPDX-License-Identifier: MIT */
/* get.c - Zephyr's event logger: the collector's side. */
#include "logger.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

/*
 * One event is here between the stream and the collector: a stream hands out what it has once,
 * and an event that was too long for the collector's buffer stays.  All under @lock.
 */
static struct {
	pthread_mutex_t lock;
	atomic_bool waiting; /* who has the lock waits for an event: there is none */
	bool full;
	uint16_t id;
	uint32_t dropped;
	uint32_t words;
	uint32_t data[1 + ZEPHYR_MAX_WORDS];
} front = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int32_t logged_id(trace_event_id_t type)
{
	for (int32_t id = 0; id <= ZEPHYR_IDS; id++)
		if (zephyr_logger.types[id] == type)
			return id;
	return -1;
}

/* Makes the front of an event of the stream. */
static void take(const struct posix_trace_event_info *info, size_t bytes)
{
	struct posix_trace_eventextra_np extra;
	const int32_t id = logged_id(info->posix_event_id);

	if (posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra)) == 0)
		front.dropped += (uint32_t)extra.posix_lost_before_np;
	if (id < 0)
		return;
	front.id = (uint16_t)id;
	front.words = (uint32_t)(bytes / sizeof(uint32_t));
	if (id == ZEPHYR_OTHER) {
		front.id = (uint16_t)front.data[0];
		front.words--;
		memmove(front.data, &front.data[1], front.words * sizeof(uint32_t));
	} else if (bytes == 0) {
		front.words = 1;
		front.data[0] = (uint32_t)extra.posix_ticks_np;
	}
	front.full = true;
}

enum patience {
	AT_ONCE,
	FOR_EVER,
	UNTIL
};

/* The next event becomes the front; false: there is none. */
static bool fetch(enum patience patience, const struct timespec *until)
{
	struct posix_trace_event_info info;
	size_t bytes;
	int none;
	int error;

	while (!front.full) {
		error = posix_trace_trygetnext_event(
		    zephyr_logger.stream, &info, front.data, sizeof(front.data), &bytes, &none);
		if (!error && none && patience != AT_ONCE) {
			atomic_store(&front.waiting, true);
			error = patience == FOR_EVER
			            ? posix_trace_getnext_event(zephyr_logger.stream, &info,
			                  front.data, sizeof(front.data), &bytes, &none)
			            : posix_trace_timedgetnext_event(zephyr_logger.stream, &info,
			                  front.data, sizeof(front.data), &bytes, &none, until);
			atomic_store(&front.waiting, false);
		}
		if ((error && error != EINTR) || (!error && none))
			return false;
		if (!error)
			take(&info, bytes);
	}
	return true;
}

static int hand_out(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	const uint32_t room = *buffer_size;
	uint64_t dropped = front.dropped;

	*event_id = front.id;
	*buffer_size = (uint8_t)front.words;
	if (front.words > room)
		return -EMSGSIZE;
	dropped += atomic_exchange_explicit(&zephyr_logger.dropped, 0, memory_order_relaxed);
	*dropped_event_count = dropped > UINT8_MAX ? UINT8_MAX : (uint8_t)dropped;
	memcpy(buffer, front.data, front.words * sizeof(uint32_t));
	front.dropped = 0;
	front.full = false;
	return (int)front.words;
}

/* A caller that cannot wait, while another one waits: there is no event for it. */
static bool enter(enum patience patience, const struct timespec *until)
{
	if (patience == FOR_EVER)
		return pthread_mutex_lock(&front.lock) == 0;
	if (patience == UNTIL)
		return pthread_mutex_timedlock(&front.lock, until) == 0;
	while (pthread_mutex_trylock(&front.lock) != 0) {
		if (atomic_load(&front.waiting))
			return false;
		(void)sched_yield();
	}
	return true;
}

static int get(enum patience patience, const struct timespec *until, uint16_t *event_id,
    uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	int result = 0;

	if (!event_id || !dropped_event_count || !buffer || !buffer_size)
		return -EINVAL;
	*dropped_event_count = 0;
	if (!zephyr_logger_ready() || !enter(patience, until))
		return 0;
	if (fetch(patience, until))
		result = hand_out(event_id, dropped_event_count, buffer, buffer_size);
	(void)pthread_mutex_unlock(&front.lock);
	return result;
}

int sys_k_event_logger_get(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	return get(AT_ONCE, NULL, event_id, dropped_event_count, buffer, buffer_size);
}

int sys_k_event_logger_get_wait(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	return get(FOR_EVER, NULL, event_id, dropped_event_count, buffer, buffer_size);
}

int sys_k_event_logger_get_wait_timeout(uint16_t *event_id, uint8_t *dropped_event_count,
    uint32_t *buffer, uint8_t *buffer_size, uint32_t timeout)
{
	const uint64_t ms = (uint64_t)timeout * CONFIG_KERNEL_EVENT_LOGGER_TICK_MS;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return get(UNTIL, &until, event_id, dropped_event_count, buffer, buffer_size);
}

void sys_k_event_logger_register_as_collector(void)
{
	atomic_store_explicit(&zephyr_logger.collected, false, memory_order_relaxed);
	zephyr_logger.collector = pthread_self();
	/* Release: pairs with the acquire of those who compare themselves with it. */
	atomic_store_explicit(&zephyr_logger.collected, true, memory_order_release);
}
