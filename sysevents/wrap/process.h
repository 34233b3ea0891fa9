/* SPDX-License-Identifier: MIT */
/*
 * process.h - events about the process, its threads and its images (posix_trace_process); its begin and end.
 *
 * Libraries may be loaded at any time.  dlopen() uses its return address to find the folders of its
 * caller's libraries.  So its wrapper jumps there and does not come back; new images are recorded
 * before the thread's next event of a wait or a call.  Readers apply an image to all events of a
 * process, at any place in the log.
 *
 *   concurrency: pxt_start_...(): the only thread there is; all others: any thread.
 */
#ifndef PXT_WRAP_PROCESS_H
#define PXT_WRAP_PROCESS_H

#include "sysevents/wrap/wrap.h"

#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

/* @what: POSIX_TRACE_PROCESS_..._NP; @name may be NULL, and is cut to what an event takes. */
void pxt_process_tell(uint8_t what, uint32_t number, uint64_t address, uint64_t size,
    const char *name, const void *caller) PXT_WRAP_HIDDEN;
/* What @fd is from now on: a path, an address, a word.  Leaves errno alone. */
void pxt_process_tell_descriptor(int fd, const char *name, const void *caller) PXT_WRAP_HIDDEN;
/* Of descriptors 0 to 2 those that the program has inherited and not used yet, bit by bit. */
extern _Atomic uint32_t pxt_process_inherited PXT_WRAP_HIDDEN;
void pxt_process_tell_inherited(uint64_t fd) PXT_WRAP_HIDDEN;
/* Before a call with @object, which may be a descriptor: what that is.  Leaves errno alone. */
PXT_WRAP_INLINE void pxt_process_use(uint64_t object)
{
	if (!PXT_WRAP_LIKELY(object > 2u) &&
	    atomic_load_explicit(&pxt_process_inherited, memory_order_relaxed) >> object & 1u)
		pxt_process_tell_inherited(object);
}
/* It is closed, or another file's number. */
PXT_WRAP_INLINE void pxt_process_forget_inherited(uint64_t fd)
{
	if (fd <= 2u)
		(void)atomic_fetch_and_explicit(
		    &pxt_process_inherited, ~(UINT32_C(1) << fd), memory_order_relaxed);
}
/* It is what @from is. */
void pxt_process_tell_copy(int fd, int from, const void *caller) PXT_WRAP_HIDDEN;
/*
 * A lock that was initialized or destroyed, or memory that was unmapped: earlier locks at these
 * addresses no longer exist.  @result is the call's, and is returned; not 0: nothing has changed.
 */
int pxt_process_tell_memory(
    int result, const volatile void *at, size_t bytes, const void *caller) PXT_WRAP_HIDDEN;
/* Its first argument, before main(): a program may write over it. */
void pxt_process_called(const char *first) PXT_WRAP_HIDDEN;
/* The program's path, as far as it is known. */
const char *pxt_process_executable(void) PXT_WRAP_HIDDEN;
/* All images that are mapped now and were not recorded yet. */
void pxt_process_tell_images(void) PXT_WRAP_HIDDEN;
/* The calling thread, with its name.  Returns its number. */
uint32_t pxt_process_tell_thread(uint64_t start) PXT_WRAP_HIDDEN;
/* The end of this process, recorded once. */
void pxt_process_tell_exit(int status, const void *caller) PXT_WRAP_HIDDEN;
/* Compilers make a jump of its wrapper's last call where they optimize; the linker wraps it nowhere. */
#if defined(__OPTIMIZE__) && !PXT_WRAP_BY_LINKER
#define PXT_PROCESS_SEES_VFORK 1
#else
#define PXT_PROCESS_SEES_VFORK 0
#endif
/* A child of vfork() has had this memory, or may have it now (fork.c). */
extern bool pxt_process_lent PXT_WRAP_HIDDEN;
/* Whether the caller is in the process that was traced, not in one that has its memory for a while. */
bool pxt_process_is_own(void) PXT_WRAP_HIDDEN;

/* The calling thread has called dlopen() and told nothing since: its own word. */
extern PXT_TLS bool pxt_process_new_images;

/* Records all mapped images again: a known one changes nothing. */
void pxt_process_tell_new_images(void) PXT_WRAP_HIDDEN;

PXT_WRAP_INLINE void pxt_process_catch_up(void)
{
	if (!PXT_WRAP_LIKELY(!pxt_process_new_images))
		pxt_process_tell_new_images();
}

/* The kernel's number of a thread as the C library knows it, without a call of the system; 0: not known. */
uint32_t pxt_process_thread_number(pthread_t thread) PXT_WRAP_HIDDEN;
/* That thread has this name from now on, of which the kernel takes 15 bytes. */
void pxt_process_tell_name(pthread_t thread, const char *name, const void *caller) PXT_WRAP_HIDDEN;
/* The program has installed a filter of system calls (confine.c). */
extern bool pxt_process_confined PXT_WRAP_HIDDEN;
/* Before a call by syscall(), of a number that is looked at: it has what was given. */
bool pxt_process_looks(long number) PXT_WRAP_HIDDEN;
void pxt_process_before_syscall(
    long number, long first, long second, const void *caller) PXT_WRAP_HIDDEN;

/* A function that makes or destroys @object, a lock of which events of type @id tell. */
#define PXT_PROCESS_WRAP_LIFE(name, parameters, arguments, object, id)                             \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
		int result = PXT_WRAP_CALL(name) arguments;                                        \
                                                                                                   \
		if (pxt_wrap_wanted_lock(id))                                                      \
			return pxt_process_tell_memory(result, object, sizeof(*(object)), caller); \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

/* ---- Programs that are executed (untraced.c); errno stays ---- */

/*
 * Why what will be executed of @path (below @folder) is not traced, as the rest of "a process was not traced: ...";
 * NULL: it is, or nothing would be loaded into it.
 */
const char *pxt_process_refuses(int folder, const char *path, char *const *env) PXT_WRAP_HIDDEN;
/* Where execvp() finds @file; "": nowhere. */
void pxt_process_find(const char *file, char path[PATH_MAX]) PXT_WRAP_HIDDEN;
/* @env without our library, in so much room. */
size_t pxt_process_room(char *const *env) PXT_WRAP_HIDDEN;
char **pxt_process_without(char *const *env, void *room) PXT_WRAP_HIDDEN;

/* ---- Begin and end (start.c) ---- */

/*
 * Recording ends: the last event is @why.  The memory for events is freed.  Any thread, not in a
 * handler; leaves errno alone.  False: nothing is recorded.
 */
bool pxt_start_end(const char *why) PXT_WRAP_HIDDEN;

/*
 * In a forked child, which has nothing of its parent's attachment: it attaches anew, at once, or at its first event
 * where children of this family execute programs.  One that only does that never attaches then.
 */
void pxt_start_child(void) PXT_WRAP_HIDDEN;
/* Before a fork or a spawn, in the parent. */
void pxt_start_fork(void) PXT_WRAP_HIDDEN;
/* A program is executed. */
void pxt_start_executes(void) PXT_WRAP_HIDDEN;
/* Files of programs, by a number, that this process or one of its family has found to be traceable. */
bool pxt_start_knows(uint64_t number) PXT_WRAP_HIDDEN;
void pxt_start_learns(uint64_t number) PXT_WRAP_HIDDEN;
/* Whether a recorder has asked this process to attach. */
bool pxt_start_asked(void) PXT_WRAP_HIDDEN;
/* Before a call that takes away what attaching needs: now, if the child has not attached yet. */
void pxt_start_now(void) PXT_WRAP_HIDDEN;
/* It has not. */
bool pxt_start_waits(void) PXT_WRAP_HIDDEN;
/* What is told as soon as it has attached, of the time before; NULL: nothing. */
extern void (*_Atomic pxt_start_later)(void) PXT_WRAP_HIDDEN;
/* What the door needs first (real.c). */
void pxt_start_door(void) PXT_WRAP_HIDDEN;
/*
 * Has the end by exit() told.  Called after attaching, whose end has to come later.  What the program asks
 * to be called at its end afterwards comes before ours.  A forked child has it from its parent.
 */
void pxt_start_exit(void) PXT_WRAP_HIDDEN;

#endif
