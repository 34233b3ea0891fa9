/* SPDX-License-Identifier: MIT */
/* tell_text.c - the answer, and the list of all that were late, for people. */
#include "tools/why/tell.h"

#include "tools/output/out.h"

#include <string.h>

#define LIST_MAX          8u
/* The first paragraph is at most so large, and has lines so long where no terminal says how long. */
#define PARAGRAPH_COLUMNS 80u
#define PARAGRAPH_LINES   4u

/* ---- The list of all that were late ---- */

/* Of the list of late spans; where a terminal has fewer, the largest cause has lines of its own. */
#define LIST_COLUMNS 80u
#define LIST_INDENT  18u /* of these lines */
#define LIST_SPAN    21u /* column of the span where a terminal has fewer */

/* @width: of a terminal that is narrow; 0: of another one. */
static void put_list_row(const struct pxt_tell *tell, const struct pxt_blame *blame, size_t width)
{
	struct pxt_words words = { 0 };
	struct pxt_out *out = tell->out;
	char text[24];
	const struct pxt_cause *cause = pxt_largest_cause(blame);

	pxt_out_seconds(out, blame->late.release_ns - tell->blames->reader->start_ns);
	pxt_say_span(&words, tell->book, blame);
	pxt_out_text(out, "  ");
	if (width && words.used > LIST_SPAN) {
		pxt_tell_broken(out, &words, LIST_INDENT - 1u, width);
		pxt_out_char(out, '\n');
		pxt_out_spaces(out, LIST_INDENT - 1u + LIST_SPAN);
	} else {
		pxt_out_column(out, words.text, words.used, words.used, width ? LIST_SPAN : 22);
	}
	pxt_duration(text, (uint64_t)pxt_blame_length(blame));
	pxt_out_format(out, " %10s", text);
	if (blame->late.has_late)
		pxt_duration(text, blame->late.late_ns > 0 ? (uint64_t)blame->late.late_ns : 0);
	else
		strcpy(text, "-");
	if (blame->late.kind == PXT_LATE_SPAN)
		pxt_out_format(out, " %10s", text);
	if (width) {
		pxt_out_char(out, '\n');
		pxt_out_spaces(out, LIST_INDENT);
	} else {
		pxt_out_text(out, "  ");
	}
	words.used = 0;
	*words.text = '\0';
	if (cause)
		pxt_say_cause(&words, tell->book, blame, cause);
	if (blame->late.followers > 0)
		pxt_say(&words, "; %llu more follow%s", (unsigned long long)blame->late.followers,
		    blame->late.followers == 1 ? "s" : "");
	pxt_tell_broken(out, &words, LIST_INDENT, width);
	pxt_out_char(out, '\n');
}

static void put_list(const struct pxt_tell *tell)
{
	static const char *const what[] = {
		[PXT_LATE_MISSES] = "MISSED DEADLINES",
		[PXT_LATE_LONGER] = "LONGER THAN ASKED FOR",
		[PXT_LATE_AT] = "AT THAT TIME",
		[PXT_LATE_UNUSUAL] = "LONGER THAN USUAL",
		[PXT_LATE_ROUNDS] = "LATE ROUNDS",
		[PXT_LATE_WAITS] = "WAITS FOR LOCKS",
		[PXT_LATE_OFF_CPU] = "OFF THE CPU",
	};
	static const char *const heads[2][2] = {
		{ "    RELEASED (s)  SPAN                     LENGTH    LATE BY  MOSTLY\n",
		    "    RELEASED (s)  SPAN                     LENGTH    LATE BY\n"
		    "                  MOSTLY\n" },
		{ "      BEGINS (s)  WHO, FOR WHAT            LENGTH  MOSTLY\n",
		    "      BEGINS (s)  WHO, FOR WHAT            LENGTH\n"
		    "                  MOSTLY\n" },
	};
	unsigned shown = tell->blames->count < LIST_MAX ? tell->blames->count : LIST_MAX;
	uint64_t all =
	    tell->search->mode == PXT_LATE_UNUSUAL ? shown : pxt_late_result(tell->search)->all;
	struct pxt_out *out = tell->out;
	size_t width = pxt_width(out->fd);
	bool narrow = width && width < LIST_COLUMNS;
	uint64_t told = 0;

	pxt_tell_title(out, what[tell->search->mode],
	    tell->search->mode == PXT_LATE_MISSES   ? ", by most first"
	    : tell->search->mode == PXT_LATE_ROUNDS ? ", the program's own reasons first"
	                                            : ", the longest first");
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_text(out, heads[tell->blames->list[0].late.kind != PXT_LATE_SPAN][narrow]);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (unsigned i = 0; i < shown; i++) {
		put_list_row(tell, &tell->blames->list[i], narrow ? width : 0);
		told += 1 + tell->blames->list[i].late.followers;
	}
	if (all > told)
		pxt_out_format(out, "    and %llu more\n", (unsigned long long)(all - told));
}

/* ---- One span ---- */

/* A lock's number that comes from the first field, and an owner that no event tells: which field? */
static void put_doubt(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	for (unsigned i = 0; i < blame->cause_count; i++) {
		const struct pxt_cause *cause = &blame->causes[i];
		const struct pxt_key *key;

		if (cause->last != PXT_LAST_DOUBT || cause->ns <= 0 || cause->links == 0)
			continue;
		key = &cause->chain[cause->links - 1].lock->key;
		/* A traced program's lock is an address: it is the right one. */
		if (!key->is_set || key->is_named || cause->chain[cause->links - 1].lock->of_system)
			continue;
		pxt_out_format(tell->out,
		    "\nThe field \"%s\" was taken for the lock. If another one is, --roles FILE "
		    "says "
		    "so:\n  lock-wait EVENT lock=FIELD, and lock-acquire and lock-release alike\n",
		    key->field);
		return;
	}
}

static void put_notes(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	if (pxt_concluded_ns(blame) > 0)
		pxt_out_text(tell->out,
		    "\n* concluded from the order of events on one CPU, as no scheduler event says "
		    "it;\n  a thread that slept there without an event for it seems to have run\n");
	put_doubt(tell, blame);
	if (blame->gaps > 0) {
		pxt_out_colour(tell->out, PXT_COLOUR_LOSS);
		pxt_out_format(tell->out,
		    "\n%llu events are missing inside: what is not known is not guessed\n",
		    (unsigned long long)blame->lost);
		pxt_out_colour(tell->out, PXT_COLOUR_OFF);
	}
}

void pxt_tell_unmeasured(struct pxt_words *words, const struct pxt_late_search *search)
{
	if (*search->unmeasured)
		pxt_say(words,
		    " No round of %s is usual: more than a quarter are late. --deadline or "
		    "--period "
		    "NAME=TIME says what is late.",
		    search->unmeasured);
}

void pxt_tell_paragraph(struct pxt_out *out, const struct pxt_words *words)
{
	size_t width = pxt_width(out->fd);

	pxt_tell_broken(out, words, 0, width ? width : PARAGRAPH_COLUMNS);
	pxt_out_char(out, '\n');
}

/* How many lines of a terminal sentences take, where each begins a line. */
static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	while (*text) {
		size_t take = strcspn(text, "\n");
		size_t room = take < PARAGRAPH_COLUMNS ? take : PARAGRAPH_COLUMNS;

		if (room < take)
			while (room > 0 && text[room] != ' ')
				room--;
		lines += take > 0;
		text += room > 0 ? room : take;
		text += *text == ' ' || *text == '\n';
	}
	return lines;
}

/* The answer, cut so far that it and what comes behind it are one small paragraph. */
static struct pxt_words short_answer(const struct pxt_setting *setting,
    const struct pxt_blame *blame, const struct pxt_words *behind)
{
	struct pxt_words answer;

	for (unsigned brief = 0; brief < PXT_BRIEFS; brief++) {
		answer = (struct pxt_words){ .brief = (enum pxt_brief)brief };
		pxt_say_answer(&answer, setting, blame);
		if (lines_of(answer.text) + lines_of(behind->text) <= PARAGRAPH_LINES)
			break;
	}
	return answer;
}

/* @alone: no tables follow that say the rest. */
static void put_answer(const struct pxt_tell *tell, const struct pxt_blame *blame, bool alone)
{
	struct pxt_setting setting = pxt_tell_setting(tell, blame);
	struct pxt_words behind = { 0 };
	struct pxt_words help = { 0 };
	struct pxt_words answer;

	pxt_tell_followers(&behind, blame, " ");
	if (alone)
		pxt_tell_recurring(&behind, tell, blame, " ");
	pxt_say_help(&help, &setting, blame);
	if (help.used > 0)
		pxt_say(&behind, " %s", help.text);
	if (tell->search->mode != PXT_LATE_ROUNDS)
		pxt_tell_unmeasured(&behind, tell->search);
	answer = short_answer(&setting, blame, &behind);
	pxt_say(&answer, "%s", behind.text);
	pxt_tell_paragraph(tell->out, &answer);
}

void pxt_tell_answers(const struct pxt_tell *tell)
{
	pxt_tell_want(tell);
	for (unsigned i = 0; i < tell->blames->count && i < tell->explain; i++) {
		pxt_state_names_at(tell->blames->state, tell->blames->list[i].late.end_ns);
		put_answer(tell, &tell->blames->list[i], true);
	}
}

static void put_span(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	pxt_state_names_at(tell->blames->state, blame->late.end_ns);
	put_answer(tell, blame, false);
	if (pxt_blame_length(blame) <= 0)
		return;
	pxt_tell_tables(tell, blame);
	put_notes(tell, blame);
}

void pxt_tell_text(const struct pxt_tell *tell)
{
	pxt_tell_want(tell);
	for (unsigned i = 0; i < tell->blames->count && i < tell->explain; i++) {
		if (i > 0)
			pxt_out_text(tell->out, "\n----\n\n");
		put_span(tell, &tell->blames->list[i]);
	}
	if (tell->blames->count > 1)
		put_list(tell);
}
