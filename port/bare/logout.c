/* SPDX-License-Identifier: MIT */
/*
 * logout.c - the log of a board: bytes go out in order, by the board's pxt_board_output() (its serial line:
 * boards/mps2-an385/board.c), and never come back; what the log says about its writer.  Frames: tolog/line.c.
 */
#include "port/bare/board.h"

#include "port/port_log.h"
#include "port/port_sysinfo.h"

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

int pxt_port_log_write_at(PXT_UNUSED struct pxt_port_log *log, PXT_UNUSED uint64_t offset,
    PXT_UNUSED const void *data, PXT_UNUSED size_t bytes, size_t *done)
{
	*done = 0;
	return ESPIPE;
}

int pxt_port_log_truncate(PXT_UNUSED struct pxt_port_log *log, PXT_UNUSED uint64_t size)
{
	return ESPIPE;
}

int pxt_port_log_may_truncate(PXT_UNUSED const struct pxt_port_log *log)
{
	return ESPIPE;
}

/* ---- Whatever the board sends on is a line ---- */

enum pxt_log_line pxt_port_log_line(PXT_UNUSED const struct pxt_port_log *log)
{
	return PXT_LINE_BYTES;
}

/* ---- What a log says about its writer: a board has no names, and little that is random ---- */

static void empty(char *text, size_t room)
{
	if (room > 0)
		text[0] = '\0';
}

void pxt_port_executable(char *path, size_t room)
{
	empty(path, room);
}

void pxt_port_host(char *name, size_t room)
{
	empty(name, room);
}

void pxt_port_system(char *name, size_t room)
{
	empty(name, room);
}

void pxt_port_process_start(struct timespec *start)
{
	start->tv_sec = 0;
	start->tv_nsec = 0;
}

void pxt_port_boot_id(unsigned char *id)
{
	memset(id, 0, PXT_BOOT_ID_BYTES);
}

/* Counter and time of day, stirred: as different as two starts of the board are. */
void pxt_port_random(void *bytes, size_t count)
{
	unsigned char *at = bytes;
	struct timespec now;
	uint64_t state;

	pxt_board_realtime(&now);
	state = pxt_board_ticks() ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
	for (size_t i = 0; i < count; i++) {
		state += UINT64_C(0x9e3779b97f4a7c15);
		state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		at[i] = (unsigned char)(state >> 56);
	}
}
