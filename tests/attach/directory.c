/* SPDX-License-Identifier: MIT */
/*
 * directory.c - the memory in which an attached process tells its types and threads, where the program has
 * closed its descriptor: it is made anew, and what was there is given back once.
 */
#define _GNU_SOURCE 1 /* syscall() */
#include "suite.h"

#include "attach/attach.h"
#include "fakes/fakes.h"
#include "port/port_file.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

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
