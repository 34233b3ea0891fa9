/* SPDX-License-Identifier: MIT */
/* test_logdamage.c - short, damaged, foreign and hostile logs are refused, with place and reason. */
#include "suite.h"

#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The goldens that are changed here have this machine's byte order, whichever that is. */
/* The one with notes. */
static void read_notes(struct golden *golden)
{
	const uint16_t one = 1;
	unsigned char first;

	memcpy(&first, &one, 1);
	golden_read(golden, first == 1 ? "notes-le64" : "notes-be64");
}

static void put16(unsigned char *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put64(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* OPEN-E2, OPEN-06, DEC-29, DEC-30 */
PXT_TEST(a_log_cut_at_any_byte_is_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	unsigned taken = 0;

	golden_read(&golden, golden_native());
	for (size_t size = 0; size < golden.size; size++) {
		taken += golden_try(golden.bytes, size, &error) != EINVAL;
		taken += error.posix_offset_np > size || error.posix_reason_np[0] == '\0';
	}
	PXT_EQ(taken, 0);
}

/* OPEN-E2, OPEN-06, DEC-30 */
PXT_TEST(a_log_with_any_byte_changed_is_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	unsigned taken = 0;

	golden_read(&golden, golden_native());
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
	struct posix_trace_logerror_np error;
	struct golden golden;

	golden_read(&golden, golden_native());
	golden.bytes[golden.size] = 0;
	PXT_EQ(golden_try(golden.bytes, golden.size + 1, &error), EINVAL);
	PXT_EQ(error.posix_offset_np, golden.size);
	CU_ASSERT(strstr(error.posix_reason_np, "trailer") != NULL);
}

/* QNX-05 */
PXT_TEST(a_missing_and_a_doubled_block_are_noticed)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	struct golden changed;
	size_t first;
	size_t second;

	golden_read(&golden, golden_native());
	first = golden_block(&golden, PXT_LOG_DATA, 0);
	second = golden_block(&golden, PXT_LOG_CLOCKS, 0);
	memcpy(changed.bytes, golden.bytes, first);
	memcpy(changed.bytes + first, golden.bytes + second, golden.size - second);
	PXT_EQ(golden_try(changed.bytes, golden.size - (second - first), &error), EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "missing") != NULL);
	memcpy(changed.bytes, golden.bytes, second);
	memcpy(changed.bytes + second, golden.bytes + first, golden.size - first);
	PXT_EQ(golden_try(changed.bytes, golden.size + (second - first), &error), EINVAL);
	PXT_EQ(error.posix_offset_np, second);
}

PXT_TEST(a_block_of_another_stream_is_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	size_t at;

	golden_read(&golden, golden_native());
	at = golden_block(&golden, PXT_LOG_DATA, 1);
	golden.bytes[at + 24] ^= 1;
	golden_sign(&golden, at);
	PXT_EQ(golden_try(golden.bytes, golden.size, &error), EINVAL);
	PXT_EQ(error.posix_offset_np, at);
	CU_ASSERT(strstr(error.posix_reason_np, "another stream") != NULL);
}

/* LOGP-07, DEC-30 */
PXT_TEST(a_log_of_a_newer_major_version_names_the_reader_it_needs)
{
	struct posix_trace_logerror_np error;
	struct golden golden;

	golden_read(&golden, "newer-major");
	PXT_EQ(golden_try(golden.bytes, golden.size, &error), EINVAL);
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

static void put(unsigned char *at, const struct change *change)
{
	if (change->bytes == 1)
		*at = (unsigned char)change->value;
	else if (change->bytes == 2)
		put16(at, (uint16_t)change->value);
	else if (change->bytes == 4)
		put32(at, (uint32_t)change->value);
	else
		put64(at, change->value);
}

/* OPEN-06, DEC-30 */
PXT_TEST(impossible_numbers_in_the_head_are_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;

	for (unsigned i = 0; i < sizeof(head_changes) / sizeof(head_changes[0]); i++) {
		const struct change *change = &head_changes[i];

		golden_read(&golden, golden_native());
		put(golden.bytes + change->offset, change);
		golden_sign(&golden, 0);
		PXT_CHECK(golden_try(golden.bytes, golden.size, &error) == EINVAL,
		    "offset %u value %llx", change->offset, (unsigned long long)change->value);
		PXT_CHECK(strstr(error.posix_reason_np, change->reason) != NULL, "offset %u: %s",
		    change->offset, error.posix_reason_np);
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
	struct posix_trace_logerror_np error;
	struct golden golden;

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		golden_read(&golden, "loop-le64");
		put(golden.bytes + changes[i].offset, &changes[i]);
		golden_sign(&golden, 0);
		PXT_CHECK(golden_try(golden.bytes, golden.size, &error) == EINVAL, "row %u", i);
		PXT_CHECK(strstr(error.posix_reason_np, changes[i].reason) != NULL, "row %u: %s", i,
		    error.posix_reason_np);
	}
}

/* LOGP-01: the newest block, a round later: the numbers between are missing */
PXT_TEST(frames_whose_numbers_have_a_hole_are_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
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
	put64(golden.bytes + newest + 16, most + frames);
	golden_sign(&golden, newest);
	PXT_EQ(golden_try(golden.bytes, golden.size, &error), EINVAL);
	PXT_CHECK(
	    strstr(error.posix_reason_np, "consecutive") != NULL, "%s", error.posix_reason_np);
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
	struct posix_trace_logerror_np error;
	struct golden golden;

	for (unsigned i = 0; i < sizeof(block_changes) / sizeof(block_changes[0]); i++) {
		const struct change *change = &block_changes[i].change;
		size_t at;

		if (block_changes[i].type == PXT_LOG_NOTES)
			read_notes(&golden);
		else
			golden_read(&golden, golden_native());
		at = golden_block(&golden, block_changes[i].type, block_changes[i].which);
		put(golden.bytes + at + change->offset, change);
		if (change->offset != 8)
			golden_sign(&golden, at);
		PXT_CHECK(golden_try(golden.bytes, golden.size, &error) == EINVAL,
		    "type %u offset %u", block_changes[i].type, change->offset);
		PXT_CHECK(strstr(error.posix_reason_np, change->reason) != NULL,
		    "type %u offset %u: %s", block_changes[i].type, change->offset,
		    error.posix_reason_np);
		PXT_CHECK(error.posix_offset_np >= at, "type %u offset %u: place %llu",
		    block_changes[i].type, change->offset,
		    (unsigned long long)error.posix_offset_np);
	}
}

/* DEC-30 */
PXT_TEST(a_name_longer_than_the_reader_takes_is_refused)
{
	struct posix_trace_logerror_np error;
	struct golden golden;
	size_t at;

	golden_read(&golden, golden_native());
	at = golden_block(&golden, PXT_LOG_PROCESS, 0);
	/* The process' entry becomes one of a type: its text is zero bytes, which it may not hold. */
	put16(golden.bytes + at + 4, PXT_LOG_TYPES);
	put16(golden.bytes + at + 98, 40);
	put16(golden.bytes + at + 100, TRACE_EVENT_NAME_MAX + 1);
	put16(golden.bytes + at + 102, 0);
	memset(golden.bytes + at + 104, 'n', TRACE_EVENT_NAME_MAX + 1);
	golden_sign(&golden, at);
	PXT_EQ(golden_try(golden.bytes, golden.size, &error), EINVAL);
	CU_ASSERT(strstr(error.posix_reason_np, "longer") != NULL);
}

/* OPEN-E2, DEC-30, ERR-03, DEC-33 */
PXT_TEST(unusable_descriptors_are_refused_and_nothing_is_stored)
{
	struct posix_trace_logerror_np error;
	trace_id_t trid = 4242;
	struct golden golden;
	int pair[2];
	int fd;

	golden_read(&golden, golden_native());
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
