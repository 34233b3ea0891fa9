/* SPDX-License-Identifier: MIT */
/*
 * owncalls.c - errno, cancellation, signals and descriptors around the library's own system calls (owncalls.h); this
 * process' number, which others it may trace, and how many CPUs there can be.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/posix/owncalls.h"
#include "port/posix/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

PXT_TLS uint32_t pxt_port_untold;

struct pxt_owncalls pxt_owncalls_begin(void)
{
	struct pxt_owncalls kept = { errno, 0 };

	pxt_port_untold_begin();
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &kept.cancel);
	return kept;
}

void pxt_owncalls_end(const struct pxt_owncalls *kept)
{
	int cancel;

	(void)pthread_setcancelstate(kept->cancel, &cancel);
	errno = kept->error;
	pxt_port_untold_end();
}

/* ---- Numbers 0 to 2 stay the program's ---- */

static __thread struct {
	unsigned pairs; /* begun, and not ended */
	bool held[PXT_FIRST_DESCRIPTOR];
} lows __attribute__((tls_model("initial-exec")));

void pxt_lows_begin(void)
{
	if (lows.pairs++)
		return;
	for (int low = 0; low < PXT_FIRST_DESCRIPTOR; low++) {
		int fd = fcntl(low, F_GETFD) < 0 ? open("/", O_PATH | O_CLOEXEC) : -1;

		lows.held[low] = fd == low;
		if (fd >= 0 && fd != low)
			(void)close(fd);
	}
}

/* What the program has put there meanwhile is not closed. */
void pxt_lows_end(void)
{
	if (--lows.pairs)
		return;
	for (int low = 0; low < PXT_FIRST_DESCRIPTOR; low++) {
		if (lows.held[low] && (fcntl(low, F_GETFL) & O_PATH) != 0)
			(void)close(low);
	}
}

int pxt_descriptor_up(int fd)
{
	int made;

	if (fd < 0 || fd >= PXT_FIRST_DESCRIPTOR)
		return fd;
	made = fcntl(fd, F_DUPFD_CLOEXEC, PXT_FIRST_DESCRIPTOR);
	(void)close(fd);
	return made;
}

int pxt_descriptor_open(int folder, const char *path, int flags, unsigned mode)
{
	int error;
	int fd;

	pxt_lows_begin();
	fd = pxt_descriptor_up(openat(folder, path, flags | O_CLOEXEC, (mode_t)mode));
	error = errno;
	pxt_lows_end();
	errno = error;
	return fd;
}

long pxt_descriptor_text(const char *path, char *text, size_t room)
{
	int fd = pxt_descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
	long got = -1;

	if (fd >= 0) {
		got = (long)read(fd, text, room - 1);
		(void)close(fd);
	}
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? got : -1;
}

/* ---- Who this process is, and whom it may trace; how many CPUs there can be ---- */

int32_t pxt_port_pid(void)
{
	return (int32_t)getpid();
}

/* kill() also says EPERM for processes that exist and may not be signalled: they exist. */
int pxt_port_may_trace(int32_t pid)
{
	PXT_KEEP_ERRNO();

	if (pid == pxt_port_pid())
		return 0;
	if (pid < 0)
		return ESRCH;
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH ? ESRCH : EPERM;
}

/* How many CPUs there can be. */

/*
 * Configured, not on-line ones: a CPU that is plugged in later must not share a lane that was
 * meant for one.  Their number does not change, and asking the system opens a file.
 */
static _Atomic unsigned known;

void pxt_cpus_told(uint64_t count)
{
	if (count >= 1 && count <= UINT32_MAX)
		atomic_store_explicit(&known, (unsigned)count, memory_order_relaxed);
}

unsigned pxt_port_cpus(void)
{
	unsigned cpus = atomic_load_explicit(&known, memory_order_relaxed);

	if (!cpus) {
		PXT_KEEP_ERRNO();
		long count = sysconf(_SC_NPROCESSORS_CONF);

		cpus = count > 0 ? (unsigned)count : 1u;
		atomic_store_explicit(&known, cpus, memory_order_relaxed);
	}
	return cpus;
}

/* ---- Signals of the library's own writes are held back and taken away ---- */

/* A terminal takes a write in the background from a thread that has SIGTTOU blocked. */
static void all(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGPIPE);
	(void)sigaddset(set, SIGXFSZ);
	(void)sigaddset(set, SIGTTOU);
}

/* A thread of the library's own has them all blocked, and nobody waits for one there. */
static bool is_own_thread(void)
{
	return (pxt_port_untold & PXT_PORT_UNTOLD_OWN) != 0;
}

void pxt_unraised_begin(struct pxt_unraised *unraised)
{
	sigset_t held;

	if (is_own_thread())
		return;
	all(&held);
	(void)sigemptyset(&unraised->pending);
	(void)pthread_sigmask(SIG_BLOCK, &held, &unraised->mask);
	/* What the program does not block is not left pending. */
	if (sigismember(&unraised->mask, SIGPIPE) || sigismember(&unraised->mask, SIGXFSZ))
		(void)sigpending(&unraised->pending);
}

/*
 * The system sends these two to the thread that writes.  One that was pending before is the program's.  By a
 * system call: the C library's function is a cancellation point.
 */
static void forget_raised(const sigset_t *before)
{
	static const int raised[] = { SIGPIPE, SIGXFSZ };
	const struct timespec none = { 0, 0 };
	sigset_t mine;

	(void)sigemptyset(&mine);
	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++) {
		if (!sigismember(before, raised[i]))
			(void)sigaddset(&mine, raised[i]);
	}
	while (syscall(SYS_rt_sigtimedwait, &mine, NULL, &none, _NSIG / 8) > 0)
		;
}

void pxt_unraised_end(const struct pxt_unraised *unraised, bool failed)
{
	if (is_own_thread())
		return;
	if (failed)
		forget_raised(&unraised->pending);
	(void)pthread_sigmask(SIG_SETMASK, &unraised->mask, NULL);
}

struct iovec pxt_unraised_piece(const char *text)
{
	union {
		const char *from;
		void *to;
	} text_of = { text };

	return (struct iovec){ text_of.to, strlen(text) };
}

void pxt_unraised_tell(const struct iovec *line, int count)
{
	struct pxt_unraised unraised;

	pxt_unraised_begin(&unraised);
	pxt_unraised_end(&unraised, writev(STDERR_FILENO, line, count) < 0);
}
