/* SPDX-License-Identifier: MIT */
/*
 * gaps.c - losses that show while another lane's records are taken: they are told where they are, and
 * nothing older comes after them.  One thread plays all writers.
 */
#include "beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/process.h"
#include "core/read/consumer.h"
#include "core/testpoints.h"
#include "suite.h"

#include <string.h>
#include <unistd.h>

#define LOOP POSIX_TRACE_LOOP

void (*_Atomic pxt_testpoint_hook)(int point);

static trace_id_t stream;
static struct pxt_block *block;
static struct st_spec spec;
static uint64_t holdback;

struct record {
	struct pxt_place place;
	struct pxt_ring_event event;
	unsigned char data[64];
};

static void begin(bool with_log)
{
	struct pxt_stream *at;

	spec = (struct st_spec){ .policy = LOOP,
		.size = 4096,
		.lanes = 2,
		.with_log = with_log,
		.fd = with_log ? st_file() : -1,
		.log_policy = POSIX_TRACE_APPEND };
	stream = st_create(&spec);
	at = pxt_handle_find_kind(stream, &pxt_stream_kind);
	CU_ASSERT_FATAL(at != NULL);
	block = at->block;
	holdback = pxt_holdback_ns;
	PXT_EQ(posix_trace_start(stream), 0);
}

static void end(void)
{
	pxt_testpoint_hook_set(NULL);
	somebody_inside(false);
	pxt_holdback_ns = holdback;
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static void reserve(struct record *record, uint32_t lane, int number)
{
	memset(record, 0, sizeof(*record));
	memcpy(record->data, &number, sizeof(number));
	record->place.ring = pxt_block_ring(block, lane);
	record->event.data = record->data;
	record->event.bytes = 4;
	record->event.info = pxt_slot_info((uint32_t)st_type(), 4, false, false, lane);
	record->event.ctx = pxt_context(100 + lane, NULL);
	(void)pxt_ring_reserve(
	    &record->place, pxt_info_slots(record->event.info, PXT_CTX_BYTES), PXT_TAKE_ORDERED);
	record->event.ticks = record->place.ticks;
}

static void put(uint32_t lane, int number)
{
	struct record record;

	reserve(&record, lane, number);
	pxt_ring_store(&record.place, &record.event);
}

/* ---- On-line ---- */

/* Rule 3; ruling 26: nothing older than what was lost is shown after OVERFLOW. */
PXT_TEST(where_only_a_mark_is_left_of_a_lap_older_records_are_given_up_as_well)
{
	struct st_event event;
	bool overflow = false;
	int records;

	begin(false);
	st_expect(stream, "START");
	put(0, 1);
	for (int i = 2; i < 6; i++)
		put(1, i);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	records = (int)(block->slot_mask - 1u) / 2;
	for (int i = 0; i < records; i++)
		put(1, 100 + i);
	while (st_take(stream, &event)) {
		overflow |= event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		CU_ASSERT(
		    !overflow || event.info.posix_event_id != st_type() || st_number(&event) != 1);
	}
	CU_ASSERT(overflow);
	CU_ASSERT(st_law(stream, NULL));
	end();
}

/* ---- While a flush takes a run ---- */

static int runs_left;
static void (*meanwhile)(void);

static void behind_a_run(int point)
{
	if (point != PXT_TP_CONSUMED || --runs_left)
		return;
	pxt_testpoint_hook_set(NULL);
	meanwhile();
}

static void lap_the_other_lane(void)
{
	for (int i = 1000; i < 1400; i++)
		put(1, i);
}

static void flush_with(void (*what)(void))
{
	meanwhile = what;
	runs_left = 2;
	pxt_testpoint_hook_set(behind_a_run);
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_flush(stream), 0);
}

/* Of the log: whether OVERFLOW is before what is left of the lap. */
static void expect_overflow_before(int first)
{
	struct st_event event;
	bool overflow = false;
	trace_id_t log;

	PXT_EQ_FATAL(posix_trace_open(spec.fd, &log), 0);
	while (st_take(log, &event)) {
		overflow |= event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		if (event.info.posix_event_id == st_type() && st_number(&event) >= first)
			CU_ASSERT(overflow);
	}
	CU_ASSERT(overflow);
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(spec.fd);
}

/* SYS-06 */
PXT_TEST(a_lap_of_another_lane_that_a_run_finds_is_told_before_its_rest)
{
	begin(true);
	for (int i = 1; i < 4; i++)
		put(0, i);
	flush_with(lap_the_other_lane);
	end();
	expect_overflow_before(1000);
}

static void let_it_be_abandoned(void)
{
	somebody_inside(false);
	st_sleep_ms(1);
}

/* LPT-25; ruling 7: what a run passes over is counted before the record after it. */
PXT_TEST(an_abandoned_record_that_a_run_finds_is_told_before_what_follows)
{
	struct record abandoned;
	struct st_event event;
	trace_id_t log;
	int found = 0;

	begin(true);
	for (int i = 1; i < 4; i++)
		put(0, i);
	reserve(&abandoned, 1, 9);
	put(1, 4);
	put(1, 5);
	somebody_inside(true);
	pxt_holdback_ns = UINT64_C(10000000000);
	flush_with(let_it_be_abandoned);
	end();
	PXT_EQ_FATAL(posix_trace_open(spec.fd, &log), 0);
	while (st_take_user(log, &event)) {
		struct posix_trace_eventextra_np extra;

		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		PXT_EQ(extra.posix_lost_before_np, st_number(&event) == 4 ? 1u : 0u);
		found++;
	}
	PXT_EQ(found, 5);
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(spec.fd);
}
