/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far long work has come, as one line on standard error.
 *
 * Only where standard error is a terminal, only once the work has taken half a second (or as many
 * milliseconds as the environment's PXTRACE_PROGRESS says), and gone without trace at its end: neither a file nor a pipe ever sees it.  pxt_complain() takes the line
 * away before it says something.
 *
 *	struct pxt_progress progress;
 *	pxt_progress_reader(&progress, "stat", &reader, false);
 *	while ((event = pxt_reader_next(&reader)) != NULL) {
 *		pxt_progress_step(&progress);
 *		...
 *	}
 *	pxt_progress_end(&progress);
 */
#ifndef PXT_PROGRESS_H
#define PXT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock is looked at once in so many steps. */
#define PXT_PROGRESS_STEPS 8192u

struct pxt_progress {
	const char *label; /* a word of ours: what is done */
	const char *unit;  /* "events", "bytes" */
	uint64_t total;    /* 0: unknown, only the number done is shown */
	uint64_t done;
	uint64_t
	    next; /* when @done is that much, the clock is looked at; never where nobody looks */
	uint64_t pace; /* from one such look to the next */
	int64_t began_ms;
	int64_t show_ms; /* nothing is shown before */
	bool shown;
};

/*
 * @beside_output: the command writes to standard output meanwhile; where that is a terminal, too,
 * nothing is shown.
 */
void pxt_progress_begin(struct pxt_progress *progress, const char *label, const char *unit,
    uint64_t total, bool beside_output);
/* Looks at the clock, and draws when it is time. */
void pxt_progress_look(struct pxt_progress *progress);
/* Whether a terminal shows it: a caller that would only wait may update it now and then instead. */
bool pxt_progress_watched(const struct pxt_progress *progress);
/* Erases the line, until it is drawn again. */
void pxt_progress_hide(void);
void pxt_progress_end(struct pxt_progress *progress);

/* So much of the work is done; @done never steps back. */
static inline void pxt_progress_at(struct pxt_progress *progress, uint64_t done)
{
	progress->done = done;
	if (done >= progress->next)
		pxt_progress_look(progress);
}

static inline void pxt_progress_step(struct pxt_progress *progress)
{
	pxt_progress_at(progress, progress->done + 1);
}

/* ---- The width of the terminal ---- */

/* The environment's COLUMNS, or those of the terminal @fd; 0: any number. */
size_t pxt_width(int fd);

#endif
