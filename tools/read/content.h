/* SPDX-License-Identifier: MIT */
/* content.h - what a file that is no log seems to be instead. */
#ifndef PXT_CONTENT_H
#define PXT_CONTENT_H

#include <stdbool.h>

/* Says it; false where it has no idea.  @path: for advice. */
bool pxt_explain_content(const char *path, int fd);

#endif
