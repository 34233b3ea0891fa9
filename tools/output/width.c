/* SPDX-License-Identifier: MIT */
/* width.c - the width of the terminal that a table is written to. */
#define _DEFAULT_SOURCE /* struct winsize */
#include "tools/output/width.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST 10000

size_t pxt_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	char *end = NULL;
	long asked = columns ? strtol(columns, &end, 10) : 0;
	struct winsize size;

	if (end && !*end && asked > 0 && asked < MOST)
		return (size_t)asked;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
