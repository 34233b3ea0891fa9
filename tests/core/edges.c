/* SPDX-License-Identifier: MIT */
/*
 * edges.c - the last slots of streams that do not overwrite: who stops the stream, who starts it
 * again, and what late writers can no longer do (ruling 14).
 */
#include "base/attr.h"
#include "core/read/consumer.h"
#include "core/read/take.h"
#include "core/record/slowpath.h"
#include "kit.h"

static trace_id_t stream;

static void begin(unsigned lanes)
{
	const struct kit_spec spec = { .policy = FULL, .lanes = lanes, .bytes = 1024 };

	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
}

static void end(void)
{
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static uint32_t free_in(unsigned index)
{
	struct pxt_lane *lane = pxt_block_lane(kit_block(stream), index);
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(lane, &pos, &seq);
	return kit_slots(stream) - (uint32_t)(pos - lane->pos);
}

/* Exactly so many slots are left in the current lane 0. */
static void leave(uint32_t slots)
{
	uint32_t fill = free_in(0) - slots;

	for (; fill >= 5; fill -= 2)
		kit_write(2, 4);
	for (; fill >= 2; fill -= fill == 3 ? 3 : 2)
		kit_write(2, fill == 3 ? 16 : 4);
	PXT_EQ(free_in(0), slots);
}

static void status(struct posix_trace_status_info *now)
{
	PXT_EQ_FATAL(posix_trace_get_status(stream, now), 0);
}

static bool is_running(void)
{
	struct posix_trace_status_info now;

	status(&now);
	return now.posix_stream_status == POSIX_TRACE_RUNNING;
}

static bool is_full(void)
{
	struct posix_trace_status_info now;

	status(&now);
	return now.posix_stream_full_status == POSIX_TRACE_FULL;
}

static uint64_t refused(void)
{
	struct posix_trace_counts_np now;

	kit_counts(stream, &now);
	return now.posix_lost_np;
}

/* POL-03, POL-06, DEC-09; ruling 14 */
PXT_TEST(who_takes_the_last_slot_or_finds_too_few_stops_the_stream)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (uint32_t left = 2; left <= 12; left++) {
			const uint32_t slots = kit_slots_of(30);
			struct posix_trace_status_info now;

			begin(lanes);
			leave(left);
			CU_ASSERT(is_running());
			kit_write(1, 30);
			status(&now);
			PXT_CHECK(
			    (now.posix_stream_status == POSIX_TRACE_RUNNING) == (left > slots),
			    "%u slots left of %u", left, slots);
			PXT_EQ(now.posix_stream_full_status,
			    left > slots ? POSIX_TRACE_NOT_FULL : POSIX_TRACE_FULL);
			PXT_EQ(refused(), left < slots);
			end();
			PXT_EQ(kit_seen.auto_stops, left <= slots);
			PXT_EQ(kit_seen.auto_starts, left <= slots);
			PXT_EQ(kit_missing(1, 1, 1), left < slots);
			PXT_EQ(kit_missing(2, 1, kit_seen.sent[2]), 0);
		}
}

/* POL-03: the lane of another CPU, whose records need no further look. */
PXT_TEST(what_stops_by_itself_takes_nothing_in_a_lane_that_has_room)
{
	uint32_t room;

	begin(2);
	kit_lane(1);
	kit_write(1, 4);
	kit_write(1, 4);
	kit_lane(0);
	leave(0);
	CU_ASSERT(!is_running());
	kit_lane(1);
	room = free_in(1);
	kit_write(1, 4);
	PXT_EQ(free_in(1), room);
	PXT_EQ(refused(), 1);
	end();
	PXT_EQ(kit_seen.auto_stops, 1);
}

/* Where records are always beyond a flusher's mark, `fast_end` is no help; it must not fall so far behind that it is ahead. */
PXT_TEST(the_fast_path_ends_at_the_head_where_that_stays_beyond_the_mark)
{
	struct pxt_lane *lane;
	uint32_t far;

	begin(1);
	lane = pxt_block_lane(kit_block(stream), 0);
	kit_block(stream)->mark = 1;
	far = (uint32_t)pxt_head_pos(pxt_cursor_peek(&lane->head)) - (UINT32_C(1) << 30) - 4u;
	atomic_store(&lane->fast_end, far);
	kit_write(1, 4);
	PXT_EQ(atomic_load(&lane->fast_end), pxt_head_pos(pxt_cursor_peek(&lane->head)));
	end();
}

/* POL-07, DEC-10, DEC-11; ruling 14 */
PXT_TEST(the_stream_runs_again_when_its_last_record_was_read)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		uint32_t turns = 20;

		begin(lanes);
		for (uint32_t turn = 1; turn <= turns; turn++) {
			leave(turn % 2 ? 0 : 2);
			if (!(turn % 2))
				kit_write(1, 30);
			CU_ASSERT(!is_running());
			kit_write(3, 4);
			kit_write(3, 4);
			/* All but the last: still stopped. */
			while (kit_seen.last[2] < kit_seen.sent[2]) {
				CU_ASSERT(!is_running());
				CU_ASSERT_FATAL(kit_read(stream));
			}
			CU_ASSERT(kit_read(stream)); /* STOP */
			PXT_EQ(kit_seen.auto_stops, turn);
			CU_ASSERT(is_running());
			CU_ASSERT(kit_read(stream)); /* START, at once */
			PXT_EQ(kit_seen.auto_starts, turn);
			kit_write(4, 4);
			CU_ASSERT(kit_read(stream));
			PXT_EQ(kit_seen.last[4], turn);
		}
		PXT_EQ(refused(), 2 * turns + turns / 2);
		end();
	}
}

/* START and STOP by call, with every number of slots free, again and again, unread. */
static void start_and_stop_with(unsigned lanes, uint32_t left)
{
	struct posix_trace_counts_np now;
	uint64_t stops = 0;
	uint64_t starts = 1;

	begin(lanes);
	leave(left);
	for (int i = 0; i < 6; i++) {
		bool was = is_running();

		PXT_EQ(posix_trace_stop(stream), 0);
		CU_ASSERT(!is_running());
		stops += was;
		kit_start(stream);
		starts += is_running();
		if (!is_running())
			CU_ASSERT(is_full());
	}
	kit_counts(stream, &now);
	PXT_CHECK(now.posix_written_np == kit_seen.sent[2] + starts + stops,
	    "%u lanes, %u left: %llu written, %u events, %llu starts, %llu stops", lanes, left,
	    (unsigned long long)now.posix_written_np, kit_seen.sent[2], (unsigned long long)starts,
	    (unsigned long long)stops);
	end();
	PXT_CHECK(kit_seen.starts == starts && kit_seen.stops == stops,
	    "%u lanes, %u left: %llu of %llu starts, %llu of %llu stops were read", lanes, left,
	    (unsigned long long)kit_seen.starts, (unsigned long long)starts,
	    (unsigned long long)kit_seen.stops, (unsigned long long)stops);
	PXT_EQ(kit_missing(2, 1, kit_seen.sent[2]), 0);
}

/* POL-03, DEC-09, SYS-02, SYS-03, SHARK-07; ruling 14 */
PXT_TEST(every_start_and_stop_that_had_an_effect_is_read_however_full_the_stream)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (uint32_t left = 1; left <= 60; left++)
			start_and_stop_with(lanes, left);
}

/* The same beside a stream that stopped by itself and was read in part. */
static void restart_by_call_after(unsigned lanes, uint32_t reads)
{
	uint64_t started = 0;

	begin(lanes);
	leave(0);
	CU_ASSERT(!is_running());
	for (uint32_t i = 0; i < reads; i++)
		CU_ASSERT(kit_read(stream));
	kit_start(stream);
	started += is_running();
	PXT_EQ(started, reads > 0);
	for (int i = 0; i < 4; i++) {
		kit_write(3, 4);
		PXT_EQ(posix_trace_stop(stream), 0);
		kit_start(stream);
	}
	end();
}

/* POL-06, START-02, DEC-10 */
PXT_TEST(a_stream_that_stopped_by_itself_may_be_started_by_call_when_something_was_read)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (uint32_t reads = 0; reads <= 24; reads++)
			restart_by_call_after(lanes, reads);
}

/* POL-04, POL-06, DEC-10: the STOP and the START of a start by call lie beside the lanes. */
PXT_TEST(reading_what_lies_beside_the_lanes_makes_no_room)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(lanes);
		leave(0);
		CU_ASSERT(kit_read(stream));
		kit_start(stream);
		CU_ASSERT(is_running());
		while (kit_seen.last[2] < kit_seen.sent[2])
			CU_ASSERT_FATAL(kit_read(stream));
		/* Some slots are left, and too few. */
		leave(2);
		kit_write(1, 30);
		CU_ASSERT(!is_running());
		CU_ASSERT(kit_read(stream));
		PXT_EQ(kit_seen.auto_stops, 1);
		CU_ASSERT(is_full());
		CU_ASSERT(kit_read(stream));
		PXT_EQ(kit_seen.starts, 2);
		CU_ASSERT(is_full());
		kit_start(stream);
		CU_ASSERT(!is_running());
		CU_ASSERT(kit_read(stream));
		CU_ASSERT(!is_full());
		kit_start(stream);
		CU_ASSERT(is_running());
		end();
	}
}

/* ---- Late writers ---- */

static void fill_and_drain(void *argument)
{
	leave(0);
	CU_ASSERT(!is_running());
	(void)kit_read_all(stream);
	CU_ASSERT(is_running());
}

/* DEC-10, DEC-11; rulings 12, 14 */
PXT_TEST(a_writer_that_saw_the_stream_before_it_was_restarted_cannot_stop_it)
{
	static const int points[] = { PXT_TP_GATE_SEEN, PXT_TP_HEAD_SEEN, PXT_TP_LIMIT_SEEN };

	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (size_t i = 0; i < 3; i++) {
			begin(lanes);
			leave(2);
			kit_interrupt(0, UINT64_C(1) << points[i], fill_and_drain, NULL);
			kit_write(1, 30);
			PXT_EQ(kit_interrupted(), points[i]);
			CU_ASSERT(is_running());
			end();
			PXT_EQ(kit_missing(1, 1, 1), 0);
		}
}

static void fill_up(void *argument)
{
	leave(0);
	CU_ASSERT(!is_running());
}

static void drain_and_start_anew(void *argument)
{
	PXT_EQ(posix_trace_stop(stream), 0);
	(void)kit_settle(stream);
	kit_start(stream);
	CU_ASSERT(is_running());
}

/* It found no room, or took the last slot; then the stream was stopped and started by call. */
PXT_TEST(a_writer_that_found_no_room_before_a_stop_cannot_stop_what_was_started_later)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(lanes);
		leave(2);
		kit_interrupt(0, UINT64_C(1) << PXT_TP_FULL, drain_and_start_anew, NULL);
		kit_write(1, 30);
		PXT_EQ(kit_interrupted(), PXT_TP_FULL);
		CU_ASSERT(is_running());
		PXT_EQ(refused(), 1);
		end();
		begin(lanes);
		leave(5);
		kit_interrupt(0, UINT64_C(1) << PXT_TP_RESERVED, drain_and_start_anew, NULL);
		kit_write(1, 30);
		PXT_EQ(kit_interrupted(), PXT_TP_RESERVED);
		CU_ASSERT(is_running());
		kit_write(3, 4);
		end();
		PXT_EQ(kit_missing(3, 1, 1), 0);
		PXT_EQ(kit_seen.auto_stops, 0);
	}
}

/* A writer saw the stream running, long ago; the lanes are open and there is room now. */
static void write_late(struct pxt_block *block, unsigned lane)
{
	uint32_t gate = (atomic_load(&block->gate) & ~PXT_GATE_STATE) | PXT_GATE_RUNNING;
	struct pxt_place place = { .ring = pxt_block_ring(block, lane) };
	unsigned char data[4];
	const struct pxt_ring_event event = { .data = data,
		.bytes = 4,
		.info = pxt_slot_info(kit_type(), 4, false, false, 0),
		.ctx = 1,
		.ticks = pxt_port_ticks() };

	kit_data(data, 5, ++kit_seen.sent[5], 4);
	CU_ASSERT(pxt_fullpolicy_reserve(block, gate, &place, kit_slots_of(4), PXT_AUTOSTOP_SEEN));
	pxt_ring_store(&place, &event);
}

/*
 * Takes the automatic STOP as a reader does that is preempted between look and end; @flushed: as
 * the flusher does, who restarts the stream later.
 */
static void straggle(unsigned lanes, bool flushed)
{
	struct pxt_stream *self;
	struct pxt_origin origin;
	struct pxt_item item;

	begin(lanes);
	leave(0);
	while (kit_seen.last[2] < kit_seen.sent[2])
		CU_ASSERT_FATAL(kit_read(stream));
	self = kit_stream(stream);
	self->block->with_log = flushed;
	PXT_EQ_FATAL(pxt_consumer_next(self, &item), PXT_NEXT_READY);
	PXT_EQ(pxt_info_id(item.info), PXT_ID_STOP);
	CU_ASSERT(pxt_take_data(self, &item, NULL, 0, &origin));
	write_late(self->block, lanes - 1u);
	pxt_consumer_done(self, &item);
	kit_seen.behind_auto = true;
	kit_seen.auto_stops++;
	if (flushed) {
		PXT_EQ(pxt_consumer_next(self, &item), PXT_NEXT_NONE);
		pxt_consumer_settle(self);
		self->block->with_log = 0;
	}
	CU_ASSERT(is_running());
	end();
	PXT_EQ(kit_seen.misplaced, 0);
	PXT_EQ(kit_seen.auto_starts, 1);
	PXT_EQ(kit_missing(5, 1, 1), 0);
}

/* POL-07, DEC-10; rulings 12, 14 */
PXT_TEST(a_straggler_comes_behind_the_start_never_between_stop_and_start)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		straggle(lanes, false);
		straggle(lanes, true);
	}
}

/* It saw RUNNING, another one stopped the stream meanwhile: it is refused and counted. */
PXT_TEST(a_writer_overtaken_by_an_automatic_stop_is_refused_or_read)
{
	static const int points[] = { PXT_TP_GATE_SEEN, PXT_TP_HEAD_SEEN, PXT_TP_LIMIT_SEEN };

	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (size_t i = 0; i < 3; i++) {
			begin(lanes);
			/* Only who is to take the last slot looks at the limit. */
			leave(points[i] == PXT_TP_LIMIT_SEEN ? kit_slots_of(30) : 9);
			kit_interrupt(0, UINT64_C(1) << points[i], fill_up, NULL);
			kit_write(1, 30);
			PXT_EQ(kit_interrupted(), points[i]);
			CU_ASSERT(!is_running());
			PXT_EQ(refused(), 1);
			end();
			PXT_EQ(kit_seen.auto_stops, 1);
		}
}

/* The other lane is full, and this writer's place is taken still. */
static void fill_the_other(void *nothing)
{
	kit_lane(0);
	leave(0);
	kit_lane(1);
}

PXT_TEST(a_writer_that_a_stop_overtakes_lets_no_later_one_into_its_lane)
{
	static const int points[] = { PXT_TP_GATE_SEEN, PXT_TP_HEAD_SEEN, PXT_TP_LIMIT_SEEN,
		PXT_TP_STAMPED, PXT_TP_RESERVED, PXT_TP_STORED };

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		uint32_t room;

		begin(2);
		kit_lane(1);
		kit_interrupt(0, UINT64_C(1) << points[i], fill_the_other, NULL);
		kit_write(1, 4);
		PXT_EQ(kit_interrupted(), points[i]);
		CU_ASSERT(!is_running());
		room = free_in(1);
		kit_write(1, 4);
		PXT_CHECK(free_in(1) == room, "stopped at %d", points[i]);
		end();
	}
}

/* ---- How many lanes there are ---- */

static unsigned lanes_at(size_t bytes)
{
	trace_attr_t attr;
	trace_id_t trid;
	unsigned lanes = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, bytes), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	lanes = pxt_block_lanes(kit_block(trid));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return lanes;
}

PXT_TEST(a_stream_below_the_small_size_has_one_lane)
{
	PXT_EQ(lanes_at(PXT_STREAM_SIZE_SMALL - 1), 1);
	if (pxt_port_cpus() > 1)
		CU_ASSERT(lanes_at(PXT_STREAM_SIZE_SMALL) > 1);
}

static uint64_t told; /* of losses, in all that was read */

static void read_what_is_told(void)
{
	while (kit_read(stream))
		told += kit_seen.last_lost;
}

/* The reader empties the stream, which runs again. */
static void empty_it(void *unused)
{
	read_what_is_told();
	PXT_EQ(pxt_block_state(kit_block(stream)), PXT_GATE_RUNNING);
}

/* DEC-11, GETNX-07: it has found the stream stopped; the stream runs when it comes to be counted. */
PXT_TEST(a_writer_refused_after_the_restart_is_told_before_its_next_event)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(lanes);
		told = 0;
		leave(2);
		kit_write(3, 4);
		kit_interrupt(0, UINT64_C(1) << PXT_TP_FULL, empty_it, NULL);
		kit_write(1, 4);
		PXT_EQ(kit_interrupted(), PXT_TP_FULL);
		PXT_EQ(told, 0);
		kit_write(1, 4);
		read_what_is_told();
		PXT_EQ(told, 1);
		end();
	}
}

static void stop_it(void *unused)
{
	PXT_EQ(posix_trace_stop(stream), 0);
}

/* Ruling 12, DEC-42: not before what was recorded first. */
PXT_TEST(what_comes_behind_a_stop_by_call_is_told_with_the_stop)
{
	for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_UNTIL_FULL; policy++) {
		const struct kit_spec spec = { .policy = policy, .lanes = 1, .bytes = 4096 };

		stream = kit_open(&spec);
		kit_start(stream);
		(void)kit_read_all(stream);
		told = 0;
		kit_write(1, 4);
		kit_write(1, 4);
		kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, stop_it, NULL);
		kit_write(1, 4);
		PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
		for (int i = 0; i < 2; i++) {
			CU_ASSERT(kit_read(stream));
			PXT_EQ(kit_seen.last_lost, 0);
		}
		kit_start(stream);
		kit_write(1, 4);
		read_what_is_told();
		PXT_EQ(told, 1);
		end();
	}
}

/* ---- A stream that discards new events ---- */

#if CONFIG_PTRACE_POLICY_DISCARD
/* Takes what there is; returns what was lost before any of it. */
static uint64_t lost_before_all(void)
{
	struct pxt_item item;
	uint64_t lost = 0;

	while (pxt_consumer_next(kit_stream(stream), &item) == PXT_NEXT_READY) {
		lost += item.lost_before;
		pxt_consumer_done(kit_stream(stream), &item);
	}
	return lost;
}

/* A writer has seen how many were refused: one more is, room is made, another writer is faster. */
static void overtake(int point)
{
	if (point != PXT_TP_LIMIT_SEEN)
		return;
	pxt_testpoint_hook_set(NULL);
	kit_write(2, 4);
	told += lost_before_all();
	kit_write(2, 4);
}

/* ZEP-17 */
PXT_TEST(a_mark_that_comes_late_says_nothing_new)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_DISCARD_NP, .lanes = 1, .bytes = 1024
	};

	told = 0;
	stream = kit_open(&spec);
	kit_start(stream);
	while (refused() == 0)
		kit_write(1, 4);
	pxt_testpoint_hook_set(overtake);
	kit_write(1, 4);
	PXT_EQ(refused(), 2);
	told += lost_before_all();
	PXT_EQ(told, 2);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
#endif
