/* SPDX-License-Identifier: MIT */
/*
 * kept.c - descriptors that the library keeps open beside the program's: their numbers, and whether the program has
 * made something else of one; see owncalls.h.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "format/owndescriptors.h"
#include "port/port_local.h"
#include "port/posix/owncalls.h"

#include <unistd.h>

/* Of a device's number, in a place. */
#define DEVICE_BITS 0x7fffffffu

PXT_API struct pxt_own_descriptors _pxt_own_descriptors;

/* A place of its own, filled in; false: there are too many. */
static bool enter_place(int fd, const struct stat *state, bool marked)
{
	for (uint32_t i = 0; i < PXT_OWN_PLACES; i++) {
		struct pxt_own_place *place = &_pxt_own_descriptors.of[i];
		uint32_t count = __atomic_load_n(&_pxt_own_descriptors.count, __ATOMIC_RELAXED);
		int none = 0;

		if (!__atomic_compare_exchange_n(
		        &place->number, &none, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		while (count <= i && !__atomic_compare_exchange_n(&_pxt_own_descriptors.count,
		                         &count, i + 1u, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		place->device = (uint32_t)state->st_dev & DEVICE_BITS;
		place->marked = marked;
		place->file = (uint64_t)state->st_ino;
		__atomic_store_n(&place->number, fd + 1, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/* The library's no more. */
static void leave_place(int fd)
{
	struct pxt_own_place *place = pxt_own_place(fd);

	pxt_own_descriptor_set(fd, false);
	if (place)
		__atomic_store_n(&place->number, 0, __ATOMIC_RELEASE);
}

/*
 * Numbers that the program closed behind the library's back still are in its tables; so none of them is
 * taken anew, and one number never stands for two.
 */
static int free_number(int fd, int first)
{
	int made = fcntl(fd, F_DUPFD_CLOEXEC, first);

	while (made >= 0 && pxt_own_place(made)) {
		(void)close(made);
		first = made + 1;
		made = fcntl(fd, F_DUPFD_CLOEXEC, first);
	}
	return made;
}

static bool remember(int fd, bool marked)
{
	struct stat state;

	marked = marked && pxt_descriptor_mark(fd) == SIGIO;
	return fstat(fd, &state) == 0 && enter_place(fd, &state, marked);
}

int pxt_kept_take(int *fd, bool marked)
{
	int low = *fd;
	int first = _pxt_own_descriptors.first;
	bool stays = low >= PXT_FIRST_DESCRIPTOR && !pxt_own_place(low);

	if (!stays || low < first) {
		*fd = free_number(low, first > PXT_FIRST_DESCRIPTOR ? first : PXT_FIRST_DESCRIPTOR);
		if (*fd < 0 && stays)
			*fd = low;
		else
			(void)close(low);
	}
	if (*fd >= 0 && !remember(*fd, marked)) {
		(void)close(*fd);
		*fd = -1;
	}
	return *fd < 0 ? EAGAIN : 0;
}

bool pxt_kept_is(int fd)
{
	const struct pxt_own_place *place = fd >= 0 ? pxt_own_place(fd) : NULL;
	struct stat state;

	if (!place)
		return false;
	if (fstat(fd, &state) != 0)
		return errno != EBADF;
	return ((uint32_t)state.st_dev & DEVICE_BITS) == place->device &&
	       (uint64_t)state.st_ino == place->file &&
	       (!place->marked || pxt_descriptor_is(fd, SIGIO));
}

bool pxt_port_local_kept(int fd)
{
	PXT_KEEP_ERRNO();

	return pxt_kept_is(fd);
}

void pxt_kept_close(int fd)
{
	bool kept = pxt_kept_is(fd);

	leave_place(fd);
	if (kept)
		(void)close(fd);
}

int pxt_kept_open(int fd, int error)
{
	if (error == 0)
		pxt_own_descriptor_set(fd, true);
	return error;
}

int pxt_kept_error(int error)
{
	switch (error) {
	case EPERM:
	case EROFS:
		return EACCES;
	case EMFILE:
	case ENFILE:
		return EAGAIN;
	case ENOBUFS:
	case ENOSPC:
	case EDQUOT:
		return ENOMEM;
	case EACCES:
	case ENOENT:
	case EEXIST:
	case ECONNREFUSED:
	case ENOMEM:
	case EAGAIN:
	case ETIMEDOUT:
		return error;
	default:
		return EINVAL;
	}
}

int pxt_kept_adopt(int made, int *fd, bool marked)
{
	int error;

	*fd = made;
	error = made < 0 ? pxt_kept_error(errno) : pxt_kept_take(fd, marked);
	pxt_lows_end();
	return error;
}

int pxt_kept_settle(int *fd, int error)
{
	if (error != 0 && *fd >= 0) {
		pxt_kept_close(*fd);
		*fd = -1;
	}
	return error;
}
