/* SPDX-License-Identifier: MIT */
/*
 * control.h - what control calls share: start, stop and clear; creating a stream, its attributes, its shutdown; its
 * status; the system events that they record.
 *
 *   concurrency: under both locks (core/stream/stream.h), beside writers; shut_gate() also with
 *   the stream's mutex alone, in a handler (shutdown.c).
 */
#ifndef PXT_CONTROL_H
#define PXT_CONTROL_H

#include "core/stream/stream.h"

/* Closes gate and lanes; returns the state that the stream was in. */
uint32_t pxt_control_shut_gate(struct pxt_stream *stream);

/* Who called, for the event's program address. */
void pxt_control_start(struct pxt_stream *stream, const void *caller);
void pxt_control_stop(struct pxt_stream *stream, const void *caller);
/* Stops for another reason than room (a full log), without an event of its own. */
void pxt_control_stop_now(struct pxt_stream *stream);
void pxt_control_clear(struct pxt_stream *stream);

/*
 * Making a stream.
 *
 *   concurrency: any thread, beside all other calls; the process lock inside.
 */

struct pxt_create {
	int32_t pid;
	const trace_attr_t *attr; /* NULL: defaults */
	bool with_log;
	const struct pxt_ops *ops;
};

/* Every default resolved, every value checked and rounded: what the stream will have. */
int pxt_create_attr(const struct pxt_create *request, struct _pxt_attr *attr);
/*
 * EAGAIN, EINVAL, ENOMEM, EPERM, ESRCH or 0.  @attr: from pxt_create_attr().  On success *stream
 * is complete but cannot be found yet: a unit prepares its own part, then publishes or abandons.
 */
int pxt_create_stream(
    const struct pxt_create *request, const struct _pxt_attr *attr, struct pxt_stream **stream);
/*
 * @name: for other processes, or NULL.  0, ENOMEM: no identifier is left, or what struct pxt_share_ops, open,
 * says.
 */
int pxt_create_publish(struct pxt_stream *stream, const char *name, trace_id_t *trid);

/*
 * The end of a stream: by call, with its process, by a fatal signal, in a forked child.
 *
 *   concurrency: shutdown by any thread, beside writers, readers and other control calls; of two
 *   shutdowns of one stream one finds it gone.  Returns when its memory is given back.  seal() in the
 *   handler of a fatal signal, with the stream's mutex alone.  A child has one thread.
 */

/* EINVAL, or what the unit's at_shutdown() said; the stream is gone in any case. */
int pxt_shutdown_stream(trace_id_t trid, const void *caller);
void pxt_shutdown_abandon(struct pxt_stream *stream);

/*
 * Stops because the process ends, as an automatic stop; in a signal handler, without the process
 * lock.  Takes up to the hold-back time.  Control calls of other streams put right what is left.
 */
void pxt_shutdown_seal(struct pxt_stream *stream);

/* What becomes of streams in a forked child.  Set by the first create of a process. */
extern const struct pxt_child_part pxt_shutdown_child;

/*
 * What an active stream is asked: status, counts, attributes, its types one by one, its clock.
 *
 *   concurrency: under the stream's mutex, beside writers.  For operations of an identifier (struct
 *   pxt_ops) the asker takes it.
 */

/* Running, full, overrun.  Losses are reported once: the next call begins anew (STA-03). */
void pxt_status_take(struct pxt_stream *stream, struct posix_trace_status_info *status);
/* Of a stream without log, all of it (core/control/status.c). */
int pxt_status_get(void *object, struct posix_trace_status_info *status);

void pxt_status_counts(struct pxt_stream *stream, struct posix_trace_counts_np *counts);

/* Operations that streams of every unit share. */
int pxt_status_get_attr(void *object, struct _pxt_attr *attr);
int pxt_status_type_name(void *object, trace_event_id_t id, char *name);
int pxt_status_type_format(void *object, trace_event_id_t id, char *format);
int pxt_status_type_next(void *object, trace_event_id_t *next);
int pxt_status_type_rewind(void *object);
int pxt_status_get_clock(void *object, struct posix_trace_clock_np *clock);
/* ... in a struct pxt_ops, where a unit adds its own. */
#define PXT_STATUS_OPS                                                                             \
	.begin_call = pxt_stream_enter_as, .end_call = pxt_stream_leave,                           \
	.get_attr = pxt_status_get_attr, .type_name = pxt_status_type_name,                        \
	.type_format = pxt_status_type_format, .type_next = pxt_status_type_next,                  \
	.type_rewind = pxt_status_type_rewind, .get_clock = pxt_status_get_clock,                  \
	.kind = &pxt_stream_kind

/*
 * The system events that control calls record: START and STOP by call, FILTER, ERROR; and
 * whether START and STOP find room.
 *
 *   concurrency: under the stream's mutex, beside writers; START and STOP with the lanes closed.
 *   pxt_sysevent_start_has_place() beside writers, too: then the answer may be old when it is returned.
 *
 * With several lanes a mark goes into each before START or STOP, so that the merge knows what comes
 * before.  In a stream that does not overwrite and is full, the event is kept beside the lanes (struct
 * pxt_oob).  Where the configuration makes neither event, a START always finds its place.
 */

/* An event of the calling thread; all but its stamp. */
void pxt_sysevent_fill(struct pxt_ring_event *event, uint32_t id, const void *data, uint32_t bytes,
    const void *caller);
/* One system event from a control call, into this stream only, if it is wanted and fits. */
bool pxt_sysevent_record(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller);

/* @cause: POSIX_TRACE_ERROR_*_NP (<trace_np.h>).  A stream that does not run has no such event. */
void pxt_sysevent_error(struct pxt_block *block, unsigned cause, int error);
/* The same as an event of that process, of no thread. */
void pxt_sysevent_error_of(struct pxt_block *block, unsigned cause, int error, int32_t pid);

/* ---- START and STOP by call ---- */

/* START or STOP with its data.  False: there was no place at all. */
bool pxt_sysevent_barrier(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller);
/* Data of STOP; 0: by call, 1: full. */
#define PXT_STOP_BY_SIGNAL 2
/* STOP with its data, after all that the closed lanes hold. */
void pxt_sysevent_stop(struct pxt_block *block, int why, const void *caller);
/* An unread automatic STOP becomes an out-of-band record, before a START.  False: no place. */
bool pxt_sysevent_owed_stop(struct pxt_block *block);
/* Whether a START, and all that must come with it, finds its place. */
bool pxt_sysevent_start_has_place(struct pxt_block *block);
/* Of a stream that does not overwrite: nothing can be recorded before something was read. */
bool pxt_sysevent_is_full(struct pxt_block *block);

#endif
