/* SPDX-License-Identifier: MIT */
/* packed.c - which files are compressed logs; see packed.h. */
#include "tools/packed/packed.h"

#include <string.h>
#include <unistd.h>

#define END ".zst"

bool pxt_packed_named(const char *path)
{
	size_t bytes = strlen(path);

	return bytes > sizeof END - 1 && strcmp(path + bytes - (sizeof END - 1), END) == 0;
}

bool pxt_packed_is(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof magic, 0) == sizeof magic &&
	       memcmp(magic, "\x28\xb5\x2f\xfd", sizeof magic) == 0;
}
