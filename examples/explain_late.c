/* SPDX-License-Identifier: MIT */
/*
 * explain_late.c - reads a log and says which job was late, by how much, and who held the lock
 * meanwhile.  It knows events by their names only:
 *
 *	X_begin, X_end (job, ...)       a job of the thread that traced it
 *	lock_wait, lock_lock, lock_unlock (lock)
 *	deadline_miss (job, late_ns)
 *
 *	explain_late LOG
 *
 * Needs libptrace-retrieval alone: the log may come from another machine.
 */
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPES_MAX   1024
#define MISSES_SHOW 8
#define NOTHING_NS  20000 /* not worth a word */

enum kind {
	OTHER,
	BEGIN,
	END,
	WAIT,
	LOCK,
	UNLOCK,
	MISS
};

struct type {
	enum kind kind;
	char span[64]; /* name without _begin or _end */
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
};

struct record {
	int64_t ns;
	uint64_t thread;
	enum kind kind;
	const char *span;
	int64_t number; /* job or lock: the first field */
	int64_t value;  /* the second one */
};

/* One late job and what the log says about it; indices into the records, 0 = not found. */
struct story {
	size_t miss;
	size_t begin;
	size_t end;
	size_t wait, lock;         /* the longest wait of the job */
	size_t held_from, held_to; /* who had the lock before it */
	const struct record
	    *runner; /* first event of a job that ran although the holder could not */
	int64_t runner_ns;
};

static struct type types[TYPES_MAX];
static struct record *records;
static size_t record_count, record_room;
static trace_id_t trid;
static struct posix_trace_loginfo_np log_info;

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "explain_late: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void open_log(const char *path)
{
	struct posix_trace_logerror_np why = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	if (posix_trace_log_open_np(&fd, 1, 0, &trid, &why, sizeof(why)) != 0) {
		(void)fprintf(stderr, "explain_late: %s: at byte %llu: %s\n", path,
		    (unsigned long long)why.posix_offset_np, why.posix_reason_np);
		exit(1);
	}
	(void)close(fd);
	must("information", posix_trace_log_getinfo_np(trid, &log_info, sizeof(log_info)));
}

static bool ends_with(char *name, const char *suffix)
{
	size_t length = strlen(name);
	size_t tail = strlen(suffix);

	if (length <= tail || strcmp(name + length - tail, suffix) != 0)
		return false;
	name[length - tail] = '\0';
	return true;
}

static enum kind kind_of(char *name)
{
	if (strcmp(name, "lock_wait") == 0)
		return WAIT;
	if (strcmp(name, "lock_lock") == 0)
		return LOCK;
	if (strcmp(name, "lock_unlock") == 0)
		return UNLOCK;
	if (strcmp(name, "deadline_miss") == 0)
		return MISS;
	if (ends_with(name, "_begin"))
		return BEGIN;
	return ends_with(name, "_end") ? END : OTHER;
}

static void read_types(void)
{
	trace_event_id_t id;
	int nothing;

	while (posix_trace_eventtypelist_getnext_id(trid, &id, &nothing) == 0 && !nothing) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		if (id >= TYPES_MAX || posix_trace_eventid_get_name(trid, id, name) != 0)
			continue;
		types[id].kind = kind_of(name);
		(void)snprintf(types[id].span, sizeof(types[id].span), "%s", name);
		must("format", posix_trace_eventid_getformat_np(
		                   trid, id, types[id].format, sizeof(types[id].format)));
	}
}

static struct record *new_record(void)
{
	if (record_count == record_room) {
		record_room = record_room ? record_room * 2 : 1024;
		records = realloc(records, record_room * sizeof(*records));
		if (!records) {
			(void)fputs("explain_late: out of memory\n", stderr);
			exit(1);
		}
	}
	memset(&records[record_count], 0, sizeof(*records));
	return &records[record_count++];
}

static int64_t field(const char *format, const void *data, size_t length, size_t *cursor)
{
	struct posix_trace_field_np got;

	if (posix_trace_field_next_np(
	        format, data, length, log_info.posix_swapped_np, cursor, &got, sizeof(got)) != 0)
		return 0;
	return got.posix_value_np.posix_i_np;
}

static void read_records(void)
{
	struct posix_trace_event_info info;
	unsigned char data[256];
	size_t length;
	int nothing;

	(void)new_record(); /* index 0 means "none" */
	while (posix_trace_getnext_event(trid, &info, data, sizeof(data), &length, &nothing) == 0 &&
	       !nothing) {
		struct record *record = new_record();
		const struct type *type = &types[info.posix_event_id % TYPES_MAX];
		size_t cursor = 0;

		record->ns = (int64_t)info.posix_timestamp.tv_sec * 1000000000 +
		             info.posix_timestamp.tv_nsec;
		memcpy(&record->thread, &info.posix_thread_id, sizeof(info.posix_thread_id));
		record->kind = type->kind;
		record->span = type->span;
		record->number = field(type->format, data, length, &cursor);
		record->value = field(type->format, data, length, &cursor);
	}
}

static const char *thread_name(uint64_t thread)
{
	static struct posix_trace_logthread_np entry;

	for (uint32_t i = 0; i < log_info.posix_threads_np; i++) {
		if (posix_trace_log_getthread_np(trid, i, &entry, sizeof(entry)) == 0 &&
		    entry.posix_thread_np == thread && entry.posix_name_np[0] != '\0')
			return entry.posix_name_np;
	}
	return "(a thread without name)";
}

/* The job that missed: its last begin and end before the miss. */
static void find_job(struct story *story)
{
	uint64_t thread = records[story->miss].thread;

	for (size_t i = story->miss - 1; i > 0 && story->begin == 0; i--) {
		if (records[i].thread != thread)
			continue;
		if (records[i].kind == END && story->end == 0)
			story->end = i;
		if (records[i].kind == BEGIN)
			story->begin = i;
	}
	if (story->end < story->begin)
		story->end = story->miss;
}

static void find_wait(struct story *story)
{
	uint64_t thread = records[story->miss].thread;
	int64_t longest = 0;
	size_t asked = 0;

	for (size_t i = story->begin; i < story->end; i++) {
		if (records[i].thread != thread)
			continue;
		if (records[i].kind == WAIT)
			asked = i;
		if (records[i].kind != LOCK || asked == 0)
			continue;
		if (records[i].ns - records[asked].ns > longest) {
			longest = records[i].ns - records[asked].ns;
			story->wait = asked;
			story->lock = i;
		}
		asked = 0;
	}
}

/* The last one to let go of the lock before the job got it, and since when it had it. */
static void find_holder(struct story *story)
{
	const struct record *got = &records[story->lock];

	if (story->lock == 0)
		return;
	for (size_t i = story->lock - 1; i > 0 && story->held_from == 0; i--) {
		if (records[i].thread == got->thread || records[i].number != got->number)
			continue;
		if (records[i].kind == UNLOCK && story->held_to == 0 && i > story->wait)
			story->held_to = i;
		if (records[i].kind == LOCK && story->held_to != 0 &&
		    records[i].thread == records[story->held_to].thread)
			story->held_from = i;
	}
	if (story->held_from == 0)
		story->held_to = 0;
}

/* Of the job that began at @from, the part between @begin and @end. */
static int64_t overlap(size_t from, int64_t begin, int64_t end)
{
	int64_t first = records[from].ns > begin ? records[from].ns : begin;
	int64_t last = end;

	for (size_t i = from + 1; i < record_count && records[i].ns < end; i++) {
		if (records[i].thread == records[from].thread && records[i].kind == END) {
			last = records[i].ns;
			break;
		}
	}
	return last > first ? last - first : 0;
}

/* Which job of a third thread ran longest while the late one waited (or, without wait, was on). */
static void find_runner(struct story *story)
{
	size_t from = story->lock ? story->wait : story->begin;
	size_t to = story->lock ? story->lock : story->end;
	uint64_t holder = story->held_to ? records[story->held_to].thread : 0;

	for (size_t i = 1; i < to; i++) {
		int64_t ns;

		if (records[i].kind != BEGIN || records[i].thread == records[story->miss].thread ||
		    (story->held_to != 0 && records[i].thread == holder))
			continue;
		ns = overlap(i, records[from].ns, records[to].ns);
		if (ns > story->runner_ns) {
			story->runner_ns = ns;
			story->runner = &records[i];
		}
	}
}

static struct story tell(size_t miss)
{
	struct story story = { .miss = miss };

	find_job(&story);
	if (story.begin != 0) {
		find_wait(&story);
		find_holder(&story);
		find_runner(&story);
	}
	return story;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static int64_t waited_ns(const struct story *story)
{
	return records[story->lock].ns - records[story->wait].ns;
}

/* A cell of the table; what is too little to matter is a dash. */
static void say_cell(int64_t ns)
{
	if (ns < NOTHING_NS)
		(void)printf(" %9s", "-");
	else
		(void)printf(" %9.2f", ms(ns));
}

static void say_row(const struct story *story)
{
	const struct record *miss = &records[story->miss];

	(void)printf("  %-10s %5lld", thread_name(miss->thread), (long long)miss->number);
	say_cell(miss->value);
	say_cell(records[story->begin].value);
	say_cell(waited_ns(story));
	(void)printf("  %-10s", story->held_to ? thread_name(records[story->held_to].thread) : "-");
	say_cell(story->runner_ns);
	(void)printf(
	    "  %s\n", story->runner_ns < NOTHING_NS ? "" : thread_name(story->runner->thread));
}

static void say_holder(const struct story *story, const char *late)
{
	const struct record *from = &records[story->held_from];
	const struct record *to = &records[story->held_to];
	char holder[16];

	(void)snprintf(holder, sizeof(holder), "%s", thread_name(to->thread));
	(void)printf(
	    "Who held the lock?   %s, for %.2f ms: taken %.2f ms before %s asked for it and "
	    "waited %.2f ms.\n",
	    holder, ms(to->ns - from->ns), ms(records[story->wait].ns - from->ns), late,
	    ms(waited_ns(story)));
	if (story->runner_ns < NOTHING_NS)
		return;
	(void)printf(
	    "Why so long?         For %.2f ms %s could not run, because %s (job %lld) did, "
	    "which\n                     does not need the lock: a priority inversion.\n",
	    ms(story->runner_ns), holder, thread_name(story->runner->thread),
	    (long long)story->runner->number);
	(void)printf("What helps?          A mutex with PTHREAD_PRIO_INHERIT: it lets %s finish "
	             "first.\n",
	    holder);
}

static void say_answer(const struct story *story, unsigned misses)
{
	const struct record *miss = &records[story->miss];
	int64_t began = records[story->begin].value;
	char late[16];
	unsigned jobs = 0;

	for (size_t i = 1; i < record_count; i++)
		jobs += records[i].kind == BEGIN && records[i].thread == miss->thread;
	(void)snprintf(late, sizeof(late), "%s", thread_name(miss->thread));
	(void)printf(
	    "\nWhich job was late?  Job %lld of %s, by %.2f ms (%u jobs of %u were late).\n",
	    (long long)miss->number, late, ms(miss->value), misses, jobs);
	if (began > miss->value / 4)
		(void)printf(
		    "When did it begin?   %.2f ms after its release: it did not get the CPU.\n",
		    ms(began));
	if (story->held_to != 0)
		say_holder(story, late);
	else
		(void)printf("Who held the lock?   Nobody that it waited for.\n");
}

/* The worst one that somebody else's lock explains; if there is none, the worst one. */
static bool tells_more(const struct story *story, const struct story *than)
{
	bool explained = story->held_to != 0 && waited_ns(story) >= NOTHING_NS;
	bool other = than->held_to != 0 && waited_ns(than) >= NOTHING_NS;

	if (than->miss == 0 || explained != other)
		return than->miss == 0 || explained;
	return records[story->miss].value > records[than->miss].value;
}

static void explain(void)
{
	struct story best = { 0 };
	unsigned misses = 0;

	for (size_t i = 1; i < record_count; i++) {
		struct story story;

		if (records[i].kind != MISS)
			continue;
		story = tell(i);
		if (misses == 0)
			(void)printf("  %-10s %5s %9s %9s %9s  %-10s %9s\n", "late (ms)", "job",
			    "late by", "began at", "waited", "lock held", "meanwhile");
		if (misses++ < MISSES_SHOW)
			say_row(&story);
		if (tells_more(&story, &best))
			best = story;
	}
	if (misses > MISSES_SHOW)
		(void)printf("  and %u more\n", misses - MISSES_SHOW);
	if (misses == 0)
		(void)printf("No job was late.\n");
	else
		say_answer(&best, misses);
	if (log_info.posix_lost_np != 0)
		(void)printf("Careful: %llu events were lost, the story may have holes.\n",
		    (unsigned long long)log_info.posix_lost_np);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fputs("usage: explain_late LOG\n", stderr);
		return 2;
	}
	open_log(argv[1]);
	read_types();
	read_records();
	explain();
	free(records);
	must("close", posix_trace_close(trid));
	return 0;
}
