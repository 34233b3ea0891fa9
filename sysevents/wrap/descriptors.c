/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - closing.  The library's descriptors are not the program's: to it their numbers are not
 * open.  So a program that closes all there might be goes on being traced, and one that asks for such
 * a number by dup2() is told that there is no room.
 */
#define _GNU_SOURCE
#include "format/owndescriptors.h"
#include "sysevents/wrap/close.h"
#include "sysevents/wrap/wrap.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

PXT_WRAP_REAL(close);
PXT_WRAP_REAL(closefrom);
PXT_WRAP_REAL(close_range);
PXT_WRAP_REAL(dup2);
PXT_WRAP_REAL(dup3);

/*
 * A system call that no wrapper sees may have closed one of the library's: then the number is the program's.
 */
static bool is_own(int fd)
{
	const struct pxt_own_place *place = pxt_own_descriptor(fd) ? pxt_own_place(fd) : NULL;
	int saved = errno;
	struct stat state;
	bool own = place && fstat(fd, &state) == 0 && (uint32_t)state.st_dev == place->device &&
	           (uint64_t)state.st_ino == place->file;

	errno = saved;
	return own;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(close)(int fd)
{
	const void *caller = PXT_WRAP_CALLER();
	int result;

	if (is_own(fd)) {
		errno = EBADF;
		return -1;
	}
	result = PXT_WRAP_CALL(close)(fd);
	pxt_close_tell(fd, result, caller);
	return result;
}

/* The first one from @fd on that is the library's; INT_MAX: none. */
static int next_own(int fd)
{
	for (int next = fd; next < (int)PXT_OWN_DESCRIPTORS; next++)
		if (is_own(next))
			return next;
	return INT_MAX;
}

/* Around those that are the library's. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(close_range)(unsigned first, unsigned last, int flags)
{
	unsigned from = first;

	if (first > last || first > INT_MAX)
		return PXT_WRAP_CALL(close_range)(first, last, flags);
	for (;;) {
		unsigned next = (unsigned)next_own((int)from);
		int result = 0;

		if (next > last || next == INT_MAX)
			return PXT_WRAP_CALL(close_range)(from, last, flags);
		if (next > from)
			result = PXT_WRAP_CALL(close_range)(from, next - 1, flags);
		if (result || next == last)
			return result;
		from = next + 1;
	}
}

PXT_WRAP_EXPORT void PXT_WRAP_NAME(closefrom)(int first)
{
	int from = first < 0 ? 0 : first;
	int next;

	for (; (next = next_own(from)) != INT_MAX; from = next + 1)
		if (next > from)
			(void)PXT_WRAP_CALL(close_range)((unsigned)from, (unsigned)next - 1, 0);
	PXT_WRAP_CALL(closefrom)(from);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(dup2)(int from, int to)
{
	if (is_own(to) && from != to) {
		errno = EMFILE;
		return -1;
	}
	return PXT_WRAP_CALL(dup2)(from, to);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(dup3)(int from, int to, int flags)
{
	if (is_own(to) && from != to) {
		errno = EMFILE;
		return -1;
	}
	return PXT_WRAP_CALL(dup3)(from, to, flags);
}
