/* SPDX-License-Identifier: MIT */
/* tell.h - what `pxtrace why` found, as text and as JSON. */
#ifndef PXT_TELL_H
#define PXT_TELL_H

#include "tools/why/lockuse.h"
#include "tools/why/words.h"

struct pxt_tell {
	struct pxt_out *out;
	struct pxt_blames *blames;
	struct pxt_late_search *search;
	struct pxt_roles_book *book;
	unsigned explain; /* how many in full */
	unsigned lines;   /* of a time line, at most */
};

struct pxt_setting pxt_tell_setting(const struct pxt_tell *tell, const struct pxt_blame *blame);
/* All places that the explanations name are looked up at once, when they are asked for. */
void pxt_tell_want(const struct pxt_tell *tell);
/* Causes by their share, largest first. */
void pxt_tell_causes(
    const struct pxt_blame *blame, const struct pxt_cause *sorted[PXT_CAUSES_MAX], unsigned *count);
/* Overlaps, longest first. */
void pxt_tell_overlaps(const struct pxt_blame *blame,
    const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX], unsigned *count);
/* Whether a line has to do with the span. */
bool pxt_tell_line(const struct pxt_blame *blame, const struct pxt_blame_line *line);
/* What a line says, without time and thread. */
void pxt_tell_deed(
    struct pxt_words *words, const struct pxt_blame *blame, const struct pxt_blame_line *line);

/* @before, and "187 more follow from it, late by up to 50 ms."; nothing where none do. */
void pxt_tell_followers(struct pxt_words *words, const struct pxt_blame *blame, const char *before);
/* What held up the late rounds of a thread, the most time first; what comes beyond is not told. */
#define PXT_TELL_REASONS 64u
/* Returns how many there are; *@rounds: of how many rounds. */
unsigned pxt_tell_reasons(const struct pxt_tell *tell, const struct pxt_blame *blame,
    struct pxt_delay list[PXT_TELL_REASONS], unsigned *rounds);
/* @before, and "Late rounds: 6 of 7 by table_mutex, held by netsync."; nothing where it was one round. */
void pxt_tell_recurring(struct pxt_words *words, const struct pxt_tell *tell,
    const struct pxt_blame *blame, const char *before);

/* That a thread has no usual round, and what would tell when it is late; nothing where all have. */
void pxt_tell_unmeasured(struct pxt_words *words, const struct pxt_late_search *search);
/* Lines as wide as the terminal, or as a paragraph is. */
void pxt_tell_paragraph(struct pxt_out *out, const struct pxt_words *words);
/* A title with a line of its own. */
void pxt_tell_title(struct pxt_out *out, const char *text, const char *right);
/*
 * @words between @indent, where the cursor is, and column @width: lines that end between words.
 * @width 0: one line.
 */
void pxt_tell_broken(
    struct pxt_out *out, const struct pxt_words *words, size_t indent, size_t width);
/* All that stands below an answer. */
void pxt_tell_tables(const struct pxt_tell *tell, const struct pxt_blame *blame);
void pxt_tell_text(const struct pxt_tell *tell);
/* The answers alone, a sentence for each that is to be explained in full. */
void pxt_tell_answers(const struct pxt_tell *tell);
void pxt_tell_json(const struct pxt_tell *tell);

/* The same for locks (--locks). */
struct pxt_tell_locks {
	struct pxt_out *out;
	const struct pxt_reader *reader;
	const struct pxt_roles_book *book;
	const struct pxt_lockuse *use;
};

void pxt_tell_locks_text(const struct pxt_tell_locks *tell);
/* Only the @count locks that were waited for longest, without a word where there are none. */
void pxt_tell_locks_top(const struct pxt_tell_locks *tell, unsigned count);
void pxt_tell_locks_json(const struct pxt_tell_locks *tell);

#endif
