/* SPDX-License-Identifier: MIT */
/*
 * ptrace.h - the babeltrace2 component class source.ptrace.log.
 *
 *   plugin.c     the plugin's table, and the query by which babeltrace2 finds out what a file is
 *   component.c  parameters, inputs, one output port a log
 *   trace.c      what a log is in babeltrace2's terms: clock, trace, stream classes, environment
 *   classes.c    event classes, from types and their descriptions, as they are met; one event's fields
 *   iterator.c   blocks and events to messages
 *
 * One log is one trace; one block of it is one packet, so that losses have a place (a loss lies
 * between packets).  With layout=kernel events are spread over one stream a CPU besides, because
 * that is where readers of kernel traces look for the CPU; a block is then a packet in each of them.
 *
 * The log may be hostile.  libbabeltrace2 ends the process where a precondition does not hold, so
 * everything that comes from the log is bounded here: stamps to what fits the clock, texts to UTF-8
 * without NUL, names to what TSDL can hold.  Memory: PXT_BT_TYPES types, per type as many variants as
 * its description has fields (times 8), PXT_BT_STREAMS streams, the thread table of the log.
 *
 * Babeltrace2 calls from one thread at a time.
 */
#ifndef PXT_BT_PTRACE_H
#define PXT_BT_PTRACE_H

#include "tools/event/event.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#define PXT_BT_TYPES      1024u
#define PXT_BT_STREAMS    257u /* 0: events of no known CPU; else CPU + 1 */
#define PXT_BT_DATA_BYTES 8192u

struct pxt_bt_params {
	bool follow;     /* a log that is still written: wait at its end */
	bool incomplete; /* a log without its end: read what is there */
	bool kernel;     /* layout=kernel */
	bool corrected;  /* clock=corrected: nanoseconds as pxtrace shows them, not ticks */
	int64_t offset_s;
	int64_t offset_ns;
	int64_t quiet_ns; /* follow: what is late by more than this, is not waited for; 0: all is */
};

/* How a type's events look when they carry just these fields. */
struct pxt_bt_class {
	struct pxt_bt_class *next;
	uint32_t variant;
	unsigned fields; /* of the description, that are there */
	bool rest;       /* bytes that no field names follow */
	bool cut;
	bt_event_class *classes[2]; /* of either stream class */
};

struct pxt_bt_type {
	char name[4 * TRACE_EVENT_NAME_MAX + 1];
	unsigned field_count;
	struct pxt_layout *fields; /* NULL: no description */
	trace_event_id_t id;
	struct pxt_bt_class *first;
	uint32_t variants;
};

struct pxt_bt_thread {
	uint64_t id; /* the pthread_t as a number */
	int32_t pid;
	int32_t vtid;
	char name[4 * 16 + 1];
};

/* The bytes of one log on disk, read by one iterator (or looked at by the component). */
struct pxt_bt_file {
	int fd; /* -1: not open */
	trace_id_t trid;
	struct posix_trace_loginfo_np info;
};

/* One log: one output port. */
struct pxt_bt_log {
	struct pxt_bt_params params;
	char *path;
	bt_trace_class *family;
	bt_clock_class *clock;
	uint64_t last_value;              /* the largest that the clock can hold */
	bt_stream_class *stream_class[2]; /* 0: without CPU, 1: with the CPU in the packet */
	bt_trace *trace;
	bt_stream *streams[PXT_BT_STREAMS];
	struct pxt_bt_type *types[PXT_BT_TYPES];
	struct pxt_bt_thread *threads; /* as the log has them */
	uint32_t thread_count;
	uint32_t threads_asked;
};

struct pxt_bt_component {
	struct pxt_bt_log **logs;
	uint64_t count;
};

/* ---- component.c ---- */

bt_component_class_initialize_method_status pxt_bt_initialize(bt_self_component_source *self,
    bt_self_component_source_configuration *configuration, const bt_value *params, void *data);
void pxt_bt_finalize(bt_self_component_source *self);
/* Opens what @log names; false with the reason in @why. */
bool pxt_bt_open(const struct pxt_bt_log *log, struct pxt_bt_file *file, char *why, size_t room);
void pxt_bt_close(struct pxt_bt_file *file);

/* ---- trace.c ---- */

/* False, with the reason in @why, when the log says what babeltrace2 cannot hold. */
bool pxt_bt_trace_create(bt_self_component *self, struct pxt_bt_log *log,
    const struct pxt_bt_file *file, char *why, size_t room);
/* Number @index of the log's streams, made when first asked for; NULL: no memory. */
bt_stream *pxt_bt_stream(struct pxt_bt_log *log, uint32_t index);
/* Hands over a new member, NULL where there was no memory for it; false then. */
bool pxt_bt_add_member(bt_field_class *structure, const char *name, bt_field_class *member);
/* Text from a log, without NUL and control characters, as UTF-8, to @to of @room bytes. */
void pxt_bt_text(const char *from, size_t bytes, char *to, size_t room);

/* ---- classes.c ---- */

/* The class of an event of type @id with @bytes of data; NULL: no memory. */
const struct pxt_bt_class *pxt_bt_class_find(struct pxt_bt_log *log, const struct pxt_bt_file *file,
    trace_event_id_t id, size_t bytes, bool cut);
void pxt_bt_types_free(struct pxt_bt_log *log);

struct pxt_bt_record {
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	size_t bytes;
	_Alignas(16) unsigned char data[PXT_BT_DATA_BYTES];
};

/* Fills in @event, of class @class; false: no memory. */
bool pxt_bt_event_fill(struct pxt_bt_log *log, const struct pxt_bt_file *file, bt_event *event,
    const struct pxt_bt_class *class, const struct pxt_bt_record *record);

/* ---- iterator.c ---- */

bt_message_iterator_class_initialize_method_status pxt_bt_iterator_initialize(
    bt_self_message_iterator *self, bt_self_message_iterator_configuration *configuration,
    bt_self_component_port_output *port);
void pxt_bt_iterator_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status pxt_bt_iterator_next(bt_self_message_iterator *self,
    bt_message_array_const messages, uint64_t capacity, uint64_t *count);
bt_message_iterator_class_can_seek_beginning_method_status pxt_bt_iterator_can_seek(
    bt_self_message_iterator *self, bt_bool *can_seek);
bt_message_iterator_class_seek_beginning_method_status pxt_bt_iterator_seek(
    bt_self_message_iterator *self);

#endif
