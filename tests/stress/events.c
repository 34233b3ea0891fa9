/* SPDX-License-Identifier: MIT */
/* events.c - events that prove themselves; see conformance/story.h. */
#include "conformance/story.h"

#include "suite.h"

#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"

#include <string.h>

struct head {
	uint32_t source;
	uint32_t number;
	uint32_t check;
};

trace_event_id_t ev_type(void)
{
	static _Atomic trace_event_id_t known;
	trace_event_id_t id = known;

	if (id == 0) {
		(void)posix_trace_eventid_open("stress_event", &id);
		known = id;
	}
	return id;
}

static size_t length_of(uint32_t source, uint32_t number)
{
	return sizeof(struct head) +
	       (number * 7u + source) % (uint32_t)(EV_MOST_BYTES - sizeof(struct head) + 1);
}

static uint32_t mix(uint32_t value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	return value ^ value >> 16;
}

static uint32_t check_of(uint32_t source, uint32_t number, size_t len)
{
	return mix(source * 0x9e3779b9u ^ mix(number) ^ (uint32_t)len);
}

void ev_say(uint32_t source, uint32_t number)
{
	unsigned char data[EV_MOST_BYTES];
	size_t len = length_of(source, number);
	struct head head = { source, number, check_of(source, number, len) };

	memcpy(data, &head, sizeof(head));
	for (size_t i = sizeof(head); i < len; i++)
		data[i] = (unsigned char)(head.check >> i % 4 * 8);
	posix_trace_event(ev_type(), data, len);
}

void ev_go_on(uint32_t source, _Atomic uint32_t *number, uint32_t count)
{
	for (uint32_t i = 0; count == EV_ENDLESS || i < count; i++) {
		uint32_t next = atomic_load(number) + 1u;

		atomic_store(number, next);
		ev_say(source, next);
		if (ev_random() % 64 == 0)
			pxt_sleep_us(ev_random() % 300);
	}
}

uint64_t ev_sum(_Atomic uint32_t *numbers, uint32_t sources)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sources; i++)
		sum += atomic_load(&numbers[i]);
	return sum;
}

static bool intact(const struct head *head, const unsigned char *data, size_t len)
{
	if (head->source >= EV_SOURCES || len != length_of(head->source, head->number) ||
	    head->check != check_of(head->source, head->number, len))
		return false;
	for (size_t i = sizeof(*head); i < len; i++) {
		if (data[i] != (unsigned char)(head->check >> i % 4 * 8))
			return false;
	}
	return true;
}

static void look_at_user_event(struct ev_witness *witness, const unsigned char *data, size_t len)
{
	struct head head = { 0, 0, 0 };

	if (len >= sizeof(head))
		memcpy(&head, data, sizeof(head));
	if (len < sizeof(head) || !intact(&head, data, len)) {
		witness->torn++;
		return;
	}
	witness->user++;
	witness->disordered += head.number <= witness->last[head.source];
	witness->last[head.source] = head.number;
}

/* Which the record's reader records, too. */
static bool is_passed_over(trace_event_id_t id, const void *data, size_t len)
{
	int said = 0;

	if (id != POSIX_TRACE_ERROR || len != sizeof(said))
		return false;
	memcpy(&said, data, sizeof(said));
	return POSIX_TRACE_ERROR_CAUSE_NP(said) == POSIX_TRACE_ERROR_RECORD_NP;
}

void ev_look(struct ev_witness *witness, const struct posix_trace_event_info *info,
    const void *data, size_t len)
{
	trace_event_id_t id = info->posix_event_id;
	int64_t stamp = pxt_ns(&info->posix_timestamp);
	int by_call = 0;

	witness->back += stamp < witness->last_stamp;
	witness->last_stamp = stamp;
	/* Marks of a flush that was under way at the stop may be after it. */
	if (id == POSIX_TRACE_FLUSH_START || id == POSIX_TRACE_FLUSH_STOP)
		return;
	witness->last_was_stop = false;
	witness->last_was_auto_stop = false;
	if (id == ev_type()) {
		look_at_user_event(witness, (const unsigned char *)data, len);
	} else if (id == POSIX_TRACE_START) {
		witness->starts += info->posix_prog_address != NULL;
		witness->auto_starts += info->posix_prog_address == NULL;
	} else if (id == POSIX_TRACE_STOP && len == sizeof(by_call)) {
		memcpy(&by_call, data, sizeof(by_call));
		witness->last_was_stop = by_call == 0;
		witness->last_was_auto_stop = by_call != 0;
		witness->stops += by_call == 0;
		witness->auto_stops += by_call != 0;
	} else if (id == POSIX_TRACE_FILTER) {
		witness->filters++;
	} else if (id == POSIX_TRACE_OVERFLOW) {
		witness->overflows++;
	} else if (id == POSIX_TRACE_RESUME) {
		witness->resumes++;
	} else if (is_passed_over(id, data, len)) {
		witness->passed_over++;
	} else {
		witness->strange++;
	}
}

uint64_t ev_drain(trace_id_t trid, struct ev_witness *witness, uint64_t most)
{
	uint64_t got = 0;

	while (got < most) {
		struct posix_trace_event_info info;
		unsigned char data[1024];
		size_t len = 0;
		int unavailable = 1;

		if (posix_trace_trygetnext_event(
		        trid, &info, data, sizeof(data), &len, &unavailable) != 0 ||
		    unavailable != 0)
			break;
		ev_look(witness, &info, data, len);
		got++;
	}
	return got;
}

uint64_t ev_counted(const struct ev_witness *witness)
{
	return witness->user + witness->torn + witness->starts + witness->stops + witness->filters +
	       witness->passed_over;
}

bool ev_lawful(const struct posix_trace_counts_np *counts)
{
	return counts->posix_written_np == counts->posix_retrieved_np + counts->posix_lost_np +
	                                       counts->posix_cleared_np + counts->posix_held_np;
}

void ev_take_rest(trace_id_t trid, struct ev_witness *witness, struct posix_trace_counts_np *counts)
{
	PXT_EQ(posix_trace_stop(trid), 0);
	for (int wait = 0; wait < 1000; wait++) {
		(void)ev_drain(trid, witness, (uint64_t)-1);
		PXT_EQ_FATAL(posix_trace_getcounts_np(trid, counts, sizeof(*counts)), 0);
		if (counts->posix_held_np == 0)
			break;
		pxt_sleep_ms(5);
	}
}

void ev_expect_all(const struct ev_witness *witness, const struct posix_trace_counts_np *counts)
{
	CU_ASSERT(ev_lawful(counts));
	PXT_EQ(counts->posix_held_np, 0);
	PXT_EQ(counts->posix_retrieved_np, ev_counted(witness));
	PXT_EQ(witness->torn, 0);
	PXT_EQ(witness->strange, 0);
	PXT_EQ(witness->back, 0);
}

void ev_give_nobody_up(void)
{
	UNREPORTED();
	pxt_holdback_ns = UINT64_C(1000) * 1000000000;
}

uint32_t ev_total(void)
{
	bool slow = (st_sanitized() || pxt_emulated()) && !pxt_in_whole();

	if (pxt_in_full())
		return slow ? 2000000u : 10000000u;
	return slow ? 100000u : 400000u;
}

uint32_t ev_random(void)
{
	static _Thread_local uint64_t state;

	if (state == 0)
		state = (uint64_t)pxt_monotonic_ns() | 1u;
	return (uint32_t)(pxt_drawn(&state) >> 20);
}
