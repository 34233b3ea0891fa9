/* SPDX-License-Identifier: MIT */
/* logout.c - the log is a device of the board: bytes go out in order and never come back. */
#include "port/bare/board.h"
#include "port/port_log.h"

#include <errno.h>

int pxt_port_log_open(struct pxt_port_log *log, int fd)
{
	if (fd < 0)
		return EBADF;
	log->fd = fd;
	log->kind = PXT_LOG_SEQUENTIAL;
	log->size = 0;
	return 0;
}

void pxt_port_log_close(struct pxt_port_log *log)
{
	log->fd = -1;
}

int pxt_port_log_write(struct pxt_port_log *log, const void *data, size_t bytes, size_t *done)
{
	const unsigned char *at = data;

	*done = 0;
	while (*done < bytes) {
		long sent = pxt_board_output(log->fd, at + *done, bytes - *done);

		if (sent <= 0)
			return sent == 0 ? EAGAIN : EIO;
		*done += (size_t)sent;
	}
	return 0;
}

int pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done)
{
	(void)log;
	(void)offset;
	(void)data;
	(void)bytes;
	*done = 0;
	return ESPIPE;
}

int pxt_port_log_truncate(struct pxt_port_log *log, uint64_t size)
{
	(void)log;
	(void)size;
	return ESPIPE;
}

int pxt_port_log_may_truncate(const struct pxt_port_log *log)
{
	(void)log;
	return ESPIPE;
}
