/* SPDX-License-Identifier: MIT */
/*
 * logger.c - Zephyr's event logger: recording, but for the collector's own switches; masks, the clock, and the stream
 * below; the collector's side.
 */
#include "logger.h"

#include "../own.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

struct zephyr_logger zephyr_logger = {
	.monitor_mask = CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC ? 0 : CONFIG_TASK_MONITOR_MASK,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool ready;

/* ---- The stream ---- */

static const struct {
	uint16_t id;
	const char *name;
	const char *format;
} messages[] = {
	{ ZEPHYR_OTHER, "zephyr_other", NULL },
	{ KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID, "zephyr_context_switch",
	    "u32 time, x32 thread" },
	{ KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID, "zephyr_interrupt", "u32 time, u32 interrupt" },
	{ KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID, "zephyr_sleep",
	    "u32 asleep, u32 awake, u32 interrupt" },
	{ KERNEL_EVENT_LOGGER_TASK_MON_TASK_STATE_CHANGE_EVENT_ID, "zephyr_task_state",
	    "u32 time, x32 task, x32 status" },
	{ KERNEL_EVENT_LOGGER_TASK_MON_CMD_PACKET_EVENT_ID, "zephyr_command_packet",
	    "u32 time, x32 task, x32 handler" },
	{ KERNEL_EVENT_LOGGER_TASK_MON_KEVENT_EVENT_ID, "zephyr_kevent", "u32 time, u32 code" },
};

static int open_types(void)
{
	struct zephyr_logger *l = &zephyr_logger;
	char name[sizeof("zephyr_event_00000")];
	int error = 0;

	for (unsigned i = 0; !error && i < sizeof(messages) / sizeof(messages[0]); i++)
		error = compat_open_type(
		    messages[i].name, messages[i].format, &l->types[messages[i].id]);
	for (unsigned id = sizeof(messages) / sizeof(messages[0]); !error && id <= ZEPHYR_IDS;
	     id++) {
		(void)snprintf(name, sizeof(name), "zephyr_event_%u", id);
		error = compat_open_type(name, NULL, &l->types[id]);
	}
	return error;
}

/* Two slots have room for an event of one word of data. */
static void make_stream(void)
{
	const struct compat_own own = {
		.name = "zephyr",
		.policy = POSIX_TRACE_DISCARD_NP,
		.data_bytes = (ZEPHYR_MOST_WORDS + 1) * sizeof(uint32_t),
		.events = (CONFIG_KERNEL_EVENT_LOGGER_BUFFER_SIZE + 1) / 2,
		.event_bytes = sizeof(uint32_t),
		.types = zephyr_logger.types,
		.count = sizeof(zephyr_logger.types) / sizeof(zephyr_logger.types[0]),
	};

	if (open_types() == 0 && compat_make_stream(&own, &zephyr_logger.stream) == 0) {
		zephyr_logger.processor = compat_counter_is_processor(zephyr_logger.stream);
		/* Release: a thread that sees it sees types and stream. */
		atomic_store_explicit(&ready, true, memory_order_release);
	}
}

/* Makes the stream once; false: it cannot be had, and every event is counted as dropped. */
static bool make_ready(void)
{
	if (__builtin_expect(!atomic_load_explicit(&ready, memory_order_acquire), 0))
		(void)pthread_once(&once, make_stream);
	return atomic_load_explicit(&ready, memory_order_acquire);
}

/* ---- Recording ---- */

static void drop(void)
{
	(void)atomic_fetch_add_explicit(&zephyr_logger.dropped, 1, memory_order_relaxed);
}

/* The collector's own switches are nobody's business. */
static bool is_collectors(uint16_t event_id)
{
	return __builtin_expect(event_id == KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID, 0) &&
	       atomic_load_explicit(&zephyr_logger.collected, memory_order_acquire) &&
	       pthread_equal(zephyr_logger.collector, pthread_self());
}

static void put_other(uint16_t event_id, const uint32_t *data, uint8_t words)
{
	uint32_t whole[1 + ZEPHYR_MAX_WORDS];

	whole[0] = event_id;
	if (words != 0)
		memcpy(&whole[1], data, words * sizeof(uint32_t));
	posix_trace_event(
	    zephyr_logger.types[ZEPHYR_OTHER], whole, (1u + words) * sizeof(uint32_t));
}

void sys_k_event_logger_put(uint16_t event_id, const uint32_t *event_data, uint8_t data_size)
{
	static const unsigned char no_words;
	const uint32_t words = data_size;

	if (!sys_k_must_log_event(event_id) || is_collectors(event_id))
		return;
	if (__builtin_expect(event_id == 0 || (!event_data && data_size != 0) ||
	                         words > ZEPHYR_MOST_WORDS || !make_ready(),
	        0)) {
		drop();
		return;
	}
	if (event_id > ZEPHYR_IDS)
		put_other(event_id, event_data, data_size);
	else if (data_size != 0)
		posix_trace_event(
		    zephyr_logger.types[event_id], event_data, data_size * sizeof(uint32_t));
	else
		/* One byte: no data at all is what put_timed() records. */
		posix_trace_event(zephyr_logger.types[event_id], &no_words, 1);
}

/* The time is the event's own stamp, if it need not be the program's. */
void sys_k_event_logger_put_timed(uint16_t event_id)
{
	uint32_t now;

	if (event_id == 0 || event_id > ZEPHYR_IDS ||
	    atomic_load_explicit(&zephyr_logger.timer, memory_order_relaxed)) {
		now = kernel_event_time();
		sys_k_event_logger_put(event_id, &now, 1);
		return;
	}
	if (!sys_k_must_log_event(event_id) || is_collectors(event_id))
		return;
	if (!make_ready())
		drop();
	else
		posix_trace_event(zephyr_logger.types[event_id], NULL, 0);
}

uint32_t kernel_event_time(void)
{
	const sys_k_timer_func timer =
	    atomic_load_explicit(&zephyr_logger.timer, memory_order_relaxed);

	if (timer)
		return timer();
	return (uint32_t)compat_counter(make_ready() && zephyr_logger.processor);
}

void kernel_event_monitor(uint16_t event_id, uint32_t kind, const uint32_t *data, uint8_t words)
{
	if (CONFIG_TASK_MONITOR && sys_k_must_log_event(event_id) &&
	    (atomic_load_explicit(&zephyr_logger.monitor_mask, memory_order_relaxed) & kind))
		sys_k_event_logger_put(event_id, data, words);
}

uint64_t sys_k_event_logger_clock_hz(void)
{
	struct posix_trace_clock_np clock;

	if (!make_ready() ||
	    posix_trace_getclock_np(zephyr_logger.stream, &clock, sizeof(clock)) != 0)
		return 0;
	return zephyr_logger.processor ? clock.posix_hz_np : UINT64_C(1000000000);
}

/* ---- The collector's side ---- */

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
	if (!make_ready() || !enter(patience, until))
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
