/* SPDX-License-Identifier: MIT */
/* out.c - numbers as text: what is written reads back as the same number. */
#include "tools/output/out.h"

#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		low = (uint32_t)seed;
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
