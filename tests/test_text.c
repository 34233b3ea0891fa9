/* SPDX-License-Identifier: MIT */
/* test_text.c - messages of events: what conversions make of fields, and what has no message. */
#include "suite.h"

#include <trace.h>
#include <trace_np.h>

#define HAVE_TEXTS ((_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL)

#if HAVE_TEXTS
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char data[64];
static size_t len;

static void put(const void *value, size_t bytes)
{
	memcpy(data + len, value, bytes);
	len += bytes;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_i16(int16_t value)
{
	put(&value, sizeof(value));
}

static void put_double(double value)
{
	put(&value, sizeof(value));
}

static void expect(const char *format, const char *wanted)
{
	char text[1024];
	int error = posix_trace_text_np(format, data, len, 0, text, sizeof(text));

	PXT_CHECK(error == 0 && strcmp(text, wanted) == 0, "%s: error %d, \"%s\"", format, error,
	    error == 0 ? text : "");
}

/* QNX-32, QNX-33, QNX-34 */
PXT_TEST(conversions_take_the_fields_in_order)
{
	len = 0;
	put_u32(7);
	put_i16(-3);
	put_double(2.5);
	put("abc\0\0", 5);
	expect(
	    "u32 a, i16 b, double c, text[5] d; a=%u b=%d c=%.2f d=%s!", "a=7 b=-3 c=2.50 d=abc!");
	expect("u32 a, i16 b, double c, text[5] d; %5u|%-4d|%e|%.2s|%5s",
	    "    7|-3  |2.500000e+00|ab|%5s");
	expect("u32 a, i16 b, double c, text[5] d;%06u", "000007");
	expect("u32 a, i16 b, double c, text[5] d; 100 %% of %u", "100 % of 7");
	expect("u32 a, i16 b, double c, text d; %u %d %g %6s|", "7 -3 2.5    abc|");
	expect("u32 a, i16 b, double c, text d; %u %d %g %-6.1s|", "7 -3 2.5 a     |");
	expect("u32 a; no conversion", "no conversion");
	expect("u32 a;", "");
	expect("; alone", "alone");
}

/* %d of a 64-bit or an unsigned field shows its value, since the type is known. */
PXT_TEST(a_letter_only_says_how_a_field_is_shown)
{
	uint64_t large = UINT64_MAX;

	len = 0;
	put(&large, sizeof(large));
	put_i16(-1);
	expect("u64 a, i16 b; %d %u", "18446744073709551615 -1");
	expect("i64 a, i16 b; %llu %hhd", "-1 -1");
	expect("u64 a, i16 b; %x %X", "ffffffffffffffff FFFF");
	expect("x64 a, i16 b; %s %s", "0xffffffffffffffff -1");
	expect("x64 a, i16 b; %d %f", "18446744073709551615 -1.000000");
	expect("i64 a, x8 b, x8 c; %o %x %#x", "1777777777777777777777 ff 0xff");
	len = 0;
	put_u32('A');
	put_double(0.5);
	expect("u32 a, double b; %c %d", "A 0.5");
	expect("u32 a, double b; %s %s", "65 0.5");
	expect("u32 a, double b; %p %x", "65 0.5");
	len = 0;
	put_u32(UINT32_MAX);
	put_u32(UINT32_MAX - 1u);
	expect("i32 a, i32 b; %x %o", "ffffffff 37777777776");
}

PXT_TEST(an_unsigned_field_shown_as_a_floating_point_number_has_no_sign)
{
	uint64_t large = UINT64_C(1) << 63;

	len = 0;
	put(&large, sizeof(large));
	expect("u64 a; %.0f", "9223372036854775808");
	expect("x64 a; %.0f", "9223372036854775808");
	expect("i64 a; %.0f", "-9223372036854775808");
}

/* The form that the number is made with has room for each flag once, not for what a description holds. */
PXT_TEST(a_flag_that_is_repeated_counts_once)
{
	static const char flags[] = "-+ #0";

	for (const char *flag = flags; *flag != '\0'; flag++) {
		char format[200] = "u32 a; %";
		char once[16];
		char wanted[16] = "";

		len = 0;
		put_u32(7);
		(void)snprintf(once, sizeof(once), "u32 a; %%%c4d|", *flag);
		PXT_EQ_FATAL(posix_trace_text_np(once, data, len, 0, wanted, sizeof(wanted)), 0);
		memset(format + strlen(format), *flag, 100);
		(void)strcat(format, "4d|");
		expect(format, wanted);
	}
}

PXT_TEST(what_is_no_conversion_stays_as_it_is)
{
	len = 0;
	put_u32(1);
	expect("u32 a; %", "%");
	expect("u32 a; 5%, %y %u %!", "5%, %y 1 %!");
	expect("u32 a; %n %u", "%n 1");
	expect("u32 a; %999u", "%999u");
	expect("u32 a; %255u", /* the widest */
	    "                                                                                "
	    "                                                                                "
	    "                                                                                "
	    "              1");
	expect("u32 a; %*u %u", "%*u 1");
	expect("u32 a; %u %u", "1 %u");
}

PXT_TEST(a_field_that_was_cut_away_reads_as_a_question_mark)
{
	len = 0;
	put_u32(1);
	put_i16(2);
	expect("u32 a, u32 b, u32 c; %u, %u, %u, %u", "1, ?, ?, %u");
}

PXT_TEST(data_of_the_other_byte_order_is_turned)
{
	const uint32_t value = 0x01020304;
	const unsigned char *bytes = (const unsigned char *)&value;
	const unsigned char turned[4] = { bytes[3], bytes[2], bytes[1], bytes[0] };
	char text[32];

	PXT_EQ(posix_trace_text_np("x32 a; %x", turned, 4, 1, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "1020304");
}

PXT_TEST(a_text_is_cut_to_its_room_and_ends_in_nul)
{
	char text[8];

	len = 0;
	put_u32(123456);
	for (size_t room = 1; room <= sizeof(text); room++) {
		memset(text, 'x', sizeof(text));
		PXT_EQ(posix_trace_text_np("u32 a; n %u.", data, len, 0, text, room), 0);
		CU_ASSERT(strncmp(text, "n 123456.", room - 1) == 0);
		PXT_EQ(text[room - 1], '\0');
		PXT_CHECK(room == sizeof(text) || text[room] == 'x', "room %u", (unsigned)room);
	}
}

/* With a locale whose numbers have commas the text is the same. */
PXT_TEST(numbers_have_a_point_in_every_locale)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };

	len = 0;
	put_double(2.5);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)setlocale(LC_NUMERIC, names[i]);
	expect("double a; %.1f", "2.5");
	(void)setlocale(LC_NUMERIC, "C");
}
#endif
