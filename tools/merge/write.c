/* SPDX-License-Identifier: MIT */
/*
 * write.c - the events of all logs, in the order of time, into one.
 *
 * The counts of the new log add up because those of each do: a record becomes a record, a loss that an
 * event tells becomes a loss before that event, and the counts of the trailers are added up.
 */
#include "tools/merge/merge.h"

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define SET_BYTES (_PXT_EVENT_IDS / 8u)
#define DATA_MAX  4095u

/* ---- Data that holds type numbers ---- */

/* The standard's event sets name types by the old log's numbers. */
static void renumber(const struct pxt_merge *merge, const struct pxt_event *event, size_t from,
    size_t bytes, unsigned char *to)
{
	const uint16_t *numbers = merge->types.numbers[event->source->place];
	uint32_t words[SET_BYTES / 4] = { 0 };

	for (uint32_t id = 0; id < PXT_MERGE_TYPES && id / 32 * 4 + 4 <= bytes; id++) {
		uint32_t now = id < PXT_MERGE_USER ? id : numbers[id];
		uint32_t word;

		memcpy(&word, event->data + from + (size_t)(id / 32) * 4, sizeof word);
		if ((word >> (id % 32) & 1) && now / 32 < SET_BYTES / 4)
			words[now / 32] |= UINT32_C(1) << (now % 32);
	}
	/* Types that the old log does not name have no number here. */
	words[0] &= ~UINT32_C(1);
	memcpy(to, words, sizeof words);
}

/* ---- Data that is told in two forms ---- */

/* A context switch of either form; what it does not tell is 0, but for the CPU. */
static size_t switch_of(const struct pxt_event *event, unsigned char *to)
{
	static const char *const names[] = { "cpu", "prev_tid", "next_tid", "prev_state",
		"next_prio" };
	uint32_t words[sizeof names / sizeof *names] = { (uint32_t)event->extra.posix_cpu_np };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct pxt_layout *field = pxt_field_named(event->type, names[i]);
		struct pxt_value value;

		/* All are numbers, and a signed one has the same low half. */
		if (field && pxt_field_value(event, field, &value))
			words[i] = (uint32_t)value.u;
	}
	memcpy(to, words, sizeof words);
	return sizeof words;
}

/* Which data the new log's event has; @buffer has room for two sets. */
static const void *data_of(const struct pxt_merge *merge, const struct pxt_event *event,
    unsigned char *buffer, size_t *bytes)
{
	size_t sets = 0;

	*bytes = event->bytes < DATA_MAX ? event->bytes : DATA_MAX;
	if (event->info.posix_event_id == POSIX_TRACE_CONTEXT_SWITCH_NP && merge->types.switches) {
		*bytes = switch_of(event, buffer);
		return buffer;
	}
	if (event->info.posix_event_id == POSIX_TRACE_START)
		sets = event->bytes > 0;
	else if (event->info.posix_event_id == POSIX_TRACE_FILTER)
		sets = event->bytes > 0 ? 2 : 0;
	if (sets == 0)
		return event->data;
	for (size_t i = 0; i < sets; i++)
		renumber(merge, event, i * (event->bytes / sets), event->bytes / sets,
		    buffer + i * SET_BYTES);
	*bytes = sets * SET_BYTES;
	return buffer;
}

/* ---- Events ---- */

void pxt_merge_event_of(struct pxt_logevent *made, struct pxt_merge_threads *threads,
    const struct pxt_merge_line *line, struct pxt_logwrite *log, const struct pxt_event *event)
{
	const struct pxt_merge_thread *thread = pxt_merge_threads_of(threads, line, log, event);
	uintptr_t address;

	if (event->type->is_fork)
		pxt_merge_threads_fork(threads, line, event);
	memcpy(&address, &event->info.posix_prog_address, sizeof address);
	*made = (struct pxt_logevent){ .id = event->info.posix_event_id,
		.ticks = pxt_merge_line_ticks(line, event->ns),
		.thread_index = thread->index,
		.thread = thread->id,
		.pid = thread->pid,
		.address = address,
		.cpu = event->extra.posix_cpu_np,
		.cut = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED };
}

static void put_event(struct pxt_merge *merge, const struct pxt_event *event)
{
	unsigned char sets[2 * SET_BYTES];
	struct pxt_logevent made;

	pxt_merge_event_of(&made, merge->threads, &merge->line, merge->log, event);
	if (event->extra.posix_lost_before_np)
		pxt_logwrite_loss(merge->log, event->extra.posix_lost_before_np);
	if (made.id >= PXT_MERGE_USER && made.id < PXT_MERGE_TYPES)
		made.id = merge->types.numbers[event->source->place][made.id];
	/* A type that its own log does not name cannot be named here. */
	if (made.id == 0)
		made.id = POSIX_TRACE_UNNAMED_USEREVENT;
	made.data = data_of(merge, event, sets, &made.bytes);
	pxt_logwrite_event(merge->log, &made);
}

static void put_kernel(struct pxt_merge *merge)
{
	const struct pxt_ftracetext_event *event = &merge->ftrace.text.event;
	const struct pxt_merge_thread *thread =
	    pxt_merge_threads_tid(merge->threads, &merge->line, merge->log, event);
	struct pxt_logevent made = { .id = merge->ftrace_ids[event->kind],
		.ticks = pxt_merge_line_ticks(&merge->line, merge->ftrace.ns),
		.thread_index = thread->index,
		.thread = thread->id,
		.pid = thread->pid,
		.cpu = event->cpu,
		.data = event->data,
		.bytes = event->bytes };

	if (event->lost_before)
		pxt_logwrite_loss(merge->log, event->lost_before);
	pxt_logwrite_event(merge->log, &made);
}

/* What a full log had no room for, when only its STOP is left, which has room of its own. */
static uint64_t without_room(const struct pxt_source *source)
{
	const struct posix_trace_loginfo_np *info = &source->info;
	uint32_t automatic = 0;

	if (!source->filled || source->event.info.posix_event_id != POSIX_TRACE_STOP ||
	    source->event.bytes != sizeof automatic)
		return 0;
	memcpy(&automatic, source->event.data, sizeof automatic);
	if (automatic != 1 || !info->posix_complete_np)
		return 0;
	return pxt_unwritten_records(info);
}

/*
 * What a log lost behind its last event is told before what others recorded after that: so nobody takes
 * what was open there for something that went on.  @told: how much of it, by source.  Sources from @from
 * up to @end have gone on since.
 */
static void put_rests(struct pxt_merge *merge, unsigned from, unsigned end, uint64_t *told)
{
	for (unsigned i = from; i < end; i++) {
		const struct pxt_source *source = merge->reader.sources[i];
		uint64_t rest =
		    source->at_end ? pxt_source_lost_rest(source) : without_room(source);

		if (rest <= told[i])
			continue;
		pxt_logwrite_loss(merge->log, rest - told[i]);
		told[i] = rest;
	}
}

/* Of text nobody knows how many events it holds before it was read. */
static void begin_progress(struct pxt_merge *merge, struct pxt_progress *progress)
{
	if (merge->ftrace.text.file)
		pxt_progress_begin(progress, "merge", "events", 0, false);
	else
		pxt_progress_reader(progress, "merge", &merge->reader, false);
}

static void put_events(struct pxt_merge *merge)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	bool more = merge->ftrace.text.file && pxt_ftrace_next(&merge->ftrace);
	uint64_t *told = pxt_must(calloc((size_t)merge->reader.count + 1, sizeof *told));
	unsigned from = 0;
	unsigned end = merge->reader.count;

	begin_progress(merge, &progress);
	pxt_logwrite_loss(merge->log, merge->lost_before);
	while ((event = pxt_reader_next(&merge->reader)) != NULL &&
	       pxt_logwrite_error(merge->log) == 0) {
		put_rests(merge, from, end, told);
		while (more && merge->ftrace.ns < event->ns) {
			pxt_progress_step(&progress);
			put_kernel(merge);
			more = pxt_ftrace_next(&merge->ftrace);
		}
		put_event(merge, event);
		from = event->source->place;
		end = from + 1;
		pxt_progress_step(&progress);
	}
	if (more)
		put_rests(merge, from, end, told);
	while (more && pxt_logwrite_error(merge->log) == 0) {
		pxt_progress_step(&progress);
		put_kernel(merge);
		more = pxt_ftrace_next(&merge->ftrace);
	}
	free(told);
	pxt_progress_end(&progress);
}

/* ---- Around them ---- */

static void put_process(const struct pxt_merge *merge)
{
	const struct posix_trace_loginfo_np *first = &merge->reader.sources[0]->info;
	struct posix_trace_loginfo_np all = *first;

	/* What is not the same for all is not said of all. */
	for (unsigned i = 1; i < merge->reader.count; i++) {
		const struct posix_trace_loginfo_np *info = &merge->reader.sources[i]->info;

		if (info->posix_pid_np != first->posix_pid_np ||
		    merge->line.places[i].others != merge->line.places[0].others ||
		    strcmp(info->posix_host_np, first->posix_host_np) != 0)
			all.posix_pid_np = 0;
		if (strcmp(info->posix_executable_np, first->posix_executable_np) != 0)
			*all.posix_executable_np = '\0';
		if (strcmp(info->posix_host_np, first->posix_host_np) != 0)
			*all.posix_host_np = '\0';
		if (memcmp(info->posix_boot_id_np, first->posix_boot_id_np,
		        sizeof all.posix_boot_id_np) != 0)
			memset(all.posix_boot_id_np, 0, sizeof all.posix_boot_id_np);
		if (info->posix_cpus_np != first->posix_cpus_np)
			all.posix_cpus_np = 0;
		if (strcmp(info->posix_system_np, first->posix_system_np) != 0)
			*all.posix_system_np = '\0';
	}
	pxt_logwrite_process(merge->log, &all);
}

/* A log without its end says less of itself than its events do. */
static void add_incomplete(struct pxt_logend *end, const struct pxt_source *source)
{
	end->counts.posix_written_np += source->events + source->lost;
	end->counts.posix_retrieved_np += source->events;
	end->counts.posix_lost_np += source->lost;
}

static void add_complete(struct pxt_logend *end, const struct pxt_source *source)
{
	const struct posix_trace_counts_np *counts = &source->info.posix_counts_np;
	uint64_t log_lost = pxt_unwritten_records(&source->info);
	uint64_t gone = 0;

	/* Flushed to the log and cleared there: not in the new one. */
	if (counts->posix_retrieved_np > source->events + log_lost)
		gone = counts->posix_retrieved_np - source->events - log_lost;
	end->counts.posix_written_np += counts->posix_written_np;
	end->counts.posix_retrieved_np += counts->posix_retrieved_np - gone;
	/* What its stream held at its end is told here as a loss: this log has no stream to hold it. */
	end->counts.posix_lost_np += counts->posix_lost_np + counts->posix_held_np;
	end->counts.posix_cleared_np += counts->posix_cleared_np + gone;
	end->log_lost += log_lost;
}

static struct pxt_logend sum_up(const struct pxt_merge *merge)
{
	struct pxt_logend end = { .counts = { .posix_stable_np = 1 } };

	for (unsigned i = 0; i < merge->reader.count; i++) {
		const struct pxt_source *source = merge->reader.sources[i];

		if (source->info.posix_complete_np && !source->failed)
			add_complete(&end, source);
		else
			add_incomplete(&end, source);
		end.unknown |= pxt_source_end_unknown(source);
	}
	end.counts.posix_written_np += merge->ftrace.text.events + merge->ftrace.text.lost;
	end.counts.posix_retrieved_np += merge->ftrace.text.events;
	end.counts.posix_lost_np += merge->ftrace.text.lost;
	end.counts.posix_written_np += merge->lost_before;
	end.counts.posix_lost_np += merge->lost_before;
	return end;
}

static int finish(struct pxt_merge *merge, const char *path)
{
	struct pxt_logend end = sum_up(merge);
	int error = pxt_logwrite_end(merge->log, &end);

	if (error == 0)
		return PXT_EXIT_OK;
	pxt_complain("%s: %s", path, strerror(error));
	return PXT_EXIT_OUTPUT;
}

/* One head says what priorities mean in all events. */
static bool larger_priority(const struct pxt_reader *reader)
{
	unsigned larger = 0;

	for (unsigned i = 0; i < reader->count; i++)
		larger += reader->sources[i]->info.posix_larger_priority_np != 0;
	if (larger != 0 && larger != reader->count)
		pxt_complain(
		    "merge: in some of these logs a larger priority is more urgent, in others a "
		    "smaller one: which is not told in the merged log");
	return larger != 0 && larger == reader->count;
}

int pxt_merge_write(struct pxt_merge *merge, const char *path)
{
	struct pxt_loghead head = { .name = "merged",
		.clock_source = merge->line.monotonic ? POSIX_TRACE_CLOCK_MONOTONIC_NP
		                                      : POSIX_TRACE_CLOCK_PORT_NP,
		.hz = 1000000000,
		.larger_priority = larger_priority(&merge->reader),
		.created = merge->line.created };

	merge->log = pxt_must(pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head));
	merge->threads = pxt_merge_threads_new();
	pxt_processes_part(&merge->line, &merge->reader);
	pxt_merge_numbers_find(&merge->line, &merge->reader);
	put_process(merge);
	pxt_merge_types_write(&merge->types, merge->log);
	pxt_merge_modules(&merge->reader, merge->log);
	pxt_merge_notes(&merge->reader, merge->log);
	for (unsigned i = 0; i < merge->line.note_count; i++)
		pxt_logwrite_note(merge->log, &merge->line.notes[i]);
	for (unsigned i = 0; i < merge->reader.count; i++)
		pxt_merge_threads_learn(
		    merge->threads, &merge->line, merge->log, merge->reader.sources[i]);
	put_events(merge);
	int status = finish(merge, path);
	pxt_merge_threads_free(merge->threads);
	return status;
}

/* ---- Logs of one boot as one, for other commands; the end of a merger ---- */

void pxt_merge_close(struct pxt_merge *merge)
{
	pxt_ftrace_close(&merge->ftrace);
	free(merge->types.numbers);
	pxt_merge_line_free(&merge->line);
	pxt_reader_close(&merge->reader);
}

int pxt_merge_files(const char *output, char *const *paths, unsigned count, uint64_t lost)
{
	static const struct pxt_placing one_boot = { .rule = PXT_CLOCK_ONE_BOOT };
	struct pxt_merge *merge = pxt_must(calloc(1, sizeof *merge));
	int status = pxt_reader_open(&merge->reader, paths, count, PXT_OPEN_INCOMPLETE, NULL);

	if (status == PXT_EXIT_OK &&
	    (!pxt_merge_line_make(&merge->line, &merge->reader, &one_boot) ||
	        !pxt_merge_types_make(&merge->types, &merge->reader)))
		status = PXT_EXIT_LOG;
	merge->lost_before = lost;
	if (status == PXT_EXIT_OK)
		status = pxt_merge_write(merge, output);
	pxt_merge_close(merge);
	free(merge);
	return status;
}
