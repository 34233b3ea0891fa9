/* SPDX-License-Identifier: MIT */
/* tell_tables.c - the tables below an answer: who waited for whom, the time line, where the time went. */
#include "tools/why/tell.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_INDENT 29u /* behind a link's time and its thread */
#define OVERLAPS_MAX 8u
#define REASONS_MAX  8u
#define ROW_THREADS  4u /* of another program, that are told with their times */

void pxt_tell_title(struct pxt_out *out, const char *text, const char *right)
{
	pxt_out_char(out, '\n');
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_text(out, text);
	if (right)
		pxt_out_text(out, right);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
}

/* Columns that words have, however few a terminal has. */
#define WORDS_LEAST 24u

void pxt_tell_broken(
    struct pxt_out *out, const struct pxt_words *words, size_t indent, size_t width)
{
	size_t room = width > indent + WORDS_LEAST ? width - indent : WORDS_LEAST;
	const char *text = words->text;
	size_t left = words->used;

	while (width && left > room) {
		size_t take = room;

		while (take > 0 && text[take] != ' ')
			take--;
		if (take == 0)
			break;
		pxt_out_bytes(out, text, take);
		pxt_out_char(out, '\n');
		pxt_out_spaces(out, indent);
		text += take + 1;
		left -= take + 1;
	}
	pxt_out_bytes(out, text, left);
}

/* All times of a span in one unit, with three places: they add up as they are. */
struct scale {
	int64_t part; /* nanoseconds of a thousandth of the unit */
	const char *unit;
};

static struct scale scale_for(int64_t length)
{
	if (length >= 10 * INT64_C(1000000000))
		return (struct scale){ 1000000, "s" };
	return length >= 1000000 ? (struct scale){ 1000, "ms" } : (struct scale){ 1, "us" };
}

static int64_t in_parts(int64_t ns, struct scale scale)
{
	return (ns + (ns < 0 ? -scale.part : scale.part) / 2) / scale.part;
}

static void put_parts(struct pxt_out *out, int64_t parts)
{
	uint64_t size = parts < 0 ? 0 - (uint64_t)parts : (uint64_t)parts;
	char text[32];

	(void)snprintf(text, sizeof text, "%s%llu.%03u", parts < 0 ? "-" : "",
	    (unsigned long long)(size / 1000), (unsigned)(size % 1000));
	pxt_out_format(out, "%11s", text);
}

/* ---- The time line ---- */

static void put_when(struct pxt_out *out, int64_t ns, struct scale scale)
{
	pxt_out_colour(out, PXT_COLOUR_TIME);
	put_parts(out, in_parts(ns, scale));
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_text(out, "  ");
}

static void put_who(struct pxt_out *out, const char *name)
{
	pxt_out_colour(out, PXT_COLOUR_THREAD);
	pxt_out_column(out, name, strlen(name), strlen(name), 14);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_text(out, "  ");
}

/* Who had a lock already when the span was released. */
struct had {
	int64_t since;
	const struct pxt_actor *holder;
	const struct pxt_state_lock *lock;
};

static int by_since(const void *a, const void *b)
{
	const struct had *x = a;
	const struct had *y = b;

	return (x->since > y->since) - (x->since < y->since);
}

static void add_had(
    const struct pxt_blame *blame, const struct pxt_cause *cause, struct had *list, unsigned *count)
{
	for (unsigned k = 0; k < cause->links && *count < PXT_CHAIN_MAX; k++) {
		struct had had = { cause->chain[k].since_ns, cause->chain[k].holder,
			cause->chain[k].lock };
		bool known = !had.holder || had.since == 0 || had.since >= blame->late.release_ns;

		for (unsigned t = 0; t < *count; t++)
			known = known || list[t].lock == had.lock;
		if (!known)
			list[(*count)++] = had;
	}
}

static void put_holders(
    const struct pxt_tell *tell, const struct pxt_blame *blame, struct scale scale)
{
	struct had list[PXT_CHAIN_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < blame->cause_count; i++)
		add_had(blame, &blame->causes[i], list, &count);
	qsort(list, count, sizeof *list, by_since);
	for (unsigned i = 0; i < count; i++) {
		struct pxt_words words = { 0 };

		put_when(tell->out, list[i].since - blame->late.release_ns, scale);
		put_who(tell->out, list[i].holder->name);
		pxt_say(&words, "has had ");
		(void)pxt_say_lock_short(&words, tell->book, list[i].lock);
		pxt_say(&words, " since then");
		pxt_out_bytes(tell->out, words.text, words.used);
		pxt_out_char(tell->out, '\n');
	}
}

static void put_line(const struct pxt_tell *tell, const struct pxt_blame *blame,
    const struct pxt_blame_line *line, struct scale scale)
{
	struct pxt_words words = { 0 };

	put_when(tell->out, line->ns - blame->late.release_ns, scale);
	put_who(tell->out, line->actor ? line->actor->name : "");
	pxt_tell_deed(&words, blame, line);
	if (line->gap)
		pxt_out_colour(tell->out, PXT_COLOUR_LOSS);
	pxt_out_bytes(tell->out, words.text, words.used);
	if (line->gap)
		pxt_out_colour(tell->out, PXT_COLOUR_OFF);
	pxt_out_char(tell->out, '\n');
}

static void put_left_out(const struct pxt_tell *tell, uint64_t count)
{
	pxt_out_format(tell->out, "             ... %llu more%s\n", (unsigned long long)count,
	    tell->lines < PXT_LINES_MAX ? " (--lines shows more)" : "");
}

static void put_time_line(
    const struct pxt_tell *tell, const struct pxt_blame *blame, struct scale scale)
{
	uint64_t kept = pxt_blame_lines(blame);
	uint64_t missing = blame->line_count - kept;
	uint64_t wanted = 0;
	uint64_t seen = 0;
	uint64_t skipped = 0;
	char text[24];

	for (uint64_t i = 0; i < kept; i++)
		wanted += pxt_tell_line(blame, pxt_blame_line(blame, i));
	pxt_tell_title(tell->out, "TIME LINE", NULL);
	pxt_out_format(tell->out, "%10s\n", scale.unit);
	put_holders(tell, blame, scale);
	for (uint64_t i = 0; i < kept; i++) {
		const struct pxt_blame_line *line = pxt_blame_line(blame, i);
		bool hole = i == PXT_LINES_MAX / 2 && missing > 0;

		if (hole)
			skipped += missing;
		if (!pxt_tell_line(blame, line))
			continue;
		seen++;
		if (wanted > tell->lines && seen > tell->lines / 2 &&
		    wanted - seen >= tell->lines - tell->lines / 2) {
			skipped++;
			continue;
		}
		if (skipped > 0)
			put_left_out(tell, skipped);
		skipped = 0;
		put_line(tell, blame, line, scale);
	}
	if (blame->late.has_late && blame->late.late_ns > 0 && !blame->late.no_begin) {
		put_when(tell->out, pxt_blame_length(blame), scale);
		put_who(tell->out, blame->actor ? blame->actor->name : "");
		pxt_duration(text, (uint64_t)blame->late.late_ns);
		pxt_out_format(tell->out, "%s too late\n", text);
	}
}

/* ---- Where the time went ---- */

#define CAUSE_INDENT 21u /* behind its time and its share */

/* Threads of another program that ran instead are one row. */
struct row {
	const struct pxt_cause *cause; /* the largest one */
	int64_t ns;
	unsigned threads;
	struct pxt_words words;
};

static bool is_row(const struct row *row, const struct pxt_cause *cause)
{
	return cause->kind == PXT_CAUSE_PREEMPTED && row->cause->kind == PXT_CAUSE_PREEMPTED &&
	       cause->runner && cause->exact == row->cause->exact &&
	       pxt_actor_is_with(row->cause->runner, cause->runner);
}

static void add_thread(struct row *row, const struct pxt_cause *cause)
{
	char text[24];

	row->ns += cause->ns;
	if (cause->kind != PXT_CAUSE_PREEMPTED || !cause->runner || ++row->threads > ROW_THREADS)
		return;
	pxt_duration(text, (uint64_t)cause->ns);
	pxt_say(&row->words, "%s%s/%ld %s", row->threads > 1 ? ", " : "", cause->runner->raw,
	    (long)cause->runner->tid, text);
}

static int by_ns(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

/* The largest first; returns how many there are. */
static unsigned make_rows(const struct pxt_blame *blame, struct row *rows)
{
	const struct pxt_cause *sorted[PXT_CAUSES_MAX];
	unsigned all;
	unsigned count = 0;

	pxt_tell_causes(blame, sorted, &all);
	for (unsigned i = 0; i < all; i++) {
		unsigned at = 0;

		while (at < count && !is_row(&rows[at], sorted[i]))
			at++;
		if (at == count)
			rows[count++] = (struct row){ .cause = sorted[i] };
		add_thread(&rows[at], sorted[i]);
	}
	if (count > 0)
		qsort(rows, count, sizeof *rows, by_ns);
	return count;
}

static void say_row(struct pxt_words *words, const struct pxt_tell *tell,
    const struct pxt_blame *blame, const struct row *row)
{
	if (row->threads < 2) {
		pxt_say_cause(words, tell->book, blame, row->cause);
	} else {
		pxt_say(words, "could run, but %u threads of %s did (%s%s)", row->threads,
		    row->cause->runner->name, row->words.text,
		    row->threads > ROW_THREADS ? ", ..." : "");
	}
	if (row->cause->runner && !row->cause->exact)
		pxt_say(words, " *");
}

/* What one row more or less makes up for is put on the largest one. */
static void put_causes(
    const struct pxt_tell *tell, const struct pxt_blame *blame, struct scale scale)
{
	static const char *const wholes[] = { [PXT_LATE_SPAN] = "from release to end",
		[PXT_LATE_WAIT] = "the whole wait",
		[PXT_LATE_OFF] = "off the CPU",
		[PXT_LATE_ROUND] = "the whole round",
		[PXT_LATE_HOME] = "the whole wait" };
	struct row *rows = pxt_must(calloc(PXT_CAUSES_MAX, sizeof *rows));
	struct pxt_out *out = tell->out;
	int64_t length = pxt_blame_length(blame);
	int64_t rest = in_parts(length, scale);
	unsigned count = make_rows(blame, rows);
	unsigned shown = 0;

	while (shown < count && (shown < 4 || rows[shown].ns >= length / 200))
		shown++;
	if (count == shown + 1)
		shown++;
	int64_t small = 0;
	for (unsigned i = shown; i < count; i++)
		small += rows[i].ns;
	for (unsigned i = 1; i < shown; i++)
		rest -= in_parts(rows[i].ns, scale);
	rest -= in_parts(small, scale);
	pxt_tell_title(out, "WHERE THE TIME WENT", NULL);
	pxt_out_format(out, "%10s   share\n", scale.unit);
	for (unsigned i = 0; i < shown; i++) {
		struct pxt_words words = { 0 };

		put_parts(out, i == 0 ? rest : in_parts(rows[i].ns, scale));
		pxt_out_format(out, "  %5.1f%%  ", 100.0 * (double)rows[i].ns / (double)length);
		say_row(&words, tell, blame, &rows[i]);
		pxt_tell_broken(out, &words, CAUSE_INDENT, pxt_width(out->fd));
		pxt_out_char(out, '\n');
	}
	if (small > 0) {
		put_parts(out, in_parts(small, scale));
		pxt_out_format(out, "  %5.1f%%  %u smaller things\n",
		    100.0 * (double)small / (double)length, count - shown);
	}
	put_parts(out, in_parts(length, scale));
	pxt_out_format(out, "  100.0%%  %s\n", wholes[blame->late.kind]);
	free(rows);
}

static void put_overlaps(
    const struct pxt_tell *tell, const struct pxt_blame *blame, struct scale scale)
{
	const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX];
	struct pxt_out *out = tell->out;
	unsigned count;

	pxt_tell_overlaps(blame, sorted, &count);
	if (count == 0)
		return;
	pxt_tell_title(
	    out, "MEANWHILE", ": spans of other threads, and for how long they overlapped");
	for (unsigned i = 0; i < count && i < OVERLAPS_MAX; i++) {
		struct pxt_words words = { 0 };

		put_parts(out, in_parts(sorted[i]->ns, scale));
		pxt_out_format(out, " %s  ", scale.unit);
		put_who(out, sorted[i]->actor->name);
		pxt_say_name(&words, tell->book, sorted[i]->name,
		    sorted[i]->count == 1 ? &sorted[i]->key : NULL);
		if (sorted[i]->count > 1)
			pxt_say(&words, ", %llu times", (unsigned long long)sorted[i]->count);
		pxt_out_bytes(out, words.text, words.used);
		pxt_out_char(out, '\n');
	}
	if (count > OVERLAPS_MAX || blame->overlaps_beyond > 0)
		pxt_out_format(out, "    and %llu more\n",
		    (unsigned long long)(count > OVERLAPS_MAX ? count - OVERLAPS_MAX : 0) +
		        (unsigned long long)blame->overlaps_beyond);
}

/* ---- Other tables ---- */

/* The functions in which the thread was when it waited. */
static void put_callers(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const char *place = pxt_places_code(tell->book->places, &blame->asked_in);

	if (!place || !blame->late.of_system)
		return;
	pxt_tell_title(tell->out, "WHERE IT WAITED", "");
	pxt_out_format(tell->out, "    %s\n", place);
	for (unsigned i = 0; i < blame->caller_count; i++)
		pxt_out_format(tell->out, "    called by %s\n",
		    pxt_places_code(tell->book->places, &blame->callers[i]));
}

/* A line for each thread of the chain that the answer goes along. */
static void put_chain(
    const struct pxt_tell *tell, const struct pxt_blame *blame, struct scale scale)
{
	const struct pxt_setting setting = pxt_tell_setting(tell, blame);
	struct pxt_out *out = tell->out;

	if (!pxt_says_chain(&setting, blame) || blame->chain.count < 2)
		return;
	pxt_tell_title(out, "WHO WAITED FOR WHOM", NULL);
	pxt_out_format(out, "%10s\n", scale.unit);
	for (unsigned i = 0; i < blame->chain.count; i++) {
		const struct pxt_link *link = &blame->chain.links[i];
		struct pxt_words words = { 0 };

		put_when(out, link->ns, scale);
		put_who(out, link->actor->name);
		pxt_say_link(&words, tell->book, link);
		pxt_tell_broken(out, &words, CHAIN_INDENT, pxt_width(out->fd));
		pxt_out_char(out, '\n');
	}
}

/* What held up all late rounds of the thread, where there were several. */
static void put_reasons(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct pxt_delay list[PXT_TELL_REASONS];
	struct pxt_out *out = tell->out;
	unsigned rounds;
	unsigned count = pxt_tell_reasons(tell, blame, list, &rounds);
	struct scale scale = scale_for(count > 0 ? list[0].ns : 0);
	char title[64];

	if (rounds < 2 || !pxt_late_is_round(&blame->late))
		return;
	(void)snprintf(title, sizeof title, "WHAT HELD UP %s%u LATE %s",
	    rounds < blame->late.late_count ? "THE LONGEST " : "", rounds,
	    blame->late.kind == PXT_LATE_HOME ? "WAITS" : "ROUNDS");
	pxt_tell_title(out, title, NULL);
	pxt_out_format(out, "%10s  number\n", scale.unit);
	for (unsigned i = 0; i < count && i < REASONS_MAX; i++) {
		struct pxt_words words = { 0 };

		put_parts(out, in_parts(list[i].ns, scale));
		pxt_out_format(out, "  %6u  ", list[i].rounds);
		pxt_say_reason(&words, tell->book, &list[i]);
		pxt_tell_broken(out, &words, CAUSE_INDENT, pxt_width(out->fd));
		pxt_out_char(out, '\n');
	}
	if (count > REASONS_MAX)
		pxt_out_format(out, "    and %u more\n", count - REASONS_MAX);
}

void pxt_tell_tables(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct scale scale = scale_for(pxt_blame_length(blame));

	put_chain(tell, blame, scale);
	put_reasons(tell, blame);
	put_time_line(tell, blame, scale);
	put_causes(tell, blame, scale);
	put_callers(tell, blame);
	put_overlaps(tell, blame, scale);
}
