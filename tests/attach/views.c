/* SPDX-License-Identifier: MIT */
/*
 * views.c - which memory of another process an owner maps: what is whole, and can no more be taken away,
 * so that a look at it never fails and never waits.
 */
#define _GNU_SOURCE 1 /* memfd_create(), syscall() */
#include "suite.h"

#include "attach/attach.h"
#include "fakes/fakes.h"
#include "port/port.h"
#include "port/port_file.h"
#include "port/port_local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES ((size_t)256 * 1024)

/* A file in memory of which the first @filled bytes of BYTES have room. */
static int memory_file(size_t filled)
{
	int fd = memfd_create("views", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ(pxt_port_filemap_fill(fd, filled), 0);
	PXT_EQ(ftruncate(fd, (off_t)BYTES), 0);
	return fd;
}

/* The error, with which nothing stays mapped. */
static int look_at(int fd, size_t limit)
{
	const void *memory = NULL;
	size_t bytes = 0;
	int error = pxt_port_filemap_view(fd, limit, false, &memory, &bytes);

	if (error == 0) {
		PXT_EQ(bytes, BYTES);
		PXT_EQ(((const unsigned char *)memory)[bytes - 1], 0);
		pxt_port_free((void *)(uintptr_t)memory, bytes);
	}
	return error;
}

/* LPT-31 */
PXT_TEST(memory_that_is_whole_and_settled_is_mapped)
{
	int fd = memory_file(BYTES);

	PXT_EQ(pxt_port_filemap_settle(fd), 0);
	PXT_EQ(look_at(fd, BYTES), 0);
	PXT_EQ(look_at(fd, BYTES - 1), EFBIG);
	(void)close(fd);
}

/* LPT-31: its pages would be made when the owner looks at them, at its cost, or not at all. */
PXT_TEST(memory_with_holes_is_refused)
{
	static const size_t filled[] = { 0, 4096, BYTES / 2, BYTES - 4096 };

	for (size_t i = 0; i < sizeof(filled) / sizeof(filled[0]); i++) {
		int fd = memory_file(filled[i]);

		PXT_EQ(pxt_port_filemap_settle(fd), 0);
		PXT_CHECK(look_at(fd, BYTES) == EINVAL, "%zu bytes have room", filled[i]);
		(void)close(fd);
	}
}

/* LPT-31 */
PXT_TEST(memory_that_can_be_taken_away_is_refused)
{
	int fd = memory_file(BYTES);

	PXT_EQ(look_at(fd, BYTES), EINVAL);
	PXT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	PXT_EQ(look_at(fd, BYTES), EINVAL);
	(void)close(fd);
	fd = pxt_temp_file();
	PXT_EQ(look_at(fd, BYTES), EINVAL);
	(void)close(fd);
}

/* LPT-32: a follower may take its time with a file that has a name, not with memory that only it can free. */
PXT_TEST(what_is_in_a_file_that_has_a_name_is_not_unread)
{
	char path[256];
	int fd = memory_file(BYTES);
	int named;

	CU_ASSERT(pxt_port_local_unread(fd) >= BYTES);
	(void)close(fd);
	(void)snprintf(path, sizeof(path), "%s/followed", pxt_temp_folder());
	named = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_FATAL(named >= 0);
	PXT_EQ(posix_fallocate(named, 0, BYTES), 0);
	PXT_EQ(pxt_port_local_unread(named), 0);
	PXT_EQ(unlink(path), 0);
	CU_ASSERT(pxt_port_local_unread(named) >= BYTES);
	(void)close(named);
}

/*
 * ---- The memory in which an attached process tells its types and threads ----
 *
 * Where the program has closed its descriptor, it is made anew, and what was there is given back once.
 */

int __real_pxt_port_filemap_settle(int fd);
int __wrap_pxt_port_filemap_settle(int fd);

static bool fails;

int __wrap_pxt_port_filemap_settle(int fd)
{
	return fails ? ENOTSUP : __real_pxt_port_filemap_settle(fd);
}

/* LPT-31 */
PXT_TEST(a_closed_descriptor_costs_its_memory_once_though_the_next_fails_at_first)
{
	long before;
	int fd = -1;

	PXT_EQ_FATAL(pxt_producer_directory(&fd), 0);
	before = pxt_live_blocks;
	CU_ASSERT(syscall(SYS_close, fd) == 0);
	fails = true;
	CU_ASSERT(pxt_producer_directory(&fd) != 0);
	PXT_EQ(pxt_live_blocks, before - 1);
	CU_ASSERT(pxt_producer_directory(&fd) != 0);
	PXT_EQ(pxt_live_blocks, before - 1);
	fails = false;
	PXT_EQ(pxt_producer_directory(&fd), 0);
	PXT_EQ(pxt_live_blocks, before);
}
