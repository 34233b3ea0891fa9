/* SPDX-License-Identifier: MIT */
/*
 * kill.c - signals that the program sends: told before, as they may end it.
 *
 * The C library's pthread_kill() of before 2021 says of a thread that has ended that there is none.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/ages.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

PXT_AGES(pthread_kill, "GLIBC_2.34");
PXT_WRAP_REAL(kill);
PXT_WRAP_REAL(killpg);
PXT_WRAP_REAL(raise);
PXT_WRAP_REAL(tgkill);
PXT_WRAP_REAL(sigqueue);
PXT_WRAP_REAL(pthread_sigqueue);

struct tale {
	uint8_t what;
	int32_t signo;
	uint32_t sender;
	uint64_t address;
} __attribute__((packed));

/* 0 is no signal: it asks whether there is such a process. */
static void tell(int signo, uint64_t to, const void *caller)
{
	struct tale data = { POSIX_TRACE_SIGNAL_SENT_NP, signo, 0, to };

	if (signo == 0 || !pxt_wrap_wanted(POSIX_TRACE_SIGNAL_NP, caller))
		return;
	data.sender = (uint32_t)getpid();
	posix_trace_system_event_np(POSIX_TRACE_SIGNAL_NP, &data, sizeof(data), caller);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(kill)(pid_t process, int signo)
{
	tell(signo, (uint64_t)(int64_t)process, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(kill)(process, signo);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(killpg)(pid_t group, int signo)
{
	tell(signo, (uint64_t) - (int64_t)group, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(killpg)(group, signo);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(raise)(int signo)
{
	tell(signo, (uint64_t)gettid(), PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(raise)(signo);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(tgkill)(pid_t process, pid_t thread, int signo)
{
	tell(signo, (uint64_t)thread, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(tgkill)(process, thread, signo);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(sigqueue)(pid_t process, int signo, const union sigval value)
{
	tell(signo, (uint64_t)process, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(sigqueue)(process, signo, value);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_sigqueue)(
    pthread_t thread, int signo, const union sigval value)
{
	tell(signo, (uint64_t)thread, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(pthread_sigqueue)(thread, signo, value);
}

PXT_WRAP_EXPORT int PXT_AGES_NAME(pthread_kill)(pthread_t thread, int signo)
{
	tell(signo, (uint64_t)thread, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(pthread_kill)(thread, signo);
}

#if PXT_AGES_TWO
PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(pthread_kill)(pthread_t thread, int signo)
{
	tell(signo, (uint64_t)thread, PXT_WRAP_CALLER());
	return PXT_AGES_FORMER_CALL(pthread_kill)(thread, signo);
}
#endif
