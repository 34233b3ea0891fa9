/* SPDX-License-Identifier: MIT */
/* ownthread.c - the library's own threads, with signals blocked (SIGXFSZ and SIGPIPE of a log, too). */
#define _GNU_SOURCE
#include "port/posix/owncalls.h"

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREAD_NAME "pxt-helper"
#define NICE_LEAST  (-20)
/*
 * Small, because a program that locks its memory pays for all of it.  Eight times what was found to
 * be used: 7 KiB, by a helper that writes a log, 3 of them by functions of this library.
 */
#define STACK_BYTES ((size_t)64 * 1024)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#if defined(INSTRUMENTED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#undef STACK_BYTES
#define STACK_BYTES ((size_t)512 * 1024)
#endif

_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "a pthread_t fits into the handle");

static void *enter(void *argument)
{
	struct pxt_port_thread *thread = argument;

	pxt_port_untold |= PXT_PORT_UNTOLD_THREAD | PXT_PORT_UNTOLD_OWN;
	(void)prctl(PR_SET_NAME, THREAD_NAME, 0, 0, 0);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	thread->run(thread->argument);
	return NULL;
}

/* Another policy than those of ordinary threads, which a thread may not always choose itself. */
static bool is_real_time(void)
{
	long policy = syscall(SYS_sched_getscheduler, 0); /* musl has no function for it */

	return policy >= 0 && policy != SCHED_OTHER && policy != SCHED_BATCH &&
	       policy != SCHED_IDLE;
}

static int set_priority(pthread_attr_t *attr, int priority)
{
	bool ordinary = priority == PXT_THREAD_ORDINARY;
	struct sched_param param = { .sched_priority = ordinary ? 0 : priority };
	int error;

	if (ordinary && !is_real_time())
		return 0;
	error = pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	if (error == 0)
		error = pthread_attr_setschedpolicy(attr, ordinary ? SCHED_OTHER : SCHED_FIFO);
	if (error == 0)
		error = pthread_attr_setschedparam(attr, &param);
	return error == ENOTSUP ? EINVAL : error;
}

/* Each thread's variables, of the program and its libraries: they are on its stack. */
static int add_variables(struct dl_phdr_info *info, PXT_UNUSED size_t size, void *argument)
{
	size_t *bytes = argument;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_TLS)
			*bytes += header->p_memsz + header->p_align;
	}
	return 0;
}

static size_t stack_bytes(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = STACK_BYTES;

	(void)dl_iterate_phdr(add_variables, &bytes);
	return (bytes + page - 1u) / page * page;
}

/* The mask is inherited, so it is set here: the new thread never runs with a signal open. */
static int create(pthread_t *handle, const pthread_attr_t *attr, struct pxt_port_thread *thread)
{
	sigset_t all;
	sigset_t old;
	int error;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pxt_port_untold_begin();
	error = pthread_create(handle, attr, enter, thread);
	pxt_port_untold_end();
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

int pxt_port_thread_start(
    struct pxt_port_thread *thread, void (*run)(void *), void *argument, int priority)
{
	PXT_KEEP_ERRNO();
	pthread_attr_t attr;
	pthread_t handle;
	int error = pthread_attr_init(&attr);

	if (error != 0)
		return error;
	thread->run = run;
	thread->argument = argument;
	thread->handle = 0;
	(void)pthread_attr_setstacksize(&attr, stack_bytes());
	if (priority != 0)
		error = set_priority(&attr, priority);
	if (error == 0)
		error = create(&handle, &attr, thread);
	if (error == 0)
		memcpy(&thread->handle, &handle, sizeof(handle));
	(void)pthread_attr_destroy(&attr);
	return error;
}

/* A thread that joins may be cancelled by the program; the thread is waited for all the same. */
void pxt_port_thread_join(struct pxt_port_thread *thread)
{
	pthread_t handle;
	int cancel;

	memcpy(&handle, &thread->handle, sizeof(handle));
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pxt_port_untold_begin();
	(void)pthread_join(handle, NULL);
	pxt_port_untold_end();
	(void)pthread_setcancelstate(cancel, &cancel);
}

/* The kernel takes 0 for the calling thread, not for its process. */
void pxt_port_thread_hurry(void)
{
	PXT_KEEP_ERRNO();

	if (getpriority(PRIO_PROCESS, 0) == 0 && !is_real_time())
		(void)setpriority(PRIO_PROCESS, 0, NICE_LEAST);
}

void pxt_port_thread_leave(void)
{
	(void)pthread_detach(pthread_self());
}
