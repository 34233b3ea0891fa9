/* SPDX-License-Identifier: MIT */
/* frames.c - a frame by itself: COBS, checksum, numbers; gaps longer than the numbers; and hostile frames. */
#include "logs.h"

#include "tools/receive/receiver.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

static char path[] = "/tmp/pxt-frames-XXXXXX";

__attribute__((constructor)) static void name_it(void)
{
	(void)close(mkstemp(path));
}

__attribute__((destructor)) static void remove_it(void)
{
	(void)unlink(path);
}

PXT_TEST(bytes_are_stuffed_as_cobs_says)
{
	static const struct {
		unsigned char plain[4];
		size_t count;
		unsigned char stuffed[7];
		size_t stuffed_count;
	} known[] = {
		{ { 0 }, 1, { 1, 1, 0 }, 3 },
		{ { 0, 0 }, 2, { 1, 1, 1, 0 }, 4 },
		{ { 0, 0x11, 0 }, 3, { 1, 2, 0x11, 1, 0 }, 5 },
		{ { 0x11, 0x22, 0, 0x33 }, 4, { 3, 0x11, 0x22, 2, 0x33, 0 }, 6 },
		{ { 0x11, 0, 0, 0 }, 4, { 2, 0x11, 1, 1, 1, 0 }, 6 },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		unsigned char out[16];
		size_t count = pxt_linkframe_stuff(known[i].plain, known[i].count, out);

		PXT_EQ(count, known[i].stuffed_count);
		CU_ASSERT(memcmp(out, known[i].stuffed, count) == 0);
	}
}

/* Contents in which zeros are @gap bytes apart, so that every length of a run occurs. */
static void fill(unsigned char *contents, size_t count, size_t gap)
{
	for (size_t i = 0; i < count; i++)
		contents[i] = i % gap == gap - 1 ? 0 : (unsigned char)(i % 255 + 1);
}

PXT_TEST(what_a_target_packs_is_unpacked_whole)
{
	unsigned char contents[PXT_FRAME_CONTENTS_MAX];
	unsigned char packed[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX) + 16];
	unsigned char again[sizeof packed];
	unsigned char plain[sizeof packed];

	for (size_t gap = 1; gap < 600; gap += gap < 240 ? 13 : 1) {
		const struct pxt_frame_start start = { PXT_FRAME_META, 0x1234, 0x54321, 0x98765 };
		uint32_t bytes = (uint32_t)(gap * 31 % PXT_FRAME_CONTENTS_MAX);
		struct pxt_linkframe frame;
		struct pxt_frame making;
		size_t count;

		fill(contents, sizeof contents, gap);
		memset(packed, 0xee, sizeof packed);
		pxt_frame_begin(&making, packed, &start, false, true);
		pxt_frame_add(&making, contents, bytes / 2);
		pxt_frame_add(&making, contents + bytes / 2, bytes - bytes / 2);
		count = pxt_frame_end(&making);
		CU_ASSERT_FATAL(count <= PXT_FRAME_ROOM(bytes));
		PXT_EQ(packed[count], 0xee);
		PXT_EQ(packed[0], 0);
		CU_ASSERT(memchr(packed + 1, 0, count - 2) == NULL);
		PXT_EQ(packed[count - 1], 0);
		count = pxt_linkframe_unstuff(packed + 1, count - 2, plain);
		PXT_EQ(pxt_linkframe_stuff(plain, count, again), making.used - 1);
		CU_ASSERT(memcmp(again, packed + 1, making.used - 1) == 0);
		CU_ASSERT_FATAL(pxt_linkframe_parse(&frame, plain, count));
		CU_ASSERT(pxt_linkframe_sound(&frame, 0x1234));
		CU_ASSERT(!pxt_linkframe_sound(&frame, 0));
		PXT_EQ(frame.kind, PXT_FRAME_META);
		PXT_EQ(frame.number, 0x54321 & PXT_FRAME_NUMBER_MASK);
		PXT_EQ(frame.records, 0x8765);
		PXT_EQ(frame.bytes, bytes);
		CU_ASSERT(memcmp(frame.contents, contents, bytes) == 0);
	}
}

/* Words of the start, contents and checksum, one after the other, whatever bytes they have. */
PXT_TEST(a_packet_is_the_frame_without_delimiters)
{
	unsigned char contents[PXT_FRAME_CONTENTS_MAX];
	unsigned char packed[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX) + 16];
	struct pxt_linkframe frame;

	for (uint32_t bytes = 0; bytes <= PXT_FRAME_CONTENTS_MAX; bytes += bytes < 8 ? 1 : 181) {
		const struct pxt_frame_start start = { PXT_FRAME_DATA, 0x1234, 0x4001, 0x10203 };
		struct pxt_frame making;
		uint32_t half = bytes / 2;

		fill(contents, sizeof contents, 3);
		memset(packed, 0xee, sizeof packed);
		pxt_frame_begin(&making, packed, &start, true, true);
		pxt_frame_add(&making, contents, half);
		pxt_frame_add(&making, contents + half, bytes - half);
		PXT_EQ(pxt_frame_end(&making), bytes + PXT_FRAME_OVERHEAD);
		PXT_EQ(packed[bytes + PXT_FRAME_OVERHEAD], 0xee);
		PXT_EQ(packed[0], 1);
		PXT_EQ(packed[1], 0);
		PXT_EQ(packed[2], 3);
		PXT_EQ(packed[3], 2);
		CU_ASSERT(memcmp(packed + PXT_FRAME_START_BYTES, contents, bytes) == 0);
		CU_ASSERT_FATAL(pxt_linkframe_parse(&frame, packed, bytes + PXT_FRAME_OVERHEAD));
		CU_ASSERT(pxt_linkframe_sound(&frame, 0x1234));
		PXT_EQ(frame.bytes, bytes);
	}
}

PXT_TEST(pieces_that_are_no_frame_are_refused)
{
	static const unsigned char beyond[] = { 5, 1, 2 };
	static const unsigned char zero[] = { 2, 1, 0, 1 };
	unsigned char plain[PXT_LINKFRAME_BYTES + 1] = { 0 };
	struct pxt_linkframe frame;

	PXT_EQ(pxt_linkframe_unstuff(beyond, sizeof beyond, plain), 0);
	PXT_EQ(pxt_linkframe_unstuff(zero, sizeof zero, plain), 0);
	CU_ASSERT(!pxt_linkframe_parse(&frame, plain, PXT_FRAME_OVERHEAD - 1));
	CU_ASSERT(!pxt_linkframe_parse(&frame, plain, sizeof plain));
	CU_ASSERT(pxt_linkframe_parse(&frame, plain, PXT_FRAME_OVERHEAD));
}

/* ---- Numbers that have wrapped ---- */

static struct pxt_receive_run run;

static bool begin_run(void)
{
	unsigned char head[PXT_FRAME_FILE_HEAD];
	FILE *file;
	bool read;

	file = fopen(PXT_GOLDEN "/le64.ptl", "rb");
	read = file && fread(head, 1, sizeof head, file) == sizeof head;
	if (file)
		(void)fclose(file);
	return read && !pxt_receive_run_begin(&run, path, PXT_LOG_GROWING, head);
}

PXT_TEST(a_gap_longer_than_the_numbers_is_told_by_the_head)
{
	const struct pxt_receive_totals totals = { 3 * 16384 + 10, 5 * 65536 + 7, 99 };

	CU_ASSERT_FATAL(begin_run());
	pxt_receive_run_start(&run, 0, 0);
	CU_ASSERT(pxt_receive_run_expect(&run, 0, 0));
	/* What the lowest bits show of a gap of 3 rounds and 9 frames. */
	CU_ASSERT(pxt_receive_run_expect(&run, 10, 7));
	PXT_EQ(run.frames_missing, 9);
	PXT_EQ(run.missing, 7);
	pxt_receive_run_totals(&run, &totals);
	PXT_EQ(run.frames_missing, 3 * 16384 + 8);
	PXT_EQ(run.missing, 5 * 65536 + 7);
	PXT_EQ(run.target_lost, 99);
	PXT_EQ(run.unreported, 5 * 65536 + 7 + 99);
	/* Told once. */
	pxt_receive_run_totals(&run, &totals);
	PXT_EQ(run.unreported, 5 * 65536 + 7 + 99);
	PXT_EQ(pxt_receive_run_end(&run), 0);
}

PXT_TEST(a_frame_behind_its_place_is_late_up_to_a_bound)
{
	CU_ASSERT_FATAL(begin_run());
	pxt_receive_run_start(&run, 1000, 1000);
	CU_ASSERT(!pxt_receive_run_expect(&run, 999, 1000));
	CU_ASSERT(!pxt_receive_run_expect(&run, 1000 - 64, 1000));
	PXT_EQ(run.frames_again, 2);
	PXT_EQ(run.frames_missing, 0);
	CU_ASSERT(pxt_receive_run_expect(&run, 1000 - 65, 1000));
	PXT_EQ(run.frames_missing, 16384 - 65);
	PXT_EQ(pxt_receive_run_end(&run), 0);
}

PXT_TEST(what_is_told_again_is_in_the_log_once)
{
	struct pxt_receive_known known = { 0 };

	for (unsigned round = 0; round < 3; round++)
		for (uint64_t key = 1; key < 5000; key++)
			PXT_EQ(pxt_receive_known_tell(&known, key << 20, key),
			    round ? PXT_RECEIVE_KNOWN_SAME : PXT_RECEIVE_KNOWN_NEW);
	PXT_EQ(pxt_receive_known_tell(&known, 1 << 20, 7), PXT_RECEIVE_KNOWN_CHANGED);
	PXT_EQ(known.count, 4999);
	pxt_receive_known_free(&known);
}

/* Each kind of entry that a target tells again and again. */
PXT_TEST(an_entry_that_comes_again_is_in_the_log_once)
{
	static const struct pxt_log_module module = {
		.base = 0x1000, .high = 0x1fff, .path = "/lib/a"
	};
	static const struct pxt_log_thread thread = { .index = 1, .thread = 7, .pid = 8, .tid = 9 };
	struct posix_trace_loginfo_np info;
	struct posix_trace_lognote_np note;
	unsigned char bytes[1024];
	struct pxt_log_block block;
	uint32_t notes = 0;
	trace_id_t log;
	int fd;

	CU_ASSERT_FATAL(begin_run());
	for (unsigned turn = 0; turn < 3; turn++) {
		pxt_logfmt_start(&block, bytes, sizeof bytes);
		CU_ASSERT(pxt_logfmt_put_note(&block, "line", "frames"));
		pxt_receive_run_entries(&run, PXT_LOG_NOTES, 1, bytes + PXT_LOG_BLOCK_BYTES,
		    block.used - PXT_LOG_BLOCK_BYTES);
		pxt_logfmt_start(&block, bytes, sizeof bytes);
		CU_ASSERT(pxt_logfmt_put_module(&block, &module));
		pxt_receive_run_entries(&run, PXT_LOG_MODULES, 1, bytes + PXT_LOG_BLOCK_BYTES,
		    block.used - PXT_LOG_BLOCK_BYTES);
		pxt_logfmt_start(&block, bytes, sizeof bytes);
		CU_ASSERT(pxt_logfmt_put_thread(&block, &thread));
		pxt_receive_run_entries(&run, PXT_LOG_THREADS, 1, bytes + PXT_LOG_BLOCK_BYTES,
		    block.used - PXT_LOG_BLOCK_BYTES);
	}
	PXT_EQ(run.odd, 0);
	PXT_EQ(pxt_receive_run_end(&run), 0);
	fd = open(path, O_RDONLY);
	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	while (posix_trace_log_getnote_np(log, notes, &note, sizeof(note)) == 0)
		notes++;
	PXT_EQ(notes, 1);
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_modules_np, 1);
	PXT_EQ(info.posix_threads_np, 1);
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

PXT_TEST(what_is_told_has_a_bound)
{
	struct pxt_receive_known known = { 0 };

	for (uint64_t key = 1; key <= PXT_RECEIVE_KNOWN_MAX; key++)
		(void)pxt_receive_known_tell(&known, key * 77777u, 0);
	PXT_EQ(known.count, PXT_RECEIVE_KNOWN_MAX);
	PXT_EQ(pxt_receive_known_tell(&known, 3, 0), PXT_RECEIVE_KNOWN_FULL);
	PXT_EQ(pxt_receive_known_tell(&known, 77777u, 0), PXT_RECEIVE_KNOWN_SAME);
	pxt_receive_known_free(&known);
}

/*
 * ---- Whole frames that no honest target sends in this order, or with these numbers ----
 *
 * Anybody who reaches the port can send them.  What waits when a trailer comes, and what comes after one,
 * changes no log and no memory; and each log that was made is sound.
 */

#define FINDINGS  8u
#define SEQUENCES 3000u
#define CHOICES   400u

static char log_path[300];
static struct pxt_receiver in;
static struct forge forge;
static unsigned ended;
static uint64_t kept;
static unsigned unsound;

/* What the log that has just ended says of itself. */
static void check_log(const char *log)
{
	struct posix_trace_logfinding_np findings[FINDINGS];
	struct posix_trace_logcheck_np sum;
	int fd = open(log, O_RDONLY | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    0);
	unsound += sum.posix_findings_np > 0;
	for (uint64_t i = 0; i < sum.posix_findings_np && i < FINDINGS; i++)
		PXT_CHECK(false, "byte %llu: %s", (unsigned long long)findings[i].posix_offset_np,
		    findings[i].posix_reason_np);
	(void)close(fd);
}

static void told(void *context, enum pxt_receiver_event event,
    const struct pxt_receive_run *its_run, const char *text)
{
	if (event != PXT_RECEIVER_ENDED)
		return;
	ended++;
	kept = its_run->kept;
	PXT_EQ(its_run->error, 0);
	check_log(text);
	(void)unlink(text);
}

static void begin(void)
{
	(void)snprintf(log_path, sizeof log_path, "%s/run.ptl", pxt_temp_folder());
	CU_ASSERT_FATAL(pxt_receiver_init(&in, log_path));
	in.tell = told;
	ended = 0;
	kept = 0;
	forge_begin(&forge, 0);
}

static void give(const struct forged *forged)
{
	pxt_receiver_packet(&in, NULL, forged->bytes, forged->count);
}

static void give_data(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_data(&forge, &forged, 32, 2);
	give(&forged);
	forge.records += 2;
}

static void give_trailer(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_entry(&forge, &forged, PXT_LOG_TRAILER, 0);
	give(&forged);
}

static void give_head(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_head(&forge, &forged);
	give(&forged);
}

/* ---- After a trailer ---- */

PXT_TEST(what_waited_behind_a_trailer_is_not_delivered)
{
	struct pxt_receive_sums sums;

	begin();
	give_data(1);
	give_trailer(2);
	give_data(3);
	give_data(4);
	give_head(5);
	PXT_EQ(ended, 1);
	PXT_EQ(kept, 2);
	pxt_receiver_sums(&in, &sums);
	PXT_EQ(sums.open, 0);
	PXT_EQ(sums.events, 2);
	/* The two after it, and the head. */
	PXT_EQ(sums.frames_again, 3);
	PXT_EQ(pxt_receiver_end(&in), 0);
	PXT_EQ(ended, 1);
}

/* As long as the receiver is there: nobody looks at what an ended run's memory has become. */
PXT_TEST(a_stream_whose_trailer_waited_stays_ended)
{
	struct pxt_receive_sums sums;

	begin();
	give_trailer(2);
	give_head(1);
	PXT_EQ(ended, 1);
	give_data(3);
	give_head(4);
	pxt_receiver_flush(&in);
	pxt_receiver_sums(&in, &sums);
	PXT_EQ(sums.open, 0);
	PXT_EQ(sums.logs, 1);
	PXT_EQ(sums.events, 0);
	PXT_EQ(pxt_receiver_end(&in), 0);
}

/* ---- Anything ---- */

static void play(uint64_t seed)
{
	uint8_t choices[CHOICES];
	uint64_t state = seed;

	begin();
	for (size_t i = 0; i < sizeof choices; i++)
		choices[i] = (uint8_t)(capture_random(&state) >> 8);
	forge_play(&in, choices, sizeof choices, seed % 2u == 0);
	PXT_EQ(pxt_receiver_end(&in), 0);
}

PXT_TEST(any_whole_frames_in_any_order_make_sound_logs)
{
	const char *stress = getenv("PXT_STRESS");
	uint64_t most = stress ? (uint64_t)SEQUENCES * 5u : SEQUENCES;

	unsound = 0;
	for (uint64_t seed = 1; seed <= (PXT_SANITIZED ? most / 10u : most) && !unsound; seed++) {
		play(seed);
		PXT_CHECK(!unsound, "sequence %llu", (unsigned long long)seed);
	}
}
