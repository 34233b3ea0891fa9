/* SPDX-License-Identifier: MIT */
/*
 * damage.c - bytes of a line dropped, flipped and doubled: every whole frame is in the log, and
 * every event that is not in it is counted.  (LPT-37)
 *
 * What must survive is worked out from the undamaged bytes: a record is kept if all frames are
 * whole that hold a part of it.
 */
#include "logs.h"

#include "base/attr.h"
#include "tools/receive/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 4000u

static char path[300];

static void name_it(void)
{
	(void)snprintf(path, sizeof path, "%s/run", pxt_temp_folder());
}

static struct capture clean;
static struct capture bad;

static const struct capture_script plain_story = {
	.form = POSIX_TRACE_LOG_FRAMES_NP, .events = EVENTS, .longer = 7, .flush = 50
};

/* ---- The truth about a capture ---- */

struct truth {
	unsigned records; /* of all kinds */
	unsigned frames;
	unsigned first_frame[3 * EVENTS]; /* of each record */
	unsigned last_frame[3 * EVENTS];
	bool whole[3 * EVENTS]; /* of each frame */
	size_t at[3 * EVENTS];  /* and its place */
	size_t end[3 * EVENTS];
	unsigned last_head;
	unsigned heads;
	unsigned names; /* frames that told types */
};

static struct truth truth;

static void look_at_slots(const struct capture_frame *frame, unsigned number)
{
	const unsigned char *slots = frame->frame.contents;

	for (uint32_t i = 0; i < frame->frame.bytes / PXT_SLOT_BYTES; i++) {
		struct pxt_slot slot;

		memcpy(&slot, slots + (size_t)i * PXT_SLOT_BYTES, sizeof slot);
		if (slot.word[0] == PXT_SLOT_BEGIN && pxt_info_id(slot.word[1]) != PXT_LOG_ID_LOSS)
			truth.first_frame[truth.records++] = number;
		if (truth.records)
			truth.last_frame[truth.records - 1] = number;
	}
}

static void learn(const struct capture *capture)
{
	static struct capture_frame frame;
	size_t at = 0;

	memset(&truth, 0, sizeof truth);
	while (capture_next(capture, &at, &frame)) {
		unsigned number = truth.frames++;

		CU_ASSERT_FATAL(number < 3 * EVENTS);
		PXT_EQ(frame.frame.number, number & PXT_FRAME_NUMBER_MASK);
		PXT_EQ(frame.frame.records, truth.records & 0xffff);
		truth.whole[number] = true;
		truth.at[number] = frame.at;
		truth.end[number] = frame.at + frame.bytes;
		if (frame.frame.kind == PXT_FRAME_DATA)
			look_at_slots(&frame, number);
		if (frame.frame.kind == PXT_FRAME_HEAD) {
			truth.last_head = number;
			truth.heads++;
		}
		truth.names += frame.frame.kind == PXT_FRAME_META &&
		               frame.frame.contents[0] + frame.frame.contents[1] == PXT_LOG_TYPES;
	}
}

static bool survives(unsigned record)
{
	for (unsigned i = truth.first_frame[record]; i <= truth.last_frame[record]; i++)
		if (!truth.whole[i])
			return false;
	return true;
}

static unsigned survivors(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < truth.records; i++)
		count += survives(i);
	return count;
}

/* ---- Receiving ---- */

static struct pxt_receive_sums sums;

/* In pieces of up to @most bytes, as a device gives them. */
static void receive(const struct capture *capture, size_t most, uint64_t seed)
{
	static struct pxt_receiver in;

	name_it();
	(void)unlink(path);
	CU_ASSERT_FATAL(pxt_receiver_init(&in, path));
	for (size_t at = 0; at < capture->count;) {
		size_t count = 1 + capture_random(&seed) % most;

		if (count > capture->count - at)
			count = capture->count - at;
		pxt_receiver_bytes(&in, capture->bytes + at, count);
		at += count;
	}
	PXT_EQ(pxt_receiver_end(&in), 0);
	pxt_receiver_sums(&in, &sums);
}

/* The number in the stream's life of each of our events that the log read last has; else 0. */
static uint64_t numbers[EVENTS];

struct log {
	unsigned events; /* of all kinds */
	uint64_t lost;   /* told before events */
	struct posix_trace_loginfo_np info;
	uint32_t last; /* number of the last one of ours */
	bool ordered;
};

static void read_log(struct log *log, const char *name)
{
	struct posix_trace_logerror_np why = { 0 };
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	unsigned char data[4096];
	int fd = open(name, O_RDONLY);
	int unavailable = 0;
	trace_id_t trid = 0;
	size_t bytes;
	int error = posix_trace_log_open_np(&fd, 1, 0, &trid, &why, sizeof(why));

	memset(log, 0, sizeof *log);
	memset(numbers, 0, sizeof numbers);
	log->ordered = true;
	PXT_CHECK(error == 0, "%s: byte %llu: %s", name, (unsigned long long)why.posix_offset_np,
	    why.posix_reason_np);
	if (fd >= 0)
		(void)close(fd);
	if (error)
		return;
	while (
	    posix_trace_getnext_event(trid, &event, data, sizeof data, &bytes, &unavailable) == 0 &&
	    !unavailable) {
		uint32_t number;

		(void)posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra));
		log->events++;
		log->lost += extra.posix_lost_before_np;
		if (event.posix_event_id < 32 || bytes < 4)
			continue;
		memcpy(&number, data, sizeof number);
		if (number < EVENTS)
			numbers[number] = extra.posix_number_np;
		log->ordered = log->ordered && (number >= log->last);
		log->last = number;
	}
	PXT_EQ(posix_trace_log_getinfo_np(trid, &log->info, sizeof(log->info)), 0);
	(void)posix_trace_close(trid);
}

/*
 * The law, as the log tells it.  And what was put on the line (@all records, marks of flushes
 * included, which the stream does not count) is in it, or told as lost.
 */
static void check_law(const struct log *log, uint64_t all)
{
	const struct posix_trace_counts_np *counts = &log->info.posix_counts_np;

	PXT_EQ(counts->posix_written_np, counts->posix_retrieved_np + counts->posix_lost_np +
	                                     counts->posix_cleared_np + counts->posix_held_np);
	PXT_EQ(log->events + log->info.posix_lost_np, all);
	CU_ASSERT(log->lost <= log->info.posix_lost_np);
	CU_ASSERT(log->ordered);
}

/* ---- Damage ---- */

static void put(const unsigned char *from, size_t count)
{
	if (bad.room - bad.count < count) {
		bad.room += count + 65536;
		bad.bytes = realloc(bad.bytes, bad.room);
	}
	memcpy(bad.bytes + bad.count, from, count);
	bad.count += count;
}

static unsigned frame_at(size_t place)
{
	unsigned low = 0;

	while (low + 1 < truth.frames && truth.end[low] <= place)
		low++;
	return low;
}

/*
 * A delimiter that is hit joins two pieces; a byte that becomes one splits its frame.  So the
 * neighbours of what is hit are not relied on when a delimiter is concerned.
 */
static void spoil(size_t place)
{
	unsigned frame = frame_at(place);

	truth.whole[frame] = false;
	if (place + 1 == truth.end[frame] && frame + 1 < truth.frames)
		truth.whole[frame + 1] = false;
}

/* About every @every-th byte is dropped, flipped or doubled, as @seed says. */
static void damage(uint64_t seed, unsigned every)
{
	bad.count = 0;
	for (size_t i = 0; i < clean.count; i++) {
		unsigned char byte = clean.bytes[i];

		if (capture_random(&seed) % every) {
			put(&byte, 1);
			continue;
		}
		spoil(i);
		switch (capture_random(&seed) % 3) {
		case 0:
			break;
		case 1:
			byte ^= (unsigned char)(1u << capture_random(&seed) % 8);
			put(&byte, 1);
			break;
		default:
			put(&byte, 1);
			put(&byte, 1);
			break;
		}
	}
}

/* A doubled delimiter, or a dropped one before another, hurts nobody: those frames may survive. */
static void check_kept(const struct log *log, unsigned least)
{
	PXT_CHECK(log->events >= least, "%u of %u events that arrived whole are in the log",
	    log->events, least);
	PXT_CHECK(log->events <= truth.records, "%u events of %u", log->events, truth.records);
}

/* ---- Tests ---- */

PXT_TEST(a_line_without_faults_gives_the_whole_log)
{
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	receive(&clean, 5000, 1);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	CU_ASSERT(truth.records >= EVENTS);
	PXT_EQ(log.last, EVENTS - 1);
	PXT_EQ(sums.bad, 0);
	PXT_EQ(sums.frames_missing, 0);
	PXT_EQ(sums.events_missing, 0);
	PXT_EQ(sums.logs, 1);
}

PXT_TEST(the_same_bytes_in_any_pieces_give_the_same_log)
{
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	for (size_t most = 1; most < 3000; most = most * 7 + 1) {
		receive(&clean, most, most);
		read_log(&log, path);
		check_law(&log, truth.records);
		PXT_EQ(log.events, truth.records);
	}
}

/* So that two receptions of one stream agree upon what an event is called. */
PXT_TEST(events_keep_their_numbers_whatever_the_line_lost)
{
	static uint64_t whole[EVENTS];
	unsigned compared = 0;
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	receive(&clean, 5000, 1);
	read_log(&log, path);
	memcpy(whole, numbers, sizeof whole);
	/* After the start of the stream. */
	PXT_EQ(whole[0], 1);
	for (unsigned seed = 1; seed <= 12; seed++) {
		learn(&clean);
		damage(seed, seed % 2 ? 400 : 5000);
		receive(&bad, 4096, seed);
		if (!sums.logs)
			continue;
		read_log(&log, path);
		for (unsigned i = 0; i < EVENTS; i++) {
			if (numbers[i] == 0)
				continue;
			PXT_EQ(numbers[i], whole[i]);
			compared++;
		}
	}
	CU_ASSERT(compared > EVENTS);
}

PXT_TEST(damaged_bytes_cost_their_frames_and_are_counted)
{
	capture_run(&clean, &plain_story);
	for (unsigned seed = 1; seed <= 24; seed++) {
		unsigned every = seed % 3 == 0 ? 400 : seed % 3 == 1 ? 5000 : 40000;
		struct log log;

		learn(&clean);
		damage(seed, every);
		receive(&bad, 4096, seed);
		if (!sums.logs)
			continue; /* no head came through */
		read_log(&log, path);
		/* Without the last head nobody knows how much was sent after the last frame. */
		check_law(&log, truth.whole[truth.last_head]
		                    ? truth.records
		                    : log.events + sums.events_missing + sums.early);
		check_kept(&log, survivors());
		PXT_EQ(sums.events, log.events);
		CU_ASSERT(sums.bad > 0 || sums.frames_missing == 0);
	}
}

PXT_TEST(one_lost_frame_costs_only_what_it_held)
{
	struct log log;

	capture_run(&clean, &plain_story);
	for (unsigned victim = 5; victim < 60; victim++) {
		learn(&clean);
		if (victim >= truth.frames - 2)
			break;
		bad.count = 0;
		put(clean.bytes, truth.at[victim]);
		put(clean.bytes + truth.end[victim], clean.count - truth.end[victim]);
		truth.whole[victim] = false;
		receive(&bad, 4096, victim);
		read_log(&log, path);
		check_law(&log, truth.records);
		PXT_EQ(sums.frames_missing, 1);
		PXT_EQ(sums.bad, 0);
		PXT_EQ(log.events, survivors());
		PXT_EQ(log.events + log.lost, truth.records);
	}
}

/* No later frame shows the gap: the head at the end does. */
PXT_TEST(the_last_frames_before_the_end_are_missed_too)
{
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	put(clean.bytes, truth.at[truth.last_head - 3]);
	put(clean.bytes + truth.at[truth.last_head], clean.count - truth.at[truth.last_head]);
	for (unsigned i = truth.last_head - 3; i < truth.last_head; i++)
		truth.whole[i] = false;
	receive(&bad, 4096, 1);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(sums.frames_missing, 3);
	PXT_EQ(log.events, survivors());
	CU_ASSERT(sums.events_missing > 0);
}

/* No frame of them was ever made: another number, and another remedy. */
PXT_TEST(events_that_the_target_lost_are_a_number_of_their_own)
{
	const struct capture_script script = { .form = POSIX_TRACE_LOG_FRAMES_NP, .events = 30000 };
	unsigned data = 0;
	struct log log;

	capture_run(&clean, &script);
	learn(&clean);
	receive(&clean, 4096, 1);
	CU_ASSERT(sums.target_lost > 10000);
	PXT_EQ(sums.events_missing, 0);
	read_log(&log, path);
	check_law(&log, truth.records + sums.target_lost);
	PXT_EQ(log.lost, sums.target_lost);
	PXT_EQ(log.info.posix_counts_np.posix_lost_np, sums.target_lost);
	/* The frame that told it is gone: the next head tells it. */
	while (truth.first_frame[0] > data)
		data++;
	bad.count = 0;
	put(clean.bytes, truth.at[data]);
	put(clean.bytes + truth.end[data], clean.count - truth.end[data]);
	receive(&bad, 4096, 1);
	read_log(&log, path);
	check_law(&log, truth.records + sums.target_lost);
	PXT_EQ(log.info.posix_counts_np.posix_lost_np, sums.target_lost);
	PXT_EQ(sums.frames_missing, 1);
}

/* A head tells the sum of all, not the last one. */
PXT_TEST(several_losses_of_the_target_are_told_by_one_head)
{
	const struct capture_script script = {
		.form = POSIX_TRACE_LOG_FRAMES_NP, .events = 1500, .longer = 1, .flush = 600
	};
	uint64_t lost;
	struct log log;

	capture_run(&clean, &script);
	learn(&clean);
	receive(&clean, 4096, 1);
	lost = sums.target_lost;
	/* Of each 600 that are flushed the stream holds some 400. */
	CU_ASSERT(lost > 300);
	bad.count = 0;
	put(clean.bytes, truth.at[truth.first_frame[0]]);
	put(clean.bytes + truth.at[truth.last_head], clean.count - truth.at[truth.last_head]);
	receive(&bad, 4096, 1);
	read_log(&log, path);
	PXT_EQ(sums.target_lost, lost);
	check_law(&log, truth.records + lost);
}

PXT_TEST(a_frame_that_comes_twice_counts_once)
{
	struct log log;
	unsigned twice = 0;

	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	for (unsigned i = 0; i < truth.frames; i++) {
		put(clean.bytes + truth.at[i], truth.end[i] - truth.at[i]);
		if ((i % 3 != 0 && i != truth.last_head) || i + 1 == truth.frames)
			continue;
		put(clean.bytes + truth.at[i], truth.end[i] - truth.at[i]);
		twice++;
	}
	receive(&bad, 4096, 7);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	PXT_EQ(sums.frames_again, twice);
	/* What the target's own trailer says: marks of flushes are not counted. */
	PXT_EQ(log.info.posix_counts_np.posix_written_np, EVENTS + 2);
	PXT_EQ(sums.frames_missing, 0);
}

PXT_TEST(who_listens_late_understands_what_came_before_the_head)
{
	const struct capture_script script = {
		.form = POSIX_TRACE_LOG_FRAMES_NP, .events = 2000, .flush = 20, .pause_at = 1000
	};
	struct log log;
	size_t from;

	capture_run(&clean, &script);
	learn(&clean);
	/* At create, after the pause, at the end; and the names with the second. */
	PXT_EQ(truth.heads, 3);
	CU_ASSERT(truth.names >= 2);
	/* In the middle of a frame, after the names and before the head that comes again. */
	from = truth.at[truth.frames / 4] + 5;
	bad.count = 0;
	put(clean.bytes + from, clean.count - from);
	for (unsigned i = 0; i < truth.frames; i++)
		truth.whole[i] = truth.at[i] >= from;
	receive(&bad, 4096, 3);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(log.events, survivors());
	PXT_EQ(sums.bad, 0);
	PXT_EQ(sums.frames_missing, 0);
	CU_ASSERT(sums.events_missing <= 1); /* the record whose beginning was not heard */
	CU_ASSERT(sums.early > 0);
	PXT_EQ(log.events + sums.early + sums.events_missing, truth.records);
}

/* Packets may come twice, and late. */
PXT_TEST(a_head_behind_the_end_begins_no_log)
{
	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	put(clean.bytes, clean.count);
	put(clean.bytes + truth.at[truth.last_head],
	    truth.end[truth.last_head] - truth.at[truth.last_head]);
	receive(&bad, 4096, 1);
	PXT_EQ(sums.logs, 1);
	PXT_EQ(sums.frames_again, 1);
}

PXT_TEST(a_target_that_is_reset_begins_a_second_log)
{
	char second[sizeof path + 8];
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	/* The first run is cut off in a frame. */
	put(clean.bytes, truth.at[truth.frames / 2] + 9);
	capture_run(&clean, &plain_story);
	put(clean.bytes, clean.count);
	(void)snprintf(second, sizeof second, "%s-2", path);
	(void)unlink(second);
	receive(&bad, 4096, 5);
	PXT_EQ(sums.logs, 2);
	read_log(&log, path);
	CU_ASSERT(log.events > 0 && log.events < truth.records);
	learn(&clean);
	read_log(&log, second);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	(void)unlink(second);
}

/* Two streams of a program on one device, or two targets at one port. */
PXT_TEST(streams_that_share_a_line_get_a_log_each)
{
	static struct capture_frame frames[2];
	char second[sizeof path + 8];
	struct capture other = { 0 };
	size_t at[2] = { 0, 0 };
	struct log log;

	(void)snprintf(second, sizeof second, "%s-2", path);
	(void)unlink(second);
	capture_run(&other, &plain_story);
	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < 2; i++) {
			const struct capture *one = i ? &other : &clean;

			if (!capture_next(one, &at[i], &frames[i]))
				continue;
			put(one->bytes + frames[i].at, frames[i].bytes);
			more = true;
		}
	}
	receive(&bad, 4096, 1);
	PXT_EQ(sums.logs, 2);
	PXT_EQ(sums.bad, 0);
	PXT_EQ(sums.frames_missing, 0);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	learn(&other);
	read_log(&log, second);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	(void)unlink(second);
	capture_free(&other);
}

/* A board without clock and noise makes the same UUID at each start. */
PXT_TEST(a_reset_is_noticed_also_under_the_same_uuid)
{
	char second[sizeof path + 8];
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	(void)snprintf(second, sizeof second, "%s-2", path);
	for (unsigned part = 1; part <= 2; part++) {
		bad.count = 0;
		put(clean.bytes, part == 1 ? truth.at[truth.frames / 2] : clean.count);
		put(clean.bytes, clean.count);
		(void)unlink(second);
		receive(&bad, 4096, part);
		PXT_EQ(sums.logs, 2);
		PXT_EQ(sums.bad, 0);
		read_log(&log, second);
		check_law(&log, truth.records);
		PXT_EQ(log.events, truth.records);
		(void)unlink(second);
	}
}

/* Packets arrive whole or not, twice, or with a flipped bit. */
PXT_TEST(packets_that_are_dropped_flipped_or_doubled_are_counted)
{
	static struct capture_frame frame;
	static struct pxt_receiver in;

	capture_run(&clean, &plain_story);
	for (uint64_t seed = 1; seed <= 12; seed++) {
		uint64_t state = seed;
		unsigned number = 0;
		unsigned flipped = 0;
		unsigned twice = 0;
		struct log log;

		learn(&clean);
		name_it();
		(void)unlink(path);
		CU_ASSERT_FATAL(pxt_receiver_init(&in, path));
		for (size_t at = 0; capture_next(&clean, &at, &frame); number++) {
			size_t count = frame.frame.bytes + PXT_FRAME_OVERHEAD;
			uint32_t lot = capture_random(&state) % 40;
			/* The first and the last head, and the trailer, arrive. */
			bool safe = number == 0 || number >= truth.last_head;

			if (lot < 2 && !safe) {
				truth.whole[number] = false;
				continue;
			}
			if (lot == 2 && !safe) {
				frame.plain[capture_random(&state) % count] ^= 0x10;
				truth.whole[number] = false;
				flipped++;
			}
			pxt_receiver_packet(&in, NULL, frame.plain, count);
			if (lot == 3 && !safe) {
				pxt_receiver_packet(&in, NULL, frame.plain, count);
				twice++;
			}
		}
		PXT_EQ(pxt_receiver_end(&in), 0);
		pxt_receiver_sums(&in, &sums);
		read_log(&log, path);
		check_law(&log, truth.records);
		PXT_EQ(log.events, survivors());
		PXT_EQ(sums.bad, flipped);
		PXT_EQ(sums.frames_again, twice);
		PXT_EQ(sums.logs, 1);
	}
}

PXT_TEST(noise_between_frames_is_passed_over)
{
	unsigned char noise[300];
	uint64_t seed = 11;
	struct log log;

	capture_run(&clean, &plain_story);
	learn(&clean);
	bad.count = 0;
	for (unsigned i = 0; i < truth.frames; i++) {
		size_t count = capture_random(&seed) % sizeof noise;

		for (size_t k = 0; k < count; k++)
			noise[k] = (unsigned char)capture_random(&seed);
		noise[count ? count - 1 : 0] = 0;
		put(noise, count);
		put(clean.bytes + truth.at[i], truth.end[i] - truth.at[i]);
	}
	receive(&bad, 4096, 13);
	read_log(&log, path);
	check_law(&log, truth.records);
	PXT_EQ(log.events, truth.records);
	CU_ASSERT(sums.bad > 0);
}

PXT_TEST(what_was_cleared_is_not_reported)
{
	const struct capture_script script = { .form = POSIX_TRACE_LOG_FRAMES_NP,
		.events = 1000,
		.flush = 10,
		.clear_in_the_middle = true };
	const struct posix_trace_counts_np *counts;
	struct log log;

	capture_run(&clean, &script);
	receive(&clean, 4096, 1);
	read_log(&log, path);
	counts = &log.info.posix_counts_np;
	PXT_EQ(counts->posix_written_np, counts->posix_retrieved_np + counts->posix_lost_np +
	                                     counts->posix_cleared_np + counts->posix_held_np);
	CU_ASSERT(log.events < 650);
	CU_ASSERT(log.events >= 499);
	PXT_EQ(log.last, 999);
}

/* ---- Plain logs ---- */

PXT_TEST(a_plain_log_from_a_pipe_is_received_too)
{
	struct capture_script script = plain_story;
	struct log log;

	script.form = POSIX_TRACE_LOG_AUTO_NP;
	capture_run(&clean, &script);
	CU_ASSERT(clean.count > 8 && clean.bytes[0] == 0x89 && clean.bytes[1] == 'P');
	for (size_t most = 13; most < 100000; most *= 30) {
		receive(&clean, most, most);
		PXT_EQ(sums.bad, 0);
		read_log(&log, path);
		check_law(&log, log.events);
		CU_ASSERT(log.events > EVENTS);
		PXT_EQ(log.last, EVENTS - 1);
		PXT_EQ(log.lost, 0);
	}
}

PXT_TEST(a_damaged_block_of_a_plain_log_costs_itself)
{
	struct capture_script script = plain_story;
	unsigned whole;
	struct log log;

	script.form = POSIX_TRACE_LOG_PLAIN_NP;
	capture_run(&clean, &script);
	receive(&clean, 4096, 1);
	read_log(&log, path);
	whole = log.events;
	for (unsigned seed = 1; seed < 9; seed++) {
		uint64_t state = seed;
		size_t place = 600 + (capture_random(&state) % (clean.count - 1500));

		bad.count = 0;
		put(clean.bytes, place);
		put(clean.bytes + place + 1, clean.count - place - 1);
		receive(&bad, 4096, seed);
		CU_ASSERT(sums.bad > 0);
		read_log(&log, path);
		check_law(&log, whole);
		CU_ASSERT(log.events > whole / 2);
		PXT_EQ(log.events + sums.events_missing, whole);
	}
}

PXT_TEST(two_plain_logs_one_behind_the_other_are_two_logs)
{
	struct capture_script script = plain_story;
	char second[sizeof path + 8];
	struct log log;

	script.form = POSIX_TRACE_LOG_PLAIN_NP;
	script.events = 100;
	capture_run(&clean, &script);
	bad.count = 0;
	put(clean.bytes, clean.count);
	put(clean.bytes, clean.count);
	(void)snprintf(second, sizeof second, "%s-2", path);
	(void)unlink(second);
	receive(&bad, 65536, 1);
	PXT_EQ(sums.logs, 2);
	read_log(&log, second);
	check_law(&log, log.events);
	PXT_EQ(log.last, 99);
	(void)unlink(second);
}
