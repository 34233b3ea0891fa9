/* SPDX-License-Identifier: MIT */
/*
 * trace.h - POSIX tracing (IEEE Std 1003.1-2008, option groups TRC, TEF, TRL), by libptrace.
 *
 * The header declares what the installed configuration holds: each unit has a macro of its own,
 * _PXT_UNIT_CORE, _ONLINE, _TOLOG, _USEREVENTS, _FILTER, _INHERIT, _LOGRETRIEVAL, which is 1 or 0
 * (trace_config.h).  The C library's own _POSIX_TRACE macros say -1 and are left alone: it is not
 * the C library that traces.
 *
 * Everything beyond the standard is in trace_np.h.
 */
#ifndef _PXT_TRACE_H
#define _PXT_TRACE_H 1

#include <trace_config.h>

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
#define _PXT_RESTRICT restrict
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
#define TRACE_NAME_MAX 31
/* Streams that one process may have at once (logs that are read do not count). */
#define TRACE_SYS_MAX _PXT_MAX_STREAMS
/* User event types of a process, the unnamed one included. */
#define TRACE_USER_EVENT_MAX _PXT_USER_EVENT_MAX

/* ---- Types ---- */

/* A stream or an opened log.  0 is never valid. */
typedef unsigned long trace_id_t;

/* An event type.  0 is never valid. */
typedef unsigned int trace_event_id_t;

/*
 * The attributes of a stream.  Flat: it holds no pointers and owns no memory, so an object that
 * is forgotten leaks nothing.  The members are private; use the posix_trace_attr_ functions.
 */
typedef struct {
	uint32_t _pxt_magic;
	int32_t _pxt_stream_policy; /* 0 = the default of the create call (DEC-06) */
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
	uint32_t _pxt_reserved[7];
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
	uint32_t _pxt_reserved;
	uint64_t _pxt_ticks;
	uint64_t _pxt_lost_before;
};

struct posix_trace_status_info {
	int posix_stream_status;
	int posix_stream_full_status;
	int posix_stream_overrun_status;
	int posix_stream_flush_status;
	int posix_stream_flush_error;
	int posix_log_overrun_status;
	int posix_log_full_status;
};

/* ---- Constants ---- */

/* posix_stream_status */
#define POSIX_TRACE_RUNNING 1
#define POSIX_TRACE_SUSPENDED 2
/* posix_stream_full_status, posix_log_full_status */
#define POSIX_TRACE_FULL 1
#define POSIX_TRACE_NOT_FULL 0
/* posix_stream_overrun_status, posix_log_overrun_status */
#define POSIX_TRACE_OVERRUN 1
#define POSIX_TRACE_NO_OVERRUN 0
/* posix_stream_flush_status */
#define POSIX_TRACE_FLUSHING 1
#define POSIX_TRACE_NOT_FLUSHING 0
/* stream and log full policies: one value each, so that no setter takes the other's */
#define POSIX_TRACE_LOOP 1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH 3
#define POSIX_TRACE_APPEND 4
/* inheritance */
#define POSIX_TRACE_CLOSE_FOR_CHILD 1
#define POSIX_TRACE_INHERITED 2
/* posix_truncation_status */
#define POSIX_TRACE_NOT_TRUNCATED 0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ 2
/* posix_trace_eventset_fill() */
#define POSIX_TRACE_WOPID_EVENTS 1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS 3
/* posix_trace_set_filter() */
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

/* predefined event types */
#define POSIX_TRACE_ERROR ((trace_event_id_t)1)
#define POSIX_TRACE_START ((trace_event_id_t)2)
#define POSIX_TRACE_STOP ((trace_event_id_t)3)
#define POSIX_TRACE_OVERFLOW ((trace_event_id_t)4)
#define POSIX_TRACE_RESUME ((trace_event_id_t)5)
#define POSIX_TRACE_FILTER ((trace_event_id_t)6)
#define POSIX_TRACE_FLUSH_START ((trace_event_id_t)7)
#define POSIX_TRACE_FLUSH_STOP ((trace_event_id_t)8)
#define POSIX_TRACE_UNNAMED_USEREVENT ((trace_event_id_t)31)
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

/* ---- Functions ---- */

int posix_trace_attr_destroy(trace_attr_t *attr);
int posix_trace_attr_init(trace_attr_t *attr);
int posix_trace_attr_getclockres(const trace_attr_t *attr, struct timespec *resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *attr, struct timespec *createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion);
int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename);
int posix_trace_attr_getmaxdatasize(
    const trace_attr_t *_PXT_RESTRICT attr, size_t *_PXT_RESTRICT maxdatasize);
int posix_trace_attr_getmaxsystemeventsize(
    const trace_attr_t *_PXT_RESTRICT attr, size_t *_PXT_RESTRICT eventsize);
int posix_trace_attr_getmaxusereventsize(
    const trace_attr_t *_PXT_RESTRICT attr, size_t data_len, size_t *_PXT_RESTRICT eventsize);
int posix_trace_attr_getstreamfullpolicy(
    const trace_attr_t *_PXT_RESTRICT attr, int *_PXT_RESTRICT streampolicy);
int posix_trace_attr_getstreamsize(
    const trace_attr_t *_PXT_RESTRICT attr, size_t *_PXT_RESTRICT streamsize);
int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2);
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name);
int posix_trace_eventtypelist_getnext_id(
    trace_id_t trid, trace_event_id_t *_PXT_RESTRICT event, int *_PXT_RESTRICT unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);
int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);

#if _PXT_UNIT_CORE
int posix_trace_attr_setname(trace_attr_t *attr, const char *tracename);
int posix_trace_attr_setmaxdatasize(trace_attr_t *attr, size_t maxdatasize);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *attr, int streampolicy);
int posix_trace_attr_setstreamsize(trace_attr_t *attr, size_t streamsize);
int posix_trace_clear(trace_id_t trid);
int posix_trace_shutdown(trace_id_t trid);
int posix_trace_start(trace_id_t trid);
int posix_trace_stop(trace_id_t trid);
#endif

#if _PXT_UNIT_ONLINE
int posix_trace_create(
    pid_t pid, const trace_attr_t *_PXT_RESTRICT attr, trace_id_t *_PXT_RESTRICT trid);
int posix_trace_timedgetnext_event(trace_id_t trid,
    struct posix_trace_event_info *_PXT_RESTRICT event, void *_PXT_RESTRICT data, size_t num_bytes,
    size_t *_PXT_RESTRICT data_len, int *_PXT_RESTRICT unavailable,
    const struct timespec *_PXT_RESTRICT abstime);
int posix_trace_trygetnext_event(trace_id_t trid,
    struct posix_trace_event_info *_PXT_RESTRICT event, void *_PXT_RESTRICT data, size_t num_bytes,
    size_t *_PXT_RESTRICT data_len, int *_PXT_RESTRICT unavailable);
#endif

#if _PXT_UNIT_ONLINE || _PXT_UNIT_LOGRETRIEVAL
int posix_trace_getnext_event(trace_id_t trid, struct posix_trace_event_info *_PXT_RESTRICT event,
    void *_PXT_RESTRICT data, size_t num_bytes, size_t *_PXT_RESTRICT data_len,
    int *_PXT_RESTRICT unavailable);
#endif

#if _PXT_UNIT_TOLOG || _PXT_UNIT_LOGRETRIEVAL
int posix_trace_attr_getlogfullpolicy(
    const trace_attr_t *_PXT_RESTRICT attr, int *_PXT_RESTRICT logpolicy);
int posix_trace_attr_getlogsize(
    const trace_attr_t *_PXT_RESTRICT attr, size_t *_PXT_RESTRICT logsize);
#endif

#if _PXT_UNIT_TOLOG
int posix_trace_attr_setlogfullpolicy(trace_attr_t *attr, int logpolicy);
int posix_trace_attr_setlogsize(trace_attr_t *attr, size_t logsize);
int posix_trace_create_withlog(pid_t pid, const trace_attr_t *_PXT_RESTRICT attr, int file_desc,
    trace_id_t *_PXT_RESTRICT trid);
int posix_trace_flush(trace_id_t trid);
#endif

#if _PXT_UNIT_USEREVENTS
void posix_trace_event(
    trace_event_id_t event_id, const void *_PXT_RESTRICT data_ptr, size_t data_len);
int posix_trace_eventid_open(
    const char *_PXT_RESTRICT event_name, trace_event_id_t *_PXT_RESTRICT event_id);
#endif

#if _PXT_UNIT_FILTER
int posix_trace_eventset_add(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_del(trace_event_id_t event_id, trace_event_set_t *set);
int posix_trace_eventset_empty(trace_event_set_t *set);
int posix_trace_eventset_fill(trace_event_set_t *set, int what);
int posix_trace_eventset_ismember(trace_event_id_t event_id,
    const trace_event_set_t *_PXT_RESTRICT set, int *_PXT_RESTRICT ismember);
int posix_trace_get_filter(trace_id_t trid, trace_event_set_t *set);
int posix_trace_set_filter(trace_id_t trid, const trace_event_set_t *set, int how);
int posix_trace_trid_eventid_open(trace_id_t trid, const char *_PXT_RESTRICT event_name,
    trace_event_id_t *_PXT_RESTRICT event);
#endif

#if _PXT_UNIT_LOGRETRIEVAL
int posix_trace_close(trace_id_t trid);
int posix_trace_open(int file_desc, trace_id_t *trid);
int posix_trace_rewind(trace_id_t trid);
#endif

#ifdef __cplusplus
}
#endif

#endif
