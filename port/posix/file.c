/* SPDX-License-Identifier: MIT */
/*
 * file.c - reading logs, on Linux.
 *
 * preadv is called directly: as a function of the C library it would be a cancellation point, and a reader cancelled
 * in it would keep the log locked.  close is not, so that ThreadSanitizer sees that the number is another file's.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_file.h"
#include "port/posix/owncalls.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A log is read from a regular file that is open for reading. */
static int check_kind(int fd, struct pxt_port_place *place)
{
	struct stat state;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &state) != 0)
		return EBADF;
	if ((flags & O_ACCMODE) != O_RDONLY && (flags & O_ACCMODE) != O_RDWR)
		return EBADF;
	if ((flags & O_PATH) != 0)
		return EBADF;
	*place = pxt_descriptor_place(&state);
	return S_ISREG(state.st_mode) ? 0 : EINVAL;
}

int pxt_port_file_open(struct pxt_port_file *file, int fd)
{
	PXT_KEEP_ERRNO();
	int error = check_kind(fd, &file->place);

	file->looked_at_later = false;
	file->from = 0;
	file->next = NULL;
	if (error == 0) {
		file->fd = fcntl(fd, F_DUPFD_CLOEXEC, PXT_FIRST_DESCRIPTOR);
		error = file->fd < 0 ? errno : 0;
		file->mark = pxt_descriptor_mark(file->fd);
	}
	return error;
}

/* Whether the number still is the file's; *state is what is there. */
static int check_place(const struct pxt_port_file *file, struct stat *state)
{
	if (fstat(file->fd, state) != 0)
		return errno;
	return pxt_descriptor_at(state, &file->place) ? 0 : EBADF;
}

void pxt_port_file_close(struct pxt_port_file *file)
{
	PXT_KEEP_ERRNO();
	struct stat state;
	int cancel;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (check_place(file, &state) != EBADF && pxt_descriptor_is(file->fd, file->mark))
		(void)close(file->fd);
	(void)pthread_setcancelstate(cancel, &cancel);
	file->fd = -1;
}

int pxt_port_file_size(const struct pxt_port_file *file, uint64_t *size)
{
	PXT_KEEP_ERRNO();
	struct stat state;
	int error = check_place(file, &state);

	if (error == 0)
		*size = (uint64_t)state.st_size;
	return error;
}

/* The offset is handed over in two registers on every machine: SYS_preadv was made that way. */
static long read_some(int fd, uint64_t offset, void *buffer, size_t bytes)
{
	struct iovec part = { .iov_base = buffer, .iov_len = bytes };
	unsigned long low = (unsigned long)offset;
	unsigned long high = sizeof(long) < 8 ? (unsigned long)(offset >> 32) : 0;

	return syscall(SYS_preadv, (long)fd, &part, 1L, low, high);
}

int pxt_port_file_read(
    const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done)
{
	PXT_KEEP_ERRNO();
	struct stat state;
	const bool later = file->looked_at_later;
	int error = 0;
	int gone;

	/* Bound: the files that are read as one. */
	while (file->next && offset >= file->to)
		file = file->next;
	if (file->next && bytes > file->to - offset)
		bytes = (size_t)(file->to - offset);
	offset -= file->from;
	*done = 0;
	while (error == 0 && *done < bytes) {
		long part = read_some(
		    file->fd, offset + *done, (unsigned char *)buffer + *done, bytes - *done);

		if (part == 0)
			break;
		if (part > 0)
			*done += (size_t)part;
		else if (errno != EINTR) {
			error = errno;
			break;
		}
	}
	/*
	 * Another thread may have made something else of the number: what that holds is not the log's.  Looked at once,
	 * behind the read; a look costs as much as a read of few bytes.
	 */
	gone = later ? 0 : check_place(file, &state);
	if (gone) {
		error = gone;
		*done = 0;
	}
	return error;
}

void *pxt_port_heap_resize(void *old, size_t bytes)
{
	PXT_KEEP_ERRNO();

	return realloc(old, bytes);
}

void pxt_port_heap_free(void *memory)
{
	free(memory);
}
