/* SPDX-License-Identifier: MIT */
/*
 * escape.h - text from a log on its way to a terminal.
 *
 * A log comes from somewhere else, and its names and texts may hold anything.  Printable ASCII and
 * well-formed UTF-8 pass; control characters (C0, DEL, C1), a backslash, bytes that are no UTF-8,
 * and the characters that turn or hide text around them become \n, \t, \\ or \xNN.
 */
#ifndef PXT_ESCAPE_H
#define PXT_ESCAPE_H

#include <stddef.h>

/* Most bytes that one input byte can become. */
#define PXT_ESCAPE_GROWTH 4u

/*
 * Escapes the character at @from (of @bytes > 0 bytes) to @to, which has room for 16 bytes.
 * Returns the number of bytes written, and how many were read in *@taken.
 */
size_t pxt_escape_one(const char *from, size_t bytes, char *to, size_t *taken);

/*
 * Escapes a whole text to @to of @room bytes, NUL included; cut at a character's end when it does
 * not fit.  Returns the bytes written; *@width (may be NULL) is the number of columns.
 */
size_t pxt_escape(const char *from, size_t bytes, char *to, size_t room, size_t *width);

/*
 * The same for a string of JSON: invalid UTF-8 becomes U+FFFD, what could command a terminal \uNNNN.
 * @to has room for 32 bytes.
 */
size_t pxt_escape_json(const char *from, size_t bytes, char *to, size_t *taken);

/* How many bytes at @from stand for themselves in either: printable ASCII without \ and ". */
size_t pxt_escape_plain(const char *from, size_t bytes);

#endif
