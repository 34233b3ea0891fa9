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

/*
 * Where a result goes that has another name until it is finished, and who may read
 * it.
 */

/*
 * Where a file that is made beside @path is renamed to: a link is followed, so that its target is
 * replaced and not the link; but none that somebody else has planted where everybody may make files
 * (/tmp).  free() it; NULL: errno says why, EACCES such a link.
 */
char *pxt_final_name(const char *path);

/*
 * Whether the file that is made beside @name may take its place: not if somebody else's file is
 * there, in a folder where only owners may remove (/tmp).  errno says why not.
 */
bool pxt_final_may_replace(const char *name);

/*
 * A new file beside @name, under a name that nobody can guess (so none can be planted), to be renamed
 * to @name: it has that one's mode.  free() @temporary.  -1: errno says why.
 */
int pxt_final_beside(const char *name, char **temporary);

/*
 * Opens for writing what has no other name meanwhile, and makes it where it is not there: follows
 * the same links, and writes to no file that somebody else has planted there.  Waits for the reader
 * of a FIFO as openfile.h says.  -1: errno says why.
 */
int pxt_final_open(const char *path);

/*
 * The new file after @fd, which nobody else can open yet, will replace @name: it gets the mode of
 * what is there, or what is usual.  Of somebody else's file the mode takes rights away and gives
 * none.
 */
void pxt_final_mode(const char *name, int fd);

#endif
