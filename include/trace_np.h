/* SPDX-License-Identifier: MIT */
/*
 * trace_np.h - what libptrace offers beyond the standard.  Every name ends in _np (or begins
 * with _PXT_/_pxt_ and is private); every function names its unit.
 *
 * Results, checks of arguments, context and cancellation are as trace.h says: error numbers, errno
 * kept, any thread but no signal handler, no cancellation point.
 *
 * Structures that are filled in may grow in later releases, at their end.  So a call says how
 * large those of its program are: sizeof(*pointer) follows each pointer to one.
 *
 * Trace points of one line are in trace_points_np.h, which is included here.
 */
#ifndef _PXT_TRACE_NP_H
#define _PXT_TRACE_NP_H 1

#include "trace.h"
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What there is ---- */

/* These headers' version: major * 10000 + minor * 100 + patch. */
#define POSIX_TRACE_VERSION_NP           _PXT_VERSION
/* What is declared, 1 or 0: units, and parts of them that can be left out. */
#define POSIX_TRACE_HAVE_CORE_NP         _PXT_UNIT_CORE
#define POSIX_TRACE_HAVE_ONLINE_NP       _PXT_UNIT_ONLINE
#define POSIX_TRACE_HAVE_TOLOG_NP        _PXT_UNIT_TOLOG
#define POSIX_TRACE_HAVE_USEREVENTS_NP   _PXT_UNIT_USEREVENTS
#define POSIX_TRACE_HAVE_FILTER_NP       _PXT_UNIT_FILTER
#define POSIX_TRACE_HAVE_INHERIT_NP      _PXT_UNIT_INHERIT
#define POSIX_TRACE_HAVE_ATTACH_NP       _PXT_UNIT_ATTACH
#define POSIX_TRACE_HAVE_LOGRETRIEVAL_NP _PXT_UNIT_LOGRETRIEVAL
#define POSIX_TRACE_HAVE_SYSEVENTS_NP    _PXT_UNIT_SYSEVENTS
#define POSIX_TRACE_HAVE_SNAPSHOT_NP     _PXT_UNIT_SNAPSHOT
#define POSIX_TRACE_HAVE_INSPECT_NP      _PXT_UNIT_INSPECT
#define POSIX_TRACE_HAVE_STACKS_NP       _PXT_UNIT_STACKS
#define POSIX_TRACE_HAVE_LOG_ROTATE_NP   _PXT_UNIT_LOG_ROTATE
#define POSIX_TRACE_HAVE_LOG_LINK_NP     _PXT_UNIT_LOG_LINK
#define POSIX_TRACE_HAVE_EXTENSIONS_NP   _PXT_UNIT_EXTENSIONS

#if _PXT_UNIT_EXTENSIONS
/*
 * What the library has that the program was started with; sysconf() is the C library's, and says
 * that there is none.
 *
 * @what: POSIX_TRACE_QUERY_..._NP.
 *
 * Returns the value, which is not an error number; -1: @what is unknown.
 * Context: anywhere.  Cost: constant.  Unit: Core.
 */
int posix_trace_query_np(int _what);
#define POSIX_TRACE_QUERY_VERSION_NP        0 /* POSIX_TRACE_VERSION_NP of its build */
#define POSIX_TRACE_QUERY_SYS_MAX_NP        1 /* TRACE_SYS_MAX */
#define POSIX_TRACE_QUERY_USER_EVENT_MAX_NP 2 /* TRACE_USER_EVENT_MAX */
#define POSIX_TRACE_QUERY_EVENT_NAME_MAX_NP 3 /* TRACE_EVENT_NAME_MAX */
#define POSIX_TRACE_QUERY_NAME_MAX_NP       4 /* TRACE_NAME_MAX */
/* 1 or 0: the options of the standard, as _SC_TRACE, _SC_TRACE_LOG and so on would be. */
#define POSIX_TRACE_QUERY_TRACE_NP          5
#define POSIX_TRACE_QUERY_LOG_NP            6
#define POSIX_TRACE_QUERY_EVENT_FILTER_NP   7
#define POSIX_TRACE_QUERY_INHERIT_NP        8
#endif

#if _PXT_UNIT_INSPECT
/* ---- Looking at events before they are recorded (unit Event Filter) ---- */

/*
 * After the filter of their types (posix_trace_set_filter()), a stream can judge its user events
 * one by one.  Levels in order of cost; an event that one keeps out does not reach the next one:
 *
 *	process -> thread -> handler
 *
 * An event that is kept out is not recorded, counted by posix_trace_getcounts_np() or reported as
 * lost; see posix_trace_getlevels_np().  A stream without any of these pays nothing; one with them
 * takes the way of streams with ordered stamps.  All of them are this process' own: children that
 * are forked later, and go on with the stream, keep what was in force at the fork.
 *
 * Each of the calls below puts its rules in force, then waits for the trace points that are
 * inside, for the hold-back time at most.  Where one is inside still it says EBUSY: that trace
 * point judges by the rules that it began with, and may be in a handler that was taken away.  The
 * same call again changes nothing, and says 0 as soon as all have left.
 */
#define POSIX_TRACE_HANDLERS_MAX_NP  16
#define POSIX_TRACE_THREADS_MAX_NP   32
#define POSIX_TRACE_PROCESSES_MAX_NP 16

struct posix_trace_handled_np {
	trace_event_id_t posix_event_id_np;
	const void *posix_data_np;         /* the trace point's own, or a copy; good until return */
	size_t posix_data_len_np;          /* as the stream would record it */
	const void *posix_prog_address_np; /* of the trace point; NULL where it is not recorded */
};

/*
 * A handler that returns 0 drops the event, else it is recorded.  It runs inside the trace point,
 * in the thread and the context that it is in, so in signal handlers, too.  It may trace: its own
 * events are recorded without asking a handler.  It must return, and must call none of the
 * functions that trace.h does not allow in signal handlers.  errno is kept.
 */
typedef int (*posix_trace_handler_np)(const struct posix_trace_handled_np *_event, void *_arg);

/*
 * The types in @set get this handler in place of what they had.  When the call has said 0, what a
 * handler that was taken away uses may go.  posix_trace_shutdown() does not say that: first take
 * the handlers away, or stop the threads.
 *
 * @handler: NULL: none.
 * @arg:     handed to it.
 *
 * EBUSY:  in force, but a trace point that began before is inside still.
 * ENOMEM: the stream would have more than POSIX_TRACE_HANDLERS_MAX_NP different pairs of @handler
 *         and @arg, or there is no memory for its rules; nothing has changed.
 * EINVAL: @trid is no active stream of this process; @set is NULL.
 * Cost: locks; waits for the trace points that are inside.  Unit: Event Filter.
 */
int posix_trace_set_handler_np(trace_id_t _trid, const trace_event_set_t *_set,
    posix_trace_handler_np _handler, void *_arg) _PXT_SETS(posix_trace_set_handler_np);
/*
 * From now on the stream records the user events of these threads alone.
 *
 * @threads: @count of them; may be NULL if @count is 0: all threads.
 * @count:   at most POSIX_TRACE_THREADS_MAX_NP.
 *
 * EBUSY, ENOMEM: as posix_trace_set_handler_np().
 * EINVAL: @trid is no active stream of this process; @threads is NULL; @count is larger.
 * Cost: as posix_trace_set_handler_np().  Unit: Event Filter.
 */
int posix_trace_set_threads_np(trace_id_t _trid, const pthread_t *_threads, size_t _count);
/*
 * From now on the stream records the user events of these processes alone: of this one and of those
 * that are forked later and go on with the stream.
 *
 * @pids:  @count of them; may be NULL if @count is 0: all processes.
 * @count: at most POSIX_TRACE_PROCESSES_MAX_NP.
 *
 * EBUSY, ENOMEM: as posix_trace_set_handler_np().
 * EINVAL: @trid is no active stream of this process; @pids is NULL; @count is larger.
 * Cost: as posix_trace_set_handler_np().  Unit: Event Filter.
 */
int posix_trace_set_processes_np(trace_id_t _trid, const pid_t *_pids, size_t _count);
/*
 * Types of @set are recorded short: an event keeps 4 bytes of data, takes two slots, and reads as
 * cut (POSIX_TRACE_TRUNCATED_RECORD).  A type that is to be read short has what matters first.
 * All other types are recorded whole.
 *
 * EBUSY, ENOMEM: as posix_trace_set_handler_np().
 * EINVAL: @trid is no active stream of this process; @set is NULL.
 * Cost: as posix_trace_set_handler_np().  Unit: Event Filter.
 */
int posix_trace_set_short_np(trace_id_t _trid, const trace_event_set_t *_set)
    _PXT_SETS(posix_trace_set_short_np);

/* Since the stream began to be inspected, in this process. */
struct posix_trace_levels_np {
	uint64_t posix_came_np;        /* user events that the filter of types let through */
	uint64_t posix_not_process_np; /* of these, not of a process that is asked for */
	uint64_t posix_not_thread_np;  /* of the rest, not of a thread that is asked for */
	uint64_t posix_handled_np;     /* of the rest, handlers were called for so many, ... */
	uint64_t posix_not_handler_np; /* ... and dropped so many */
	uint64_t posix_shortened_np;   /* recorded short */
};
/*
 * How many events came to each level; where pointers have 32 bits, modulo 2^32.
 *
 * EINVAL: @trid is no active stream of this process; @levels is NULL.
 * Cost: lock.  Unit: Event Filter.
 */
int posix_trace_getlevels_np(
    trace_id_t _trid, struct posix_trace_levels_np *_levels, size_t _bytes);
#endif

/* ---- A full policy of streams beyond the standard's (unit Core) ---- */

/*
 * For posix_trace_attr_setstreamfullpolicy().  A stream that is full refuses new events, and goes
 * on: what is old stays, and nothing stops.  The reader finds POSIX_TRACE_OVERFLOW and
 * POSIX_TRACE_RESUME, and posix_lost_before_np, before the first event after a gap.  The stream is
 * full when it has no room for the smallest event; it is running nevertheless.  Events that were
 * refused last of all are seen in the counts and in the overrun status alone.
 *
 * After a gap an event takes one slot of 16 bytes more, which says how many were refused.
 */
#define POSIX_TRACE_DISCARD_NP 5

/* ---- What went wrong inside (unit Core) ---- */

/*
 * The data of a POSIX_TRACE_ERROR event is one int: what failed, and the error number.  It is
 * recorded in the stream concerned, while that is running and its filter lets it in:
 *
 * LOG     a flush failed, with the number that posix_trace_flush() returned; the next one is
 *         recorded when the number changes, or after a flush that succeeded
 * RECORD  a reader passed over a record whose writer did not complete it: EOWNERDEAD, its writer is
 *         dead; ETIMEDOUT, the hold-back time is over.  It is counted as lost.
 * TYPES   no more event types can be defined (ENOSPC): whatever is opened now is the unnamed type.
 *         In all streams of the process.
 * ATTACH  a process could not attach, with the error number that it got
 * POINT   a typed point has other fields than its name has already (EBUSY): another file defines it
 *         otherwise.  What this point records is unnamed, and tells its place in the program.
 *
 * POSIX_TRACE_ERROR_OF_NP() makes such an int; POSIX_TRACE_ERROR_CAUSE_NP() and
 * POSIX_TRACE_ERROR_NUMBER_NP() take it apart.
 *
 * @cause:  what failed, POSIX_TRACE_ERROR_..._NP.
 * @number: the error number.
 * @data:   the int that came with the event.
 *
 * Returns the int, what failed, or the error number.
 * Context: anywhere.  Cost: constant.  Unit: Core.
 */
#define POSIX_TRACE_ERROR_LOG_NP               1
#define POSIX_TRACE_ERROR_RECORD_NP            2
#define POSIX_TRACE_ERROR_TYPES_NP             3
#define POSIX_TRACE_ERROR_ATTACH_NP            4
#define POSIX_TRACE_ERROR_POINT_NP             5
#define POSIX_TRACE_ERROR_OF_NP(cause, number) ((int)((unsigned)(cause) << 16 | (unsigned)(number)))
#define POSIX_TRACE_ERROR_CAUSE_NP(data)       ((int)((unsigned)(data) >> 16))
#define POSIX_TRACE_ERROR_NUMBER_NP(data)      ((int)((unsigned)(data) % 65536u))

/* ---- Tasks and interrupts of a system without threads of POSIX (port `bare`) ---- */

#if !_PXT_HAVE_PTHREAD_H
/*
 * A task's own words: in its control block, and there as long as it is known.  With them an event
 * says which task recorded it, and a task that is interrupted inside a trace point stands in
 * nobody's way.  Without any call of these, all is one task.
 */
struct posix_trace_task_np {
	uint64_t _pxt_own[6];
	uint32_t _pxt_number;
	const char *_pxt_name;
};
/*
 * Before the task first runs.
 *
 * @task:   its own words; they stay as long as the task is known.
 * @number: as the hooks name it, not 0.
 * @name: kept by reference; logs have its first 15 bytes.
 * Context: task, interrupt, scheduler.  Cost: 56 bytes are written.  Unit: Core.
 */
void posix_trace_task_begin_np(
    struct posix_trace_task_np *_task, uint32_t _number, const char *_name);
/*
 * It runs from now on: called by the switch.
 *
 * @task: NULL: what runs is no task.
 * Context: scheduler, with interrupts away or not.  Cost: one store.  Unit: Core.
 */
void posix_trace_task_switch_np(struct posix_trace_task_np *_task);
/*
 * It never runs again; its words are the system's again.  Its place is given to another task once
 * no record of it is left, so tasks may come and go; nobody waits for one that was deleted inside
 * a trace point.
 *
 * @task: as at its begin.
 *
 * Called by another task, or by this one when nothing of it records any more.
 * Context: task.  Cost: now and then a look at all slots of all streams.  Unit: Core.
 */
void posix_trace_task_end_np(struct posix_trace_task_np *_task);
/*
 * An interrupt begins, on a processor that does not number what it handles: others than Cortex-M.
 * Interrupts may come inside one another.
 *
 * Returns what posix_trace_interrupt_end_np() wants at its end.
 * @number: the interrupt's, not 0.
 * Context: interrupt, with others away.  Cost: a look at CONFIG_PTRACE_INTERRUPTS places.  Unit:
 * Core.
 */
void *posix_trace_interrupt_begin_np(uint32_t _number);
/*
 * The interrupt ends.
 *
 * @interrupted: what posix_trace_interrupt_begin_np() returned.
 *
 * Context: interrupt, with others away.  Cost: one store.  Unit: Core.
 */
void posix_trace_interrupt_end_np(void *_interrupted);
#endif

/* ---- What a stream counted (unit Core) ---- */

/*
 * At every moment and exactly: written == retrieved + lost + cleared + held.  The members count
 * records that writers and control calls put into the stream; automatic STOP and START, OVERFLOW,
 * RESUME and FLUSH_* events, which readers make, are not among them.
 */
struct posix_trace_counts_np {
	uint64_t posix_written_np;   /* records generated while running or automatically stopped */
	uint64_t posix_retrieved_np; /* handed to readers or flushed to the log */
	uint64_t posix_lost_np;      /* overwritten, refused, never finished, or cut off a log */
	uint64_t posix_cleared_np;   /* discarded by posix_trace_clear() */
	uint64_t posix_held_np;      /* still in the stream */
	int posix_stable_np;         /* 1: all lanes were read without a change in between */
	uint32_t _pxt_later[5];      /* for counts to come: it stands inside of other structures */
};

#if _PXT_UNIT_EXTENSIONS
/*
 * The streams that this process has made and not shut down, with log or without, as they are now;
 * what a library has made, too.  posix_trace_get_attr() and posix_trace_get_status() tell about
 * each.
 *
 * @trids: room for @room identifiers; may be NULL if that is 0.
 * @count: how many streams there are.  If that is more than @room, the first @room are stored.
 *
 * EINVAL: a pointer is NULL.
 * Cost: a lock for each place that a stream can have.  Unit: Core.
 */
int posix_trace_streams_np(trace_id_t *_trids, size_t _room, size_t *_count);
#endif

#if (_PXT_UNIT_EXTENSIONS || _PXT_UNIT_LOG_LINK) && _PXT_UNIT_FILTER
/*
 * Adds all types of this process whose names match: a group, for posix_trace_set_filter().  Types
 * that are defined later are not in it.
 *
 * @pattern: '*' stands for any text, '?' for one byte: "net_*", "posix_trace_*", "*".
 * @set:     a set; what is in it stays.
 *
 * ENOENT: no type has such a name, so nothing was added.
 * EINVAL: a pointer is NULL.
 * Cost: steps in proportion to the types and the lengths of name and pattern.  Unit: Event Filter.
 */
int posix_trace_eventset_addgroup_np(const char *_pattern, trace_event_set_t *_set)
    _PXT_SETS(posix_trace_eventset_addgroup_np);
#endif

/* ---- More about a retrieved event (units On-Line and Log Retrieval) ---- */

struct posix_trace_eventextra_np {
	int posix_cpu_np; /* CPU, or -1 where it was not recorded */
	/*
	 * The counter as the trace point read it.  posix_timestamp is that in time, but never
	 * before the event reported last: where stamps of different processors, or around a trace
	 * point that was interrupted, step back, it stays and this one shows it.  Events that the
	 * reader makes (automatic START and STOP, OVERFLOW, RESUME, FLUSH_*) never step back.
	 */
	uint64_t posix_ticks_np;
	uint64_t posix_lost_before_np; /* records lost directly before this event */
	int posix_thread_exact_np;     /* 0: the thread was not recorded and reads as 0 */
	/*
	 * Logs: which record of the stream's life this is, from 0: the one name of an event that
	 * stays when the log grows, loops, or is cleared in place (a file begun anew counts from 0
	 * again, and posix_generation_np is one higher).  Streams: 0.
	 */
	uint64_t posix_number_np;
	/*
	 * Logs: the entry of posix_trace_log_getthread_np() that is this thread's; a pthread_t
	 * alone may have been that of several, one after another.  A thread that came when the
	 * table of threads was full (CONFIG_PTRACE_MAX_THREADS) has one from its first event on
	 * that is read, with pid and tid, without a name.  UINT32_MAX: not even its tid is known.
	 * Streams: UINT32_MAX.
	 */
	uint32_t posix_thread_entry_np;
};

/*
 * What the standard's structure has no public members for.
 *
 * @event: as a getnext function filled it in.
 * @extra: all of it is written.
 *
 * EINVAL: an argument is NULL.
 * Context: also signal handlers.  Cost: constant.  Unit: any.
 */
int posix_trace_eventinfo_getextra_np(const struct posix_trace_event_info *_event,
    struct posix_trace_eventextra_np *_extra, size_t _bytes)
    _PXT_TIMES(posix_trace_eventinfo_getextra_np);

/* ---- The stamp clock of a stream or log (any unit) ---- */

#define POSIX_TRACE_CLOCK_TSC_NP       1 /* the processor's invariant counter */
#define POSIX_TRACE_CLOCK_MONOTONIC_NP 2 /* clock_gettime(CLOCK_MONOTONIC), in nanoseconds */
#define POSIX_TRACE_CLOCK_PORT_NP      3 /* what a bare-metal port or the program supplies */

struct posix_trace_clock_np {
	int posix_source_np;             /* POSIX_TRACE_CLOCK_... */
	uint32_t posix_error_ppm_np;     /* bound of the rate's error, parts per million */
	uint64_t posix_hz_np;            /* ticks per second */
	uint64_t posix_anchor_ticks_np;  /* the counter at creation, ... */
	struct timespec posix_anchor_np; /* ... and CLOCK_REALTIME at that moment */
	uint32_t _pxt_later[4];          /* as in struct posix_trace_counts_np */
};

/*
 * The clock that stamped the events of a stream or log.  A stamp is
 * anchor + (ticks - anchor ticks) / hz; a log corrects that piecewise by the readings in it.
 *
 * EINVAL: @trid unknown; @clock is NULL.
 * Cost: constant.  Unit: any.
 */
int posix_trace_getclock_np(trace_id_t _trid, struct posix_trace_clock_np *_clock, size_t _bytes)
    _PXT_TIMES(posix_trace_getclock_np);

#if _PXT_UNIT_EXTENSIONS && _PXT_HAVE_PTHREAD_H
/*
 * From now on the events of this process are stamped with what @clock returns, until another call.
 * For simulated time, and for counters that the library does not know.
 *
 * @clock: called with @context by every trace point that records, in its context, so in signal
 *         handlers, too; it must never step back, and must go on by and by, because unfinished
 *         records are waited for by it.  NULL: the machine's own clock comes back.
 * @hz:    what it goes on by in a second, at most 10,000,000,000.  Times that are retrieved count
 *         from the moment at which the stream was created.
 *
 * EBUSY:  the process has a stream, or a trace point of one that is gone has not been left yet.
 * EINVAL: @hz is out of range.
 * Context: thread, beside all other calls.  Trace points then take the way that tests the clock
 * each time.
 * Cost: lock.  Unit: Core.
 */
int posix_trace_set_process_clock_np(
    uint64_t (*_clock)(void *_context), void *_context, uint64_t _hz);
#endif

/* ---- Typed payloads (setting: unit User Events; getting: any unit) ---- */

/*
 * A description names the fields of an event's data, in order, without padding between them, in the
 * byte order of the machine that records:
 *
 *	description = [ fields ] [ ";" message ]   at most 32 fields, at most 255 bytes; not empty
 *	fields      = field { "," field }
 *	field       = type blanks name             blanks (spaces, tabs) also around types and names
 *	type        = "u8"  | "u16" | "u32" | "u64"      unsigned
 *	            | "i8"  | "i16" | "i32" | "i64"      signed, two's complement
 *	            | "x8"  | "x16" | "x32" | "x64"      unsigned, printed as hexadecimal
 *	            | "float" | "f32" | "double" | "f64"   IEEE 754
 *	            | "char[" N "]" | "text[" N "]"      N bytes of text, shorter ones end in NULs
 *	            | "text" | "string"                  the rest of the data; last field only
 *	name        = a C identifier, 1 to 63 bytes, no two of them the same
 *
 * N is decimal, 1 to 4,095; so is the sum of all fields but a trailing text.  For example
 * "u32 job, i64 late_ns" or "x32 address, char[16] who, text why".
 *
 * A message is for posix_trace_text_np(): any text, in which conversions like printf()'s stand for
 * the fields, in order: "u32 motor, float by; motor %u is %.1f degrees too hot".
 */

/* Longest description, without the NUL. */
#define POSIX_TRACE_FORMAT_MAX_NP 255
/* Most fields in a description. */
#define POSIX_TRACE_FIELDS_MAX_NP 32

#if _PXT_UNIT_USEREVENTS
/*
 * Describes the data of a user event type, for all streams and logs of the process, also those
 * that exist already.  The first description of a type stays.  Nothing checks events against it.
 *
 * @event_id: from posix_trace_eventid_open(); the unnamed type has no data of one kind.
 * @format:   copied.
 *
 * Returns 0 also when the type has this very text already.
 * EINVAL: @format is malformed; @event_id is no user type of its own.
 * EBUSY:  the type has another description.
 * ENOMEM: the room for descriptions (CONFIG_PTRACE_FORMAT_POOL_BYTES) is used up.
 * EAGAIN: a forked process is stopped in the middle of a definition
 *         (posix_trace_attr_setinherited()).
 * Cost: lock; steps in proportion to the text.  Unit: User Events.
 */
int posix_trace_eventid_setformat_np(trace_event_id_t _event_id, const char *_format);
#endif
#if _PXT_UNIT_STACKS
/*
 * posix_trace_event() with the functions that called the one that it stands in, innermost first.
 * They follow the data as addresses of 8 bytes, and the type's description says so.
 * POSIX_TRACE_STACK_NP() of a number from 1 to 8 is the text "x64 caller1, x64 caller2" and so on:
 *
 *	error = posix_trace_eventid_setformat_np(id, "u32 job, " POSIX_TRACE_STACK_NP(4));
 *	...
 *	error = posix_trace_event_stack_np(id, &job, sizeof(job), 4);
 *
 * `pxtrace print --address` shows their names, and `pxtrace export` draws the stacks (folded,
 * speedscope, chrome, perfetto).  POSIX_TRACE_DEFINE_STACK_NP() is for points of one line.
 *
 * The tables for exceptions in the binaries tell how a function is left; frame pointers are not
 * needed.  There are fewer than @depth where the stack ends, at a function without a table, at the
 * frame of a signal, and where a value cannot be one.  There are none on machines other than x86-64
 * and aarch64, and with a C library other than glibc 2.35 or later.
 *
 * @event_id: as for posix_trace_event(), and with no effect where it has none there.
 * @data:     @len bytes; may be NULL if there are none.
 * @len:      bytes of data, at most POSIX_TRACE_STACK_DATA_NP.
 * @depth:    how many functions at most, 1 to POSIX_TRACE_STACK_MAX_NP.
 *
 * Returns 0 also when no stream wants the type.
 * EINVAL: @depth or @len is out of range; @data is NULL and @len is not 0.
 * Context: as posix_trace_event().  For each further page of a stack other than main()'s it asks
 * the kernel by a system call, rt_sigprocmask(), whether the page is mapped.
 * Cost: 16 bytes of the stream more for each 12 bytes of addresses begun; for each function that is
 * looked at a search in its binary's table, and 64 KiB of the stack are looked at in all.  Nothing
 * is allocated, no lock is taken.  Unit: User Events, symbol STACKS.
 */
int posix_trace_event_stack_np(
    trace_event_id_t _event_id, const void *_data, size_t _len, unsigned _depth);
#define POSIX_TRACE_STACK_MAX_NP    8   /* functions */
#define POSIX_TRACE_STACK_DATA_NP   256 /* bytes of data beside them */
#define POSIX_TRACE_STACK_NP(depth) _PXT_STACK_WORDS(depth)
#define _PXT_STACK_WORDS(depth)     _PXT_STACK_##depth
#define _PXT_STACK_1                "x64 caller1"
#define _PXT_STACK_2                _PXT_STACK_1 ", x64 caller2"
#define _PXT_STACK_3                _PXT_STACK_2 ", x64 caller3"
#define _PXT_STACK_4                _PXT_STACK_3 ", x64 caller4"
#define _PXT_STACK_5                _PXT_STACK_4 ", x64 caller5"
#define _PXT_STACK_6                _PXT_STACK_5 ", x64 caller6"
#define _PXT_STACK_7                _PXT_STACK_6 ", x64 caller7"
#define _PXT_STACK_8                _PXT_STACK_7 ", x64 caller8"
#endif
#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_USEREVENTS && _PXT_HAVE_PTHREAD_H
/*
 * Records which threads the process has now, in every running stream that wants it: for each
 * thread an event of the type "thread_state" with the fields tid, prio (as the scheduler counts:
 * smaller is more urgent), rt_prio, cpu, policy ("fifo"), state ("sleeping") and name.  At the
 * start of a trace it tells of threads that record nothing themselves; `pxtrace why` learns
 * priorities from it.
 *
 * @threads: so many were recorded; may be NULL.
 *
 * Threads that begin or end meanwhile may be left out.
 * EBUSY:  the program has described the type "thread_state" otherwise.
 * ENOMEM: there is no room for another type.
 * EAGAIN: a forked process is stopped in the middle of a definition
 *         (posix_trace_attr_setinherited()).
 * Context: thread; it reads files of the system.  Cost: 6 slots and two files for each thread;
 * nothing where no stream wants the type.  Unit: User Events, symbol EXTENSIONS.
 */
int posix_trace_dump_threads_np(size_t *_threads);
#endif
/*
 * The description of a type of a stream or log; "" for a type without one.
 *
 * @format: @room bytes; POSIX_TRACE_FORMAT_MAX_NP + 1 are enough for any.
 *
 * ERANGE: the description and its NUL have no room.
 * EINVAL: @trid unknown; no such type there; @format is NULL.
 * Cost: constant.  Unit: any.
 */
int posix_trace_eventid_getformat_np(
    trace_id_t _trid, trace_event_id_t _event_id, char *_format, size_t _room);

#define POSIX_TRACE_FIELD_UNSIGNED_NP 1
#define POSIX_TRACE_FIELD_SIGNED_NP   2
#define POSIX_TRACE_FIELD_HEX_NP      3
#define POSIX_TRACE_FIELD_FLOAT_NP    4
#define POSIX_TRACE_FIELD_TEXT_NP     5

struct posix_trace_field_np {
	char posix_name_np[64];
	int posix_kind_np;        /* POSIX_TRACE_FIELD_... */
	uint32_t posix_bytes_np;  /* bytes in this event; a text's without the NULs after it */
	uint32_t posix_offset_np; /* in the event's data */
	union {
		uint64_t posix_u_np;
		int64_t posix_i_np;
		double posix_f_np;
	} posix_value_np;
};

/*
 * Walks the fields of one event's data.
 *
 * @format:  a description; at most POSIX_TRACE_FORMAT_MAX_NP + 1 bytes of it are read.
 * @data:    @len bytes, of any alignment; may be NULL if @len is 0.
 * @len:     bytes of the event's data.
 * @swapped: non-zero when the data has the other byte order than this machine.  0 for what
 *           posix_trace_getnext_event() handed out with the log's own description: its fields are
 *           in this machine's order, wherever they were recorded.  posix_swapped_np for a
 *           description that the log does not have: such data is handed out as it was recorded.
 * @cursor:  0 at the first call, then as the last call left it.
 * @field:   a text is at posix_offset_np of @data and has no NUL after it.
 *
 * ENOENT: no more fields, or the data ends within this one (it was cut).
 * EINVAL: @format is malformed (found at the first call); another argument invalid.
 * Context: also signal handlers.  Cost: steps in proportion to the description.  Unit: any.
 */
int posix_trace_field_next_np(const char *_format, const void *_data, size_t _len, int _swapped,
    size_t *_cursor, struct posix_trace_field_np *_field, size_t _bytes);
/*
 * Takes a description apart once, for who reads the same fields of many events.
 *
 * @format: a description; at most POSIX_TRACE_FORMAT_MAX_NP + 1 bytes of it are read.
 * @fields: of each field its name, kind, offset and bytes, whatever an event holds of it; bytes
 *          are 0 of a text up to the end of the data.  May be NULL if @room is 0.
 * @field_bytes: sizeof(*@fields): how far one is from the next.
 * @room:   in @fields; POSIX_TRACE_FIELDS_MAX_NP are always enough.
 * @count:  so many fields there are; beyond @room they are not written.
 *
 * EINVAL: @format is malformed; a pointer is NULL; @field_bytes is 0.
 * Context: also signal handlers.  Cost: steps in proportion to the description.  Unit: any.
 */
int posix_trace_fields_np(const char *_format, struct posix_trace_field_np *_fields,
    size_t _field_bytes, size_t _room, size_t *_count);
/*
 * One field of one event's data.
 *
 * @field: of posix_trace_fields_np().
 * @data, @len, @swapped: as of posix_trace_field_next_np().
 * @value: as that function has it, but that the name is left as it was.
 *
 * ENOENT: the data ends within this field or before it (it was cut).
 * EINVAL: there is no such @field; a pointer is NULL; @bytes is less than the structure had in the
 *         first release.
 * Context: also signal handlers.  Cost: constant; of a text, steps in proportion to the NULs after
 * it.
 * Unit: any.
 */
int posix_trace_field_value_np(const struct posix_trace_field_np *_field, const void *_data,
    size_t _len, int _swapped, struct posix_trace_field_np *_value, size_t _bytes);

#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE && _PXT_HAVE_PTHREAD_H) || _PXT_UNIT_LOGRETRIEVAL
/*
 * The message of one event, with its fields: text that the trace point did not have to make.
 *
 * A conversion is '%', flags of "-+ #0", width and precision up to 255, any of "hlLqjzt", and a
 * letter.  It takes the next field, whose type is known, so the letter only says how it is shown:
 * d i u as a number of the field's own sign, x X o c, e f g a, s as usual for its type.  "%%" is a
 * percent sign.  A letter that does not suit the type is as s.  A field that is missing, as the
 * data was cut, reads "?".  A conversion without field stays as it is.
 *
 * @format, @data, @len, @swapped: as of posix_trace_field_next_np().
 * @text:   @room bytes; ends in NUL, and is cut to fit.
 * @room:   bytes of @text, at least 1.
 *
 * ENOENT: the description has no message.
 * EINVAL: @format is malformed; a pointer is NULL; @room is 0.
 * Cost: steps in proportion to the text and the description.  Unit: On-Line, Log Retrieval.
 */
int posix_trace_text_np(
    const char *_format, const void *_data, size_t _len, int _swapped, char *_text, size_t _room);
#endif

/* ---- Events as a whole, or not yet (units On-Line and Log Retrieval) ---- */

#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL
/*
 * As posix_trace_trygetnext_event(), for streams without log and for logs, but that nothing is cut:
 * an event that is longer than the buffer stays where it is, and the call says how long it is.  The
 * next call, of whatever kind, reports it, unless a stream that overwrites has lost it by then.
 *
 * @data:        @num_bytes bytes; may be NULL if that is 0.
 * @num_bytes:   the room for data, in bytes.
 * @data_len:    bytes of the event's data, with EMSGSIZE, too.
 * @unavailable: non-zero: there is no event now, and nothing else was written.
 *
 * EMSGSIZE: the event has more than @num_bytes bytes; @event and @data are as before.
 * EINVAL:   @trid is neither; a pointer is NULL.
 * EIO:      as posix_trace_getnext_event().
 * Cost: lock; steps in proportion to the data.  Unit: On-Line, Log Retrieval.
 */
int posix_trace_trygetnext_whole_np(trace_id_t _trid, struct posix_trace_event_info *_event,
    void *_data, size_t _num_bytes, size_t *_data_len, int *_unavailable)
    _PXT_TIMES(posix_trace_trygetnext_whole_np);
#endif

/* ---- Log Retrieval: what a log knows beside its events ---- */

#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL
/*
 * One event of a log or stream, and where its data is: struct posix_trace_event_info and its extra
 * of an event that is looked at, not taken along.
 */
struct posix_trace_eventview_np {
	trace_event_id_t posix_event_id_np;
	uint32_t posix_bytes_np;       /* of data */
	const void *posix_data_np;     /* of any alignment; one piece, as getnext hands it out */
	int64_t posix_ns_np;           /* posix_timestamp in ns, 1678 to 2261 (INT64_MIN, _MAX) */
	uint64_t posix_ticks_np;       /* the counter as the trace point read it */
	uint64_t posix_lost_before_np; /* records lost directly before this event */
	uint64_t posix_number_np;      /* the record's in the stream's life; of a stream itself 0 */
	pthread_t posix_thread_id_np;
	void *posix_prog_address_np;
	pid_t posix_pid_np;
	int16_t posix_cpu_np;          /* CPU, or -1 where it was not recorded */
	uint8_t posix_cut_np;          /* 1: the data was cut when it was recorded */
	uint8_t posix_thread_exact_np; /* 0: the thread was not recorded and reads as 0 */
	/*
	 * Its entry: the index for posix_trace_log_getthread_np(), which tells threads apart whose
	 * pthread_t was used again.  UINT32_MAX: the log has none.
	 */
	uint32_t posix_thread_entry_np;
};
/*
 * The next events of a log or of a stream without log, as many as can be had together: the same
 * ones, in the same order, as so many calls of posix_trace_getnext_event() would report, for a
 * small part of the cost; both kinds of call may follow each other.  It does not wait.  Data is
 * not copied for the caller: it is good until the next call of any kind for this log or stream
 * that hands out events, goes back, closes it or shuts it down.  If several threads read it, the
 * caller locks until it has used the data.
 *
 * @views: filled from the front.
 * @view_bytes: sizeof(*@views): how far one is from the next.
 * @room:  events that @views has room for, at least 1.
 * @count: how many were filled in.  Log: they end at the latest with the block (FORMAT.md) they
 *         are in, so that fewer than @room does not mean the end: 0, with the result 0, does.  A
 *         log that grows may have more later.  Stream: 0, with the result 0: there is none now.
 *
 * *count is 0 with every error, unless @count is NULL.
 * EINVAL: @trid is neither; @room or @view_bytes is 0; a pointer is NULL.
 * EIO:    as posix_trace_getnext_event().  What came before was handed out by earlier calls.
 * ENOMEM: the stream's first call found no memory for the events' data.
 * Cost: lock; steps in proportion to the events and their data; of a log, a read of the file when
 * the next block is not in memory yet; of a stream, 32 KiB with the first call, given back by
 * shutdown.
 * Unit: On-Line, Log Retrieval.
 */
int posix_trace_getnext_events_np(trace_id_t _trid, struct posix_trace_eventview_np *_views,
    size_t _view_bytes, size_t _room, size_t *_count);
#endif

/* Bytes of a note in a log, without the zero. */
#define POSIX_TRACE_NOTE_NAME_MAX_NP 63
#define POSIX_TRACE_NOTE_TEXT_MAX_NP 255

#if _PXT_UNIT_LOGRETRIEVAL
struct posix_trace_loginfo_np {
	unsigned char posix_uuid_np[16];
	uint32_t posix_format_major_np;
	uint32_t posix_format_minor_np;
	int posix_word_bytes_np; /* 4 or 8: the recording machine's pointers */
	int posix_swapped_np;    /* 1: recorded on a machine of the other byte order */
	int posix_complete_np;   /* 0: a growing log, or one whose writer died */
	pid_t posix_pid_np;
	struct timespec posix_start_np; /* CLOCK_REALTIME of the stream's creation */
	struct timespec posix_end_np;   /* ... of its shutdown; 0 when unknown */
	uint64_t posix_blocks_np;
	/* Records that are not in it: lost in stream and log, or held at the stream's end. */
	uint64_t posix_lost_np;
	struct posix_trace_counts_np posix_counts_np;
	struct posix_trace_clock_np posix_clock_np;
	uint32_t posix_threads_np; /* number of thread entries, so far */
	uint32_t posix_modules_np; /* number of module entries */
	char posix_executable_np[256];
	char posix_host_np[65];
	uint32_t posix_generation_np; /* how often a clear began the file anew */
	/* CLOCK_MONOTONIC and CLOCK_BOOTTIME read together with start and end; 0 when unknown. */
	struct timespec posix_start_monotonic_np;
	struct timespec posix_start_boottime_np;
	struct timespec posix_end_monotonic_np;
	struct timespec posix_end_boottime_np;
	/*
	 * Which boot of which machine: logs with the same one share CLOCK_MONOTONIC and
	 * CLOCK_BOOTTIME. Zeros when unknown.
	 */
	unsigned char posix_boot_id_np[16];
	/* posix_trace_seal_on_signals_np(): what ended the process; 0 where no signal did. */
	int posix_signal_np;
	int posix_signal_code_np; /* si_code: above 0 a fault, else a process sent the signal */
	uint64_t posix_signal_address_np; /* of a fault: what it is about (si_addr) */
	uint64_t posix_signal_at_np;      /* the instruction that was interrupted; 0 when unknown */
	pid_t posix_signal_sender_np;     /* the process that sent it; 0: none */
	pid_t posix_signal_tid_np;        /* the system's number of the thread that it came to */
	uint32_t posix_cpus_np;           /* that the machine can have; 0 when unknown */
	char posix_system_np[40];         /* machine, kernel and its release; empty when unknown */
	struct timespec posix_process_start_np; /* of the process, CLOCK_REALTIME; 0 when unknown */
	uint32_t posix_notes_np;                /* number of notes */
	int posix_larger_priority_np; /* 1: in system events a larger priority is more urgent */
	/* Of a log in several files (posix_trace_attr_setrotation_np()): all have one UUID. */
	uint32_t posix_file_np;         /* number of this file, from 1; 0: the log is one file */
	uint64_t posix_earlier_np;      /* records in all files before it, ... */
	uint64_t posix_earlier_lost_np; /* ... and lost, as those files tell */
	uint64_t posix_earlier_repeated_np; /* records of those files with which this one begins */
};
struct posix_trace_logthread_np {
	uint64_t posix_thread_np; /* the pthread_t, as a number */
	pid_t posix_pid_np;
	pid_t posix_tid_np; /* 0 when unknown */
	char posix_name_np[16];
};
struct posix_trace_logmodule_np {
	uint64_t posix_base_np; /* difference between run-time and link-time addresses */
	uint64_t posix_low_np;  /* lowest and ... */
	uint64_t posix_high_np; /* ... one after the highest mapped address */
	uint32_t posix_buildid_bytes_np;
	unsigned char posix_buildid_np[32];
	char posix_path_np[256];
};
/* A note: what somebody wanted to be in the log (posix_trace_note_np()). */
struct posix_trace_lognote_np {
	char posix_name_np[POSIX_TRACE_NOTE_NAME_MAX_NP + 1];
	char posix_text_np[POSIX_TRACE_NOTE_TEXT_MAX_NP + 1];
};
/* A block of a log, or what came to it since it was read: what other formats call a packet. */
struct posix_trace_logblock_np {
	uint64_t posix_sequence_np;    /* its number in the log */
	uint64_t posix_records_np;     /* records to be read from it */
	uint64_t posix_lost_np;        /* lost in it, and between it and the block read before */
	uint64_t posix_begin_ticks_np; /* smallest and ... */
	uint64_t posix_end_ticks_np;   /* ... largest stamp in it; 0 without records */
	/*
	 * 0: no event in it is of POSIX_TRACE_PROCESS_NP or of a type task_rename, so none tells a
	 * thread's name.  1: one may be.
	 */
	uint32_t posix_names_np;
};
/* Why a log could not be opened, in words that name the place. */
struct posix_trace_logerror_np {
	uint64_t posix_offset_np; /* byte in the file where the trouble was seen */
	char posix_reason_np[160];
};

/*
 * What the log says about itself.
 *
 * EINVAL: @trid is no opened log; @info is NULL.
 * Cost: lock.  Unit: Log Retrieval.
 */
int posix_trace_log_getinfo_np(trace_id_t _trid, struct posix_trace_loginfo_np *_info,
    size_t _bytes) _PXT_TIMES(posix_trace_log_getinfo_np);
/*
 * One thread that the log knows, one piece of program text that was in memory, one note.
 *
 * @index: 0 up to posix_threads_np, posix_modules_np or posix_notes_np - 1.
 *
 * ENOENT: @index is after the last entry.
 * EINVAL: @trid is no opened log; a pointer is NULL.
 * Cost: lock.  Unit: Log Retrieval.
 */
int posix_trace_log_getthread_np(
    trace_id_t _trid, uint32_t _index, struct posix_trace_logthread_np *_thread, size_t _bytes);
int posix_trace_log_getmodule_np(
    trace_id_t _trid, uint32_t _index, struct posix_trace_logmodule_np *_module, size_t _bytes);
int posix_trace_log_getnote_np(
    trace_id_t _trid, uint32_t _index, struct posix_trace_lognote_np *_note, size_t _bytes);
/*
 * Enters the next block; the next calls of getnext hand out its records.  What is unread of the
 * present block is passed over.  The losses are those that the events' posix_lost_before_np tell,
 * by block; what only the log's end tells (posix_lost_np of the log) is in no block.
 *
 * @block:       what the block says of itself.
 * @unavailable: 0 with a block; non-zero at the end of the log, and on every error.
 *
 * EINVAL: @trid is no opened log; a pointer is NULL.
 * EIO:    the file cannot be read any more, or was changed; a block of a LOOP log is damaged.
 * Cost: lock; one block's head, and a read of the file when it is not in memory yet.
 * Unit: Log Retrieval.
 */
int posix_trace_log_nextblock_np(
    trace_id_t _trid, struct posix_trace_logblock_np *_block, size_t _bytes, int *_unavailable);
/*
 * What @ticks of the log's stamp clock mean: as an event's stamp, but without holding it back to
 * the event before.
 *
 * @ticks: of the log's clock; any value.
 *
 * EINVAL: @trid is no opened log; @time is NULL.
 * Cost: lock; steps in proportion to the logarithm of the number of clock readings.
 * Unit: Log Retrieval.
 */
int posix_trace_log_gettime_np(trace_id_t _trid, uint64_t _ticks, struct timespec *_time)
    _PXT_TIMES(posix_trace_log_gettime_np);
/* What lies in front of a place in a log. */
struct posix_trace_logpassed_np {
	uint64_t posix_records_np; /* events from the oldest one on */
	uint64_t posix_lost_np;    /* what their posix_lost_before_np tell in all */
};
/*
 * To the first event that is not before a time: the next call that hands out events begins with
 * the first one whose posix_ns_np is at least @ns, and its numbers, losses and time are those that
 * it has when the log is read from its oldest event on.  If no event is so late, the log is at its
 * end.  Names, threads, modules and notes are those of the whole log, as always.
 * posix_trace_rewind() goes back to the oldest event.
 *
 * The heads of blocks say between which stamps their records lie.  Blocks before the place are
 * passed over by them, and are not checked, but for the last one with events, which is read and
 * compared with its head.  Where that is not true, or stamps are from before the stream's
 * creation, all before the place is read.
 *
 * @ns:     as posix_ns_np: nanoseconds since 1970, on the log's line of time.
 * @passed: what lies before the place; may be NULL.
 *
 * EINVAL: @trid is no opened log.
 * EIO:    the file cannot be read any more, or was changed; a block that is read is damaged.
 * Cost: lock; two blocks, and of a complete log that does not overwrite the heads of a 250th of
 * it, of other logs those of all blocks before the place; else steps in proportion to the events
 * before it.
 * Unit: Log Retrieval.
 */
int posix_trace_seek_np(
    trace_id_t _trid, int64_t _ns, struct posix_trace_logpassed_np *_passed, size_t _bytes);
/* Flags of posix_trace_log_open_np(). */
#define POSIX_TRACE_OPEN_GROWING_NP 1

/*
 * As posix_trace_open(), with more choice; on failure @error says where and why, if anything of
 * the file is the reason: what is wrong first in the whole file.
 *
 * Several descriptors are those of a log that went from file to file
 * (posix_trace_attr_setrotation_np()), which is opened as one log: events of all of them one after
 * another, threads and types under one number each, one set of counts.  What is missing between
 * two of the files counts as lost, in front of the next event and in all; what is missing in front
 * of the first one is told by posix_earlier_np and does not.
 *
 * @file_descs: in any order; the files' heads tell theirs.
 * @count: how many, 10000 at most.
 * @flags: 0, or
 *	POSIX_TRACE_OPEN_GROWING_NP: the log is still being written, or its writer died; of
 *	several files each may lack its end.  At the log's present end getnext says "unavailable"; a
 *	later call looks again.  A log that is incomplete is read as far as it goes, one that is
 *	damaged up to the damage (posix_trace_log_skipdamage_np()).  A call that has no memory for
 *	the names and threads that came since returns ENOMEM; a later one finds all of them.
 * @error: may be NULL.  Its offset is in all files, one after another in the log's order.
 *
 * EINVAL: as posix_trace_open(), but for what the flag allows; a file is of another log, or there
 *         twice; @count is 0; @file_descs is NULL; @flags has another bit.
 * EMFILE, ENOMEM: as posix_trace_open().
 * Cost: as posix_trace_open(), and a descriptor for each file; of a log that is refused, and with
 * the flag, reading in proportion to its bytes.  Unit: Log Retrieval.
 */
int posix_trace_log_open_np(const int *_file_descs, size_t _count, int _flags, trace_id_t *_trid,
    struct posix_trace_logerror_np *_error, size_t _bytes);

/* What a finding in a log is. */
#define POSIX_TRACE_FINDING_DAMAGE_NP 1 /* bytes are not what was written, or are gone */
#define POSIX_TRACE_FINDING_END_NP    2 /* no trailer: it is being written, or its writer died */
#define POSIX_TRACE_FINDING_LAW_NP    3 /* numbers in it contradict each other */
#define POSIX_TRACE_FINDING_TYPE_NP   4 /* events of a type that it does not name */

struct posix_trace_logfinding_np {
	int posix_kind_np;        /* POSIX_TRACE_FINDING_... */
	uint64_t posix_block_np;  /* number of the block, from the file's start, from 0 */
	uint64_t posix_offset_np; /* byte in the file */
	char posix_reason_np[160];
};
struct posix_trace_logcheck_np {
	uint64_t posix_bytes_np;   /* of the file */
	uint64_t posix_sound_np;   /* blocks in which everything is right */
	uint64_t posix_damaged_np; /* blocks in which something is not */
	uint64_t posix_missing_np; /* blocks that the sequence numbers say are gone */
	uint64_t posix_skipped_np; /* bytes that belong to no block */
	uint64_t posix_records_np; /* in sound blocks; of a LOOP log, those that are left */
	uint64_t posix_told_np;    /* lost, as loss slots of sound blocks tell */
	uint64_t posix_suspect_np; /* damaged blocks: records that look whole */
	uint64_t posix_torn_np;    /* damaged blocks: records with a slot that is not theirs */
	uint64_t posix_orphans_np; /* damaged blocks: slots that belong to no record */
	uint64_t posix_unnamed_np; /* events of types that the log does not name */
	uint64_t
	    posix_placeless_np; /* events of threads that came when the table of threads was full */
	uint64_t posix_lost_in_log_np; /* the trailer's: records that the log was given and lacks */
	uint64_t posix_findings_np;    /* in all */
	uint32_t posix_format_major_np; /* of the log */
	uint32_t posix_format_minor_np;
	int posix_complete_np; /* its trailer was found, sound and at its end */
	struct posix_trace_counts_np posix_counts_np; /* the trailer's */
	/* The trailer's: POSIX_TRACE_RUNNING where the stream's own end is not in the log. */
	int posix_stream_status_np;
	/*
	 * Records a millisecond or more before an earlier one, from one on that is so by its own
	 * thread's stamps too, and by how many ns at most.  A thread that was kept from running
	 * inside a trace point records late, and is not counted.
	 */
	uint64_t posix_backward_np;
	uint64_t posix_backward_ns_np;
	/* Readings of the clocks before an earlier one, which readers leave out. */
	uint64_t posix_readings_backward_np;
};
/*
 * Looks through a whole log, also after what is wrong in it: checksums, sequence numbers, records,
 * sums, names, trailer, and whether the trailer's counts add up.  A damaged block is passed over
 * up to where the next one begins.
 *
 * @file_desc: as for posix_trace_open(); it is not kept.
 * @result:    @result_bytes of it are written, also on errors but those of arguments.
 * @result_bytes: sizeof(*@result).
 * @findings:  the first @room findings, by their place in the file; may be NULL if @room is 0.
 * @finding_bytes: sizeof(*@findings): how far one is from the next.
 * @watch:     called by the same thread before each block, with the bytes of the file that lie in
 *             front of it and @context; it does nothing to the file.  NULL: nobody looks on.
 * @context:   handed to @watch.
 *
 * Returns 0 also when the log is damaged.
 * EINVAL: not a regular file, not readable, no log, or one that needs a newer reader (the first
 *         finding says which); no descriptor is left for a duplicate; @result is NULL, or
 *         @findings or @finding_bytes with @room above 0.
 * ENOMEM: no memory.
 * Cost: reads the file once, and steps in proportion to it; memory as an open log's, given back.
 * Unit: Log Retrieval.
 */
int posix_trace_log_check_np(int _file_desc, struct posix_trace_logcheck_np *_result,
    size_t _result_bytes, struct posix_trace_logfinding_np *_findings, size_t _finding_bytes,
    size_t _room, void (*_watch)(uint64_t _done, void *_context), void *_context);
/*
 * The reader came to a block that is damaged.  Of a complete log, getnext has returned EIO.  Of a
 * growing one, it came to what looked like the end: the next block is damaged, or contradicts those
 * before, and a sound one of the same stream is after it.  Says what is wrong, and where, and lets
 * reading go on with the next sound block; the next event's posix_lost_before_np has the records
 * that are missing between, and posix_lost_np of the log counts them (not of a LOOP log).
 * No reader goes on there without this call.  So each reader knows that events are missing.  In a
 * growing log a block that is still being written looks the same until others follow.
 *
 * @finding: POSIX_TRACE_FINDING_DAMAGE_NP; posix_block_np counts the blocks before it.
 *
 * ENOENT: there is no damage, or nothing sound after it yet; getnext is in the middle of a block.
 * EINVAL: @trid is no opened log; @finding is NULL.
 * EIO:    the file cannot be read any more.
 * ENOMEM: no memory, or more than 4,096 such places.
 * Cost: lock; reads from the damage to the next sound block, or to the file's end.
 * Unit: Log Retrieval.
 */
int posix_trace_log_skipdamage_np(
    trace_id_t _trid, struct posix_trace_logfinding_np *_finding, size_t _bytes);
#endif

/* ---- Trace Core and its streams ---- */

#if _PXT_UNIT_CORE
/*
 * What the stream counted up to one moment, read until two readings agree, a bounded number of
 * times; posix_stable_np tells whether they did.
 *
 * @counts: all of it is written.
 *
 * EINVAL: @trid is no active stream; @counts is NULL.
 * Cost: lock; steps in proportion to the lanes.  Unit: Core.
 */
int posix_trace_getcounts_np(
    trace_id_t _trid, struct posix_trace_counts_np *_counts, size_t _bytes);

/*
 * Rings (lanes) under the stream, one for each group of CPUs.  One lane gives exact order between
 * threads; several do not slow each other down, and each costs the stream size once more.  A clock
 * that stands still for longer than a thread needs to change its processor (some microseconds: no
 * processor's counter does) wants one lane, for the thread's own order's sake.
 *
 * @lanes: 0: chosen at create (the default); else a power of two up to _PXT_LANES_MAX.
 *
 * EINVAL: @lanes is another value, the old one stays; @attr invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setlanes_np(trace_attr_t *_attr, unsigned _lanes);
/*
 * Lanes, as they were set, 0 when nothing was; after posix_trace_get_attr() the number in force.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_getlanes_np(const trace_attr_t *_attr, unsigned *_lanes);
/*
 * Non-zero: stamps are not read before older instructions have finished, which makes order between
 * threads exact on many lanes and costs some 15 ns an event.  Zero (the default): events of
 * different threads on different lanes may change places when they are closer together than 1 us.
 *
 * @ordered: 0, or any other value.
 *
 * EINVAL: @attr invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setorderedstamps_np(trace_attr_t *_attr, int _ordered);
/*
 * Whether stamps wait for older instructions.
 *
 * @ordered: 1 if so, else 0.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_getorderedstamps_np(const trace_attr_t *_attr, int *_ordered);
/*
 * Non-zero: readers poll, so that trace points never make a system call.  Zero (the default): the
 * one trace point that finds the reader asleep wakes it.  If its thread is killed, stopped or
 * preempted before it does, the next trace point wakes it.
 *
 * @polling: 0, or any other value.
 *
 * EINVAL: @attr invalid.
 * Cost: constant; a reader that waits looks 5,000 times a second, a flushing thread 1,000 times.
 * Unit: Core.
 */
int posix_trace_attr_setpolling_np(trace_attr_t *_attr, int _polling);
/*
 * Whether readers poll.
 *
 * @polling: 1 if so, else 0.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_getpolling_np(const trace_attr_t *_attr, int *_polling);

/*
 * A black box: the stream lives in a file instead of memory of the process' own, so that
 * `pxtrace recover` reads it when the process is gone, whatever ended it: SIGKILL, abort(),
 * _exit(), exec, the system for lack of memory.  It has every event whose trace point had
 * returned, names and descriptions of types, threads, the executable and its libraries as they
 * were at create, clocks, and how many events were lost.  Any policy, any lanes, with or without a
 * log; a trace point costs the same, and makes no system call.
 *
 * @file_desc: of an empty regular file, open for reading and writing, that nobody else writes to;
 * -1: none (the default).  Best on tmpfs (/dev/shm), or from memfd_create(2) if another process
 * holds it as well.  The descriptor is the caller's and is looked at by create only: it may be
 * closed then, and attributes of a stream tell -1.
 *
 * posix_trace_create() and posix_trace_create_withlog() then have these errors as well:
 * EINVAL: @file_desc is not such a file.  A file that is not empty is refused because it may be the
 *         black box of the last run, which a restarted program must not overwrite: rename it, or
 *         empty it with ftruncate(2).  It is the file of the log; or it is sealed.
 * ENOMEM: no room on the file system, within a quota, or below RLIMIT_FSIZE.  All room is taken by
 *         create, so a trace point meets no full disk.  After any error the file is empty.
 *
 * The file is as large as the stream (each lane), and some 150 KiB larger.  It stays behind after
 * posix_trace_shutdown() and at exit, and says then that the stream was shut down; what was not
 * retrieved can be read still.  A forked child has no access to it, but for an inherited stream,
 * whose children's events and names are in the file as well.
 *
 * A file on disk outlives the process as one on tmpfs does, because its pages are the system's.  A
 * failure of power or of the system is another matter: call fsync(2) where something must outlive
 * that; the library never does.  While the system writes a page to disk, the next trace point that
 * stores into it takes a page fault, and on some file systems waits: real-time threads want tmpfs.
 *
 * Nobody may make the file shorter while the stream lives (or a child that inherited it): the next
 * trace point, or call, that touches what is missing gets SIGBUS.  A memfd made with
 * MFD_ALLOW_SEALING is sealed against that by create; for other files permissions must do it.
 *
 * EINVAL: @file_desc is below -1 or no descriptor can be that high (INT_MAX); it is not -1 and
 *         CONFIG_PTRACE_FILE_STREAMS is off; @attr invalid.
 * Cost: constant; create then takes and touches every page.  Unit: Core.
 */
int posix_trace_attr_setfile_np(trace_attr_t *_attr, int _file_desc);
/*
 * The descriptor, as it was set; -1: none, and after posix_trace_get_attr() always.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_getfile_np(const trace_attr_t *_attr, int *_file_desc);

#if _PXT_UNIT_ATTACH
/*
 * Gives the stream a name, by which other processes of this machine reach it: they attach to it
 * and trace into it (posix_trace_attach_np()), and `pxtrace ps`, start, stop, filter, clear,
 * flush, snapshot, attach see and control it.  Any policy, any lanes, with or without a log, also
 * in a file.
 *
 * @name: without a slash, at most 63 bytes: a name among those of the user, kept in a folder that
 * nobody else can enter (below XDG_RUNTIME_DIR, where the environment of a program without special
 * rights has one of the user's alone; else below /dev/shm).  With a slash: the path of a socket
 * that create makes, at most POSIX_TRACE_SHARENAME_MAX_NP bytes; who may write to it (its mode is
 * 0777 less the umask) may attach and control, everybody else gets EACCES.  NULL: none (the
 * default).  The text is copied; attributes of a stream tell NULL.
 *
 * posix_trace_create() and posix_trace_create_withlog() then have these errors as well:
 * EEXIST: a living process has a stream of that name.  One that a dead process left is taken over.
 * EACCES: the folder cannot be written to, or is not the user's own.
 * EINVAL: the path leads nowhere, or something else than a socket is there.
 * EAGAIN: no thread for requests of other processes (also as long as another process holds that of
 * a stream that was shut down before); or no descriptor.
 *
 * The stream then has one more lane of the same size, for what attached processes record, and its
 * own threads at most half as many lanes as otherwise.  Trace points cost the same.  A thread of
 * the library's own, of the creator's scheduling unless that is a real-time one, answers other
 * processes and takes their events while there are any; it touches nothing that a trace point
 * waits for.  What other processes send and keep in their memory is believed by nobody: they can
 * spoil what they record themselves, and take up memory within the limits of the configuration,
 * but they can neither block nor crash the owner.
 *
 * EINVAL: @name is empty or too long, "." or ".."; @attr invalid.
 * Cost: constant; create then makes the socket and the thread.  Unit: Attached Processes.
 */
int posix_trace_attr_setsharename_np(trace_attr_t *_attr, const char *_name);
/*
 * The name, as it was set; "": none, and after posix_trace_get_attr() always.
 *
 * @name: @room bytes; POSIX_TRACE_SHARENAME_MAX_NP + 1 are enough for any.
 *
 * ERANGE: the name and its NUL have no room.
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Attached Processes.
 */
int posix_trace_attr_getsharename_np(const trace_attr_t *_attr, char *_name, size_t _room);
#define POSIX_TRACE_SHARENAME_MAX_NP 107

/*
 * From now on the calling process traces into the stream of that name, which another process
 * created: its trace points have their effect while that stream runs, and its events come out
 * there with this process' pid and threads, in order of time with all others.  Event types are the
 * same where their names are; the owner gets names and descriptions that it does not have.
 *
 * @name: of the stream, as posix_trace_attr_setsharename_np() takes it.
 * @attr: size, lanes and largest data of the memory in which events wait until the owner takes
 * them; what is overwritten there before counts as lost in the owner's stream.  In all lanes
 * together it is at most 1 GiB, 64 MiB where addresses have 32 bits.  NULL: the defaults.  Other
 * attributes do not matter.
 * @trid: the attachment.  posix_trace_shutdown() ends it; so do the owner's shutdown and end, and
 * then the identifier stays valid and trace points have no effect.  posix_trace_stop() and
 * posix_trace_start() hold back what this process traces, until the owner's next start, and
 * posix_trace_set_filter() keeps types back; what else asks for a stream without log tells of this
 * process' side.  Reading and posix_trace_clear() give EINVAL: events are the owner's.
 *
 * A forked child is not attached (it attaches itself).  A stream may be inherited as well
 * (posix_trace_attr_setinherited()): forked children trace into it by themselves, others attach.
 *
 * Returns 0 or
 * ENOENT: no living process has a stream of that name.
 * EEXIST: the process traces into that stream already: it created it, or inherited it.
 * EACCES: this process may not reach it; then it learns nothing else.
 * ENOTSUP: the owner was built from another version, or with another clock or layout.
 * EAGAIN: this process has as many streams, or the owner as many attached processes, as the
 *         configuration allows; or there is no descriptor or thread.
 * ENOMEM: no memory for the ring, or it is larger than that.  EINVAL: an argument is invalid.
 * ETIMEDOUT: the owner did not take the connection within a second, or not answer within another.
 *
 * Context: thread; not in a signal handler; not a cancellation point.  Cost: two messages, a
 * thread; the memory is taken and touched.  The first attachment of a process makes a copy of its
 * names and threads besides, which stays, with one descriptor, as long as the process.
 * Unit: Attached Processes.
 */
int posix_trace_attach_np(const char *_name, const trace_attr_t *_attr, trace_id_t *_trid);
#endif
#if _PXT_UNIT_TOLOG
/*
 * Priority of the flushing thread of a FLUSH stream.
 *
 * @priority: of SCHED_FIFO; 0 (the default): as the thread that calls create.  If that is an
 * ordinary one with nice value 0, the flushing thread takes -20 where the process may
 * (CAP_SYS_NICE, RLIMIT_NICE): so it gets its turn beside busy threads.
 *
 * posix_trace_create_withlog() looks at it, with policy FLUSH, and then has these errors as well:
 * EINVAL: SCHED_FIFO has no such priority.
 * EPERM:  it is not for this process (RLIMIT_RTPRIO, CAP_SYS_NICE).
 * EAGAIN: no thread, whatever its priority.
 *
 * EINVAL: @priority is negative; @attr invalid.
 * Cost: constant.  Unit: Trace-To-Log.
 */
int posix_trace_attr_setflushpriority_np(trace_attr_t *_attr, int _priority);
/*
 * The priority, as it was set; 0: as the thread that calls create.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Trace-To-Log.
 */
int posix_trace_attr_getflushpriority_np(const trace_attr_t *_attr, int *_priority);

/*
 * How the log goes out.  AUTO (the default): as frames (FORMAT.md, section 10) to a terminal, a
 * datagram socket, and a device of a board without operating system; plain to everything else.
 * FRAMES: as frames also through a pipe, a FIFO, a stream socket; create refuses them for a regular
 * file with EINVAL.  PLAIN: never as frames, and no record in fewer bytes than in the stream
 * (CONFIG_PTRACE_LOG_CODED), so that readers of version 1 of the format take the log.
 *
 * A terminal should be raw (cfmakeraw(3)): the library leaves its settings alone.
 *
 * @form: POSIX_TRACE_LOG_AUTO_NP, _PLAIN_NP or _FRAMES_NP.
 *
 * EINVAL: @form is unknown, or FRAMES without CONFIG_PTRACE_LOG_LINE; @attr invalid.
 * Cost: constant.  Unit: Trace-To-Log.
 */
#define POSIX_TRACE_LOG_AUTO_NP   0
#define POSIX_TRACE_LOG_PLAIN_NP  1
#define POSIX_TRACE_LOG_FRAMES_NP 2
int posix_trace_attr_setlogform_np(trace_attr_t *_attr, int _form);
/*
 * The form, as it was set; also after posix_trace_get_attr(): the form that AUTO chose is not
 * returned.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Trace-To-Log.
 */
int posix_trace_attr_getlogform_np(const trace_attr_t *_attr, int *_form);

/*
 * From now on a signal that ends the process completes the logs of its streams first: what the
 * streams still hold is written, a STOP event as of an automatic stop comes last, and the log's end
 * tells signal, address and thread (posix_trace_log_getinfo_np()).  Then the signal does what it
 * would have done: the action that this call found comes back, and the signal is delivered again
 * with the siginfo and in the context that it came with, to a handler that the program had before,
 * or to the system, whose core file shows the registers of the crash.
 *
 * The handler runs on the thread's alternate stack if it has one (sigaltstack; a stack overflow
 * needs that) and needs 3 KiB of it beside what the system puts there.  A program that sets
 * another handler later, and wants this one too, calls it as the former action of that signal.  A
 * program that survives such a signal (siglongjmp(), or a handler that repairs what was wrong)
 * goes on untraced: those streams take no more events, start has no effect, flush fails with
 * EINVAL.  So a signal that the program lives through does not belong here, and handlers for
 * faults that are part of its work are to be set after this call.  Forked children have nothing to
 * seal of their parents' streams.
 *
 * Locks are waited for a second, all in all; threads inside a trace point for the hold-back time
 * (CONFIG_PTRACE_HOLDBACK_MS, 100 ms); a device that is no file as long as it takes something at
 * least every second.  Where the signal interrupted the library while it held a stream's lock, or
 * wrote to something else than a file, the log stays incomplete, as without this call.  What was
 * inside a trace point is lost and counted.  A second fault, in the handler, ends the process at
 * once.  Other threads that crash meanwhile wait for their turn, five seconds at most.
 *
 * @which:   POSIX_TRACE_SEAL_NONE_NP: @signals alone; if there are none of them, former actions
 *           come back.  POSIX_TRACE_SEAL_FAULTS_NP: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
 *           SIGSYS and SIGTRAP. POSIX_TRACE_SEAL_ENDS_NP: these, SIGHUP, SIGINT, SIGQUIT and
 *           SIGTERM, for programs that have no handlers of their own for those.
 *           They take the place of those of the last call.  A signal that the process ignores is
 *           left alone.
 * @signals: @count more of them; may be NULL if @count is 0.
 *
 * EINVAL:  a signal that cannot be caught, or whose default does not end a process; @which is
 *          unknown; @signals is NULL; nothing changes.
 * ENOMEM:  the process has named more than 16 different signals; nothing changes.
 * ENOTSUP: the library was built without CONFIG_PTRACE_LOG_SEAL.
 * Cost: lock; some system calls.  Streams with a log describe process, threads and modules at once,
 * and so do those that are created later: a handler cannot.  Nothing is added to a trace point.
 * Unit: Trace-To-Log.
 */
#define POSIX_TRACE_SEAL_NONE_NP   0
#define POSIX_TRACE_SEAL_FAULTS_NP 1
#define POSIX_TRACE_SEAL_ENDS_NP   2
int posix_trace_seal_on_signals_np(int _which, const int *_signals, size_t _count);
#endif

#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_TOLOG && _PXT_HAVE_PTHREAD_H
/*
 * Puts a note into the stream's log: what a person will want to know of it later, like a version,
 * a load, a place.  The log keeps all of a stream's notes in the order in which they were given,
 * several of one name, too; a cleared log has them again.  Snapshots have none.  Readers:
 * posix_trace_log_getnote_np(), `pxtrace stat`.
 *
 * @trid: a stream with log.  The note is written with the next flush, or at the end.
 * @name: 1 to POSIX_TRACE_NOTE_NAME_MAX_NP bytes.
 * @text: at most POSIX_TRACE_NOTE_TEXT_MAX_NP bytes.
 *
 * EINVAL: @trid is no stream with log, or is being shut down; a text is NULL or too long; @name is
 *         empty.
 * ENOMEM: the stream's notes have no room: 2 KiB together.
 * Context: thread; it waits while another one writes the log.  Cost: locks; both texts are copied.
 * Unit: Trace To Log, symbol EXTENSIONS.
 */
int posix_trace_note_np(trace_id_t _trid, const char *_name, const char *_text);
#endif
#if _PXT_UNIT_LOG_ROTATE
/*
 * The stream's log goes from file to file, and the oldest ones are removed.  Each file is a log
 * that can be read alone, with all names that its events need; all commands of pxtrace take those
 * of one stream as one log.
 *
 * posix_trace_create_withlog() is then given the descriptor of a folder, open for reading, instead
 * of a file's.  Its files are NAME.0001, NAME.0002 and so on in it, made by the library alone
 * (O_EXCL): nothing that is there already is written to, followed or removed; a name that is taken
 * is passed over.  The log-full policy is APPEND, the form plain.
 *
 * A new file is begun by a flush, before a block of events with which the present file would be
 * larger than posix_bytes_np; or before the first one when the file is posix_seconds_np old; or by
 * posix_trace_rotate_np().  A file ends with some hundred bytes of names and counts, up to a few
 * KiB.  Where no new file can be made, or the present one cannot be ended (no room, no right), the
 * log goes on in the present one, and it is tried again after a second: the status (flush error)
 * and an event POSIX_TRACE_ERROR tell it.
 *
 * A process that is killed meanwhile leaves its last file incomplete, or an empty one after it,
 * and loses nothing that a flush had written.  What was dropped with old files, the next one says
 * (posix_earlier_np in struct posix_trace_loginfo_np).  A clear removes the earlier files: all that
 * are kept, 9999 at most.
 */
struct posix_trace_rotation_np {
	const char *posix_name_np; /* of the files, 1 to 200 bytes without a slash */
	uint64_t
	    posix_bytes_np; /* of a file: POSIX_TRACE_ROTATION_MIN_NP at least; 0: any number */
	uint32_t posix_seconds_np; /* of a file's life; 0: any number */
	uint32_t posix_files_np; /* that are kept, the present one included, 9999 at most; 0: all */
	uint32_t posix_mode_np;  /* of new files, less the umask; 0: 0666 */
};
#define POSIX_TRACE_ROTATION_MIN_NP 65536

/*
 * @rotation: NULL: the log is one file (the default).  The structure and its text are copied;
 *            attributes of a stream tell none.
 *
 * posix_trace_create_withlog() then has these errors as well: ENOTDIR: the descriptor is no
 * folder's; what the system says to a new file in it.  EINVAL: another log-full policy than APPEND
 * was set, or frames.
 *
 * @bytes: sizeof(*@rotation).
 *
 * EINVAL: a number or the name is outside of the limits above; @bytes is less than this library
 *         needs; a member that it does not know is not 0; @attr invalid.
 * Cost: constant.  Unit: Trace To Log, symbol LOG_ROTATE.
 */
int posix_trace_attr_setrotation_np(
    trace_attr_t *_attr, const struct posix_trace_rotation_np *_rotation, size_t _bytes);
/*
 * How the log's files follow one another.
 *
 * @rotation: as the setter was given it; its text is in @attr, good as long as that stays as it
 *            is.  NULL in place of the text: the log is one file, and after posix_trace_get_attr()
 *            always.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Trace To Log, symbol LOG_ROTATE.
 */
int posix_trace_attr_getrotation_np(
    const trace_attr_t *_attr, struct posix_trace_rotation_np *_rotation, size_t _bytes);
/*
 * Flushes, and ends the present file of a log that goes from file to file: what is recorded from
 * now on is in a new one.
 *
 * EINVAL: @trid is no stream with such a log, or is being shut down.
 * What posix_trace_flush() says; or why no new file could be begun: then the log goes on in the
 * present one.
 * Context: thread; it waits while another one writes the log.  Cost: a flush, then a file that is
 * made, one that is ended and one that is removed.
 * Unit: Trace To Log, symbol LOG_ROTATE.
 */
int posix_trace_rotate_np(trace_id_t _trid);
#endif
#if _PXT_UNIT_LOG_LINK
/* What came of an order; zeros at the beginning. */
struct posix_trace_linkstate_np {
	unsigned char _pxt_bytes[124];
};

/*
 * Obeys a host that sends orders over the line on which the stream's log goes out (`pxtrace
 * link`): start, stop, filter, flush, counts.  A program hands over what its line brings, whole or
 * in pieces.
 *
 * An order is a frame with a checksum between two zero bytes.  Whatever else comes (noise, a frame
 * that was cut or changed) does nothing.  An unknown order is answered as such.  The answer goes
 * out on the line, as far as the line takes it now; where none comes, `pxtrace link` asks again.
 *
 * @trid:  the stream; with an invalid one orders have no answer.
 * @bytes: what came; the text among it, which is the program's, is put in front of it.
 * @count: so many bytes.
 *
 * Returns the bytes of text; those between a zero byte and an order's end are not text.
 * Context: thread, one at a time for each @link; it waits while another one writes the log.  Cost:
 * locks; an order costs what its call does, and a head and an answer on the line.
 * Unit: Trace To Log, symbol LOG_LINK.
 */
size_t posix_trace_link_np(
    trace_id_t _trid, struct posix_trace_linkstate_np *_link, void *_bytes, size_t _count);
#endif
#if _PXT_UNIT_SNAPSHOT
/*
 * Writes what the stream holds at this moment as a complete log: the records that are neither
 * retrieved or flushed, nor overwritten, nor cleared (posix_held_np counts them), and the automatic
 * events that a reader would be given with them.  The stream is as if nothing had happened: nothing
 * is taken out of it, no count and no flag changes, no restart is done, and trace points cost what
 * they always do.
 *
 * The moment lies within the call, after the allocation of memory.  Every event whose trace point
 * returned before the call began is in the log, unless it was overwritten before the moment, or
 * before it was copied: writers go on, and a stream that overwrites may lap meanwhile (the oldest
 * go first, and are reported as lost like all others; if that were more than half of the stream,
 * the moment is put off).  No event in it has a later stamp than the moment.  A record that is
 * unfinished then is waited for, for the hold-back time at most, and counted as lost in the log
 * after that.  The log is made of the copy, so that a slow device loses nothing.  What a flush has
 * taken out of the stream by that moment is not in the log; the call does not wait for it.
 *
 * The log has policy APPEND and the stream's attributes otherwise; its status is SUSPENDED, and no
 * STOP event is made up.  Its counts are the window's own: retrieved is what is in it, lost is what
 * its readers are told (and what an automatically stopped stream refused since).
 *
 * @trid:      an active stream, with log or without, of any policy, running or not.
 * @file_desc: open for writing; it stays the caller's, open.  A regular file is truncated and
 *             written from its beginning (with O_APPEND: if empty); a pipe, socket or
 *             terminal is written to in order, in the form of POSIX_TRACE_LOG_AUTO_NP, or
 *             POSIX_TRACE_LOG_PLAIN_NP where the stream has that.
 *
 * EBADF:  @file_desc is not open for writing (a directory never is).
 * EINVAL: @trid is no active stream of this process; @file_desc is a block device, or a file with
 *         O_APPEND that is not empty.
 * ENOMEM: no memory for a copy of the stream (as large as the stream with all its lanes).  The
 *         file is as it was.
 * EMFILE: no descriptor is left to work with.
 * ENOSPC, EFBIG, EIO, EPIPE, EAGAIN and so on: as posix_trace_flush().  The file is no complete
 *         log then, and posix_trace_open() refuses it; the stream is as if nothing had happened.
 *
 * Context: any thread, several at once; no signal handler.  Cost: memory, the stream's lock while
 * its slots are copied, output in the calling thread.  Unit: Trace-To-Log, with
 * CONFIG_PTRACE_SNAPSHOT.
 */
int posix_trace_snapshot_np(trace_id_t _trid, int _file_desc);
#endif

#if _PXT_UNIT_SYSEVENTS
/*
 * Records a system event: what a program, an operating system or a wrapped library did, other than
 * by a trace point of the program's own.  trace_hooks_np.h has the types, what is in their data,
 * and hooks for those that an operating system tells.
 *
 * @event_id: 9 to 28; with any other one the call has no effect.
 * @data_ptr: @data_len bytes of data, packed as the type's description says; copied during the
 *            call.
 * @data_len: bytes.  What is beyond the largest data of a stream is cut.
 * @address:  the place in the program that the event tells; NULL: where this call returns to.
 *
 * Nothing is recorded for a thread that is excluded.  errno is left alone.
 * Context: anywhere, also signal handlers and interrupts.
 * Cost: a load and a test where no stream wants the type, else that of posix_trace_event().
 * Unit: System Events.
 */
void posix_trace_system_event_np(
    trace_event_id_t _event_id, const void *_data_ptr, size_t _data_len, const void *_address);
/*
 * Whether system events of the calling thread are recorded: for a thread that reads the trace, and
 * would otherwise report its own reading.  Events of trace points are recorded all the same.
 *
 * @exclude: not 0: they are not, until the same call with 0.
 *
 * Returns 0 or
 * ENOTSUP: the port has no threads, and @exclude is not 0.
 * Context: thread, signal handler.  Cost: constant.  Unit: System Events.
 */
int posix_trace_thread_exclude_np(int _exclude);
#endif

/*
 * Enters the calling thread (with its name) into the thread table before its first event, so that
 * the event need not do it.  That saves the event some instructions and gives the thread a name in
 * logs; registered or not, the first event makes no system call, allocates nothing and meets no
 * page fault in the library's memory.
 *
 * A full table is no error: events of this thread carry 12 bytes more.
 *
 * ENOMEM: no memory for the table itself, which the first create or register call makes.
 * Cost: lock; a few system calls.  Unit: Core.
 */
int posix_trace_thread_register_np(void);

/* One byte (or more, with more than 8 streams) an event type: bit i = stream i wants it. */
extern _PXT_WANTED_TYPE _pxt_wanted[_PXT_EVENT_IDS] __asm__(
    "_pxt_wanted_of_" _PXT_DIGITS(_PXT_EVENT_IDS) "_types_" _PXT_DIGITS(_PXT_WANTED_BITS) "_bits");

/*
 * Whether a stream that runs, or stopped by itself, wants events of this type.  A macro that tests
 * where it is used; the function of that name is for other languages (symbol EXTENSIONS).
 *
 * @event_id: any value.
 *
 * Returns non-zero if one does, else 0.
 * Context: anywhere.  Cost: one load, one test.  Unit: Core.
 */
#if _PXT_UNIT_EXTENSIONS
int posix_trace_wanted_np(trace_event_id_t _event_id);
#endif
#if defined(POSIX_TRACE_OFF_NP)
static inline int _pxt_is_wanted(trace_event_id_t _event_id)
{
	return (void)_event_id, 0;
}
#else
static inline int _pxt_is_wanted(trace_event_id_t _event_id)
{
	return __atomic_load_n(&_pxt_wanted[_event_id % _PXT_EVENT_IDS], __ATOMIC_RELAXED) != 0;
}
#endif
#define posix_trace_wanted_np(event_id) _pxt_is_wanted(event_id)
#endif

#ifdef __cplusplus
}
#endif

#include "trace_points_np.h"

#endif
