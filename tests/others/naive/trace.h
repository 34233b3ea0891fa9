/* SPDX-License-Identifier: MIT */
/* trace.h - the standard's names, as naive.c has them: no logs, no inheritance. */
#ifndef NAIVE_TRACE_H
#define NAIVE_TRACE_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#define _POSIX_TRACE_NAME_MAX       8
#define _POSIX_TRACE_SYS_MAX        8
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif
#define TRACE_EVENT_NAME_MAX 30
#define TRACE_NAME_MAX       31
#define TRACE_SYS_MAX        8
#define TRACE_USER_EVENT_MAX 64

typedef unsigned long trace_id_t;
typedef unsigned trace_event_id_t;
typedef struct {
	unsigned bits[8];
} trace_event_set_t;
typedef struct {
	unsigned magic;
	int policy;
	size_t size, data;
	struct timespec created;
	char name[TRACE_NAME_MAX + 1];
} trace_attr_t;

struct posix_trace_event_info {
	trace_event_id_t posix_event_id;
	pid_t posix_pid;
	void *posix_prog_address;
	pthread_t posix_thread_id;
	struct timespec posix_timestamp;
	int posix_truncation_status;
};
struct posix_trace_status_info {
	int posix_stream_status, posix_stream_full_status, posix_stream_overrun_status;
	int posix_stream_flush_status, posix_stream_flush_error, posix_log_overrun_status,
	    posix_log_full_status;
};

enum {
	POSIX_TRACE_SUSPENDED,
	POSIX_TRACE_RUNNING
};
enum {
	POSIX_TRACE_NOT_FULL,
	POSIX_TRACE_FULL
};
enum {
	POSIX_TRACE_NO_OVERRUN,
	POSIX_TRACE_OVERRUN
};
enum {
	POSIX_TRACE_NOT_FLUSHING,
	POSIX_TRACE_FLUSHING
};
enum {
	POSIX_TRACE_LOOP = 10,
	POSIX_TRACE_UNTIL_FULL,
	POSIX_TRACE_FLUSH,
	POSIX_TRACE_APPEND
};
enum {
	POSIX_TRACE_CLOSE_FOR_CHILD,
	POSIX_TRACE_INHERITED
};
enum {
	POSIX_TRACE_NOT_TRUNCATED,
	POSIX_TRACE_TRUNCATED_READ,
	POSIX_TRACE_TRUNCATED_RECORD
};
enum {
	POSIX_TRACE_WOPID_EVENTS = 20,
	POSIX_TRACE_SYSTEM_EVENTS,
	POSIX_TRACE_ALL_EVENTS
};
enum {
	POSIX_TRACE_SET_EVENTSET = 30,
	POSIX_TRACE_ADD_EVENTSET,
	POSIX_TRACE_SUB_EVENTSET
};
#define POSIX_TRACE_ERROR              1u
#define POSIX_TRACE_START              2u
#define POSIX_TRACE_STOP               3u
#define POSIX_TRACE_OVERFLOW           4u
#define POSIX_TRACE_RESUME             5u
#define POSIX_TRACE_FILTER             6u
#define POSIX_TRACE_FLUSH_START        7u
#define POSIX_TRACE_FLUSH_STOP         8u
#define POSIX_TRACE_UNNAMED_USEREVENT  31u
#define POSIX_TRACE_UNNAMED_USER_EVENT 31u

int posix_trace_attr_destroy(trace_attr_t *);
int posix_trace_attr_init(trace_attr_t *);
int posix_trace_attr_getclockres(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getcreatetime(const trace_attr_t *, struct timespec *);
int posix_trace_attr_getgenversion(const trace_attr_t *, char *);
int posix_trace_attr_getname(const trace_attr_t *, char *);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *, size_t *);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *, size_t *);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *, size_t, size_t *);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *, int *);
int posix_trace_attr_getstreamsize(const trace_attr_t *, size_t *);
int posix_trace_attr_setname(trace_attr_t *, const char *);
int posix_trace_attr_setmaxdatasize(trace_attr_t *, size_t);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *, int);
int posix_trace_attr_setstreamsize(trace_attr_t *, size_t);
int posix_trace_create(pid_t, const trace_attr_t *, trace_id_t *);
int posix_trace_start(trace_id_t);
int posix_trace_stop(trace_id_t);
int posix_trace_clear(trace_id_t);
int posix_trace_shutdown(trace_id_t);
int posix_trace_get_attr(trace_id_t, trace_attr_t *);
int posix_trace_get_status(trace_id_t, struct posix_trace_status_info *);
int posix_trace_get_filter(trace_id_t, trace_event_set_t *);
int posix_trace_set_filter(trace_id_t, const trace_event_set_t *, int);
int posix_trace_eventset_add(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_del(trace_event_id_t, trace_event_set_t *);
int posix_trace_eventset_empty(trace_event_set_t *);
int posix_trace_eventset_fill(trace_event_set_t *, int);
int posix_trace_eventset_ismember(trace_event_id_t, const trace_event_set_t *, int *);
int posix_trace_eventid_equal(trace_id_t, trace_event_id_t, trace_event_id_t);
int posix_trace_eventid_get_name(trace_id_t, trace_event_id_t, char *);
int posix_trace_eventid_open(const char *, trace_event_id_t *);
int posix_trace_trid_eventid_open(trace_id_t, const char *, trace_event_id_t *);
int posix_trace_eventtypelist_getnext_id(trace_id_t, trace_event_id_t *, int *);
int posix_trace_eventtypelist_rewind(trace_id_t);
void posix_trace_event(trace_event_id_t, const void *, size_t);
int posix_trace_getnext_event(
    trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *, int *);
int posix_trace_timedgetnext_event(trace_id_t, struct posix_trace_event_info *, void *, size_t,
    size_t *, int *, const struct timespec *);
int posix_trace_trygetnext_event(
    trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *, int *);

#endif
