/* SPDX-License-Identifier: MIT */
/* series.c - quantiles of more values than are kept: counted in cells, told by ranks. */
#include "tools/spans/pairs.h"

#include "suite.h"

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
