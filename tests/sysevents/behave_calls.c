/* SPDX-License-Identifier: MIT */
/* behave_calls.c - what wrappers pass on, or tell: modes, limits, the kernel's locks, signals. */
#define _GNU_SOURCE
#include "behave.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Modes ---- */

static void say_mode(const char *how, int fd)
{
	struct stat is = { 0 };

	SAY("%s: %d\n", how, fstat(fd, &is));
	SAY("mode %o\n", (unsigned)is.st_mode & 07777u);
	(void)close(fd);
}

void behave_modes(void)
{
	(void)umask(0);
	(void)unlink("made");
	say_mode("made", open("made", O_CREAT | O_RDWR, 0610));
	(void)unlink("made");
	say_mode("made there", openat(AT_FDCWD, "made", O_CREAT | O_RDWR, 0620));
	(void)unlink("made");
	say_mode("without a name", open(".", O_TMPFILE | O_RDWR, 0630));
	say_mode("without a name there", openat(AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0640));
}

/* ---- Limits of waits: what is waited for is there ---- */

void behave_limits(void)
{
	struct timespec limit = { 1, 20999999 };
	struct timeval limit_too = { 1, 20999 };
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd one = { .events = POLLIN };
	int ends[2];
	int set = epoll_create1(0);
	fd_set in;

	if (pipe(ends) != 0 || write(ends[1], "", 1) != 1)
		return;
	one.fd = ends[0];
	ASK(poll(&one, 1, 1020));
	ASK(ppoll(&one, 1, &limit, NULL));
	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	ASK(select(ends[0] + 1, &in, NULL, NULL, &limit_too));
	ASK(pselect(ends[0] + 1, &in, NULL, NULL, &limit, NULL));
	ASK(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	ASK(epoll_wait(set, &event, 1, 1020));
	(void)close(set);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* ---- A lock of the kernel's with priority inheritance: its word is the holder's number ---- */

void behave_inherited(void)
{
	static int word;

	ASK(syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	/* The holder would wait for itself. */
	ASK(syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	ASK(syscall(SYS_futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
}

/* ---- The signal with the highest number ---- */

static volatile sig_atomic_t ran;

static void handler(int signo)
{
	ran = signo;
}

void behave_last_signal(void)
{
	struct sigaction action = { .sa_handler = handler };

	ASK(sigaction(SIGRTMAX, &action, NULL));
	(void)raise(SIGRTMAX);
	SAY("ran %d\n", ran == SIGRTMAX);
}
