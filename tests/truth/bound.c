/* SPDX-License-Identifier: MIT */
/*
 * bound.c - a writer that is overtaken again and again, between its reading of the counter and its
 * exchange: it tries as often as the ring has slots, and once more, then it is refused and counted.
 */
#include "ground.h"

#include "conformance/story.h"
#include "core/stream/stream.h"
#include "core/testpoints.h"
#include "suite.h"

void (*_Atomic pxt_testpoint_hook)(int point);

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

/* The short path tries once, if it is taken, and leaves it to the careful one. */
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

PXT_BEFORE
{
	/* Readings of one processor. */
	st_pin(true);
}
