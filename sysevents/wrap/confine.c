/* SPDX-License-Identifier: MIT */
/*
 * confine.c - calls that take away what recording or attaching needs, and prctl(PR_SET_NAME).
 *
 * Without the time stamp counter no event can be stamped: recording ends before.  A filter may allow
 * the program's own system calls only: threads that begin later have no names.  Memory that the program
 * locks is limited, and ours counts: it is freed if both exceed the limit.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Others have fewer arguments, and what would be the second is not looked at. */
static bool is_looked_at(long option)
{
#ifdef PR_SET_TSC
	if (option == PR_SET_TSC)
		return true;
#endif
	return option == PR_SET_NAME || option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;
}

static void filter(void)
{
	pxt_start_now();
	pxt_process_confined = true;
	pxt_wrap_wishes.stack_quiet = true;
}

static void before_prctl(long option, long first, const void *caller)
{
	if (option == PR_SET_NAME && first && pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, caller))
		pxt_process_tell_name(pthread_self(), (const char *)first, caller);
	else if (option == PR_SET_SECCOMP && first == SECCOMP_MODE_STRICT)
		pxt_start_end("seccomp strict mode");
#ifdef PR_SET_TSC
	else if (option == PR_SET_TSC && first == PR_TSC_SIGSEGV)
		pxt_start_end("PR_SET_TSC: without its counter there are no times");
#endif
	else if (option == PR_SET_SECCOMP)
		filter();
	else if (option == PR_SET_NO_NEW_PRIVS)
		pxt_start_now(); /* what comes before a filter */
}

static bool makes_process(long number)
{
#ifdef SYS_vfork
	if (number == SYS_vfork)
		return true;
#endif
#ifdef SYS_clone3
	if (number == SYS_clone3)
		return true;
#endif
	return number == SYS_clone;
}

/*
 * Another user, another file system or network: the recorder cannot be reached from there.  A limit: there may be
 * neither descriptors nor memory for it.
 */
static bool leaves(long number)
{
	static const long numbers[] = { SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid,
		SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_chroot, SYS_unshare,
		SYS_setns, SYS_pivot_root,
#ifdef SYS_setrlimit
		SYS_setrlimit,
#endif
		SYS_prlimit64 };

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (number == numbers[i])
			return true;
	return false;
}

bool pxt_process_looks(long number)
{
	return makes_process(number) || number == SYS_prctl || number == SYS_seccomp ||
	       (leaves(number) && pxt_start_waits());
}

/* libseccomp asks by a flag that does not exist whether there is such a call. */
void pxt_process_before_syscall(long number, long first, long second, const void *caller)
{
	if (makes_process(number))
		pxt_process_lent = true;
	else if (number == SYS_prctl)
		before_prctl(first, second, caller);
	else if (number == SYS_seccomp && first == SECCOMP_SET_MODE_STRICT && second == 0)
		pxt_start_end("seccomp strict mode");
	else if (number == SYS_seccomp && first == SECCOMP_SET_MODE_FILTER)
		filter();
	else if (number != SYS_seccomp)
		pxt_start_now();
}

/*
 * As many arguments as were given go on, by a jump: where they are on the stack, they lie there for the real
 * function as well (futex.c).
 */
#if defined(__i386__)
#define PARAMETERS void
#define PASSED
#define OPTION (((const volatile long *)__builtin_dwarf_cfa())[0])
#define FIRST  (((const volatile long *)__builtin_dwarf_cfa())[1])
#else
#define PARAMETERS long option, long first, long second, long third, long fourth
#define PASSED     option, first, second, third, fourth
#define OPTION     (int)option
#define FIRST      first
#endif
typedef int (*as_it_came)(PARAMETERS);

#define PRCTL(name)                                                                                \
	PXT_WRAP_REAL_TYPED(int, name, (int option, ...));                                         \
	extern int pxt_confine_##name(PARAMETERS) __asm__(PXT_WRAP_SYMBOL(#name));                 \
	PXT_WRAP_EXPORT int pxt_confine_##name(PARAMETERS)                                         \
	{                                                                                          \
		as_it_came real = (as_it_came)(uintptr_t)PXT_WRAP_CALL(name);                      \
                                                                                                   \
		if (is_looked_at(OPTION))                                                          \
			before_prctl(OPTION, FIRST, PXT_WRAP_CALLER());                            \
		return real(PASSED);                                                               \
	}                                                                                          \
	_Static_assert(1, "")
PRCTL(prctl);
#if PXT_TIMES_TWO
PRCTL(__prctl_time64);
#endif

/* ---- A forked child attaches before it cannot any more ---- */

#define LEAVES(name, parameters, arguments)                                                        \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		pxt_start_now();                                                                   \
		return PXT_WRAP_CALL(name) arguments;                                              \
	}                                                                                          \
	_Static_assert(1, "")

LEAVES(setuid, (uid_t user), (user));
LEAVES(setgid, (gid_t group), (group));
LEAVES(seteuid, (uid_t user), (user));
LEAVES(setegid, (gid_t group), (group));
LEAVES(setreuid, (uid_t real, uid_t effective), (real, effective));
LEAVES(setregid, (gid_t real, gid_t effective), (real, effective));
LEAVES(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved));
LEAVES(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved));
LEAVES(chroot, (const char *path), (path));
LEAVES(unshare, (int flags), (flags));
LEAVES(setns, (int fd, int type), (fd, type));
/* Of descriptors, of a file's bytes, of memory. */
LEAVES(setrlimit, (__rlimit_resource_t what, const struct rlimit *limit), (what, limit));
LEAVES(setrlimit64, (__rlimit_resource_t what, const struct rlimit64 *limit), (what, limit));
LEAVES(prlimit,
    (__pid_t process, enum __rlimit_resource what, const struct rlimit *limit,
        struct rlimit *former),
    (process, what, limit, former));
LEAVES(prlimit64,
    (__pid_t process, enum __rlimit_resource what, const struct rlimit64 *limit,
        struct rlimit64 *former),
    (process, what, limit, former));

PXT_WRAPPER(int, mlockall, (int flags))
{
	int result = PXT_WRAP_CALL(mlockall)(flags);

	if (result == 0 || errno != ENOMEM)
		return result;
	pxt_tally_shrink();
	result = PXT_WRAP_CALL(mlockall)(flags);
	if (result == 0 || errno != ENOMEM || !pxt_start_end("mlockall: no room for both"))
		return result;
	return PXT_WRAP_CALL(mlockall)(flags);
}
