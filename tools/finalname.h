/* SPDX-License-Identifier: MIT */
#ifndef PXTRACE_FINALNAME_H
#define PXTRACE_FINALNAME_H

/*
 * Where a file that is made beside @path is renamed to: a link is followed, so that its target is
 * replaced and not the link.  free() it; NULL: out of memory.
 */
char *pxt_final_name(const char *path);

#endif
