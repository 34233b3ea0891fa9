/* SPDX-License-Identifier: MIT */
/*
 * tools.c - what pxtrace costs an event, and how much memory it takes, on a long log and on one of a
 * tenth of its length; what it costs to recover one from memory; and what the two ways of reading a
 * log cost without it.
 *
 * Four threads trace pairs of typed events in turns, a flush now and then, into one file; for
 * `pxtrace why` a second file has as many events of jobs, a lock and the scheduler.  pxtrace runs as a
 * program; its processor time (user and system) is what the kernel says of the process,
 * so that what else the machine does is not in it.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS    4u
#define TURN       64ul   /* events in a row by one thread */
#define JOBS       9u     /* of 7 events each in such a row, and one missed deadline */
#define FLUSH      1024ul /* turns from flush to flush */
#define ROUNDS_MAX 5
#define WORDS_MAX  10
#define VIEWS      256

POSIX_TRACE_DEFINE_NP(job_begin, u32, job);
POSIX_TRACE_DEFINE_NP(job_end, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(state_wait, u32, lock);
POSIX_TRACE_DEFINE_NP(state_lock, u32, lock);
POSIX_TRACE_DEFINE_NP(state_unlock, u32, lock);
POSIX_TRACE_DEFINE_NP(deadline_miss, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(sched_switch, u32, cpu, i32, prev_tid, i32, next_tid);

/* ---- The logs ---- */

struct log {
	char path[64];
	bool story; /* jobs, a lock and the scheduler: what why lives on */
	int file;
	trace_id_t trid;
	unsigned long turns;
	unsigned long events;
	_Atomic unsigned long turn;
};

struct writer {
	struct log *log;
	unsigned number;
};

static void write_pairs(uint32_t turn)
{
	for (uint32_t i = 0; i < TURN / 2; i++) {
		posix_trace_point_np(job_begin, turn * 64 + i);
		posix_trace_point_np(job_end, turn * 64 + i, -(int64_t)i);
	}
}

/* Nobody asks who wrote the scheduler's events: here the threads do it themselves. */
static void write_story(uint32_t turn)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	for (uint32_t i = 0; i < JOBS; i++) {
		posix_trace_point_np(sched_switch, 0u, 0, tid);
		posix_trace_point_np(job_begin, turn * 64 + i);
		posix_trace_point_np(state_wait, 1u);
		posix_trace_point_np(state_lock, 1u);
		posix_trace_point_np(state_unlock, 1u);
		posix_trace_point_np(job_end, turn * 64 + i, -(int64_t)i);
		posix_trace_point_np(sched_switch, 0u, tid, 0);
	}
	posix_trace_point_np(deadline_miss, turn * 64 + JOBS - 1, (int64_t)turn);
}

static void *write_turns(void *argument)
{
	const struct writer *writer = argument;
	struct log *log = writer->log;

	for (unsigned long turn = writer->number; turn < log->turns; turn += WRITERS) {
		while (atomic_load(&log->turn) != turn)
			(void)sched_yield();
		if (log->story)
			write_story((uint32_t)turn);
		else
			write_pairs((uint32_t)turn);
		if (turn % FLUSH == FLUSH - 1)
			bench_ok("flush", posix_trace_flush(log->trid));
		atomic_store(&log->turn, turn + 1);
	}
	return NULL;
}

static void write_log(struct log *log)
{
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	trace_attr_t attr;

	bench_ok("event", posix_trace_open_np(job_begin));
	bench_ok("event", posix_trace_open_np(job_end));
	if (log->story) {
		bench_ok("event", posix_trace_open_np(state_wait));
		bench_ok("event", posix_trace_open_np(state_lock));
		bench_ok("event", posix_trace_open_np(state_unlock));
		bench_ok("event", posix_trace_open_np(deadline_miss));
		bench_ok("event", posix_trace_open_np(sched_switch));
	}
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, 64 * TURN * FLUSH));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("create", posix_trace_create_withlog(0, &attr, log->file, &log->trid));
	bench_ok("start", posix_trace_start(log->trid));
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ log, i };
		bench_ok("thread", pthread_create(&threads[i], NULL, write_turns, &writers[i]));
	}
	for (unsigned i = 0; i < WRITERS; i++)
		bench_ok("thread", pthread_join(threads[i], NULL));
	bench_ok("shutdown", posix_trace_shutdown(log->trid));
}

/* In a process of its own: what a program has taken itself counts as memory of those it starts. */
static void make_log(struct log *log, unsigned long events)
{
	int status = 0;
	pid_t child;

	log->file = bench_memory_file();
	(void)snprintf(log->path, sizeof(log->path), "/proc/%ld/fd/%d", (long)getpid(), log->file);
	log->turns = events / TURN;
	log->events = log->turns * TURN;
	child = fork();
	if (child == 0) {
		write_log(log);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		bench_ok("fork", errno);
	bench_ok("the log", status != 0 ? EIO : 0);
}

/* ---- Memory ---- */

/* Appends what is mapped at @at to @end: what GDB or the system would write. */
static void append_memory(int from, int to, unsigned long at, unsigned long end)
{
	static unsigned char bytes[1 << 20];

	while (at < end) {
		size_t wanted = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
		ssize_t got = pread(from, bytes, wanted, (off_t)at);

		if (got <= 0)
			return;
		if (write(to, bytes, (size_t)got) != got)
			bench_ok("dump", errno);
		at += (unsigned long)got;
	}
}

/* All that the process may write, one piece after another: its streams are in it. */
static void dump_memory(int to)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int from = open("/proc/self/mem", O_RDONLY);
	char line[512];

	if (!maps || from < 0)
		bench_ok("dump", errno);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long at;
		unsigned long end;
		char flags[8];

		if (sscanf(line, "%lx-%lx %7s", &at, &end, flags) == 3 && flags[1] == 'w')
			append_memory(from, to, at, end);
	}
	(void)fclose(maps);
	(void)close(from);
}

/* A full flight recorder: as many events as it holds. */
static void leave_memory(struct log *log)
{
	trace_attr_t attr;

	bench_ok("event", posix_trace_open_np(job_begin));
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, log->events * 32));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("create", posix_trace_create(0, &attr, &log->trid));
	bench_ok("start", posix_trace_start(log->trid));
	for (unsigned long i = 0; i < log->events; i++)
		posix_trace_point_np(job_begin, (uint32_t)i);
	dump_memory(log->file);
}

static void make_memory(struct log *log, unsigned long events)
{
	int status = 0;
	pid_t child;

	log->file = bench_memory_file();
	(void)snprintf(log->path, sizeof(log->path), "/proc/%ld/fd/%d", (long)getpid(), log->file);
	/* A ring has a power of two of slots; an event of 4 bytes takes two. */
	for (log->events = 1; log->events * 2 <= events;)
		log->events *= 2;
	child = fork();
	if (child == 0) {
		leave_memory(log);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		bench_ok("fork", errno);
	bench_ok("the memory", status != 0 ? EIO : 0);
}

/* ---- The library ---- */

static double read_one_by_one(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[16];
	unsigned long events = 0;
	int nothing = 0;
	size_t length;
	double begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (;; events++) {
		bench_ok("getnext",
		    posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &nothing));
		if (nothing)
			return (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)events;
	}
}

static double read_many(trace_id_t trid)
{
	static struct posix_trace_eventview_np views[VIEWS];
	unsigned long events = 0;
	size_t count;
	double begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);

	do {
		bench_ok("getnext_events",
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS, &count));
		events += count;
	} while (count);
	return (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)events;
}

static trace_event_id_t find_type(trace_id_t trid, const char *wanted)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	trace_event_id_t id = 0;
	int none = 0;

	bench_ok("types", posix_trace_eventtypelist_rewind(trid));
	while (!none && strcmp(name, wanted) != 0) {
		bench_ok("types", posix_trace_eventtypelist_getnext_id(trid, &id, &none));
		if (!none)
			bench_ok("name", posix_trace_eventid_get_name(trid, id, name));
	}
	return id;
}

/* The same with a field of each event: the last one, whose place is found once a type. */
static double read_fields(trace_id_t trid)
{
	static struct posix_trace_eventview_np views[VIEWS];
	struct posix_trace_field_np fields[2][POSIX_TRACE_FIELDS_MAX_NP];
	struct posix_trace_field_np value;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	trace_event_id_t ids[2];
	unsigned long events = 0;
	size_t found[2];
	size_t count;
	double begin;

	for (unsigned i = 0; i < 2; i++) {
		ids[i] = find_type(trid, i ? "job_end" : "job_begin");
		bench_ok("format",
		    posix_trace_eventid_getformat_np(trid, ids[i], format, sizeof(format)));
		bench_ok("fields", posix_trace_fields_np(format, fields[i], sizeof(fields[i][0]),
		                       POSIX_TRACE_FIELDS_MAX_NP, &found[i]));
	}
	begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	do {
		bench_ok("getnext_events",
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), VIEWS, &count));
		for (size_t i = 0; i < count; i++) {
			unsigned type = views[i].posix_event_id_np == ids[1];

			(void)posix_trace_field_value_np(&fields[type][found[type] - 1],
			    views[i].posix_data_np, views[i].posix_bytes_np, 0, &value,
			    sizeof(value));
		}
		events += count;
	} while (count);
	return (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)events;
}

static double measure_reading(
    const struct log *log, const char *column, double (*read_all)(trace_id_t trid))
{
	double ns[ROUNDS_MAX];
	unsigned rounds = (unsigned)bench_pick(ROUNDS_MAX, 3, 1);
	trace_id_t trid;
	double median;

	bench_ok("open", posix_trace_open(log->file, &trid));
	for (unsigned i = 0; i < rounds; i++) {
		ns[i] = read_all(trid);
		bench_ok("rewind", posix_trace_rewind(trid));
	}
	bench_ok("close", posix_trace_close(trid));
	median = bench_median(ns, rounds);
	bench_value("an event of a log", column, "ns", median);
	return median;
}

static double measure_opening(const struct log *log)
{
	double ns[ROUNDS_MAX];
	unsigned rounds = (unsigned)bench_pick(ROUNDS_MAX, 3, 1);
	double median;

	for (unsigned i = 0; i < rounds; i++) {
		double begin = bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
		trace_id_t trid;

		bench_ok("open", posix_trace_open(log->file, &trid));
		ns[i] = (bench_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / (double)log->events;
		bench_ok("close", posix_trace_close(trid));
	}
	median = bench_median(ns, rounds);
	bench_value("an event of a log", "checked by open", "ns", median);
	return median;
}

/* ---- The programs ---- */

struct tool {
	const char *row;
	const char *words[WORDS_MAX];
	double target; /* million events a second; 0: none */
	bool story;    /* reads the second log */
};

static const struct tool tools[] = {
	{ "print", { "print" }, 1.5, false },
	{ "print --json", { "print", "--json" }, 0, false },
	{ "stat", { "stat" }, 8, false },
	{ "stat with everything",
	    { "stat", "--by", "thread", "--histogram", "--top", "10", "--slice", "10ms" }, 0,
	    false },
	{ "check", { "check" }, 8, false },
	{ "export csv", { "export", "csv" }, 1.5, false },
	{ "export perfetto", { "export", "perfetto" }, 2, false },
	{ "why", { "why" }, 0, true },
};

static char recovered[] = "/dev/shm/bench-tools-XXXXXX/recovered.ptl";
static const struct tool recover = { "recover", { "recover", "-q", "-o", recovered }, 5, false };

struct cost {
	double seconds; /* of processor time; < 0: it failed */
	double bytes;   /* largest resident size */
};

/* "pxtrace", the tool's words, the log. */
static void make_argv(
    const struct tool *tool, const struct log *log, char words[WORDS_MAX + 2][64], char **argv)
{
	unsigned count = 0;

	(void)snprintf(words[count++], 64, "pxtrace");
	for (unsigned i = 0; i < WORDS_MAX && tool->words[i]; i++)
		(void)snprintf(words[count++], 64, "%s", tool->words[i]);
	(void)snprintf(words[count++], 64, "%s", log->path);
	for (unsigned i = 0; i < count; i++)
		argv[i] = words[i];
	argv[count] = NULL;
}

static struct cost run_tool(const struct tool *tool, const struct log *log)
{
	char words[WORDS_MAX + 2][64];
	char *argv[WORDS_MAX + 3];
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	int status = -1;
	pid_t child;

	make_argv(tool, log, words, argv);
	bench_ok("spawn", posix_spawn_file_actions_init(&actions));
	for (int fd = 1; fd <= 2; fd++)
		bench_ok("spawn",
		    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0));
	bench_ok("spawn", posix_spawn(&child, BENCH_PXTRACE, &actions, NULL, argv, environ));
	(void)posix_spawn_file_actions_destroy(&actions);
	while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (status != 0)
		return (struct cost){ -1, 0 };
	return (struct cost){
		(double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
		    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		(double)usage.ru_maxrss * 1024,
	};
}

/* The logs of a kind: a short one and one of ten times its length. */
static double measure_tool(const struct tool *tool, const struct log logs[2])
{
	const struct log *small = &logs[0];
	const struct log *large = &logs[1];
	double seconds[ROUNDS_MAX];
	unsigned rounds = (unsigned)bench_pick(ROUNDS_MAX, 3, 1);
	struct cost first = run_tool(tool, small);
	double bytes = 0;
	double median;

	if (first.seconds < 0) {
		bench_missing(tool->row, "speed", "this pxtrace does not do it");
		return (double)NAN;
	}
	for (unsigned i = 0; i < rounds; i++) {
		struct cost cost = run_tool(tool, large);

		seconds[i] = fmax(cost.seconds, 1e-6);
		bytes = fmax(bytes, cost.bytes);
	}
	median = bench_median(seconds, rounds);
	bench_value(tool->row, "speed", "M events/s", (double)large->events / median / 1e6);
	bench_value(tool->row, "an event", "ns", median * 1e9 / (double)large->events);
	bench_value(tool->row, "memory on a tenth of it", "MiB", first.bytes / 1048576);
	bench_value(tool->row, "memory", "MiB", bytes / 1048576);
	return (double)large->events / median / 1e6;
}

static double measure_recover(unsigned long events)
{
	static struct log logs[2];
	char *name = strrchr(recovered, '/');
	double speed;

	*name = '\0';
	if (!mkdtemp(recovered))
		bench_ok("a folder", errno);
	*name = '/';
	make_memory(&logs[0], events / 10);
	make_memory(&logs[1], events);
	speed = measure_tool(&recover, logs);
	(void)unlink(recovered);
	*name = '\0';
	(void)rmdir(recovered);
	return speed;
}

int main(int argc, char **argv)
{
	static struct log pairs[2];
	static struct log stories[2] = { { .story = true }, { .story = true } };
	double recovering;
	double speeds[sizeof(tools) / sizeof(tools[0])];
	unsigned long events;
	struct stat state = { 0 };
	double single;
	double many;
	double field;

	bench_begin(argc, argv, "tools", NULL);
	events = bench_pick(10000000, 2000000, 20000);
	bench_say_facts();
	for (unsigned i = 0; i < 2; i++) {
		make_log(&pairs[i], i ? events : events / 10);
		make_log(&stories[i], i ? events : events / 10);
	}
	(void)fstat(pairs[1].file, &state);
	bench_remark(
	    "log: %lu events of 4 and 12 bytes in turns, %u threads, %lld bytes, in memory",
	    pairs[1].events, WRITERS, (long long)state.st_size);
	(void)fstat(stories[1].file, &state);
	bench_remark("log of why: %lu events of 4 and 12 bytes, jobs of 7 with a lock and two "
	             "switches, %lld bytes",
	    stories[1].events, (long long)state.st_size);
	bench_remark(
	    "tools: processor time, user and system, median of %lu runs; output to /dev/null",
	    bench_pick(ROUNDS_MAX, 3, 1));
	bench_table("tools", "pxtrace, one core");
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		speeds[i] = measure_tool(&tools[i], tools[i].story ? stories : pairs);
	recovering = measure_recover(events);
	bench_table("library", "libptrace-retrieval");
	(void)measure_opening(&pairs[1]);
	single = measure_reading(&pairs[1], "one by one", read_one_by_one);
	many = measure_reading(&pairs[1], "many at once", read_many);
	field = measure_reading(&pairs[1], "many at once and a field of each", read_fields) - many;
	bench_value("an event of a log", "a field alone", "ns", field);
	bench_table("targets", "Targets");
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		char what[64];

		(void)snprintf(what, sizeof(what), "pxtrace %s", tools[i].row);
		if (tools[i].target > 0)
			bench_target(
			    what, "M events/s", speeds[i], BENCH_AT_LEAST, tools[i].target);
	}
	bench_target("pxtrace recover", "M events/s", recovering, BENCH_AT_LEAST, recover.target);
	bench_target("getnext from a log (4 and 12 B)", "ns", single, BENCH_AT_MOST, 50);
	bench_target("getnext from a log (4 and 12 B): goal", "ns", single, BENCH_AT_MOST, 20);
	bench_target("an event of a log among many: goal", "ns", many, BENCH_AT_MOST, 8);
	bench_target("a field of an event of a log: goal", "ns", field, BENCH_AT_MOST, 3);
	return 0;
}
