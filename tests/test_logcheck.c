/* SPDX-License-Identifier: MIT */
/* test_logcheck.c - posix_trace_log_check_np() tells sound logs from cut, damaged and lying ones. */
#include "suite.h"

#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FINDINGS 8

static struct posix_trace_logfinding_np findings[FINDINGS];

static int check(const void *bytes, size_t size, struct posix_trace_logcheck_np *sum)
{
	int fd = golden_file(bytes, size);
	int error = posix_trace_log_check_np(
	    fd, sum, sizeof(*sum), findings, sizeof(*findings), FINDINGS, NULL, NULL);

	CU_ASSERT(close(fd) == 0);
	return error;
}

static bool reason_has(unsigned which, const char *text)
{
	return strstr(findings[which].posix_reason_np, text) != NULL;
}

static uint32_t get_word(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static void put_word(unsigned char *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

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
	struct posix_trace_logcheck_np sum;
	struct golden golden;

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
		PXT_EQ(posix_trace_log_check_np(fd, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
		CU_ASSERT(close(fd) == 0);
	}
}

/* Either byte order, either word size, both layouts, after a clear, of a later minor version. */
PXT_TEST(sound_logs_have_no_findings)
{
	static const struct {
		const char *name;
		uint64_t records;
		uint64_t told;
	} logs[] = {
		{ "le64", 9, 6 },
		{ "be64", 9, 6 },
		{ "le32", 9, 6 },
		{ "be32", 9, 6 },
		{ "boot-le64", 9, 6 },
		{ "boot-be64", 9, 6 },
		{ "machine-le64", 9, 6 },
		{ "machine-be64", 9, 6 },
		{ "newer-minor", 9, 6 },
		{ "coded-le64", 9, 6 },
		{ "coded-be32", 9, 6 },
		{ "sealed-le64", 9, 6 },
		{ "sealed-be32", 9, 6 },
		{ "cleared", 2, 4 },
		{ "loop-le64", 6, 0 },
		{ "loop-be32", 6, 0 },
		{ "loop-short", 4, 10 },
		{ "loop-empty", 0, 0 },
	};
	struct posix_trace_logcheck_np sum;
	struct golden golden;

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		golden_read(&golden, logs[i].name);
		PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
		PXT_CHECK(sum.posix_findings_np == 0, "%s: %s", logs[i].name,
		    findings[0].posix_reason_np);
		PXT_CHECK(sum.posix_complete_np == 1, "%s: not complete", logs[i].name);
		PXT_CHECK(sum.posix_records_np == logs[i].records, "%s: %llu records", logs[i].name,
		    (unsigned long long)sum.posix_records_np);
		PXT_CHECK(sum.posix_told_np == logs[i].told, "%s: %llu lost", logs[i].name,
		    (unsigned long long)sum.posix_told_np);
		PXT_CHECK(sum.posix_damaged_np + sum.posix_missing_np + sum.posix_skipped_np +
		                  sum.posix_torn_np + sum.posix_orphans_np ==
		              0,
		    "%s: something is wrong", logs[i].name);
		PXT_EQ(sum.posix_bytes_np, golden.size);
	}
}

/* What posix_trace_open() refuses, and more. */
PXT_TEST(a_log_with_any_byte_changed_has_a_finding)
{
	static const char *const names[] = { "le64", "be32", "loop-le64" };
	struct posix_trace_logcheck_np sum;
	struct golden golden;

	for (unsigned i = 0; i < 3; i++) {
		golden_read(&golden, names[i]);
		for (size_t at = 0; at < golden.size; at += i ? 7 : 1) {
			struct posix_trace_logerror_np error;
			int result;

			golden.bytes[at] ^= (unsigned char)(1u << at % 8);
			result = check(golden.bytes, golden.size, &sum);
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
	struct posix_trace_logcheck_np sum;
	struct golden golden;

	golden_read(&golden, golden_native());
	for (size_t size = 512; size < golden.size; size++) {
		PXT_EQ(check(golden.bytes, size, &sum), 0);
		CU_ASSERT(sum.posix_findings_np >= 1 && sum.posix_complete_np == 0);
		PXT_CHECK(sum.posix_damaged_np == 0 && sum.posix_missing_np == 0, "cut at %zu: %s",
		    size, findings[0].posix_reason_np);
		for (unsigned k = 0; k < sum.posix_findings_np; k++)
			PXT_CHECK(findings[k].posix_kind_np == POSIX_TRACE_FINDING_END_NP ||
			              findings[k].posix_kind_np == POSIX_TRACE_FINDING_TYPE_NP,
			    "cut at %zu: %s", size, findings[k].posix_reason_np);
	}
}

PXT_TEST(what_is_behind_a_damaged_block_is_looked_at)
{
	struct posix_trace_logcheck_np whole;
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;

	golden_read(&golden, golden_native());
	PXT_EQ(check(golden.bytes, golden.size, &whole), 0);
	block = golden_block(&golden, PXT_LOG_DATA, 0);
	golden.bytes[block + 100] ^= 1;
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_damaged_np, 1);
	PXT_EQ(sum.posix_sound_np, whole.posix_sound_np - 1);
	CU_ASSERT(sum.posix_records_np > 0 && sum.posix_records_np < whole.posix_records_np);
	PXT_EQ(sum.posix_records_np + sum.posix_suspect_np, whole.posix_records_np);
	PXT_EQ(sum.posix_torn_np + sum.posix_orphans_np, 0);
	CU_ASSERT(sum.posix_complete_np == 1);
	PXT_EQ(findings[0].posix_kind_np, POSIX_TRACE_FINDING_DAMAGE_NP);
	PXT_EQ(findings[0].posix_offset_np, block);
	CU_ASSERT(reason_has(0, "checksum"));
	/* It is damaged, not missing. */
	PXT_EQ(sum.posix_missing_np, 0);
	PXT_EQ(sum.posix_findings_np, 1);
}

PXT_TEST(a_length_that_leads_astray_costs_one_block)
{
	struct posix_trace_logcheck_np whole;
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;

	golden_read(&golden, golden_native());
	PXT_EQ(check(golden.bytes, golden.size, &whole), 0);
	block = golden_block(&golden, PXT_LOG_DATA, 0);
	golden.bytes[block + 8] ^= 0x10;
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_damaged_np, 1);
	PXT_EQ(sum.posix_sound_np, whole.posix_sound_np - 1);
}

/* TEV-06: a begin slot where a continuation belongs, and a continuation where a begin slot belongs. */
PXT_TEST(torn_and_orphan_slots_are_counted)
{
	const uint32_t begin = 0x80000000u;
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t first;

	golden_read(&golden, golden_native());
	/* The first record is START with 1 + (8 + 128) / 12 slots; its fifth becomes no slot. */
	first = golden_block(&golden, PXT_LOG_DATA, 0) + 96;
	golden.bytes[first + (size_t)4 * 16] = 1;
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_torn_np, 1);
	/* It alone: of the continuations behind it all bytes are zero. */
	PXT_EQ(sum.posix_orphans_np, 1);
	/* The block's other four records look whole; the second block's four are. */
	PXT_EQ(sum.posix_suspect_np, 4);
	PXT_EQ(sum.posix_records_np, 4);
	golden_read(&golden, golden_native());
	memcpy(golden.bytes + first + (size_t)4 * 16, &begin, 4);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_torn_np, 1);
	PXT_EQ(sum.posix_orphans_np, 0);
	PXT_EQ(sum.posix_suspect_np, 5);
	PXT_EQ(sum.posix_records_np, 4);
	/* A slot that belongs to nothing is no record, whatever type its second word would name. */
	golden_read(&golden, golden_native());
	golden.bytes[first + (size_t)4 * 16] = 1;
	put_word(golden.bytes + first + (size_t)4 * 16 + 4, 32);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_orphans_np, 1);
	PXT_EQ(sum.posix_suspect_np, 4);
}

PXT_TEST(a_record_that_its_damaged_block_ends_in_is_torn)
{
	struct posix_trace_logcheck_np whole;
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;
	size_t last = 0;
	bool was_record;
	size_t end;

	golden_read(&golden, golden_native());
	block = golden_block(&golden, PXT_LOG_DATA, 0);
	end = block + get_word(golden.bytes + block + 8);
	for (size_t at = block + 96; at < end; at += 16) {
		if (get_word(golden.bytes + at) == 0x80000000u)
			last = at;
	}
	CU_ASSERT_FATAL(last != 0);
	golden.bytes[block + 100] ^= 1; /* the checksum is wrong already */
	PXT_EQ(check(golden.bytes, golden.size, &whole), 0);
	PXT_EQ(whole.posix_torn_np, 0);
	/* What begins last becomes a record of 4,095 bytes, which do not lie there. */
	was_record = (get_word(golden.bytes + last + 4) & 0x3ffu) != PXT_LOG_ID_LOSS;
	put_word(golden.bytes + last + 4, 32u | 4095u << 10);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_torn_np, 1);
	PXT_EQ(sum.posix_suspect_np, whole.posix_suspect_np - was_record);
}

PXT_TEST(a_missing_and_a_doubled_block_are_told)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	struct golden changed;
	size_t first;
	size_t second;

	golden_read(&golden, golden_native());
	first = golden_block(&golden, PXT_LOG_DATA, 0);
	second = golden_block(&golden, PXT_LOG_CLOCKS, 0);
	memcpy(changed.bytes, golden.bytes, first);
	memcpy(changed.bytes + first, golden.bytes + second, golden.size - second);
	PXT_EQ(check(changed.bytes, golden.size - (second - first), &sum), 0);
	PXT_EQ(sum.posix_missing_np, 1);
	/* First the CLOCKS after it, whose sums have gone on, then the next DATA block. */
	PXT_EQ(sum.posix_findings_np, 2);
	CU_ASSERT(reason_has(0, "sums") && reason_has(1, "1 blocks are missing"));
	memcpy(changed.bytes, golden.bytes, second);
	memcpy(changed.bytes + second, golden.bytes + first, golden.size - first);
	PXT_EQ(check(changed.bytes, golden.size + (second - first), &sum), 0);
	CU_ASSERT(sum.posix_findings_np >= 1 && reason_has(0, "there before"));
	PXT_EQ(findings[0].posix_offset_np, second);
}

/* The trailer: 96 bytes of head, then written, retrieved, ... from byte 40 of its entry on. */
PXT_TEST(a_trailer_that_breaks_the_law_is_told)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t trailer;

	golden_read(&golden, golden_native());
	trailer = golden_block(&golden, PXT_LOG_TRAILER, 0);
	golden.bytes[trailer + 96 + 40] ^= 1;
	golden_sign(&golden, trailer);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_findings_np, 1);
	PXT_EQ(findings[0].posix_kind_np, POSIX_TRACE_FINDING_LAW_NP);
	PXT_EQ(findings[0].posix_offset_np, trailer);
	CU_ASSERT(reason_has(0, "written"));
}

static void put64(struct golden *golden, size_t at, uint64_t number)
{
	memcpy(golden->bytes + at, &number, sizeof(number));
}

/* The parts of what was written, modulo 2^64, are it: nobody counted that many. */
PXT_TEST(counts_that_run_over_break_the_law)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t counts;

	golden_read(&golden, golden_native());
	counts = golden_block(&golden, PXT_LOG_TRAILER, 0) + 96 + 40;
	/* written, retrieved, lost, cleared, held */
	put64(&golden, counts, 9);
	put64(&golden, counts + 8, 9);
	put64(&golden, counts + 16, UINT64_MAX);
	put64(&golden, counts + 24, 1);
	put64(&golden, counts + 32, 0);
	golden_sign(&golden, counts - 96 - 40);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_findings_np, 1);
	CU_ASSERT(reason_has(0, "written"));
}

/* Lost in the stream and by the log, together more than fits: not few. */
PXT_TEST(losses_that_run_over_are_many)
{
	struct posix_trace_loginfo_np info;
	struct golden golden;
	size_t counts;
	trace_id_t trid;
	int fd;

	golden_read(&golden, golden_native());
	counts = golden_block(&golden, PXT_LOG_TRAILER, 0) + 96 + 40;
	put64(&golden, counts + 16, UINT64_MAX - 1);
	put64(&golden, counts + 40, 7);
	golden_sign(&golden, counts - 96 - 40);
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
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;

	for (size_t i = 0; i < 2; i++) {
		golden_read(&golden, golden_native());
		block = golden_block(&golden, PXT_LOG_DATA, 0);
		put64(&golden, block + sums[i], 1);
		golden_sign(&golden, block);
		PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
		PXT_EQ(sum.posix_damaged_np, 1);
		CU_ASSERT(sum.posix_findings_np >= 1 && reason_has(0, "below"));
	}
}

PXT_TEST(sums_that_do_not_go_on_are_told)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;

	golden_read(&golden, golden_native());
	block = golden_block(&golden, PXT_LOG_DATA, 1);
	golden.bytes[block + 72] ^= 1;
	golden_sign(&golden, block);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	CU_ASSERT(sum.posix_findings_np >= 1 && reason_has(0, "sums"));
	PXT_EQ(findings[0].posix_offset_np, block + 64);
}

PXT_TEST(events_of_a_type_without_name_are_told)
{
	const uint32_t info = 999u | 12u << 10;
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	size_t block;

	golden_read(&golden, golden_native());
	block = golden_block(&golden, PXT_LOG_DATA, 0);
	/* The record after START has 12 bytes of data. */
	memcpy(golden.bytes + block + 96 + (size_t)13 * 16 + 4, &info, 4);
	golden_sign(&golden, block);
	PXT_EQ(check(golden.bytes, golden.size, &sum), 0);
	PXT_EQ(sum.posix_unnamed_np, 1);
	PXT_EQ(sum.posix_findings_np, 1);
	PXT_EQ(findings[0].posix_kind_np, POSIX_TRACE_FINDING_TYPE_NP);
	CU_ASSERT(reason_has(0, "999"));
}

PXT_TEST(what_is_no_log_is_refused_and_says_why)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	int ends[2];

	PXT_EQ(check("just text", 9, &sum), EINVAL);
	PXT_EQ(sum.posix_findings_np, 1);
	golden_read(&golden, "newer-major");
	PXT_EQ(check(golden.bytes, golden.size, &sum), EINVAL);
	CU_ASSERT(reason_has(0, "newer"));
	CU_ASSERT_FATAL(pipe(ends) == 0);
	PXT_EQ(posix_trace_log_check_np(
	           ends[0], &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    EINVAL);
	CU_ASSERT(reason_has(0, "regular"));
	CU_ASSERT(close(ends[0]) == 0 && close(ends[1]) == 0);
	PXT_EQ(posix_trace_log_check_np(
	           -1, &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    EINVAL);
	PXT_EQ(
	    posix_trace_log_check_np(0, NULL, 0, findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    EINVAL);
	PXT_EQ(
	    posix_trace_log_check_np(0, &sum, sizeof(sum), NULL, 0, FINDINGS, NULL, NULL), EINVAL);
}

PXT_TEST(findings_without_room_are_counted)
{
	struct posix_trace_logcheck_np sum;
	struct golden golden;
	int fd;

	golden_read(&golden, golden_native());
	for (unsigned i = 0; i < 2; i++)
		golden.bytes[golden_block(&golden, PXT_LOG_DATA, i) + 100] ^= 1;
	fd = golden_file(golden.bytes, golden.size);
	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    0);
	uint64_t all = sum.posix_findings_np;
	CU_ASSERT(all > 1 && all <= FINDINGS);
	memset(&findings[1], 0x55, sizeof(findings[1]));
	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), findings, sizeof(*findings), 1, NULL, NULL),
	    0);
	PXT_EQ(sum.posix_findings_np, all);
	CU_ASSERT(findings[1].posix_kind_np == 0x55555555);
	PXT_EQ(posix_trace_log_check_np(fd, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
	PXT_EQ(sum.posix_findings_np, all);
	CU_ASSERT(close(fd) == 0);
}
