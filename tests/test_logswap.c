/* SPDX-License-Identifier: MIT */
/* test_logswap.c - data of a machine of the other byte order is turned round up to its last byte. */
#include "suite.h"

#include "logretrieval/log.h"

#include <string.h>

#define TYPE  40u
#define BYTES 24u

static struct pxt_log reader;
static struct pxt_log_name type;

/* Turns @bytes of 0, 1, 2 ...; what is after them is compared, too. */
static void expect_turned(
    uint32_t id, const char *format, uint32_t bytes, const unsigned char (*want)[BYTES])
{
	unsigned char data[BYTES];

	for (unsigned i = 0; i < BYTES; i++)
		data[i] = (unsigned char)i;
	(void)strcpy(type.format, format);
	reader.names[TYPE] = &type;
	pxt_log_swap_data(&reader, id, data, bytes);
	for (unsigned i = 0; i < BYTES; i++)
		PXT_CHECK(data[i] == (*want)[i], "%s of %u bytes: byte %u is %u, not %u", format,
		    (unsigned)bytes, i, data[i], (*want)[i]);
}

static const unsigned char as_it_was[BYTES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23 };

PXT_TEST(words_of_the_system_are_turned_while_they_are_whole)
{
	static const unsigned char one[BYTES] = { 3, 2, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const unsigned char two[BYTES] = { 3, 2, 1, 0, 7, 6, 5, 4, 8, 9, 10, 11, 12, 13, 14,
		15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const uint32_t ids[] = { POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER,
		POSIX_TRACE_ERROR };

	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		expect_turned(ids[i], "", 3, &as_it_was);
		expect_turned(ids[i], "", 4, &one);
		expect_turned(ids[i], "", 7, &one);
		expect_turned(ids[i], "", 8, &two);
	}
}

PXT_TEST(a_field_that_the_data_ends_in_stays_and_so_does_what_is_behind_the_data)
{
	static const unsigned char first[BYTES] = { 7, 6, 5, 4, 3, 2, 1, 0, 8, 9, 10, 11, 12, 13,
		14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };
	static const unsigned char both[BYTES] = { 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10,
		9, 8, 16, 17, 18, 19, 20, 21, 22, 23 };

	expect_turned(TYPE, "u64 a, u64 b", 7, &as_it_was);
	expect_turned(TYPE, "u64 a, u64 b", 8, &first);
	expect_turned(TYPE, "u64 a, u64 b", 10, &first);
	expect_turned(TYPE, "u64 a, u64 b", 15, &first);
	expect_turned(TYPE, "u64 a, u64 b", 16, &both);
	expect_turned(TYPE, "u64 a, u64 b", 20, &both);
}

PXT_TEST(text_and_types_without_a_description_stay)
{
	static const unsigned char around[BYTES] = { 1, 0, 2, 3, 4, 5, 9, 8, 7, 6, 10, 11, 12, 13,
		14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };

	expect_turned(TYPE, "u16 a, text[4] t, u32 b", 12, &around);
	expect_turned(TYPE, "u16 a, text[4] t, u32 b, text s", 20, &around);
	expect_turned(TYPE, "", 16, &as_it_was);
	expect_turned(TYPE + 1, "u64 a", 16, &as_it_was);
}
