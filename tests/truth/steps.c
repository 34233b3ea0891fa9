/* SPDX-License-Identifier: MIT */
/*
 * steps.c - one thread that interrupts itself: at every test point of a trace point, or of a reader,
 * something else happens, and then the times that are reported, of the event that was interrupted and
 * of all others, lie between entry and return.
 *
 * Built twice.  With the fakes' clock, which every reading moves on, stamps take the careful path; with
 * the processor's counter the short one, where there is one.
 */
#include "ground.h"

#include "conformance/story.h"
#include "core/testpoints.h"
#ifdef TRUTH_FAKE_CLOCK
#include "fakes/fakes.h"
#define OF_MANY                                                                                    \
	1 /* reading many at once is tried by one of the two clocks, and by both at full length */
#else
#define OF_MANY 0
#endif
#include "suite.h"

void (*_Atomic pxt_testpoint_hook)(int point);

/* ---- What may come between two steps ---- */

static enum ground_source speaker; /* of what interrupts */

static void trace_in_the_same_lane(void)
{
	ground_say(0, speaker, 12);
}

static void trace_in_another_lane(void)
{
	ground_say(1, speaker, 4);
}

/* The later one must wait for what is after an unfinished record. */
static void trace_in_both_and_read(void)
{
	ground_say(0, speaker, 4);
	ground_say(1, speaker, 12);
	ground_read();
}

/* The other way round. */
static void trace_in_the_other_first(void)
{
	ground_say(1, speaker, 12);
	ground_say(0, speaker, 4);
}

static const struct deed {
	const char *name;
	void (*run)(void);
	bool is_event;
	bool lanes;   /* makes sense with several */
	bool outside; /* not within a reader, which has the stream to itself */
} deeds[] = {
	{ "an event in the same lane", trace_in_the_same_lane, true, false, false },
	{ "an event in another lane", trace_in_another_lane, true, true, false },
	{ "events in both lanes", trace_in_the_other_first, true, true, false },
	{ "stop and start", ground_stop_and_start, false, false, true },
	{ "a lap", ground_lap, false, false, false },
	{ "a reader", ground_read, false, false, true },
	{ "clear", ground_clear, false, false, true },
	{ "events in both lanes and a reader", trace_in_both_and_read, false, true, true },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

/* ---- Interrupts ---- */

struct plan {
	const struct deed *first;
	const struct deed *then;  /* after it, at the same place; or NULL */
	const struct deed *inner; /* at a point of the first one, which is an event; or NULL */
	uint32_t inner_nth;
	bool reader; /* it is what is interrupted */
};

/* What is to happen, in so many points; and the point where it did, -1: nowhere yet. */
struct alarm {
	const struct plan *plan;
	uint32_t left;
	int point;
};
static struct alarm outer;
static struct alarm inner;

static void set_alarm(struct alarm *alarm, const struct plan *plan, uint32_t nth)
{
	alarm->plan = plan;
	alarm->left = nth;
	alarm->point = -1;
}

/* Interrupts are not interrupted, but for what the plan says. */
static bool goes_off(struct alarm *alarm, int point)
{
	if ((point > PXT_TP_LEFT && !alarm->plan->reader) || alarm->left-- > 0)
		return false;
	alarm->plan = NULL;
	alarm->point = point;
	return true;
}

static void run_plan(const struct plan *plan)
{
	if (plan->inner)
		set_alarm(&inner, plan, plan->inner_nth);
	plan->first->run();
	inner.plan = NULL;
	if (plan->then)
		plan->then->run();
}

static void at_point(int point)
{
	const struct plan *plan = outer.plan;
	const struct plan *within = inner.plan;

	if (plan && goes_off(&outer, point)) {
		run_plan(plan);
	} else if (within && goes_off(&inner, point)) {
		speaker = INNER;
		within->inner->run();
		speaker = NESTED;
	}
}

/* ---- One case ---- */

static const char *name_of_case(const struct plan *plan)
{
	return st_text("%s: %s%s, %s, %s at %d, %d", ground_name(), plan->reader ? "reader " : "",
	    plan->first->name, plan->then ? plan->then->name : "-",
	    plan->inner ? plan->inner->name : "-", outer.point, inner.point);
}

/* False: there is no such point, or something is untrue. */
static bool one_case(const struct ground *where, const struct plan *plan, uint32_t nth)
{
	ground_begin(where);
	speaker = NESTED;
	set_alarm(&inner, NULL, 0);
	set_alarm(&outer, plan, nth);
	pxt_testpoint_hook_set(at_point);
	if (plan->reader)
		ground_read();
	else
		CU_ASSERT(rd_say_long(OUTER, where->len));
	outer.plan = NULL;
	pxt_testpoint_hook_set(NULL);
	return ground_end(name_of_case(plan)) && outer.point >= 0 &&
	       (!plan->inner || inner.point >= 0);
}

/* How many points there were. */
static uint32_t at_all_points(const struct ground *where, const struct plan *plan)
{
	uint32_t nth = 0;

	while (one_case(where, plan, nth))
		nth++;
	return nth;
}

/* ---- All of them ---- */

static bool fits(const struct ground *where, const struct deed *deed)
{
	return where->lanes > 1 || !deed->lanes;
}

static void one_by_one(const struct ground *where)
{
	for (size_t i = 0; i < DEEDS; i++) {
		const struct plan plan = { .first = &deeds[i] };

		if (fits(where, &deeds[i]))
			CU_ASSERT(at_all_points(where, &plan) > 5);
	}
}

static void two_by_two(const struct ground *where)
{
	for (size_t i = 0; i < DEEDS; i++) {
		for (size_t j = 0; j < DEEDS; j++) {
			const struct plan plan = { .first = &deeds[i], .then = &deeds[j] };

			if (fits(where, &deeds[i]) && fits(where, &deeds[j]))
				CU_ASSERT(at_all_points(where, &plan) > 5);
		}
	}
}

/* At each point of an event at each point of an event. */
static void one_within_another(const struct ground *where)
{
	for (size_t i = 0; i < DEEDS; i++) {
		for (size_t j = 0; j < DEEDS; j++) {
			struct plan plan = { .first = &deeds[i], .inner = &deeds[j] };

			if (!deeds[i].is_event || !fits(where, &deeds[i]) ||
			    !fits(where, &deeds[j]))
				continue;
			while (at_all_points(where, &plan) > 5)
				plan.inner_nth++;
			CU_ASSERT(plan.inner_nth > 5);
		}
	}
}

static bool fits_within_a_reader(const struct ground *where, const struct deed *deed)
{
	return fits(where, deed) && !deed->outside;
}

static void within_a_reader(const struct ground *where)
{
	uint32_t points = 0;

	for (size_t i = 0; i < DEEDS; i++) {
		for (size_t j = 0; j < DEEDS; j++) {
			const struct plan plan = { .first = &deeds[i],
				.then = i == j ? NULL : &deeds[j],
				.reader = true };

			if (fits_within_a_reader(where, &deeds[i]) &&
			    fits_within_a_reader(where, &deeds[j]))
				points += at_all_points(where, &plan);
		}
	}
	/* Of one empty lane there is nothing to be seen. */
	CU_ASSERT(points > 10 || where->fill == FRESH);
}

/* All at full length; else each two of lanes, length and fill meet once for each policy. */
static void on_all_grounds(bool two, bool ordered, void (*how)(const struct ground *where))
{
	static const size_t lengths[] = { 4, 32, 100 };

	for (unsigned i = 0; i < 54; i++) {
		unsigned lanes = i % 3;
		unsigned fill = i / 3 % 3;
		unsigned len = i / 9 % 3;

		if (len == (lanes + fill) % 3 || pxt_in_full())
			how(&(const struct ground){ .policy = i / 27 ? FULL : LOOP,
			    .lanes = 1u << lanes,
			    .len = lengths[len],
			    .fill = (enum ground_fill)fill,
			    .ordered = ordered,
			    .two = two });
	}
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(whatever_interrupts_a_trace_point_all_times_are_true)
{
	on_all_grounds(false, false, one_by_one);
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(with_ordered_stamps_they_are)
{
	on_all_grounds(false, true, one_by_one);
}

/* EVENT-10, TIM-03, TIM-06; rulings 25, 26: each stream has its own stamp */
PXT_TEST(in_two_streams_they_are)
{
	on_all_grounds(true, false, one_by_one);
	on_all_grounds(true, true, one_by_one);
}

/* Both policies, however full. */
static void on_more_grounds(void (*how)(const struct ground *where))
{
	for (int two = 0; two < 2; two++) {
		for (int fill = FRESH; fill <= (int)BRIM; fill++) {
			for (int policy = 0; policy < 2; policy++)
				how(&(const struct ground){ .policy = policy ? FULL : LOOP,
				    .lanes = two ? 1u : 4u,
				    .len = 32,
				    .fill = (enum ground_fill)fill,
				    .ordered = two != 0,
				    .two = two != 0 });
		}
	}
}

static void on_some_grounds(bool of_many, void (*how)(const struct ground *where))
{
	how(&(const struct ground){ .policy = LOOP, .lanes = 2, .len = 32, .fill = SOME });
	how(&(const struct ground){ .policy = FULL, .lanes = 2, .len = 32, .fill = SOME });
	if (of_many || pxt_in_full()) {
		how(&(const struct ground){
		    .policy = LOOP, .lanes = 2, .len = 32, .fill = SOME, .many = true });
		how(&(const struct ground){
		    .policy = FULL, .lanes = 2, .len = 32, .fill = SOME, .many = true });
	}
	if (pxt_in_full())
		on_more_grounds(how);
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(whatever_two_things_interrupt_it_they_are)
{
	on_some_grounds(OF_MANY, two_by_two);
}

/* TIM-03, TIM-04, TIM-06, SAFE-01; rulings 25, 26 */
PXT_TEST(where_what_interrupts_it_is_interrupted_they_are)
{
	/* What a reader sees of it is what two things leave, one after another. */
	on_some_grounds(false, one_within_another);
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(whatever_interrupts_a_reader_they_are)
{
	on_some_grounds(OF_MANY, within_a_reader);
}

PXT_BEFORE
{
	/* Readings of one processor. */
	st_pin(true);
#ifdef TRUTH_FAKE_CLOCK
	/* A tick is a nanosecond. */
	pxt_fake_clock_start(1000000000);
	pxt_fake_clock_step(1);
#endif
}
