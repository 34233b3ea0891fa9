/* SPDX-License-Identifier: MIT */
/* guard.c - see kit.h. */
#include "kit.h"

#include "port/port.h"

#include <sys/mman.h>
#include <unistd.h>

#define REMEMBERED 256u

static struct {
	void *memory;
	size_t bytes;
} given_back[REMEMBERED];
static unsigned next;

void __wrap_pxt_port_free(void *memory, size_t bytes);

static size_t whole(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

void __wrap_pxt_port_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	if (given_back[next].memory)
		(void)munmap(given_back[next].memory, given_back[next].bytes);
	given_back[next].memory = memory;
	given_back[next].bytes = whole(bytes);
	(void)mprotect(memory, whole(bytes), PROT_NONE);
	next = (next + 1) % REMEMBERED;
}

unsigned guard_times_freed(const void *memory)
{
	unsigned times = 0;

	for (unsigned i = 0; i < REMEMBERED; i++)
		times += given_back[i].memory == memory;
	return times;
}

bool guard_freed(const void *memory)
{
	return guard_times_freed(memory) != 0;
}
