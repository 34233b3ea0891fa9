/* SPDX-License-Identifier: MIT */
/*
 * suite_trace.h - streams, logs and events for tests, through the public interface only.
 *
 * Helpers that cannot do their part fail the running test fatally, so that a test need not check
 * what it is not about.
 */
#ifndef PXT_SUITE_TRACE_H
#define PXT_SUITE_TRACE_H

#include "suite.h"

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

#include "pxt_config.h"

/* Any active stream, of whichever kind this configuration can create. */
#define PXT_CAN_CREATE (_PXT_UNIT_ONLINE || _PXT_UNIT_TOLOG)
/* A log can be written and read back in one program. */
#define PXT_CAN_LOG    (_PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL)
/* User events can be recorded and read on-line. */
#define PXT_CAN_WATCH  (_PXT_UNIT_ONLINE && _PXT_UNIT_USEREVENTS)

/* Wrong arguments are refused (DEC-02); tests of that are left out where they are not. */
#define PXT_CHECKS_ARGUMENTS CONFIG_PTRACE_ARG_CHECKS
#define PXT_HAS_FILTER_EVENT CONFIG_PTRACE_SYSEV_FILTER

/* The full policies of this configuration, and what "default" means in it (ruling 17). */
bool pxt_stream_policy_exists(int policy);
bool pxt_log_policy_exists(int policy);
int pxt_default_stream_policy_is(bool with_log);
int pxt_default_log_policy_is(void);

/* What a reader was given. */
struct pxt_event {
	struct posix_trace_event_info info;
	size_t len;
	unsigned char data[512];
};

/* An open, empty, unlinked file for reading and writing. */
int pxt_temp_file(void);

/* Initialised attributes; 0 leaves a default: bytes of stream, bytes of data, full policy. */
void pxt_attr(trace_attr_t *attr, size_t stream_bytes, size_t data_bytes, int policy);

#if PXT_CAN_CREATE
/* An active stream of the own process: without log where that unit is built, else with one. */
trace_id_t pxt_any_stream(const trace_attr_t *attr);
#endif

#if _PXT_UNIT_ONLINE
/* A stream without log, suspended, with these attributes (0: default). */
trace_id_t pxt_stream(size_t stream_bytes, size_t data_bytes, int policy);
/* The same, running, START already read. */
trace_id_t pxt_running_stream(size_t stream_bytes, size_t data_bytes, int policy);
/* Reads one event without waiting; false: there is none. */
bool pxt_next(trace_id_t trid, struct pxt_event *event);
/* The next event must be this one; fails the test otherwise (not fatally). */
void pxt_expect(trace_id_t trid, trace_event_id_t id, const void *data, size_t len);
/* There must be no event. */
void pxt_expect_none(trace_id_t trid);
/* Reads and forgets all there is; returns how many events were of type @id. */
size_t pxt_drain(trace_id_t trid, trace_event_id_t id);
#endif

#if _PXT_UNIT_TOLOG
/* A stream with a log on @fd; @attr may be NULL. */
trace_id_t pxt_log_stream(const trace_attr_t *attr, int fd);
#endif

#if _PXT_UNIT_LOGRETRIEVAL
/* Opens the log in @fd, from its beginning. */
trace_id_t pxt_open_log(int fd);
/* As pxt_next(), from an opened log; false at its end. */
bool pxt_log_next(trace_id_t trid, struct pxt_event *event);
#endif

#if _PXT_UNIT_USEREVENTS
/* Identifier of a user event's name. */
trace_event_id_t pxt_open_event(const char *name);
#endif

/* Whether the type exists in the stream's map (a configuration may leave system types out). */
bool pxt_has_type(trace_id_t trid, trace_event_id_t id);

/* CLOCK_REALTIME now, and a time as nanoseconds. */
long long pxt_now_ns(void);
long long pxt_ns(const struct timespec *time);
void pxt_sleep_ms(long ms);

#endif
