/* SPDX-License-Identifier: MIT */
/* test_logcheck.c - posix_trace_log_check_np() tells sound logs from cut, damaged and lying ones. */
#include "suite.h"

#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FINDINGS 8

static struct golden golden;
static struct posix_trace_logcheck_np sum;
static struct posix_trace_logfinding_np findings[FINDINGS];

/* Of the log that @fd is: the sums, and up to @room findings. */
static int check_file(int fd, unsigned room)
{
	return posix_trace_log_check_np(
	    fd, &sum, sizeof(sum), room ? findings : NULL, sizeof(*findings), room, NULL, NULL);
}

static int check(void)
{
	int fd = golden_file(golden.bytes, golden.size);
	int error = check_file(fd, FINDINGS);

	CU_ASSERT(close(fd) == 0);
	return error;
}

static void expect_at(const char *expected, const char *of, int line)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ sum.posix_records_np, "records" },
		{ sum.posix_told_np, "told" },
		{ sum.posix_suspect_np, "suspect" },
		{ sum.posix_torn_np, "torn" },
		{ sum.posix_orphans_np, "orphans" },
		{ sum.posix_unnamed_np, "unnamed" },
		{ sum.posix_damaged_np, "damaged" },
		{ sum.posix_missing_np, "missing" },
		{ sum.posix_skipped_np, "skipped" },
		{ sum.posix_findings_np, "findings" },
		{ !sum.posix_complete_np, "end missing" },
	};
	char got[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].count)
			used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%llu %s",
			    used ? ", " : "", (unsigned long long)parts[i].count, parts[i].what);
	pxt_check(strcmp(got, expected) == 0, line, __FILE__, "%s: \"%s\", expected \"%s\"", of,
	    got, expected);
}

/* Checks the log, and compares what is not zero of the sums: "9 records, 1 damaged, 1 findings". */
#define EXPECT(expected)                                                                           \
	do {                                                                                       \
		PXT_EQ(check(), 0);                                                                \
		expect_at(expected, "the log", __LINE__);                                          \
	} while (0)

/* The first finding. */
static void expect_finding(int kind, size_t at, const char *text)
{
	PXT_EQ(findings[0].posix_kind_np, kind);
	PXT_EQ(findings[0].posix_offset_np, at);
	PXT_CHECK(
	    strstr(findings[0].posix_reason_np, text) != NULL, "%s", findings[0].posix_reason_np);
}

static void begin(void)
{
	golden_read(&golden, golden_native());
}

static size_t data_block(unsigned which)
{
	return golden_block(&golden, PXT_LOG_DATA, which);
}

static uint32_t get_word(size_t at)
{
	uint32_t word;

	memcpy(&word, golden.bytes + at, sizeof(word));
	return word;
}

/* ---- Sound logs ---- */

struct watched {
	unsigned calls;
	uint64_t at[64];
};

static void watch(uint64_t done, void *context)
{
	struct watched *watched = context;

	if (watched->calls < 64)
		watched->at[watched->calls] = done;
	watched->calls++;
}

PXT_TEST(who_watches_a_check_sees_it_come_to_each_block)
{
	static const char *const names[] = { "le64", "loop-le64" };

	for (unsigned i = 0; i < 2; i++) {
		struct watched watched = { 0 };
		int fd;

		golden_read(&golden, names[i]);
		fd = golden_file(golden.bytes, golden.size);
		PXT_EQ(posix_trace_log_check_np(fd, &sum, sizeof(sum), findings, sizeof(*findings),
		           FINDINGS, watch, &watched),
		    0);
		PXT_EQ(watched.calls, sum.posix_sound_np);
		for (unsigned k = 1; k < watched.calls && k < 64; k++)
			CU_ASSERT(watched.at[k] > watched.at[k - 1]);
		CU_ASSERT(watched.at[0] >= 512 && watched.at[watched.calls - 1] < golden.size);
		PXT_EQ(check_file(fd, 0), 0);
		CU_ASSERT(close(fd) == 0);
	}
}

/* Either byte order, either word size, both layouts, after a clear, of a later minor version. */
PXT_TEST(sound_logs_have_no_findings)
{
	static const char *const logs[][2] = {
		{ "le64", "9 records, 6 told" },
		{ "be64", "9 records, 6 told" },
		{ "le32", "9 records, 6 told" },
		{ "be32", "9 records, 6 told" },
		{ "boot-le64", "9 records, 6 told" },
		{ "boot-be64", "9 records, 6 told" },
		{ "machine-le64", "9 records, 6 told" },
		{ "machine-be64", "9 records, 6 told" },
		{ "newer-minor", "9 records, 6 told" },
		{ "coded-le64", "9 records, 6 told" },
		{ "coded-be32", "9 records, 6 told" },
		{ "sealed-le64", "9 records, 6 told" },
		{ "sealed-be32", "9 records, 6 told" },
		{ "cleared", "2 records, 4 told" },
		{ "loop-le64", "6 records" },
		{ "loop-be32", "6 records" },
		{ "loop-short", "4 records, 10 told" },
		{ "loop-empty", "" },
	};

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		golden_read(&golden, logs[i][0]);
		PXT_EQ(check(), 0);
		expect_at(logs[i][1], logs[i][0], __LINE__);
		PXT_EQ(sum.posix_bytes_np, golden.size);
	}
}

/* ---- Damage ---- */

/* What posix_trace_open() refuses, and more. */
PXT_TEST(a_log_with_any_byte_changed_has_a_finding)
{
	static const char *const names[] = { "le64", "be32", "loop-le64" };

	for (unsigned i = 0; i < 3; i++) {
		golden_read(&golden, names[i]);
		for (size_t at = 0; at < golden.size; at += i ? 7 : 1) {
			struct posix_trace_logerror_np error;
			int result;

			golden.bytes[at] ^= (unsigned char)(1u << at % 8);
			result = check();
			PXT_CHECK(sum.posix_findings_np != 0 ||
			              golden_try(golden.bytes, golden.size, &error) == 0,
			    "%s: byte %zu", names[i], at);
			PXT_CHECK(result == 0 || at < 20, "%s: byte %zu: no log", names[i], at);
			golden.bytes[at] ^= (unsigned char)(1u << at % 8);
		}
	}
}

PXT_TEST(a_log_cut_at_any_byte_lacks_its_end_and_nothing_else)
{
	size_t whole;

	begin();
	whole = golden.size;
	for (golden.size = 512; golden.size < whole; golden.size++) {
		PXT_EQ(check(), 0);
		CU_ASSERT(sum.posix_findings_np >= 1 && sum.posix_complete_np == 0);
		PXT_CHECK(sum.posix_damaged_np == 0 && sum.posix_missing_np == 0, "cut at %zu: %s",
		    golden.size, findings[0].posix_reason_np);
		for (unsigned k = 0; k < sum.posix_findings_np; k++)
			PXT_CHECK(findings[k].posix_kind_np == POSIX_TRACE_FINDING_END_NP ||
			              findings[k].posix_kind_np == POSIX_TRACE_FINDING_TYPE_NP,
			    "cut at %zu: %s", golden.size, findings[k].posix_reason_np);
	}
}

/* It is damaged, not missing; and the rest is whole. */
PXT_TEST(what_is_behind_a_damaged_block_is_looked_at)
{
	uint64_t sound;

	begin();
	EXPECT("9 records, 6 told");
	sound = sum.posix_sound_np;
	golden.bytes[data_block(0) + 100] ^= 1;
	EXPECT("4 records, 1 told, 5 suspect, 1 damaged, 1 findings");
	PXT_EQ(sum.posix_sound_np, sound - 1);
	expect_finding(POSIX_TRACE_FINDING_DAMAGE_NP, data_block(0), "checksum");
}

PXT_TEST(a_length_that_leads_astray_costs_one_block)
{
	uint64_t sound;

	begin();
	PXT_EQ(check(), 0);
	sound = sum.posix_sound_np;
	golden.bytes[data_block(0) + 8] ^= 0x10;
	PXT_EQ(check(), 0);
	PXT_EQ(sum.posix_damaged_np, 1);
	PXT_EQ(sum.posix_sound_np, sound - 1);
}

/*
 * TEV-06: a begin slot where a continuation belongs, and a continuation where a begin slot belongs.  The first
 * record is START with 1 + (8 + 128) / 12 slots, of which the fifth is changed; the other four records of its
 * block look whole, and the second block's four are.
 */
PXT_TEST(torn_and_orphan_slots_are_counted)
{
	size_t fifth;

	/* It becomes no slot; of the continuations behind it all bytes are zero. */
	begin();
	fifth = data_block(0) + 96 + (size_t)4 * 16;
	golden.bytes[fifth] = 1;
	EXPECT("4 records, 1 told, 4 suspect, 1 torn, 1 orphans, 1 damaged, 1 findings");
	begin();
	golden_put(&golden, fifth, 4, 0x80000000u);
	EXPECT("4 records, 1 told, 5 suspect, 1 torn, 1 damaged, 1 findings");
	/* A slot that belongs to nothing is no record, whatever type its second word would name. */
	begin();
	golden.bytes[fifth] = 1;
	golden_put(&golden, fifth + 4, 4, 32);
	EXPECT("4 records, 1 told, 4 suspect, 1 torn, 1 orphans, 1 damaged, 1 findings");
}

PXT_TEST(a_record_that_its_damaged_block_ends_in_is_torn)
{
	uint64_t suspect;
	size_t last = 0;
	bool was_record;

	begin();
	for (size_t at = data_block(0) + 96; at < data_block(0) + get_word(data_block(0) + 8);
	     at += 16)
		if (get_word(at) == 0x80000000u)
			last = at;
	CU_ASSERT_FATAL(last != 0);
	golden.bytes[data_block(0) + 100] ^= 1; /* the checksum is wrong already */
	PXT_EQ(check(), 0);
	PXT_EQ(sum.posix_torn_np, 0);
	suspect = sum.posix_suspect_np;
	/* What begins last becomes a record of 4,095 bytes, which do not lie there. */
	was_record = (get_word(last + 4) & 0x3ffu) != PXT_LOG_ID_LOSS;
	golden_put(&golden, last + 4, 4, 32u | 4095u << 10);
	PXT_EQ(check(), 0);
	PXT_EQ(sum.posix_torn_np, 1);
	PXT_EQ(sum.posix_suspect_np, suspect - was_record);
}

/* First the CLOCKS after it, whose sums have gone on, then the next DATA block. */
PXT_TEST(a_missing_block_is_told)
{
	begin();
	golden_cut(&golden, data_block(0), golden_block(&golden, PXT_LOG_CLOCKS, 0));
	EXPECT("4 records, 1 told, 1 missing, 2 findings");
	expect_finding(
	    POSIX_TRACE_FINDING_LAW_NP, golden_block(&golden, PXT_LOG_CLOCKS, 0) + 64, "sums");
	CU_ASSERT(strstr(findings[1].posix_reason_np, "1 blocks are missing") != NULL);
}

PXT_TEST(a_doubled_block_is_told)
{
	size_t second;

	begin();
	second = golden_block(&golden, PXT_LOG_CLOCKS, 0);
	golden_double(&golden, data_block(0), second);
	EXPECT("14 records, 11 told, 1 findings");
	expect_finding(POSIX_TRACE_FINDING_DAMAGE_NP, second, "there before");
}

/* ---- Counts ---- */

/* The trailer: 96 bytes of head, then written, retrieved, lost, cleared, held from byte 40 of its entry on. */
static size_t counts_at(void)
{
	return golden_block(&golden, PXT_LOG_TRAILER, 0) + 96 + 40;
}

static void sign_trailer(void)
{
	golden_sign(&golden, golden_block(&golden, PXT_LOG_TRAILER, 0));
}

PXT_TEST(a_trailer_that_breaks_the_law_is_told)
{
	begin();
	golden.bytes[counts_at()] ^= 1;
	sign_trailer();
	EXPECT("9 records, 6 told, 1 findings");
	expect_finding(POSIX_TRACE_FINDING_LAW_NP, counts_at() - 96 - 40, "written");
}

/* The parts of what was written, modulo 2^64, are it: nobody counted that many. */
PXT_TEST(counts_that_run_over_break_the_law)
{
	static const uint64_t counts[] = { 9, 9, UINT64_MAX, 1, 0 };

	begin();
	for (unsigned i = 0; i < 5; i++)
		golden_put(&golden, counts_at() + (size_t)8 * i, 8, counts[i]);
	sign_trailer();
	EXPECT("9 records, 6 told, 1 findings");
	expect_finding(POSIX_TRACE_FINDING_LAW_NP, counts_at() - 96 - 40, "written");
}

/* Lost in the stream and by the log, together more than fits: not few. */
PXT_TEST(losses_that_run_over_are_many)
{
	struct posix_trace_loginfo_np info;
	trace_id_t trid;
	int fd;

	begin();
	golden_put(&golden, counts_at() + 16, 8, UINT64_MAX - 1);
	golden_put(&golden, counts_at() + 40, 8, 7);
	sign_trailer();
	fd = golden_file(golden.bytes, golden.size);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_lost_np, UINT64_MAX);
	PXT_EQ(posix_trace_close(trid), 0);
	CU_ASSERT(close(fd) == 0);
}

PXT_TEST(a_block_whose_sums_are_below_its_own_counts_is_damaged)
{
	static const size_t sums[] = { 64, 72 };

	for (size_t i = 0; i < 2; i++) {
		begin();
		golden_put(&golden, data_block(0) + sums[i], 8, 1);
		golden_sign(&golden, data_block(0));
		PXT_EQ(check(), 0);
		PXT_EQ(sum.posix_damaged_np, 1);
		expect_finding(POSIX_TRACE_FINDING_DAMAGE_NP, data_block(0), "below");
	}
}

PXT_TEST(sums_that_do_not_go_on_are_told)
{
	begin();
	golden.bytes[data_block(1) + 72] ^= 1;
	golden_sign(&golden, data_block(1));
	EXPECT("9 records, 6 told, 2 findings");
	expect_finding(POSIX_TRACE_FINDING_LAW_NP, data_block(1) + 64, "sums");
}

/* The record after START has 12 bytes of data. */
PXT_TEST(events_of_a_type_without_name_are_told)
{
	begin();
	golden_put(&golden, data_block(0) + 96 + (size_t)13 * 16 + 4, 4, 999u | 12u << 10);
	golden_sign(&golden, data_block(0));
	EXPECT("9 records, 6 told, 1 unnamed, 1 findings");
	expect_finding(POSIX_TRACE_FINDING_TYPE_NP, data_block(0), "999");
}

/* ---- Arguments ---- */

PXT_TEST(what_is_no_log_is_refused_and_says_why)
{
	int ends[2];

	golden = (struct golden){ .bytes = "just text", .size = 9 };
	PXT_EQ(check(), EINVAL);
	PXT_EQ(sum.posix_findings_np, 1);
	golden_read(&golden, "newer-major");
	PXT_EQ(check(), EINVAL);
	CU_ASSERT(strstr(findings[0].posix_reason_np, "newer") != NULL);
	CU_ASSERT_FATAL(pipe(ends) == 0);
	PXT_EQ(check_file(ends[0], FINDINGS), EINVAL);
	CU_ASSERT(strstr(findings[0].posix_reason_np, "regular") != NULL);
	CU_ASSERT(close(ends[0]) == 0 && close(ends[1]) == 0);
	PXT_EQ(check_file(-1, FINDINGS), EINVAL);
	PXT_EQ(
	    posix_trace_log_check_np(0, NULL, 0, findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    EINVAL);
	PXT_EQ(
	    posix_trace_log_check_np(0, &sum, sizeof(sum), NULL, 0, FINDINGS, NULL, NULL), EINVAL);
}

PXT_TEST(findings_without_room_are_counted)
{
	uint64_t all;
	int fd;

	begin();
	for (unsigned i = 0; i < 2; i++)
		golden.bytes[data_block(i) + 100] ^= 1;
	fd = golden_file(golden.bytes, golden.size);
	PXT_EQ(check_file(fd, FINDINGS), 0);
	all = sum.posix_findings_np;
	CU_ASSERT(all > 1 && all <= FINDINGS);
	memset(&findings[1], 0x55, sizeof(findings[1]));
	PXT_EQ(check_file(fd, 1), 0);
	PXT_EQ(sum.posix_findings_np, all);
	CU_ASSERT(findings[1].posix_kind_np == 0x55555555);
	PXT_EQ(check_file(fd, 0), 0);
	PXT_EQ(sum.posix_findings_np, all);
	CU_ASSERT(close(fd) == 0);
}
