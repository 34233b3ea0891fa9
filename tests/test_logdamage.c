/* SPDX-License-Identifier: MIT */
/* test_logdamage.c - short, damaged, foreign and hostile logs are refused, with place and reason. */
#include "suite.h"

#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static struct golden golden;
static struct posix_trace_logerror_np error;

/* The goldens that are changed here have this machine's byte order, whichever that is. */
static void begin(void)
{
	golden_read(&golden, golden_native());
}

/* Opening or reading it ends with EINVAL, and the reason has this word in it. */
static void expect_refused_at(const char *reason, const char *of, unsigned row, int line)
{
	pxt_check(golden_try(golden.bytes, golden.size, &error) == EINVAL, line, __FILE__,
	    "%s, row %u: taken", of, row);
	pxt_check(strstr(error.posix_reason_np, reason) != NULL, line, __FILE__, "%s, row %u: %s",
	    of, row, error.posix_reason_np);
}
#define EXPECT_REFUSED(reason) expect_refused_at(reason, "the log", 0, __LINE__)

/* OPEN-E2, OPEN-06, DEC-29, DEC-30 */
PXT_TEST(a_log_cut_at_any_byte_is_refused)
{
	unsigned taken = 0;

	begin();
	for (size_t size = 0; size < golden.size; size++) {
		taken += golden_try(golden.bytes, size, &error) != EINVAL;
		taken += error.posix_offset_np > size || error.posix_reason_np[0] == '\0';
	}
	PXT_EQ(taken, 0);
}

/* OPEN-E2, OPEN-06, DEC-30 */
PXT_TEST(a_log_with_any_byte_changed_is_refused)
{
	unsigned taken = 0;

	begin();
	for (size_t at = 0; at < golden.size; at++) {
		golden.bytes[at] ^= (unsigned char)(1u << at % 8);
		taken += golden_try(golden.bytes, golden.size, &error) != EINVAL;
		golden.bytes[at] ^= (unsigned char)(1u << at % 8);
	}
	PXT_EQ(taken, 0);
}

/* OPEN-06 */
PXT_TEST(bytes_behind_the_trailer_are_refused)
{
	begin();
	golden.bytes[golden.size++] = 0;
	EXPECT_REFUSED("trailer");
	PXT_EQ(error.posix_offset_np, golden.size - 1);
}

/* QNX-05 */
PXT_TEST(a_missing_and_a_doubled_block_are_noticed)
{
	size_t first;
	size_t second;

	begin();
	first = golden_block(&golden, PXT_LOG_DATA, 0);
	second = golden_block(&golden, PXT_LOG_CLOCKS, 0);
	golden_cut(&golden, first, second);
	EXPECT_REFUSED("missing");
	begin();
	golden_double(&golden, first, second);
	EXPECT_REFUSED("");
	PXT_EQ(error.posix_offset_np, second);
}

PXT_TEST(a_block_of_another_stream_is_refused)
{
	size_t at;

	begin();
	at = golden_block(&golden, PXT_LOG_DATA, 1);
	golden.bytes[at + 24] ^= 1;
	golden_sign(&golden, at);
	EXPECT_REFUSED("another stream");
	PXT_EQ(error.posix_offset_np, at);
}

/* LOGP-07, DEC-30 */
PXT_TEST(a_log_of_a_newer_major_version_names_the_reader_it_needs)
{
	golden_read(&golden, "newer-major");
	EXPECT_REFUSED("format");
	CU_ASSERT_STRING_EQUAL(error.posix_reason_np,
	    "the log needs a reader of format 2.2 or newer; this one reads 2.1");
}

/* A number in the head, outside its bounds, with a checksum that is right. */
struct change {
	unsigned offset;
	unsigned bytes;
	uint64_t value;
	const char *reason; /* a word of it */
};

static const struct change head_changes[] = {
	{ 8, 4, 0, "order mark" },
	{ 20, 1, 2, "pointers" },
	{ 21, 1, 7, "context" },
	{ 22, 1, 32, "slots" },
	{ 23, 1, 3, "layout" },
	{ 24, 4, 256, "head" },
	{ 24, 4, 0xfffffff0u, "head" },
	{ 56, 8, 0, "rate" },
	{ 56, 8, UINT64_MAX, "rate" },
	{ 72, 8, UINT64_MAX, "time" },
	{ 80, 4, 1000000000, "time" },
	{ 120, 4, 0, "largest block" },
	{ 120, 4, 0x7fffffff, "largest block" },
	{ 124, 4, 130, "event sets" },
	{ 124, 4, 4096, "event sets" },
	{ 152, 4, 0, "policy" },
	{ 156, 4, 3, "policy" },
	{ 160, 4, 9, "policy" },
	{ 184, 8, 1u << 20, "size" },
	{ 200, 8, UINT64_MAX, "time" },
	{ 220, 4, 1000000000, "time" },
	{ 224, 4, UINT32_MAX, "size" },
};

static void put(size_t at, const struct change *change)
{
	golden_put(&golden, at + change->offset, change->bytes, change->value);
}

/* OPEN-06, DEC-30 */
PXT_TEST(impossible_numbers_in_the_head_are_refused)
{
	for (unsigned i = 0; i < sizeof(head_changes) / sizeof(head_changes[0]); i++) {
		begin();
		put(0, &head_changes[i]);
		golden_sign(&golden, 0);
		expect_refused_at(head_changes[i].reason, "the head", i, __LINE__);
	}
}

/* OPEN-06 */
PXT_TEST(impossible_frames_are_refused)
{
	static const struct change changes[] = {
		{ 128, 8, 512 - 16, "first frame" },
		{ 128, 8, UINT64_MAX - 15, "first frame" },
		{ 128, 8, 1025, "first frame" },
		{ 136, 4, 96, "frames" },
		{ 136, 4, 4096, "frames" },
		{ 136, 4, 520, "frames" },
		{ 140, 4, 0, "frames" },
		{ 140, 4, UINT32_MAX, "" },
	};

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		golden_read(&golden, "loop-le64");
		put(0, &changes[i]);
		golden_sign(&golden, 0);
		expect_refused_at(changes[i].reason, "frames", i, __LINE__);
	}
}

/* LOGP-01: the newest block, a round later: the numbers between are missing */
PXT_TEST(frames_whose_numbers_have_a_hole_are_refused)
{
	uint32_t bytes;
	uint32_t frames;
	uint64_t first;
	uint64_t number;
	size_t newest = 0;
	uint64_t most = 0;

	golden_read(&golden, "loop-le64");
	memcpy(&first, golden.bytes + 128, 8);
	memcpy(&bytes, golden.bytes + 136, 4);
	memcpy(&frames, golden.bytes + 140, 4);
	for (uint32_t i = 0; i < frames; i++) {
		memcpy(&number, golden.bytes + first + (size_t)i * bytes + 16, 8);
		if (number >= most) {
			most = number;
			newest = (size_t)first + (size_t)i * bytes;
		}
	}
	golden_put(&golden, newest + 16, 8, most + frames);
	golden_sign(&golden, newest);
	EXPECT_REFUSED("consecutive");
}

/* In a block: its type and number, and the offset in it. */
static const struct {
	unsigned type;
	unsigned which;
	struct change change;
} block_changes[] = {
	{ PXT_LOG_DATA, 0, { 8, 4, 0, "length" } },
	{ PXT_LOG_DATA, 0, { 8, 4, 95, "length" } },
	{ PXT_LOG_DATA, 0, { 8, 4, 4096, "length" } },
	{ PXT_LOG_DATA, 0, { 8, 4, 0xfffffff0u, "length" } },
	{ PXT_LOG_DATA, 0, { 12, 4, 4, "as many records" } },
	{ PXT_LOG_DATA, 0, { 56, 8, 4, "as many losses" } },
	{ PXT_LOG_DATA, 0, { 96, 4, 0, "record" } },
	{ PXT_LOG_DATA, 0, { 96, 4, 0x80000001u, "record" } },
	{ PXT_LOG_DATA, 0, { 100, 4, 0, "record" } },
	{ PXT_LOG_DATA, 0, { 100, 4, 29 | 128 << 10, "record" } },
	{ PXT_LOG_DATA, 0, { 100, 4, 2 | 4095 << 10, "record" } },
	{ PXT_LOG_DATA, 0, { 112, 4, 1, "record" } },
	{ PXT_LOG_DATA, 1, { 16, 8, 7, "missing" } },
	{ PXT_LOG_TYPES, 0, { 12, 4, 99, "entr" } },
	{ PXT_LOG_TYPES, 0, { 96, 2, 0, "entry" } },
	{ PXT_LOG_TYPES, 0, { 96, 2, 12, "entry" } },
	{ PXT_LOG_TYPES, 0, { 96, 2, 0xfff8, "entry" } },
	{ PXT_LOG_TYPES, 0, { 98, 2, 0, "number" } },
	{ PXT_LOG_TYPES, 0, { 98, 2, 1024, "number" } },
	{ PXT_LOG_TYPES, 0, { 100, 2, 200, "fit" } },
	{ PXT_LOG_TYPES, 0, { 102, 2, 256, "fit" } },
	{ PXT_LOG_TYPES, 0, { 104, 1, 0, "zero byte" } },
	{ PXT_LOG_TYPES, 1, { 98, 2, 33, "two names" } },
	{ PXT_LOG_THREADS, 0, { 98, 2, 0, "index 0" } },
	{ PXT_LOG_THREADS, 0, { 96, 2, 40, "entry" } },
	{ PXT_LOG_PROCESS, 0, { 104, 8, UINT64_MAX, "time" } },
	{ PXT_LOG_PROCESS, 0, { 96 + 279, 1, 'x', "no end" } },
	{ PXT_LOG_MODULES, 0, { 98, 2, 256, "fit" } },
	{ PXT_LOG_MODULES, 0, { 100, 2, 33, "fit" } },
	{ PXT_LOG_NOTES, 0, { 96, 2, 0, "entry" } },
	{ PXT_LOG_NOTES, 0, { 98, 2, 0, "fit" } },
	{ PXT_LOG_NOTES, 0, { 98, 2, 64, "fit" } },
	{ PXT_LOG_NOTES, 0, { 98, 2, 30, "fit" } },
	{ PXT_LOG_NOTES, 0, { 100, 2, 256, "fit" } },
	{ PXT_LOG_NOTES, 0, { 104, 1, 0, "zero byte" } },
	{ PXT_LOG_NOTES, 0, { 109, 1, 0, "zero byte" } },
	{ PXT_LOG_CLOCKS, 0, { 112, 8, UINT64_MAX, "time" } },
	{ PXT_LOG_TRAILER, 0, { 96 + 88, 8, 3, "lost blocks" } },
	{ PXT_LOG_TRAILER, 0, { 96 + 96, 8, 3, "lost blocks" } },
	{ PXT_LOG_TRAILER, 0, { 96 + 112, 8, UINT64_MAX, "time" } },
	{ PXT_LOG_TRAILER, 0, { 96 + 160, 4, 77, "policy" } },
};

/* OPEN-06, DEC-30 */
PXT_TEST(impossible_numbers_in_a_block_are_refused_where_they_stand)
{
	for (unsigned i = 0; i < sizeof(block_changes) / sizeof(block_changes[0]); i++) {
		const struct change *change = &block_changes[i].change;
		size_t at;

		begin();
		if (block_changes[i].type == PXT_LOG_NOTES)
			golden_read(&golden, golden_little_endian() ? "notes-le64" : "notes-be64");
		at = golden_block(&golden, block_changes[i].type, block_changes[i].which);
		put(at, change);
		if (change->offset != 8)
			golden_sign(&golden, at);
		expect_refused_at(change->reason, "a block", i, __LINE__);
		PXT_CHECK(error.posix_offset_np >= at, "row %u: place %llu", i,
		    (unsigned long long)error.posix_offset_np);
	}
}

/* DEC-30 */
PXT_TEST(a_name_longer_than_the_reader_takes_is_refused)
{
	size_t at;

	begin();
	at = golden_block(&golden, PXT_LOG_PROCESS, 0);
	/* The process' entry becomes one of a type: its text is zero bytes, which it may not hold. */
	golden_put(&golden, at + 4, 2, PXT_LOG_TYPES);
	golden_put(&golden, at + 98, 2, 40);
	golden_put(&golden, at + 100, 2, TRACE_EVENT_NAME_MAX + 1);
	golden_put(&golden, at + 102, 2, 0);
	memset(golden.bytes + at + 104, 'n', TRACE_EVENT_NAME_MAX + 1);
	golden_sign(&golden, at);
	EXPECT_REFUSED("longer");
}

/* OPEN-E2, DEC-30, ERR-03, DEC-33 */
PXT_TEST(unusable_descriptors_are_refused_and_nothing_is_stored)
{
	trace_id_t trid = 4242;
	int pair[2];
	int fd;

	begin();
	PXT_EQ(posix_trace_open(-1, &trid), EINVAL);
	PXT_EQ(posix_trace_open(1 << 20, &trid), EINVAL);
	fd = open("/tmp", O_RDONLY);
	PXT_EQ(posix_trace_log_open_np(&fd, 1, 0, &trid, &error, sizeof(error)), EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "regular file") != NULL);
	(void)close(fd);
	fd = open("/dev/null", O_WRONLY);
	PXT_EQ(posix_trace_log_open_np(&fd, 1, 0, &trid, &error, sizeof(error)), EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "reading") != NULL);
	(void)close(fd);
	CU_ASSERT_FATAL(pipe(pair) == 0);
	CU_ASSERT(write(pair[1], golden.bytes, golden.size) == (ssize_t)golden.size);
	PXT_EQ(posix_trace_open(pair[0], &trid), EINVAL);
	PXT_EQ(posix_trace_log_open_np(&pair[0], 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0),
	    EINVAL);
	(void)close(pair[0]);
	(void)close(pair[1]);
	CU_ASSERT(trid == 4242);
}
