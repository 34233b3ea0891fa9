/* SPDX-License-Identifier: MIT */
/* attr.h - the attributes object: checks, defaults, and the sizes that follow from it. */
#ifndef PXT_ATTR_H
#define PXT_ATTR_H

#include "format/attr_marks.h"
#include "format/slot.h"

#include <string.h>
#include <trace.h>

#define PXT_GENVERSION "ptrace 0" /* at most TRACE_NAME_MAX - 1 bytes (DEC-04) */

#if CONFIG_PTRACE_ATTACH
PXT_INLINE bool pxt_attr_producer(const struct _pxt_attr *attr)
{
	return (attr->_pxt_flags & PXT_ATTR_PRODUCER) != 0;
}

PXT_INLINE bool pxt_attr_guest(const struct _pxt_attr *attr)
{
	return pxt_attr_producer(attr) && (attr->_pxt_flags & PXT_ATTR_GUEST) != 0;
}
#else
PXT_OFF_RETURNS(false, bool, pxt_attr_producer, const struct _pxt_attr *attr);
PXT_OFF_RETURNS(false, bool, pxt_attr_guest, const struct _pxt_attr *attr);
#endif

/* ---- What the configuration allows ---- */

/* The largest stream size that the setter takes. */
#if CONFIG_PTRACE_LIMIT_STREAM_SIZE
#define PXT_STREAM_SIZE_MAX ((size_t)CONFIG_PTRACE_MAX_STREAM_SIZE)
#else
#define PXT_STREAM_SIZE_MAX SIZE_MAX
#endif

/* A smaller stream, as is asked for where memory is short, has one lane unless its attributes say more. */
#define PXT_STREAM_SIZE_SMALL 32768u

/* The largest data of a system event that a stream of this configuration records. */
#if CONFIG_PTRACE_SYSEV_FILTER
#define PXT_SYSTEM_DATA_MAX (2u * _PXT_EVENT_IDS / 8u)
#elif CONFIG_PTRACE_SYSEV_START_STOP && CONFIG_PTRACE_FILTER
#define PXT_SYSTEM_DATA_MAX (_PXT_EVENT_IDS / 8u)
#elif CONFIG_PTRACE_SYSEV_START_STOP || CONFIG_PTRACE_SYSEV_ERROR
#define PXT_SYSTEM_DATA_MAX ((uint32_t)sizeof(int))
#else
#define PXT_SYSTEM_DATA_MAX 0u
#endif

/* ---- Checks ---- */

/* EINVAL where @attr was not initialised, or @other is NULL; else 0. */
int pxt_attr_refuse(const trace_attr_t *attr, const void *other);

/* Whether a call may go on: 0, or the error that it returns (DEC-02). */
#if CONFIG_PTRACE_ARG_CHECKS
PXT_INLINE int pxt_attr_check(const trace_attr_t *attr, const void *other)
{
	return pxt_attr_refuse(attr, other);
}
#else
PXT_OFF_RETURNS(0, int, pxt_attr_check, const trace_attr_t *attr, const void *other);
#endif

/*
 * A getter, of a value of the attributes `kept`, and a setter, which refuses what makes @refused true: then
 * the old value stays.  @value: the parameter's name, as the header has it.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot stand in parentheses. */
#define PXT_ATTR_GETTER(function, type, value, get)                                                \
	PXT_API int function(const trace_attr_t *_PXT_RESTRICT attr, type *_PXT_RESTRICT value)    \
	{                                                                                          \
		int error = pxt_attr_check(attr, value);                                           \
                                                                                                   \
		if (!error) {                                                                      \
			const struct _pxt_attr *kept = &attr->_pxt_kept;                           \
                                                                                                   \
			*value = (get);                                                            \
		}                                                                                  \
		return error;                                                                      \
	}                                                                                          \
	_Static_assert(1, "")
#define PXT_ATTR_SETTER(function, type, value, member, refused)                                    \
	PXT_API int function(trace_attr_t *attr, type value)                                       \
	{                                                                                          \
		if (pxt_attr_check(attr, attr) || (refused))                                       \
			return EINVAL;                                                             \
		attr->_pxt_kept.member = value;                                                    \
		return 0;                                                                          \
	}                                                                                          \
	_Static_assert(1, "")
/* NOLINTEND(bugprone-macro-parentheses) */

/* Whether a pointer may be written through. */
#if CONFIG_PTRACE_ARG_CHECKS
PXT_INLINE bool pxt_arg_given(const void *pointer)
{
	return pointer != NULL;
}
#else
PXT_OFF_RETURNS(true, bool, pxt_arg_given, const void *pointer);
#endif

/*
 * Stores a result where the caller has @room bytes for its kind of structure: no more is written, and what
 * a later release knows beyond @bytes reads 0.
 */
PXT_INLINE void pxt_give(void *to, size_t room, const void *from, size_t bytes)
{
	size_t both = room < bytes ? room : bytes;

	memcpy(to, from, both);
	memset((unsigned char *)to + both, 0, room - both);
}

/* ---- Defaults ---- */

/* Fills in every default of this configuration, as posix_trace_attr_init() does. */
void pxt_attr_defaults(struct _pxt_attr *attr);
/*
 * Period of the stamp clock in nanoseconds, rounded up: what new attributes say of it.  1 until
 * Core, which alone may ask the port, has fixed a slower clock.
 */
extern _Atomic uint32_t pxt_attr_clockres_ns;
/* The full policies this configuration can do (ruling 17: the getters show the first that exists). */
bool pxt_attr_stream_policy_built(int policy);
bool pxt_attr_log_policy_built(int policy);
/* What "default" means for a stream without or with a log (DEC-06, ruling 17). */
int pxt_attr_default_stream_policy(bool with_log);
int pxt_attr_default_log_policy(void);

/* ---- Sizes ---- */

/* Slots of the largest system event in a stream of this configuration. */
PXT_INLINE uint32_t pxt_system_slots(void)
{
	return pxt_slots_for(PXT_CTX_BYTES + PXT_SYSTEM_DATA_MAX);
}

/* A stream of several lanes has a mark beside each system event (DESIGN.md, lanes). */
PXT_INLINE bool pxt_attr_may_have_lanes(const struct _pxt_attr *attr)
{
	return attr->_pxt_lanes > 1 || (attr->_pxt_lanes == 0 && _PXT_LANES_MAX > 1);
}

#endif
