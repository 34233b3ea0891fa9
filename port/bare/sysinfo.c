/* SPDX-License-Identifier: MIT */
/* sysinfo.c - what a log says about its writer: a board has no names, and little that is random. */
#include "port/port_sysinfo.h"

#include "port/bare/board.h"

#include <string.h>

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
