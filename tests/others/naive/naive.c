/* SPDX-License-Identifier: MIT */
/*
 * naive.c - a second implementation of the standard's tracing, for the conformance suite: one mutex and an array of
 * events for each stream, no logs, no children.  What it does not have is told as failed or untested.
 *
 * -DMISTAKE_<what> plants a mistake, which the suite must find (`suite.py mistakes`).
 */
#define _GNU_SOURCE
#include <trace.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC      0x6e616976u
#define TYPES      256
#define FIRST_USER 32
#define DATA_MAX   4096
#define SLOT       64 /* what an event costs beside its data */

struct record {
	struct posix_trace_event_info info;
	size_t bytes;
	unsigned char *data;
};
struct stream {
	bool used, running, full, overrun, self_stopped;
	trace_id_t trid;
	trace_attr_t attr;
	trace_event_set_t filter;
	struct record *records;
	size_t room, held, listed;
	unsigned list;
};

/* Recursive: a handler may trace in the middle of a trace point. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stream streams[TRACE_SYS_MAX];
static trace_id_t last_trid;
static char names[TYPES][TRACE_EVENT_NAME_MAX + 1] = { [POSIX_TRACE_ERROR] = "posix_trace_error",
	[POSIX_TRACE_START] = "posix_trace_start",
	[POSIX_TRACE_STOP] = "posix_trace_stop",
	[POSIX_TRACE_OVERFLOW] = "posix_trace_overflow",
	[POSIX_TRACE_RESUME] = "posix_trace_resume",
	[POSIX_TRACE_FILTER] = "posix_trace_filter",
	[POSIX_TRACE_FLUSH_START] = "posix_trace_flush_start",
	[POSIX_TRACE_FLUSH_STOP] = "posix_trace_flush_stop",
	[POSIX_TRACE_UNNAMED_USEREVENT] = "posix_trace_unnamed_userevent" };
static unsigned named = FIRST_USER;

/* ---- Attributes ---- */

static bool good(const trace_attr_t *attr)
{
	return attr && attr->magic == MAGIC;
}

int posix_trace_attr_init(trace_attr_t *attr)
{
	if (!attr)
		return EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->magic = MAGIC;
	attr->policy = POSIX_TRACE_LOOP;
	attr->size = 65536;
	attr->data = 256;
	return 0;
}

int posix_trace_attr_destroy(trace_attr_t *attr)
{
	if (!good(attr))
		return EINVAL;
#ifndef MISTAKE_DESTROY
	attr->magic = 0;
#endif
	return 0;
}

/* A getter or setter: what it does with good arguments. */
#define GET(what, type, ...)                                                                       \
	int posix_trace_attr_get##what(const trace_attr_t *attr, type *value)                      \
	{                                                                                          \
		if (!good(attr) || !value)                                                         \
			return EINVAL;                                                             \
		__VA_ARGS__;                                                                       \
		return 0;                                                                          \
	}
#define SET(what, type, condition, ...)                                                            \
	int posix_trace_attr_set##what(trace_attr_t *attr, type value)                             \
	{                                                                                          \
		if (!good(attr) || !(condition))                                                   \
			return EINVAL;                                                             \
		__VA_ARGS__;                                                                       \
		return 0;                                                                          \
	}
#ifdef MISTAKE_NAME
#define NAME_BYTES 4
#else
#define NAME_BYTES TRACE_NAME_MAX
#endif
#ifdef MISTAKE_POLICY
#define IS_POLICY 1
#else
#define IS_POLICY value == POSIX_TRACE_LOOP || value == POSIX_TRACE_UNTIL_FULL
#endif
GET(createtime, struct timespec, *value = attr->created)
GET(maxdatasize, size_t, *value = attr->data)
GET(streamsize, size_t, *value = attr->size)
GET(streamfullpolicy, int, *value = attr->policy)
GET(clockres, struct timespec, clock_getres(CLOCK_REALTIME, value))
GET(genversion, char, strcpy(value, "naive 0"))
GET(name, char, strcpy(value, attr->name))
GET(maxsystemeventsize, size_t, *value = SLOT + 2 * sizeof(trace_event_set_t))
SET(name, const char *, value, attr->name[0] = '\0'; strncat(attr->name, value, NAME_BYTES))
SET(maxdatasize, size_t, value <= DATA_MAX, attr->data = value)
SET(streamsize, size_t, true, attr->size = value)
SET(streamfullpolicy, int, IS_POLICY, attr->policy = value)

int posix_trace_attr_getmaxusereventsize(const trace_attr_t *attr, size_t length, size_t *bytes)
{
	if (!good(attr) || !bytes)
		return EINVAL;
	return *bytes = SLOT + (length < attr->data ? length : attr->data), 0;
}

/* ---- Sets ---- */

#define ON_SET(what, parameters, condition, ...)                                                   \
	int posix_trace_eventset_##what parameters                                                 \
	{                                                                                          \
		if (!set || !(condition))                                                          \
			return EINVAL;                                                             \
		__VA_ARGS__;                                                                       \
		return 0;                                                                          \
	}
#ifdef MISTAKE_DEL
#define KEPT ~0u
#else
#define KEPT ~(1u << id % 32)
#endif
ON_SET(empty, (trace_event_set_t * set), true, memset(set, 0, sizeof(*set)))
ON_SET(add, (trace_event_id_t id, trace_event_set_t *set), id > 0 && id < TYPES,
    set->bits[id / 32] |= 1u << id % 32)
ON_SET(del, (trace_event_id_t id, trace_event_set_t *set), id > 0 && id < TYPES,
    set->bits[id / 32] &= KEPT)
ON_SET(ismember, (trace_event_id_t id, const trace_event_set_t *set, int *member),
    member &&id > 0 && id < TYPES, *member = (set->bits[id / 32] >> id % 32 & 1) != 0)

int posix_trace_eventset_fill(trace_event_set_t *set, int what)
{
	if (!set || what < POSIX_TRACE_WOPID_EVENTS || what > POSIX_TRACE_ALL_EVENTS)
		return EINVAL;
	posix_trace_eventset_empty(set);
	for (trace_event_id_t id = 1; id < TYPES; id++) {
		bool is_system = id < POSIX_TRACE_UNNAMED_USEREVENT;

#ifdef MISTAKE_FILL
		is_system = true;
#endif
		if (what == POSIX_TRACE_ALL_EVENTS ||
		    (what == POSIX_TRACE_SYSTEM_EVENTS && is_system))
			posix_trace_eventset_add(id, set);
	}
	return 0;
}

/* ---- Recording ---- */

static struct stream *find(trace_id_t trid)
{
	for (size_t i = 0; trid && i < TRACE_SYS_MAX; i++) {
		if (streams[i].used && streams[i].trid == trid)
			return &streams[i];
	}
	return NULL;
}

static void drop_first(struct stream *stream)
{
	free(stream->records[0].data);
	memmove(stream->records, stream->records + 1, --stream->held * sizeof(*stream->records));
}

static void put(
    struct stream *stream, trace_event_id_t id, const void *data, size_t bytes, void *address)
{
	struct record *record = &stream->records[stream->held++];

	memset(record, 0, sizeof(*record));
	record->info.posix_event_id = id;
	record->info.posix_pid = getpid();
	record->info.posix_thread_id = pthread_self();
	record->info.posix_prog_address = address;
	clock_gettime(CLOCK_REALTIME, &record->info.posix_timestamp);
	record->info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	if (bytes > stream->attr.data) {
		bytes = stream->attr.data;
#ifndef MISTAKE_TRUNCATION
		record->info.posix_truncation_status = POSIX_TRACE_TRUNCATED_RECORD;
#endif
	}
	record->bytes = bytes;
	record->data = malloc(bytes + 1);
	if (bytes)
		memcpy(record->data, data, bytes);
	pthread_cond_broadcast(&changed);
}

static bool is_filtered(const struct stream *stream, trace_event_id_t id)
{
	return (stream->filter.bits[id / 32] >> id % 32 & 1) != 0;
}

static void emit(
    struct stream *stream, trace_event_id_t id, const void *data, size_t bytes, void *address)
{
	int automatic = 1;

	if (!stream->running) {
		stream->overrun |= stream->self_stopped;
		return;
	}
	if (is_filtered(stream, id))
		return;
	/* The last two places are for STOP and START. */
	if (stream->held + 2 >= stream->room && stream->attr.policy == POSIX_TRACE_LOOP) {
#ifdef MISTAKE_LOOP
		return;
#else
		stream->overrun = stream->full = true;
		drop_first(stream);
#endif
	}
	put(stream, id, data, bytes, address);
	if (stream->held + 2 >= stream->room && stream->attr.policy == POSIX_TRACE_UNTIL_FULL) {
		stream->running = false;
		stream->full = stream->self_stopped = true;
		put(stream, POSIX_TRACE_STOP, &automatic, sizeof(automatic), NULL);
	}
}

static void restart(struct stream *stream)
{
	if (!stream->self_stopped)
		return;
	stream->self_stopped = false;
	stream->running = true;
	emit(stream, POSIX_TRACE_START, &stream->filter, sizeof(stream->filter), NULL);
}

void posix_trace_event(trace_event_id_t id, const void *data, size_t bytes)
{
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < TRACE_SYS_MAX && id >= POSIX_TRACE_UNNAMED_USEREVENT && id < named;
	     i++) {
		if (streams[i].used)
			emit(&streams[i], id, data, bytes, __builtin_return_address(0));
	}
	pthread_mutex_unlock(&mutex);
}

static int open_name(const char *name, trace_event_id_t *id)
{
	if (!name || !id)
		return EINVAL;
#ifndef MISTAKE_LONG
	if (strlen(name) > TRACE_EVENT_NAME_MAX)
		return ENAMETOOLONG;
#endif
	for (trace_event_id_t i = 1; i < named; i++) {
		if ((i < 9 || i >= POSIX_TRACE_UNNAMED_USEREVENT) && strcmp(names[i], name) == 0)
			return *id = i, 0;
	}
	*id = POSIX_TRACE_UNNAMED_USEREVENT;
	if (named - FIRST_USER + 1 < TRACE_USER_EVENT_MAX)
		strncpy(names[ *id = named++], name, TRACE_EVENT_NAME_MAX);
	return 0;
}

int posix_trace_eventid_open(const char *name, trace_event_id_t *id)
{
	pthread_mutex_lock(&mutex);
	int error = open_name(name, id);
	return pthread_mutex_unlock(&mutex), error;
}

int posix_trace_eventid_equal(trace_id_t trid, trace_event_id_t one, trace_event_id_t other)
{
	(void)trid;
#ifdef MISTAKE_EQUAL
	return one != other;
#else
	return one == other;
#endif
}

/* ---- Control ---- */

/* Every other call: the lock, the stream, what is done with it. */
#define CALL(name, parameters, ...)                                                                \
	int name parameters                                                                        \
	{                                                                                          \
		int error = EINVAL;                                                                \
		pthread_mutex_lock(&mutex);                                                        \
		struct stream *stream = find(trid);                                                \
		if (stream)                                                                        \
			__VA_ARGS__                                                                \
		pthread_mutex_unlock(&mutex);                                                      \
		return error;                                                                      \
	}

int posix_trace_create(pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
	struct stream *stream = NULL;
	trace_attr_t own;

	posix_trace_attr_init(&own);
	if (!trid || (attr && !good(attr)))
		return EINVAL;
	if (pid != 0 && pid != getpid())
		return EPERM;
	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < TRACE_SYS_MAX && !stream; i++) {
		if (!streams[i].used)
			stream = &streams[i];
	}
	if (stream) {
		memset(stream, 0, sizeof(*stream));
		stream->used = true;
		stream->attr = attr ? *attr : own;
		clock_gettime(CLOCK_REALTIME, &stream->attr.created);
		stream->room = stream->attr.size / SLOT + 8;
		stream->records = calloc(stream->room + 4, sizeof(*stream->records));
		stream->trid = *trid = ++last_trid;
	}
	pthread_mutex_unlock(&mutex);
	return stream ? 0 : EAGAIN;
}

CALL(posix_trace_start, (trace_id_t trid), {
	error = 0;
	if (!stream->running && !(stream->self_stopped && stream->held + 2 >= stream->room)) {
		stream->running = true;
		stream->self_stopped = stream->full = false;
		emit(stream, POSIX_TRACE_START, &stream->filter, sizeof(stream->filter),
		    __builtin_return_address(0));
	}
})
CALL(posix_trace_stop, (trace_id_t trid), {
	int by_call = 0;
	error = 0;
#ifndef MISTAKE_STOP
	emit(stream, POSIX_TRACE_STOP, &by_call, sizeof(by_call), __builtin_return_address(0));
#endif
	stream->running = stream->self_stopped = false;
	(void)by_call;
})
CALL(posix_trace_clear, (trace_id_t trid), {
	error = 0;
#ifndef MISTAKE_CLEAR
	while (stream->held > 0)
		drop_first(stream);
#endif
	stream->full = stream->overrun = false;
	restart(stream);
})
CALL(posix_trace_shutdown, (trace_id_t trid), {
	error = 0;
	while (stream->held > 0)
		drop_first(stream);
	free(stream->records);
#ifndef MISTAKE_SHUTDOWN
	stream->used = false;
#else
	stream->records = calloc(stream->room + 4, sizeof(*stream->records));
#endif
	pthread_cond_broadcast(&changed);
})
CALL(
    posix_trace_get_attr, (trace_id_t trid, trace_attr_t *attr),
    if (attr) { error = 0, *attr = stream->attr; })
CALL(posix_trace_get_status, (trace_id_t trid, struct posix_trace_status_info *status), {
	if (status) {
		error = 0;
		memset(status, 0, sizeof(*status));
		status->posix_stream_status =
		    stream->running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
		status->posix_stream_full_status =
		    stream->full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
		status->posix_stream_overrun_status =
		    stream->overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
#ifndef MISTAKE_OVERRUN
		stream->overrun = false;
#endif
	}
})
CALL(
    posix_trace_get_filter, (trace_id_t trid, trace_event_set_t *set),
    if (set) { error = 0, *set = stream->filter; })
CALL(posix_trace_set_filter, (trace_id_t trid, const trace_event_set_t *set, int how), {
	trace_event_set_t both[2] = { stream->filter, stream->filter };

	if (set && how >= POSIX_TRACE_SET_EVENTSET && how <= POSIX_TRACE_SUB_EVENTSET) {
		error = 0;
		for (size_t i = 0; i < TYPES / 32; i++) {
			unsigned bits = set->bits[i];
			unsigned old = both[0].bits[i];

			both[1].bits[i] = how == POSIX_TRACE_SET_EVENTSET   ? bits
			                  : how == POSIX_TRACE_ADD_EVENTSET ? old | bits
			                                                    : old & ~bits;
		}
		emit(stream, POSIX_TRACE_FILTER, both, sizeof(both), __builtin_return_address(0));
		stream->filter = both[1];
	}
})
CALL(posix_trace_trid_eventid_open, (trace_id_t trid, const char *name, trace_event_id_t *id),
     error = open_name(name, id);)
CALL(posix_trace_eventid_get_name, (trace_id_t trid, trace_event_id_t id, char *name), {
	if (name && id > 0 && id < named && names[id][0] &&
	    (id < 9 || id >= POSIX_TRACE_UNNAMED_USEREVENT)) {
		error = 0;
		strcpy(name, names[id]);
	}
})
CALL(posix_trace_eventtypelist_getnext_id,
    (trace_id_t trid, trace_event_id_t *id, int *unavailable), {
	    if (id && unavailable) {
		    error = 0;
		    if (++stream->list == 9)
			    stream->list = POSIX_TRACE_UNNAMED_USEREVENT;
		    *unavailable = stream->list >= named;
		    if (*unavailable)
			    stream->list--;
		    else
			    *id = stream->list;
	    }
    })
CALL(posix_trace_eventtypelist_rewind, (trace_id_t trid), {
	error = 0;
#ifndef MISTAKE_REWIND
	stream->list = 0;
#endif
})

/* ---- Reading ---- */

static void take(struct stream *stream, struct posix_trace_event_info *event, void *data,
    size_t room, size_t *length)
{
	struct record *first = &stream->records[0];
#ifdef MISTAKE_ORDER
	struct record swap = first[0];

	if (stream->held > 1)
		first[0] = first[1], first[1] = swap;
#endif
	size_t bytes = first->bytes < room ? first->bytes : room;

	*event = first->info;
	if (first->bytes > room)
		event->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
	if (bytes)
		memcpy(data, first->data, bytes);
	*length = bytes;
	drop_first(stream);
	if (stream->held == 0) {
		stream->full = false;
		restart(stream);
	}
}

/* @until: NULL: for ever.  @wait: else only what is there. */
static int get(trace_id_t trid, struct posix_trace_event_info *event, void *data, size_t room,
    size_t *length, int *unavailable, const struct timespec *until, bool wait)
{
	int error = 0;
	struct stream *stream;

	if (!event || !length || !unavailable || (!data && room))
		return EINVAL;
	pthread_mutex_lock(&mutex);
	while ((stream = find(trid)) != NULL && stream->held == 0 && wait && error == 0) {
		if (until && (until->tv_nsec < 0 || until->tv_nsec >= 1000000000))
			error = EINVAL;
		else
			error = until ? pthread_cond_timedwait(&changed, &mutex, until)
			              : pthread_cond_wait(&changed, &mutex);
	}
	if (!stream)
		error = EINVAL;
	if (stream && (stream->held > 0 || !wait)) {
		error = 0;
		*unavailable = stream->held == 0;
		if (stream->held > 0)
			take(stream, event, data, room, length);
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

#define READ                                                                                       \
	trace_id_t trid, struct posix_trace_event_info *event, void *data, size_t room,            \
	    size_t *length, int *none
int posix_trace_getnext_event(READ)
{
	return get(trid, event, data, room, length, none, NULL, true);
}

int posix_trace_timedgetnext_event(READ, const struct timespec *until)
{
	return until ? get(trid, event, data, room, length, none, until, true) : EINVAL;
}

int posix_trace_trygetnext_event(READ)
{
	return get(trid, event, data, room, length, none, NULL, false);
}
