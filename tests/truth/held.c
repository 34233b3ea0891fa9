/* SPDX-License-Identifier: MIT */
/*
 * held.c - the hold-back time of unfinished records is over while their writers are still there: what is
 * after them is reported at its time all the same, to every reader, and the marks of a flush that
 * did not wait any longer are not later than what it left behind.  A writer that is overtaken again and again,
 * between its reading of the counter and its exchange, tries as often as the ring has slots, and once more, then
 * it is refused and counted.
 */
#include "ground.h"

#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/stream/stream.h"
#include "core/testpoints.h"
#include "fakes/fakes.h"
#include "suite.h"

#define HOLDBACK_NS 1000000u
#define DEEPEST     3u

void (*_Atomic pxt_testpoint_hook)(int point);

static unsigned depth; /* unfinished records, one within the other */
static unsigned deepest;
static int where_to_stand;
static unsigned looks;

/* Time goes on while somebody waits. */
void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	pxt_fake_clock_advance(ns);
}

static void look_until_it_is_over(void)
{
	for (unsigned i = 0; i < looks; i++) {
		ground_read();
		pxt_fake_clock_advance(HOLDBACK_NS / 2u);
		ground_say(1, LAP, 4);
	}
}

static void stand_within(int point)
{
	if (point != where_to_stand || depth == deepest)
		return;
	depth++;
	if (depth < deepest) {
		ground_say(0, depth == 1 ? NESTED : INNER, 32);
		return;
	}
	/* After all of them, and in the other lane. */
	ground_say(0, LAP, 4);
	ground_say(1, LAP, 4);
	look_until_it_is_over();
}

static void one_case(const struct ground *where, int point, unsigned records, unsigned times)
{
	ground_begin(where);
	pxt_holdback_ns = HOLDBACK_NS;
	where_to_stand = point;
	depth = 0;
	deepest = records;
	looks = times;
	pxt_testpoint_hook_set(stand_within);
	CU_ASSERT(rd_say_long(OUTER, 32));
	pxt_testpoint_hook_set(NULL);
	pxt_holdback_ns = LONG_NS;
	CU_ASSERT(ground_end(
	    st_text("%s: %u stand at %d, %u looks", ground_name(), records, point, times)));
}

static void on_grounds(struct ground where)
{
	static const int points[] = { PXT_TP_RESERVED, PXT_TP_BEGIN_STORED, PXT_TP_MIDDLE_STORED };

	for (where.lanes = 1; where.lanes <= 2; where.lanes++) {
		for (unsigned point = 0; point < 3; point++) {
			for (unsigned records = 1; records <= DEEPEST; records++) {
				for (unsigned times = 1; times <= 8; times++)
					one_case(&where, points[point], records, times);
			}
		}
	}
}

/* TIM-03, TIM-06, DEC-42; rulings 12, 26 */
PXT_TEST(what_stands_behind_records_that_were_given_up_is_reported_at_its_time)
{
	on_grounds((struct ground){ .policy = LOOP, .len = 32 });
	on_grounds((struct ground){ .policy = LOOP, .len = 32, .many = true });
	on_grounds((struct ground){ .policy = FULL, .len = 32 });
}

/* TIM-03, TIM-06, FLUSH-02, DEC-42; rulings 12, 26 */
PXT_TEST(it_is_in_a_log_whose_flush_did_not_wait_any_longer)
{
	on_grounds((struct ground){ .policy = LOOP, .len = 32, .logged = true });
	on_grounds((struct ground){ .policy = FULL, .len = 32, .logged = true });
}

PXT_BEFORE
{
	st_pin(true);
	pxt_fake_clock_start(1000000000);
	pxt_fake_clock_step(1);
}

/* ---- A writer that is overtaken again and again ---- */

static uint32_t stamps;    /* that the outer event took */
static uint32_t overtakes; /* so often is it overtaken */
static bool nested;

static void overtake(int point)
{
	if (point != PXT_TP_STAMPED || nested)
		return;
	stamps++;
	if (overtakes == 0)
		return;
	overtakes--;
	nested = true;
	ground_say(0, NESTED, 4);
	/* So that nothing is lost for another reason. */
	ground_read();
	nested = false;
}

static uint32_t slots_of_a_ring(void)
{
	struct pxt_stream *stream = pxt_handle_find_kind(ground_streams[0], &pxt_stream_kind);

	CU_ASSERT_FATAL(stream != NULL);
	return stream->block->slot_mask + 1u;
}

static uint64_t lost(unsigned i)
{
	struct posix_trace_counts_np counts;

	CU_ASSERT(st_law(ground_streams[i], &counts));
	return counts.posix_lost_np;
}

static void begin(const struct ground *where)
{
	ground_begin(where);
	ground_read();
	stamps = 0;
}

static void trace_overtaken(uint32_t times)
{
	overtakes = times;
	pxt_testpoint_hook_set(overtake);
	CU_ASSERT(rd_say_long(OUTER, ground->len));
	pxt_testpoint_hook_set(NULL);
}

/* The fast path tries once, if it is taken, and leaves it to the slow one. */
static bool are_tries(uint32_t careful)
{
	return stamps >= careful && stamps <= careful + ground_count();
}

static void expect_refused(const struct ground *where)
{
	begin(where);
	trace_overtaken(UINT32_MAX);
	PXT_CHECK(are_tries(ground_count() * (slots_of_a_ring() + 1u)), "%s: %u tries",
	    ground_name(), stamps);
	for (unsigned i = 0; i < ground_count(); i++) {
		/* The refusal stops a stream that fills, and another event meets it before a reader does. */
		uint64_t more = ground->policy == FULL && i + 1u < ground_count();

		PXT_CHECK(lost(i) == 1u + more, "%s: %llu lost", ground_name(),
		    (unsigned long long)lost(i));
	}
	CU_ASSERT(ground_end(ground_name()));
}

static void expect_admitted(const struct ground *where)
{
	begin(where);
	trace_overtaken(slots_of_a_ring());
	PXT_EQ(stamps, slots_of_a_ring() + 1u);
	PXT_EQ(lost(0), 0);
	CU_ASSERT(ground_end(ground_name()));
}

static void on_all_grounds(void (*expect)(const struct ground *where), bool two)
{
	for (int policy = 0; policy < 2; policy++) {
		for (unsigned lanes = 1; lanes <= 2; lanes++) {
			for (int ordered = 0; ordered < 2; ordered++) {
				const struct ground where = { .policy = policy ? FULL : LOOP,
					.lanes = lanes,
					.len = ordered ? 32 : 4,
					.ordered = ordered != 0,
					.two = two };

				expect(&where);
			}
		}
	}
}

/* POL-12, DEC-11; rulings 7, 25 */
PXT_TEST(a_writer_that_is_always_overtaken_is_refused_after_a_ring_of_others_and_counted)
{
	on_all_grounds(expect_refused, false);
}

/* EVENT-10, POL-12; rulings 7, 25 */
PXT_TEST(in_two_streams_it_is_refused_by_each)
{
	on_all_grounds(expect_refused, true);
}

/* POL-12; ruling 25 */
PXT_TEST(one_that_is_overtaken_by_a_ring_of_others_finds_its_place)
{
	on_all_grounds(expect_admitted, false);
}
