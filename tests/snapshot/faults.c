/* SPDX-License-Identifier: MIT */
/*
 * faults.c - snapshots when the system below fails, is slow, or is asked a thousand times: the
 * stream does not know, and nothing is left behind.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "conformance/story.h"
#include "fakes/fakes.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A stream whose window takes several blocks of a log. */
static trace_id_t begin(struct posix_trace_counts_np *counts)
{
	const struct st_spec spec = { .policy = LOOP, .lanes = 2, .size = 1 << 17 };
	trace_id_t trid = st_started(&spec);

	st_say_many(1, 1500);
	CU_ASSERT(st_law(trid, counts));
	return trid;
}

static void end(trace_id_t trid)
{
	st_expect(trid, "START 1..1500");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static int refused_by_open(int fd)
{
	trace_id_t log = 0;

	return posix_trace_open(fd, &log);
}

/* ---- Writes that fail ---- */

struct failing {
	int flags;
	size_t accept;
	int error;
};

static const struct failing failing[] = {
	{ 0, 0, ENOSPC },
	{ 0, 100, EFBIG },
	{ O_APPEND, 17, EIO },
};

/* False: there was no @n-th write. */
static bool fail_at(trace_id_t trid, const struct failing *how, unsigned n)
{
	int fd = pxt_temp_file();
	bool reached;
	int error;

	PXT_EQ(fcntl(fd, F_SETFL, how->flags), 0);
	pxt_fault_arm(&pxt_fault_write, n, how->error);
	pxt_fault_write.accept = how->accept;
	error = posix_trace_snapshot_np(trid, fd);
	reached = atomic_load(&pxt_fault_write.calls) >= n;
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_CHECK(error == (reached ? how->error : 0), "write %u: %d", n, error);
	PXT_EQ(refused_by_open(fd), reached ? EINVAL : 0);
	PXT_EQ(close(fd), 0);
	return reached;
}

/* FLUSH-E2, DEC-29 */
PXT_TEST(whichever_write_fails_the_stream_is_as_it_was_and_the_file_is_no_log)
{
	struct posix_trace_counts_np counts;
	trace_id_t trid = begin(&counts);

	for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
		unsigned n = 1;

		for (; fail_at(trid, &failing[i], n); n++)
			CU_ASSERT(sn_same_counts(trid, &counts));
		PXT_CHECK(n > 6, "only %u writes", n);
	}
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	sn_expect(trid, "START 1..1500");
	end(trid);
}

PXT_TEST(a_device_that_says_not_now_is_asked_again)
{
	struct posix_trace_counts_np counts;
	trace_id_t trid = begin(&counts);
	int fd = pxt_temp_file();
	struct sn_shot shot;

	PXT_EQ(fcntl(fd, F_SETFL, O_APPEND), 0);
	pxt_fault_arm(&pxt_fault_write, 2, EAGAIN);
	pxt_fault_write.last = 6;
	pxt_fault_write.accept = 5;
	PXT_EQ(posix_trace_snapshot_np(trid, fd), 0);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	shot = sn_open(fd);
	st_expect(shot.log, "START 1..1500");
	sn_close(&shot);
	end(trid);
}

PXT_TEST(a_file_that_cannot_be_cut_is_told)
{
	struct posix_trace_counts_np counts;
	trace_id_t trid = begin(&counts);

	for (unsigned n = 1; n <= 2; n++) {
		int fd = pxt_temp_file();

		pxt_fault_arm(&pxt_fault_truncate, n, EIO);
		PXT_EQ(posix_trace_snapshot_np(trid, fd), EIO);
		pxt_fault_arm(&pxt_fault_truncate, 0, 0);
		PXT_EQ(close(fd), 0);
		CU_ASSERT(sn_same_counts(trid, &counts));
	}
	end(trid);
}

/* ---- Memory ---- */

PXT_TEST(memory_that_is_not_there_is_enomem_and_the_file_is_as_it_was)
{
	struct posix_trace_counts_np counts;
	trace_id_t trid = begin(&counts);
	int fd = pxt_temp_file();
	unsigned n = 1;

	PXT_EQ(write(fd, "precious", 8), 8);
	for (;; n++) {
		int error;

		pxt_fault_arm(&pxt_fault_alloc, n, 0);
		error = posix_trace_snapshot_np(trid, fd);
		if (!error)
			break;
		PXT_EQ(error, ENOMEM);
		PXT_EQ(st_file_bytes(fd), 8);
		CU_ASSERT(sn_same_counts(trid, &counts));
	}
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	PXT_EQ(n, 3); /* the copy, and the log */
	PXT_EQ(refused_by_open(fd), 0);
	PXT_EQ(close(fd), 0);
	end(trid);
}

static trace_id_t going;

static void it_goes(void)
{
	PXT_EQ(posix_trace_shutdown(going), 0);
}

/* LPT-31 */
PXT_TEST(of_a_stream_that_goes_while_memory_is_taken_nothing_stays)
{
	struct posix_trace_counts_np counts;
	int fd = pxt_temp_file();
	long before;

	/* What the process keeps is there. */
	end(begin(&counts));
	before = atomic_load(&pxt_live_blocks);
	going = begin(&counts);
	atomic_store(&pxt_fault_alloc_meanwhile, it_goes);
	PXT_EQ(posix_trace_snapshot_np(going, fd), EINVAL);
	PXT_EQ(atomic_load(&pxt_live_blocks), before);
	PXT_EQ(st_file_bytes(fd), 0);
	PXT_EQ(close(fd), 0);
}

/* ---- Beside others ---- */

struct other {
	trace_id_t trid;
	int fd;
	int error;
	atomic_int done;
};

static void *flush_it(void *argument)
{
	struct other *other = argument;

	other->error = posix_trace_flush(other->trid);
	atomic_store(&other->done, 1);
	return NULL;
}

static void *save_it(void *argument)
{
	struct other *other = argument;

	other->error = posix_trace_snapshot_np(other->trid, other->fd);
	atomic_store(&other->done, 1);
	return NULL;
}

static int drain(int from)
{
	char bytes[4096];
	int got = 0;

	/* Its writer is gone. */
	for (ssize_t n; (n = read(from, bytes, sizeof(bytes))) > 0;)
		got += (int)n;
	return got;
}

static void *drain_it(void *argument)
{
	struct other *other = argument;

	other->error = drain(other->fd) > 0 ? 0 : EIO;
	return NULL;
}

/* A flush that hangs in its device has its turn; neither it nor what it took is waited for. */
PXT_TEST(during_a_flush_it_holds_what_the_flush_has_not_taken)
{
	struct st_spec spec = { .policy = LOOP, .lanes = 1, .size = 1 << 18, .with_log = true };
	struct other flusher = { .done = 0 };
	struct other reader = { .done = 0 };
	struct st_event event;
	struct sn_shot shot;
	pthread_t thread;
	int first = 0;
	int last = 0;
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	(void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	spec.fd = ends[1];
	spec.log_policy = POSIX_TRACE_APPEND;
	flusher.trid = st_started(&spec);
	PXT_EQ(close(ends[1]), 0);
	st_say_many(1, 4000);
	PXT_EQ(pthread_create(&thread, NULL, flush_it, &flusher), 0);
	/* The first block was taken, and does not fit into the pipe. */
	for (struct posix_trace_counts_np now = { 0 }; now.posix_retrieved_np == 0;) {
		CU_ASSERT(st_law(flusher.trid, &now));
		pxt_sleep_ms(1);
	}
	st_say_many(4001, 4010);
	shot = sn_take(flusher.trid);
	PXT_EQ(atomic_load(&flusher.done), 0);
	while (st_take_user(shot.log, &event)) {
		CU_ASSERT(!first || st_number(&event) == last + 1);
		last = st_number(&event);
		first = first ? first : last;
	}
	PXT_CHECK(first > 1 && last == 4010, "%d to %d", first, last);
	sn_close(&shot);
	reader.fd = ends[0];
	{
		pthread_t drainer;

		PXT_EQ(pthread_create(&drainer, NULL, drain_it, &reader), 0);
		PXT_EQ(pthread_join(thread, NULL), 0);
		PXT_EQ(flusher.error, 0);
		PXT_EQ(posix_trace_shutdown(flusher.trid), 0);
		PXT_EQ(pthread_join(drainer, NULL), 0);
	}
	PXT_EQ(close(ends[0]), 0);
}

/* The device stands still; the stream is overwritten meanwhile, and then it is gone. */
PXT_TEST(a_slow_device_loses_nothing_of_it)
{
	struct posix_trace_counts_np counts;
	struct other saver = { .trid = begin(&counts) };
	pthread_t thread;
	struct sn_shot shot;
	int fd = pxt_temp_file();
	char bytes[4096];
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	(void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	saver.fd = ends[1];
	PXT_EQ(pthread_create(&thread, NULL, save_it, &saver), 0);
	/* Its beginning is there: so it has its copy. */
	PXT_EQ(read(ends[0], bytes, 8), 8);
	PXT_EQ(write(fd, bytes, 8), 8);
	st_say_many(1501, 40000);
	PXT_EQ(posix_trace_shutdown(saver.trid), 0);
	PXT_EQ(atomic_load(&saver.done), 0);
	/* The writing end is closed after its last byte. */
	PXT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	while (!atomic_load(&saver.done)) {
		ssize_t got = read(ends[0], bytes, sizeof(bytes));

		if (got > 0)
			PXT_EQ(write(fd, bytes, (size_t)got), got);
	}
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ(saver.error, 0);
	for (ssize_t got; (got = read(ends[0], bytes, sizeof(bytes))) > 0;)
		PXT_EQ(write(fd, bytes, (size_t)got), got);
	PXT_EQ(close(ends[0]), 0);
	PXT_EQ(close(ends[1]), 0);
	shot = sn_open(fd);
	st_expect(shot.log, "START 1..1500");
	sn_close(&shot);
}

PXT_TEST(three_at_once_do_not_disturb_each_other)
{
	for (int round = 0; round < 20; round++) {
		struct posix_trace_counts_np counts;
		struct other others[3];
		pthread_t threads[3];
		trace_id_t trid = begin(&counts);

		for (int i = 0; i < 3; i++) {
			others[i].trid = trid;
			others[i].fd = pxt_temp_file();
		}
		for (int i = 0; i < 3; i++)
			PXT_EQ(pthread_create(&threads[i], NULL, save_it, &others[i]), 0);
		for (int i = 0; i < 3; i++)
			PXT_EQ(pthread_join(threads[i], NULL), 0);
		for (int i = 0; i < 3; i++) {
			struct sn_shot shot;

			PXT_EQ(others[i].error, 0);
			shot = sn_open(others[i].fd);
			st_expect(shot.log, "START 1..1500");
			sn_close(&shot);
		}
		CU_ASSERT(sn_same_counts(trid, &counts));
		end(trid);
	}
}

/* ---- A clock that stands still ---- */

/* A reader's restart would have the same stamp as the moment. */
PXT_TEST_FRESH(without_any_time_passing_nothing_restarts_in_it)
{
	const struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL, .lanes = 1, .size = 2048 };
	struct st_full full;
	trace_id_t trid;

	pxt_fake_clock_start(1000000);
	pxt_fake_clock_set(5000);
	trid = st_full_stream(&spec, true, &full);
	sn_expect(trid, st_text("START 1..%d STOP1", full.recorded));
	st_expect(trid, st_text("START 1..%d STOP1 START", full.recorded));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
