/* SPDX-License-Identifier: MIT */
/* test_ticks.c - counter readings become times without any rounding on the way. */
#include "suite.h"

#include "format/mul64.h"
#include "format/ticks.h"
#include "port/bare/board.h"

static uint64_t seed = 0x9e3779b97f4a7c15u;

/* Numbers of every length: a plain random number is nearly always a large one. */
static uint64_t random_bits(void)
{
	return pxt_drawn(&seed) >> (pxt_drawn(&seed) & 63u);
}

static const struct timespec anchor = { 1700000000, 999999999 };

/* A board is slower. */
static unsigned rounds(void)
{
	return pxt_emulated() ? 20000 : 1000000;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;

static const uint64_t rates[] = { 1, 2, 3, 7, 999, 1000, 32768, 1000000, 16000000, 24000000,
	999999937, 999999999, 1000000000, 1000000001, 2596992000, 2596991999, 4294967295,
	4294967296, (UINT64_C(1) << 39) + 1, (UINT64_C(1) << 40) - 1, UINT64_C(1) << 40 };
#define RATES (sizeof(rates) / sizeof(rates[0]))

static wide floor_div(wide a, wide b)
{
	wide q = a / b;

	return a % b != 0 && a < 0 ? q - 1 : q;
}

/* The definition, in arithmetic that nobody needs to trust a proof for. */
static bool time_is_exact(const struct pxt_ticks *clock, uint64_t ticks)
{
	int64_t delta = (int64_t)(ticks - clock->anchor_ticks);
	wide ns = floor_div((wide)delta * 1000000000, (wide)clock->hz);
	wide want = (wide)clock->anchor.tv_sec * 1000000000 + clock->anchor.tv_nsec + ns;
	struct timespec time;

	pxt_ticks_time(clock, ticks, &time);
	return time.tv_nsec >= 0 && time.tv_nsec < 1000000000 &&
	       (wide)time.tv_sec * 1000000000 + time.tv_nsec == want;
}

/* TIM-06, DEC-18, INF-07 */
PXT_TEST(times_equal_128_bit_arithmetic_for_random_readings)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < rounds(); i++) {
		struct pxt_ticks clock;
		uint64_t hz = i % 2 ? rates[i % RATES] : 1 + random_bits() % PXT_HZ_MAX;
		uint64_t at = pxt_drawn(&seed);

		pxt_ticks_init(&clock, hz, at, &anchor);
		wrong += !time_is_exact(&clock, at + random_bits());
		wrong += !time_is_exact(&clock, at - random_bits() / 2);
	}
	PXT_EQ(wrong, 0);
}

/* INF-07, DEC-18 */
PXT_TEST(times_are_exact_around_every_whole_second_and_nanosecond)
{
	unsigned wrong = 0;

	for (unsigned r = 0; r < RATES; r++) {
		struct pxt_ticks clock;

		pxt_ticks_init(&clock, rates[r], 12345, &anchor);
		for (uint64_t k = 0; k < 2000; k++) {
			/* Seconds near the anchor and as far away as 63 bits of ticks go. */
			uint64_t far = (UINT64_C(1) << 62) / rates[r] * rates[r] - k * rates[r];

			for (uint64_t d = 0; d < 3; d++) {
				wrong += !time_is_exact(&clock, 12345 + k * rates[r] + d - 1);
				wrong += !time_is_exact(&clock, 12345 - k * rates[r] + d - 1);
				wrong += !time_is_exact(&clock, 12345 + far + d - 1);
				wrong += !time_is_exact(&clock, 12345 - far + d - 1);
			}
		}
	}
	PXT_EQ(wrong, 0);
}

static uint64_t saturated(wide value)
{
	return value > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

PXT_TEST(lengths_are_exact)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < rounds(); i++) {
		struct pxt_ticks clock;
		uint64_t hz = i % 2 ? rates[i % RATES] : 1 + random_bits() % PXT_HZ_MAX;
		uint64_t count = random_bits();

		pxt_ticks_init(&clock, hz, 0, &anchor);
		wrong += pxt_ticks_to_ns(&clock, count) !=
		         saturated((wide)count * 1000000000 / (wide)hz);
	}
	PXT_EQ(wrong, 0);
}

#else
/* The same code, and the product of two words is tested below: nothing to compare the rest with. */
#endif

/* TIM-06 */
PXT_TEST(a_later_reading_is_never_an_earlier_time)
{
	struct pxt_ticks clock;
	struct timespec before, after;
	unsigned wrong = 0;

	pxt_ticks_init(&clock, 2596992001, 1u << 20, &anchor);
	pxt_ticks_time(&clock, 0, &before);
	for (uint64_t ticks = 1; ticks < 2 * rounds(); ticks++) {
		pxt_ticks_time(&clock, ticks, &after);
		wrong += after.tv_sec < before.tv_sec ||
		         (after.tv_sec == before.tv_sec && after.tv_nsec < before.tv_nsec);
		before = after;
	}
	PXT_EQ(wrong, 0);
}

/* DEC-18: the anchor itself, and days after it, at a rate that divides nothing evenly */
PXT_TEST(the_anchor_is_its_own_time_and_days_do_not_drift)
{
	struct pxt_ticks clock;
	struct timespec time;
	uint64_t week = UINT64_C(2596992001) * 7 * 86400;

	pxt_ticks_init(&clock, 2596992001, 77, &anchor);
	pxt_ticks_time(&clock, 77, &time);
	PXT_EQ(time.tv_sec, anchor.tv_sec);
	PXT_EQ(time.tv_nsec, anchor.tv_nsec);
	pxt_ticks_time(&clock, 77 + week, &time);
	PXT_EQ(time.tv_sec, anchor.tv_sec + 7 * 86400);
	PXT_EQ(time.tv_nsec, anchor.tv_nsec);
}

/* A hostile log may hold any numbers: the result stays a time, at the end of the range. */
PXT_TEST(seconds_stay_at_the_end_of_their_range)
{
	const bool small = sizeof(time_t) < sizeof(int64_t);
	const time_t most = (time_t)(small ? INT32_MAX : INT64_MAX);
	const time_t least = (time_t)(small ? INT32_MIN : INT64_MIN);
	const struct timespec last = { most, 999999999 };
	const struct timespec first = { least, 0 };
	struct pxt_ticks clock;
	struct timespec time;

	pxt_ticks_init(&clock, 1, 0, &last);
	pxt_ticks_time(&clock, INT64_MAX, &time);
	PXT_EQ(time.tv_sec, most);
	pxt_ticks_init(&clock, 1, 0, &first);
	pxt_ticks_time(&clock, UINT64_C(1) << 63, &time);
	PXT_EQ(time.tv_sec, least);
	pxt_ticks_init(&clock, 2, 0, &last);
	pxt_ticks_time(&clock, 1, &time);
	PXT_EQ(time.tv_sec, most);
	CU_ASSERT(time.tv_nsec >= 0 && time.tv_nsec < 1000000000);
}

/* What machines without a 128-bit type compute with. */
PXT_TEST(the_portable_product_is_the_machine_s)
{
	static const uint64_t edges[] = { 0, 1, 0xffffffff, UINT64_C(0x100000000),
		UINT64_C(0xffffffff00000000), UINT64_MAX - 1, UINT64_MAX };
	unsigned wrong = 0;

	for (unsigned i = 0; i < 7 * 7; i++)
		wrong += pxt_mul_high_portable(edges[i / 7], edges[i % 7]) !=
		         pxt_mul_high(edges[i / 7], edges[i % 7]);
	for (unsigned i = 0; i < rounds(); i++) {
		uint64_t a = random_bits(), b = random_bits();

		wrong += pxt_mul_high_portable(a, b) != pxt_mul_high(a, b);
	}
	PXT_EQ(wrong, 0);
}

/* What boards divide with; they run this test, too. */
PXT_TEST(the_quotient_is_the_compiler_s)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < rounds() / 10; i++) {
		uint64_t value = random_bits();
		uint64_t divisor = random_bits() >> 1 | 1u;

		wrong += pxt_divide(value, divisor) != value / divisor;
	}
	wrong += pxt_divide(UINT64_MAX, 1) != UINT64_MAX;
	wrong += pxt_divide(UINT64_MAX, INT64_MAX) != 2;
	PXT_EQ(wrong, 0);
}

/* ZEP-29: Ruling 6: gaps up to a whole turn; and longer ones, as long as a timer asks in between */
PXT_TEST(a_counter_of_32_bits_is_continued_exactly)
{
	uint64_t truth = UINT64_C(0xfffffffe);
	uint64_t wide_one = truth;
	unsigned wrong = 0;

	for (unsigned i = 0; i < rounds(); i++) {
		truth += random_bits() & 0xffffffffu;
		wide_one = pxt_board_widen(wide_one, (uint32_t)truth);
		wrong += wide_one != truth;
	}
	truth += 0xffffffffu;
	wide_one = pxt_board_widen(wide_one, (uint32_t)truth);
	wrong += wide_one != truth;
	/* Ten years at 100 MHz with nothing but the timer, every half turn; fewer on a board. */
	for (uint64_t end = truth + UINT64_C(31556952) * rounds() * 1000; truth < end;) {
		truth += UINT64_C(1) << 31;
		wide_one = pxt_board_widen(wide_one, (uint32_t)truth);
	}
	wrong += wide_one != truth;
	PXT_EQ(wrong, 0);
}

/* AGCLK-01, DEC-18 */
PXT_TEST(the_resolution_is_the_period_rounded_up)
{
	PXT_EQ(pxt_ticks_resolution_ns(2596992000, 1), 1);
	PXT_EQ(pxt_ticks_resolution_ns(1000000000, 1), 1);
	PXT_EQ(pxt_ticks_resolution_ns(999999999, 1), 2);
	PXT_EQ(pxt_ticks_resolution_ns(16000000, 0), 63);
	PXT_EQ(pxt_ticks_resolution_ns(1, 1), 1000000000);
	/* LPT-52: by its steps, not by its rate */
	PXT_EQ(pxt_ticks_resolution_ns(2596992000, 26), 11);
	PXT_EQ(pxt_ticks_resolution_ns(2600000000, 26), 10);
	PXT_EQ(pxt_ticks_resolution_ns(1000000000, 1000), 1000);
}

/* TIM-06; steps of every length, both ways, and on both sides of each end of a second */
PXT_TEST(a_second_that_is_remembered_gives_the_same_times)
{
	static const uint64_t speeds[] = { 1, 3, 1000, 32768, 999999937, 1000000000, 2596992000,
		PXT_HZ_MAX };
	unsigned wrong = 0;

	for (unsigned i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		struct pxt_second second = { 0 };
		uint64_t start = pxt_drawn(&seed);
		uint64_t ticks = start;
		struct pxt_ticks clock;

		pxt_ticks_init(&clock, speeds[i], start, &anchor);
		for (unsigned turn = 0; turn < rounds() / 10; turn++) {
			struct timespec near;
			struct timespec time;

			switch (pxt_drawn(&seed) % 4u) {
			case 0: /* the ends of a second */
				ticks = start + pxt_drawn(&seed) % 50u * speeds[i] +
				        pxt_drawn(&seed) % 3u - 1u;
				break;
			case 1: /* where the anchor's nanoseconds make one */
				ticks = start + pxt_drawn(&seed) % 50u * speeds[i] +
				        speeds[i] / PXT_NS_PER_S + pxt_drawn(&seed) % 3u;
				break;
			case 2:
				ticks += pxt_drawn(&seed) % (2u * speeds[i]);
				break;
			default:
				ticks = turn % 100u ? ticks - pxt_drawn(&seed) % speeds[i]
				                    : start + random_bits();
				break;
			}
			pxt_ticks_near(&clock, &second, ticks, &near);
			pxt_ticks_time(&clock, ticks, &time);
			wrong += near.tv_sec != time.tv_sec || near.tv_nsec != time.tv_nsec;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
}
