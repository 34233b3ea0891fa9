/* SPDX-License-Identifier: MIT */
/*
 * crafted.c - single records that no trace point makes, in the memory of an attached process: what
 * becomes of each.
 */
#include "base/attr.h"
#include "blackbox/blackbox.h"
#include "core/process/directory.h"
#include "core/read/consumer.h"
#include "format/ids.h"
#include "logs.h"

#include <string.h>
#include <unistd.h>

static struct pxt_got events[8];

/* ---- What a process writes into the memory that it attached with ---- */

static struct pxt_block *block;
static uint32_t mask;
static struct pxt_directory *replica;

static void find_memory(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_streams[i].block && pxt_attr_producer(&pxt_streams[i].block->attr))
			block = pxt_streams[i].block;
	}
	if (!block || !pxt_replica_of(PXT_REPLICA_PRODUCERS))
		_exit(8);
	mask = block->slot_mask;
	replica = pxt_replica_of(PXT_REPLICA_PRODUCERS);
}

/* One record of this process' memory, as no trace point makes it; word: of its begin slot. */
struct craft {
	uint32_t id;
	uint32_t bytes;  /* of data, all 'd' */
	uint32_t thread; /* index */
	int64_t later;   /* its stamp: so much later than now, ticks */
	int extra;       /* with a thread and a pid of its own: */
	uint32_t pid;
	uint32_t lane;
};
static void craft_record(const struct craft *craft)
{
	static unsigned char data[4096 + 64];
	uint32_t info = pxt_slot_info(craft->id, craft->bytes, false, craft->extra != 0, 0);
	uint32_t count = pxt_info_slots(info, PXT_CTX_BYTES);
	struct pxt_ring_event event = { .data = data + 32,
		.bytes = craft->bytes,
		.info = info,
		.ctx = craft->extra ? PXT_THREAD_EXTRA : craft->thread,
		.thread = 1234,
		.pid = craft->pid,
		.ticks = pxt_port_ticks() + (uint64_t)craft->later };
	struct pxt_place place;
	struct pxt_lane *lane;
	uint64_t head;

	memset(data, 'd', sizeof(data));
	find_memory();
	lane = pxt_block_lane(block, craft->lane);
	place.ring = (struct pxt_ring){ .lane = lane, .slots = pxt_lane_slots(lane), .mask = mask };
	head = pxt_cursor_add(&lane->head, (uint64_t)count << 32 | 2u);
	place.pos = pxt_head_pos(head);
	place.seq = pxt_head_seq(head);
	pxt_ring_store(&place, &event);
}

/* Room for one that never comes, in lane 0. */
static void craft_nothing(void)
{
	find_memory();
	(void)pxt_cursor_add(
	    &((struct pxt_lane *)(void *)(block + 1))->head, UINT64_C(2) << 32 | 2u);
}

/* Its position @quarters of 2^30 slots on, a quarter as many records. */
static void craft_head(unsigned quarters)
{
	struct pxt_lane *lane;

	find_memory();
	lane = (struct pxt_lane *)(void *)(block + 1);
	/* A quarter of the numbers is half as long: records of four slots. */
	pxt_twins_set(&lane->epoch, pxt_epoch_make(quarters, quarters / 2u));
}

/* The name of this process' type @id, as it is in memory. */
static void craft_name(uint32_t id, const char *bytes, uint32_t count)
{
	find_memory();
	memcpy(replica->names.names[id - PXT_ID_USER_FIRST], bytes, count);
	if (atomic_load(&replica->names.count) <= id - PXT_ID_USER_FIRST)
		atomic_store(&replica->names.count, id - PXT_ID_USER_FIRST + 1u);
}

/* ---- Around it ---- */

/* What one thread records shall be in a row. */
static void attach_with_lanes(unsigned lanes)
{
	trace_attr_t attr;
	trace_id_t trid;

	if (posix_trace_attr_init(&attr) != 0 ||
	    posix_trace_attr_setstreamsize(&attr, 65536) != 0 ||
	    posix_trace_attr_setlanes_np(&attr, lanes) != 0 ||
	    posix_trace_attach_np(owner_name, &attr, &trid) != 0)
		_exit(3);
}

/* Two good events around the odd one. */
static void around(void *argument)
{
	const struct craft *craft = argument;
	trace_event_id_t good;

	(void)posix_trace_eventid_open("crafted.good", &good);
	attach_with_lanes(1);
	posix_trace_event(good, "before", 6);
	craft_record(craft);
	posix_trace_event(good, "after", 5);
	producer_say(0);
	(void)producer_hear();
}

/* Reads what comes; @lost: so many are counted when the process has gone.  Returns how many came. */
static size_t outcome(void (*body)(void *argument), void *argument, uint64_t lost)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(body, argument);
	struct posix_trace_counts_np counts;
	size_t found;

	(void)producer_told(&producer);
	found = owner_collect(trid, events, 8, 30);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_wait_producers(trid, 0);
	found += owner_collect(trid, &events[found], 8 - found, 30);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, lost);
	for (size_t i = 0; i < found; i++)
		PXT_EQ(events[i].info.posix_pid, producer.pid);
	owner_expect_the_law(trid);
	owner_close(trid);
	return found;
}

static void expect_only_good(size_t found)
{
	PXT_EQ(found, 2);
	CU_ASSERT(memcmp(events[0].data, "before", 6) == 0);
	CU_ASSERT(memcmp(events[1].data, "after", 5) == 0);
}

/* LPT-31: the counter may have begun minutes ago, with the machine. */
PXT_TEST(a_stamp_before_the_run_is_nobodys)
{
	struct craft craft = { .id = PXT_ID_UNNAMED,
		.bytes = 4,
		.thread = 1,
		.later = -(int64_t)(pxt_port_ticks() / 2) };

	expect_only_good(outcome(around, &craft, 0));
}

/* LPT-31, SAFE-01 */
PXT_TEST(a_stamp_in_the_future_is_not_shown_and_ends_as_a_loss)
{
	struct craft craft = {
		.id = PXT_ID_UNNAMED, .bytes = 4, .thread = 1, .later = 1000 * (int64_t)1000000000
	};

	expect_only_good(outcome(around, &craft, 1));
}

/* LPT-31 */
PXT_TEST(a_stamp_of_the_near_future_comes_when_its_time_has_come)
{
	struct craft craft = { .id = PXT_ID_UNNAMED, .bytes = 4, .thread = 1 };
	trace_id_t trid;
	struct producer producer;

	/* The clock is fixed by the first stream. */
	trid = owner_open(&(const struct owner_spec){ 0 });
	craft.later = (int64_t)pxt_clock.hz / 2;
	producer = producer_begin(around, &craft);
	(void)producer_told(&producer);
	/* What is after it, with a smaller stamp, waits: it spoils its own order. */
	PXT_EQ(owner_collect(trid, events, 3, 20), 1);
	PXT_EQ(owner_collect(trid, events, 2, PATIENCE_MS), 2);
	PXT_EQ(events[0].info.posix_event_id, PXT_ID_UNNAMED);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_close(trid);
}

/* LPT-31 */
PXT_TEST(system_events_of_others_are_not_shown)
{
	for (uint32_t id = PXT_ID_SYSTEM_FIRST; id <= PXT_ID_FLUSH_STOP; id++) {
		struct craft craft = { .id = id, .bytes = 4, .thread = 1 };

		expect_only_good(outcome(around, &craft, 0));
	}
}

/* LPT-31, SAFE-01 */
PXT_TEST(what_is_no_type_or_no_thread_or_too_long_is_lost)
{
	const struct craft odd[] = {
		{ .id = 0, .bytes = 4, .thread = 1 },
		{ .id = PXT_ID_UNNAMED, .bytes = 4, .thread = 0 },
		{ .id = PXT_ID_UNNAMED, .bytes = 4, .thread = 65534 },
		{ .id = PXT_ID_UNNAMED, .bytes = 4, .thread = CONFIG_PTRACE_MAX_THREADS },
		{ .id = PXT_ID_UNNAMED, .bytes = 4095, .thread = 1 },
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct craft craft = odd[i];

		expect_only_good(outcome(around, &craft, 1));
	}
}

/* LPT-31 */
PXT_TEST(a_type_that_was_never_named_is_lost_and_others_wait_for_it_a_moment_only)
{
	struct craft craft = { .id = PXT_ID_COUNT - 1u, .bytes = 4, .thread = 1 };

	expect_only_good(outcome(around, &craft, 1));
}

/* LPT-31, SAFE-01 */
PXT_TEST(nobody_passes_for_another_process)
{
	struct craft craft = { .id = PXT_ID_UNNAMED, .bytes = 4, .extra = 1, .pid = 1 };

	/* outcome() looks at the pids. */
	PXT_EQ(outcome(around, &craft, 0), 3);
	PXT_EQ(events[1].info.posix_event_id, PXT_ID_UNNAMED);
}

static void name_a_system_event(void *argument)
{
	trace_event_id_t good;

	(void)posix_trace_eventid_open("crafted.good", &good);
	(void)producer_attach(65536);
	craft_name(good + 20u, "posix_trace_stop", 17);
	craft_record(&(const struct craft){ .id = good + 20u, .bytes = 4, .thread = 1 });
	producer_say(0);
	(void)producer_hear();
}

/* LPT-31 */
PXT_TEST(a_users_type_with_a_system_types_name_is_unnamed)
{
	PXT_EQ(outcome(name_a_system_event, NULL, 0), 1);
	PXT_EQ(events[0].info.posix_event_id, PXT_ID_UNNAMED);
}

static void name_without_end(void *argument)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t good;

	memset(name, 'n', sizeof(name));
	(void)posix_trace_eventid_open("crafted.good", &good);
	(void)producer_attach(65536);
	craft_name(good + 21u, name, sizeof(name));
	craft_record(&(const struct craft){ .id = good + 21u, .bytes = 4, .thread = 1 });
	producer_say(0);
	(void)producer_hear();
}

/* LPT-31, SAFE-01 */
PXT_TEST(a_type_whose_name_has_no_end_is_unnamed)
{
	PXT_EQ(outcome(name_without_end, NULL, 0), 1);
	PXT_EQ(events[0].info.posix_event_id, PXT_ID_UNNAMED);
}

static void change_the_lane(void *argument)
{
	uint64_t told;

	attach_with_lanes(2);
	producer_say(0);
	for (told = producer_hear(); told; told = producer_hear()) {
		craft_nothing();
		craft_record(
		    &(const struct craft){ .id = PXT_ID_UNNAMED, .bytes = 1, .thread = 1 });
		craft_record(&(const struct craft){
		    .id = PXT_ID_UNNAMED, .bytes = 2, .thread = 1, .lane = 1 });
		producer_say(0);
	}
}

/* LPT-31: its second event returned later than its first one, whether that is waited for or not. */
PXT_TEST(a_thread_that_changes_its_lane_behind_an_unfinished_record_keeps_its_order)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(change_the_lane, NULL);
	unsigned swapped = 0;

	(void)producer_told(&producer);
	for (unsigned i = 0; i < 20; i++) {
		producer_tell(&producer, 1);
		(void)producer_told(&producer);
		PXT_EQ(owner_collect(trid, events, 2, 3 * CONFIG_PTRACE_HOLDBACK_MS), 2);
		swapped += events[0].len != 1 || events[1].len != 2;
	}
	PXT_CHECK(swapped == 0, "%u pairs are swapped", swapped);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_wait_producers(trid, 0);
	owner_expect_the_law(trid);
	owner_close(trid);
}

static void jump_ahead(void *argument)
{
	const int *quarters = argument;
	trace_event_id_t good;

	(void)posix_trace_eventid_open("crafted.good", &good);
	attach_with_lanes(1);
	posix_trace_event(good, "before", 6);
	producer_say(0);
	(void)producer_hear();
	craft_head((unsigned)*quarters);
	producer_say(0);
	(void)producer_hear();
}

/* LPT-31, SAFE-01 */
PXT_TEST(a_process_that_says_it_recorded_for_days_has_lost_no_more_than_it_can_have)
{
	/* 2^33, 2^39 and 2^43 slots, a quarter as many records. */
	static int quarters[] = { 8, 512, 8192 };

	for (size_t i = 0; i < sizeof(quarters) / sizeof(quarters[0]); i++) {
		trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
		struct producer producer = producer_begin(jump_ahead, &quarters[i]);
		struct posix_trace_counts_np counts;

		(void)producer_told(&producer);
		PXT_EQ(owner_collect(trid, events, 1, PATIENCE_MS), 1);
		producer_tell(&producer, 0);
		(void)producer_told(&producer);
		(void)owner_collect(trid, events, 1, 30);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		PXT_CHECK(counts.posix_lost_np >= 1 && counts.posix_lost_np < 10, "%llu are lost",
		    (unsigned long long)counts.posix_lost_np);
		producer_tell(&producer, 0);
		producer_end(&producer);
		owner_wait_producers(trid, 0);
		owner_expect_the_law(trid);
		owner_close(trid);
	}
}

static void leave_one_unfinished(void *argument)
{
	trace_event_id_t good;

	(void)posix_trace_eventid_open("crafted.good", &good);
	attach_with_lanes(1);
	producer_say(0);
	(void)producer_hear();
	/* Until it is not waited for any more. */
	for (int i = 0; i < 3; i++) {
		craft_nothing();
		posix_trace_event(good, "old", 3);
		pxt_sleep_ms(CONFIG_PTRACE_HOLDBACK_MS + 50);
	}
	producer_say(0);
	for (uint64_t number = 1; number <= 50; number++) {
		craft_nothing();
		posix_trace_event(good, &number, sizeof(number));
		producer_say(0);
		(void)producer_hear();
	}
}

/* LPT-31 */
PXT_TEST(what_is_not_waited_for_is_passed_over_and_nothing_behind_it_comes_late)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(leave_one_unfinished, NULL);
	struct posix_trace_counts_np counts;
	unsigned wrong = 0;

	(void)producer_told(&producer);
	producer_tell(&producer, 0);
	PXT_EQ(owner_collect(trid, events, 3, PATIENCE_MS), 3);
	(void)producer_told(&producer);
	for (uint64_t number = 1; number <= 50; number++) {
		(void)producer_told(&producer);
		/* It has returned: one pull brings it. */
		if (owner_collect(trid, events, 1, CONFIG_PTRACE_HOLDBACK_MS / 4) != 1 ||
		    memcmp(events[0].data, &number, sizeof(number)) != 0)
			wrong++;
		producer_tell(&producer, 0);
	}
	PXT_CHECK(wrong == 0, "%u came late", wrong);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, 53);
	producer_end(&producer);
	owner_wait_producers(trid, 0);
	owner_expect_the_law(trid);
	owner_close(trid);
}

static void finish_nothing(void *argument)
{
	attach_with_lanes(1);
	craft_nothing();
	producer_say(0);
	for (;;) {
		craft_nothing();
		pxt_sleep_ms(2);
	}
}

/* LPT-31, SAFE-01 */
PXT_TEST(one_that_never_finishes_anything_holds_others_back_once)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(finish_nothing, NULL);
	trace_event_id_t own = pxt_open_event("crafted.own");

	(void)producer_told(&producer);
	posix_trace_event(own, "first", 5);
	PXT_EQ(owner_count(trid, own, 1, 3 * CONFIG_PTRACE_HOLDBACK_MS), 1);
	/* By now it may not be waited for. */
	for (int i = 0; i < 20; i++) {
		posix_trace_event(own, "later", 5);
		PXT_EQ(owner_count(trid, own, 1, CONFIG_PTRACE_HOLDBACK_MS / 4), 1);
	}
	producer_kill(&producer);
	owner_wait_producers(trid, 0);
	owner_expect_the_law(trid);
	owner_close(trid);
}

static void take_all_names(void *argument)
{
	trace_event_id_t id = 0;
	char name[32] = "crafted.x00000";

	(void)producer_attach(65536);
	for (unsigned i = 0; i < TRACE_USER_EVENT_MAX; i++) {
		for (unsigned at = 0, left = i; at < 5; at++, left /= 10)
			name[9 + 4 - at] = (char)('0' + left % 10);
		(void)posix_trace_eventid_open(name, &id);
	}
	producer_say(0);
	(void)producer_hear();
}

/* Each as long as a description may be; as many as fit into the process' own pool. */
static void take_all_descriptions(void *argument)
{
	trace_event_id_t id = 0;
	char name[32] = "crafted.z00000";
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	(void)producer_attach(65536);
	memset(format, 'a', sizeof(format));
	memcpy(format, "u32 ", 4);
	format[4 + 63] = '\0';
	for (unsigned i = 0; i < TRACE_USER_EVENT_MAX; i++) {
		for (unsigned at = 0, left = i; at < 5; at++, left /= 10)
			name[9 + 4 - at] = (char)('0' + left % 10);
		if (posix_trace_eventid_open(name, &id) != 0 ||
		    posix_trace_eventid_setformat_np(id, format) != 0)
			break;
	}
	producer_say(0);
	(void)producer_hear();
}

static unsigned names_left(void)
{
	trace_event_id_t id = 0;
	char name[32] = "crafted.y00000";
	unsigned count;

	for (count = 0; count < TRACE_USER_EVENT_MAX; count++) {
		for (unsigned at = 0, left = count; at < 5; at++, left /= 10)
			name[9 + 4 - at] = (char)('0' + left % 10);
		(void)posix_trace_eventid_open(name, &id);
		if (id == PXT_ID_UNNAMED)
			break;
	}
	return count;
}

/* LPT-31 */
PXT_TEST_FRESH(one_process_takes_at_most_half_of_the_names_that_are_left)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(take_all_names, NULL);
	unsigned left;

	(void)producer_told(&producer);
	pxt_sleep_ms(50);
	left = names_left();
	PXT_CHECK(left >= TRACE_USER_EVENT_MAX / 2 - 1, "%u names are left", left);
	CU_ASSERT(left < TRACE_USER_EVENT_MAX - 2);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_close(trid);
}

/* LPT-31 */
PXT_TEST_FRESH(one_process_takes_at_most_half_of_the_room_for_descriptions)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	struct producer producer = producer_begin(take_all_descriptions, NULL);
	uint32_t used;

	(void)producer_told(&producer);
	pxt_sleep_ms(50);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_close(trid);
	/* The helper thread, which learned them, is gone. */
	used = pxt_directory->names.pool_used;
	PXT_CHECK(used > CONFIG_PTRACE_FORMAT_POOL_BYTES / 3 &&
	              used <= CONFIG_PTRACE_FORMAT_POOL_BYTES / 2 + 256,
	    "%u of %u bytes are used", used, (unsigned)CONFIG_PTRACE_FORMAT_POOL_BYTES);
}
