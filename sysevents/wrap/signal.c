/* SPDX-License-Identifier: MIT */
/*
 * signal.c - signals: handlers, their begin and end; signals that the program sends.
 *
 * The system calls a function of ours, which calls the program's handler.  There are two kinds of
 * handlers, and each has a table of its own: so the function that the system calls finds a handler of
 * its kind, also while another thread changes it.  A handler's entry is written before the system knows
 * of it.  Calls that return a handler return the program's own.
 *
 * SA_RESETHAND, masks and stacks are the system's: nothing of them is known here.  A child of vfork() has its
 * parent's memory: there the program's handler is given to the system as it is.
 *
 * A signal is recorded before it is sent, as it may end the program.  The C library's pthread_kill() of
 * before 2021 fails with ESRCH for a thread that has ended (names.h).
 *
 *   concurrency: any thread, signal handlers.  If two threads set the handler of one signal at once,
 *   each may get the other's; the later one is in force.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/process.h"

#include <signal.h>
#include <unistd.h>

#define SIGNALS 65u

typedef void (*plain)(int signo);
typedef void (*informed)(int signo, siginfo_t *info, void *context);

static plain plain_of[SIGNALS];
static informed informed_of[SIGNALS];

/* ---- A handler runs ---- */

struct tale {
	uint8_t what;
	int32_t signo;
	uint32_t sender;
	uint64_t address;
} __attribute__((packed));

static void tell(uint8_t what, int signo, uint32_t sender, uint64_t handler)
{
	const struct tale data = { what, signo, sender, handler };

	if (posix_trace_wanted_np(POSIX_TRACE_SIGNAL_NP))
		posix_trace_system_event_np(
		    POSIX_TRACE_SIGNAL_NP, &data, sizeof(data), (const void *)(uintptr_t)handler);
}

static void run_plain(int signo, uint32_t sender)
{
	plain handler = __atomic_load_n(&plain_of[signo], __ATOMIC_RELAXED);

	tell(POSIX_TRACE_SIGNAL_BEGIN_NP, signo, sender, (uint64_t)(uintptr_t)handler);
	handler(signo);
	tell(POSIX_TRACE_SIGNAL_END_NP, signo, sender, (uint64_t)(uintptr_t)handler);
}

static void on_plain(int signo)
{
	run_plain(signo, 0);
}

/* The sender, if it was sent by a call; faults have none. */
static uint32_t sender_of(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL
	           ? (uint32_t)info->si_pid
	           : 0;
}

static void on_informed(int signo, siginfo_t *info, void *context)
{
	informed handler = __atomic_load_n(&informed_of[signo], __ATOMIC_RELAXED);
	uint32_t sender = sender_of(info);

	tell(POSIX_TRACE_SIGNAL_BEGIN_NP, signo, sender, (uint64_t)(uintptr_t)handler);
	handler(signo, info, context);
	tell(POSIX_TRACE_SIGNAL_END_NP, signo, sender, (uint64_t)(uintptr_t)handler);
}

/*
 * Has a handler of the plain kind called with who sent the signal.  The frame of a handler is the same for both
 * kinds on machines with 64 bits.
 */
#if defined(__LP64__)
static void on_sent(int signo, siginfo_t *info, PXT_UNUSED void *context)
{
	run_plain(signo, sender_of(info));
}

/* With SA_RESETHAND the system forgets the handler, not the flag. */
static void put_plain(struct sigaction *action)
{
	if (action->sa_flags & (int)SA_RESETHAND) {
		action->sa_handler = on_plain;
		return;
	}
	action->sa_sigaction = on_sent;
	action->sa_flags |= SA_SIGINFO;
}
#else
/* No handler of anybody's. */
#define on_sent ((informed)NULL)

static void put_plain(struct sigaction *action)
{
	action->sa_handler = on_plain;
}
#endif

/* ---- A handler is set ---- */

/* A function, not one of the numbers that say what shall happen without one. */
static bool is_function(plain handler)
{
	return (uintptr_t)handler > 2u && handler != SIG_ERR;
}

static bool is_number(int signo)
{
	return signo > 0 && (unsigned)signo < SIGNALS && signo != SIGKILL && signo != SIGSTOP;
}

/* What was the program's before a call, that the system does not know of. */
struct former {
	plain plain;
	informed informed;
};

static struct former former_of(int signo)
{
	return (struct former){ __atomic_load_n(&plain_of[signo], __ATOMIC_RELAXED),
		__atomic_load_n(&informed_of[signo], __ATOMIC_RELAXED) };
}

static plain own_plain(plain handler, const struct former *former)
{
	if (handler == on_plain)
		return former->plain;
	if ((void (*)(void))handler == (void (*)(void))on_sent)
		return former->plain;
	/* As signal() returns a handler of the other kind. */
	return (void (*)(void))handler == (void (*)(void))on_informed
	           ? (plain)(void (*)(void))former->informed
	           : handler;
}

static void own_action(struct sigaction *action, const struct former *former)
{
	if (action->sa_flags & SA_SIGINFO) {
		if (action->sa_sigaction == on_informed) {
			action->sa_sigaction = former->informed;
		} else if (action->sa_sigaction == on_sent) {
			action->sa_handler = former->plain;
			action->sa_flags &= ~SA_SIGINFO;
		}
	} else {
		action->sa_handler = own_plain(action->sa_handler, former);
	}
}

/* @action as the system shall have it. */
static void put_between(int signo, struct sigaction *action)
{
	if (action->sa_flags & SA_SIGINFO) {
		__atomic_store_n(&informed_of[signo], action->sa_sigaction, __ATOMIC_RELAXED);
		action->sa_sigaction = on_informed;
	} else {
		__atomic_store_n(&plain_of[signo], action->sa_handler, __ATOMIC_RELAXED);
		put_plain(action);
	}
}

PXT_WRAPPER(int, sigaction, (int signo, const struct sigaction *action, struct sigaction *old))
{
	struct sigaction ours;
	struct former former;
	int result;

	if (!is_number(signo) || pxt_wrap_is_own(PXT_WRAP_CALLER()))
		return PXT_WRAP_CALL(sigaction)(signo, action, old);
	former = former_of(signo);
	if (action && is_function(action->sa_handler) && pxt_process_is_own()) {
		ours = *action;
		put_between(signo, &ours);
		action = &ours;
	}
	result = PXT_WRAP_CALL(sigaction)(signo, action, old);
	if (result == 0 && old)
		own_action(old, &former);
	return result;
}

/* ---- The older functions ---- */

static plain set(int signo, plain handler, plain (*real)(int signo, plain handler))
{
	struct former former;
	plain old;

	if (!is_number(signo))
		return real(signo, handler);
	former = former_of(signo);
	if (is_function(handler) && pxt_process_is_own()) {
		__atomic_store_n(&plain_of[signo], handler, __ATOMIC_RELAXED);
		handler = on_plain;
	}
	old = real(signo, handler);
	return old == SIG_ERR ? old : own_plain(old, &former);
}

#define SETS(name, real)                                                                           \
	PXT_WRAPPER(plain, name, (int signo, plain handler))                                       \
	{                                                                                          \
		return set(signo, handler, PXT_WRAP_CALL(real));                                   \
	}                                                                                          \
	_Static_assert(1, "")
SETS(signal, signal);
SETS(__sysv_signal, __sysv_signal);
SETS(sigset, sigset);

/* Names of the same. */
SETS(bsd_signal, signal);
SETS(ssignal, signal);
SETS(sysv_signal, __sysv_signal);

/* ---- Sending ---- */

PXT_AGES(pthread_kill, "GLIBC_2.34");

/* 0 is no signal: it asks whether there is such a process. */
static void tell_sent(int signo, uint64_t to, const void *caller)
{
	struct tale data = { POSIX_TRACE_SIGNAL_SENT_NP, signo, 0, to };

	if (signo == 0 || !pxt_wrap_wanted(POSIX_TRACE_SIGNAL_NP, caller))
		return;
	data.sender = (uint32_t)getpid();
	posix_trace_system_event_np(POSIX_TRACE_SIGNAL_NP, &data, sizeof(data), caller);
}

#define SENDS_AS(exported, real, parameters, arguments, to)                                        \
	PXT_WRAP_EXPORT int exported parameters                                                    \
	{                                                                                          \
		tell_sent(signo, (uint64_t)(to), PXT_WRAP_CALLER());                               \
		return real arguments;                                                             \
	}                                                                                          \
	_Static_assert(1, "")
#define SENDS(name, parameters, arguments, to)                                                     \
	PXT_WRAP_REAL(name);                                                                       \
	SENDS_AS(PXT_WRAP_NAME(name), PXT_WRAP_CALL(name), parameters, arguments, to)
SENDS(kill, (pid_t process, int signo), (process, signo), (int64_t)process);
SENDS(killpg, (pid_t group, int signo), (group, signo), -(int64_t)group);
SENDS(raise, (int signo), (signo), gettid());
SENDS(tgkill, (pid_t process, pid_t thread, int signo), (process, thread, signo), thread);
SENDS(sigqueue, (pid_t process, int signo, const union sigval value), (process, signo, value),
    process);
SENDS(pthread_sigqueue, (pthread_t thread, int signo, const union sigval value),
    (thread, signo, value), thread);
SENDS_AS(PXT_AGES_NAME(pthread_kill), PXT_WRAP_CALL(pthread_kill), (pthread_t thread, int signo),
    (thread, signo), thread);
#if PXT_AGES_TWO
SENDS_AS(PXT_AGES_FORMER_NAME(pthread_kill), PXT_AGES_FORMER_CALL(pthread_kill),
    (pthread_t thread, int signo), (thread, signo), thread);
#endif
