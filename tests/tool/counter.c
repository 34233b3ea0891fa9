/* SPDX-License-Identifier: MIT */
/*
 * counter.c - a library to be preloaded behind ours: counts what reaches the C library, as an
 * independent witness (programs.sh).
 *
 * Each process counts in a file of its own in the folder that COUNTER names, PROGRAM.PID, which is the memory of
 * its counters: so they are right however it ends.  Eight numbers of 64 bits: locks, tries, posts, waits,
 * writes, sleeps, futexes, and 0.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <trace_hooks_np.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static struct counts {
	unsigned long locks;
	unsigned long tries;
	unsigned long posts; /* of semaphores */
	unsigned long waits; /* for them, tries included */
	unsigned long writes;
	unsigned long sleeps;
	unsigned long futexes; /* waits and wake-ups by syscall() */
	unsigned long none;
} unseen;

/* Before the first constructor, and without a folder, nobody looks. */
static struct counts *count = &unseen;

#pragma GCC diagnostic ignored "-Wredundant-decls"
extern _PXT_WANTED_TYPE _pxt_wanted[_PXT_EVENT_IDS] __attribute__((weak));

/*
 * Begins with the first call while the library records locks, and does not look again: to attach costs calls of the
 * program's allocator, which has locks.
 */
static bool has_begun;

static void add(unsigned long *to)
{
	if (!has_begun && _pxt_wanted != NULL)
		has_begun = _pxt_wanted[POSIX_TRACE_MUTEX_LOCK_NP] != 0;
	if (has_begun)
		(void)__atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

/* The next one of that name, as the type of the variable @real. */
#define REAL(real, name)                                                                           \
	union {                                                                                    \
		void *object;                                                                      \
		__typeof__(&(name)) function;                                                      \
	} real = { dlsym(RTLD_NEXT, #name) }

#define COUNTED(type, name, parameters, arguments, what)                                           \
	SEEN type name parameters                                                                  \
	{                                                                                          \
		REAL(real, name);                                                                  \
                                                                                                   \
		add(&count->what);                                                                 \
		return real.function arguments;                                                    \
	}                                                                                          \
	_Static_assert(1, "")

COUNTED(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), locks);
COUNTED(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), tries);
COUNTED(int, sem_post, (sem_t * semaphore), (semaphore), posts);
COUNTED(int, sem_wait, (sem_t * semaphore), (semaphore), waits);
COUNTED(int, sem_trywait, (sem_t * semaphore), (semaphore), waits);
COUNTED(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const struct timespec *limit),
    (semaphore, clock, limit), waits);
COUNTED(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes), writes);
COUNTED(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at),
    writes);
COUNTED(ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at),
    (fd, from, bytes, at), writes);
COUNTED(ssize_t, writev, (int fd, const struct iovec *parts, int parts_count),
    (fd, parts, parts_count), writes);
COUNTED(ssize_t, pwritev, (int fd, const struct iovec *parts, int parts_count, off_t at),
    (fd, parts, parts_count, at), writes);
COUNTED(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest), sleeps);
COUNTED(int, clock_nanosleep,
    (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
    (clock, flags, time, rest), sleeps);
COUNTED(int, usleep, (useconds_t us), (us), sleeps);
COUNTED(unsigned, sleep, (unsigned seconds), (seconds), sleeps);

/* The library's own: whose call it is, the wrapper before this one leaves as it was. */
static bool is_ours(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "libptrace.so");
}

SEEN long syscall(long number, ...)
{
	REAL(real, syscall);
	long words[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && !is_ours(__builtin_return_address(0))) {
		long what = words[1] & FUTEX_CMD_MASK;

		if (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_WAKE)
			add(&count->futexes);
	}
	return real.function(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/* A process, or a child of fork(), from now on. */
static void begin(void)
{
	const char *folder = getenv("COUNTER");
	char path[512];
	void *memory;
	int fd;

	count = &unseen;
	has_begun = false;
	if (!folder)
		return;
	(void)snprintf(
	    path, sizeof path, "%s/%s.%d", folder, program_invocation_short_name, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof *count) == 0) {
		memory = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED)
			count = memory;
	}
	(void)close(fd);
}

static __attribute__((constructor)) void start(void)
{
	(void)pthread_atfork(NULL, NULL, begin);
	begin();
}

/* ---- Up to exit() ---- */

typedef int (*main_function)(int words_count, char **words, char **env);

static main_function program;

static void end(void)
{
	count = &unseen;
}

/* After what the program and ours have for their ends. */
static int begin_program(int words_count, char **words, char **env)
{
	(void)atexit(end);
	return program(words_count, words, env);
}

extern int __libc_start_main(main_function function, int words_count, char **words,
    void (*init)(void), void (*fini)(void), void (*end_of_loader)(void), void *stack);

SEEN int __libc_start_main(main_function function, int words_count, char **words,
    void (*init)(void), void (*fini)(void), void (*end_of_loader)(void), void *stack)
{
	union {
		void *object;
		__typeof__(&__libc_start_main) function;
	} real = { dlsym(RTLD_NEXT, "__libc_start_main") };

	program = function;
	return real.function(begin_program, words_count, words, init, fini, end_of_loader, stack);
}
