/* SPDX-License-Identifier: MIT */
/*
 * trace_port.h - the types that <trace.h> takes from <pthread.h> on systems that have it.
 *
 * newlib's <sys/types.h> has a pthread_t, other C libraries for bare metal have none.
 */
#ifndef _PXT_TRACE_PORT_H
#define _PXT_TRACE_PORT_H 1

#include <sys/types.h>

#if !defined(_SYS__PTHREADTYPES_H_) && !defined(_BITS_PTHREADTYPES_COMMON_H)
/* A task or an interrupt; logs have its name, too (posix_trace_task_begin_np()). */
typedef unsigned long pthread_t;
#endif

#endif
