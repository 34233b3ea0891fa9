/* SPDX-License-Identifier: MIT */
/* spool.c - what comes through a pipe or a line, copied to a temporary file; see spool.h. */
#include "tools/read/spool.h"

#include "tools/output/say.h"
#include "tools/output/writeall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 16u /* of the buffer below, in one pxt_spool_take() */

static bool failed(const struct pxt_spool *spool)
{
	pxt_complain("%s: cannot be copied to a temporary file: %s", spool->path, strerror(errno));
	return false;
}

bool pxt_spool_begin(struct pxt_spool *spool, const char *path, int from)
{
	FILE *file = tmpfile();

	*spool = (struct pxt_spool){ .path = path, .from = from, .to = -1 };
	if (file) {
		spool->to = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
		(void)fclose(file);
	}
	return spool->to >= 0 || failed(spool);
}

bool pxt_spool_take(struct pxt_spool *spool, int wait_ms)
{
	static char buffer[65536];

	for (unsigned i = 0; i < ROUNDS && !spool->ended; i++) {
		struct pollfd wait = { .fd = spool->from, .events = POLLIN };

		if (poll(&wait, 1, i == 0 ? wait_ms : 0) <= 0)
			break;
		ssize_t bytes = read(spool->from, buffer, sizeof buffer);
		if (bytes < 0 && errno != EINTR && errno != EAGAIN)
			return failed(spool);
		if (bytes > 0 && pxt_write_all(spool->to, buffer, (size_t)bytes) != 0)
			return failed(spool);
		spool->ended = bytes == 0;
	}
	return true;
}

bool pxt_spool_all(struct pxt_spool *spool)
{
	bool good = true;

	while (good && !spool->ended)
		good = pxt_spool_take(spool, -1);
	return good;
}

void pxt_spool_end(struct pxt_spool *spool)
{
	if (spool->from > STDIN_FILENO)
		(void)close(spool->from);
	spool->from = -1;
}
