/* SPDX-License-Identifier: MIT */
/*
 * reading.c - small rules of the reader, one by one, with a clock that the test moves: a poll that
 * finds nothing, the thread that is remembered, an unfinished record that is finished just now, what
 * STOP and START wait for.
 */
#include "kit.h"

#include "beside.h"
#include "core/process/context.h"
#include "core/read/lane.h"
#include "fakes/fakes.h"

#include <errno.h>
#include <string.h>

#define HZ UINT64_C(1000000000)

static trace_id_t stream;

static void begin(int policy, unsigned lanes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };
	static bool faked;

	if (!faked)
		pxt_fake_clock_start(HZ);
	faked = true;
	pxt_fake_clock_advance(HZ);
	pxt_fake_clock_told = NULL;
	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
}

static void end(void)
{
	somebody_inside(false);
	CU_ASSERT(kit_law(stream));
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static struct pxt_lane *lane_of(unsigned lane)
{
	return pxt_block_lane(kit_block(stream), lane);
}

/* ---- Records by hand ---- */

struct record {
	struct pxt_place place;
	struct pxt_ring_event event;
	unsigned char data[20];
};

static void reserve(struct record *record, unsigned lane, uint32_t thread)
{
	memset(record, 0, sizeof(*record));
	kit_data(record->data, lane, ++kit_seen.sent[lane], sizeof(record->data));
	record->event = (struct pxt_ring_event){ .data = record->data,
		.bytes = sizeof(record->data),
		.info = pxt_slot_info(kit_type(), sizeof(record->data), false, false, lane),
		.ctx = pxt_context(thread, NULL) };
	record->place.ring = pxt_block_ring(kit_block(stream), lane);
	CU_ASSERT_FATAL(pxt_ring_reserve(&record->place,
	                    pxt_info_slots(record->event.info, PXT_CTX_BYTES), 0) == PXT_RESERVED);
}

static void finish(struct record *record)
{
	record->event.ticks = record->place.ticks;
	pxt_ring_store(&record->place, &record->event);
}

static void put(unsigned lane, uint32_t thread)
{
	struct record record;

	reserve(&record, lane, thread);
	finish(&record);
}

/* ---- A poll that finds nothing (core/read/take.c) ---- */

PXT_TEST(a_poll_that_found_nothing_asks_no_head_for_two_microseconds)
{
	struct record record;
	uint64_t looked;

	begin(LOOP, 2);
	somebody_inside(true);
	CU_ASSERT(!kit_read(stream));
	looked = lane_of(1)->look_ticks;
	pxt_fake_clock_advance(1999);
	reserve(&record, 1, 100);
	CU_ASSERT(!kit_read(stream));
	PXT_EQ(lane_of(1)->look_ticks, looked);
	pxt_fake_clock_advance(1);
	CU_ASSERT(!kit_read(stream));
	PXT_EQ(lane_of(1)->look_ticks, looked + 2000);
	finish(&record);
	CU_ASSERT(kit_read(stream));
	end();
}

PXT_TEST(what_was_stored_in_any_lane_is_read_by_the_next_poll)
{
	for (unsigned lane = 0; lane < 4; lane++) {
		begin(LOOP, 4);
		CU_ASSERT(!kit_read(stream));
		put(lane, 100);
		/* Not younger than the snapshot of a poll that looks. */
		CU_ASSERT(kit_read(stream));
		CU_ASSERT(!kit_read(stream));
		end();
	}
}

/* Then the slot that it waits for is one of a later lap. */
PXT_TEST(a_poll_of_a_lane_that_was_lapped_meanwhile_reads_what_is_left)
{
	begin(LOOP, 1);
	CU_ASSERT(!kit_read(stream));
	for (uint32_t slots = 0; slots < 2 * kit_slots(stream); slots += kit_slots_of(20))
		put(0, 100);
	CU_ASSERT(kit_read(stream));
	end();
}

/* A control call ends it: what it put is read at once, though no time has gone by. */
PXT_TEST(a_poll_behind_a_stop_reads_it_at_once)
{
	begin(FULL, 2);
	CU_ASSERT(!kit_read(stream));
	PXT_EQ(posix_trace_stop(stream), 0);
	CU_ASSERT(kit_read(stream));
	PXT_EQ(kit_seen.stops, 1);
	end();
}

static struct record slow;

static void put_behind_an_unfinished_one(void *unused)
{
	reserve(&slow, 0, 100);
	put(0, 100);
}

/*
 * Rulings 13, 27: who is about to sleep asks head, however little time has gone by.  A writer that
 * stored before it was announced wakes nobody.
 */
PXT_TEST(a_reader_that_goes_to_sleep_reads_behind_what_nobody_can_finish)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int unavailable = 1;
	size_t len = 0;

	begin(LOOP, 1);
	pxt_fault_arm(&pxt_fault_wait, 1, EINTR);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_SLEEPS, put_behind_an_unfinished_one, NULL);
	PXT_EQ(posix_trace_getnext_event(stream, &info, data, sizeof(data), &len, &unavailable), 0);
	PXT_EQ(kit_interrupted(), PXT_TP_SLEEPS);
	PXT_EQ(atomic_load(&pxt_fault_wait.calls), 0);
	pxt_fault_arm(&pxt_fault_wait, 0, 0);
	kit_judge(&info, data, len);
	PXT_EQ(kit_missing(0, 2, 2), 0);
	end();
}

/* ---- The thread that is remembered (core/read/take.h) ---- */

static uint32_t new_thread(uint64_t thread)
{
	uint32_t index = 1u + atomic_fetch_add(&pxt_threads->count, 1u);
	struct pxt_thread *entry = &pxt_threads->entry[index];

	atomic_store(&entry->pid, pxt_process_pid());
	atomic_store(&entry->tid, (int32_t)thread);
	pxt_wide_set(&entry->thread, thread);
	return index;
}

/* Who recorded the next event, as its reader is told. */
static uint64_t read_thread(void)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	uintptr_t thread = 0;
	int unavailable = 1;
	size_t len;

	PXT_EQ(
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &len, &unavailable), 0);
	CU_ASSERT(!unavailable);
	memcpy(&thread, &info.posix_thread_id, sizeof(thread));
	return thread;
}

PXT_TEST(threads_that_take_turns_are_told_apart)
{
	uint32_t one;
	uint32_t two;

	begin(LOOP, 1);
	one = new_thread(1111);
	two = new_thread(2222);
	for (unsigned i = 0; i < 12; i++)
		put(0, i % 3 ? one : two);
	for (unsigned i = 0; i < 12; i++)
		PXT_EQ(read_thread(), i % 3 ? 1111 : 2222);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST(a_thread_that_was_not_known_is_asked_for_again)
{
	uint32_t index;

	begin(LOOP, 1);
	index = 1u + atomic_load(&pxt_threads->count);
	put(0, index);
	put(0, index);
	put(0, index);
	PXT_EQ(read_thread(), 0);
	PXT_EQ(read_thread(), 0);
	PXT_EQ(new_thread(3333), index);
	PXT_EQ(read_thread(), 3333);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- Unfinished records ---- */

static unsigned readings;

/* The reader looks at the clock after its first look at the record, before it asks who is inside. */
static uint64_t finish_it(uint64_t ticks)
{
	if (readings && --readings == 0) {
		pxt_fake_clock_told = NULL;
		finish(&slow);
	}
	return ticks;
}

/* Ruling 27 */
PXT_TEST(a_record_that_is_finished_while_nobody_is_inside_is_not_given_up)
{
	struct posix_trace_counts_np now;

	/* The last of these comes directly before it is asked who is inside. */
	for (unsigned nth = 1; nth <= 3; nth++) {
		begin(LOOP, 1);
		kit_block(stream)->idle_since = 0;
		reserve(&slow, 0, 100);
		readings = nth;
		pxt_fake_clock_told = finish_it;
		(void)kit_read(stream);
		pxt_fake_clock_told = NULL;
		kit_counts(stream, &now);
		PXT_EQ(readings, 0);
		PXT_EQ(now.posix_lost_np, 0);
		(void)kit_read_all(stream);
		PXT_EQ(kit_missing(0, 1, 1), 0);
		end();
	}
}

/* ---- Jumps ---- */

/* POL-05 */
PXT_TEST(a_writer_that_overwrites_what_the_reader_went_to_notes_its_stamp)
{
	struct posix_trace_counts_np now;
	struct pxt_lane *lane;
	struct pxt_slot front;
	uint32_t mask;

	begin(LOOP, 1);
	lane = lane_of(0);
	mask = kit_block(stream)->slot_mask;
	/* Into the middle of a lap, so that nothing else makes the writer look. */
	for (uint32_t slots = 0; slots < mask + 1u + mask / 2u; slots += kit_slots_of(20)) {
		pxt_fake_clock_advance(10);
		put(0, 100);
	}
	kit_counts(stream, &now);
	CU_ASSERT(now.posix_lost_np > 0);
	PXT_EQ(pxt_wide_load(&lane->first_lost), 0);
	front = pxt_slot_load(&pxt_lane_slots(lane)[(uint32_t)lane->pos & mask]);
	/* It is no usual one: the fast path leaves it to the slow one. */
	CU_ASSERT(
	    !pxt_ring_is_fast(lane, pxt_head_pos(pxt_cursor_load(&lane->head)), kit_slots_of(20)));
	put(0, 100);
	PXT_EQ(pxt_wide_load(&lane->first_lost), pxt_slot_ticks(&front));
	end();
}

static void overtake(unsigned lane)
{
	for (uint32_t slots = 0; slots < 2 * kit_slots(stream); slots += kit_slots_of(20)) {
		pxt_fake_clock_advance(10);
		put(lane, 100);
	}
}

/* SYS-06: whichever lane the reader looks at first */
PXT_TEST(of_several_lanes_that_were_overtaken_the_oldest_loss_is_the_stamp_of_overflow)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int unavailable = 1;
	uint64_t oldest;
	size_t len = 0;

	for (unsigned first = 0; first < 2; first++) {
		begin(LOOP, 2);
		oldest = pxt_port_ticks() + 10;
		overtake(first);
		overtake(1 - first);
		PXT_EQ(posix_trace_trygetnext_event(
		           stream, &info, data, sizeof(data), &len, &unavailable),
		    0);
		PXT_EQ(info.posix_event_id, POSIX_TRACE_OVERFLOW);
		PXT_EQ(info.posix_timestamp.tv_sec, PXT_FAKE_EPOCH + oldest / HZ);
		PXT_EQ(info.posix_timestamp.tv_nsec, oldest % HZ);
		kit_judge(&info, data, len);
		end();
	}
}

/* Slots that the reader leaves to the writers when it goes on after a lap. */
static uint32_t room_after_a_lap(void)
{
	struct pxt_ring ring = pxt_block_ring(kit_block(stream), 0);
	uint64_t pos;
	uint64_t seq;

	for (uint32_t slots = 0; slots <= ring.mask + 1u; slots += kit_slots_of(20))
		put(0, 100);
	pxt_lane_look(kit_block(stream), &ring);
	pxt_lane_head(ring.lane, &pos, &seq);
	return ring.mask + 1u - (uint32_t)(pos - ring.lane->pos);
}

PXT_TEST(each_further_lap_without_a_read_leaves_twice_the_room_up_to_half_the_ring)
{
	/* Sixteenths of the ring. */
	static const uint32_t parts[] = { 0, 1, 2, 4, 8, 8 };

	begin(LOOP, 1);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
			uint32_t least = kit_slots(stream) / 16u * parts[i];
			uint32_t room = room_after_a_lap();

			PXT_CHECK(room >= least && room < least + kit_slots_of(20),
			    "lap %u: %u slots, not %u", i, (unsigned)room, (unsigned)least);
		}
		/* What is read in between makes the next lap the first one. */
		CU_ASSERT(kit_read(stream));
	}
	end();
}

static void lap_again(void *unused)
{
	for (uint32_t slots = 0; slots <= kit_slots(stream); slots += kit_slots_of(20))
		put(0, 100);
}

PXT_TEST(so_does_a_lap_while_an_unfinished_record_is_given_up)
{
	struct pxt_ring ring;
	uint32_t least;
	uint32_t room;
	uint64_t pos;
	uint64_t seq;

	begin(LOOP, 1);
	ring = pxt_block_ring(kit_block(stream), 0);
	least = kit_slots(stream) / 16u;
	put(0, 100);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_BEGIN_STORED, kit_die, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(1, 20);
	PXT_EQ(kit_interrupted(), PXT_TP_BEGIN_STORED);
	kit_heal();
	/* The first lap leaves the unfinished one as the oldest. */
	for (uint32_t slots = 2u * kit_slots_of(20); slots <= kit_slots(stream);
	     slots += kit_slots_of(20))
		put(0, 100);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_GIVES_UP, lap_again, NULL);
	pxt_lane_look(kit_block(stream), &ring);
	PXT_EQ(kit_interrupted(), PXT_TP_GIVES_UP);
	pxt_lane_head(ring.lane, &pos, &seq);
	room = ring.mask + 1u - (uint32_t)(pos - ring.lane->pos);
	PXT_CHECK(room >= least && room < least + kit_slots_of(20), "%u slots, not %u",
	    (unsigned)room, (unsigned)least);
	end();
}

/* ---- START and STOP ---- */

static bool status_is(int stream_status, int full_status)
{
	struct posix_trace_status_info now;

	PXT_EQ(posix_trace_get_status(stream, &now), 0);
	return now.posix_stream_status == stream_status &&
	       now.posix_stream_full_status == full_status;
}

/* A record, or a mark, becomes a mark of a START that never was: a walk that meets it believes it. */
static void put_false_mark(unsigned lane, uint64_t pos)
{
	struct pxt_ring ring = pxt_block_ring(kit_block(stream), lane);
	struct pxt_slot slot;

	pos = pxt_lane_next_begin(&ring, pos, pos + ring.mask, &slot);
	pxt_slot_store(&ring.slots[pos & ring.mask],
	    (uint64_t)pxt_slot_info(PXT_ID_MARK, PXT_MARK_BARRIER, false, false, PXT_CPU_UNKNOWN)
	            << 32 |
	        slot.word[0],
	    9999);
}

static uint64_t head_of(unsigned lane)
{
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(lane_of(lane), &pos, &seq);
	return pos;
}

/* What asks for counts or status walks through no ring for the mark of the START before. */
PXT_TEST(a_start_that_was_overtaken_is_known_to_be_passed_without_a_walk)
{
	begin(LOOP, 2);
	PXT_EQ(posix_trace_stop(stream), 0);
	(void)kit_read_all(stream);
	kit_start(stream);
	for (unsigned i = 0; i < 300; i++)
		put(1, 100);
	put_false_mark(1, head_of(1) - 9);
	CU_ASSERT(lane_of(1)->barrier < kit_block(stream)->barriers);
	CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL));
	PXT_EQ(lane_of(1)->barrier, kit_block(stream)->barriers);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST(a_stop_that_is_left_behind_a_lap_is_known_to_be_ahead_without_a_walk)
{
	begin(LOOP, 2);
	for (unsigned i = 0; i < 300; i++)
		put(1, 100);
	put_false_mark(1, head_of(1) - 9);
	PXT_EQ(posix_trace_stop(stream), 0);
	CU_ASSERT(status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL));
	PXT_EQ(lane_of(1)->barrier + 1, kit_block(stream)->barriers);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* STOP, START, STOP: the first of them that is left says how many are passed. */
PXT_TEST(of_several_that_are_left_behind_a_lap_the_first_is_found)
{
	begin(LOOP, 2);
	PXT_EQ(posix_trace_stop(stream), 0);
	kit_start(stream);
	for (unsigned i = 0; i < 300; i++)
		put(1, 100);
	PXT_EQ(posix_trace_stop(stream), 0);
	kit_start(stream);
	put(1, 100);
	PXT_EQ(posix_trace_stop(stream), 0);
	CU_ASSERT(status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL));
	PXT_EQ(lane_of(1)->barrier + 3, kit_block(stream)->barriers);
	(void)kit_read_all(stream);
	end();
}

/* Marks of places that repeat after 2^32 slots are asked for at their slot. */
PXT_TEST(a_place_that_repeats_is_no_mark)
{
	struct pxt_slot slot;
	struct pxt_ring ring;

	begin(LOOP, 2);
	PXT_EQ(posix_trace_stop(stream), 0);
	(void)kit_read_all(stream);
	kit_start(stream);
	for (unsigned i = 0; i < 300; i++)
		put(1, 100);
	ring = pxt_block_ring(kit_block(stream), 1);
	lane_of(1)->barrier_pos =
	    (uint32_t)pxt_lane_next_begin(&ring, head_of(1) - 9, head_of(1), &slot);
	CU_ASSERT(lane_of(1)->barrier_pos != (uint32_t)head_of(1));
	CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_FULL));
	PXT_EQ(lane_of(1)->barrier, kit_block(stream)->barriers);
	end();
}

/* STOP-03; what a lane that was seen empty before the STOP was put may hold is older than it. */
PXT_TEST(a_stop_waits_until_every_lane_was_looked_at_behind_it)
{
	begin(LOOP, 2);
	CU_ASSERT(!kit_read(stream));
	pxt_fake_clock_advance(10);
	put(1, 100);
	pxt_fake_clock_advance(10);
	PXT_EQ(posix_trace_stop(stream), 0);
	/* As if the stop had come in between two looks of one reader. */
	lane_of(1)->front_state = PXT_FRONT_EMPTY;
	CU_ASSERT(kit_read(stream));
	PXT_EQ(kit_seen.stops, 0);
	PXT_EQ(kit_seen.last[1], 1);
	CU_ASSERT(kit_read(stream));
	PXT_EQ(kit_seen.stops, 1);
	end();
}

static void write_until_it_stops(void)
{
	while (status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL))
		kit_write(1, 4);
	CU_ASSERT(status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL));
}

/* POL-06; a START has 128 bytes, and one place beside the lanes. */
PXT_TEST(a_second_start_that_has_no_place_leaves_the_stream_full_and_stopped)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(FULL, lanes);
		write_until_it_stops();
		CU_ASSERT(kit_read(stream));
		kit_start(stream);
		CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL));
		PXT_EQ(posix_trace_stop(stream), 0);
		for (unsigned i = 0; i < 3; i++) {
			kit_start(stream);
			CU_ASSERT(status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL));
			CU_ASSERT(kit_law(stream));
		}
		(void)kit_read_all(stream);
		/* One by call is read, and the stop after it. */
		PXT_EQ(kit_seen.starts, 2);
		PXT_EQ(kit_seen.stops, 1);
		PXT_EQ(kit_seen.strange, 0);
		kit_start(stream);
		CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL));
		end();
	}
}

/* SIZ-06, SYS-12: its data would take the place of the first one's, which nobody has read. */
PXT_TEST(so_does_one_whose_stop_before_it_is_filtered)
{
	trace_event_set_t stops;

	begin(FULL, 1);
	PXT_EQ(posix_trace_eventset_empty(&stops), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_STOP, &stops), 0);
	PXT_EQ(posix_trace_set_filter(stream, &stops, POSIX_TRACE_SET_EVENTSET), 0);
	write_until_it_stops();
	CU_ASSERT(kit_read(stream));
	/* The first one takes the room of what was read, the second one is beside the lanes. */
	for (int i = 0; i < 2; i++) {
		kit_start(stream);
		CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL));
		PXT_EQ(posix_trace_stop(stream), 0);
	}
	kit_start(stream);
	CU_ASSERT(status_is(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL));
	(void)kit_read_all(stream);
	PXT_EQ(kit_seen.starts, 3);
	PXT_EQ(kit_seen.stops, 0);
	PXT_EQ(kit_seen.strange, 0);
	kit_start(stream);
	CU_ASSERT(status_is(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL));
	end();
}

/* ---- Counts that change while they are read ---- */

static void write_one(int point)
{
	if (point == PXT_TP_COUNTED)
		kit_write(1, 4);
}

static bool counts_agree(void (*meanwhile)(int))
{
	struct posix_trace_counts_np counts;

	atomic_store(&pxt_testpoint_hook, meanwhile);
	PXT_EQ(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
	atomic_store(&pxt_testpoint_hook, NULL);
	return counts.posix_stable_np;
}

/* DEC-42 */
PXT_TEST(counts_that_change_each_time_they_are_read_are_not_called_stable)
{
	begin(LOOP, 2);
	CU_ASSERT(!counts_agree(write_one));
	CU_ASSERT(counts_agree(NULL));
	end();
}

/* DEC-42: what is refused moves no lane. */
PXT_TEST(nor_are_those_of_a_full_stream_that_refuses_events_meanwhile)
{
	begin(FULL, 2);
	write_until_it_stops();
	CU_ASSERT(!counts_agree(write_one));
	CU_ASSERT(counts_agree(NULL));
	end();
}
