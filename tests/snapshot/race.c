/* SPDX-License-Identifier: MIT */
/*
 * race.c - the copy of a stream and its writers, step by step in one thread: what is overwritten
 * before it is copied, what comes between two heads, and what is not finished.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "beside.h"
#include "core/kit.h"
#include "suite.h"

#include "core/copy/copy.h"
#include "core/process/process.h"
#include "port/port.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OUTER  1u
#define NESTED 2u

static trace_id_t stream;

/* What a snapshot holds of the writers' events. */
static struct {
	int error;
	uint32_t first[KIT_WRITERS];
	uint32_t last[KIT_WRITERS];
	uint32_t events;
	uint32_t gaps;
	uint64_t told; /* lost, says the log */
	uint64_t held; /* records in the log */
	bool sound;
} shot;

static void look_at(FILE *file)
{
	static unsigned char data[4096];
	struct posix_trace_loginfo_np about;
	struct posix_trace_event_info info;
	struct posix_trace_logcheck_np sum;
	trace_id_t log = 0;
	size_t len = 0;
	int over = 0;

	shot.sound = posix_trace_log_check_np(
	                 fileno(file), &sum, sizeof(sum), NULL, 0, 0, NULL, NULL) == 0 &&
	             sum.posix_findings_np == 0;
	PXT_EQ_FATAL(posix_trace_open(fileno(file), &log), 0);
	PXT_EQ(posix_trace_log_getinfo_np(log, &about, sizeof(about)), 0);
	shot.told = about.posix_counts_np.posix_lost_np;
	shot.held = about.posix_counts_np.posix_retrieved_np;
	for (;;) {
		uint32_t word = 0;
		unsigned char want[4096];

		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, data, sizeof(data), &len, &over), 0);
		if (over)
			break;
		if (info.posix_event_id != kit_type())
			continue;
		memcpy(&word, data, 4);
		kit_data(want, word >> 24, word & 0xffffffu, len);
		shot.sound &= memcmp(data, want, len) == 0;
		shot.gaps +=
		    shot.last[word >> 24] && (word & 0xffffffu) != shot.last[word >> 24] + 1;
		shot.last[word >> 24] = word & 0xffffffu;
		if (!shot.first[word >> 24])
			shot.first[word >> 24] = word & 0xffffffu;
		shot.events++;
	}
	PXT_EQ(posix_trace_close(log), 0);
}

static void save(void *argument)
{
	FILE *file = tmpfile();

	CU_ASSERT_FATAL(file != NULL);
	memset(&shot, 0, sizeof(shot));
	shot.error = posix_trace_snapshot_np(stream, fileno(file));
	PXT_EQ_FATAL(shot.error, 0);
	look_at(file);
	(void)fclose(file);
}

static void begin(int policy, unsigned lanes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };

	stream = kit_open(&spec);
	kit_start(stream);
}

static void end(void)
{
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- Writers overwrite what is being copied ---- */

static unsigned burst;

static void write_burst(void *argument)
{
	for (unsigned i = 0; i < burst; i++)
		kit_write(NESTED, i % 3 ? 4 : 30);
}

/* One case: 200 events on 64 slots a lane, and a burst of writes when the @nth slot is copied. */
static bool overwrite_at(unsigned lanes, uint32_t nth)
{
	struct posix_trace_counts_np counts;
	uint32_t slots = burst * 2u + burst / 3u * 2u + 4u;
	uint32_t most;

	begin(LOOP, lanes);
	for (uint32_t i = 0; i < 200; i++) {
		kit_lane(i % lanes);
		kit_write(OUTER, 4);
	}
	kit_lane(0);
	kit_counts(stream, &counts);
	kit_interrupt(nth, UINT64_C(1) << PXT_TP_COPIED_SLOT, write_burst, NULL);
	save(NULL);
	bool reached = kit_interrupted() >= 0;

	CU_ASSERT(shot.sound);
	/* What came after the moment is not in it, and not counted; unless the moment was put off. */
	bool again = shot.last[NESTED] != 0;
	PXT_EQ(shot.last[NESTED], again ? burst : 0u);
	PXT_EQ(shot.told + shot.held, counts.posix_written_np + (again ? burst : 0u));
	PXT_EQ(shot.gaps, 0);
	PXT_CHECK(!again || slots >= 24u, "%u writes: put off", burst);
	/* Lost is at most what was overwritten, and in other lanes what is older. */
	most = slots / 2u * lanes + lanes;
	PXT_CHECK(again || shot.events + most >= counts.posix_held_np,
	    "slot %u, %u writes: %u of %llu events", nth, burst, shot.events,
	    (unsigned long long)counts.posix_held_np);
	/* There is always half a lane. */
	PXT_CHECK(shot.events >= 8u, "slot %u, %u writes: %u events", nth, burst, shot.events);
	PXT_CHECK(again || shot.last[OUTER] == 200, "slot %u, %u writes: the last is %u", nth,
	    burst, shot.last[OUTER]);
	end();
	return reached;
}

/* Every slot, and bursts of less than a record's room up to more than a lap. */
PXT_TEST(what_is_overwritten_before_it_is_copied_is_one_gap_in_front)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (burst = 1; burst <= 64; burst = burst * 2u + 1u) {
			uint32_t nth = 0;

			while (overwrite_at(lanes, nth))
				nth += 1u + nth / 8u;
			PXT_CHECK(nth >= 60u * lanes, "only %u slots", nth);
		}
}

/* After the clock: in no lane, whichever head was read already. */
PXT_TEST(what_comes_between_the_heads_is_younger_and_left_out)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2)
		for (unsigned into = 0; into < lanes; into++)
			for (uint32_t nth = 0; nth < lanes; nth++) {
				begin(LOOP, lanes);
				for (uint32_t i = 0; i < 12; i++) {
					kit_lane(i % lanes);
					kit_write(OUTER, 4);
				}
				kit_lane(into);
				burst = 3;
				kit_interrupt(
				    nth, UINT64_C(1) << PXT_TP_COPIED_HEAD, write_burst, NULL);
				save(NULL);
				CU_ASSERT(kit_interrupted() >= 0);
				CU_ASSERT(shot.sound);
				PXT_EQ(shot.events, 12);
				PXT_EQ(shot.last[OUTER], 12);
				PXT_EQ(shot.told, 0);
				PXT_EQ(shot.held, 13);
				end();
				PXT_EQ(kit_missing(NESTED, 1, 3), 0);
			}
}

/* ---- Unfinished records ---- */

/* It is lost in the log, where it had its place already, and no loss of the stream's. */
static bool save_within_a_write(int policy, unsigned lanes, uint32_t nth)
{
	begin(policy, lanes);
	kit_write(OUTER, 4);
	kit_write(OUTER, 30);
	/* LEFT may also be where the fast path gives up. */
	kit_interrupt(nth, KIT_WRITER_POINTS & ~(UINT64_C(1) << PXT_TP_LEFT), save, NULL);
	kit_write(OUTER, 30);
	int point = kit_interrupted();

	if (point < 0) {
		end();
		return false;
	}
	CU_ASSERT(shot.sound);
	PXT_CHECK(shot.events >= 2 && shot.events <= 3, "point %d: %u events", point, shot.events);
	/* START, two events; the third one is in, lost, or not yet written. */
	PXT_CHECK(shot.held + shot.told >= 3 && shot.held + shot.told <= 4 &&
	              shot.held == shot.events + 1u,
	    "point %d: %llu in it, %llu lost", point, (unsigned long long)shot.held,
	    (unsigned long long)shot.told);
	PXT_CHECK((point < PXT_TP_RESERVED) == (shot.held + shot.told == 3),
	    "point %d: %llu and %llu", point, (unsigned long long)shot.held,
	    (unsigned long long)shot.told);
	/* After its last piece it is whole. */
	PXT_CHECK(point == PXT_TP_MIDDLE_STORED || (point >= PXT_TP_STORED) == (shot.events == 3),
	    "point %d: %u", point, shot.events);
	end();
	PXT_EQ(kit_missing(OUTER, 1, 3), 0);
	return true;
}

PXT_TEST(a_record_that_is_not_finished_is_lost_in_the_log_and_not_in_the_stream)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		uint32_t nth = 0;

		while (save_within_a_write(LOOP, lanes, nth))
			nth++;
		CU_ASSERT(nth >= 6);
		nth = 0;
		while (save_within_a_write(FULL, lanes, nth))
			nth++;
		CU_ASSERT(nth >= 8);
	}
}

/* ---- An unfinished record that is finished in time ---- */

static sem_t reserved;
static sem_t go_on;
static atomic_int pauses;
static pthread_t late;

static void stop_late_writer(int point)
{
	if (point != PXT_TP_RESERVED || !pthread_equal(pthread_self(), late))
		return;
	(void)sem_post(&reserved);
	semwait(&go_on);
}

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (atomic_fetch_add(&pauses, 1) == 2)
		(void)sem_post(&go_on);
	__real_pxt_port_pause_ns(ns);
}

static void *write_late(void *argument)
{
	late = pthread_self();
	kit_write(NESTED, 30);
	return NULL;
}

PXT_TEST(a_record_that_is_finished_in_time_is_waited_for)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		pthread_t thread;

		begin(LOOP, lanes);
		PXT_EQ(sem_init(&reserved, 0, 0), 0);
		PXT_EQ(sem_init(&go_on, 0, 0), 0);
		pxt_holdback_ns = UINT64_C(20000000000);
		kit_write(OUTER, 4);
		pxt_testpoint_hook_set(stop_late_writer);
		PXT_EQ(pthread_create(&thread, NULL, write_late, NULL), 0);
		semwait(&reserved);
		kit_write(OUTER, 4);
		atomic_store(&pauses, 0);
		save(NULL);
		CU_ASSERT(atomic_load(&pauses) >= 3);
		(void)sem_post(&go_on);
		PXT_EQ(pthread_join(thread, NULL), 0);
		pxt_testpoint_hook_set(NULL);
		pxt_holdback_ns = KIT_HOLDBACK_NS;
		CU_ASSERT(shot.sound);
		/* Its stamp was read before the moment, so it belongs to it. */
		PXT_EQ(shot.events, 3);
		PXT_EQ(shot.last[NESTED], 1);
		PXT_EQ(shot.last[OUTER], 2);
		PXT_EQ(shot.told, 0);
		end();
		PXT_EQ(kit_missing(NESTED, 1, 1), 0);
	}
}

static void stop_it(void *argument)
{
	PXT_EQ(posix_trace_stop(stream), 0);
}

/* A writer that comes after a stop reserves nothing: nobody waits for it. */
PXT_TEST(what_came_too_late_is_not_waited_for)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(LOOP, lanes);
		kit_write(OUTER, 4);
		kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, stop_it, NULL);
		kit_write(NESTED, 60);
		PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
		kit_start(stream);
		kit_write(OUTER, 4);
		atomic_store(&pauses, 100);
		save(NULL);
		PXT_EQ(atomic_load(&pauses), 100);
		CU_ASSERT(shot.sound);
		PXT_EQ(shot.events, 2);
		PXT_EQ(shot.told, 1);
		end();
	}
}

/* ---- Between an automatic STOP and its restart ---- */

static pthread_t flusher;

static void *flush_it(void *argument)
{
	PXT_EQ(posix_trace_flush(stream), 0);
	return NULL;
}

static void *drain_it(void *argument)
{
	char bytes[4096];
	const int *from = argument;

	while (read(*from, bytes, sizeof(bytes)) > 0)
		continue;
	return NULL;
}

/* The stream stops by itself; a flush takes all of it, the STOP too, and hangs in its device. */
static void fill_and_flush(void *argument)
{
	struct posix_trace_counts_np now;
	struct posix_trace_status_info status;

	do {
		kit_write(OUTER, 4);
		PXT_EQ(posix_trace_get_status(stream, &status), 0);
	} while (status.posix_stream_status == POSIX_TRACE_RUNNING);
	PXT_EQ(pthread_create(&flusher, NULL, flush_it, NULL), 0);
	do {
		pxt_port_pause_ns(1000000);
		kit_counts(stream, &now);
	} while (now.posix_held_np);
}

static trace_id_t with_log(int fd)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(&attr, FULL), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 1024), 0);
	PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, 1), 0);
	/* All writers take the slow path: a short one that a stop overtakes is refused. */
	PXT_EQ_FATAL(posix_trace_attr_setorderedstamps_np(&attr, 1), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	memset(&kit_seen, 0, sizeof(kit_seen));
	return trid;
}

/* What the stream holds then is in the snapshot, though no reader would get it before the START. */
PXT_TEST(a_late_record_behind_a_stop_that_was_handed_out_is_in_it)
{
	char zeros[4096] = { 0 };
	pthread_t drainer;
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	PXT_EQ(fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
	PXT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
	stream = with_log(ends[1]);
	PXT_EQ(posix_trace_start(stream), 0);
	/* The head is in the pipe, and nothing else fits after this. */
	PXT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], zeros, 16) > 0)
		continue;
	PXT_EQ(fcntl(ends[1], F_SETFL, 0), 0);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, fill_and_flush, NULL);
	kit_write(NESTED, 30);
	PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
	save(NULL);
	CU_ASSERT(shot.sound);
	PXT_EQ(shot.events, 1);
	PXT_EQ(shot.last[NESTED], 1);
	PXT_EQ(shot.held, 1);
	PXT_EQ(pthread_create(&drainer, NULL, drain_it, &ends[0]), 0);
	PXT_EQ(pthread_join(flusher, NULL), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ(close(ends[1]), 0);
	PXT_EQ(pthread_join(drainer, NULL), 0);
	PXT_EQ(close(ends[0]), 0);
}

/* ---- The copy itself ---- */

/* No record of a copy changes a word that writers or readers of the stream look at. */
PXT_TEST(the_stream_has_every_word_that_it_had)
{
	static unsigned char before[1 << 16];

	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (unsigned kind = 0; kind < 4; kind++) {
			struct posix_trace_counts_np counts;
			struct pxt_stream *own;
			size_t bytes;

			begin(kind % 2 ? FULL : LOOP, lanes);
			for (uint32_t i = 0; i < (kind < 2 ? 10u : 200u); i++)
				kit_write(OUTER, 4);
			if (kind == 3)
				(void)kit_read(stream);
			/* Laps are noticed, and words that follow others (words.h) brought up. */
			kit_counts(stream, &counts);
			own = kit_stream(stream);
			bytes = own->block_bytes;
			CU_ASSERT_FATAL(bytes <= sizeof(before));
			memcpy(before, own->block, bytes);
			save(NULL);
			CU_ASSERT(memcmp(before, own->block, bytes) == 0);
			end();
		}
}
