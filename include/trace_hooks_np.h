/* SPDX-License-Identifier: MIT */
/*
 * trace_hooks_np.h - system events: their types, what is in their data, and hooks that an operating
 * system, a board, or a wrapped library calls to record them.
 *
 * FORMAT.md has every field of each type.
 *
 *	void switch_to(struct task *next)
 *	{
 *		posix_trace_hook_context_switch_np(0, current->id, next->id, current->state,
 *		    current->priority, next->priority);
 *		...
 *
 * Without the unit System Events, or with POSIX_TRACE_OFF_NP defined, a hook is nothing at all.
 * On a board, whose tasks are known by hooks alone, the compiler notes that the unit is missing.
 *
 * @cpu:       the processor, from 0.
 * @tid:       a thread or task, by the system's own number.
 * @prev_tid:  the thread that ran, by the system's own number.
 * @next_tid:  the thread that runs now.
 * @prio:      a priority, as the system counts.
 * @prev_prio: the priority of the thread that ran.
 * @next_prio: the priority of the thread that runs now.
 * @lock:      a number of the lock, mostly its address.
 * @object:    a number of what it is about, mostly an address; 0: nothing.
 * @size:      bytes that were asked for, or a limit in milliseconds.
 *
 * Context: anywhere, also interrupts, and a scheduler in the middle of a switch: hooks take no
 *          lock and wait for nothing.
 * Cost: a load and a test where no stream wants the type, else that of an event of its size.
 * Unit: System Events.
 */
#ifndef _PXT_TRACE_HOOKS_NP_H
#define _PXT_TRACE_HOOKS_NP_H 1

#include "trace.h"
#include "trace_np.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- Types ---- */

#define POSIX_TRACE_MUTEX_WAIT_NP      9
#define POSIX_TRACE_MUTEX_LOCK_NP      10
#define POSIX_TRACE_MUTEX_UNLOCK_NP    11
#define POSIX_TRACE_COND_WAIT_NP       12
#define POSIX_TRACE_COND_RESUME_NP     13
#define POSIX_TRACE_COND_SIGNAL_NP     14
#define POSIX_TRACE_COND_BROADCAST_NP  15
#define POSIX_TRACE_SYNC_WAIT_NP       16
#define POSIX_TRACE_SYNC_LOCK_NP       17
#define POSIX_TRACE_SYNC_UNLOCK_NP     18
#define POSIX_TRACE_PROCESS_NP         19
#define POSIX_TRACE_CALL_ENTER_NP      20
#define POSIX_TRACE_CALL_EXIT_NP       21
#define POSIX_TRACE_SIGNAL_NP          22
#define POSIX_TRACE_CONTEXT_SWITCH_NP  23
#define POSIX_TRACE_TASK_STATE_NP      24
#define POSIX_TRACE_KERNEL_OVERHEAD_NP 25
#define POSIX_TRACE_FUNCTION_ENTER_NP  26
#define POSIX_TRACE_FUNCTION_EXIT_NP   27
#define POSIX_TRACE_GENERAL_DEBUG_NP   28

/* ---- What fields mean ---- */

/* kind, of read-write locks and spin locks */
#define POSIX_TRACE_KIND_READ_NP  1
#define POSIX_TRACE_KIND_WRITE_NP 2
#define POSIX_TRACE_KIND_SPIN_NP  3

/* what, of POSIX_TRACE_PROCESS_NP */
#define POSIX_TRACE_PROCESS_IMAGE_NP         1
#define POSIX_TRACE_PROCESS_IMAGE_GONE_NP    2
#define POSIX_TRACE_PROCESS_THREAD_CREATE_NP 3
#define POSIX_TRACE_PROCESS_THREAD_BEGIN_NP  4
#define POSIX_TRACE_PROCESS_THREAD_END_NP    5
#define POSIX_TRACE_PROCESS_THREAD_NAME_NP   6
#define POSIX_TRACE_PROCESS_FORK_NP          7
#define POSIX_TRACE_PROCESS_EXEC_NP          8
#define POSIX_TRACE_PROCESS_EXIT_NP          9
#define POSIX_TRACE_PROCESS_TRACED_NP        10
#define POSIX_TRACE_PROCESS_DESCRIPTOR_NP    11
#define POSIX_TRACE_PROCESS_UNTRACED_NP      12
#define POSIX_TRACE_PROCESS_MEMORY_NP        13
#define POSIX_TRACE_PROCESS_SEMAPHORE_NP     14
#define POSIX_TRACE_PROCESS_IMAGE_BUILD_NP   15
#define POSIX_TRACE_PROCESS_HOLDS_NP         16
#define POSIX_TRACE_PROCESS_TAKEN_NP         17

/* what, of POSIX_TRACE_SIGNAL_NP */
#define POSIX_TRACE_SIGNAL_BEGIN_NP 1
#define POSIX_TRACE_SIGNAL_END_NP   2
#define POSIX_TRACE_SIGNAL_SENT_NP  3

/* state, of POSIX_TRACE_TASK_STATE_NP */
#define POSIX_TRACE_TASK_CREATED_NP   1
#define POSIX_TRACE_TASK_READY_NP     2
#define POSIX_TRACE_TASK_RUNNING_NP   3
#define POSIX_TRACE_TASK_BLOCKED_NP   4
#define POSIX_TRACE_TASK_SLEEPING_NP  5
#define POSIX_TRACE_TASK_SUSPENDED_NP 6
#define POSIX_TRACE_TASK_ENDED_NP     7

/* what, of POSIX_TRACE_KERNEL_OVERHEAD_NP */
#define POSIX_TRACE_KERNEL_INTERRUPT_NP     1
#define POSIX_TRACE_KERNEL_INTERRUPT_END_NP 2
#define POSIX_TRACE_KERNEL_TIMER_POST_NP    3
#define POSIX_TRACE_KERNEL_TIMER_DELETE_NP  4
#define POSIX_TRACE_KERNEL_WAKEUP_NP        5
#define POSIX_TRACE_KERNEL_WAKEUP_END_NP    6
#define POSIX_TRACE_KERNEL_SCHEDULER_NP     7
#define POSIX_TRACE_KERNEL_SCHEDULER_END_NP 8
#define POSIX_TRACE_KERNEL_CRITICAL_NP      9
#define POSIX_TRACE_KERNEL_CRITICAL_END_NP  10

/* call, of POSIX_TRACE_CALL_ENTER_NP and _EXIT_NP; numbers never change, and come at the end. */
#define POSIX_TRACE_CALL_SEM_WAIT_NP     1
#define POSIX_TRACE_CALL_SEM_POST_NP     2
#define POSIX_TRACE_CALL_BARRIER_WAIT_NP 3
#define POSIX_TRACE_CALL_ONCE_NP         4
#define POSIX_TRACE_CALL_JOIN_NP         5
#define POSIX_TRACE_CALL_SLEEP_NP        6
#define POSIX_TRACE_CALL_READ_NP         7
#define POSIX_TRACE_CALL_WRITE_NP        8
#define POSIX_TRACE_CALL_OPEN_NP         9
#define POSIX_TRACE_CALL_CLOSE_NP        10
#define POSIX_TRACE_CALL_ACCEPT_NP       11
#define POSIX_TRACE_CALL_CONNECT_NP      12
#define POSIX_TRACE_CALL_RECV_NP         13
#define POSIX_TRACE_CALL_SEND_NP         14
#define POSIX_TRACE_CALL_POLL_NP         15
#define POSIX_TRACE_CALL_SELECT_NP       16
#define POSIX_TRACE_CALL_EPOLL_WAIT_NP   17
#define POSIX_TRACE_CALL_FSYNC_NP        18
#define POSIX_TRACE_CALL_FUTEX_WAIT_NP   19
#define POSIX_TRACE_CALL_TIMER_NP        20
#define POSIX_TRACE_CALL_WAIT_NP         21
#define POSIX_TRACE_CALL_MALLOC_NP       22
#define POSIX_TRACE_CALL_FREE_NP         23
#define POSIX_TRACE_CALL_REALLOC_NP      24
#define POSIX_TRACE_CALL_LSEEK_NP        25
#define POSIX_TRACE_CALL_SENDFILE_NP     26
#define POSIX_TRACE_CALL_FLOCK_NP        27
#define POSIX_TRACE_CALL_MSYNC_NP        28
#define POSIX_TRACE_CALL_PAUSE_NP        29
#define POSIX_TRACE_CALL_MQ_NP           30
#define POSIX_TRACE_CALL_FILE_NAME_NP    31
#define POSIX_TRACE_CALL_FUTEX_WAKE_NP   32
#define POSIX_TRACE_CALL_PRIORITY_NP     33
#define POSIX_TRACE_CALL_SEMOP_NP        34
#define POSIX_TRACE_CALL_MSGSND_NP       35
#define POSIX_TRACE_CALL_MSGRCV_NP       36
#define POSIX_TRACE_CALL_MQ_SEND_NP      37
#define POSIX_TRACE_CALL_MQ_RECEIVE_NP   38
#define POSIX_TRACE_CALL_SIGWAIT_NP      39
#define POSIX_TRACE_CALL_SIGSUSPEND_NP   40
#define POSIX_TRACE_CALL_LOCKF_NP        41
#define POSIX_TRACE_CALL_FCNTL_NP        42

/* ---- Hooks ---- */

#if !_PXT_UNIT_SYSEVENTS && !_PXT_HAVE_PTHREAD_H && !defined(POSIX_TRACE_OFF_NP) &&                \
    !defined(PXT_CONFIG_H)
#pragma message "hooks record nothing: libptrace was built without system events"
#endif

/* Left out, a hook is a condition that is known to be false. */
#if !defined(POSIX_TRACE_OFF_NP) && _PXT_UNIT_SYSEVENTS
#define _PXT_HOOK_WANTED(id) posix_trace_wanted_np(id)
#define _PXT_HOOK_TELL(id)   posix_trace_system_event_np(id, _pxt_data, _pxt_used, NULL)
#else
#define _PXT_HOOK_WANTED(id) 0
#define _PXT_HOOK_TELL(id)   (void)0
#endif

/* Data is packed, in this machine's byte order. */
#define _PXT_HOOK_PUT(value)                                                                       \
	do {                                                                                       \
		memcpy(_pxt_data + _pxt_used, &(value), sizeof(value));                            \
		_pxt_used += sizeof(value);                                                        \
	} while (0)

#define _PXT_HOOK_BYTES 32u
/* An event of the type @id, whose data @puts puts together; of so many values. */
#define _PXT_HOOK(id, puts)                                                                        \
	do {                                                                                       \
		if (_PXT_HOOK_WANTED(id)) {                                                        \
			unsigned char _pxt_data[_PXT_HOOK_BYTES];                                  \
			size_t _pxt_used = 0;                                                      \
                                                                                                   \
			puts;                                                                      \
			_PXT_HOOK_TELL(id);                                                        \
		}                                                                                  \
	} while (0)
#define _PXT_HOOK_2(id, a, b)    _PXT_HOOK(id, _PXT_HOOK_PUT(a); _PXT_HOOK_PUT(b))
#define _PXT_HOOK_3(id, a, b, c) _PXT_HOOK(id, _PXT_HOOK_PUT(a); _PXT_HOOK_PUT(b); _PXT_HOOK_PUT(c))
#define _PXT_HOOK_4(id, a, b, c, d)                                                                \
	_PXT_HOOK(id, _PXT_HOOK_PUT(a); _PXT_HOOK_PUT(b); _PXT_HOOK_PUT(c); _PXT_HOOK_PUT(d))
#define _PXT_HOOK_6(id, a, b, c, d, e, f)                                                          \
	_PXT_HOOK(id, _PXT_HOOK_PUT(a); _PXT_HOOK_PUT(b); _PXT_HOOK_PUT(c); _PXT_HOOK_PUT(d);      \
	          _PXT_HOOK_PUT(e); _PXT_HOOK_PUT(f))

/*
 * Another thread runs on @cpu.
 *
 * @prev_state: 0: it could go on; else the system's own number of its state.
 *
 * In the short form (PTRACE_SYSEV_SHORT_SWITCH) a number that does not fit is the largest one.
 */
#if _PXT_SHORT_SWITCH
#define _PXT_HOOK_MOST(value, most) ((value) < (most) ? (value) : (most))

static inline void posix_trace_hook_context_switch_np(uint32_t _cpu, uint32_t _prev_tid,
    uint32_t _next_tid, uint32_t _prev_state, int32_t _prev_prio, int32_t _next_prio)
{
	(void)_cpu;
	(void)_prev_prio;
	if (_PXT_HOOK_WANTED(POSIX_TRACE_CONTEXT_SWITCH_NP)) {
		const uint16_t _from = (uint16_t)_PXT_HOOK_MOST(_prev_tid, 0xffffu);
		const uint16_t _to = (uint16_t)_PXT_HOOK_MOST(_next_tid, 0xffffu);
		const uint8_t _state = (uint8_t)_PXT_HOOK_MOST(_prev_state, 0xffu);
		const int8_t _prio =
		    (int8_t)(_next_prio < -128 ? -128 : _PXT_HOOK_MOST(_next_prio, 127));
		unsigned char _pxt_data[_PXT_HOOK_BYTES];
		size_t _pxt_used = 0;

		_PXT_HOOK_PUT(_from);
		_PXT_HOOK_PUT(_to);
		_PXT_HOOK_PUT(_state);
		_PXT_HOOK_PUT(_prio);
		_PXT_HOOK_TELL(POSIX_TRACE_CONTEXT_SWITCH_NP);
	}
}
#else
static inline void posix_trace_hook_context_switch_np(uint32_t _cpu, uint32_t _prev_tid,
    uint32_t _next_tid, uint32_t _prev_state, int32_t _prev_prio, int32_t _next_prio)
{
	_PXT_HOOK_6(POSIX_TRACE_CONTEXT_SWITCH_NP, _cpu, _prev_tid, _next_tid, _prev_state,
	    _prev_prio, _next_prio);
}
#endif

/*
 * @lock is asked for, and @holder has it.
 *
 * @holder: a number of a task, 0 where that is not known.
 */
static inline void posix_trace_hook_mutex_wait_np(uint64_t _lock, uint32_t _holder)
{
	_PXT_HOOK_2(POSIX_TRACE_MUTEX_WAIT_NP, _lock, _holder);
}

/*
 * The running task has @lock, or did not get it.
 *
 * @waited_us: microseconds; 0: it did not wait, or nobody measured.
 * @result:    0, or an error number.
 */
static inline void posix_trace_hook_mutex_lock_np(
    uint64_t _lock, uint32_t _waited_us, int32_t _result)
{
	_PXT_HOOK_3(POSIX_TRACE_MUTEX_LOCK_NP, _lock, _waited_us, _result);
}

/*
 * The running task gives @lock back.
 *
 * @result: 0, or an error number.
 */
static inline void posix_trace_hook_mutex_unlock_np(uint64_t _lock, int32_t _result)
{
	_PXT_HOOK_2(POSIX_TRACE_MUTEX_UNLOCK_NP, _lock, _result);
}

/*
 * A task has another state.
 *
 * @state:  POSIX_TRACE_TASK_..._NP.
 * @object: what it waits for; 0: nothing.
 */
static inline void posix_trace_hook_task_state_np(
    uint32_t _tid, uint8_t _state, int32_t _prio, uint64_t _object)
{
	_PXT_HOOK_4(POSIX_TRACE_TASK_STATE_NP, _tid, _state, _prio, _object);
}

/*
 * What the system does between tasks.
 *
 * @what:   POSIX_TRACE_KERNEL_..._NP.
 * @number: of the interrupt or timer.
 */
static inline void posix_trace_hook_kernel_np(uint8_t _what, uint32_t _number, uint64_t _object)
{
	_PXT_HOOK_3(POSIX_TRACE_KERNEL_OVERHEAD_NP, _what, _number, _object);
}

/*
 * A call begins.
 *
 * @call: POSIX_TRACE_CALL_..._NP, or a system's own number from 0x8000 on.
 */
static inline void posix_trace_hook_call_enter_np(uint16_t _call, uint64_t _object, uint64_t _size)
{
	_PXT_HOOK_3(POSIX_TRACE_CALL_ENTER_NP, _call, _object, _size);
}

/*
 * A call ends.
 *
 * @call:    as at its begin.
 * @result:  the call's result; less than 0: an error number.
 * @took_us: microseconds; 0: not known.
 */
static inline void posix_trace_hook_call_exit_np(
    uint16_t _call, uint64_t _object, int64_t _result, uint32_t _took_us)
{
	_PXT_HOOK_4(POSIX_TRACE_CALL_EXIT_NP, _call, _object, _result, _took_us);
}

/*
 * A change of a task's priority, its own or an inherited one.  Queues, semaphores, notifications
 * and timers of a system are calls as well: POSIX_TRACE_CALL_MQ_NP, _SEM_WAIT_NP, _SEM_POST_NP,
 * _TIMER_NP.
 */
static inline void posix_trace_hook_priority_np(uint32_t _tid, int32_t _prio)
{
	if (_PXT_HOOK_WANTED(POSIX_TRACE_CALL_ENTER_NP))
		posix_trace_hook_call_enter_np(
		    POSIX_TRACE_CALL_PRIORITY_NP, _tid, (uint64_t)(int64_t)_prio);
}

/*
 * A place in the source, with a number and a text.
 *
 * @line:  of the source.
 * @value: any number.
 * @text:  ended by a NUL; up to 64 bytes of it are kept.
 */
static inline void posix_trace_hook_debug_np(uint32_t _line, uint64_t _value, const char *_text)
{
	if (_PXT_HOOK_WANTED(POSIX_TRACE_GENERAL_DEBUG_NP)) {
		unsigned char _pxt_data[_PXT_HOOK_BYTES + 64u];
		size_t _pxt_used = 0;
		size_t _pxt_length = 0;

		_PXT_HOOK_PUT(_line);
		_PXT_HOOK_PUT(_value);
		while (_pxt_length < 64u && _text[_pxt_length])
			_pxt_data[_pxt_used++] = (unsigned char)_text[_pxt_length++];
		_PXT_HOOK_TELL(POSIX_TRACE_GENERAL_DEBUG_NP);
	}
}

/* Where the program is now: file, line, and no number. */
#define POSIX_TRACE_HERE_NP() posix_trace_hook_debug_np(__LINE__, 0, __FILE__)

#endif
