/* SPDX-License-Identifier: MIT */
/*
 * crash.c - handlers of fatal signals, on Linux.
 *
 * In the handler, here: sigaction, raise, fstat, fcntl, close (async-signal-safe by POSIX),
 * pthread_self (a register), and system calls without a library around them: pipe2, dup3, futex to wait,
 * gettid, rt_tgsigqueueinfo.  What tell() calls: tolog/seal.c.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_log.h"

#include "port/posix/owncalls.h"
#include "port_atomic.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* So long does a thread wait for others that end their logs; then its signal ends the process. */
#define WAIT_NS  5000000000u
#define SLICE_NS 1000000u

/* Faults, and then what people end programs with. */
static const int usual[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGHUP,
	SIGINT, SIGQUIT, SIGTERM };
#define FAULTS 7u
/* Their default is to stop the process, or nothing; and what cannot be caught. */
static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU,
	SIGSTOP, SIGKILL };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A place once taken is its signal's to the end: the handler may look for it at any time. */
static struct watched {
	volatile sig_atomic_t number;
	volatile sig_atomic_t on;
	struct sigaction before;
} watched[PXT_CRASH_SIGNALS] PXT_SELDOM;

static pid_t owner; /* the process that watches; a child of vfork() has its parent's memory */
static struct {
	void (*tell)(const struct pxt_crash *crash);
} told;
static _Atomic uint32_t inside; /* threads that have a crash to tell of */
static _Atomic uint32_t teller; /* the thread that does it now, by its number; 0: none */

/* ---- In the handler ---- */

#if defined(__x86_64__)
static uint64_t instruction(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}
#elif defined(__i386__)
static uint64_t instruction(const ucontext_t *context)
{
	return (uint32_t)context->uc_mcontext.gregs[REG_EIP];
}
#elif defined(__aarch64__)
static uint64_t instruction(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}
#elif defined(__arm__)
static uint64_t instruction(const ucontext_t *context)
{
	return context->uc_mcontext.arm_pc;
}
#else
static uint64_t instruction(PXT_UNUSED const ucontext_t *context)
{
	return 0;
}
#endif

/* NULL: it has none. */
static struct watched *place_of(int number)
{
	for (struct watched *at = watched; at < watched + PXT_CRASH_SIGNALS; at++) {
		if (at->number == number)
			return at;
	}
	return NULL;
}

static bool is_fault(int number)
{
	for (size_t i = 0; i < FAULTS; i++) {
		if (usual[i] == number)
			return number != SIGABRT;
	}
	return false;
}

static void describe(
    struct pxt_crash *crash, int number, const siginfo_t *info, const ucontext_t *context)
{
	memset(crash, 0, sizeof(*crash));
	crash->signal = (uint32_t)number;
	crash->tid = (int32_t)syscall(SYS_gettid);
	if (context)
		crash->at = instruction(context);
	if (!info)
		return;
	crash->code = info->si_code;
	if (info->si_code <= 0)
		crash->sender = (int32_t)info->si_pid;
	else if (is_fault(number))
		crash->address = (uintptr_t)info->si_addr;
}

/* One after the other.  False: it took too long, or this thread has crashed in its own telling. */
static bool begin_telling(uint32_t self)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, WAIT_NS);
	do {
		uint32_t nobody = 0;

		if (atomic_compare_exchange_strong_explicit(
		        &teller, &nobody, self, memory_order_acquire, memory_order_relaxed))
			return true;
		if (nobody == self)
			return false;
	} while (pxt_patience_pause(&patience, SLICE_NS));
	return false;
}

/* The signal of the first one would end the process before the last one has told. */
static void wait_for_others(void)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, WAIT_NS);
	while (atomic_load_explicit(&inside, memory_order_acquire) &&
	       pxt_patience_pause(&patience, SLICE_NS))
		;
}

static void tell_in_turn(int number, const siginfo_t *info, const ucontext_t *context)
{
	struct pxt_crash crash;

	describe(&crash, number, info, context);
	(void)atomic_fetch_add_explicit(&inside, 1u, memory_order_relaxed);
	if (begin_telling((uint32_t)crash.tid)) {
		told.tell(&crash);
		atomic_store_explicit(&teller, 0, memory_order_release);
		(void)atomic_fetch_sub_explicit(&inside, 1u, memory_order_release);
		wait_for_others();
	} else {
		(void)atomic_fetch_sub_explicit(&inside, 1u, memory_order_release);
	}
}

/*
 * To this thread, as the system told of it; it is delivered on return from here, with the registers
 * and the mask of before.  A fault that cannot be sent again comes by itself: its instruction does.
 */
static void hand_on(struct watched *signal, siginfo_t *info)
{
	int number = (int)signal->number;
	struct sigaction before = signal->before;

	if (getpid() == owner)
		signal->on = 0;
	(void)sigaction(number, &before, NULL);
	if (!info || syscall(SYS_rt_tgsigqueueinfo, (long)getpid(), syscall(SYS_gettid),
	                 (long)number, info) != 0)
		(void)raise(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	PXT_KEEP_ERRNO();
	struct watched *signal = place_of(number);

	if (!signal)
		return;
	if (signal->on)
		tell_in_turn(number, info, context);
	hand_on(signal, info);
}

/* An end of a pipe that cannot be written to takes the descriptor's place. */
void pxt_port_log_cut_off(struct pxt_port_log *log)
{
	PXT_KEEP_ERRNO();
	int ends[2];

	log->path = NULL;
	pxt_lows_begin();
	/* What the program has at that number since is not the library's to close. */
	if (pxt_port_log_kept(log) && pipe2(ends, O_CLOEXEC) == 0) {
		(void)dup3(ends[0], log->fd, O_CLOEXEC);
		(void)close(ends[0]);
		(void)close(ends[1]);
	}
	pxt_lows_end();
}

/* ---- Watching ---- */

static bool among(int number, const int *signals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (signals[i] == number)
			return true;
	}
	return false;
}

/* Signals that end no program are not watched. */
static bool can_be_watched(int number)
{
	struct sigaction now;

	return number > 0 && number < _NSIG && !among(number, harmless, COUNT(harmless)) &&
	       sigaction(number, NULL, &now) == 0;
}

/* The program may have set its own action since. */
static bool is_ours(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == on_signal;
}

/* A forked child, in which some of the parent's handlers may have run already. */
void pxt_port_crash_inherit(void)
{
	pid_t self = getpid();

	if (owner == self)
		return;
	for (struct watched *at = watched; at < watched + PXT_CRASH_SIGNALS; at++)
		at->on = at->on && is_ours((int)at->number);
	owner = self;
}

/* Another handler that was set since, and may call ours, stays. */
static void give_back(struct watched *signal)
{
	signal->on = 0;
	if (is_ours((int)signal->number))
		(void)sigaction((int)signal->number, &signal->before, NULL);
}

static void take(struct watched *signal)
{
	int number = (int)signal->number;
	struct sigaction ours;

	if (signal->on || sigaction(number, NULL, &signal->before) != 0)
		return;
	if (signal->before.sa_handler == SIG_IGN && !is_fault(number))
		return;
	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_signal;
	/* A call that is interrupted goes on, or not, as it would without us. */
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (signal->before.sa_flags & SA_RESTART);
	(void)sigfillset(&ours.sa_mask);
	/* Before: the handler may run before sigaction() returns. */
	signal->on = 1;
	if (sigaction(number, &ours, NULL) != 0)
		signal->on = 0;
}

/* Places for all of @signals, or an error. */
static int find_places(const int *signals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct watched *place;

		if (!can_be_watched(signals[i]))
			return EINVAL;
		place = place_of(signals[i]);
		if (!place)
			place = place_of(0);
		if (!place)
			return ENOMEM;
		place->number = signals[i];
	}
	return 0;
}

int pxt_port_crash_watch(
    int which, const int *signals, size_t count, void (*tell)(const struct pxt_crash *crash))
{
	static const size_t usual_counts[] = { [POSIX_TRACE_SEAL_NONE_NP] = 0,
		[POSIX_TRACE_SEAL_FAULTS_NP] = FAULTS,
		[POSIX_TRACE_SEAL_ENDS_NP] = COUNT(usual) };
	size_t usual_count = usual_counts[which];
	PXT_KEEP_ERRNO();
	int error = find_places(usual, usual_count);

	if (!error)
		error = find_places(signals, count);
	if (!error) {
		pxt_port_crash_inherit();
		told.tell = tell;
		for (struct watched *at = watched; at < watched + PXT_CRASH_SIGNALS; at++) {
			if (among((int)at->number, usual, usual_count) ||
			    among((int)at->number, signals, count))
				take(at);
			else if (at->on)
				give_back(at);
		}
	}
	return error;
}
