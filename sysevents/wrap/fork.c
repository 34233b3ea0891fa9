/* SPDX-License-Identifier: MIT */
/*
 * fork.c - new processes, and other programs in the same one.
 *
 * A child has nothing of its parent's attachment, so it attaches anew (start.c).  A child of
 * vfork() is its parent until it calls exec.  A program that exec starts attaches itself, and records its parent.
 *
 * exec is recorded before it is called, if the file is there: a shell tries each folder of its PATH.  One that returns
 * all the same is recorded once more, as failed.  A child that has recorded nothing records no exec, unless
 * that returns: the new program says who it is.  A child of vfork() has its parent's memory: its calls are not
 * its parent's, and are not recorded.  The environment is passed on as given: without LD_PRELOAD in it
 * the other program is not traced.
 *
 * The C library's posix_spawn() of before 2011 starts a shell where the file is no program: who was linked
 * with it gets it (names.h).
 */
#define _GNU_SOURCE
#include "sysevents/wrap/names.h"
#include "sysevents/wrap/process.h"

#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

PXT_WRAP_REAL(execve);
PXT_WRAP_REAL(execvpe);

/* What becomes of process @number, 0: of this one. */
static void tell_untraced(uint32_t number, const char *why, const void *caller)
{
	if (why)
		pxt_process_tell(POSIX_TRACE_PROCESS_UNTRACED_NP, number, 0, 0, why, caller);
}

/* In both of them. */
static void forked(pid_t child, const void *caller)
{
	if (child == 0) {
		pxt_start_child();
	} else if (child > 0) {
		pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)child, 0, 0, NULL, caller);
		tell_untraced((uint32_t)child,
		    pxt_process_confined ? "its parent filters system calls" : NULL, caller);
	}
}

/* What a child looks for itself costs it pages of tables, each time. */
static void begin_fork(void)
{
	pxt_start_fork();
	(void)PXT_WRAP_CALL(execve);
	(void)PXT_WRAP_CALL(execvpe);
}

PXT_WRAPPER(pid_t, fork, (void))
{
	const void *caller = PXT_WRAP_CALLER();
	pid_t child;

	begin_fork();
	child = PXT_WRAP_CALL(fork)();
	forked(child, caller);
	return child;
}

/* Returns in the child alone. */
PXT_WRAPPER(int, daemon, (int keeps_folder, int keeps_output))
{
	int result = PXT_WRAP_CALL(daemon)(keeps_folder, keeps_output);

	if (result == 0)
		pxt_start_child();
	return result;
}

PXT_WRAPPER(int, forkpty,
    (int *master, char *name, const struct termios *attributes, const struct winsize *size))
{
	const void *caller = PXT_WRAP_CALLER();
	int child;

	begin_fork();
	child = PXT_WRAP_CALL(forkpty)(master, name, attributes, size);
	forked(child, caller);
	return child;
}

#if PXT_PROCESS_SEES_VFORK
PXT_WRAP_REAL(clone);

/* By a jump: no function of ours can return twice from one frame. */
PXT_WRAPPER(pid_t, vfork, (void))
{
	pxt_process_lent = true;
	pxt_start_fork();
	return PXT_WRAP_CALL(vfork)();
}

/*
 * A child in this memory may even have an invalid TLS.  As many arguments as were given go on, by a jump
 * (futex.c).
 */
#if defined(__i386__)
#define PARAMETERS void
#define PASSED
#define FLAGS ((const int *)__builtin_dwarf_cfa())[2]
#else
#define PARAMETERS long function, long stack, long flags, long argument, long parent, long tls
#define PASSED     function, stack, flags, argument, parent, tls
#define FLAGS      (int)flags
#if !defined(__x86_64__)
#undef PARAMETERS
#undef PASSED
#define PARAMETERS                                                                                 \
	long function, long stack, long flags, long argument, long parent, long tls, long child
#define PASSED function, stack, flags, argument, parent, tls, child
#endif
#endif
extern int pxt_fork_clone(PARAMETERS) __asm__("clone");
typedef int (*as_it_came)(PARAMETERS);

PXT_WRAP_EXPORT int pxt_fork_clone(PARAMETERS)
{
	as_it_came real = (as_it_came)(uintptr_t)PXT_WRAP_CALL(clone);

	if (FLAGS & CLONE_VM)
		pxt_process_lent = true;
	return real(PASSED);
}
#endif

#if !PXT_WRAP_BY_LINKER
/*
 * _Fork() and _exit(), which the C library itself calls by these names: the linker would wrap them in fork()
 * and exit(), too.
 */
/* For handlers of signals: the child is not traced, since attaching is not for them. */
PXT_WRAPPER(pid_t, _Fork, (void))
{
	const void *caller = PXT_WRAP_CALLER();
	pid_t child = PXT_WRAP_CALL(_Fork)();

	if (child > 0)
		pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)child, 0, 0, NULL, caller);
	return child;
}

#define ENDS(name)                                                                                 \
	PXT_WRAPPER(void, name, (int status))                                                      \
	{                                                                                          \
		pxt_process_tell_exit(status, PXT_WRAP_CALLER());                                  \
		PXT_WRAP_CALL(name)(status);                                                       \
		__builtin_unreachable();                                                           \
	}                                                                                          \
	_Static_assert(1, "")
ENDS(_exit);
ENDS(_Exit);
#endif

/* A program that cannot be traced gets the environment without our library: on the stack, until exec. */
#define ENVIRONMENT(env, why)                                                                      \
	((why) ? pxt_process_without(env, __builtin_alloca(pxt_process_room(env))) : (env))

/* ---- Programs that are started in one step ---- */

PXT_AGES(posix_spawn, "GLIBC_2.15");
PXT_AGES(posix_spawnp, "GLIBC_2.15");

/* The caller may not want to know its number, which is there all the same. */
#define SPAWN(function, why_not)                                                                   \
	do {                                                                                       \
		pxt_start_fork();                                                                  \
		const char *why = why_not;                                                         \
		pid_t number;                                                                      \
		pid_t *where = child ? child : &number;                                            \
		int result =                                                                       \
		    function(where, path, actions, attributes, args, ENVIRONMENT(env, why));       \
                                                                                                   \
		if (result == 0) {                                                                 \
			pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)*where, 0, 0,      \
			    NULL, PXT_WRAP_CALLER());                                              \
			tell_untraced((uint32_t)*where, why, PXT_WRAP_CALLER());                   \
		}                                                                                  \
		return result;                                                                     \
	} while (0)

static const char *refuses_file(const char *file, char *const *env)
{
	char path[PATH_MAX];

	pxt_process_find(file, path);
	return pxt_process_refuses(AT_FDCWD, path, env);
}

#define SPAWNS(exported, real, why_not)                                                            \
	PXT_WRAP_EXPORT int exported(pid_t *child, const char *path,                               \
	    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,        \
	    char *const *args, char *const *env)                                                   \
	{                                                                                          \
		SPAWN(real, why_not);                                                              \
	}                                                                                          \
	_Static_assert(1, "")
SPAWNS(PXT_AGES_NAME(posix_spawn), PXT_WRAP_CALL(posix_spawn),
    pxt_process_refuses(AT_FDCWD, path, env));
SPAWNS(PXT_AGES_NAME(posix_spawnp), PXT_WRAP_CALL(posix_spawnp), refuses_file(path, env));
#if PXT_AGES_TWO
SPAWNS(PXT_AGES_FORMER_NAME(posix_spawn), PXT_AGES_FORMER_CALL(posix_spawn),
    pxt_process_refuses(AT_FDCWD, path, env));
SPAWNS(PXT_AGES_FORMER_NAME(posix_spawnp), PXT_AGES_FORMER_CALL(posix_spawnp),
    refuses_file(path, env));
#endif

/* ---- Another program in the same process ---- */

/* An exec that was told, until it returns. */
struct exec {
	const char *name;
	const char *why; /* it will not be traced */
	bool told;
	bool waits; /* to be told: only if it returns */
};

static bool is_there(int folder, const char *path, int flags)
{
	return pxt_process_confined ||
	       faccessat(folder, path, X_OK, AT_EACCESS | (flags & AT_EMPTY_PATH)) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR && errno != EACCES);
}

static struct exec tell_exec(const char *name, const char *why, const void *caller)
{
	bool own = posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP) && pxt_process_is_own();
	bool waits = own && !why && pxt_start_waits();

	if (own)
		pxt_start_executes();
	if (own && !waits)
		pxt_process_tell(POSIX_TRACE_PROCESS_EXEC_NP, 0, 0, 0, name, caller);
	/* Of a child of vfork() in its parent's memory, which goes on. */
	tell_untraced(own || !why ? 0 : (uint32_t)getpid(), why, caller);
	return (struct exec){ .name = name, .why = why, .told = own, .waits = waits };
}

static struct exec begin_exec(
    int folder, const char *path, int flags, char *const *env, const void *caller)
{
	int saved = errno;
	struct exec exec = { .told = false };

	if (is_there(folder, path, flags))
		exec = tell_exec(path, pxt_process_refuses(folder, path, env), caller);
	errno = saved;
	return exec;
}

/* It has returned: nothing else was executed. */
static int end_exec(const struct exec *exec, int result, const void *caller)
{
	int saved = errno;

	if (exec->waits)
		pxt_process_tell(POSIX_TRACE_PROCESS_EXEC_NP, 0, 0, 0, exec->name, caller);
	if (exec->told)
		pxt_process_tell(
		    POSIX_TRACE_PROCESS_EXEC_NP, (uint32_t)saved, 0, 0, exec->name, caller);
	errno = saved;
	return result;
}

#define EXECUTE(function, exec, what, args, env)                                                   \
	end_exec(&(exec), PXT_WRAP_CALL(function)(what, args, ENVIRONMENT(env, (exec).why)),       \
	    PXT_WRAP_CALLER())

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execve)(const char *path, char *const *args, char *const *env)
{
	const struct exec exec = begin_exec(AT_FDCWD, path, 0, env, PXT_WRAP_CALLER());

	return EXECUTE(execve, exec, path, args, env);
}

PXT_WRAPPER(int, execv, (const char *path, char *const *args))
{
	const struct exec exec = begin_exec(AT_FDCWD, path, 0, environ, PXT_WRAP_CALLER());

	return EXECUTE(execve, exec, path, args, environ);
}

/* The C library looks for the file once more. */
static struct exec begin_exec_file(
    const char *file, char path[PATH_MAX], char *const *env, const void *caller)
{
	pxt_process_find(file, path);
	return *path ? begin_exec(AT_FDCWD, path, 0, env, caller) : (struct exec){ .told = false };
}

PXT_WRAPPER(int, execvp, (const char *file, char *const *args))
{
	char path[PATH_MAX];
	const struct exec exec = begin_exec_file(file, path, environ, PXT_WRAP_CALLER());

	return EXECUTE(execvpe, exec, file, args, environ);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execvpe)(const char *file, char *const *args, char *const *env)
{
	char path[PATH_MAX];
	const struct exec exec = begin_exec_file(file, path, env, PXT_WRAP_CALLER());

	return EXECUTE(execvpe, exec, file, args, env);
}

PXT_WRAPPER(int, fexecve, (int fd, char *const *args, char *const *env))
{
	char *const *given = args; /* may be NULL all the same */
	struct exec exec = { .told = false };
	int saved = errno;
	char path[32];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (is_there(fd, "", AT_EMPTY_PATH))
		exec = tell_exec(given ? given[0] : NULL, pxt_process_refuses(AT_FDCWD, path, env),
		    PXT_WRAP_CALLER());
	errno = saved;
	return EXECUTE(fexecve, exec, fd, args, env);
}

PXT_WRAPPER(
    int, execveat, (int folder, const char *path, char *const *args, char *const *env, int flags))
{
	const struct exec exec = begin_exec(folder, path, flags, env, PXT_WRAP_CALLER());
	int result = PXT_WRAP_CALL(execveat)(folder, path, args, ENVIRONMENT(env, exec.why), flags);

	return end_exec(&exec, result, PXT_WRAP_CALLER());
}

/* ---- With the arguments one by one ---- */

/*
 * They come as a list on the stack, as the C library itself puts them together; it has no name for them as
 * an array and the program's environment but these.
 */
/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the analyzer does not see that lists are begun here */
static void collect(char **args, const char *first, va_list list)
{
	union {
		const char *from;
		char *to;
	} one = { first };

	for (;; one.from = va_arg(list, const char *)) {
		*args++ = one.to;
		if (!one.from)
			return;
	}
}

/* `args` are as many as there are, on the stack; @behind takes what comes after them in `list`. */
#define COLLECT(args, first, behind)                                                               \
	va_list list;                                                                              \
	size_t count = 1;                                                                          \
                                                                                                   \
	va_start(list, first);                                                                     \
	for (const char *one = first; one; one = va_arg(list, const char *))                       \
		count++;                                                                           \
	behind;                                                                                    \
	va_end(list);                                                                              \
	char **args = __builtin_alloca(count * sizeof(*args));                                     \
                                                                                                   \
	va_start(list, first);                                                                     \
	collect(args, first, list);                                                                \
	va_end(list)

PXT_WRAPPER(int, execl, (const char *path, const char *first, ...))
{
	COLLECT(args, first, (void)0);
	const struct exec exec = begin_exec(AT_FDCWD, path, 0, environ, PXT_WRAP_CALLER());

	return EXECUTE(execve, exec, path, args, environ);
}

PXT_WRAPPER(int, execlp, (const char *file, const char *first, ...))
{
	COLLECT(args, first, (void)0);
	char path[PATH_MAX];
	const struct exec exec = begin_exec_file(file, path, environ, PXT_WRAP_CALLER());

	return EXECUTE(execvpe, exec, file, args, environ);
}

PXT_WRAPPER(int, execle, (const char *path, const char *first, ...))
{
	char *const *env;
	COLLECT(args, first, env = va_arg(list, char *const *));
	const struct exec exec = begin_exec(AT_FDCWD, path, 0, env, PXT_WRAP_CALLER());

	return EXECUTE(execve, exec, path, args, env);
}
/* NOLINTEND(clang-analyzer-valist.Uninitialized) */
