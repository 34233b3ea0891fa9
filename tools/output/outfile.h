/* SPDX-License-Identifier: MIT */
/*
 * outfile.h - a result that is there whole or not at all: written beside its name, and renamed when
 * it is finished. A failure, Ctrl-C or SIGTERM leaves what was there before.
 *
 * One at a time, because a signal handler must find it.
 */
#ifndef PXT_OUTFILE_H
#define PXT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

struct pxt_outfile {
	int fd;
	const char *name; /* as the user gave it, or "standard output" */
	char *final;      /* where it goes; NULL: it is written in place (a pipe, a device) */
	char *temporary;
};

/*
 * @name NULL or "-": standard output.  What exists and is no regular file is written in place.
 * False, with a word to the user, when it cannot be opened.
 */
bool pxt_outfile_open(struct pxt_outfile *file, const char *name);
/* Whether the file after @fd would be replaced. */
bool pxt_outfile_replaces(const struct pxt_outfile *file, int fd);
/* Whether @path names the file after @fd.  A device is none: what several write to it destroys nothing. */
bool pxt_outfile_is(const char *path, int fd);
/*
 * Whether @path is there and is no file of ours, which begins with @mark, nor an empty one: then nobody
 * replaces it who was not told to.
 */
bool pxt_outfile_is_others(const char *path, const void *mark, size_t bytes);
/* Whether both names mean one file, or one that would be made under both. */
bool pxt_outfile_same(const char *one, const char *other);
/*
 * For a file that is made beside @name and renamed later: false, with a word to the user, when that
 * cannot end well.
 */
bool pxt_outfile_check(const char *name);
/* Gives it its name.  False, with a word to the user, when that fails. */
bool pxt_outfile_commit(struct pxt_outfile *file);
void pxt_outfile_discard(struct pxt_outfile *file);

#endif
