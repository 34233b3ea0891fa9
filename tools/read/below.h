/* SPDX-License-Identifier: MIT */
/*
 * below.h - files of another machine, of which a copy lies below a folder (--root): neither ".." nor a
 * link, in which "/" is that folder, leads out of it.
 */
#ifndef PXT_BELOW_H
#define PXT_BELOW_H

/*
 * For reading, a regular file that a log names; @root "": of this machine.  Never waits.  *@file, which the
 * caller frees: its name here, without links where there is a root.  -1: errno says why.
 */
int pxt_open_below(const char *root, const char *path, char **file);

#endif
