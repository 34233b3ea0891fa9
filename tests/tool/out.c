/* SPDX-License-Identifier: MIT */
/* out.c - numbers and times as text, how far long work has come, and quantiles of many values. */
#define _XOPEN_SOURCE 700
#include "tools/output/out.h"
#include "suite.h"
#include "tools/spans/pairs.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pxt_out out = { .fd = -1 };

static const char *as_text(double value, unsigned bytes)
{
	out.used = 0;
	pxt_out_float(&out, value, bytes);
	pxt_out_char(&out, '\0');
	return out.buffer;
}

PXT_TEST(floats_are_shown_with_as_few_digits_as_they_need)
{
	/* Where constants have more digits than their type, as on the x87, a variable has not. */
	const double sum = 0x1.3333333333334p-2; /* of 0.1 and 0.2 */
	const float single = 1234.5677f;

	CU_ASSERT_STRING_EQUAL(as_text(0, 8), "0");
	CU_ASSERT_STRING_EQUAL(as_text(-0.0, 8), "-0");
	CU_ASSERT_STRING_EQUAL(as_text(0.25, 8), "0.25");
	CU_ASSERT_STRING_EQUAL(as_text(-12.000001, 8), "-12.000001");
	CU_ASSERT_STRING_EQUAL(as_text(1e6, 8), "1000000");
	CU_ASSERT_STRING_EQUAL(as_text(sum, 8), "0.30000000000000004");
	CU_ASSERT_STRING_EQUAL(as_text(1e300, 8), "1e+300");
	CU_ASSERT_STRING_EQUAL(as_text(5e-324, 8), "5e-324");
	/* Sixteen digits, where fifteen are too few and seventeen too many. */
	CU_ASSERT_STRING_EQUAL(as_text(5.551115123125783e-17, 8), "5.551115123125783e-17");
	CU_ASSERT_STRING_EQUAL(as_text(1e23, 8), "1e+23");
	CU_ASSERT_STRING_EQUAL(as_text((double)1e-45f, 4), "1e-45");
	CU_ASSERT_STRING_EQUAL(as_text((double)0.1f, 4), "0.1");
	CU_ASSERT_STRING_EQUAL(as_text((double)single, 4), "1234.5677");
	CU_ASSERT_STRING_EQUAL(as_text(INFINITY, 8), "inf");
	CU_ASSERT_STRING_EQUAL(as_text(-INFINITY, 4), "-inf");
}

PXT_TEST(floats_read_back_as_the_same_number)
{
	uint64_t seed = 88172645463325252u;

	for (unsigned i = 0; i < 20000; i++) {
		double value;
		float single;
		uint32_t low;

		low = (uint32_t)pxt_drawn(&seed);
		memcpy(&value, &seed, sizeof value);
		memcpy(&single, &low, sizeof single);
		if (i % 2)
			value = (double)(int64_t)(seed >> 20) / (i % 4 == 1 ? 1e3 : 1e7);
		if (isfinite(value))
			CU_ASSERT_FATAL(memcmp(&(double){ strtod(as_text(value, 8), NULL) }, &value,
			                    sizeof value) == 0);
		if (isfinite(single))
			CU_ASSERT_FATAL(
			    memcmp(&(float){ (float)strtod(as_text((double)single, 4), NULL) },
			        &single, sizeof single) == 0);
	}
}

/* ---- Times as logs tell them, hostile ones too ---- */

static int64_t at(time_t seconds, long ns)
{
	return pxt_when_ns(&(struct timespec){ .tv_sec = seconds, .tv_nsec = ns });
}

PXT_TEST(a_time_is_nanoseconds_since_1970)
{
	CU_ASSERT(at(0, 0) == 0);
	CU_ASSERT(at(1800000000, 5) == INT64_C(1800000000000000005));
	CU_ASSERT(at(-2, 500000000) == INT64_C(-1500000000));
}

PXT_TEST(any_two_times_may_be_subtracted)
{
	const time_t latest = sizeof(time_t) == 8 ? (time_t)INT64_MAX : (time_t)INT32_MAX;
	int64_t difference;

	CU_ASSERT(
	    !__builtin_sub_overflow(at(latest, LONG_MAX), at(-latest, LONG_MIN), &difference));
	CU_ASSERT(difference > 0);
	CU_ASSERT(!__builtin_sub_overflow(
	    pxt_within_range(INT64_MIN), pxt_within_range(INT64_MAX), &difference));
	CU_ASSERT(difference < 0);
}

static bool means(const char *text, int64_t ns)
{
	struct pxt_when when = { 0 };

	return pxt_when_parse(text, &when) && when.set && !when.absolute && when.ns == ns;
}

PXT_TEST(a_plain_number_is_seconds_also_before_the_start)
{
	struct pxt_when when;

	CU_ASSERT(means("1.9", 1900000000));
	CU_ASSERT(means("-1.5", -1500000000));
	CU_ASSERT(means("-2ms", -2000000));
	CU_ASSERT(means("-0.25us", -250));
	CU_ASSERT(!pxt_when_parse("-", &when));
	CU_ASSERT(!pxt_when_parse("--1", &when));
	CU_ASSERT(!pxt_when_parse("-.5", &when));
	CU_ASSERT(!pxt_when_parse("-ms", &when));
}

/* ---- The line that tells how far long work has come, seen from the terminal's other side ---- */

static int terminal = -1;
static int kept = -1;

/* Makes standard error a terminal; what arrives there is read from @terminal. */
static bool begin(void)
{
	int other;

	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
		return false;
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (other < 0)
		return false;
	(void)setenv("TERM", "xterm", 1);
	(void)fflush(stderr);
	kept = dup(STDERR_FILENO);
	(void)dup2(other, STDERR_FILENO);
	(void)close(other);
	return true;
}

/* What came, until nothing came for a while; standard error is as it was before. */
static const char *end(void)
{
	static char text[4096];
	struct pollfd wait = { .fd = terminal, .events = POLLIN };
	size_t used = 0;

	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	while (used < sizeof text - 1 && poll(&wait, 1, 50) > 0 && (wait.revents & POLLIN)) {
		ssize_t bytes = read(terminal, text + used, sizeof text - 1 - used);

		if (bytes <= 0)
			break;
		used += (size_t)bytes;
	}
	text[used] = '\0';
	(void)close(terminal);
	return text;
}

static void work(uint64_t steps, uint64_t total, bool at_once)
{
	struct pxt_progress progress;

	pxt_progress_begin(&progress, "count", "events", total, false);
	if (at_once)
		progress.show_ms = 0;
	for (uint64_t i = 0; i < steps; i++)
		pxt_progress_step(&progress);
	pxt_progress_end(&progress);
}

PXT_TEST(long_work_shows_how_far_it_is_and_leaves_nothing)
{
	static const char clear[] = "\r\033[K";

	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS * 2, (uint64_t)PXT_PROGRESS_STEPS * 4, true);
	const char *text = end();
	CU_ASSERT(strstr(text, "count [#######") != NULL);
	CU_ASSERT(strstr(text, " 25 %  8192 events") != NULL);
	CU_ASSERT(strlen(text) > strlen(clear) &&
	          strcmp(text + strlen(text) - strlen(clear), clear) == 0);
}

PXT_TEST(work_of_unknown_length_shows_what_is_done)
{
	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS, 0, true);
	CU_ASSERT(strstr(end(), "count: 8192 events") != NULL);
}

PXT_TEST(short_work_shows_nothing)
{
	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS * 2, (uint64_t)PXT_PROGRESS_STEPS * 4, false);
	CU_ASSERT_STRING_EQUAL(end(), "");
}

PXT_TEST(a_file_or_pipe_never_sees_a_bar)
{
	struct pxt_progress progress;
	int ends[2];
	char byte;

	CU_ASSERT_FATAL(pipe(ends) == 0);
	(void)fflush(stderr);
	int before = dup(STDERR_FILENO);
	(void)dup2(ends[1], STDERR_FILENO);
	pxt_progress_begin(&progress, "count", "events", 100000, false);
	progress.show_ms = 0;
	for (unsigned i = 0; i < 100000; i++)
		pxt_progress_step(&progress);
	pxt_progress_end(&progress);
	(void)dup2(before, STDERR_FILENO);
	(void)close(before);
	(void)close(ends[1]);
	PXT_EQ(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

PXT_TEST(a_message_takes_the_bar_away_first)
{
	struct pxt_progress progress;

	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	pxt_progress_begin(&progress, "count", "events", 100, false);
	progress.show_ms = 0;
	pxt_progress_at(&progress, PXT_PROGRESS_STEPS);
	pxt_complain("a word");
	pxt_progress_end(&progress);
	CU_ASSERT(strstr(end(), "\r\033[Kpxtrace: a word\r\n") != NULL);
}

/* ---- Quantiles of more values than are kept: counted in cells, told by ranks ---- */

static void add(struct pxt_series *series, uint64_t value, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		pxt_series_add(series, value);
}

static uint64_t quantile(struct pxt_series *series, unsigned per_mille)
{
	bool exact = true;
	uint64_t value = pxt_series_quantile(series, per_mille, &exact);

	CU_ASSERT(!exact);
	return value;
}

/* 19,800 of 20,000 values are 99 %: the last of them, not the first beyond. */
PXT_TEST(a_quantile_at_the_border_of_a_cell_is_of_the_cell_below)
{
	struct pxt_series series = { 0 };

	add(&series, 100, 19800);
	add(&series, 200, 180);
	add(&series, 5000, 20);
	PXT_EQ(quantile(&series, 990), 100);
	PXT_EQ(quantile(&series, 999), 200);
	pxt_series_add(&series, 200);
	PXT_EQ(quantile(&series, 990), 200);
	pxt_series_free(&series);
}

/* A power of two begins a cell, its predecessor ends one: neither goes to the other's. */
PXT_TEST(neighbours_across_a_border_stay_apart)
{
	struct pxt_series series = { 0 };

	for (unsigned power = 9; power < 40; power += 6) {
		uint64_t border = UINT64_C(1) << power;

		add(&series, border - 1, 9900);
		add(&series, border, 9900);
		add(&series, 2 * border, 200);
		CU_ASSERT(quantile(&series, 490) < border);
		CU_ASSERT(quantile(&series, 500) >= border);
		CU_ASSERT(quantile(&series, 990) < 2 * border);
		CU_ASSERT(quantile(&series, 991) >= 2 * border);
		PXT_EQ(pxt_series_between(&series, 0, border), 9900);
		pxt_series_free(&series);
	}
}

/* However they are kept: exactly, in cells, or one of them so. */
PXT_TEST(series_that_are_joined_tell_what_one_would)
{
	for (unsigned few = 0; few < 4; few++) {
		struct pxt_series parts[2] = { { 0 }, { 0 } };
		struct pxt_series both = { 0 };
		struct pxt_series one = { 0 };
		bool exact;

		for (uint64_t i = 0; i < 40000; i++) {
			unsigned part = i % 2 != 0;

			if (few & 1u << part && i > 1000)
				continue;
			pxt_series_add(&parts[part], i * i % 100003);
			pxt_series_add(&one, i * i % 100003);
		}
		pxt_series_join(&both, &parts[0]);
		pxt_series_join(&both, &parts[1]);
		PXT_EQ(both.count, one.count);
		PXT_EQ(both.least, one.least);
		PXT_EQ(both.most, one.most);
		for (unsigned per_mille = 0; per_mille <= 1000; per_mille += 125) {
			double wanted = (double)pxt_series_quantile(&one, per_mille, &exact);
			double got = (double)pxt_series_quantile(&both, per_mille, &exact);

			CU_ASSERT(got >= wanted * 0.99 && got <= wanted * 1.01);
		}
		CU_ASSERT(both.mean > one.mean * 0.999 && both.mean < one.mean * 1.001);
		CU_ASSERT(pxt_series_deviation(&both) > pxt_series_deviation(&one) * 0.999 &&
		          pxt_series_deviation(&both) < pxt_series_deviation(&one) * 1.001);
		pxt_series_free(&both);
		pxt_series_free(&one);
		pxt_series_free(&parts[0]);
		pxt_series_free(&parts[1]);
	}
}
