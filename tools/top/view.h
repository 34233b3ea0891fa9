/* SPDX-License-Identifier: MIT */
/*
 * view.h - the numbers of `pxtrace top` as lines of text, for a screen of any size and for a file alike;
 * the screen and its keys.
 *
 * No line is wider than the view; columns that find no room are left out from the right, and a
 * name that is cut ends in "+".  Where lines are few, the tables share them.
 */
#ifndef PXT_TOP_VIEW_H
#define PXT_TOP_VIEW_H

#include "tools/top/model.h"

#include <signal.h>
#include <stdbool.h>

#define PXT_VIEW_NOBODY UINT32_MAX

enum pxt_view_style {
	PXT_VIEW_PLAIN,
	PXT_VIEW_HEAD,
	PXT_VIEW_CHOSEN
};

struct pxt_view {
	size_t width;    /* columns; 0: any number */
	size_t height;   /* lines; 0: any number */
	uint32_t rows;   /* of each table but that of streams, at most */
	uint32_t chosen; /* number of the stream that is marked, or PXT_VIEW_NOBODY */
	/* A line without its end; @text has a NUL after it. */
	void (*line)(void *context, enum pxt_view_style style, const char *text, size_t bytes);
	void *context;
};

/* @numbers are in the order in which they shall be shown. */
void pxt_view_put(const struct pxt_view *view, const struct pxt_numbers *numbers);
/* One line of @text, cut where the view ends. */
void pxt_view_text(const struct pxt_view *view, enum pxt_view_style style, const char *text);

/* `pxtrace top`: numbers over and over, on the screen with keys, or as tables one after another. */

#define PXT_PANEL_ROWS 10u

struct pxt_panel_options {
	int64_t interval_ns; /* from one table to the next */
	uint64_t times;      /* so many tables; 0: no end */
	enum pxt_numbers_column column;
	uint32_t rows; /* of each table but that of streams; 0: as many as there is room for */
};

/* Until a key, a signal (*@stop), or the last of them; return the exit status. */
int pxt_panel_screen(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);
int pxt_panel_batch(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);

#endif
