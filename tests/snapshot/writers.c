/* SPDX-License-Identifier: MIT */
/*
 * writers.c - snapshots while two threads trace as fast as they can, and one may read: each holds
 * what was done before it, nothing of what began after it, and no gap; and nobody else notices.
 */
#include "../beside.h"
#include "conformance/story.h"
#include "stress/events.h"
#include "suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITERS 2u

static struct writer {
	pthread_t thread;
	uint32_t source;
	_Atomic uint32_t begun;
	_Atomic uint32_t done;
} writers[WRITERS];
static atomic_bool enough;

static void *write_on(void *argument)
{
	struct writer *writer = argument;

	for (uint32_t n = 1; !atomic_load_explicit(&enough, memory_order_relaxed); n++) {
		atomic_store(&writer->begun, n);
		ev_say(writer->source, n);
		atomic_store(&writer->done, n);
	}
	return NULL;
}

static void start_writers(void)
{
	atomic_store(&enough, false);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i].source = i + 1u;
		atomic_store(&writers[i].begun, 0u);
		atomic_store(&writers[i].done, 0u);
		PXT_EQ_FATAL(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		while (atomic_load(&writers[i].done) < 1000u)
			ev_sleep_us(100);
	}
}

static void end_writers(void)
{
	atomic_store(&enough, true);
	for (uint32_t i = 0; i < WRITERS; i++)
		PXT_EQ(pthread_join(writers[i].thread, NULL), 0);
}

/* ---- What a snapshot must be ---- */

/*
 * What is missing between events of one thread, and what the log says was lost after the first.
 * With a sanitizer a copy takes as long as writers need for a lap: then lanes may be gone.
 */
struct holes {
	uint64_t missing;
	uint64_t told;
};

static void read_log(trace_id_t log, struct ev_witness *witness, struct holes *holes)
{
	static struct st_event event;
	struct posix_trace_eventextra_np extra;

	memset(holes, 0, sizeof(*holes));
	while (st_take(log, &event)) {
		uint32_t before[EV_SOURCES];
		bool ours = event.info.posix_event_id == ev_type();

		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		holes->told += witness->user ? extra.posix_lost_before_np : 0u;
		memcpy(before, witness->last, sizeof(before));
		ev_look(witness, &event.info, event.data, event.len);
		for (uint32_t i = 1; ours && i <= WRITERS; i++) {
			if (before[i] && witness->last[i] > before[i])
				holes->missing += witness->last[i] - before[i] - 1u;
		}
	}
	PXT_EQ(witness->torn + witness->disordered + witness->strange + witness->back, 0);
	/* A writer that was kept away within a write for a hold-back time, or a lap (ruling 23). */
	PXT_CHECK(holes->missing <= holes->told || st_sanitized(),
	    "%llu are missing, %llu were told", (unsigned long long)holes->missing,
	    (unsigned long long)holes->told);
}

/* Snapshots, and those that lack a lane's newest. */
static unsigned made;
static unsigned short_of_some;

/*
 * A copy that has no processor for a lap of the writers finds nothing of that lane; what is left
 * of a writer may then be what it once wrote into another one.
 */
static void expect_few_short(void)
{
	PXT_CHECK(short_of_some * 20 <= made || st_sanitized(),
	    "%u snapshots of %u lack a lane's newest", short_of_some, made);
	made = 0;
	short_of_some = 0;
}

/* Returns how many of the writers' events it has. */
static uint64_t save(trace_id_t trid)
{
	struct posix_trace_loginfo_np info;
	struct ev_witness witness = { 0 };
	struct holes holes;
	uint32_t done[WRITERS];
	uint32_t begun[WRITERS];
	struct sn_shot shot = { .fd = st_file() };

	for (uint32_t i = 0; i < WRITERS; i++)
		done[i] = atomic_load(&writers[i].done);
	PXT_EQ_FATAL(posix_trace_snapshot_np(trid, shot.fd), 0);
	for (uint32_t i = 0; i < WRITERS; i++)
		begun[i] = atomic_load(&writers[i].begun);
	shot = sn_open(shot.fd);
	read_log(shot.log, &witness, &holes);
	made++;
	for (uint32_t i = 0; i < WRITERS; i++) {
		uint32_t last = witness.last[writers[i].source];

		/* 0: it was kept away for as long as the other needs for the whole stream. */
		short_of_some += last < done[i] && last && !holes.told;
		PXT_CHECK(last <= begun[i], "writer %u had begun %u, %u is the last in it", i,
		    begun[i], last);
	}
	PXT_EQ(posix_trace_log_getinfo_np(shot.log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_counts_np.posix_retrieved_np, ev_counted(&witness));
	PXT_EQ(info.posix_counts_np.posix_held_np, 0);
	sn_close(&shot);
	return witness.user;
}

static unsigned times(unsigned few)
{
	return pxt_in_full() && (!st_sanitized() || pxt_in_whole()) ? few * 20u : few;
}

/* ---- Streams that overwrite ---- */

static void recorder(unsigned lanes, size_t size, bool reading, unsigned few)
{
	const struct st_spec spec = {
		.policy = POSIX_TRACE_LOOP, .lanes = lanes, .size = size, .max_data = EV_MOST_BYTES
	};
	struct posix_trace_counts_np counts;
	struct ev_witness witness = { 0 };
	trace_id_t trid = st_started(&spec);

	start_writers();
	for (unsigned i = 0; i < times(few); i++) {
		(void)save(trid);
		if (reading)
			(void)ev_drain(trid, &witness, 300);
	}
	end_writers();
	expect_few_short();
	PXT_EQ(posix_trace_stop(trid), 0);
	/* Those before may have been overtaken: their makers had no processor for a while. */
	CU_ASSERT(save(trid) > 1000 || reading);
	/* Nothing of that took anything from the reader. */
	(void)ev_drain(trid, &witness, UINT64_MAX);
	PXT_EQ(witness.torn + witness.disordered + witness.strange + witness.back, 0);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_retrieved_np, ev_counted(&witness));
	PXT_EQ(counts.posix_written_np,
	    2u + atomic_load(&writers[0].done) + atomic_load(&writers[1].done));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_recorder_that_is_written_into_gives_all_that_was_done_without_a_gap)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2)
		recorder(lanes, 1 << 20, false, 6);
}

/* The reader may pass over a record whose writer has no processor, which is no event more. */
PXT_TEST(so_does_one_that_is_read_in_between)
{
	UNREPORTED();
	recorder(1, 1 << 19, true, 6);
	recorder(2, 1 << 19, true, 6);
}

/* ---- Streams that do not ---- */

static void *read_on(void *argument)
{
	trace_id_t trid = *(trace_id_t *)argument;
	struct ev_witness *witness = malloc(sizeof(*witness));

	if (!witness)
		return NULL;
	memset(witness, 0, sizeof(*witness));
	while (!atomic_load(&enough)) {
		if (!ev_drain(trid, witness, 200))
			ev_sleep_us(50);
	}
	return witness;
}

/* The reader frees what was copied just now, and writers fill it again. */
PXT_TEST(a_stream_that_is_read_at_the_same_time_loses_nothing_by_it)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		const struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL,
			.lanes = lanes,
			.size = 1 << 14,
			.max_data = EV_MOST_BYTES };
		struct posix_trace_counts_np counts;
		struct ev_witness *witness = NULL;
		trace_id_t trid;
		pthread_t reader;

		trid = st_started(&spec);
		start_writers();
		PXT_EQ(pthread_create(&reader, NULL, read_on, &trid), 0);
		for (unsigned i = 0; i < times(60); i++) {
			struct sn_shot shot = sn_take(trid);
			struct ev_witness seen = { 0 };
			struct holes holes;

			read_log(shot.log, &seen, &holes);
			sn_close(&shot);
		}
		end_writers();
		PXT_EQ(pthread_join(reader, (void **)&witness), 0);
		CU_ASSERT_FATAL(witness != NULL);
		(void)ev_drain(trid, witness, UINT64_MAX);
		PXT_EQ(witness->torn + witness->disordered + witness->strange + witness->back, 0);
		CU_ASSERT(st_law(trid, &counts));
		PXT_EQ(counts.posix_retrieved_np, ev_counted(witness));
		PXT_EQ(counts.posix_held_np, 0);
		free(witness);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}
