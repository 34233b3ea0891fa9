/* SPDX-License-Identifier: MIT */
/*
 * trace.h - POSIX tracing (IEEE Std 1003.1-2008, option groups TRC, TEF, TRL, TRI), by libptrace.
 *
 * The header declares what the installed configuration holds.  The C library's own _POSIX_TRACE
 * macros say -1 and are left alone: it is not the C library that traces.
 *
 * Everything beyond the standard is in trace_np.h, and there is a macro for each unit, too:
 * POSIX_TRACE_HAVE_..._NP.
 */
#ifndef _PXT_TRACE_H
#define _PXT_TRACE_H 1

#include "trace_config.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#if _PXT_HAVE_PTHREAD_H
#include <pthread.h>
#endif

#ifdef __cplusplus
extern "C" {
#define _PXT_RESTRICT
#else
#define _PXT_RESTRICT __restrict
#endif

/*
 * A call reads the function's address from the program's own table, instead of jumping to an
 * instruction that does: one cache line and one page less where neither was needed for long.
 */
#define _PXT_DIRECT
#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(__noplt__)
#undef _PXT_DIRECT
#define _PXT_DIRECT __attribute__((__noplt__))
#endif
#endif

/*
 * Sizes that differ from configuration to configuration are part of the names that the linker and
 * the loader look for.  A program that was compiled with the headers of another configuration does
 * not link, or does not start: "undefined reference to `posix_trace_eventset_fill_of_1024_types'".
 * The first two have their plain names in the library as well, for who looks a name up by hand.
 */
#define _PXT_DIGITS(number)       _PXT_DIGITS_(number)
#define _PXT_DIGITS_(number)      #number
#define _PXT_SETS_NAME(function)  #function "_of_" _PXT_DIGITS(_PXT_EVENT_IDS) "_types"
#define _PXT_NAMES_NAME(function) #function "_of_" _PXT_DIGITS(_PXT_EVENT_NAME_MAX) "_bytes"
/* Takes a set of types; stores the name of a type. */
#define _PXT_SETS(function)       __asm__(_PXT_SETS_NAME(function))
#define _PXT_NAMES(function)      __asm__(_PXT_NAMES_NAME(function))
/* Takes a time: where pointers have 32 bits, a program chooses how long that is (_TIME_BITS). */
#if defined(__USE_TIME_BITS64) && __SIZEOF_POINTER__ == 4
#define _PXT_TIMES(function) __asm__(#function "_time64")
#else
#define _PXT_TIMES(function)
#endif

/* ---- Limits (the C library has none of these, or only the minima) ---- */

#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif

/* Bytes of an event's name, without the NUL: give get_name an array of TRACE_EVENT_NAME_MAX + 1. */
#define TRACE_EVENT_NAME_MAX _PXT_EVENT_NAME_MAX
/* Bytes of a stream's name, without the NUL: give attr_getname an array of TRACE_NAME_MAX + 1. */
#define TRACE_NAME_MAX       31
/* Streams that one process may have at once (logs that are read do not count). */
#define TRACE_SYS_MAX        _PXT_MAX_STREAMS
/* User event types of a process, the unnamed one included. */
#define TRACE_USER_EVENT_MAX _PXT_USER_EVENT_MAX

/* ---- Types ---- */

/* A stream or an opened log.  0 is never valid. */
typedef unsigned long trace_id_t;

/* An event type.  0 is never valid. */
typedef unsigned int trace_event_id_t;

/* What a stream keeps of its attributes. */
struct _pxt_attr {
	uint32_t _pxt_magic;
	int32_t _pxt_stream_policy; /* 0 = the default of the create call */
	int32_t _pxt_log_policy;
	int32_t _pxt_inherit;
	uint32_t _pxt_lanes; /* 0 = chosen at create */
	uint32_t _pxt_flags;
	int32_t _pxt_flush_priority;
	uint32_t _pxt_ctx_bytes; /* bytes that each record spends on thread and address */
	uint64_t _pxt_stream_size;
	uint64_t _pxt_max_data;
	uint64_t _pxt_log_size;
	int64_t _pxt_create_sec;
	int64_t _pxt_clockres_sec;
	int32_t _pxt_create_nsec;
	int32_t _pxt_clockres_nsec;
	char _pxt_name[TRACE_NAME_MAX + 1];
	char _pxt_genversion[TRACE_NAME_MAX + 1];
	uint32_t _pxt_system_slots; /* slots of the largest system event */
	int32_t _pxt_file;          /* a descriptor and 1; 0: the stream lives in memory */
};

/*
 * The attributes of a stream.  Flat: it owns no memory and points to none, so an object that is
 * forgotten leaks nothing, and texts that it was given may go.  512 bytes in each configuration
 * and on each machine.  The members are private; use the posix_trace_attr_ functions.
 */
typedef struct {
	struct _pxt_attr _pxt_kept;
	/* What create alone looks at. */
	uint64_t _pxt_rotate_bytes; /* how the log's files follow one another */
	uint32_t _pxt_rotate_seconds;
	uint32_t _pxt_rotate_files;
	uint32_t _pxt_rotate_mode;
	char _pxt_rotate_name[201]; /* "": the log is one file */
	char _pxt_share[108];       /* other processes' name for the stream; "": none */
	uint32_t _pxt_later[7];
} trace_attr_t;

#if _PXT_UNIT_FILTER
/* A set of event types: one bit a type.  Assignable, no pointers. */
typedef struct {
	uint32_t _pxt_bits[_PXT_EVENT_IDS / 32];
} trace_event_set_t;
#endif

struct posix_trace_event_info {
	trace_event_id_t posix_event_id;
	pid_t posix_pid;
	void *posix_prog_address;
	pthread_t posix_thread_id;
	struct timespec posix_timestamp;
	int posix_truncation_status;
	int _pxt_cpu; /* read the rest with posix_trace_eventinfo_getextra_np() */
	uint32_t _pxt_flags;
	uint32_t _pxt_entry; /* of the log's threads, and 1; 0: none */
	uint64_t _pxt_ticks;
	uint64_t _pxt_lost_before;
	uint64_t _pxt_number;
	/* Not written.  The standard's calls are told no size: room for what is to come. */
	uint64_t _pxt_later[2];
};

struct posix_trace_status_info {
	int posix_stream_status;
	int posix_stream_full_status;
	int posix_stream_overrun_status;
	int posix_stream_flush_status;
	int posix_stream_flush_error;
	int posix_log_overrun_status;
	int posix_log_full_status;
	int _pxt_later[5]; /* 0; as above */
};

/* ---- Constants ---- */

/* posix_stream_status */
#define POSIX_TRACE_RUNNING          1
#define POSIX_TRACE_SUSPENDED        2
/* posix_stream_full_status, posix_log_full_status */
#define POSIX_TRACE_FULL             1
#define POSIX_TRACE_NOT_FULL         0
/* posix_stream_overrun_status, posix_log_overrun_status */
#define POSIX_TRACE_OVERRUN          1
#define POSIX_TRACE_NO_OVERRUN       0
/* posix_stream_flush_status */
#define POSIX_TRACE_FLUSHING         1
#define POSIX_TRACE_NOT_FLUSHING     0
/* stream and log full policies: one value each, so that no setter takes the other's */
#define POSIX_TRACE_LOOP             1
#define POSIX_TRACE_UNTIL_FULL       2
#define POSIX_TRACE_FLUSH            3
#define POSIX_TRACE_APPEND           4
/* inheritance */
#define POSIX_TRACE_CLOSE_FOR_CHILD  1
#define POSIX_TRACE_INHERITED        2
/* posix_truncation_status */
#define POSIX_TRACE_NOT_TRUNCATED    0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ   2
/* posix_trace_eventset_fill() */
#define POSIX_TRACE_WOPID_EVENTS     1
#define POSIX_TRACE_SYSTEM_EVENTS    2
#define POSIX_TRACE_ALL_EVENTS       3
/* posix_trace_set_filter() */
#define POSIX_TRACE_SET_EVENTSET     1
#define POSIX_TRACE_ADD_EVENTSET     2
#define POSIX_TRACE_SUB_EVENTSET     3

/* predefined event types, trace_event_id_t: without a cast, so that other languages see them */
#define POSIX_TRACE_ERROR              1u
#define POSIX_TRACE_START              2u
#define POSIX_TRACE_STOP               3u
#define POSIX_TRACE_OVERFLOW           4u
#define POSIX_TRACE_RESUME             5u
#define POSIX_TRACE_FILTER             6u
#define POSIX_TRACE_FLUSH_START        7u
#define POSIX_TRACE_FLUSH_STOP         8u
#define POSIX_TRACE_UNNAMED_USEREVENT  31u
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

/* ---- Functions ---- */

/*
 * What holds for all of them, unless a comment says otherwise:
 *
 * Result:  0 or an error number.  errno is not used and keeps its value, so that a call in between
 *          hides no error of the program's.  On an error nothing is stored where results go,
 *          except *unavailable.
 * Checks:  "@x invalid" means NULL, or an attributes object that was not initialised, or a value
 *          that does not exist.  Such arguments are found unless the library was configured
 *          without argument checks; then they are undefined behaviour.  Identifiers of streams
 *          and logs are always checked.
 * Context: any thread, not signal or interrupt handlers: only posix_trace_event() may be called
 *          there.  Calls may run beside each other in any combination.  In a forked child the
 *          parent's identifiers are unknown: EINVAL.
 * Cancel:  no function is a cancellation point, as the standard permits.
 * EINTR:   only the two functions that wait for an event can return it: the others do not wait for
 *          long.
 * Cost:    "constant" is a few loads and stores; "lock" adds the mutex of the stream or of the
 *          process, which control calls and readers hold for a bounded time and trace points
 *          never.
 *
 * @trid:  a stream that this process created or attached to, or a log that it opened.
 * @attr:  an object that posix_trace_attr_init() or posix_trace_get_attr() filled.
 * @event_id, @event, @event1, @event2: the number of an event type, from
 *         posix_trace_eventid_open() or one of the predefined ones.
 * @set:   a set that was emptied or filled before.
 * @room:  how many entries there is room for.
 * @bytes: sizeof the structure that the pointer in front of it leads to.  No more is written, and
 *         what this library does not know yet reads 0.
 */

/*
 * Ends the life of an attributes object.  Any later use but posix_trace_attr_init() is refused.
 *
 * @attr: initialised.
 *
 * EINVAL: @attr invalid or destroyed already.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_destroy(trace_attr_t *_attr);

/*
 * Gives @attr the defaults: no name, policy "default" (LOOP without log, FLUSH with log, or the
 * first that was built), the configured sizes, this library's version and the resolution of its
 * clock, creation time 0.  The object holds no memory: it may be initialised again at any time, and
 * forgotten.
 *
 * @attr: any memory of that type; what was in it is overwritten.
 *
 * EINVAL: @attr is NULL.  ENOMEM never occurs.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_init(trace_attr_t *_attr);

/*
 * Resolution of the clock that stamps events: the steps in which its counter goes on, rounded up to
 * whole nanoseconds.  From a log it is the recording system's.
 *
 * @resolution: positive, tv_nsec below 1,000,000,000.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getclockres(const trace_attr_t *_attr, struct timespec *_resolution)
    _PXT_TIMES(posix_trace_attr_getclockres);

/*
 * CLOCK_REALTIME when the stream was created from which posix_trace_get_attr() got @attr; 0 in an
 * object that never was filled by it.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getcreatetime(const trace_attr_t *_attr, struct timespec *_createtime)
    _PXT_TIMES(posix_trace_attr_getcreatetime);

/*
 * Origin and version of the trace system that made the stream or wrote the log.
 *
 * @genversion: room for TRACE_NAME_MAX bytes is enough, the NUL included.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getgenversion(const trace_attr_t *_attr, char *_genversion);

/*
 * The name of the stream, "" by default.
 *
 * @tracename: room for TRACE_NAME_MAX + 1 bytes; no more than the name and its NUL are written.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getname(const trace_attr_t *_attr, char *_tracename);

/*
 * Bytes of data that one posix_trace_event() can record; longer data is cut.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getmaxdatasize(
    const trace_attr_t *_PXT_RESTRICT _attr, size_t *_PXT_RESTRICT _maxdatasize);

/*
 * The most bytes of the stream size that one system event takes, its overhead included: with the
 * Filter unit that is FILTER with two sets.  Where a stream may have several lanes, 16 bytes for a
 * mark are included.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getmaxsystemeventsize(
    const trace_attr_t *_PXT_RESTRICT _attr, size_t *_PXT_RESTRICT _eventsize);

/*
 * The most bytes of the stream size that one user event takes, its overhead included: 16 for each
 * slot.  It does not count the 12 more bytes of an event whose thread found no room in the thread
 * table.
 *
 * @data_len: bytes of data, any value; what is above the maximum data size is not recorded.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getmaxusereventsize(
    const trace_attr_t *_PXT_RESTRICT _attr, size_t _data_len, size_t *_PXT_RESTRICT _eventsize);

/*
 * What happens when the stream is full: POSIX_TRACE_LOOP, _UNTIL_FULL, _FLUSH, or our own
 * POSIX_TRACE_DISCARD_NP (trace_np.h).  As long as nothing was set it shows the default of a stream
 * without log; after posix_trace_get_attr() the policy in force.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getstreamfullpolicy(
    const trace_attr_t *_PXT_RESTRICT _attr, int *_PXT_RESTRICT _streampolicy);

/*
 * Bytes for records, as they were set; after posix_trace_get_attr() those in force, which may be
 * more: sizes are rounded up to a power of two.  A stream of several lanes reports the size of one
 * lane, so that what fits holds for any mix of threads.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_attr_getstreamsize(
    const trace_attr_t *_PXT_RESTRICT _attr, size_t *_PXT_RESTRICT _streamsize);

/*
 * Whether two identifiers of one stream or log are the same type.  There are no errors: identifiers
 * are compared as numbers, whatever @trid is.
 *
 * Returns non-zero if they are the same, else 0; not an error number.
 *
 * Context: also signal handlers.  Cost: constant.  Unit: any.
 */
int posix_trace_eventid_equal(trace_id_t _trid, trace_event_id_t _event1, trace_event_id_t _event2);

/*
 * The name of an event type.  For a log the log's own list is asked, not the process's.
 *
 * @trid:       any active stream or opened log.
 * @event_name: room for TRACE_EVENT_NAME_MAX + 1 bytes: the limit does not count the NUL.
 *
 * EINVAL: @trid unknown; @event has no name there; @event_name invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_eventid_get_name(trace_id_t _trid, trace_event_id_t _event, char *_event_name)
    _PXT_NAMES(posix_trace_eventid_get_name);

/*
 * The next type of the list of a stream or log, ascending: predefined types, the unnamed one, user
 * types in order of definition.  Each stream has one place in its list.  A type defined meanwhile
 * comes at the end, also after the end was reported.
 *
 * @event:       the type; unchanged at the end of the list.
 * @unavailable: 0, or non-zero at the end of the list.
 *
 * EINVAL: @trid unknown; another argument invalid.
 * Cost: constant.  Unit: any.
 */
int posix_trace_eventtypelist_getnext_id(
    trace_id_t _trid, trace_event_id_t *_PXT_RESTRICT _event, int *_PXT_RESTRICT _unavailable);

/*
 * Back to the begin of that list.
 *
 * EINVAL: @trid unknown.
 * Cost: constant.  Unit: any.
 */
int posix_trace_eventtypelist_rewind(trace_id_t _trid);

/*
 * The attributes of a stream or log as they are in force.  The copy has nothing to do with the
 * stream from then on, and can make another one.
 *
 * @attr: any memory of that type, initialised or not.
 *
 * EINVAL: @trid unknown; @attr is NULL.
 * Cost: constant.  Unit: any.
 */
int posix_trace_get_attr(trace_id_t _trid, trace_attr_t *_attr);

/*
 * The status of a stream or log: all members of one moment.  For an active stream the call resets
 * posix_stream_overrun_status, posix_log_overrun_status and posix_stream_flush_error in the same
 * step in which it reads them, so that no loss goes unreported.  A log shows its stream's status at
 * shutdown and is never reset.  Members that a configuration has no use for are 0.
 *
 * EINVAL: @trid unknown; @statusinfo is NULL.
 * Cost: lock.  Unit: any.
 */
int posix_trace_get_status(trace_id_t _trid, struct posix_trace_status_info *_statusinfo);

#if _PXT_UNIT_CORE

/*
 * Names the stream; the text is copied.  A name longer than TRACE_NAME_MAX bytes is cut to
 * TRACE_NAME_MAX - 1, which is no error.
 *
 * @tracename: any bytes, ended by a NUL.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setname(trace_attr_t *_attr, const char *_tracename);

/*
 * Bytes of data that one posix_trace_event() can record.  System events are not concerned.
 *
 * @maxdatasize: 0 (no data at all) up to the configured maximum, never above 4,095.
 *
 * EINVAL: @maxdatasize too large, the old value stays; @attr invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setmaxdatasize(trace_attr_t *_attr, size_t _maxdatasize);

/*
 * What a full stream does.  An explicit policy holds for both kinds of create; FLUSH then makes
 * posix_trace_create() fail.
 *
 * @streampolicy: POSIX_TRACE_LOOP (overwrite the oldest), POSIX_TRACE_UNTIL_FULL (stop, and start
 * again when empty), POSIX_TRACE_FLUSH (as that, and flush to the log in time), or
 * POSIX_TRACE_DISCARD_NP (refuse the newest and go on; trace_np.h).
 *
 * EINVAL: @streampolicy is another value or was not built, the old one stays; @attr invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *_attr, int _streampolicy);

/*
 * The least bytes for records that the stream shall have.  Create rounds up; too small a size is
 * not an error.  Each lane has this size, so that the guarantee holds for any mix of threads.
 * Where it is not set, a stream of policy FLUSH may have more (CONFIG_PTRACE_FLUSH_STREAM_SIZE
 * over all lanes; a quarter of it in a file).
 *
 * @streamsize: bytes, up to the configured maximum.
 *
 * EINVAL: @streamsize above the configured maximum, the old value stays; @attr invalid.
 * Cost: constant.  Unit: Core.
 */
int posix_trace_attr_setstreamsize(trace_attr_t *_attr, size_t _streamsize);

/*
 * Makes the stream as it was when it was created, but for its memory, the names, and RUNNING or
 * SUSPENDED: recorded events are gone, nothing is full or overrun, nothing is filtered, a restart
 * that was pending is cancelled.  With a log that log begins anew too; one that cannot be rewritten
 * (a pipe) gets a mark.  The creation time stays.  What goes wrong with the log's output is no
 * error of this call: posix_trace_get_status() tells it, and the next flush tries again.  But where
 * the log's file cannot be cut for good, nothing is cleared, in stream or log.
 *
 * EINVAL: @trid is no active stream.
 * EPERM and so on: what the system says where the log's file may only be appended to (an attribute
 *         of the file), or is sealed against shrinking or writing.
 * Cost: lock; with a log, output.  Unit: Core.
 */
int posix_trace_clear(trace_id_t _trid);

/*
 * Stops the stream and gives back all it had.  With a log all events are flushed first and the log
 * is completed and closed; the descriptor that create was given stays open.  Threads that wait for
 * an event of this stream return with EINVAL.  Trace points may run meanwhile; one that was stopped
 * in the middle delays the call by the hold-back time at most, and its memory is then kept aside.
 * At exit() the library does this for every stream that is left.
 *
 * EINVAL: @trid is no active stream.
 * EFBIG, ENOSPC and so on, as posix_trace_flush(): the log could not be completed, for the reason
 *         that a write or the last ftruncate() gave; the stream is gone nevertheless.
 * Cost: lock; steps in proportion to the event types; with a log, output.  Unit: Core.
 */
int posix_trace_shutdown(trace_id_t _trid);

/*
 * Begins to record, with a START event (it carries the filter).  A stream that runs stays as it is.
 * A stream that stopped because it was full goes on at once if something was read meanwhile, else
 * it stays stopped: no error.
 *
 * EINVAL: @trid is no active stream.
 * Cost: lock; steps in proportion to the event types.  Unit: Core.
 */
int posix_trace_start(trace_id_t _trid);

/*
 * Ends recording, with a STOP event as the last one.  A stream that is stopped stays as it is; one
 * that stopped because it was full will not start again by itself.  Events recorded before stay
 * readable.
 *
 * EINVAL: @trid is no active stream.
 * Cost: lock; steps in proportion to the event types.  Unit: Core.
 */
int posix_trace_stop(trace_id_t _trid);

#endif

#if _PXT_UNIT_ONLINE

/*
 * Makes a stream without log for this process: suspended, empty, nothing filtered.  All its memory
 * is allocated and touched now.
 *
 * @pid:  0 or the own process.
 * @attr: NULL for the defaults; its values are copied.
 * @trid: the new identifier.
 *
 * EAGAIN: TRACE_SYS_MAX streams exist in this process.
 * EINVAL: @attr or @trid invalid; a policy that needs a log.
 * ENOMEM: no memory for these sizes, or for the names and threads of the process, which the first
 *         stream brings.
 * ESRCH:  @pid is negative or no process.
 * EPERM:  @pid is another process.
 * Cost: lock, memory; the first call of a process may take 20 ms to measure its clock.
 * Unit: On-Line.
 */
int posix_trace_create(
    pid_t _pid, const trace_attr_t *_PXT_RESTRICT _attr, trace_id_t *_PXT_RESTRICT _trid);

/*
 * As posix_trace_getnext_event() on an active stream without log, but waits until @abstime at most.
 *
 * @abstime: CLOCK_REALTIME; steps of that clock are followed.  Looked at only if there is no event.
 *
 * EINVAL:    @trid is not an active stream without log; it was shut down meanwhile; no event
 *            is there and @abstime is invalid; another argument invalid.
 * EINTR:     a signal handler ran, no event was consumed.
 * ETIMEDOUT: no event came before @abstime.
 * Cost: lock; one event.  Unit: On-Line.
 */
int posix_trace_timedgetnext_event(trace_id_t _trid,
    struct posix_trace_event_info *_PXT_RESTRICT _event, void *_PXT_RESTRICT _data,
    size_t _num_bytes, size_t *_PXT_RESTRICT _data_len, int *_PXT_RESTRICT _unavailable,
    const struct timespec *_PXT_RESTRICT _abstime) _PXT_TIMES(posix_trace_timedgetnext_event);

/*
 * As posix_trace_getnext_event() on an active stream without log, but never waits: without an event
 * it returns 0 and *unavailable is non-zero.
 *
 * EINVAL: @trid is not an active stream without log (a log is an error here); another
 *         argument invalid.
 * Cost: lock; one event.  Unit: On-Line.
 */
int posix_trace_trygetnext_event(trace_id_t _trid,
    struct posix_trace_event_info *_PXT_RESTRICT _event, void *_PXT_RESTRICT _data,
    size_t _num_bytes, size_t *_PXT_RESTRICT _data_len, int *_PXT_RESTRICT _unavailable)
    _PXT_TIMES(posix_trace_trygetnext_event);

#endif

#if _PXT_UNIT_ONLINE || _PXT_UNIT_LOGRETRIEVAL

/*
 * Takes the oldest event out of an active stream without log, or reads the next one of a log.  An
 * empty stream is waited for, also while it is suspended; at the end of a log *unavailable is
 * non-zero and the result 0.  Several threads may read one stream: each event goes to one of them.
 *
 * @event:       what is known of the event.  Stamps are on the line of CLOCK_REALTIME as it was
 *               when the stream was created, and never decrease.
 * @data:        @num_bytes bytes of room, of any alignment; may be NULL if @num_bytes is 0.
 * @num_bytes:   the room for data, in bytes.
 * @data_len:    bytes stored.  Longer data is cut, the event is consumed and its truncation status
 *               is POSIX_TRACE_TRUNCATED_READ.
 * @unavailable: 0 with an event; non-zero on every return without one, errors included.
 *
 * EINVAL: @trid is unknown, or an active stream with log, whose events its log takes; the stream
 *         was shut down meanwhile; another argument invalid.
 * EINTR:  a signal handler ran, no event was consumed.
 * EIO:    a log's next block is damaged, and stays the next one (posix_trace_log_skipdamage_np()
 *         says where, and passes over it); or the file cannot be read any more.
 * Cost: lock; one event; with a log a read of the file, when the next block is not in memory yet.
 * Unit: On-Line, Log Retrieval.
 */
int posix_trace_getnext_event(trace_id_t _trid, struct posix_trace_event_info *_PXT_RESTRICT _event,
    void *_PXT_RESTRICT _data, size_t _num_bytes, size_t *_PXT_RESTRICT _data_len,
    int *_PXT_RESTRICT _unavailable) _PXT_TIMES(posix_trace_getnext_event);

#endif

#if _PXT_UNIT_TOLOG || _PXT_UNIT_LOGRETRIEVAL

/*
 * What happens when the log is full: POSIX_TRACE_LOOP, _UNTIL_FULL or _APPEND.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Trace-To-Log, Log Retrieval.
 */
int posix_trace_attr_getlogfullpolicy(
    const trace_attr_t *_PXT_RESTRICT _attr, int *_PXT_RESTRICT _logpolicy);

/*
 * The most bytes that events may take in the log.
 *
 * EINVAL: an argument invalid.
 * Cost: constant.  Unit: Trace-To-Log, Log Retrieval.
 */
int posix_trace_attr_getlogsize(
    const trace_attr_t *_PXT_RESTRICT _attr, size_t *_PXT_RESTRICT _logsize);

#endif

#if _PXT_UNIT_TOLOG

/*
 * What a full log does.
 *
 * @logpolicy: POSIX_TRACE_LOOP (overwrite the oldest), POSIX_TRACE_UNTIL_FULL (take no more),
 * POSIX_TRACE_APPEND (grow without limit; the only one for pipes, sockets and devices).
 *
 * EINVAL: @logpolicy is another value or was not built, the old one stays; @attr invalid.
 * Cost: constant.  Unit: Trace-To-Log.
 */
int posix_trace_attr_setlogfullpolicy(trace_attr_t *_attr, int _logpolicy);

/*
 * The most bytes that events may take in the log; of no meaning for APPEND.  Counted is what they
 * take in the file, where UNTIL_FULL may code them in fewer bytes than in the stream.  Beside it
 * are names, threads and modules, and 96 bytes for each block.
 *
 * @logsize: bytes.
 *
 * EINVAL: @attr invalid.  Too small a size is found by posix_trace_create_withlog().
 * Cost: constant.  Unit: Trace-To-Log.
 */
int posix_trace_attr_setlogsize(trace_attr_t *_attr, size_t _logsize);

/*
 * As posix_trace_create(), and binds a log to the stream, to which its events are flushed.
 *
 * @file_desc: open for writing (reading is not needed).  A regular file is truncated and takes all
 *             log policies, LOOP if none was set; a pipe, socket, terminal or a file with O_APPEND
 *             (if empty) takes APPEND, also if none was set.  The library works on a duplicate and
 *             leaves @file_desc open.
 *
 * EBADF:  @file_desc is not open for writing (a directory never is).
 * EINVAL: as posix_trace_create(); this type of file does not support the policy, or cannot hold a
 *         log (a block device); the log size is too small for the policy;
 *         policy FLUSH: SCHED_FIFO has no such priority as its thread's.
 * EMFILE: no descriptor is left for the duplicate.
 * EAGAIN: as posix_trace_create(); policy FLUSH: no thread.
 * EPERM:  as posix_trace_create(); policy FLUSH: its thread's priority is not for this process.
 * ENOMEM, ESRCH: as posix_trace_create().
 * ENOSPC: no room for the log.
 * EFBIG, EIO, EPIPE, EAGAIN and so on: what a write gave, or the ftruncate() of a regular file: the
 *         log's head could not be written.  The file may be truncated by then.
 * Cost: lock, memory, output; with FLUSH a thread.  Unit: Trace-To-Log.
 */
int posix_trace_create_withlog(pid_t _pid, const trace_attr_t *_PXT_RESTRICT _attr, int _file_desc,
    trace_id_t *_PXT_RESTRICT _trid);

/*
 * Writes what the stream holds to its log, in the calling thread; when it returns that is done.
 * Trace points go on meanwhile.  A second call waits for the first.
 *
 * EINVAL: @trid is no active stream with log.
 * EFBIG:  the file may not grow further.  Neither SIGXFSZ nor SIGPIPE reaches the program.
 * ENOSPC: no room on the device.  Other numbers of write() are passed on; EAGAIN when the device
 *         took nothing for a second.
 * EBADF:  the program has closed the library's own descriptor of the log, whose number may be
 *         another file's by now, which was left alone.
 * EPIPE:  nobody reads the pipe or socket any more.  After these two no log goes on, and what
 *         was taken for it and did not get there counts as lost.
 *         The first error since is also kept for posix_trace_get_status().
 * ECANCELED: a signal handler has sealed the log in the middle of this call
 *         (posix_trace_seal_on_signals_np()).
 * Cost: lock; output in proportion to what is held.  Unit: Trace-To-Log.
 */
int posix_trace_flush(trace_id_t _trid);

#endif

#if _PXT_UNIT_USEREVENTS

/*
 * Records one user event in every stream that runs and does not filter its type.
 *
 * @event_id: from posix_trace_eventid_open(), or POSIX_TRACE_UNNAMED_USEREVENT.  Any other value
 *            has no effect.
 * @data_ptr: copied before the call returns, of any alignment; may be NULL if @data_len is 0.
 * @data_len: bytes.  Longer data than the maximum data size of a stream is cut there, and the event
 *            marked POSIX_TRACE_TRUNCATED_RECORD.
 *
 * Returns nothing, as the standard asks: an event that finds no room is counted, and the stream's
 * status shows the overrun.
 *
 * Context: any thread, any signal handler (async-signal-safe), interrupt handlers on bare metal;
 *          may interrupt itself.  No lock, no allocation, no page fault; steps bounded by the size
 *          of the event and the number of threads inside; errno is kept.  One system call can
 *          occur: the wake-up of a reader or flusher that sleeps (posix_trace_attr_setpolling_np()
 *          avoids it).
 * Cost: one load, one test where no stream wants the type.  Else 16 bytes of each stream, and 16
 *       more for every 12 bytes, begun, of context (8 bytes: thread and address) and data.
 * Unit: User Events.
 */
void posix_trace_event(
    trace_event_id_t _event_id, const void *_PXT_RESTRICT _data_ptr, size_t _data_len) _PXT_DIRECT;

/*
 * The identifier of a user event type of this process, by name; a new name makes a new type, in all
 * streams, for good.  Names of predefined types give the predefined type.  When
 * TRACE_USER_EVENT_MAX types exist, new names give POSIX_TRACE_UNNAMED_USEREVENT: no error.
 *
 * @event_name: up to TRACE_EVENT_NAME_MAX bytes without the NUL, compared byte by byte; copied.  ""
 *              is a name.
 * @event_id:   the type's number.
 *
 * ENAMETOOLONG: the name is longer; no type is made.
 * EINVAL:       an argument is NULL.
 * ENOMEM:       no memory for the names of the process, which its first new name or stream brings.
 * EAGAIN:       a forked process is stopped in the middle of a definition
 *               (posix_trace_attr_setinherited()); no type is made.
 * Cost: steps in proportion to the number of types; a new name adds the lock.  Unit: User Events.
 */
int posix_trace_eventid_open(
    const char *_PXT_RESTRICT _event_name, trace_event_id_t *_PXT_RESTRICT _event_id);

#endif

#if _PXT_UNIT_FILTER

/*
 * Adds a type to a set.  Only the set changes, never a stream.
 *
 * @event_id: 1 to the largest identifier that the configuration can have.
 * @set:      emptied or filled before.
 *
 * EINVAL: @event_id is 0 or too large; @set is NULL.
 * Context: also signal handlers.  Cost: constant.  Unit: Event Filter.
 */
int posix_trace_eventset_add(trace_event_id_t _event_id, trace_event_set_t *_set)
    _PXT_SETS(posix_trace_eventset_add);

/*
 * Removes a type from a set.
 *
 * EINVAL: as posix_trace_eventset_add().
 * Context: also signal handlers.  Cost: constant.  Unit: Event Filter.
 */
int posix_trace_eventset_del(trace_event_id_t _event_id, trace_event_set_t *_set)
    _PXT_SETS(posix_trace_eventset_del);

/*
 * Makes a set with no types.
 *
 * @set: any memory of that type.
 *
 * EINVAL: @set is NULL.
 * Context: also signal handlers.  Cost: constant.  Unit: Event Filter.
 */
int posix_trace_eventset_empty(trace_event_set_t *_set) _PXT_SETS(posix_trace_eventset_empty);

/*
 * Makes a set with all types of a kind; what was in it is ignored.
 *
 * @set:  any memory of that type.
 * @what: POSIX_TRACE_WOPID_EVENTS: implementation-defined types that belong to no process (none
 *        exist: an empty set).  POSIX_TRACE_SYSTEM_EVENTS: all system types.
 *        POSIX_TRACE_ALL_EVENTS: all types, also user types that are defined later.
 *
 * EINVAL: @what is another value; @set is NULL.
 * Context: also signal handlers.  Cost: constant.  Unit: Event Filter.
 */
int posix_trace_eventset_fill(trace_event_set_t *_set, int _what)
    _PXT_SETS(posix_trace_eventset_fill);

/*
 * Whether a type is in a set.
 *
 * @ismember: non-zero if so, else 0.
 *
 * EINVAL: as posix_trace_eventset_add(); @ismember is NULL.
 * Context: also signal handlers.  Cost: constant.  Unit: Event Filter.
 */
int posix_trace_eventset_ismember(trace_event_id_t _event_id,
    const trace_event_set_t *_PXT_RESTRICT _set, int *_PXT_RESTRICT _ismember)
    _PXT_SETS(posix_trace_eventset_ismember);

/*
 * The filter of a stream: the set of types that it does not record.
 *
 * EINVAL: @trid is no active stream; @set is NULL.
 * Cost: lock.  Unit: Event Filter.
 */
int posix_trace_get_filter(trace_id_t _trid, trace_event_set_t *_set)
    _PXT_SETS(posix_trace_get_filter);

/*
 * Changes the filter: types in it are not recorded.  The change is one step for trace points; after
 * the return it governs all threads.  A running stream records it in a FILTER event, which the old
 * filter judges.  System events can be filtered too.
 *
 * @how: POSIX_TRACE_SET_EVENTSET (the filter becomes @set), POSIX_TRACE_ADD_EVENTSET (@set is
 *       added), POSIX_TRACE_SUB_EVENTSET (@set is taken away).
 *
 * EINVAL: @trid is no active stream; @set is NULL; @how is another value.
 * Cost: lock; steps in proportion to the event types.  Unit: Event Filter.
 */
int posix_trace_set_filter(trace_id_t _trid, const trace_event_set_t *_set, int _how)
    _PXT_SETS(posix_trace_set_filter);

/*
 * As posix_trace_eventid_open(), for the process that @trid traces: the same name gives the same
 * identifier there and here.  In a library without the User Events unit every new name gives
 * POSIX_TRACE_UNNAMED_USEREVENT.
 *
 * EINVAL:       @trid is no active stream; another argument is NULL.
 * ENAMETOOLONG: the name is longer than TRACE_EVENT_NAME_MAX.
 * EAGAIN:       as posix_trace_eventid_open(): a forked process is stopped.
 * Cost: as posix_trace_eventid_open().  Unit: Event Filter.
 */
int posix_trace_trid_eventid_open(trace_id_t _trid, const char *_PXT_RESTRICT _event_name,
    trace_event_id_t *_PXT_RESTRICT _event);

#endif

#if _PXT_UNIT_INHERIT

/*
 * The inheritance attribute: POSIX_TRACE_CLOSE_FOR_CHILD (the default) or POSIX_TRACE_INHERITED.
 *
 * @inheritancepolicy: where it goes.
 *
 * EINVAL: @attr invalid; @inheritancepolicy is NULL.
 * Cost: constant.  Unit: Inheritance.
 */
int posix_trace_attr_getinherited(
    const trace_attr_t *_PXT_RESTRICT _attr, int *_PXT_RESTRICT _inheritancepolicy);

/*
 * Whether children that the process forks, and theirs, are traced into streams made with @attr.
 *
 * A child of an inherited stream records into the same ring from its first trace point on, with
 * its own pid, until the creator stops or shuts the stream down, wherever the child got by then.
 * Parent and children have one map of names, also for names defined after the fork.  The child
 * knows none of its parent's identifiers and controls nothing; how it ends, also by a kill in the
 * middle of a trace point, has no effect on the stream but for the loss, which is counted, of the
 * record that it did not finish.  An inherited stream takes one of TRACE_SYS_MAX places in each
 * child.  A trace point in a child costs what it costs in the creator; while the stream is stopped
 * or has a filter, the stream is looked at, some nanoseconds more than in the creator.  A child
 * makes some system calls inside fork(), and meets a page fault where it first touches a page of
 * the ring: memory that the creator locked is not locked in children.
 *
 * What forked processes share, they share for good:
 *
 *   names    A process records a type that another one defined after the fork once it has opened
 *            that name itself: an identifier that it was told otherwise has no effect before.  In a
 *            child, posix_trace_wanted_np() says yes to every type, also while the stream is
 *            stopped or filters it.  While a process is stopped (SIGSTOP, a debugger) in the
 *            middle of a definition, those of the others fail with EAGAIN, after 1 ms; so they do
 *            after the hold-back time where it cannot be seen that it is stopped (in another pid
 *            namespace, frozen).  When it goes on, or is killed, the others go on, too.
 *   threads  Each thread of each process that traces takes one of CONFIG_PTRACE_MAX_THREADS
 *            entries of one table, and none is used again: a server that forks for each request
 *            comes to their end.  Threads beyond trace all the same; each of their records is 12
 *            bytes, mostly one slot, longer.
 *   waiting  posix_trace_stop(), posix_trace_set_filter() and posix_trace_shutdown() of the
 *            creator wait for children inside a trace point as for own threads: no longer than the
 *            hold-back time for one that stands still there, not at all for one that is dead.
 *   pids     A record tells its process' pid as that process has it in its own pid namespace.
 *            Whether a forked process of another namespace lives cannot be asked: it is taken for
 *            a living one, and what it leaves unfinished is waited for during the hold-back time.
 *
 * Not traced: a child made by vfork(), posix_spawn() or clone() with shared memory is its parent
 * until it calls exec, and nobody afterwards; one made by clone() without the C library
 * is traced from its first call of this library on that is no trace point.
 *
 * @inheritancepolicy: POSIX_TRACE_CLOSE_FOR_CHILD or POSIX_TRACE_INHERITED.
 *
 * EINVAL: @attr invalid; @inheritancepolicy is another value.
 * Cost: constant.  Unit: Inheritance.
 */
int posix_trace_attr_setinherited(trace_attr_t *_attr, int _inheritancepolicy);

#endif

#if _PXT_UNIT_LOGRETRIEVAL

/*
 * Forgets a log that was opened; the program's descriptor stays open.
 *
 * EINVAL: @trid is no opened log.
 * Cost: gives back memory.  Unit: Log Retrieval.
 */
int posix_trace_close(trace_id_t _trid);

/*
 * Opens a complete log for reading, at its oldest event.  The log may come from a machine of
 * another byte order or word size.  Several identifiers may be open on one file.
 *
 * @file_desc: open for reading, a regular file.  The library works on a duplicate.
 *
 * The records themselves are not read here, and checked when they are: EIO of the functions that
 * hand out events.  posix_trace_log_check_np() checks all of them.
 *
 * EINVAL: not readable, not a log, not complete, damaged outside the records, or of a version that
 *         this library does not know (posix_trace_log_open_np() says which and where); @trid is
 *         NULL.
 * EMFILE: no descriptor is left for the duplicate.
 * ENOMEM: no memory for its tables.
 * Cost: reading in proportion to the log's number of blocks, memory to its names, threads and clock
 * readings.  Unit: Log Retrieval.
 */
int posix_trace_open(int _file_desc, trace_id_t *_trid);

/*
 * Back to the oldest event of a log: the same events are read again.
 *
 * EINVAL: @trid is no opened log.
 * Cost: constant.  Unit: Log Retrieval.
 */
int posix_trace_rewind(trace_id_t _trid);

#endif

#ifdef __cplusplus
}
#endif

#endif
