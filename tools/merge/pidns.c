/* SPDX-License-Identifier: MIT */
/*
 * pidns.c - the system's numbers of threads that could not tell them.
 *
 * A process in a pid namespace of its own knows other numbers of its threads than the kernel's events have, and
 * a log has none of them.  But an event says on which CPU it was recorded, and the scheduler who had that: a thread of
 * the same process.  What most events of a thread say is its number.
 */
#include "tools/event/event.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

/* Of Linux: numbers are below, and CPUs. */
#define TIDS (UINT32_C(1) << 22)
#define CPUS 4096

/* The number that is ahead, and by how many events. */
struct guess {
	pid_t tid;
	uint32_t lead;
};

struct search {
	struct pxt_merge_line *line;
	pid_t *pids;           /* by number; 0: not told */
	pid_t runs[CPUS];      /* 0: not told */
	struct guess *guesses; /* as line->tids */
};

/* Whether a thread of the log has none, but a process; @count: of the table. */
static bool lacks_numbers(const struct pxt_source *source, uint32_t count)
{
	struct posix_trace_logthread_np entry;

	for (uint32_t i = 0; i < count; i++)
		if (posix_trace_log_getthread_np(source->trid, i, &entry, sizeof entry) == 0 &&
		    entry.posix_tid_np == 0 && entry.posix_pid_np > 0 && entry.posix_thread_np != 0)
			return true;
	return false;
}

/* How many entries logs have in which a number is missing. */
static uint32_t begin(struct pxt_merge_line *line, const struct pxt_reader *reader)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < reader->count; i++) {
		uint32_t count = reader->sources[i]->info.posix_threads_np;

		if (!lacks_numbers(reader->sources[i], count))
			continue;
		line->places[i].tid_first = all;
		line->places[i].tid_count = count;
		all += count;
	}
	return all;
}

static void note_pid(struct search *search, uint64_t tid, pid_t pid)
{
	if (tid > 0 && tid < TIDS && pid > 0)
		search->pids[tid] = pid;
}

/* False: not an event of the scheduler. */
static bool take_scheduler(struct search *search, const struct pxt_event *event)
{
	const char *name = event->type->name;
	uint64_t tid = 0;
	uint64_t pid = 0;

	if (strncmp(name, "sched_", 6) != 0)
		return false;
	note_pid(search, (uint64_t)event->thread->tid, event->info.posix_pid);
	if (strcmp(name, "sched_process_fork") == 0) {
		(void)pxt_field_key(event, pxt_field_named(event->type, "child_tid"), &tid);
		(void)pxt_field_key(event, pxt_field_named(event->type, "child_pid"), &pid);
		note_pid(search, tid, (pid_t)pid);
	} else if (strcmp(name, "sched_switch") == 0 && event->extra.posix_cpu_np >= 0 &&
	           event->extra.posix_cpu_np < CPUS) {
		(void)pxt_field_key(event, pxt_field_named(event->type, "next_tid"), &tid);
		search->runs[event->extra.posix_cpu_np] = tid < TIDS ? (pid_t)tid : 0;
	}
	return true;
}

static void vote(struct guess *guess, pid_t tid)
{
	if (guess->lead == 0)
		*guess = (struct guess){ .tid = tid };
	if (guess->tid == tid)
		guess->lead++;
	else
		guess->lead--;
}

static void take(struct search *search, const struct pxt_event *event)
{
	const struct pxt_place *place = &search->line->places[event->source->place];
	const struct pxt_thread *thread = event->thread;
	int cpu = event->extra.posix_cpu_np;

	if (event->extra.posix_lost_before_np > 0 && place->tid_count == 0)
		memset(search->runs, 0, sizeof search->runs);
	if (take_scheduler(search, event) || thread->entry >= place->tid_count ||
	    thread->tid != 0 || !thread->recorded || cpu < 0 || cpu >= CPUS)
		return;
	if (search->runs[cpu] > 0 && search->pids[search->runs[cpu]] == thread->pid)
		vote(&search->guesses[place->tid_first + thread->entry], search->runs[cpu]);
}

void pxt_merge_numbers_find(struct pxt_merge_line *line, struct pxt_reader *reader)
{
	struct search *search;
	const struct pxt_event *event;
	uint32_t count = begin(line, reader);

	if (count == 0)
		return;
	search = pxt_must(calloc(1, sizeof *search));
	search->line = line;
	search->pids = pxt_must(calloc(TIDS, sizeof *search->pids));
	search->guesses = pxt_must(calloc(count, sizeof *search->guesses));
	while ((event = pxt_reader_next(reader)) != NULL)
		take(search, event);
	pxt_reader_rewind(reader);
	line->tids = pxt_must(calloc(count, sizeof *line->tids));
	for (uint32_t i = 0; i < count; i++)
		line->tids[i] = search->guesses[i].tid;
	free(search->guesses);
	free(search->pids);
	free(search);
}

pid_t pxt_merge_numbers_of(
    const struct pxt_merge_line *line, uint32_t place, uint32_t entry, pid_t tid)
{
	if (tid != 0 || entry >= line->places[place].tid_count)
		return tid;
	return line->tids[line->places[place].tid_first + entry];
}
