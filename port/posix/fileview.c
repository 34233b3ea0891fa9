/* SPDX-License-Identifier: MIT */
/* fileview.c - files of other processes: in memory, for reading, and making them fit for that; logs of theirs to write. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_file.h"
#include "port/port_local.h"
#include "port/posix/owncalls.h"

#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Since Linux 5.14; older ones say EINVAL. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
/* Also without <linux/magic.h>. */
#define MEMORY_FILES 0x01021994ul

/* Without the second one, pages could be taken out of the file (and come back at a cost, or not). */
#define SETTLED (F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE)

/* What is written at once: pieces of zeros. */
#define PIECE  ((size_t)4096)
#define PIECES 32

static ssize_t write_some(int fd, size_t bytes, off_t at)
{
	static unsigned char zeros[PIECE] PXT_SELDOM;
	struct iovec pieces[PIECES];
	int count = 0;

	for (; bytes && count < PIECES; count++) {
		pieces[count].iov_base = zeros;
		pieces[count].iov_len = bytes < PIECE ? bytes : PIECE;
		bytes -= pieces[count].iov_len;
	}
	return pwritev(fd, pieces, count, at);
}

/* Room that is only taken is cleared page by page when it is touched, and mapped so. */
static int fill(int fd, size_t bytes)
{
	size_t done = 0;

	if (pxt_beyond_limit(bytes))
		return ENOMEM;
	while (done < bytes) {
		ssize_t more = write_some(fd, bytes - done, (off_t)done);

		if (more > 0)
			done += (size_t)more;
		else if (more == 0 || errno != EINTR)
			return ENOMEM;
	}
	return 0;
}

int pxt_port_filemap_fill(int fd, size_t bytes)
{
	return PXT_OWNCALL(fill(fd, bytes));
}

static int map_untouched(int fd, size_t bytes, void **memory)
{
	void *mapped;

	if (pxt_beyond_limit(bytes))
		return ENOMEM;
	while (ftruncate(fd, (off_t)bytes) != 0) {
		if (errno != EINTR)
			return ENOMEM;
	}
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return errno == ENOMEM || errno == EAGAIN ? ENOMEM : EINVAL;
	(void)madvise(mapped, bytes, MADV_DONTFORK);
	*memory = mapped;
	return 0;
}

int pxt_port_filemap_untouched(int fd, size_t bytes, void **memory)
{
	return PXT_OWNCALL(map_untouched(fd, bytes, memory));
}

int pxt_port_filemap_settle(int fd)
{
	return PXT_OWNCALL(fcntl(fd, F_ADD_SEALS, SETTLED) == 0 ? 0 : ENOTSUP);
}

/* 0: not known. */
static unsigned long file_system(int fd)
{
	struct statfs system;

	while (fstatfs(fd, &system) != 0) {
		if (errno != EINTR)
			return 0;
	}
	return (unsigned long)system.f_type & 0xfffffffful;
}

/* A file in memory that is sealed so. */
static bool is_sealed(int fd, int wanted, struct stat *state)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & wanted) == wanted && fstat(fd, state) == 0 &&
	       S_ISREG(state->st_mode) && file_system(fd) == MEMORY_FILES;
}

/*
 * Huge pages, which have a file system of their own, may be missing when they are touched.  Room that
 * was not taken would be taken at the reader's cost.
 */
static int view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes)
{
	struct stat state;
	void *at;

	if (!is_sealed(fd, holes ? F_SEAL_SHRINK : SETTLED, &state) || state.st_size <= 0 ||
	    (!holes && state.st_blocks < state.st_size / 512))
		return EINVAL;
	if ((uint64_t)state.st_size > limit)
		return EFBIG;
	*bytes = (size_t)state.st_size;
	at = mmap(NULL, *bytes, holes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return errno == ENOMEM || errno == EAGAIN ? ENOMEM : EINVAL;
	(void)madvise(at, *bytes, MADV_DONTFORK);
	*memory = at;
	return 0;
}

int pxt_port_filemap_view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes)
{
	return PXT_OWNCALL(view(fd, limit, holes, memory, bytes));
}

/* Where it cannot be asked for, the pages are taken when they are touched. */
static int take_room(void *memory, size_t bytes)
{
	return madvise(memory, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL ? ENOMEM : 0;
}

int pxt_port_filemap_room(void *memory, size_t bytes)
{
	return PXT_OWNCALL(take_room(memory, bytes));
}

/* ---- Files whose descriptors other processes pass ---- */

/*
 * Where a write waits for this machine's memory and devices alone.  Only what is known: a file of
 * /proc, for example, is a regular one, and to write into it may mean to fill another process' page,
 * which comes from wherever that process has it from.
 */
static bool is_local(int fd)
{
	static const unsigned long kinds[] = {
		MEMORY_FILES, /* tmpfs, and memfd */
		0x858458f6ul, /* ramfs */
		0xef53ul,     /* ext2, ext3, ext4 */
		0x58465342ul, /* XFS */
		0x9123683eul, /* Btrfs */
		0xf2f52010ul, /* F2FS */
	};
	const unsigned long kind = file_system(fd);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kind == kinds[i])
			return true;
	}
	return false;
}

bool pxt_port_local_takes_log(int fd)
{
	PXT_OWNCALLS();
	int flags = fcntl(fd, F_GETFL);
	struct stat state;

	return flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY &&
	       fstat(fd, &state) == 0 && S_ISREG(state.st_mode) && is_local(fd);
}

uint64_t pxt_port_local_unread(int fd)
{
	PXT_OWNCALLS();
	struct stat state;

	return fstat(fd, &state) == 0 && state.st_nlink == 0 ? (uint64_t)state.st_blocks * 512u : 0;
}
