/* SPDX-License-Identifier: MIT */
/*
 * screen.h - the whole screen of a terminal, and its keys.  Whatever ends the program, the terminal is as it
 * was before; a stop (Ctrl-Z) gives it back meanwhile.
 */
#ifndef PXT_TOP_SCREEN_H
#define PXT_TOP_SCREEN_H

#include "tools/top/view.h"

#include <stdbool.h>
#include <stddef.h>

enum pxt_screen_key {
	PXT_KEY_NONE, /* nothing came in time */
	PXT_KEY_OTHER,
	PXT_KEY_QUIT,
	PXT_KEY_FREEZE,
	PXT_KEY_NEXT,
	PXT_KEY_PREVIOUS,
	PXT_KEY_UP,
	PXT_KEY_DOWN,
	PXT_KEY_SAVE,
	PXT_KEY_HELP,
	PXT_KEY_RESIZED,
	PXT_KEY_GONE /* there is no terminal any more */
};

/* False, after a word to the user: there is no terminal, or none that can be drawn on. */
bool pxt_screen_begin(void);
void pxt_screen_end(void);
void pxt_screen_size(size_t *width, size_t *height);
/* What follows is a new picture; it is seen when it is shown. */
void pxt_screen_erase(void);
void pxt_screen_line(size_t line, enum pxt_view_style style, const char *text, size_t bytes);
void pxt_screen_show(void);
/* Waits so long for a key. */
enum pxt_screen_key pxt_screen_key(int wait_ms);

#endif
