/* SPDX-License-Identifier: MIT */
/*
 * finalname.h - where a result goes that has another name until it is finished, and who may read
 * it.
 */
#ifndef PXTRACE_FINALNAME_H
#define PXTRACE_FINALNAME_H

#include <stdbool.h>

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
