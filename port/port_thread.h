/* SPDX-License-Identifier: MIT */
/*
 * port_thread.h - a thread of the library's own (the flusher, and helpers for other processes).
 *
 * It runs with all signals blocked and cannot be cancelled by accident: the program does not get its
 * pthread_t.  A forked child has no such thread; there a struct pxt_port_thread is forgotten, not
 * joined.
 *
 *   concurrency     start, join     the thread itself
 *   start, join              X                 -
 *   (X: of one struct, one after the other: the caller sees to it; of different ones, at any time.
 *   -: start writes what the thread reads before that begins, and `handle` is start's and join's.)
 */
#ifndef PXT_PORT_THREAD_H
#define PXT_PORT_THREAD_H

#include "format/compiler.h"

#include <stdint.h>

/* Stays where it is between start and join. */
struct pxt_port_thread {
	void (*run)(void *argument);
	void *argument;
	uint64_t handle;
};

/*
 * What others ask for, and the thread that does it, shall not displace a real-time thread; where it
 * holds a lock that one waits for, it is raised by that (port.h).
 */
#define PXT_THREAD_ORDINARY (-1)

/*
 * @priority: of SCHED_FIFO; 0: policy and priority of the caller; PXT_THREAD_ORDINARY: the caller's,
 * but never a real-time one.  Returns EAGAIN, EPERM (that priority is not for this process), EINVAL
 * (no such priority).
 */
int pxt_port_thread_start(
    struct pxt_port_thread *thread, void (*run)(void *), void *argument, int priority);
/* Returns when the thread's function has returned. */
void pxt_port_thread_join(struct pxt_port_thread *thread);
/*
 * Of the thread itself: ordinary threads wait for it, not it for them, where the process may ask for that.
 * Who runs the program at another nice value, or as real time, has said what is to wait: nothing changes.
 */
void pxt_port_thread_hurry(void);
/* Of the thread itself, before it returns: nobody joins it, now or later. */
void pxt_port_thread_leave(void);

#endif
