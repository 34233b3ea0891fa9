/* SPDX-License-Identifier: MIT */
/*
 * posix.h - what tests name of POSIX and a board's C library does not have.  A test that comes to a
 * function of suite.c's list ends there.
 */
#ifndef PXT_BOARD_POSIX_H
#define PXT_BOARD_POSIX_H

#include <sched.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <trace.h>

#define cpu_set_t                          int
#define CPU_SETSIZE                        1
#define CPU_COUNT(set)                     ((void)(set), 1)
#define CPU_ZERO(set)                      (*(set) = 0)
#define CPU_SET(cpu, set)                  (*(set) = 1)
#define CPU_ISSET(cpu, set)                ((void)(set), 1)
#define sched_getaffinity(pid, bytes, set) (*(set) = 1, 0)
#define sched_setaffinity(pid, bytes, set) 0

/* Its task's words; port/bare/task.c. */
extern void *pxt_port_words_of_task;
#define pthread_self()          ((pthread_t)(uintptr_t)pxt_port_words_of_task)
#define pthread_equal(a, b)     ((a) == (b))
#define pthread_once_t          int
#define PTHREAD_ONCE_INIT       0
#define pthread_once(once, run) ((run)(), 0)
#define pthread_barrier_t       int
#define PTHREAD_CANCEL_DISABLE  0
#define PTHREAD_CANCELED        NULL

#ifndef SIGRTMIN
#define SIGRTMIN 32
#endif

#endif
