/* SPDX-License-Identifier: MIT */
/*
 * instructions.c - calls of each kind, for scripts/instructions.py to count under callgrind.
 *
 * callgrind writes one count at each entry of counted_mark().  Each row runs a few times and twice as
 * often between two marks each, so that everything but the calls themselves falls out of the
 * difference.  Standard output names the counts in order: a row and its number of calls, or "-" for
 * what was done in between.  Only the thread that calls is counted, not what it wakes.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define CALLS     1000u
#define STREAMS   8u
#define BYTES_MAX 256u
#define BIG       (1024ul * 1024)
#define SMALL     16384ul
#define QUIET_US  50000u /* until other threads sleep, or are where they are to be */

/* A row; prepare() runs before each of its two countings and opens what end() closes. */
struct row {
	const char *name;
	void (*prepare)(void);
	void (*call)(unsigned count);
	unsigned calls; /* 1: the row is one call, compared with none */
};

static trace_id_t streams[STREAMS];
static unsigned open_streams;
static trace_event_id_t wanted, unwanted;
static unsigned char payload[BYTES_MAX];

POSIX_TRACE_DEFINE_NP(job, u32, number, i64, late_ns);

void counted_mark(const char *name, unsigned calls);

__attribute__((noinline)) void counted_mark(const char *name, unsigned calls)
{
	(void)printf("%u %s\n", calls, name);
	(void)fflush(stdout);
}

/* ---- Streams ---- */

static void filter_out(trace_id_t stream, trace_event_id_t type)
{
	trace_event_set_t set;

	bench_ok("set", posix_trace_eventset_empty(&set));
	bench_ok("set", posix_trace_eventset_add(type, &set));
	bench_ok("filter", posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
}

static trace_attr_t attributes(int policy, size_t bytes)
{
	trace_attr_t attr;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, policy));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, bytes));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	return attr;
}

static trace_id_t start(const trace_attr_t *attr)
{
	trace_id_t stream;

	bench_ok("create", posix_trace_create(0, attr, &stream));
	filter_out(stream, unwanted);
	bench_ok("start", posix_trace_start(stream));
	streams[open_streams++] = stream;
	return stream;
}

static void end(void)
{
	while (open_streams)
		bench_ok("shutdown", posix_trace_shutdown(streams[--open_streams]));
}

/* What ends whatever a row has opened: some put more here. */
static void (*ending)(void) = end;

static void no_stream(void)
{
}

static void one(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_LOOP, BIG);

	(void)start(&attr);
}

static void two(void)
{
	one();
	one();
}

static void eight(void)
{
	for (unsigned i = 0; i < STREAMS; i++)
		one();
}

/* The second one filters the event out. */
static void one_of_two(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_LOOP, BIG);

	one();
	filter_out(start(&attr), wanted);
}

static void two_lanes(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_LOOP, BIG);

	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 2));
	(void)start(&attr);
}

static void ordered(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_LOOP, BIG);

	bench_ok("order", posix_trace_attr_setorderedstamps_np(&attr, 1));
	(void)start(&attr);
}

static void until_full(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, BIG);

	(void)start(&attr);
}

/* ---- Up to the edge ---- */

static void record(unsigned count)
{
	const trace_event_id_t id = wanted;

	for (unsigned i = 0; i < count; i++)
		posix_trace_event(id, payload, 4);
}

static int is_running(trace_id_t stream)
{
	struct posix_trace_status_info status;

	bench_ok("status", posix_trace_get_status(stream, &status));
	return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

static uint64_t lost(trace_id_t stream)
{
	struct posix_trace_counts_np counts;

	bench_ok("counts", posix_trace_getcounts_np(stream, &counts, sizeof(counts)));
	return counts.posix_lost_np;
}

/* Events of a new stream, the first of @first bytes, up to the one that stops it. */
static unsigned until_stopped(trace_id_t stream, size_t first)
{
	unsigned count = 1;

	posix_trace_event(wanted, payload, first);
	for (; is_running(stream); count++)
		record(1);
	return count;
}

static trace_id_t small_until_full(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, SMALL);

	return start(&attr);
}

/* A stream that the next event of 4 bytes stops. */
static void before_the_stop(trace_id_t (*open_one)(void), size_t first)
{
	unsigned count = until_stopped(open_one(), first);

	ending();
	(void)open_one();
	posix_trace_event(wanted, payload, first);
	record(count - 2);
}

/* Which of the two leaves no slot over depends on the length of START. */
static size_t exact_first(trace_id_t (*open_one)(void))
{
	trace_id_t stream = open_one();
	uint64_t refused;

	(void)until_stopped(stream, 4);
	refused = lost(stream);
	ending();
	return refused ? 16 : 4;
}

static void before_the_last_slot(void)
{
	before_the_stop(small_until_full, exact_first(small_until_full));
}

static void before_no_room(void)
{
	before_the_stop(small_until_full, exact_first(small_until_full) == 4 ? 16 : 4);
}

static void full(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, SMALL);

	(void)until_stopped(start(&attr), 4);
	record(1);
}

/* A ring full of unread records; nothing is lost yet. */
static void before_the_lap(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_LOOP, SMALL);
	trace_id_t stream = start(&attr);
	unsigned count = 0;

	while (!lost(stream)) {
		record(1);
		count++;
	}
	end();
	(void)start(&attr);
	record(count - 1);
}

/* Never read, several times overwritten. */
static void lapped(void)
{
	one();
	record(BIG / 32 + CALLS);
}

/* ---- FLUSH: a helper thread sleeps until the mark ---- */

static FILE *log_file;
static int pipe_ends[2];
static pthread_t flusher;
static int is_flushing;

static void end_file(void)
{
	end();
	(void)fclose(log_file);
}

static void end_pipe(void)
{
	(void)close(pipe_ends[0]);
	if (is_flushing)
		bench_ok("thread", pthread_join(flusher, NULL));
	is_flushing = 0;
	(void)posix_trace_shutdown(streams[0]); /* which cannot write its log any more */
	(void)close(pipe_ends[1]);
	open_streams = 0;
}

/* So full that the next write waits, in every thread. */
static void fill_pipe(int pipe_end)
{
	static const char nothing[4096];
	int flags = fcntl(pipe_end, F_GETFL);

	(void)fcntl(pipe_end, F_SETFL, flags | O_NONBLOCK);
	while (write(pipe_end, nothing, sizeof(nothing)) > 0)
		;
	while (write(pipe_end, nothing, 1) > 0)
		;
	(void)fcntl(pipe_end, F_SETFL, flags);
}

static trace_id_t start_flush(int file, size_t bytes)
{
	trace_attr_t attr = attributes(POSIX_TRACE_FLUSH, bytes);

	bench_ok("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	bench_ok("create", posix_trace_create_withlog(0, &attr, file, &streams[0]));
	open_streams = 1;
	if (file == pipe_ends[1])
		fill_pipe(file);
	filter_out(streams[0], unwanted);
	bench_ok("start", posix_trace_start(streams[0]));
	return streams[0];
}

static trace_id_t flush_into_pipe(void)
{
	ending = end_pipe;
	if (pipe(pipe_ends) != 0)
		bench_ok("pipe", EPIPE);
	return start_flush(pipe_ends[1], SMALL);
}

/* Nobody reads the pipe, so the stream's helper is in its write while the stream fills up. */
static void stuck_flush(void)
{
	(void)flush_into_pipe();
	for (unsigned quiet = 0; quiet < 5; quiet++) {
		while (is_running(streams[0])) {
			record(1);
			quiet = 0;
		}
		(void)usleep(10000);
	}
}

static void *flush(void *argument)
{
	(void)argument;
	(void)posix_trace_flush(streams[0]);
	return NULL;
}

/* Somebody else is in the write, with START: the helper awaits its turn and takes nothing out. */
static trace_id_t small_flush(void)
{
	trace_id_t stream = flush_into_pipe();

	bench_ok("thread", pthread_create(&flusher, NULL, flush, NULL));
	is_flushing = 1;
	(void)usleep(QUIET_US);
	return stream;
}

static void before_the_last_slot_of_flush(void)
{
	before_the_stop(small_flush, exact_first(small_flush));
}

static void before_no_room_of_flush(void)
{
	before_the_stop(small_flush, exact_first(small_flush) == 4 ? 16 : 4);
}

/* The helper is asleep when this returns. */
static void flush_into_file(size_t bytes)
{
	ending = end_file;
	log_file = tmpfile();
	if (!log_file)
		bench_ok("temporary file", EIO);
	(void)start_flush(fileno(log_file), bytes);
	(void)usleep(QUIET_US);
}

static void below_the_mark(void)
{
	flush_into_file(BIG);
}

/* Whether so many events wake the helper. */
static int reach_the_mark(unsigned count)
{
	struct posix_trace_counts_np counts = { 0 };

	flush_into_file(SMALL);
	record(count);
	for (unsigned i = 0; i < 10 && !counts.posix_retrieved_np; i++) {
		(void)usleep(QUIET_US / 5);
		bench_ok("counts", posix_trace_getcounts_np(streams[0], &counts, sizeof(counts)));
	}
	ending();
	return counts.posix_retrieved_np > 0;
}

static void before_the_mark(void)
{
	static unsigned few = 0;
	static unsigned enough = SMALL / 32;

	while (enough - few > 1) {
		unsigned count = (few + enough) / 2;

		if (reach_the_mark(count))
			enough = count;
		else
			few = count;
	}
	flush_into_file(SMALL);
	record(few);
}

/* ---- Readers ---- */

static trace_id_t source;

static void next(unsigned count)
{
	struct posix_trace_event_info info;
	unsigned char data[BYTES_MAX];
	size_t length;
	int nothing;

	for (unsigned i = 0; i < count; i++)
		(void)posix_trace_trygetnext_event(
		    source, &info, data, sizeof(data), &length, &nothing);
}

static void next_of_log(unsigned count)
{
	struct posix_trace_event_info info;
	unsigned char data[BYTES_MAX];
	size_t length;
	int nothing;

	for (unsigned i = 0; i < count; i++)
		(void)posix_trace_getnext_event(
		    source, &info, data, sizeof(data), &length, &nothing);
}

/* An event of many that one call hands out. */
static void views_of_log(unsigned count)
{
	static struct posix_trace_eventview_np views[100];
	size_t got;

	for (unsigned room = 0; count > 0; count -= (unsigned)got) {
		room = count < 100 ? count : 100;
		bench_ok("getnext_events",
		    posix_trace_getnext_events_np(source, views, sizeof(*views), room, &got));
	}
}

/* One field, its place in the data known. */
static void field_of_event(unsigned count)
{
	struct posix_trace_field_np fields[2];
	struct posix_trace_field_np value;
	unsigned char data[12] = { 1 };
	size_t found;

	bench_ok("fields",
	    posix_trace_fields_np("u32 number, i64 late_ns", fields, sizeof(fields[0]), 2, &found));
	for (unsigned i = 0; i < count; i++)
		(void)posix_trace_field_value_np(
		    &fields[1], data, sizeof(data), 0, &value, sizeof(value));
}

static void to_read(void)
{
	one();
	record(3 * CALLS);
	source = streams[0];
	next(10);
}

static void *record_some(void *argument)
{
	(void)argument;
	record(10);
	return NULL;
}

/* Both lanes hold something: under callgrind a lane belongs to a thread. */
static void to_merge(void)
{
	pthread_t other;

	two_lanes();
	record(3 * CALLS);
	bench_ok("thread", pthread_create(&other, NULL, record_some, NULL));
	bench_ok("thread", pthread_join(other, NULL));
	source = streams[0];
	next(10);
}

static void end_log(void)
{
	bench_ok("close", posix_trace_close(source));
	(void)fclose(log_file);
}

static void log_to_read(void)
{
	trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, BIG);

	ending = end_log;
	log_file = tmpfile();
	if (!log_file)
		bench_ok("temporary file", EIO);
	bench_ok("create", posix_trace_create_withlog(0, &attr, fileno(log_file), &source));
	bench_ok("start", posix_trace_start(source));
	record(3 * CALLS);
	bench_ok("shutdown", posix_trace_shutdown(source));
	(void)lseek(fileno(log_file), 0, SEEK_SET);
	bench_ok("open", posix_trace_open(fileno(log_file), &source));
	next_of_log(10);
}

/* ---- Calls; the first one is what the loop itself costs ---- */

static void nothing_at_all(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		__asm__ volatile("" : : : "memory");
}

static void inline_test(unsigned count)
{
	const trace_event_id_t id = unwanted;

	for (unsigned i = 0; i < count; i++) {
		if (__builtin_expect(posix_trace_wanted_np(id), 0))
			posix_trace_event(id, payload, 4);
		__asm__ volatile("" : : : "memory");
	}
}

static void not_wanted(unsigned count)
{
	const trace_event_id_t id = unwanted;

	for (unsigned i = 0; i < count; i++)
		posix_trace_event(id, payload, 4);
}

static void typed(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		posix_trace_point_np(job, i, -1500);
}

#define EVENT_OF(bytes)                                                                            \
	static void event_##bytes(unsigned count)                                                  \
	{                                                                                          \
		const trace_event_id_t id = wanted;                                                \
                                                                                                   \
		for (unsigned i = 0; i < count; i++)                                               \
			posix_trace_event(id, payload, bytes);                                     \
	}
EVENT_OF(0)
EVENT_OF(4)
EVENT_OF(8)
EVENT_OF(32)
EVENT_OF(256)

static const struct row rows[] = {
	{ "the loop of each row", no_stream, nothing_at_all, CALLS },
	{ "no stream, call", no_stream, event_4, CALLS },
	{ "no stream, inline test", no_stream, inline_test, CALLS },
	{ "filtered out, call", one, not_wanted, CALLS },
	{ "filtered out, inline test", one, inline_test, CALLS },
	{ "filtered out by one of two streams, 4 bytes", one_of_two, event_4, CALLS },
	{ "wanted, 0 bytes", one, event_0, CALLS },
	{ "wanted, 4 bytes", one, event_4, CALLS },
	{ "wanted, 8 bytes", one, event_8, CALLS },
	{ "wanted, 32 bytes", one, event_32, CALLS },
	{ "wanted, 256 bytes", one, event_256, CALLS },
	{ "wanted, typed point of 12 bytes", one, typed, CALLS },
	{ "stream of two lanes, 4 bytes", two_lanes, event_4, CALLS },
	{ "ordered stamps, 4 bytes", ordered, event_4, CALLS },
	{ "two streams, 4 bytes", two, event_4, CALLS },
	{ "two streams, 32 bytes", two, event_32, CALLS },
	{ "eight streams, 4 bytes", eight, event_4, CALLS },
	{ "LOOP, overwriting unread records", lapped, event_4, CALLS },
	{ "LOOP, overwriting the first unread record", before_the_lap, event_4, 1 },
	{ "UNTIL_FULL, room", until_full, event_4, CALLS },
	{ "UNTIL_FULL, takes the last slot and stops", before_the_last_slot, event_4, 1 },
	{ "UNTIL_FULL, finds no room and stops", before_no_room, event_4, 1 },
	{ "UNTIL_FULL, refused", full, event_4, CALLS },
	{ "FLUSH, below the mark", below_the_mark, event_4, CALLS },
	{ "FLUSH, reaches the mark and wakes", before_the_mark, event_4, 1 },
	{ "FLUSH, takes the last slot and stops", before_the_last_slot_of_flush, event_4, 1 },
	{ "FLUSH, finds no room and stops", before_no_room_of_flush, event_4, 1 },
	{ "FLUSH, refused", stuck_flush, event_4, CALLS },
	{ "getnext, one lane", to_read, next, CALLS },
	{ "getnext, two lanes", to_merge, next, CALLS },
	{ "getnext from a log", log_to_read, next_of_log, CALLS },
	{ "getnext_events from a log, an event", log_to_read, views_of_log, CALLS },
	{ "a field of an event", no_stream, field_of_event, CALLS },
};

static void clean_up(void)
{
	ending();
	ending = end;
}

/* Inline, as ever: what main() does around it is in the rows of one call, two instructions of it. */
static inline void count_row(const struct row *row, unsigned calls)
{
	row->prepare();
	counted_mark("-", 0);
	row->call(calls);
	counted_mark(row->name, calls);
	clean_up();
}

static void say_facts(void)
{
	struct posix_trace_clock_np clock;

	one();
	bench_ok("clock", posix_trace_getclock_np(streams[0], &clock, sizeof(clock)));
	/* Everything once, for what happens at first calls only. */
	event_256(1);
	to_read();
	clean_up();
	bench_say_counted(clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP);
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	bench_ok("event", posix_trace_eventid_open("wanted", &wanted));
	bench_ok("event", posix_trace_eventid_open("unwanted", &unwanted));
	bench_ok("event", posix_trace_open_np(job));
	say_facts();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		count_row(&rows[i], rows[i].calls == 1 ? 0 : rows[i].calls);
		count_row(&rows[i], rows[i].calls == 1 ? 1 : 2 * rows[i].calls);
	}
	return 0;
}
