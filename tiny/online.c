/* SPDX-License-Identifier: MIT */
/* online.c - On-Line Trace of the smallest Core: making the stream and reading it. */
#include "base/attr.h"
#include "base/handle.h"
#include "port/port.h"
#include "port_atomic.h"
#include "tiny/tiny.h"

#include <errno.h>

/* ---- Making it ---- */

/* Interrupts are away.  Byte by byte through volatile, or the compiler asks for memcpy(). */
static void keep_attributes(const struct _pxt_attr *attr)
{
	const unsigned char *from = (const unsigned char *)attr;
	volatile unsigned char *to = (volatile unsigned char *)&pxt_tiny.attr;

	for (size_t i = 0; i < sizeof(*attr); i++)
		to[i] = attr ? from[i] : 0;
}

/* 0: more than there is. */
static uint32_t slots_for(uint64_t stream_bytes, uint32_t max_data)
{
	uint32_t slots = 32;

	while (slots <= PXT_TINY_SLOTS) {
		if ((uint64_t)slots * PXT_SLOT_BYTES >= stream_bytes &&
		    slots >= 2u * pxt_slots_for(max_data))
			return slots;
		slots *= 2u;
	}
	return 0;
}

/* Interrupts are away. */
static int create(const struct _pxt_attr *attr, trace_id_t *trid)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	struct pxt_clock_set now;
	uint32_t max_data =
	    attr ? (uint32_t)attr->_pxt_max_data : (uint32_t)CONFIG_PTRACE_DEFAULT_DATA_SIZE;
	uint32_t slots = slots_for(
	    attr ? attr->_pxt_stream_size : (uint64_t)CONFIG_PTRACE_DEFAULT_STREAM_SIZE, max_data);

	if (tiny->trid)
		return EAGAIN;
	if (!slots)
		return ENOMEM;
	tiny->last += tiny->last + 1u != 0 ? 1u : 2u;
	tiny->mask = slots - 1u;
	tiny->max_data = max_data;
	/* Whoever is in the middle of an event or a reading finds another place. */
	tiny->head += PXT_TINY_SLOTS;
	tiny->tail = tiny->head;
	tiny->held = 0;
	tiny->written = 0;
	tiny->retrieved = 0;
	tiny->lost = 0;
	tiny->cleared = 0;
	tiny->lost_read = 0;
	tiny->lost_told = 0;
	tiny->type_at = 0;
	pxt_port_clock_read(&now);
	tiny->anchor = now.realtime;
	tiny->anchor_ticks = now.ticks;
	keep_attributes(attr);
	tiny->trid = tiny->last;
	*trid = tiny->last;
	return 0;
}

PXT_API int posix_trace_create(
    pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
	int error = pid ? pxt_port_may_trace(pid) : 0;
	uint32_t irq;

	if (!trid || (attr && pxt_attr_check(attr, attr)))
		return EINVAL;
	if (error)
		return error;
	irq = pxt_irq_save();
	error = create(attr ? &attr->_pxt_kept : NULL, trid);
	pxt_irq_restore(irq);
	return error;
}

/* ---- Reading it ---- */

/* So often a record is copied anew; then interrupts stay away. */
#define LOOKS 4u

struct taken {
	uint32_t info;
	uint32_t address;
	uint64_t ticks;
	uint64_t lost_before;
};

static void take_data(uint32_t at, unsigned char *data, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (unsigned char)(*pxt_tiny_word(at, i / 4u) >> 8u * (i % 4u));
}

/* False: a writer that needed its room has dropped it meanwhile. */
static bool try_take(struct taken *taken, unsigned char *data, size_t room, bool *got)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t tail = tiny->tail;
	const struct pxt_slot *begin = pxt_tiny_slot(tail);
	uint32_t irq;
	bool same;

	*got = tiny->held != 0;
	if (!*got)
		return true;
	taken->info = begin->word[0];
	taken->address = begin->word[1];
	taken->ticks = pxt_slot_ticks(begin);
	take_data(tail, data,
	    pxt_info_bytes(taken->info) < room ? pxt_info_bytes(taken->info) : (uint32_t)room);
	irq = pxt_irq_save();
	same = tiny->tail == tail && tiny->held;
	if (same) {
		taken->lost_before = tiny->lost - tiny->lost_read;
		tiny->lost_read = tiny->lost;
		tiny->retrieved++;
		pxt_tiny_drop();
	}
	pxt_irq_restore(irq);
	return same;
}

/* False: there is nothing. */
static bool take(struct taken *taken, unsigned char *data, size_t room)
{
	uint32_t irq;
	bool got;

	for (unsigned i = 0; i < LOOKS; i++) {
		if (try_take(taken, data, room, &got))
			return got;
	}
	irq = pxt_irq_save();
	(void)try_take(taken, data, room, &got);
	pxt_irq_restore(irq);
	return got;
}

static void fill(struct posix_trace_event_info *event, const struct taken *taken, bool cut)
{
	struct timespec *time = &event->posix_timestamp;

	event->posix_event_id = pxt_info_id(taken->info);
	event->posix_pid = pxt_port_pid();
	event->posix_prog_address = (void *)(uintptr_t)taken->address;
	event->posix_thread_id = 0;
	event->posix_truncation_status = cut                         ? POSIX_TRACE_TRUNCATED_READ
	                                 : pxt_info_cut(taken->info) ? POSIX_TRACE_TRUNCATED_RECORD
	                                                             : POSIX_TRACE_NOT_TRUNCATED;
	event->_pxt_cpu = -1;
	event->_pxt_flags = 0;
	event->_pxt_entry = 0;
	event->_pxt_ticks = taken->ticks;
	event->_pxt_lost_before = taken->lost_before;
	pxt_port_since(taken->ticks - pxt_tiny.anchor_ticks, time);
	time->tv_sec += pxt_tiny.anchor.tv_sec;
	time->tv_nsec += pxt_tiny.anchor.tv_nsec;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

/* NOLINTBEGIN(readability-non-const-parameter): the prototypes are the standard's */
PXT_API int posix_trace_trygetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	struct taken taken;
	uint32_t bytes;

	if (pxt_arg_given(unavailable))
		*unavailable = 1;
	if (!pxt_tiny_is(trid) || !pxt_arg_given(event) || !pxt_arg_given(data_len) ||
	    !pxt_arg_given(unavailable) || (num_bytes && !pxt_arg_given(data)))
		return EINVAL;
	if (!take(&taken, data, num_bytes))
		return 0;
	bytes = pxt_info_bytes(taken.info);
	fill(event, &taken, bytes > num_bytes);
	*data_len = bytes > num_bytes ? num_bytes : bytes;
	*unavailable = 0;
	return 0;
}

static bool reached(const struct timespec *until)
{
	struct pxt_clock_set now;

	pxt_port_clock_read(&now);
	return now.realtime.tv_sec > until->tv_sec ||
	       (now.realtime.tv_sec == until->tv_sec && now.realtime.tv_nsec >= until->tv_nsec);
}

/* Each look is whole: a stream that is shut down meanwhile is refused at the next one. */
PXT_API int posix_trace_timedgetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable, const struct timespec *restrict abstime)
{
	for (;;) {
		int error = posix_trace_trygetnext_event(
		    trid, event, data, num_bytes, data_len, unavailable);

		if (error || !*unavailable)
			return error;
		if (!abstime || abstime->tv_nsec < 0 || abstime->tv_nsec >= 1000000000)
			return EINVAL;
		if (reached(abstime))
			return ETIMEDOUT;
		pxt_port_pause_ns(0);
	}
}

PXT_API int posix_trace_getnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	for (;;) {
		int error = posix_trace_trygetnext_event(
		    trid, event, data, num_bytes, data_len, unavailable);

		if (error || !*unavailable)
			return error;
		pxt_port_pause_ns(0);
	}
}
/* NOLINTEND(readability-non-const-parameter) */
