/* SPDX-License-Identifier: MIT */
/*
 * law.c - written = retrieved + lost + cleared + held, exactly, whatever threads, signals and
 * readers do; and nothing torn, doubled or out of order on the way.
 */
#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum reader_kind {
	BUSY,   /* reads whenever there is something */
	SLOW,   /* reads less than is written */
	AWAY,   /* reads for 10 ms and is away for 50 */
	LOGGED, /* the flusher of a stream with log; the log is read in the end */
};

struct run {
	unsigned threads;
	int policy;
	unsigned lanes;
	bool ordered;
	enum reader_kind reader;
	bool signals;
	bool paced; /* writers rest now and then, so that a reader sees more than the end */
	size_t size;
};

static const struct run *now;
static trace_id_t stream;
static struct ev_witness witness;
static atomic_int writers_left;
static atomic_int reader_may_end;
static atomic_int watcher_may_end;
static atomic_ulong unlawful; /* stable snapshots of the counts that broke the law */
static atomic_ulong unstable;
static uint32_t per_thread;

/* ---- Writers and the signals that interrupt them ---- */

static pthread_t writers[32];
static _Thread_local volatile sig_atomic_t me = -1;
static _Thread_local volatile sig_atomic_t inside;
static _Thread_local uint32_t handler_number;
static atomic_ulong from_handlers;
static unsigned long long handled; /* by all runs of a test: a short run may meet no signal */
static atomic_ulong nested;        /* of these, in the middle of a trace point */

static void trace_in_handler(int signal)
{
	int saved = errno;

	if (me < 0)
		return;
	atomic_fetch_add(&from_handlers, 1);
	atomic_fetch_add(&nested, (unsigned long)inside);
	ev_say((uint32_t)me + EV_HANDLER, ++handler_number);
	errno = saved;
}

static void *write_events(void *argument)
{
	const unsigned *number = (const unsigned *)argument;

	handler_number = 0;
	me = (sig_atomic_t)*number;
	for (uint32_t i = 1; i <= per_thread; i++) {
		inside = 1;
		ev_say(*number, i);
		inside = 0;
		if (now->paced && i % 1000 == 0)
			pxt_sleep_ms((long)now->threads / 2);
	}
	me = -1;
	atomic_fetch_sub(&writers_left, 1);
	return NULL;
}

/* Sends signals to the writers, all of them again and again, until all have ended. */
static void *shoot(void *argument)
{
	while (atomic_load(&writers_left) > 0) {
		for (unsigned i = 0; i < now->threads; i++)
			(void)pthread_kill(writers[i], SIGUSR1);
		pxt_sleep_us(20);
	}
	return NULL;
}

/* ---- Readers ---- */

static void read_as_told(void)
{
	int64_t since = pxt_monotonic_ns();

	switch (now->reader) {
	case BUSY:
		if (ev_drain(stream, &witness, 100000) == 0)
			pxt_sleep_us(20);
		break;
	case SLOW:
		(void)ev_drain(stream, &witness, 20);
		pxt_sleep_us(100);
		break;
	case AWAY:
		while (pxt_monotonic_ns() - since < 10000000)
			(void)ev_drain(stream, &witness, 200);
		pxt_sleep_us(50000);
		break;
	case LOGGED:
		pxt_sleep_us(1000);
		break;
	}
}

static void *read_events(void *argument)
{
	while (!atomic_load(&reader_may_end))
		read_as_told();
	if (now->reader != LOGGED)
		(void)ev_drain(stream, &witness, (uint64_t)-1);
	return NULL;
}

static void *watch_the_law(void *argument)
{
	while (!atomic_load(&watcher_may_end)) {
		struct posix_trace_counts_np counts;

		if (posix_trace_getcounts_np(stream, &counts, sizeof(counts)) != 0)
			continue;
		if (!counts.posix_stable_np)
			atomic_fetch_add(&unstable, 1);
		else if (!ev_lawful(&counts))
			atomic_fetch_add(&unlawful, 1);
		pxt_sleep_us(200);
	}
	return NULL;
}

/* ---- One run ---- */

static int make_stream(int log_fd)
{
	const struct st_spec spec = {
		.policy = now->policy, .size = now->size, .lanes = now->lanes
	};
	trace_attr_t attr;

	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, now->ordered), 0);
#if _PXT_UNIT_TOLOG
	if (now->reader == LOGGED) {
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
		return posix_trace_create_withlog(0, &attr, log_fd, &stream);
	}
#endif
	return posix_trace_create(0, &attr, &stream);
}

static void trace_all(void)
{
	static unsigned numbers[32];
	pthread_t reader;
	pthread_t watcher;
	pthread_t shooter;

	memset(&witness, 0, sizeof(witness));
	per_thread = ev_total() / now->threads;
	atomic_store(&writers_left, (int)now->threads);
	atomic_store(&reader_may_end, 0);
	atomic_store(&watcher_may_end, 0);
	atomic_store(&from_handlers, 0);
	atomic_store(&nested, 0);
	atomic_store(&unlawful, 0);
	atomic_store(&unstable, 0);
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_events, NULL), 0);
	PXT_EQ_FATAL(pthread_create(&watcher, NULL, watch_the_law, NULL), 0);
	for (unsigned i = 0; i < now->threads; i++) {
		numbers[i] = i;
		PXT_EQ_FATAL(pthread_create(&writers[i], NULL, write_events, &numbers[i]), 0);
	}
	if (now->signals)
		PXT_EQ_FATAL(pthread_create(&shooter, NULL, shoot, NULL), 0);
	/* Threads that ended may still be shot at: join them after the shooter. */
	if (now->signals)
		(void)pthread_join(shooter, NULL);
	for (unsigned i = 0; i < now->threads; i++)
		(void)pthread_join(writers[i], NULL);
	PXT_EQ(posix_trace_stop(stream), 0);
	atomic_store(&reader_may_end, 1);
	(void)pthread_join(reader, NULL);
	atomic_store(&watcher_may_end, 1);
	(void)pthread_join(watcher, NULL);
}

#if _PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL
static void read_the_log(int fd)
{
	trace_id_t log = 0;

	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	for (;;) {
		struct posix_trace_event_info info;
		unsigned char data[1024];
		size_t len = 0;
		int unavailable = 1;

		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, data, sizeof(data), &len, &unavailable),
		    0);
		if (unavailable != 0)
			break;
		ev_look(&witness, &info, data, len);
	}
	PXT_EQ(posix_trace_close(log), 0);
}

static void finish_the_log(int fd, struct posix_trace_counts_np *counts)
{
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_getcounts_np(stream, counts, sizeof(*counts)), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	read_the_log(fd);
}
#else
static void finish_the_log(int fd, struct posix_trace_counts_np *counts)
{
}
#endif

static void judge(const struct posix_trace_counts_np *counts)
{
	uint64_t traced =
	    (uint64_t)per_thread * now->threads + (uint64_t)atomic_load(&from_handlers);
	/* A stream that stopped itself just before the end records no STOP by call. */
	uint64_t control = 1 + (now->policy == POSIX_TRACE_LOOP ? 1 : witness.stops);

	printf("\n    %u threads, policy %d, lanes %u: traced %llu, read %llu, lost %llu, "
	       "stops %llu, gaps %llu, from handlers %llu (nested %llu), unstable %llu",
	    now->threads, now->policy, now->lanes, (unsigned long long)traced,
	    (unsigned long long)witness.user, (unsigned long long)counts->posix_lost_np,
	    (unsigned long long)witness.auto_stops, (unsigned long long)witness.overflows,
	    (unsigned long long)atomic_load(&from_handlers),
	    (unsigned long long)atomic_load(&nested), (unsigned long long)atomic_load(&unstable));
	PXT_EQ(witness.torn, 0);
	PXT_EQ(witness.disordered, 0);
	PXT_EQ(witness.back, 0);
	PXT_EQ(witness.strange, 0);
	PXT_EQ(witness.overflows, witness.resumes);
	PXT_EQ(atomic_load(&unlawful), 0);
	CU_ASSERT(ev_lawful(counts));
	PXT_EQ(counts->posix_written_np, traced + control);
	PXT_EQ(counts->posix_retrieved_np, ev_counted(&witness));
	PXT_EQ(counts->posix_held_np, 0);
	PXT_EQ(counts->posix_cleared_np, 0);
	CU_ASSERT(witness.last_was_stop || witness.last_was_auto_stop);
	CU_ASSERT(witness.user > 0);
	if (now->policy == POSIX_TRACE_LOOP)
		PXT_EQ(witness.auto_stops + witness.auto_starts, 0);
}

static void run(const struct run *what)
{
	struct posix_trace_counts_np counts = { 0 };
	int fd = what->reader == LOGGED ? pxt_temp_file() : -1;

	now = what;
	ev_give_nobody_up();
	st_on_signal(SIGUSR1, trace_in_handler);
	PXT_EQ_FATAL(make_stream(fd), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	trace_all();
	if (what->reader == LOGGED) {
		finish_the_log(fd, &counts);
		(void)close(fd);
	} else {
		PXT_EQ(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
	judge(&counts);
	handled += (unsigned long long)atomic_load(&from_handlers);
}

#define SMALL  (1u << 12)
#define MIDDLE (1u << 16)
#define LARGE  (1u << 20)

/* POL-05, POL-12, SAFE-01, EVENT-10, STA-03, DEC-12, QNX-17 */
PXT_TEST(the_law_holds_for_loop_beside_every_kind_of_reader)
{
	run(&(const struct run){ 8, LOOP, 0, false, BUSY, false, false, LARGE });
	run(&(const struct run){ 8, LOOP, 0, false, SLOW, false, true, SMALL });
	run(&(const struct run){ 32, LOOP, 0, false, AWAY, false, true, MIDDLE });
	run(&(const struct run){ 8, LOOP, 0, false, BUSY, false, true, MIDDLE });
	run(&(const struct run){ 8, LOOP, 1, false, BUSY, false, false, MIDDLE });
	run(&(const struct run){ 32, LOOP, 1, false, SLOW, false, true, SMALL });
}

/* POL-06, POL-07, POL-09, POL-12, EVENT-10, DEC-11 */
PXT_TEST(the_law_holds_for_until_full_beside_every_kind_of_reader)
{
	run(&(const struct run){ 8, FULL, 0, false, BUSY, false, false, MIDDLE });
	run(&(const struct run){ 8, FULL, 0, false, SLOW, false, true, SMALL });
	run(&(const struct run){ 32, FULL, 0, false, AWAY, false, true, MIDDLE });
	run(&(const struct run){ 8, FULL, 1, false, BUSY, false, false, SMALL });
	run(&(const struct run){ 32, FULL, 1, false, AWAY, false, true, MIDDLE });
}

/* ZEP-22, EVENT-10 */
PXT_TEST(the_law_holds_for_discard_beside_every_kind_of_reader)
{
	run(&(const struct run){ 8, POSIX_TRACE_DISCARD_NP, 0, false, BUSY, true, false, MIDDLE });
	run(&(const struct run){ 8, POSIX_TRACE_DISCARD_NP, 1, false, SLOW, false, true, SMALL });
	run(&(const struct run){ 32, POSIX_TRACE_DISCARD_NP, 1, true, AWAY, false, true, MIDDLE });
}

/* SAFE-01, EVENT-07, DEC-42 */
PXT_TEST(the_law_holds_in_a_storm_of_signals)
{
	handled = 0;
	run(&(const struct run){ 8, LOOP, 0, false, BUSY, true, false, SMALL });
	run(&(const struct run){ 32, LOOP, 1, false, SLOW, true, true, MIDDLE });
	run(&(const struct run){ 8, FULL, 0, false, BUSY, true, false, SMALL });
	run(&(const struct run){ 32, FULL, 1, false, AWAY, true, true, MIDDLE });
	CU_ASSERT(handled > 0);
}

/* TIM-03 */
PXT_TEST(the_law_holds_with_ordered_stamps)
{
	run(&(const struct run){ 8, LOOP, 0, true, BUSY, true, false, MIDDLE });
	run(&(const struct run){ 8, FULL, 0, true, AWAY, false, true, SMALL });
}

#if _PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL
/* POL-11, FLUSH-02, FLUSH-05, DEC-12, DEC-13 */
PXT_TEST(the_law_holds_for_flush_and_the_log_has_all_that_was_retrieved)
{
	run(&(const struct run){ 8, FLUSH, 0, false, LOGGED, false, true, LARGE });
	run(&(const struct run){ 32, FLUSH, 0, false, LOGGED, false, false, MIDDLE });
	run(&(const struct run){ 8, FLUSH, 1, false, LOGGED, true, false, SMALL });
}
#endif

/* ---- Writers that never come back ---- */

static sigjmp_buf way_out;
static volatile sig_atomic_t may_jump;
static atomic_int hopper_ended;

static void jump_out(int signal)
{
	if (may_jump) {
		may_jump = 0;
		siglongjmp(way_out, 1);
	}
}

static atomic_uint hopper_tried;
static atomic_uint hopper_left;

static void *hop(void *argument)
{
	volatile uint32_t number = 0;
	volatile unsigned left = 0;

	while (left < 8) {
		if (sigsetjmp(way_out, 1) == 0) {
			for (;;) {
				number++;
				may_jump = 1;
				ev_say(1, number);
				may_jump = 0;
			}
		}
		left++;
	}
	atomic_store(&hopper_tried, number);
	atomic_store(&hopper_left, left);
	atomic_store(&hopper_ended, 1);
	return NULL;
}

static void *trace_beside(void *argument)
{
	uint32_t *number = (uint32_t *)argument;

	while (!atomic_load(&hopper_ended))
		ev_say(2, ++*number);
	return NULL;
}

/* DEC-42 (rulings 12, 20, 23): a writer that leaves a record unfinished costs that record only */
PXT_TEST(a_writer_that_jumps_out_of_a_trace_point_harms_nobody)
{
	const struct st_spec specs[] = { { .policy = LOOP, .size = MIDDLE },
		{ .policy = FULL, .size = SMALL }, { .policy = FULL, .size = SMALL, .lanes = 1 } };

	UNREPORTED();
	pxt_holdback_ns = 100000000;
	for (size_t i = 0; i < 3; i++) {
		struct posix_trace_counts_np counts;
		uint32_t beside = 0;
		pthread_t threads[2];

		memset(&witness, 0, sizeof(witness));
		atomic_store(&hopper_ended, 0);
		st_on_signal(SIGUSR2, jump_out);
		stream = st_started(&specs[i]);
		PXT_EQ_FATAL(pthread_create(&threads[0], NULL, hop, NULL), 0);
		PXT_EQ_FATAL(pthread_create(&threads[1], NULL, trace_beside, &beside), 0);
		while (!atomic_load(&hopper_ended)) {
			(void)pthread_kill(threads[0], SIGUSR2);
			(void)ev_drain(stream, &witness, 1000);
			pxt_sleep_us(3000);
		}
		(void)pthread_join(threads[0], NULL);
		(void)pthread_join(threads[1], NULL);
		PXT_EQ(posix_trace_stop(stream), 0);
		/* The hold-back time is over when nothing is held any more. */
		for (int wait = 0; wait < 1000; wait++) {
			(void)ev_drain(stream, &witness, (uint64_t)-1);
			PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
			if (counts.posix_held_np == 0)
				break;
			pxt_sleep_ms(10);
		}
		PXT_EQ(counts.posix_held_np, 0);
		CU_ASSERT(ev_lawful(&counts));
		PXT_EQ(witness.torn, 0);
		PXT_EQ(witness.disordered, 0);
		uint64_t most = (uint64_t)atomic_load(&hopper_tried) + beside + 2;
		PXT_CHECK(counts.posix_written_np <= most &&
		              counts.posix_written_np + atomic_load(&hopper_left) + 1 >= most,
		    "written %llu, traced %llu", (unsigned long long)counts.posix_written_np,
		    (unsigned long long)most);
		PXT_EQ(counts.posix_retrieved_np, ev_counted(&witness));
		PXT_EQ(posix_trace_shutdown(stream), 0);
	}
}
