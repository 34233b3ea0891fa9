/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the babeltrace2 component class sink.ptrace.log: what any source of babeltrace2 reads, as a log.
 *
 *   sink.c         the component, and messages: events, losses
 *   sinktypes.c    event classes to types with descriptions, fields to data
 *
 * The log begins with the first event and appears under its name when the source has ended.
 * What a log cannot hold (a sequence, a field of several types) is left out, which is said once a type.
 *
 * libbabeltrace2 ends the process where a precondition does not hold: nothing is asked of a field or a
 * stream before its class was seen to have it.  Babeltrace2 calls from one thread at a time.
 */
#ifndef PXT_BT_SINK_H
#define PXT_BT_SINK_H

#include "tools/write/logwrite.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- sinktypes.c ---- */

#define PXT_SINK_DATA_BYTES 4095u
#define PXT_SINK_DEPTH      4u

/* Where an event has fields. */
enum pxt_sink_part {
	PXT_SINK_PAYLOAD,
	PXT_SINK_SPECIFIC, /* context of the event's own class */
	PXT_SINK_COMMON    /* context of all events of the stream */
};
#define PXT_SINK_PARTS 3u

enum pxt_sink_kind {
	PXT_SINK_UNSIGNED,
	PXT_SINK_SIGNED,
	PXT_SINK_BOOL,
	PXT_SINK_SINGLE,
	PXT_SINK_DOUBLE,
	PXT_SINK_TEXT
};

struct pxt_sink_field {
	enum pxt_sink_part part;
	enum pxt_sink_kind kind;
	unsigned depth;                /* members from the part's structure down to the field ... */
	unsigned path[PXT_SINK_DEPTH]; /* ... and their places */
	size_t bytes;                  /* 0: a text to the end of the data */
};

struct pxt_sink_type {
	const bt_event_class *class;
	trace_event_id_t id; /* 0: there was no number left */
	bool switches;       /* sched_switch: says who runs on the CPU */
	unsigned field_count;
	struct pxt_sink_field fields[POSIX_TRACE_FIELDS_MAX_NP];
};

struct pxt_sink_types;
struct pxt_sink_types *pxt_sink_types_new(void);
void pxt_sink_types_free(struct pxt_sink_types *types);
/* The type of @class, told to @log when it is first met; NULL: there is no memory. */
const struct pxt_sink_type *pxt_sink_types_of(
    struct pxt_sink_types *types, struct pxt_logwrite *log, const bt_event_class *class);
/* The event's fields as @data of at most PXT_SINK_DATA_BYTES; *@cut: a text was too long. */
size_t pxt_sink_types_data(
    const struct pxt_sink_type *type, const bt_event *event, unsigned char *data, bool *cut);
/* Types that found no number. */
unsigned pxt_sink_types_refused(const struct pxt_sink_types *types);

/* A structure of the event; NULL: it has none. */
const bt_field *pxt_sink_part(const bt_event *event, enum pxt_sink_part part);
/* The member's value; false where there is none, or of another kind. */
bool pxt_sink_number(const bt_field *structure, const char *name, int64_t *value);
const char *pxt_sink_text(const bt_field *structure, const char *name);

/* ---- Which thread recorded an event, by contexts or by sched_switch (sink.c) ---- */

struct pxt_sink_threads;
struct pxt_sink_threads *pxt_sink_threads_new(void);
void pxt_sink_threads_free(struct pxt_sink_threads *threads);
/*
 * Fills in the thread and the CPU of @made, and tells the log of a thread that is new.  Call in the order
 * of time; false: there is no memory.
 */
bool pxt_sink_threads_of(struct pxt_sink_threads *threads, struct pxt_logwrite *log,
    const bt_event *event, const struct pxt_sink_type *type, struct pxt_logevent *made);
/* Who runs is not known any more. */
void pxt_sink_threads_forget(struct pxt_sink_threads *threads);

/* ---- sink.c ---- */

bt_component_class_initialize_method_status pxt_sink_initialize(bt_self_component_sink *self,
    bt_self_component_sink_configuration *configuration, const bt_value *params, void *data);
bt_component_class_sink_graph_is_configured_method_status pxt_sink_configured(
    bt_self_component_sink *self);
bt_component_class_sink_consume_method_status pxt_sink_consume(bt_self_component_sink *self);
void pxt_sink_finalize(bt_self_component_sink *self);

#endif
