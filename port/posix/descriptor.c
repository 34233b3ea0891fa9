/* SPDX-License-Identifier: MIT */
/* descriptor.c - numbers 0 to 2 stay the program's; see descriptor.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/posix/descriptor.h"

#include <errno.h>
#include <unistd.h>

static __thread struct {
	unsigned pairs; /* begun, and not ended */
	bool held[PXT_FIRST_DESCRIPTOR];
} lows __attribute__((tls_model("initial-exec")));

void pxt_lows_begin(void)
{
	if (lows.pairs++)
		return;
	for (int low = 0; low < PXT_FIRST_DESCRIPTOR; low++) {
		int fd = fcntl(low, F_GETFD) < 0 ? open("/", O_PATH | O_CLOEXEC) : -1;

		lows.held[low] = fd == low;
		if (fd >= 0 && fd != low)
			(void)close(fd);
	}
}

/* What the program has put there meanwhile is not closed. */
void pxt_lows_end(void)
{
	if (--lows.pairs)
		return;
	for (int low = 0; low < PXT_FIRST_DESCRIPTOR; low++) {
		if (lows.held[low] && (fcntl(low, F_GETFL) & O_PATH) != 0)
			(void)close(low);
	}
}

int pxt_descriptor_up(int fd)
{
	int made;

	if (fd < 0 || fd >= PXT_FIRST_DESCRIPTOR)
		return fd;
	made = fcntl(fd, F_DUPFD_CLOEXEC, PXT_FIRST_DESCRIPTOR);
	(void)close(fd);
	return made;
}

int pxt_descriptor_open(int folder, const char *path, int flags, unsigned mode)
{
	int error;
	int fd;

	pxt_lows_begin();
	fd = pxt_descriptor_up(openat(folder, path, flags | O_CLOEXEC, (mode_t)mode));
	error = errno;
	pxt_lows_end();
	errno = error;
	return fd;
}

long pxt_descriptor_text(const char *path, char *text, size_t room)
{
	int fd = pxt_descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
	long got = -1;

	if (fd >= 0) {
		got = (long)read(fd, text, room - 1);
		(void)close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? got : -1;
}
