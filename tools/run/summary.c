/* SPDX-License-Identifier: MIT */
/* summary.c - what a recorded run came to, in a few lines; what its log says in words; see recorder.h. */
#include "tools/run/recorder.h"

#include "format/compiler.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/why/tell.h"
#include "tools/why/waits.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS   5u
#define WAITS   3u
#define THREADS 5u
/* Where a terminal has fewer columns, names of threads are cut. */
#define COLUMNS 70u

/* ---- Processes ---- */

/* The scheduler also tells of processes that are not traced. */
static bool has_recorded(const struct pxt_actor *actor)
{
	return actor->own && actor->id != 0;
}

/* The processes that are in the log; the list is the caller's to free. */
static struct pxt_recorder_numbers traced_of(const struct pxt_state *state)
{
	struct pxt_recorder_numbers traced = {
		.of = pxt_must(calloc((size_t)state->actor_count + 1, sizeof *traced.of))
	};

	for (uint32_t i = 0; i < state->actor_count; i++)
		if (state->actors[i]->pid > 0 && has_recorded(state->actors[i]))
			traced.of[traced.count++] = state->actors[i]->pid;
	pxt_recorder_sort(&traced);
	return traced;
}

/* Each loss by its number: in the memory of processes, in the log, of the scheduler's records. */
static void put_losses(struct pxt_out *out, const struct pxt_summary *summary)
{
	const struct pxt_recorder_sum *sum = summary->sum;
	uint64_t lost = sum->counts.posix_lost_np + (summary->ring ? 0 : sum->log_lost);

	if (lost > 0)
		pxt_out_format(out, "%" PRIu64 " LOST", lost);
	else
		pxt_out_text(out, "none lost");
	if (!summary->ring && sum->log_lost > 0)
		pxt_out_format(out, ", %" PRIu64 " of them as the log %s", sum->log_lost,
		    sum->error ? "could not be written" : "was full (--size)");
	pxt_out_char(out, '\n');
	if (summary->ring && sum->log_lost > 0)
		pxt_out_format(out,
		    "  the newest ones: %" PRIu64 " older ones were overwritten (--ring)\n",
		    sum->log_lost);
	if (sum->counts.posix_lost_np > 0)
		pxt_out_text(out,
		    "  lost before they were written: --buffer is the memory where they "
		    "wait, --only records fewer\n");
	if (summary->sched_lost > 0)
		pxt_out_format(
		    out, "  of the scheduler's, %" PRIu64 " LOST\n", summary->sched_lost);
	if (summary->sched_beyond > 0)
		pxt_out_format(out, "  of the scheduler's, %" PRIu64 " %s\n", summary->sched_beyond,
		    summary->ring ? "older ones were overwritten (--ring)"
		                  : "LOST as their part of the log was full (--size)");
	if (summary->sched_unended > 0)
		pxt_out_format(out,
		    "  of %" PRIu64 " request%s to a disk no end was told: not in the log\n",
		    summary->sched_unended, summary->sched_unended == 1 ? "" : "s");
}

static void put_counts(struct pxt_out *out, const struct pxt_summary *summary, size_t processes)
{
	pxt_out_escaped(out, summary->path, strlen(summary->path));
	pxt_out_format(out, "%s: %" PRIu64 " events of %zu process%s, ",
	    summary->replaced ? " (in place of an older log)" : "",
	    summary->sum->counts.posix_written_np, processes, processes == 1 ? "" : "es");
	put_losses(out, summary);
}

static void put_refused(struct pxt_out *out, const struct pxt_recorder_sum *sum)
{
	if (sum->refused > 0)
		pxt_out_format(out,
		    "%" PRIu64 " time%s a process was not traced: at most %d are at once\n",
		    sum->refused, sum->refused == 1 ? "" : "s", CONFIG_PTRACE_ATTACH_MAX);
	for (unsigned i = 0; i < PXT_RECORDER_REASONS && sum->untraced[i].count; i++) {
		pxt_out_format(out,
		    "%" PRIu64 " time%s a process was not traced: ", sum->untraced[i].count,
		    sum->untraced[i].count == 1 ? "" : "s");
		pxt_out_escaped(out, sum->untraced[i].why, strlen(sum->untraced[i].why));
		pxt_out_char(out, '\n');
	}
}

/* What docs/run.md says of all programs, where one is such. */
static void put_unseen(struct pxt_out *out, const struct pxt_recorder_sum *sum)
{
	if (sum->has_go)
		pxt_out_text(
		    out, "locks of Go are not recorded: they are none of the C library's\n");
	if (sum->has_uring)
		pxt_out_text(out, "what goes to the kernel by io_uring is not recorded\n");
	if (sum->has_spaces)
		pxt_out_text(out, "libraries that dlmopen() loaded are not recorded\n");
}

static void put_throttled(struct pxt_out *out, const struct pxt_throttle *throttled)
{
	char text[24];

	if (throttled->times == 0)
		return;
	pxt_duration(text, throttled->ns);
	pxt_out_format(out,
	    "its cgroup had used up its CPU time %" PRIu64
	    " time%s, and was kept from running for %s in all\n",
	    throttled->times, throttled->times == 1 ? "" : "s", text);
}

/*
 * Children that have ended, and of which nobody but their parents told: another user, limit or namespace kept them from
 * attaching, or a signal ended them before their first event; and programs that were executed, of which the same is
 * true.  A log that is not whole may just not have it.
 */
static void put_silent(struct pxt_out *out, const struct pxt_recorder_numbers *traced,
    const struct pxt_summary *summary)
{
	const struct pxt_recorder_sum *sum = summary->sum;
	unsigned silent = 0;

	if (summary->ring || sum->log_lost || sum->counts.posix_lost_np)
		return;
	for (size_t i = 0; i < sum->executed.count; i++)
		silent += !pxt_program_is_alive(sum->executed.of[i]);
	for (size_t i = 0; i < sum->forked.count; i++) {
		int32_t number = sum->forked.of[i];

		silent += !pxt_recorder_has(&sum->told, number) &&
		          !pxt_recorder_has(traced, number) && !pxt_program_is_alive(number);
	}
	if (silent > 0)
		pxt_out_format(out, "%u time%s a process was not traced: it did not attach\n",
		    silent, silent == 1 ? "" : "s");
}

static void put_left_behind(struct pxt_out *out, const struct pxt_recorder_numbers *traced,
    const struct pxt_recorder_sum *sum)
{
	unsigned left = 0;

	for (size_t i = 0; i < traced->count; i++)
		left += pxt_program_is_alive(traced->of[i]);
	/* A child that has recorded nothing yet. */
	for (size_t i = 0; i < sum->forked.count; i++)
		left += !pxt_recorder_has(traced, sum->forked.of[i]) &&
		        pxt_program_is_alive(sum->forked.of[i]);
	if (left > 0)
		pxt_out_format(out,
		    "%u process%s that it started still run%s: what comes now is not in the log "
		    "(--children waits)\n",
		    left, left == 1 ? "" : "es", left == 1 ? "s" : "");
}

static void put_taken(struct pxt_out *out, const struct pxt_lockuse *use)
{
	uint64_t taken = use->state->counted_beyond;
	uint64_t waits = 0;

	for (uint32_t i = 0; i < use->row_count; i++) {
		taken += use->rows[i].taken;
		waits += use->rows[i].waits;
	}
	if (taken > 0)
		pxt_out_format(out,
		    "%lu lock%s taken %" PRIu64 " times, waited for %" PRIu64 " times\n",
		    (unsigned long)use->row_count,
		    use->state->counted_beyond ? "s and others were"
		    : use->row_count == 1      ? " was"
		                               : "s were",
		    taken, waits);
}

/* ---- Threads ---- */

static void put_time(struct pxt_out *out, int64_t ns, bool known)
{
	char text[24] = "-";

	if (known && ns > 0)
		pxt_duration(text, (uint64_t)ns);
	pxt_out_format(out, " %10s", text);
}

static void put_threads(struct pxt_out *out, const struct pxt_waits_times *use)
{
	const struct pxt_waits_times_row *rows[THREADS];
	uint32_t count = pxt_waits_times_sort(use, rows, THREADS);
	size_t width = pxt_width(out->fd);
	size_t column = width && width < COLUMNS ? 16 : 22;

	if (count == 0)
		return;
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_column(out, "THREAD", 6, 6, column);
	pxt_out_text(out, "  FOR LOCKS   IN CALLS    RUNNING   RUNNABLE\n");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (uint32_t i = 0; i < count && i < THREADS; i++) {
		const struct pxt_actor *actor = rows[i]->actor;
		bool sched = use->state->has_switches;
		char label[128];
		size_t bytes;

		/* Threads of one name are told apart by their numbers. */
		(void)snprintf(label, sizeof label, "%.*s/%ld", (int)column - 8, actor->name,
		    (long)actor->tid);
		bytes = strlen(label);
		pxt_out_column(out, label, bytes, bytes, column);
		put_time(out, rows[i]->locks_ns, true);
		put_time(out, rows[i]->calls_ns, true);
		put_time(out, rows[i]->ran_ns, sched);
		put_time(out, rows[i]->ready_ns, sched);
		pxt_out_char(out, '\n');
	}
	if (count > THREADS)
		pxt_out_format(out, "and %lu more\n", (unsigned long)(count - THREADS));
}

/* ---- The parts, each by a reading of the log ---- */

static void tell_locks(struct pxt_out *out, struct pxt_reader *reader, struct pxt_roles_book *book,
    const struct pxt_summary *summary)
{
	struct pxt_lockuse use = { 0 };

	if (pxt_lockuse_read(&use, reader, book)) {
		const struct pxt_tell_locks tell = {
			.out = out, .reader = reader, .book = book, .use = &use
		};
		struct pxt_recorder_numbers traced = traced_of(use.state);

		put_counts(out, summary, traced.count);
		put_refused(out, summary->sum);
		put_silent(out, &traced, summary);
		put_unseen(out, summary->sum);
		put_throttled(out, &summary->throttled);
		put_left_behind(out, &traced, summary->sum);
		free(traced.of);
		if (use.state->counts_locks)
			put_taken(out, &use);
		pxt_tell_locks_top(&tell, LOCKS);
	}
	pxt_lockuse_free(&use);
}

static void tell_threads(
    struct pxt_out *out, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_waits_times use = { 0 };

	pxt_reader_rewind(reader);
	if (pxt_waits_times_read(&use, reader, book))
		put_threads(out, &use);
	pxt_waits_times_free(&use);
}

/* What `pxtrace why` says first; where nothing is late by any measure, the longest waits. */
static void tell_why(struct pxt_out *out, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	static struct pxt_late_search search;
	static struct pxt_blames blames;
	static struct pxt_select all;
	const struct pxt_late_list *list;

	memset(&search, 0, sizeof search);
	memset(&blames, 0, sizeof blames);
	search.select = &all;
	blames.reader = reader;
	pxt_reader_rewind(reader);
	/* How long threads were off the CPU says nothing: most of them wait for work. */
	if (pxt_late_search(&search, reader, book) && search.mode != PXT_LATE_OFF_CPU &&
	    (list = pxt_late_result(&search))->count > 0) {
		unsigned told = search.mode == PXT_LATE_WAITS ? WAITS : 1;
		/* Of rounds all are compared: which thread suffers, and how often the same held it up. */
		unsigned read =
		    search.mode == PXT_LATE_ROUNDS || list->count < told ? list->count : told;
		const struct pxt_tell tell = { .out = out,
			.blames = &blames,
			.search = &search,
			.book = book,
			.explain = told };

		pxt_reader_rewind(reader);
		pxt_blames_read(&blames, reader, book, &search, read);
		pxt_tell_answers(&tell);
	}
	pxt_blames_free(&blames);
	pxt_late_free(&search);
}

int pxt_summary(struct pxt_out *out, const struct pxt_summary *summary)
{
	char *paths[] = { (char *)(uintptr_t)summary->path };
	struct pxt_reader reader = { 0 };
	struct pxt_roles_book *book = pxt_roles_new();
	int status = pxt_reader_open(&reader, paths, 1, PXT_OPEN_INCOMPLETE, NULL);

	if (status == PXT_EXIT_OK) {
		pxt_roles_bind(book, &reader);
		tell_locks(out, &reader, book, summary);
		tell_threads(out, &reader, book);
		tell_why(out, &reader, book);
	}
	pxt_reader_close(&reader);
	pxt_roles_free(book);
	return status;
}

/* ---- Notes of a log ---- */

bool pxt_recorder_notes_add(struct pxt_notes *notes, const char *text)
{
	size_t name = strcspn(text, "=");
	struct posix_trace_lognote_np *note = &notes->list[notes->count];

	if (name == 0 || text[name] != '=') {
		pxt_complain("run: --note wants KEY=VALUE, not \"%s\"", text);
		return false;
	}
	if (name > POSIX_TRACE_NOTE_NAME_MAX_NP ||
	    strlen(text + name + 1) > POSIX_TRACE_NOTE_TEXT_MAX_NP) {
		pxt_complain("run: --note: a key has at most %d bytes, a value %d",
		    POSIX_TRACE_NOTE_NAME_MAX_NP, POSIX_TRACE_NOTE_TEXT_MAX_NP);
		return false;
	}
	if (notes->count == PXT_NOTES_MAX) {
		pxt_complain("run: --note: at most %u of them", PXT_NOTES_MAX);
		return false;
	}
	memcpy(note->posix_name_np, text, name);
	note->posix_name_np[name] = '\0';
	(void)snprintf(note->posix_text_np, sizeof note->posix_text_np, "%s", text + name + 1);
	notes->count++;
	return true;
}

static void tell(trace_id_t trid, const char *name, const char *text)
{
	int error = posix_trace_note_np(trid, name, text);

	if (error)
		pxt_complain("run: the note %s is not in the log: %s", name, strerror(error));
}

/* As much of the command as a note has room for. */
static void tell_command(trace_id_t trid, char *const *argv, unsigned most)
{
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 1] = "";
	size_t used = 0;

	for (unsigned i = 0; argv[i] && i < most && used < sizeof text; i++)
		used += (size_t)snprintf(
		    text + used, sizeof text - used, "%s%s", i ? " " : "", argv[i]);
	tell(trid, "command", text);
}

void pxt_recorder_notes_tell(const struct pxt_notes *notes, trace_id_t trid, char *const *argv)
{
	tell_command(trid, argv, notes->no_arguments ? 1u : UINT_MAX);
	for (unsigned i = 0; i < notes->count; i++)
		tell(trid, notes->list[i].posix_name_np, notes->list[i].posix_text_np);
}

void pxt_recorder_notes_tell_status(trace_id_t trid, int status)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", status);
	tell(trid, "status", text);
}

void pxt_recorder_notes_tell_throttled(trace_id_t trid, const struct pxt_throttle *throttled)
{
	char text[64];

	if (throttled->times == 0)
		return;
	(void)snprintf(text, sizeof text, "%" PRIu64 " times, %" PRIu64 " us", throttled->times,
	    throttled->ns / 1000u);
	tell(trid, "throttled", text);
}
