/* SPDX-License-Identifier: MIT */
/* width.h - how many columns a table may have. */
#ifndef PXTRACE_WIDTH_H
#define PXTRACE_WIDTH_H

#include <stddef.h>

/* The environment's COLUMNS, or those of the terminal @fd; 0: any number. */
size_t pxt_width(int fd);

#endif
