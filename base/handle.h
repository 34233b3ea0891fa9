/* SPDX-License-Identifier: MIT */
/*
 * handle.h - trace identifiers: a number that leads to an object and to the functions of the
 * library that made it; and the calls that a stream and a log answer alike.
 *
 * A program may link libptrace and libptrace-retrieval together, static or shared, in either
 * order.  Both hold this file; the linker keeps one _pxt_handles, so an identifier made by one
 * library is known to the functions of the other, which act through its operations.
 *
 *   concurrency      add   find   remove
 *   add                   -     -      -        all may run at once, on any threads;
 *   find                  -     -      X(1)     (1) the object must outlive its users: the
 *   remove                -    X(1)    -            owner of the object sees to that
 */
#ifndef PXT_HANDLE_H
#define PXT_HANDLE_H

#include "format/compiler.h"

#include <stdbool.h>
#include <trace_np.h>

/*
 * Cells of the first chunk: every stream, and the logs that a reader usually has open at once.
 * More logs: pxt_handle_grow().
 */
#if CONFIG_PTRACE_LOGRETRIEVAL
#define PXT_HANDLES      (CONFIG_PTRACE_MAX_STREAMS + 24)
/* Logs can bring cells of their own: of the first ones they leave streams as many as these may need. */
#define PXT_HANDLES_KEPT ((uint32_t)CONFIG_PTRACE_MAX_STREAMS)
#else
#define PXT_HANDLES      CONFIG_PTRACE_MAX_STREAMS
#define PXT_HANDLES_KEPT 0u
#endif

/* How a reader waits for the next event. */
enum pxt_wait {
	PXT_WAIT_BLOCK,
	PXT_WAIT_TIMED,
	PXT_WAIT_NOT
};

/* Where getnext puts what it finds; all pointers as the caller gave them. */
struct pxt_getnext {
	trace_id_t trid; /* as it was when the object was found; its place may be another's since */
	struct posix_trace_event_info *event;
	void *data;
	size_t num_bytes;
	size_t *data_len;
	int *unavailable;
	const struct timespec *abstime;
	enum pxt_wait wait;
};

struct posix_trace_eventview_np;

/*
 * What an identifier can do; NULL = EINVAL for this kind.  Between the look-up and the object's own
 * lock another thread may end the stream of @trid, and the object may be reused: so `begin_call`, which
 * locks, and each operation that locks by itself gets @trid, and returns EINVAL if the object has
 * another one by then.
 */
struct pxt_ops {
	int (*begin_call)(void *object, trace_id_t trid);
	/* Unlocks; returns @error. */
	int (*end_call)(void *object, int error);
	/* Between these two (PXT_HANDLE_ASK). */
	int (*get_attr)(void *object, struct _pxt_attr *attr);
	int (*get_status)(void *object, struct posix_trace_status_info *status);
	/* Name and description of a type; EINVAL where the stream has no such type. */
	int (*type_name)(void *object, trace_event_id_t id, char *name);
	int (*type_format)(void *object, trace_event_id_t id, char *format);
	/* *next: of the list, or 0 at its end. */
	int (*type_next)(void *object, trace_event_id_t *next);
	int (*type_rewind)(void *object);
	int (*get_clock)(void *object, struct posix_trace_clock_np *clock);
	int (*rewind)(void *object);
	/* As getnext, without waiting; EMSGSIZE: it has no room, *data_len says how much it needs. */
	int (*getnext_whole)(void *object, const struct pxt_getnext *request);
	/* Many events at once; @room is not 0. */
	int (*views)(
	    void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count);
	/* They lock by themselves. */
	int (*close)(void *object, trace_id_t trid);
	int (*getnext)(void *object, const struct pxt_getnext *request);
	/* Says what @object is; the creating library compares it with its own tables. */
	const void *kind;
	/* What only a log can tell (struct pxt_log_getters of unit Log Retrieval); NULL for streams. */
	const void *log;
};

/*
 * Finds room for an object; logs leave streams theirs.  Returns ENOMEM when there is none, else 0 and
 * an identifier that was not given out for the last 65,535 uses of its cell.
 */
int pxt_handle_add(const struct pxt_ops *ops, void *object, trace_id_t *trid);
/* The object of a living identifier, and its operations; NULL for anything else. */
void *pxt_handle_find(trace_id_t trid, const struct pxt_ops **ops);
/* What it answers, locked: @answer calls one of its `ops` with `object`.  EINVAL: there is none, or not @may. */
#define PXT_HANDLE_ASK(trid, may, answer)                                                          \
	__extension__({                                                                            \
		const struct pxt_ops *ops;                                                         \
		void *object = pxt_handle_find(trid, &ops);                                        \
                                                                                                   \
		object && (may) && !ops->begin_call(object, trid) ? ops->end_call(object, answer)  \
		                                                  : EINVAL;                        \
	})
/* The object, if @trid lives and is of this kind; else NULL. */
void *pxt_handle_find_kind(trace_id_t trid, const void *kind);
void pxt_handle_remove(trace_id_t trid);
/* In a forked child: forgets all identifiers of the given kind that its parent made. */
void pxt_handle_forget_kind(const void *kind);
/*
 * In a forked child before fork() returns in it: forgets the identifiers that another thread of the
 * parent was just making.  Not later, when they may be a thread's of the child.
 */
void pxt_handle_forget_claims(void);
/*
 * Adds room for identifiers.  A caller that got ENOMEM from pxt_handle_add() and may have more
 * objects than the first chunk has cells for them (logs) hands over zeroed memory, which is never
 * given back and goes to forked children as it is, and adds again.  ENOMEM: the 65,534 identifiers
 * that the numbers allow exist, or @bytes is too small for one; @memory then remains the caller's.
 */
int pxt_handle_grow(void *memory, size_t bytes);

/*
 * The way of all three getnext functions: checks the arguments (EINVAL), then asks the object's
 * getnext.  Sets *unavailable on every return without an event (DEC-33); the operation sets it to
 * 0 with an event.  An operation says EINVAL to a kind of waiting that its object does not have.
 */
int pxt_getnext(trace_id_t trid, const struct pxt_getnext *request);
/* Whether its pointers are there that must be. */
bool pxt_getnext_given(const struct pxt_getnext *request);

/* The arguments of each of the functions as a request; a date comes to it where there is one. */
PXT_INLINE struct pxt_getnext pxt_getnext_request(trace_id_t trid,
    struct posix_trace_event_info *event, void *data, size_t num_bytes, size_t *data_len,
    int *unavailable, enum pxt_wait wait)
{
	return (struct pxt_getnext){ .trid = trid,
		.event = event,
		.data = data,
		.num_bytes = num_bytes,
		.data_len = data_len,
		.unavailable = unavailable,
		.wait = wait };
}

/* ---- The private members of struct posix_trace_event_info, for those who fill it in ---- */

/*
 * _pxt_cpu          the CPU, or -1
 * _pxt_flags        PXT_EVENT_...
 * _pxt_ticks        the raw counter
 * _pxt_lost_before  records lost directly before this event
 * _pxt_number       the record's number in the life of a log, with PXT_EVENT_NUMBERED
 */
#define PXT_EVENT_THREAD_EXACT 1u /* posix_thread_id was recorded */
#define PXT_EVENT_NUMBERED     2u /* _pxt_number was filled in */

#endif
