/* SPDX-License-Identifier: MIT */
/* filemap.c - a file as memory, on Linux: its room on the disk is taken before it is used. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_file.h"
#include "port/posix/owncalls.h"

#include <sys/mman.h>
#include <unistd.h>

/* Since Linux 5.14; older ones say EINVAL. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* A stream's file must be empty, regular, and open for reading and writing. */
static int check(int fd)
{
	struct stat state;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) != O_RDWR)
		return EINVAL;
	if (fstat(fd, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size != 0)
		return EINVAL;
	return 0;
}

int pxt_port_filemap_check(int fd)
{
	return PXT_OWNCALL(check(fd));
}

static int extend(int fd, uint64_t bytes)
{
	off_t size = (off_t)bytes;
	int error;

	if (size < 0 || (uint64_t)size != bytes || pxt_beyond_limit(bytes))
		return ENOMEM;
	error = posix_fallocate(fd, 0, size);
	if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == EIO)
		return ENOMEM;
	return error ? EINVAL : 0;
}

/* All but those that an instruction of the thread itself causes. */
static void all_from_outside(sigset_t *set)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

	(void)sigfillset(set);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		(void)sigdelset(set, own[i]);
}

/*
 * With signals held back: on many systems a signal ends the taking of room, which then begins from
 * the start, and under a fast timer never ends.
 */
int pxt_port_filemap_extend(int fd, uint64_t bytes)
{
	PXT_OWNCALLS();
	sigset_t held;
	sigset_t before;
	int error;

	all_from_outside(&held);
	(void)pthread_sigmask(SIG_BLOCK, &held, &before);
	error = extend(fd, bytes);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static int map(int fd, size_t bytes, bool inherited, void **memory)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return errno == ENOMEM || errno == EAGAIN ? ENOMEM : EINVAL;
	/* Reading maps many pages of a file in memory at once, which writing does not. */
	(void)madvise(at, bytes, MADV_POPULATE_READ);
	(void)madvise(at, bytes, MADV_POPULATE_WRITE);
	/* Written, not only read: a file system may give a page its place at its first store. */
	for (size_t i = 0; i<bytes; i += page> 0 ? (size_t)page : 4096u)
		((volatile unsigned char *)at)[i] = 0;
	if (!inherited)
		(void)madvise(at, bytes, MADV_DONTFORK);
	*memory = at;
	return 0;
}

int pxt_port_filemap(int fd, size_t bytes, bool inherited, void **memory)
{
	return PXT_OWNCALL(map(fd, bytes, inherited, memory));
}

void pxt_port_filemap_cut(int fd)
{
	PXT_OWNCALLS();

	while (ftruncate(fd, 0) != 0 && errno == EINTR)
		;
}

/* Only memfd files have seals, and only those that were made to be sealed. */
void pxt_port_filemap_seal(int fd)
{
	PXT_OWNCALLS();

	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
}

bool pxt_port_filemap_same(int fd, int other)
{
	PXT_OWNCALLS();
	struct stat one;
	struct stat two;

	return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}
