/* SPDX-License-Identifier: MIT */
/*
 * threads.c - is the time that is reported of an event a time at which it happened?  Threads that
 * preempt each other inside their trace points (ground.h) read the counter before and after each of
 * them (readings.c); a single event that is reported outside of these two, or out of order, fails.
 */
#include "ground.h"

#include "conformance/story.h"
#include "suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define LARGE (4u << 20)
#define SMALL 4096u

#define STREAMS 2u
#define SHOTS   8u

enum way {
	BY_TRYING,
	BY_WAITING, /* for a while, ... */
	FOR_EVER,
	SLOWLY,  /* so that the stream is lapped */
	AT_LAST, /* by nobody, meanwhile */
	BY_LOG
};

struct state {
	int policy;
	unsigned lanes;
	size_t size;
	enum way way;
	bool ordered;
	bool two; /* streams */
	bool signals;
	bool moving;
	bool divided; /* stopped and started by call */
	bool shots;   /* snapshots are taken */
	bool many;    /* events are read many at once */
};

static struct stream {
	trace_id_t trid;
	pthread_t reader;
	struct rd_list list;
	int log;
} streams[STREAMS];

static const struct state *state;
static atomic_bool over;
static int shot_files[SHOTS];
static unsigned shot_count;

static const char *name_of_scene(void)
{
	return st_text("policy %d, lanes %u, %zu bytes, way %d%s%s%s%s%s%s%s", state->policy,
	    state->lanes, state->size, (int)state->way, state->ordered ? ", ordered" : "",
	    state->two ? ", two streams" : "", state->signals ? ", signals" : "",
	    state->moving ? ", moving" : "", state->divided ? ", divided" : "",
	    state->shots ? ", snapshots" : "", state->many ? ", many at once" : "");
}

static unsigned stream_count(void)
{
	return state->two ? STREAMS : 1u;
}

static bool is_read_meanwhile(void)
{
	return state->way != BY_LOG && state->way != AT_LAST;
}

/* ---- Readers ---- */

static void take_what_there_is(struct rd_list *list, trace_id_t trid)
{
	if (state->many)
		(void)rd_take_many(list, trid);
	else
		(void)rd_take(list, trid);
}

static void *read_on(void *argument)
{
	struct stream *stream = argument;

	while (!atomic_load(&over)) {
		if (state->way == BY_WAITING || state->way == FOR_EVER) {
			/* The last one finds the STOP, or the end. */
			(void)rd_take_waiting(
			    &stream->list, stream->trid, state->way == FOR_EVER ? 0 : 20);
		} else {
			take_what_there_is(&stream->list, stream->trid);
			pxt_sleep_us(state->way == SLOWLY ? 3000 : 200);
		}
	}
	return NULL;
}

static void take_rest(struct stream *stream)
{
	struct posix_trace_counts_np counts;

	take_what_there_is(&stream->list, stream->trid);
	CU_ASSERT(st_law(stream->trid, &counts));
	PXT_EQ(counts.posix_held_np, 0);
}

/* ---- Streams ---- */

static void open_stream(struct stream *stream)
{
	const struct st_spec spec = {
		.policy = state->policy, .size = state->size, .lanes = state->lanes
	};
	trace_attr_t attr;

	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, state->ordered), 0);
	if (state->way == BY_LOG) {
		stream->log = pxt_temp_file();
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
		PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, stream->log, &stream->trid), 0);
	} else {
		PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream->trid), 0);
	}
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

/* All sources at most, and what others than they make. */
static uint32_t list_room(void)
{
	return 3u * crowd_events(crowd_ms()) + 200000u;
}

static void begin_streams(void)
{
	atomic_store(&over, false);
	shot_count = 0;
	for (unsigned i = 0; i < stream_count(); i++) {
		open_stream(&streams[i]);
		rd_list_begin(&streams[i].list, list_room());
		PXT_EQ(rd_call(posix_trace_start, streams[i].trid), 0);
		if (is_read_meanwhile())
			PXT_EQ_FATAL(
			    pthread_create(&streams[i].reader, NULL, read_on, &streams[i]), 0);
	}
}

static uint64_t judge(const struct rd_list *list, trace_id_t trid, const char *what)
{
	struct rd_verdict verdict;

	rd_judge(list, trid, RD_RESOLUTION_NS, &verdict);
	(void)rd_expect(&verdict, what);
	printf("\n    %s: %llu events, %llu calls, %llu raised", what,
	    (unsigned long long)verdict.events, (unsigned long long)verdict.calls,
	    (unsigned long long)verdict.raised);
	return verdict.events;
}

/* Enough to say something of; a sanitizer slows everybody but the one at the peak, to a few on a busy machine. */
static void expect_many(uint64_t events)
{
	PXT_CHECK(events > (st_sanitized() ? 2u : 100u), "%llu events", (unsigned long long)events);
}

static uint64_t judge_log(struct rd_list *list, int file, const char *what)
{
	trace_id_t log;
	uint64_t events;

	PXT_EQ(lseek(file, 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(file, &log), 0);
	list->count = 0;
	take_what_there_is(list, log);
	events = judge(list, log, what);
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(file), 0);
	return events;
}

static void end_stream(struct stream *stream)
{
	PXT_EQ(rd_call(posix_trace_stop, stream->trid), 0);
	if (is_read_meanwhile())
		(void)pthread_join(stream->reader, NULL);
	if (state->way != BY_LOG) {
		take_rest(stream);
		expect_many(judge(&stream->list, stream->trid, name_of_scene()));
	}
	PXT_EQ(posix_trace_shutdown(stream->trid), 0);
	if (state->way == BY_LOG)
		expect_many(judge_log(&stream->list, stream->log, name_of_scene()));
	rd_list_end(&stream->list);
}

static void end_streams(void)
{
	atomic_store(&over, true);
	for (unsigned i = 0; i < stream_count(); i++)
		end_stream(&streams[i]);
}

static void end_shots(void)
{
	struct rd_list list;
	uint64_t events = 0;

	rd_list_begin(&list, list_room());
	for (unsigned i = 0; i < shot_count; i++)
		events += judge_log(&list, shot_files[i], "snapshot");
	rd_list_end(&list);
	if (shot_count)
		expect_many(events);
}

/* ---- What happens meanwhile ---- */

static void stop_and_start(void)
{
	for (unsigned i = 0; i < stream_count(); i++)
		PXT_EQ(rd_call(posix_trace_stop, streams[i].trid), 0);
	pxt_sleep_us(100);
	for (unsigned i = 0; i < stream_count(); i++)
		PXT_EQ(rd_call(posix_trace_start, streams[i].trid), 0);
}

/* Of what a reader or an idle machine left nothing, a snapshot would show nothing. */
static void take_shot(void)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(streams[0].trid, &counts, sizeof(counts)), 0);
	if (shot_count == SHOTS || counts.posix_held_np < 500)
		return;
	shot_files[shot_count] = pxt_temp_file();
	PXT_EQ(posix_trace_snapshot_np(streams[0].trid, shot_files[shot_count]), 0);
	shot_count++;
}

static void direct(void)
{
	for (unsigned turn = 1; crowd_busy(); turn++) {
		pxt_sleep_us(300);
		if (state->moving)
			crowd_move(turn);
		if (state->divided && turn % 12 == 0)
			stop_and_start();
		if (state->way == BY_LOG && state->policy != FLUSH && turn % 4 == 0)
			PXT_EQ(posix_trace_flush(streams[0].trid), 0);
		if (state->shots && turn % 16 == 8)
			take_shot();
	}
}

static void play_once(void)
{
	const struct crowd_wish wish = { .ms = crowd_ms(), .signals = state->signals };

	rd_begin(crowd_events(wish.ms));
	begin_streams();
	crowd_begin(&wish);
	direct();
	crowd_end();
	end_streams();
	end_shots();
	rd_end();
}

static void play(struct state what)
{
	if (pxt_skip_emulated("its processors' counters are not one clock"))
		return;
	if (!what.size)
		what.size = LARGE;
	state = &what;
	for (unsigned round = 0; round < crowd_rounds(); round++)
		play_once();
}

static void with_all_lanes(struct state what)
{
	static const unsigned lanes[] = { 1, 2, 0 };

	for (unsigned i = 0; i < 3; i++) {
		what.lanes = lanes[i];
		play(what);
	}
}

/* ---- The cases ---- */

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(a_reported_time_lies_between_entry_and_return)
{
	with_all_lanes((struct state){ .policy = LOOP });
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(with_ordered_stamps_it_does_too)
{
	with_all_lanes((struct state){ .policy = LOOP, .ordered = true });
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_where_handlers_trace_inside_trace_points)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .signals = true });
	play((struct state){ .policy = LOOP, .lanes = 2, .signals = true });
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .signals = true });
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_while_threads_change_their_processors)
{
	play((struct state){ .policy = LOOP, .lanes = 2, .moving = true });
	play((struct state){ .policy = FULL, .moving = true, .signals = true });
}

/* TIM-03, TIM-06, DEC-42; rulings 25, 26 */
PXT_TEST(it_does_while_the_stream_is_stopped_and_started)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .divided = true });
	play((struct state){ .policy = LOOP, .lanes = 2, .divided = true, .signals = true });
	play((struct state){ .policy = FULL, .lanes = 2, .size = 65536, .divided = true });
}

/* TIM-03, TIM-06, POL-05; rulings 25, 26 */
PXT_TEST(it_does_in_a_stream_that_is_lapped_while_it_is_read)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .size = SMALL, .way = SLOWLY });
	play((struct state){ .policy = LOOP, .lanes = 2, .size = SMALL });
	play((struct state){
	    .policy = LOOP, .lanes = 2, .size = 65536, .way = SLOWLY, .signals = true });
}

/* TIM-03, TIM-06, POL-07, POL-09; rulings 25, 26 */
PXT_TEST(it_does_in_a_stream_that_stops_and_starts_itself)
{
	with_all_lanes((struct state){ .policy = FULL, .size = SMALL });
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .ordered = true });
}

/* EVENT-10, TIM-03, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_in_each_of_two_streams)
{
	play((struct state){ .policy = LOOP, .lanes = 2, .two = true });
	play((struct state){
	    .policy = FULL, .lanes = 1, .size = 65536, .two = true, .signals = true });
}

/* GETNX-03, TIM-03, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_for_a_reader_that_waits)
{
	play((struct state){ .policy = LOOP, .lanes = 2, .way = BY_WAITING });
	play((struct state){ .policy = LOOP, .lanes = 2, .way = FOR_EVER });
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .way = BY_WAITING });
}

/* TIM-03, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_where_many_events_are_read_at_once)
{
	play((struct state){ .policy = LOOP, .lanes = 2, .many = true, .signals = true });
	play((struct state){ .policy = LOOP, .lanes = 2, .size = SMALL, .many = true });
	play((struct state){ .policy = FULL, .lanes = 2, .size = SMALL, .many = true });
	play((struct state){ .policy = LOOP, .lanes = 2, .way = BY_LOG, .many = true });
}

/* TIM-03, TIM-06, FLUSH-02; rulings 25, 26 */
PXT_TEST(it_does_in_a_log)
{
	play((struct state){ .policy = LOOP, .lanes = 1, .way = BY_LOG });
	play((struct state){ .policy = LOOP, .lanes = 2, .way = BY_LOG, .signals = true });
	play((struct state){ .policy = FULL, .lanes = 2, .size = 65536, .way = BY_LOG });
}

/* TIM-03, TIM-06, POL-11; rulings 25, 26 */
PXT_TEST(it_does_in_a_log_that_the_stream_flushes_itself)
{
	play((struct state){ .policy = FLUSH, .lanes = 2, .size = 1u << 20, .way = BY_LOG });
	play((struct state){
	    .policy = FLUSH, .lanes = 2, .size = 65536, .way = BY_LOG, .signals = true });
	play((struct state){
	    .policy = FLUSH, .lanes = 1, .size = 65536, .way = BY_LOG, .divided = true });
}

/* LPT-45, TIM-03, TIM-06; rulings 25, 26 */
PXT_TEST(it_does_in_a_snapshot_of_a_running_stream)
{
	play((struct state){
	    .policy = LOOP, .lanes = 2, .size = 1u << 20, .way = SLOWLY, .shots = true });
	play((struct state){ .policy = LOOP,
	    .size = LARGE,
	    .way = AT_LAST,
	    .signals = true,
	    .shots = true,
	    .moving = true });
}
