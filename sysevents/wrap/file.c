/* SPDX-License-Identifier: MIT */
/*
 * file.c - files, pipes, terminals: opening, locks, what waits for the disk, closing; read() and write() of any
 * descriptor, sockets too.
 *
 * Internal writes of the C library, as in printf(), do not come through here.
 *
 * Closing: to the program the numbers of the library's descriptors are not open.  So a program that
 * closes all descriptors is still traced, and dup2() to such a number fails for lack of descriptors.
 *
 * fcntl() is recorded if it waits for a lock on a part of a file, or copies a descriptor.  All its
 * other uses pass through, by a jump.
 */
#define _GNU_SOURCE
#include "format/owndescriptors.h"
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#if PXT_GROUP_FILE_IO
/* ---- Opening; what is opened is the event's result, and an event says what that is ---- */

/* A child of vfork() has its parent's memory, and descriptors of its own. */
static void name(int fd, const char *what, const void *caller)
{
	int saved = errno;

	if (fd >= 0 && posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP) && pxt_process_is_own())
		pxt_process_tell_descriptor(fd, what, caller);
	errno = saved;
}

/* The last argument, which only some calls have. */
#define TAKE_MODE(flags)                                                                           \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
		va_list list;                                                                      \
		va_start(list, flags);                                                             \
		mode = va_arg(list, mode_t);                                                       \
		va_end(list);                                                                      \
	}

#define TELL_OPEN(call)                                                                            \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_OPEN_NP, caller))                            \
			return call;                                                               \
		PXT_CALL_SCOPE entered =                                                           \
		    pxt_call_enter(POSIX_TRACE_CALL_OPEN_NP, 0, PXT_CALL_NO_SIZE, caller);         \
		int fd = call;                                                                     \
                                                                                                   \
		name(fd, path, caller);                                                            \
		entered.result = PXT_CALL_ERRNO(fd);                                               \
		return fd;                                                                         \
	} while (0)

#define OPENS(function, parameters, arguments)                                                     \
	PXT_WRAPPER(int, function, parameters)                                                     \
	{                                                                                          \
		TELL_OPEN(PXT_WRAP_CALL(function) arguments);                                      \
	}                                                                                          \
	_Static_assert(1, "")
#define OPENS_WITH_MODE(function, parameters, arguments)                                           \
	PXT_WRAPPER(int, function, parameters)                                                     \
	{                                                                                          \
		TAKE_MODE(flags)                                                                   \
		TELL_OPEN(PXT_WRAP_CALL(function) arguments);                                      \
	}                                                                                          \
	_Static_assert(1, "")

/* What the C library opens for a stream of its own. */
static FILE *name_stream(FILE *stream, const char *path, const void *caller)
{
	if (stream && pxt_call_wanted(POSIX_TRACE_CALL_OPEN_NP, caller))
		name(fileno(stream), path, caller);
	return stream;
}

/*
 * All of them, and with @w 64 what a program calls whose files may be larger than 2 GiB: NAME64().  __open_2() and its
 * like are for programs that were compiled with _FORTIFY_SOURCE, and give no mode.
 */
#define OPENS_ALL(w)                                                                               \
	OPENS_WITH_MODE(open##w, (const char *path, int flags, ...), (path, flags, mode));         \
	OPENS_WITH_MODE(openat##w, (int folder, const char *path, int flags, ...),                 \
	    (folder, path, flags, mode));                                                          \
	OPENS(creat##w, (const char *path, mode_t mode), (path, mode));                            \
	OPENS(__open##w##_2, (const char *path, int flags), (path, flags));                        \
	OPENS(__openat##w##_2, (int folder, const char *path, int flags), (folder, path, flags));  \
	PXT_WRAPPER(FILE *, fopen##w, (const char *path, const char *mode))                        \
	{                                                                                          \
		return name_stream(PXT_WRAP_CALL(fopen##w)(path, mode), path, PXT_WRAP_CALLER());  \
	}                                                                                          \
	_Static_assert(1, "")
/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the analyzer does not see that lists are begun here */
OPENS_ALL();
OPENS_ALL(64);
/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

/* ---- What has no path ---- */

/* A word for one or both. */
static int name_word(
    int result, const int *fds, unsigned count, const char *word, const void *caller)
{
	if (result >= 0 && pxt_call_wanted(POSIX_TRACE_CALL_OPEN_NP, caller))
		for (unsigned i = 0; i < count; i++)
			name(fds[i], word, caller);
	return result;
}

PXT_WRAPPER(int, pipe, (int ends[2]))
{
	return name_word(PXT_WRAP_CALL(pipe)(ends), ends, 2, "a pipe", PXT_WRAP_CALLER());
}

PXT_WRAPPER(int, pipe2, (int ends[2], int flags))
{
	return name_word(PXT_WRAP_CALL(pipe2)(ends, flags), ends, 2, "a pipe", PXT_WRAP_CALLER());
}

#define NAMED(function, parameters, arguments, word)                                               \
	PXT_WRAPPER(int, function, parameters)                                                     \
	{                                                                                          \
		int fd = PXT_WRAP_CALL(function) arguments;                                        \
                                                                                                   \
		return name_word(fd, &fd, 1, word, PXT_WRAP_CALLER());                             \
	}                                                                                          \
	_Static_assert(1, "")
NAMED(eventfd, (unsigned value, int flags), (value, flags), "an eventfd");
NAMED(epoll_create, (int size), (size), "an epoll set");
NAMED(epoll_create1, (int flags), (flags), "an epoll set");
NAMED(inotify_init, (void), (), "an inotify instance");
NAMED(inotify_init1, (int flags), (flags), "an inotify instance");
/* That of a number that there is already keeps its name. */
NAMED(signalfd, (int given, const sigset_t *mask, int flags), (given, mask, flags), "a signalfd");
NAMED(memfd_create, (const char *what, unsigned flags), (what, flags), "a memfd");

/*
 * A shell's child copies and closes descriptors, and most then execute a program: that is noted, and told when the
 * child attaches.  Without room it attaches.
 */
#define NOTES 32u
static struct {
	int fd;
	int from; /* it is a copy of that one; -1: it was closed */
} notes[NOTES] PXT_SELDOM;
static _Atomic unsigned note_count;

static void tell_noted(void)
{
	unsigned count = atomic_exchange_explicit(&note_count, 0u, memory_order_relaxed);

	for (unsigned i = 0; i < count && i < NOTES; i++) {
		if (notes[i].from >= 0)
			pxt_process_tell_copy(notes[i].fd, notes[i].from, NULL);
		else
			pxt_call_tell(POSIX_TRACE_CALL_CLOSE_NP, (uint64_t)notes[i].fd, 0, NULL);
	}
}

static bool is_noted(int fd, int from)
{
	unsigned count;

	if (!pxt_start_waits())
		return false;
	count = atomic_fetch_add_explicit(&note_count, 1u, memory_order_relaxed);
	if (count >= NOTES)
		return false;
	notes[count].fd = fd;
	notes[count].from = from;
	atomic_store_explicit(&pxt_start_later, tell_noted, memory_order_relaxed);
	pxt_process_forget_inherited((uint64_t)fd);
	return true;
}

static int name_copy(int fd, int from, const void *caller)
{
	int saved = errno;

	if (fd >= 0 && fd != from && pxt_call_wanted(POSIX_TRACE_CALL_OPEN_NP, caller) &&
	    pxt_process_is_own() && !is_noted(fd, from))
		pxt_process_tell_copy(fd, from, caller);
	errno = saved;
	return fd;
}

PXT_WRAPPER(int, dup, (int fd))
{
	return name_copy(PXT_WRAP_CALL(dup)(fd), fd, PXT_WRAP_CALLER());
}

/* ---- Reading and writing ---- */

/* Also of a timer's descriptor (sleep.c). */
#define READS(function, parameters, arguments)                                                     \
	PXT_WRAPPER(ssize_t, function, parameters)                                                 \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_READ_NP, caller)) {                          \
			pxt_timer_was_missed(fd);                                                  \
			return PXT_WRAP_CALL(function) arguments;                                  \
		}                                                                                  \
		PXT_CALL_SCOPE call = pxt_call_enter_until(                                        \
		    POSIX_TRACE_CALL_READ_NP, (uint64_t)fd, bytes, pxt_timer_asked(fd), caller);   \
		ssize_t result = PXT_WRAP_CALL(function) arguments;                                \
                                                                                                   \
		call.result = pxt_timer_was_read(fd, to, PXT_CALL_ERRNO(result));                  \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")
READS(read, (int fd, void *to, size_t bytes), (fd, to, bytes));
PXT_CALL_WRAP(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes),
    POSIX_TRACE_CALL_WRITE_NP, fd, bytes);
/* As read() and write() of eight bytes, which the C library does by itself. */
PXT_CALL_WRAP_AS(int, eventfd_read, (int fd, eventfd_t *value), (fd, value),
    POSIX_TRACE_CALL_READ_NP, fd, sizeof(*value), result ? PXT_CALL_ERRNO(result) : 8);
PXT_CALL_WRAP_AS(int, eventfd_write, (int fd, eventfd_t value), (fd, value),
    POSIX_TRACE_CALL_WRITE_NP, fd, sizeof(value), result ? PXT_CALL_ERRNO(result) : 8);
PXT_CALL_WRAP(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count),
    POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
    POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, copy_file_range,
    (int from, off64_t *at, int to, off64_t *to_at, size_t bytes, unsigned flags),
    (from, at, to, to_at, bytes, flags), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(ssize_t, splice,
    (int from, off64_t *at, int to, off64_t *to_at, size_t bytes, unsigned flags),
    (from, at, to, to_at, bytes, flags), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);
PXT_CALL_WRAP(int, flock, (int fd, int operation), (fd, operation), POSIX_TRACE_CALL_FLOCK_NP, fd,
    PXT_CALL_NO_SIZE);
/* With a place in the file, in both lengths; and what programs call that were compiled with _FORTIFY_SOURCE. */
#define AT_A_PLACE(off, w)                                                                         \
	PXT_CALL_WRAP(ssize_t, pread##w, (int fd, void *to, size_t bytes, off at),                 \
	    (fd, to, bytes, at), POSIX_TRACE_CALL_READ_NP, fd, bytes);                             \
	PXT_CALL_WRAP(ssize_t, __pread##w##_chk,                                                   \
	    (int fd, void *to, size_t bytes, off at, size_t room), (fd, to, bytes, at, room),      \
	    POSIX_TRACE_CALL_READ_NP, fd, bytes);                                                  \
	PXT_CALL_WRAP(ssize_t, pwrite##w, (int fd, const void *from, size_t bytes, off at),        \
	    (fd, from, bytes, at), POSIX_TRACE_CALL_WRITE_NP, fd, bytes);                          \
	PXT_CALL_WRAP(ssize_t, preadv##w, (int fd, const struct iovec *parts, int count, off at),  \
	    (fd, parts, count, at), POSIX_TRACE_CALL_READ_NP, fd, PXT_CALL_NO_SIZE);               \
	PXT_CALL_WRAP(ssize_t, pwritev##w, (int fd, const struct iovec *parts, int count, off at), \
	    (fd, parts, count, at), POSIX_TRACE_CALL_WRITE_NP, fd, PXT_CALL_NO_SIZE);              \
	PXT_CALL_WRAP(ssize_t, sendfile##w, (int to, int from, off *at, size_t bytes),             \
	    (to, from, at, bytes), POSIX_TRACE_CALL_SENDFILE_NP, to, bytes);                       \
	PXT_CALL_WRAP(int, lockf##w, (int fd, int command, off bytes), (fd, command, bytes),       \
	    POSIX_TRACE_CALL_LOCKF_NP, fd, PXT_CALL_NO_SIZE)
AT_A_PLACE(off_t, );
AT_A_PLACE(off64_t, 64);
READS(__read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room));
#define WITH_FLAGS(name, off, number)                                                              \
	PXT_CALL_WRAP(ssize_t, name,                                                               \
	    (int fd, const struct iovec *parts, int count, off at, int flags),                     \
	    (fd, parts, count, at, flags), number, fd, PXT_CALL_NO_SIZE)
WITH_FLAGS(preadv2, off_t, POSIX_TRACE_CALL_READ_NP);
WITH_FLAGS(preadv64v2, off64_t, POSIX_TRACE_CALL_READ_NP);
WITH_FLAGS(pwritev2, off_t, POSIX_TRACE_CALL_WRITE_NP);
WITH_FLAGS(pwritev64v2, off64_t, POSIX_TRACE_CALL_WRITE_NP);

/* ---- Locks on parts of files ---- */

/* Where a function of three arguments finds them is where one of a varying number of them does. */
/* On the stack, the third one may be the caller's own: it is read, never written (futex.c). */
#if defined(__i386__)
#define PARAMETERS void
#define NUMBERS                                                                                    \
	const int *given = __builtin_dwarf_cfa();                                                  \
	int fd = given[0], command = given[1];                                                     \
	void *argument = ((void *const *)given)[2]
#else
#define PARAMETERS int fd, int command, void *argument
#define NUMBERS    _Static_assert(1, "")
#endif
typedef int (*all_of_them)(int fd, int command, void *argument);

static __attribute__((noinline)) int tell(
    int fd, int command, void *argument, all_of_them real, const void *caller)
{
	PXT_CALL_SCOPE call =
	    pxt_call_enter(POSIX_TRACE_CALL_FCNTL_NP, (uint64_t)fd, PXT_CALL_NO_SIZE, caller);
	int result = real(fd, command, argument);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

PXT_WRAP_INLINE int tell_lock(
    int fd, int command, void *argument, all_of_them real, const void *caller)
{
	if ((command == F_SETLKW || command == F_OFD_SETLKW) &&
	    pxt_call_wanted(POSIX_TRACE_CALL_FCNTL_NP, caller))
		return tell(fd, command, argument, real, caller);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		return name_copy(real(fd, command, argument), fd, caller);
	return real(fd, command, argument);
}

#define FCNTL(name)                                                                                \
	PXT_WRAP_REAL_TYPED(int, name, (int fd, int command, ...));                                \
	extern int pxt_file_##name(PARAMETERS) __asm__(PXT_WRAP_SYMBOL(#name));                    \
	PXT_WRAP_EXPORT int pxt_file_##name(PARAMETERS)                                            \
	{                                                                                          \
		NUMBERS;                                                                           \
                                                                                                   \
		return tell_lock(fd, command, argument,                                            \
		    (all_of_them)(uintptr_t)PXT_WRAP_CALL(name), PXT_WRAP_CALLER());               \
	}                                                                                          \
	_Static_assert(1, "")
FCNTL(fcntl);
FCNTL(fcntl64);
#if PXT_TIMES_TWO
FCNTL(__fcntl_time64);
#endif
#endif

#if PXT_GROUP_FILE_IO
/* ---- What waits for the disk ---- */

PXT_CALL_WRAP(int, fsync, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, fdatasync, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, syncfs, (int fd), (fd), POSIX_TRACE_CALL_FSYNC_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sync_file_range, (int fd, off64_t from, off64_t bytes, unsigned flags),
    (fd, from, bytes, flags), POSIX_TRACE_CALL_FSYNC_NP, fd, bytes);
PXT_CALL_WRAP(int, msync, (void *from, size_t bytes, int flags), (from, bytes, flags),
    POSIX_TRACE_CALL_MSYNC_NP, pxt_wrap_address(from), bytes);
#endif

/* ---- Closing ---- */

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

#if PXT_GROUP_FILE_IO

static void tell_close(int fd, int result, const void *caller)
{
	if (pxt_call_wanted(POSIX_TRACE_CALL_CLOSE_NP, caller) &&
	    !(result == 0 && is_noted(fd, -1)))
		pxt_call_tell(
		    POSIX_TRACE_CALL_CLOSE_NP, (uint64_t)fd, PXT_CALL_ERRNO(result), caller);
}

/* The C library closes the number of a stream by itself. */
PXT_WRAPPER(int, fclose, (FILE * stream))
{
	const void *caller = PXT_WRAP_CALLER();
	int saved = errno;
	int fd = stream ? fileno(stream) : -1;
	int result;

	errno = saved;
	result = PXT_WRAP_CALL(fclose)(stream);
	if (fd >= 0)
		tell_close(fd, result, caller);
	return result;
}
#else
PXT_OFF_RETURNS(fd, int, name_copy, int fd, int from, const void *caller);
PXT_OFF(tell_close, int fd, int result, const void *caller);
#endif

PXT_WRAPPER(int, close, (int fd))
{
	const void *caller = PXT_WRAP_CALLER();
	int result;

	if (is_own(fd)) {
		errno = EBADF;
		return -1;
	}
	pxt_timer_forget((unsigned)fd, (unsigned)fd);
	result = PXT_WRAP_CALL(close)(fd);
	tell_close(fd, result, caller);
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
PXT_WRAPPER(int, close_range, (unsigned first, unsigned last, int flags))
{
	unsigned from = first;

	if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC))
		pxt_timer_forget(first, last);
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

PXT_WRAPPER(void, closefrom, (int first))
{
	int from = first < 0 ? 0 : first;
	int next;

	pxt_timer_forget((unsigned)from, UINT_MAX);
	for (; (next = next_own(from)) != INT_MAX; from = next + 1)
		if (next > from)
			(void)PXT_WRAP_CALL(close_range)((unsigned)from, (unsigned)next - 1, 0);
	PXT_WRAP_CALL(closefrom)(from);
}

PXT_WRAPPER(int, dup2, (int from, int to))
{
	if (is_own(to) && from != to) {
		errno = EMFILE;
		return -1;
	}
	if (from != to)
		pxt_timer_forget((unsigned)to, (unsigned)to);
	return name_copy(PXT_WRAP_CALL(dup2)(from, to), from, PXT_WRAP_CALLER());
}

PXT_WRAPPER(int, dup3, (int from, int to, int flags))
{
	if (is_own(to) && from != to) {
		errno = EMFILE;
		return -1;
	}
	pxt_timer_forget((unsigned)to, (unsigned)to);
	return name_copy(PXT_WRAP_CALL(dup3)(from, to, flags), from, PXT_WRAP_CALLER());
}
