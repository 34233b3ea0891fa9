/* SPDX-License-Identifier: MIT */
/* say.h - what all commands say when something fails, or events were lost; what pxtrace ends with. */
#ifndef PXT_SAY_H
#define PXT_SAY_H

#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

/*
 * "pxtrace: " and a line on standard error.  What comes from outside (paths, names, reasons) is
 * escaped, so that no log and no file name reaches the terminal as a command.
 */
void pxt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, indented as the explanation of the line before. */
void pxt_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Explains how to get at the black box beside the log @path, if there is one. */
void pxt_say_box(const char *path);

/*
 * From now on a line goes to @listener, without its end and without what it begins with; NULL: to
 * standard error again.  For who draws on the whole screen.
 */
void pxt_say_to(void (*listener)(const char *line));

/* Writes what is left in @out; PXT_EXIT_OK, or PXT_EXIT_OUTPUT with a word to the user. */
struct pxt_out;
int pxt_finish(struct pxt_out *out);

/* Memory for a small thing, or the end of the program with a word about it. */
void *pxt_must(void *memory);

/* ---- What pxtrace ends with ---- */

/* Exit status; the worst that happened wins. */
enum pxt_exit {
	PXT_EXIT_OK = 0,
	PXT_EXIT_USAGE = 1, /* the command line makes no sense; nothing was read */
	/* A log could not be opened, or not be read to its end; a stream could not be reached. */
	PXT_EXIT_LOG = 2,
	PXT_EXIT_LOST = 3,   /* events were lost: check always, others by --strict */
	PXT_EXIT_OUTPUT = 4, /* the output could not be written */
	PXT_EXIT_DAMAGE = 5, /* check: a log is damaged, or lacks its end */
	PXT_EXIT_SLOWER = 6, /* compare: by more than --fail-above says */
};

/*
 * Notes in which pxtrace says where events of a log were lost that it wrote itself: such a loss
 * wants another remedy than one in the stream or the log.
 */

#define PXT_LOSSNOTE_LINK  "lost_on_link"      /* receive: frames that did not arrive */
#define PXT_LOSSNOTE_SCHED "lost_by_scheduler" /* run: the kernel had no room for its records */

void pxt_lossnote_make(struct posix_trace_lognote_np *note, const char *name, uint64_t events);
/* What the log's notes of that name add up to. */
uint64_t pxt_lossnote_sum(trace_id_t trid, const char *name);

#endif
