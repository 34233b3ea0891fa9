/* SPDX-License-Identifier: MIT */
/* writeall.c - all bytes into a descriptor, however many writes that takes; see writeall.h. */
#include "tools/output/writeall.h"

#include <errno.h>
#include <unistd.h>

int pxt_write_all(int fd, const void *bytes, size_t count)
{
	const char *from = bytes;

	while (count > 0) {
		ssize_t done = write(fd, from, count);

		if (done > 0) {
			from += done;
			count -= (size_t)done;
		} else if (done == 0) {
			return EIO;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}
