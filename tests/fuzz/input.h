/* SPDX-License-Identifier: MIT */
/* input.h - an input as a file, for what reads files by their names. */
#ifndef PXT_FUZZ_INPUT_H
#define PXT_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a name of its own; always the same one. */
static inline const char *input_path(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || (size && pwrite(fd, data, size, 0) != (ssize_t)size))
		abort();
	return path;
}

/* Whether a text is fit for a terminal: nothing in it is a command. */
static inline void check_text(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (((unsigned char)text[i] < 32 && text[i] != '\n') || text[i] == 127)
			abort();
}

#endif
