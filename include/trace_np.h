/* SPDX-License-Identifier: MIT */
/*
 * trace_np.h - what libptrace offers beyond the standard.  Every name ends in _np (or begins
 * with _PXT_/_pxt_ and is private); every function names its unit.
 */
#ifndef _PXT_TRACE_NP_H
#define _PXT_TRACE_NP_H 1

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a stream counted (unit Core) ---- */

/*
 * The law: written == retrieved + lost + cleared + held, at every moment and exactly.  The
 * members count records that writers and control calls put into the stream; automatic STOP and START,
 * OVERFLOW, RESUME and FLUSH_* events, which readers make, are not among them.
 */
struct posix_trace_counts_np {
	uint64_t posix_written_np;   /* records generated while running or automatically stopped */
	uint64_t posix_retrieved_np; /* handed to readers or flushed to the log */
	uint64_t posix_lost_np;      /* overwritten, refused for lack of room, or never finished */
	uint64_t posix_cleared_np;   /* discarded by posix_trace_clear() */
	uint64_t posix_held_np;      /* still in the stream */
	int posix_stable_np;         /* 1: all lanes were read without a change in between */
};

/* ---- More about a retrieved event (units On-Line and Log Retrieval) ---- */

struct posix_trace_eventextra_np {
	int posix_cpu_np;              /* CPU, or -1 where it was not recorded */
	uint64_t posix_ticks_np;       /* the raw counter */
	uint64_t posix_lost_before_np; /* records lost directly before this event */
	int posix_thread_exact_np;     /* 0: the thread was not recorded and reads as 0 */
};
int posix_trace_eventinfo_getextra_np(
    const struct posix_trace_event_info *event, struct posix_trace_eventextra_np *extra);

/* ---- The stamp clock of a stream or log (any unit) ---- */

#define POSIX_TRACE_CLOCK_TSC_NP 1       /* the processor's invariant counter */
#define POSIX_TRACE_CLOCK_MONOTONIC_NP 2 /* clock_gettime(CLOCK_MONOTONIC), in nanoseconds */
#define POSIX_TRACE_CLOCK_PORT_NP 3      /* what a bare-metal port supplies */

struct posix_trace_clock_np {
	int posix_source_np;            /* POSIX_TRACE_CLOCK_... */
	uint32_t posix_error_ppm_np;    /* bound of the rate's error, parts per million */
	uint64_t posix_hz_np;           /* ticks per second */
	uint64_t posix_anchor_ticks_np; /* the counter at creation, ... */
	struct timespec posix_anchor_np; /* ... and CLOCK_REALTIME at that moment */
};
int posix_trace_getclock_np(trace_id_t trid, struct posix_trace_clock_np *clock);

/* ---- Typed payloads (setting: unit User Events; getting: any unit) ---- */

/* Longest description, without the NUL. */
#define POSIX_TRACE_FORMAT_MAX_NP 255
/* Most fields in a description. */
#define POSIX_TRACE_FIELDS_MAX_NP 32

#if _PXT_UNIT_USEREVENTS
int posix_trace_eventid_setformat_np(trace_event_id_t event_id, const char *format);
#endif
/* "" for a type without description; @format has room for POSIX_TRACE_FORMAT_MAX_NP + 1 bytes. */
int posix_trace_eventid_getformat_np(trace_id_t trid, trace_event_id_t event_id, char *format);

#define POSIX_TRACE_FIELD_UNSIGNED_NP 1
#define POSIX_TRACE_FIELD_SIGNED_NP 2
#define POSIX_TRACE_FIELD_HEX_NP 3
#define POSIX_TRACE_FIELD_FLOAT_NP 4
#define POSIX_TRACE_FIELD_TEXT_NP 5

struct posix_trace_field_np {
	char posix_name_np[64];
	int posix_kind_np;        /* POSIX_TRACE_FIELD_... */
	uint32_t posix_bytes_np;  /* bytes of the field in this event (text: without trailing NULs) */
	uint32_t posix_offset_np; /* in the event's data */
	union {
		uint64_t posix_u_np;
		int64_t posix_i_np;
		double posix_f_np;
	} posix_value_np;
};

/*
 * Walks the fields of one event's data: start with *cursor = 0; returns 0 and a field, ENOENT
 * behind the last field or where the data ends early, EINVAL for a bad description.
 * @swapped: non-zero when the data has the other byte order than this machine (data that
 * posix_trace_getnext_event() handed out never has: pass posix_trace_loginfo_np's flag).
 */
int posix_trace_field_next_np(const char *format, const void *data, size_t len, int swapped,
    uint32_t *cursor, struct posix_trace_field_np *field);

/* ---- Log Retrieval: what a log knows beside its events ---- */

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
	uint64_t posix_lost_np; /* records lost in stream and log together */
	struct posix_trace_counts_np posix_counts_np;
	struct posix_trace_clock_np posix_clock_np;
	uint32_t posix_threads_np; /* number of thread entries */
	uint32_t posix_modules_np; /* number of module entries */
	char posix_executable_np[256];
	char posix_host_np[65];
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
	uint64_t posix_high_np; /* ... one behind the highest mapped address */
	uint32_t posix_buildid_bytes_np;
	unsigned char posix_buildid_np[32];
	char posix_path_np[256];
};
/* Why a log could not be opened, in words that name the place. */
struct posix_trace_logerror_np {
	uint64_t posix_offset_np; /* byte in the file where the trouble was seen */
	char posix_reason_np[160];
};
int posix_trace_log_getinfo_np(trace_id_t trid, struct posix_trace_loginfo_np *info);
int posix_trace_log_getthread_np(
    trace_id_t trid, uint32_t index, struct posix_trace_logthread_np *thread);
int posix_trace_log_getmodule_np(
    trace_id_t trid, uint32_t index, struct posix_trace_logmodule_np *module);
/* As posix_trace_open(); on failure @error says where and why (may be NULL). */
int posix_trace_open_explained_np(
    int file_desc, trace_id_t *trid, struct posix_trace_logerror_np *error);
/*
 * Opens a log that is still being written, or whose writer died.  At its present end getnext
 * says "unavailable"; a later call looks again.
 */
int posix_trace_open_growing_np(
    int file_desc, trace_id_t *trid, struct posix_trace_logerror_np *error);
#endif

/* ---- Trace Core and its streams ---- */

#if _PXT_UNIT_CORE
int posix_trace_counts_np(trace_id_t trid, struct posix_trace_counts_np *counts);

/*
 * Rings under the stream, one for each group of CPUs: 0 = chosen at create (the default), else a
 * power of two up to _PXT_LANES_MAX.  One lane gives exact order between threads.
 */
int posix_trace_attr_setlanes_np(trace_attr_t *attr, unsigned lanes);
int posix_trace_attr_getlanes_np(const trace_attr_t *attr, unsigned *lanes);
/* Non-zero: stamps wait for the reservation, which makes order between threads exact on many lanes. */
int posix_trace_attr_setorderedstamps_np(trace_attr_t *attr, int ordered);
int posix_trace_attr_getorderedstamps_np(const trace_attr_t *attr, int *ordered);
/* Non-zero: readers poll, so that trace points never make a system call. */
int posix_trace_attr_setpolling_np(trace_attr_t *attr, int polling);
int posix_trace_attr_getpolling_np(const trace_attr_t *attr, int *polling);
#if _PXT_UNIT_TOLOG
/* SCHED_FIFO priority of the flushing thread of a FLUSH stream; 0 = inherit (the default). */
int posix_trace_attr_setflushpriority_np(trace_attr_t *attr, int priority);
int posix_trace_attr_getflushpriority_np(const trace_attr_t *attr, int *priority);
#endif

/* Enters the calling thread (with its name) into the thread table before its first event. */
int posix_trace_thread_register_np(void);

/* One byte (or more, with more than 8 streams) an event type: bit i = stream i wants it. */
extern _PXT_WANTED_TYPE _pxt_wanted[_PXT_EVENT_IDS];

/* Non-zero when a running stream wants events of this type: one load, one test. */
static inline int posix_trace_wanted_np(trace_event_id_t event_id)
{
	return *(const volatile _PXT_WANTED_TYPE *)&_pxt_wanted[event_id % _PXT_EVENT_IDS] != 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
