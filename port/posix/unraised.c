/* SPDX-License-Identifier: MIT */
/* unraised.c - signals of the library's own writes are held back and taken away; see quiet.h. */
#define _GNU_SOURCE
#include "port/posix/quiet.h"

#include "port/port.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
	(void)sigpending(&unraised->pending);
	(void)pthread_sigmask(SIG_BLOCK, &held, &unraised->mask);
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
