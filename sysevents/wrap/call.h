/* SPDX-License-Identifier: MIT */
/*
 * call.h - a call that may block, as two events: posix_trace_call_enter and posix_trace_call_exit.
 *
 * PXT_CALL_WRAP makes a wrapper of a function that returns a number, or -1 and errno:
 *
 *	PXT_CALL_WRAP(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes),
 *	    POSIX_TRACE_CALL_READ_NP, fd, bytes)
 *
 * PXT_CALL_WRAP_ERROR of one that returns an error number, or 0.
 */
#ifndef PXT_WRAP_CALL_H
#define PXT_WRAP_CALL_H

#include "sysevents/wrap/wrap.h"

/* What is known between the two events; in the wrapper's frame. */
struct pxt_call {
	uint64_t object;
	uint64_t begin;
	int64_t result; /* what the call gave, errors as negative error numbers */
	const void *caller;
	uint16_t number; /* 0: such calls are not recorded */
};

/*
 * A variable that records the end of the call at the end of its block, or when the thread is cancelled.
 */
#define PXT_CALL_SCOPE struct pxt_call __attribute__((cleanup(pxt_call_exit)))

#define PXT_CALL_NO_SIZE UINT64_MAX

PXT_WRAP_INLINE bool pxt_call_wanted(uint16_t number, const void *caller)
{
	return pxt_wrap_wanted(POSIX_TRACE_CALL_EXIT_NP, caller) && pxt_wrap_wants_call(number);
}

/* @asked: pxt_wait_ns() or pxt_wait_until().  Leaves errno alone. */
struct pxt_call pxt_call_enter_until(uint16_t number, uint64_t object, uint64_t size, int64_t asked,
    const void *caller) PXT_WRAP_HIDDEN;
PXT_WRAP_INLINE struct pxt_call pxt_call_enter(
    uint16_t number, uint64_t object, uint64_t size, const void *caller)
{
	return pxt_call_enter_until(number, object, size, PXT_WAIT_NO_LIMIT, caller);
}

/* The same where a library may be about to be loaded: no images are recorded. */
struct pxt_call pxt_call_enter_anywhere(
    uint16_t number, uint64_t object, uint64_t size, const void *caller) PXT_WRAP_HIDDEN;
/* Leaves errno alone. */
void pxt_call_exit(const struct pxt_call *call) PXT_WRAP_HIDDEN;
/* The same without the first one, of a call that cannot block. */
void pxt_call_tell(
    uint16_t number, uint64_t object, int64_t result, const void *caller) PXT_WRAP_HIDDEN;

/* Milliseconds of a limit; NULL: none. */
#define PXT_CALL_MS(time)                                                                          \
	((time) ? (uint64_t)(time)->tv_sec * 1000u + (uint64_t)(time)->tv_nsec / 1000000u          \
	        : PXT_CALL_NO_SIZE)

#define PXT_CALL_ERRNO(value) ((value) == -1 ? -(int64_t)errno : (int64_t)(value))

/* @asked: how long it is to wait at most, PXT_WAIT_NO_LIMIT or nanoseconds; @told: what its end tells. */
#define PXT_CALL_WRAP_UNTIL_AS(                                                                    \
    type, name, parameters, arguments, number, object, size, asked, told)                          \
	PXT_WRAPPER(type, name, parameters)                                                        \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(number, caller))                                              \
			return PXT_WRAP_CALL(name) arguments;                                      \
		PXT_CALL_SCOPE call = pxt_call_enter_until(                                        \
		    number, (uint64_t)(object), (uint64_t)(size), asked, caller);                  \
		type result = PXT_WRAP_CALL(name) arguments;                                       \
                                                                                                   \
		call.result = told;                                                                \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

#define PXT_CALL_WRAP_AS(type, name, parameters, arguments, number, object, size, told)            \
	PXT_CALL_WRAP_UNTIL_AS(                                                                    \
	    type, name, parameters, arguments, number, object, size, PXT_WAIT_NO_LIMIT, told)
#define PXT_CALL_WRAP_UNTIL(type, name, parameters, arguments, number, object, size, asked)        \
	PXT_CALL_WRAP_UNTIL_AS(type, name, parameters, arguments, number, object, size, asked,     \
	    PXT_CALL_ERRNO(result))
#define PXT_CALL_WRAP_ERROR_UNTIL(name, parameters, arguments, number, object, size, asked)        \
	PXT_CALL_WRAP_UNTIL_AS(                                                                    \
	    int, name, parameters, arguments, number, object, size, asked, -(int64_t)result)
#define PXT_CALL_WRAP(type, name, parameters, arguments, number, object, size)                     \
	PXT_CALL_WRAP_AS(                                                                          \
	    type, name, parameters, arguments, number, object, size, PXT_CALL_ERRNO(result))
#define PXT_CALL_WRAP_ERROR(name, parameters, arguments, number, object, size)                     \
	PXT_CALL_WRAP_AS(int, name, parameters, arguments, number, object, size, -(int64_t)result)

/* ---- Descriptors of timers (sleep.c) ---- */

#if PXT_GROUP_SLEEP
/* How long until @fd, if it is such a one, can be read; less than 0: it could be so long ago. */
int64_t pxt_timer_asked(int fd) PXT_WRAP_HIDDEN;
/* @result bytes were read: returns @result. */
int64_t pxt_timer_was_read(int fd, const void *what, int64_t result) PXT_WRAP_HIDDEN;
/* It is set or read without being recorded. */
void pxt_timer_was_missed(int fd) PXT_WRAP_HIDDEN;
/* The numbers are closed. */
void pxt_timer_forget(unsigned first, unsigned last) PXT_WRAP_HIDDEN;
#else
PXT_OFF_RETURNS(PXT_WAIT_NO_LIMIT, int64_t, pxt_timer_asked, int fd);
PXT_OFF_RETURNS(result, int64_t, pxt_timer_was_read, int fd, const void *what, int64_t result);
PXT_OFF(pxt_timer_was_missed, int fd);
PXT_OFF(pxt_timer_forget, unsigned first, unsigned last);
#endif

#endif
