/* SPDX-License-Identifier: MIT */
/*
 * test_fields.c - descriptions of payloads: what they may say, and what they make of bytes; messages of events:
 * what conversions make of fields, and what has no message.
 */
#include "suite.h"

#include "base/fields.h"

#include <errno.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

static int check(const char *format)
{
	size_t bytes;

	return pxt_fields_check(format, &bytes);
}

PXT_TEST(well_formed_descriptions_are_taken)
{
	static const char *const good[] = { "u32 job, i64 late_ns", "u8 a", "  u8\ta ,u16 b,u32 c",
		"u8 a,u16 b,u32 c,u64 d,i8 e,i16 f,i32 g,i64 h,x8 i,x16 j,x32 k,x64 l",
		"float a, double b, f32 c, f64 d", "char[1] a", "text[16] a, char[4079] b",
		"text a", "string a", "u8 a, text b", "u8 _, u8 __, u8 _9", "u8 u8, u16 u16",
		"u8 abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
		"u32 job; u32 b", "u32 job ;any %s text, with everything; \n", "; text", ";",
		"text a; behind it" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		PXT_CHECK(check(good[i]) == 0, "%s", good[i]);
}

PXT_TEST(malformed_descriptions_are_refused)
{
	static const char *const bad[] = { "", " ", ",", "u32", "u32 ", "u32 job,", "u32 job, ",
		",u32 job", "u32 job,,u32 b", "u32 job u32 b", "u32 job,; u32 b", "u32; b", " ; b",
		"text a,; b", "u31 job", "U32 job", "u320 job", "u32job", "job u32 x", "u32 9job",
		"u32 jo-b", "u32 job[2]", "u32[2] job", "char a", "char[] a", "char[0] a",
		"char[4096] a", "char[99999999999] a", "char[-1] a", "char[4 a", "char[4]a",
		"char [4] a", "string[4] a", "text a, u8 b", "text a,", "text",
		"char[4000] a, char[96] b", "u8 a, u8 a", "u8 a, u8 b, u8 a", "u8 \xc3\xa4",
		"u32 job\n",
		"u8 abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		PXT_CHECK(check(bad[i]) == EINVAL, "%s", bad[i]);
}

PXT_TEST(the_longest_description_fits_and_one_byte_more_is_refused_unread)
{
	/* On the heap without a NUL: asan sees a read beyond the byte that decides. */
	char *format = malloc(POSIX_TRACE_FORMAT_MAX_NP + 1);
	size_t bytes = 0;

	memset(format, ' ', POSIX_TRACE_FORMAT_MAX_NP + 1);
	memcpy(format, "u8 a", 4);
	PXT_EQ(pxt_fields_check(format, &bytes), EINVAL);
	format[POSIX_TRACE_FORMAT_MAX_NP] = '\0';
	PXT_EQ(pxt_fields_check(format, &bytes), 0);
	PXT_EQ(bytes, POSIX_TRACE_FORMAT_MAX_NP + 1);
	free(format);
}

PXT_TEST(thirty_two_fields_fit_and_one_more_does_not)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1] = "u8 a0";
	size_t used = 5;

	for (int i = 1; i < POSIX_TRACE_FIELDS_MAX_NP; i++)
		used += (size_t)snprintf(format + used, sizeof(format) - used, ",u8 a%d", i);
	PXT_EQ(check(format), 0);
	snprintf(format + used, sizeof(format) - used, ",u8 b");
	PXT_EQ(check(format), EINVAL);
}

static const char every_kind[] = "u8 a, i8 b, x16 c, i16 d, u32 e, i32 f, u64 g, i64 h, float i, "
                                 "double j, char[4] k, text l";

struct __attribute__((packed)) every_kind {
	uint8_t a;
	int8_t b;
	uint16_t c;
	int16_t d;
	uint32_t e;
	int32_t f;
	uint64_t g;
	int64_t h;
	float i;
	double j;
	char k[4];
	char l[5];
};

static const struct every_kind values = { 200, -3, 0xbeef, -300, 4000000000u, -2000000000,
	UINT64_C(0xfedcba9876543210), INT64_MIN, 0.5f, -1e300, { 'a', 'b', 0, 0 },
	{ 'h', 'e', 'l', 'l', 'o' } };

static void turn_bytes(unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		unsigned char byte = bytes[i];

		bytes[i] = bytes[count - 1 - i];
		bytes[count - 1 - i] = byte;
	}
}

static void expect_values(const unsigned char *data, int swapped)
{
	struct posix_trace_field_np f[13];
	size_t cursor = 0;

	for (int i = 0; i < 12; i++)
		PXT_EQ_FATAL(posix_trace_field_next_np(every_kind, data, sizeof(values), swapped,
		                 &cursor, &f[i], sizeof(f[i])),
		    0);
	PXT_EQ(posix_trace_field_next_np(
	           every_kind, data, sizeof(values), swapped, &cursor, &f[12], sizeof(f[12])),
	    ENOENT);
	CU_ASSERT_STRING_EQUAL(f[0].posix_name_np, "a");
	PXT_EQ(f[0].posix_kind_np, POSIX_TRACE_FIELD_UNSIGNED_NP);
	PXT_EQ(f[0].posix_value_np.posix_u_np, 200);
	PXT_EQ(f[1].posix_kind_np, POSIX_TRACE_FIELD_SIGNED_NP);
	PXT_EQ(f[1].posix_value_np.posix_i_np, -3);
	PXT_EQ(f[2].posix_kind_np, POSIX_TRACE_FIELD_HEX_NP);
	PXT_EQ(f[2].posix_value_np.posix_u_np, 0xbeef);
	PXT_EQ(f[3].posix_value_np.posix_i_np, -300);
	PXT_EQ(f[4].posix_value_np.posix_u_np, 4000000000u);
	PXT_EQ(f[5].posix_value_np.posix_i_np, -2000000000);
	CU_ASSERT(f[6].posix_value_np.posix_u_np == UINT64_C(0xfedcba9876543210));
	CU_ASSERT(f[7].posix_value_np.posix_i_np == INT64_MIN);
	PXT_EQ(f[8].posix_kind_np, POSIX_TRACE_FIELD_FLOAT_NP);
	CU_ASSERT(f[8].posix_value_np.posix_f_np == 0.5);
	CU_ASSERT(f[9].posix_value_np.posix_f_np == (double)-1e300);
	PXT_EQ(f[10].posix_kind_np, POSIX_TRACE_FIELD_TEXT_NP);
	PXT_EQ(f[10].posix_bytes_np, 2);
	PXT_EQ(f[10].posix_offset_np, offsetof(struct every_kind, k));
	PXT_EQ(f[11].posix_bytes_np, 5);
	PXT_EQ(f[11].posix_offset_np, offsetof(struct every_kind, l));
	CU_ASSERT_STRING_EQUAL(f[11].posix_name_np, "l");
}

/* TEV-09 */
PXT_TEST(every_kind_of_field_is_read)
{
	expect_values((const unsigned char *)&values, 0);
}

PXT_TEST(data_of_the_other_byte_order_is_turned)
{
	struct every_kind other = values;

	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, c), 2);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, d), 2);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, e), 4);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, f), 4);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, g), 8);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, h), 8);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, i), 4);
	turn_bytes((unsigned char *)&other + offsetof(struct every_kind, j), 8);
	expect_values((const unsigned char *)&other, 1);
}

/* Whatever the length of the data, fields are whole or missing, and no byte beyond is read. */
PXT_TEST(data_that_ends_early_ends_the_walk)
{
	static const uint32_t ends[] = { 1, 2, 4, 6, 10, 14, 22, 30, 34, 42, 46 };

	for (size_t len = 0; len <= sizeof(values); len++) {
		unsigned char *data = malloc(len ? len : 1);
		struct posix_trace_field_np field;
		size_t cursor = 0;
		unsigned count = 0, want = 0;
		int error;

		memcpy(data, &values, len);
		while ((error = posix_trace_field_next_np(
		            every_kind, data, len, 0, &cursor, &field, sizeof(field))) == 0)
			count++;
		while (want < 11 && ends[want] <= len)
			want++;
		/* The trailing text may be empty. */
		want += want == 11;
		PXT_EQ(error, ENOENT);
		PXT_EQ(count, want);
		free(data);
	}
}

PXT_TEST(a_trailing_text_is_the_rest_of_the_data)
{
	struct posix_trace_field_np field;
	char big[5000];
	size_t cursor = 0;

	memset(big, 'x', sizeof(big));
	PXT_EQ(
	    posix_trace_field_next_np("string s", big, 4095, 0, &cursor, &field, sizeof(field)), 0);
	PXT_EQ(field.posix_bytes_np, 4095);
	PXT_EQ(posix_trace_field_next_np("string s", big, 4095, 0, &cursor, &field, sizeof(field)),
	    ENOENT);
	cursor = 0;
	memset(big + 10, 0, 10);
	PXT_EQ(posix_trace_field_next_np("text s", big, 20, 0, &cursor, &field, sizeof(field)), 0);
	PXT_EQ(field.posix_bytes_np, 10);
	cursor = 0;
	PXT_EQ(posix_trace_field_next_np("text s", NULL, 0, 0, &cursor, &field, sizeof(field)), 0);
	PXT_EQ(field.posix_bytes_np, 0);
}

/* A description that was taken apart says of each event's data what a walk of it says. */
PXT_TEST(fields_taken_apart_once_say_what_a_walk_says)
{
	static const char format[] =
	    "u8 a, i16 b, x32 c, float d, double e, char[4] f, i64 g, text h; %u";
	static const unsigned char data[] = "\x80\xfe\xff\x01\x02\x03\x04\x00\x00\x80\x3f"
	                                    "\x00\x00\x00\x00\x00\x00\xf0\x3f"
	                                    "ab\0\0\xff\xff\xff\xff\xff\xff\xff\xffrest\0";
	struct posix_trace_field_np fields[POSIX_TRACE_FIELDS_MAX_NP];
	struct posix_trace_field_np field;
	struct posix_trace_field_np value;
	size_t count = 0;
	unsigned differ = 0;

	PXT_EQ_FATAL(posix_trace_fields_np(format, fields, sizeof(*fields), 2, &count), 0);
	PXT_EQ_FATAL(count, 8);
	PXT_EQ_FATAL(posix_trace_fields_np(format, fields, sizeof(*fields), count, &count), 0);
	for (size_t length = 0; length <= sizeof(data); length++) {
		for (int swapped = 0; swapped < 2; swapped++) {
			size_t cursor = 0;
			size_t at = 0;

			for (; posix_trace_field_next_np(format, data, length, swapped, &cursor,
			           &field, sizeof(field)) == 0;
			     at++) {
				value = fields[at];
				differ += posix_trace_field_value_np(&fields[at], data, length,
				              swapped, &value, sizeof(value)) != 0 ||
				          memcmp(&value, &field, sizeof(field)) != 0;
			}
			if (at < count)
				differ += posix_trace_field_value_np(&fields[at], data, length,
				              swapped, &value, sizeof(value)) != ENOENT;
		}
	}
	PXT_EQ(differ, 0);
}

/* A simple generator of nearly right texts: no fault, and what is taken can be walked. */
PXT_TEST(random_texts_do_no_harm)
{
	static const char *const parts[] = { "u8", "i64", "text", "char", "[4]", "[", "]", " ", ",",
		"a", "b", "string", "9", "float", "_", "\t" };
	uint32_t seed = 12345;
	unsigned taken = 0, wrong = 0;

	for (int i = 0; i < 200000; i++) {
		char format[64] = "";
		struct posix_trace_field_np field;
		size_t cursor = 0;
		int error;

		for (unsigned n = seed >> 28; n > 0; n--) {
			seed = seed * 1664525u + 1013904223u;
			strcat(format, parts[seed >> 20 & 15u]);
			if (strlen(format) > 50)
				break;
		}
		seed = seed * 1664525u + 1013904223u;
		error = check(format);
		taken += error == 0;
		while (posix_trace_field_next_np(
		           format, "0123456789", 10, 0, &cursor, &field, sizeof(field)) == 0)
			wrong += error != 0;
	}
	PXT_EQ(wrong, 0);
	CU_ASSERT(taken > 100);
}

/* ---- Messages of events ---- */

#define HAVE_TEXTS ((_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL)

#if HAVE_TEXTS

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

PXT_TEST(messages_of_the_other_byte_order_are_turned)
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
