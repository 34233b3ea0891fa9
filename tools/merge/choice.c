/* SPDX-License-Identifier: MIT */
/* choice.c - the events that attach -o chose, into a log that grows; see merge.h. */
#define _FILE_OFFSET_BITS 64
#include "tools/merge/merge.h"

#include "format/ids.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <sys/stat.h>

#define FLUSH_NS INT64_C(200000000)
#define NS_PER_S INT64_C(1000000000)

struct pxt_choice {
	const char *path;
	struct pxt_logwrite *log;
	struct pxt_merge_line line;
	struct pxt_merge_threads *threads;
	uint64_t lost;
	int64_t flushed_ns;
	bool told[PXT_MERGE_TYPES]; /* types that the log knows */
};

static void move(struct timespec *time, int64_t ns)
{
	int64_t sum = pxt_when_ns(time) + ns;

	/* A clock that is not known stays so. */
	if (time->tv_sec != 0 || time->tv_nsec != 0)
		*time = (struct timespec){ .tv_sec = (time_t)(sum / NS_PER_S),
			.tv_nsec = (long)(sum % NS_PER_S) };
}

/* When the log is said to have been made. */
static struct pxt_logclock created(const struct pxt_merge_line *line, int64_t from_ns)
{
	struct pxt_logclock clock = line->created;
	int64_t later = from_ns > line->start_ns ? from_ns - line->start_ns : 0;

	if (later == 0)
		return clock;
	clock.ticks += (uint64_t)later;
	move(&clock.realtime, later);
	move(&clock.monotonic, later);
	move(&clock.boottime, later);
	return clock;
}

struct pxt_choice *pxt_choice_begin(const char *path, struct pxt_reader *reader, int64_t from_ns)
{
	static const struct pxt_placing one_boot = { .rule = PXT_CLOCK_ONE_BOOT };
	struct pxt_choice *choice = pxt_must(calloc(1, sizeof *choice));
	struct pxt_loghead head = { .name = "chosen", .hz = 1000000000 };

	if (!pxt_merge_line_make(&choice->line, reader, &one_boot)) {
		pxt_merge_line_free(&choice->line);
		free(choice);
		return NULL;
	}
	choice->path = path;
	head.clock_source =
	    choice->line.monotonic ? POSIX_TRACE_CLOCK_MONOTONIC_NP : POSIX_TRACE_CLOCK_PORT_NP;
	head.created = created(&choice->line, from_ns);
	choice->log = pxt_must(pxt_logwrite_begin(path, PXT_LOG_GROWING, &head));
	choice->threads = pxt_merge_threads_new();
	pxt_logwrite_process(choice->log, &reader->sources[0]->info);
	return choice;
}

uint64_t pxt_choice_events(const struct pxt_choice *choice)
{
	return pxt_logwrite_events(choice->log);
}

uint64_t pxt_choice_lost(const struct pxt_choice *choice)
{
	return choice->lost;
}

int pxt_choice_error(const struct pxt_choice *choice)
{
	return pxt_logwrite_error(choice->log);
}

/* A type is told before its first event: so late, and so few, the log has them. */
static void tell_type(struct pxt_choice *choice, const struct pxt_event *event)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1] = "";
	trace_event_id_t id = event->type->id;

	/* Every log has the standard's. */
	if ((id < PXT_MERGE_USER && !pxt_id_is_specific(id)) || id >= PXT_MERGE_TYPES ||
	    choice->told[id])
		return;
	choice->told[id] = true;
	if (posix_trace_eventid_getformat_np(event->source->trid, id, format, sizeof(format)) != 0)
		*format = '\0';
	pxt_logwrite_type(choice->log, id, event->type->name, *format ? format : NULL);
}

void pxt_choice_threads(struct pxt_choice *choice, const struct pxt_source *source)
{
	pxt_merge_threads_learn(choice->threads, &choice->line, choice->log, source);
}

void pxt_choice_put(struct pxt_choice *choice, const struct pxt_event *event)
{
	struct pxt_logevent made;

	tell_type(choice, event);
	pxt_merge_event_of(&made, choice->threads, &choice->line, choice->log, event);
	made.data = event->data;
	made.bytes = event->bytes;
	pxt_logwrite_event(choice->log, &made);
}

void pxt_choice_lose(struct pxt_choice *choice, uint64_t events)
{
	pxt_logwrite_loss(choice->log, events);
	choice->lost += events;
}

uint64_t pxt_choice_flush(struct pxt_choice *choice, int64_t now_ns)
{
	struct stat state;

	if (now_ns - choice->flushed_ns >= FLUSH_NS) {
		pxt_logwrite_flush(choice->log);
		choice->flushed_ns = now_ns;
	}
	return stat(choice->path, &state) == 0 ? (uint64_t)state.st_size : 0;
}

int pxt_choice_end(struct pxt_choice *choice, const struct pxt_source *source, bool unknown)
{
	uint64_t events = pxt_logwrite_events(choice->log);
	struct pxt_logend end = { .unknown = unknown };
	struct posix_trace_logmodule_np module;
	struct posix_trace_lognote_np note;
	int error;

	for (uint32_t i = 0;
	     posix_trace_log_getmodule_np(source->trid, i, &module, sizeof module) == 0; i++)
		pxt_logwrite_module(choice->log, &module);
	for (uint32_t i = 0; posix_trace_log_getnote_np(source->trid, i, &note, sizeof note) == 0;
	     i++)
		pxt_logwrite_note(choice->log, &note);
	end.counts.posix_written_np = events + choice->lost;
	end.counts.posix_retrieved_np = events;
	end.counts.posix_lost_np = choice->lost;
	end.counts.posix_stable_np = 1;
	error = pxt_logwrite_end(choice->log, &end);
	pxt_merge_threads_free(choice->threads);
	pxt_merge_line_free(&choice->line);
	free(choice);
	return error;
}
