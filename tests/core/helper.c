/* SPDX-License-Identifier: MIT */
/*
 * helper.c - the helper thread of policy FLUSH goes to sleep: what is written meanwhile by writers
 * that looked at its flag before it was up.
 *
 * The port's fence is wrapped: between the announcement and the sleep it is called once.  So are writes of
 * the log, which fail as on a full device.
 */
#define _GNU_SOURCE 1 /* pthread_timedjoin_np() */
#include "../suite.h"

#include "beside.h"
#include "core/process/threads.h"
#include "core/stream/stream.h"
#include "port/port_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <trace_np.h>

void __real_pxt_port_wake(_Atomic uint32_t *word);
void __wrap_pxt_port_wake(_Atomic uint32_t *word);
bool __real_pxt_port_fence_all(void);
bool __wrap_pxt_port_fence_all(void);

int __real_pxt_port_log_write(
    struct pxt_port_log *log, const void *data, size_t bytes, size_t *done);
int __wrap_pxt_port_log_write(
    struct pxt_port_log *log, const void *data, size_t bytes, size_t *done);
int __real_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);
int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);

/* Bytes of an event that takes more slots than a stream of 4096 has above its mark. */
#define LARGE 2800u

static trace_event_id_t event;
static pthread_t test;
static atomic_bool armed;
static atomic_bool written;
static atomic_bool asked_to_end; /* next time it goes to sleep */
static atomic_bool at_its_sleep;

/* Two slots each. */
static void fill(uint32_t slots)
{
	for (uint32_t used = 0; used < slots; used += 2)
		posix_trace_event(event, "mark", 4);
}

static void fill_up_to_the_mark(void)
{
	fill(pxt_streams[0].block->mark);
}

static bool is_closing(struct pxt_stream *stream)
{
	bool closing;

	pxt_port_mutex_lock(&stream->mutex);
	closing = stream->closing;
	pxt_stream_unlock(stream);
	return closing;
}

/*
 * As a helper that got the stream's lock when the shutdown had it last, and announced itself when the
 * shutdown had said all.  Three seconds at most.
 */
static void be_ended_before_the_announcement(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct pxt_stream *stream = &pxt_streams[0];
	_Atomic uint32_t *asleep = &stream->block->asleep;
	uint32_t announced = atomic_load(asleep);

	pxt_stream_unlock(stream);
	atomic_store(&at_its_sleep, true);
	for (int i = 0; i < 3000 && !is_closing(stream); i++)
		(void)nanosleep(&moment, NULL);
	atomic_store(asleep, announced);
	for (int i = 0; i < 3000 && atomic_load(asleep); i++)
		(void)nanosleep(&moment, NULL);
	pxt_port_mutex_lock(&stream->mutex);
	atomic_store(asleep, announced);
}

bool __wrap_pxt_port_fence_all(void)
{
	if (!pthread_equal(pthread_self(), test) && atomic_exchange(&asked_to_end, false))
		be_ended_before_the_announcement();
	if (!pthread_equal(pthread_self(), test) && atomic_exchange(&armed, false)) {
		_Atomic uint32_t *asleep = &pxt_streams[0].block->asleep;
		uint32_t flag = atomic_exchange(asleep, 0u);

		fill_up_to_the_mark();
		atomic_store(asleep, flag);
		atomic_store(&written, true);
	}
	return __real_pxt_port_fence_all();
}

/* ---- A writer that is kept from the processor when it is to wake the helper ---- */

static struct {
	void (*write)(void);
	pthread_t thread;
	sem_t there;
	sem_t go_on;
} kept;
static _Thread_local bool is_kept;

void __wrap_pxt_port_wake(_Atomic uint32_t *word)
{
	if (is_kept) {
		is_kept = false;
		(void)sem_post(&kept.there);
		semwait(&kept.go_on);
	}
	__real_pxt_port_wake(word);
}

static void *write_and_be_kept(void *unused)
{
	is_kept = true;
	kept.write();
	return NULL;
}

static void keep_a_writer(void (*write)(void))
{
	kept.write = write;
	PXT_EQ_FATAL(sem_init(&kept.there, 0, 0), 0);
	PXT_EQ_FATAL(sem_init(&kept.go_on, 0, 0), 0);
	PXT_EQ_FATAL(pthread_create(&kept.thread, NULL, write_and_be_kept, NULL), 0);
	semwait(&kept.there);
}

static void let_it_go_on(void)
{
	(void)sem_post(&kept.go_on);
	PXT_EQ(pthread_join(kept.thread, NULL), 0);
}

/* ---- A device that takes nothing ---- */

static atomic_bool is_full;
static atomic_uint attempts;

int __wrap_pxt_port_log_write(
    struct pxt_port_log *log, const void *data, size_t bytes, size_t *done)
{
	if (!atomic_load(&is_full))
		return __real_pxt_port_log_write(log, data, bytes, done);
	atomic_fetch_add(&attempts, 1u);
	*done = 0;
	return ENOSPC;
}

int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done)
{
	if (!atomic_load(&is_full))
		return __real_pxt_port_log_write_at(log, offset, data, bytes, done);
	atomic_fetch_add(&attempts, 1u);
	*done = 0;
	return ENOSPC;
}

/*
 * Less is held than a sleeping helper must be woken for.  Not nothing: when its first sleep was still to
 * come, it may have flushed in the middle of what the test wrote.
 */
static bool falls_below_the_mark(trace_id_t trid)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uint32_t mark = pxt_streams[0].block->mark;
	struct posix_trace_counts_np counts;

	for (int i = 0; i < 3000; i++) {
		PXT_EQ_FATAL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		if (atomic_load(&written) && counts.posix_held_np * 2 < mark)
			return true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

static trace_id_t begin(FILE *file, size_t bytes, unsigned lanes)
{
	trace_attr_t attr;
	trace_id_t trid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, bytes), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, LARGE), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, lanes), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	test = pthread_self();
	PXT_EQ(posix_trace_eventid_open("helper_event", &event), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fileno(file), &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	return trid;
}

/* POL-14, DEC-15; ruling 13 */
PXT_TEST(the_helper_looks_again_behind_its_announcement)
{
	FILE *file = tmpfile();
	trace_id_t trid = begin(file, 16384, 1);

	atomic_store(&armed, true);
	/* Its next sleep is the one after this flush; or its first, if that is still to come. */
	fill_up_to_the_mark();
	CU_ASSERT(falls_below_the_mark(trid));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)fclose(file);
}

static void *shut_down(void *trid)
{
	return posix_trace_shutdown(*(trace_id_t *)trid) == 0 ? NULL : trid;
}

/* SHUT-01; ruling 13 */
PXT_TEST(a_helper_on_its_way_to_sleep_ends_with_its_stream)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	FILE *file = tmpfile();
	trace_id_t trid = begin(file, 16384, 1);
	struct timespec limit;
	pthread_t thread;
	void *failed = NULL;

	atomic_store(&asked_to_end, true);
	/* It flushes, and goes to sleep again; or for the first time. */
	fill_up_to_the_mark();
	for (int i = 0; i < 3000 && !atomic_load(&at_its_sleep); i++)
		(void)nanosleep(&moment, NULL);
	CU_ASSERT_FATAL(atomic_load(&at_its_sleep));
	PXT_EQ_FATAL(pthread_create(&thread, NULL, shut_down, &trid), 0);
	(void)clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 60;
	if (pthread_timedjoin_np(thread, &failed, &limit) != 0) {
		CU_FAIL("the helper sleeps on");
		atomic_store(&pxt_streams[0].block->asleep, 0u);
		pxt_port_wake(&pxt_streams[0].block->asleep);
		(void)pthread_join(thread, &failed);
	}
	CU_ASSERT_PTR_NULL(failed);
	(void)fclose(file);
}

/* POL-14, STA-03 */
PXT_TEST(after_an_error_it_waits_a_tenth_of_a_second_before_it_tries_again)
{
	const struct timespec while_full = { .tv_nsec = 250000000 };
	FILE *file = tmpfile();
	/* More than a block of the log takes, so that the stream stays full. */
	trace_id_t trid = begin(file, (size_t)4 * CONFIG_PTRACE_LOG_BLOCK_SIZE, 1);
	long long begun = pxt_monotonic_ns();
	unsigned tried;

	atomic_store(&attempts, 0u);
	atomic_store(&is_full, true);
	fill_up_to_the_mark();
	fill_up_to_the_mark();
	(void)nanosleep(&while_full, NULL);
	tried = atomic_load(&attempts);
	PXT_CHECK(
	    (long long)tried <= (pxt_monotonic_ns() - begun) / 100000000 + 1, "%u attempts", tried);
	CU_ASSERT(tried > 0);
	atomic_store(&is_full, false);
	atomic_store(&written, true);
	CU_ASSERT(falls_below_the_mark(trid));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)fclose(file);
}

/* POL-14, DEC-15 */
PXT_TEST(a_lane_that_is_not_the_first_is_flushed_at_its_mark)
{
	static const volatile uint32_t second = 1;
	FILE *file = tmpfile();
	trace_id_t trid = begin(file, 16384, 2);
	const volatile uint32_t *own;

	pxt_threads_known();
	own = pxt_self.cpu;
	pxt_self.cpu = &second;
	fill_up_to_the_mark();
	pxt_self.cpu = own;
	atomic_store(&written, true);
	CU_ASSERT(falls_below_the_mark(trid));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)fclose(file);
}

/* POL-14; ruling 27 */
PXT_TEST(a_writer_that_does_not_come_to_wake_it_leaves_that_to_the_next)
{
	FILE *file = tmpfile();
	trace_id_t trid = begin(file, 16384, 1);

	/* Long enough for its first sleep. */
	(void)nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	keep_a_writer(fill_up_to_the_mark);
	/* START took more slots than these. */
	fill(64);
	atomic_store(&written, true);
	CU_ASSERT(falls_below_the_mark(trid));
	let_it_go_on();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)fclose(file);
}

static void write_large(void)
{
	static const unsigned char large[LARGE];

	posix_trace_event(event, large, sizeof(large));
}

/* By no function of the library: those that record the STOP that is owed wake the helper themselves. */
static bool runs_again(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < 3000; i++) {
		if (pxt_block_state(pxt_streams[0].block) == PXT_GATE_RUNNING)
			return true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

/* The helper is asleep, since there is less than it is woken for. */
static trace_id_t begin_below_the_mark(FILE *file)
{
	trace_id_t trid = begin(file, 4096, 1);

	/* Long enough for its first sleep. */
	(void)nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	/* START is there, too. */
	fill(pxt_streams[0].block->mark - 20u);
	return trid;
}

static void end_after_losses(trace_id_t trid, FILE *file, unsigned long long losses)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, losses);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)fclose(file);
}

/* POL-14 */
PXT_TEST(an_event_that_finds_no_room_below_the_mark_wakes_it)
{
	FILE *file = tmpfile();
	trace_id_t trid = begin_below_the_mark(file);

	write_large();
	CU_ASSERT(runs_again());
	/* Otherwise there was room. */
	end_after_losses(trid, file, 1);
}

/* POL-14; ruling 27 */
PXT_TEST(a_refused_event_wakes_it_where_the_writer_that_stopped_the_stream_does_not)
{
	FILE *file = tmpfile();
	trace_id_t trid = begin_below_the_mark(file);

	keep_a_writer(write_large);
	PXT_EQ(pxt_block_state(pxt_streams[0].block), PXT_GATE_AUTO);
	posix_trace_event(event, "more", 4);
	CU_ASSERT(runs_again());
	let_it_go_on();
	end_after_losses(trid, file, 2);
}
