/* SPDX-License-Identifier: MIT */
/*
 * threads.c - threads of all logs under common indices.
 *
 * A thread is known by its log, its pthread_t, its entry in the log's table, its process and the
 * system's number (tid).  Two processes
 * may well have the same pthread_t, and so may two threads of one process, one after the other; readers
 * of the new log tell threads apart by it, so it is made different there.  The tid and the name stay as
 * they were.
 */
#include "tools/merge/merge.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS    65536u
#define PLACE_NONE UINT32_MAX /* a thread that only the kernel named */

struct pxt_merge_threads {
	uint32_t count; /* threads[1] is the first */
	uint32_t room;
	struct pxt_merge_thread *threads;
	uint32_t by_key[BUCKETS];
	uint32_t by_id[BUCKETS];
	uint32_t by_tid[BUCKETS];
	struct pxt_merge_thread beyond; /* when the table is full */
};

static uint32_t bucket(uint64_t number)
{
	return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 48) % BUCKETS;
}

static uint32_t bucket_of_key(uint32_t place, uint64_t own, pid_t pid)
{
	return bucket(own ^ (uint64_t)place << 40 ^ (uint64_t)(uint32_t)pid << 8);
}

struct pxt_merge_threads *pxt_merge_threads_new(void)
{
	struct pxt_merge_threads *threads = pxt_must(calloc(1, sizeof *threads));

	threads->room = 64;
	threads->threads = pxt_must(malloc(threads->room * sizeof *threads->threads));
	return threads;
}

void pxt_merge_threads_free(struct pxt_merge_threads *threads)
{
	if (threads)
		free(threads->threads);
	free(threads);
}

static bool id_used(const struct pxt_merge_threads *threads, uint64_t id)
{
	uint32_t at = threads->by_id[bucket(id)];

	while (at && threads->threads[at].id != id)
		at = threads->threads[at].next_id;
	return at != 0;
}

/* Numbers of 32 bits stay such, for readers whose pthread_t has no more. */
static uint64_t free_id(const struct pxt_merge_threads *threads, uint64_t wanted)
{
	uint64_t step = 1;

	while (id_used(threads, wanted))
		wanted = (wanted ^ step++ * UINT64_C(0x01000193)) | 1;
	return wanted;
}

static struct pxt_merge_thread *add(
    struct pxt_merge_threads *threads, const struct pxt_merge_thread *thread)
{
	if (threads->count == PXT_MERGE_THREADS) {
		threads->beyond = *thread;
		threads->beyond.index = PXT_LOGWRITE_NO_INDEX;
		return &threads->beyond;
	}
	uint32_t at = ++threads->count;
	if (at == threads->room) {
		threads->room *= 2;
		threads->threads =
		    pxt_must(realloc(threads->threads, threads->room * sizeof *threads->threads));
	}
	struct pxt_merge_thread *added = &threads->threads[at];
	uint32_t *key = &threads->by_key[bucket_of_key(thread->place, thread->own, thread->pid)];
	*added = *thread;
	added->index = at;
	added->next = *key;
	*key = at;
	uint32_t *id = &threads->by_id[bucket(thread->id)];
	added->next_id = *id;
	*id = at;
	uint32_t *tid = &threads->by_tid[bucket((uint32_t)thread->tid)];
	added->next_tid = *tid;
	*tid = at;
	return added;
}

static void tell(struct pxt_logwrite *log, const struct pxt_merge_thread *thread, const char *name)
{
	struct posix_trace_logthread_np entry = { .posix_thread_np = thread->id,
		.posix_pid_np = thread->pid,
		.posix_tid_np = thread->tid };
	size_t bytes = strlen(name);

	if (thread->index == PXT_LOGWRITE_NO_INDEX)
		return;
	memcpy(entry.posix_name_np, name,
	    bytes < sizeof entry.posix_name_np ? bytes : sizeof entry.posix_name_np - 1);
	pxt_logwrite_thread(log, thread->index, &entry);
}

/* Of @key count the members that make a thread what it is (merge.h). */
static struct pxt_merge_thread *find(
    struct pxt_merge_threads *threads, const struct pxt_merge_thread *key)
{
	uint32_t at = threads->by_key[bucket_of_key(key->place, key->own, key->pid)];

	while (at) {
		struct pxt_merge_thread *thread = &threads->threads[at];

		if (thread->place == key->place && thread->own == key->own &&
		    thread->entry == key->entry && thread->pid == key->pid &&
		    thread->tid == key->tid)
			return thread;
		at = thread->next;
	}
	return NULL;
}

/* No thread (own 0) stays none: its entry only says the process. */
static struct pxt_merge_thread *make(struct pxt_merge_threads *threads, struct pxt_logwrite *log,
    const struct pxt_merge_thread *key, const char *name)
{
	struct pxt_merge_thread thread = *key;

	thread.id = key->own ? free_id(threads, key->own) : 0;
	struct pxt_merge_thread *added = add(threads, &thread);
	tell(log, added, name);
	return added;
}

/* ---- Of the kernel ---- */

/* A log may hold what the kernel told of threads (tools/sched): it knows their numbers alone. */
static bool is_kernels(uint64_t own, pid_t tid)
{
	return own == PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)tid;
}

/* Numbers of threads mean the same in the kernel's events and in logs of the same boot. */
static bool is_task(const struct pxt_merge_line *line, const struct pxt_merge_thread *thread,
    pid_t tid, uint32_t place)
{
	return thread->tid == tid && thread->own != 0 &&
	       (thread->place == PLACE_NONE ||
	           line->places[thread->place].group == line->places[place].group);
}

/*
 * Numbers are used again.  Of the threads that have this one: the one that has had an event since another one had
 * it; else the first that is to come.
 */
static struct pxt_merge_thread *present(
    struct pxt_merge_threads *threads, const struct pxt_merge_line *line, pid_t tid, uint32_t place)
{
	struct pxt_merge_thread *next = NULL;

	for (uint32_t at = threads->by_tid[bucket((uint32_t)tid)]; at;
	     at = threads->threads[at].next_tid) {
		struct pxt_merge_thread *thread = &threads->threads[at];

		if (!is_task(line, thread, tid, place) || thread->over)
			continue;
		if (thread->met)
			return thread;
		next = thread;
	}
	return next;
}

/* A thread begins that has the number: the others have ended. */
static void begins(struct pxt_merge_threads *threads, const struct pxt_merge_line *line, pid_t tid,
    uint32_t place, const struct pxt_merge_thread *begun)
{
	for (uint32_t at = threads->by_tid[bucket((uint32_t)tid)]; at;
	     at = threads->threads[at].next_tid) {
		struct pxt_merge_thread *thread = &threads->threads[at];

		thread->over = thread->over || (thread != begun && thread->met &&
		                                   is_task(line, thread, tid, place));
	}
}

void pxt_merge_threads_fork(struct pxt_merge_threads *threads, const struct pxt_merge_line *line,
    const struct pxt_event *event)
{
	uint32_t place = event->source->place;
	uint64_t tid;

	if (pxt_field_key(event, pxt_field_named(event->type, "child_tid"), &tid) && tid > 0 &&
	    tid <= INT32_MAX)
		begins(threads, line, pxt_processes_number(line, place, (pid_t)tid), place, NULL);
}

/* @place: the log by which the kernel's events are placed. */
static const struct pxt_merge_thread *task_of(struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log, uint32_t place, pid_t tid,
    pid_t pid, const char *name)
{
	const struct pxt_merge_thread key = { .place = PLACE_NONE,
		.own = PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)tid,
		.entry = UINT32_MAX,
		.pid = pid,
		.tid = tid };
	struct pxt_merge_thread *thread = tid > 0 ? present(threads, line, tid, place) : NULL;

	if (!thread)
		thread = find(threads, &key);
	if (!thread)
		thread = make(threads, log, &key, name);
	thread->met = true;
	thread->over = false;
	return thread;
}

const struct pxt_merge_thread *pxt_merge_threads_tid(struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log,
    const struct pxt_ftracetext_event *event)
{
	return task_of(threads, line, log, 0, event->tid, event->pid, event->comm);
}

/* ---- Of logs ---- */

static pid_t tid_of(const struct pxt_merge_line *line, uint32_t place, uint32_t entry, pid_t tid)
{
	return pxt_processes_number(line, place, pxt_merge_numbers_of(line, place, entry, tid));
}

const struct pxt_merge_thread *pxt_merge_threads_of(struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log, const struct pxt_event *event)
{
	uint64_t own = event->thread->recorded ? event->thread->id : 0;
	const struct pxt_merge_thread key = { .place = event->source->place,
		.own = own,
		.entry = own ? event->thread->entry : UINT32_MAX,
		.pid = pxt_processes_number(line, event->source->place, event->info.posix_pid),
		.tid = own ? tid_of(line, event->source->place, event->thread->entry,
		                 event->thread->tid)
		           : 0 };

	if (own && is_kernels(own, event->thread->tid))
		return task_of(
		    threads, line, log, key.place, key.tid, key.pid, event->thread->name);
	struct pxt_merge_thread *thread = find(threads, &key);

	if (!thread)
		thread = make(threads, log, &key, own ? event->thread->name : "");
	/* Threads of one process may have one entry, one after the other. */
	if ((!thread->met || thread->over) && key.tid > 0)
		begins(threads, line, key.tid, key.place, thread);
	thread->met = true;
	thread->over = false;
	return thread;
}

void pxt_merge_threads_learn(struct pxt_merge_threads *threads, const struct pxt_merge_line *line,
    struct pxt_logwrite *log, const struct pxt_source *source)
{
	const uint64_t mask = sizeof(pthread_t) >= 8 ? UINT64_MAX : UINT32_MAX;
	struct posix_trace_logthread_np entry;

	for (uint32_t i = 0; i < source->info.posix_threads_np; i++) {
		char name[sizeof entry.posix_name_np + 1] = "";

		if (posix_trace_log_getthread_np(source->trid, i, &entry, sizeof entry) != 0)
			return;
		const struct pxt_merge_thread key = { .place = source->place,
			.own = entry.posix_thread_np & mask,
			.entry = i,
			.pid = pxt_processes_number(line, source->place, entry.posix_pid_np),
			.tid = tid_of(line, source->place, i, entry.posix_tid_np) };

		/* The program's own log may name it, too, and comes first. */
		if (is_kernels(key.own, key.tid))
			continue;
		struct pxt_merge_thread *known = find(threads, &key);
		memcpy(name, entry.posix_name_np, sizeof entry.posix_name_np);
		if (known)
			tell(log, known, name);
		else
			(void)make(threads, log, &key, name);
	}
}

/*
 * ---- Processes of different logs that have one number ----
 *
 * A number is one of its machine and its namespace.
 * The first process of each container is 1.  Readers of the new log tell processes apart by it, so it is
 * made different there.
 */

/* Above all numbers of Linux, and easy to take off again. */
#define STEP      10000000
#define MOST      200u /* of them fit a pid_t */
#define SAME_TIME INT64_C(50000000)

pid_t pxt_processes_number(const struct pxt_merge_line *line, uint32_t place, pid_t number)
{
	return number > 0 && number < STEP ? number + (pid_t)line->places[place].others * STEP
	                                   : number;
}

/* Both say it, and not the same. */
static bool texts_differ(const char *a, const char *b)
{
	return *a != '\0' && *b != '\0' && strcmp(a, b) != 0;
}

static bool boots_differ(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b)
{
	static const unsigned char none[sizeof a->posix_boot_id_np];

	return memcmp(a->posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(b->posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(a->posix_boot_id_np, b->posix_boot_id_np, sizeof none) != 0;
}

/* On CLOCK_BOOTTIME, as the log that says it knew the civil time. */
static int64_t started(const struct pxt_source *source)
{
	int64_t start = pxt_when_ns(&source->info.posix_process_start_np);
	int64_t boot = pxt_when_ns(&source->info.posix_start_boottime_np);

	return start > 0 && boot > 0 ? start - pxt_when_ns(&source->info.posix_start_np) + boot : 0;
}

/* Where a program lies, and its loader, does not change while the process lives. */
static bool stays(const struct pxt_source *source, const char *path)
{

	return strcmp(path, source->info.posix_executable_np) == 0 ||
	       strncmp(pxt_path_name(path), "ld-", 3) == 0;
}

static bool places_differ(const struct pxt_source *a, const struct pxt_source *b)
{
	struct posix_trace_logmodule_np x;
	struct posix_trace_logmodule_np y;

	for (uint32_t i = 0; posix_trace_log_getmodule_np(a->trid, i, &x, sizeof x) == 0; i++) {
		bool here = false;
		bool elsewhere = false;

		if (!stays(a, x.posix_path_np))
			continue;
		for (uint32_t k = 0; posix_trace_log_getmodule_np(b->trid, k, &y, sizeof y) == 0;
		     k++) {
			if (strcmp(x.posix_path_np, y.posix_path_np) != 0)
				continue;
			here |= x.posix_low_np == y.posix_low_np;
			elsewhere |= x.posix_low_np != y.posix_low_np;
		}
		if (elsewhere && !here)
			return true;
	}
	return false;
}

/* What is not known is taken for the same. */
static bool is_another(const struct pxt_source *a, const struct pxt_source *b)
{
	int64_t x = started(a);
	int64_t y = started(b);

	return boots_differ(&a->info, &b->info) ||
	       texts_differ(a->info.posix_host_np, b->info.posix_host_np) ||
	       (x > 0 && y > 0 && llabs(x - y) > SAME_TIME) || places_differ(a, b);
}

void pxt_processes_part(const struct pxt_merge_line *line, const struct pxt_reader *reader)
{
	for (uint32_t i = 1; i < reader->count; i++) {
		const struct pxt_source *mine = reader->sources[i];
		const struct pxt_source *other = NULL;
		uint32_t others = 0;
		uint32_t k = 0;

		for (; k < i; k++) {
			const struct pxt_source *before = reader->sources[k];

			if (before->info.posix_pid_np != mine->info.posix_pid_np)
				continue;
			if (!is_another(before, mine))
				break;
			other = before;
			if (others <= line->places[k].others)
				others = line->places[k].others + 1;
		}
		line->places[i].others = k < i ? line->places[k].others : others;
		if (k < i || !other || mine->info.posix_pid_np <= 0)
			continue;
		if (others > MOST)
			line->places[i].others = 0;
		else
			pxt_complain(
			    "%s: its process %ld is another one than that of %s: in the new "
			    "log it has the number %ld, and its threads 10000000 more, too",
			    mine->path, (long)mine->info.posix_pid_np, other->path,
			    (long)pxt_processes_number(line, i, mine->info.posix_pid_np));
	}
}
