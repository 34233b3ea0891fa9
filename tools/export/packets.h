/* SPDX-License-Identifier: MIT */
/*
 * packets.h - the packets of a Perfetto trace: one log, one sequence of packets.
 *
 * Names of events, fields and functions are written once (interned) and from then on numbers.  A loss makes a
 * reader of the sequence forget them, as Perfetto has it, and so they are written once more after it.
 */
#ifndef PXT_PERFETTO_H
#define PXT_PERFETTO_H

#include "tools/event/event.h"
#include "tools/export/bars.h"
#include "tools/export/export.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include "perfetto.pb-c.h"

/* Numbers of the clocks that Perfetto knows. */
enum {
	PXT_CLOCK_REALTIME = 1,
	PXT_CLOCK_MONOTONIC = 3,
	PXT_CLOCK_BOOTTIME = 6
};

/* Which names of a type were written, and under which numbers. */
struct pxt_perfetto_type {
	uint32_t epoch;     /* in which they were written last; 0: never */
	bool is_base;       /* the event's name is the pair's */
	unsigned fields;    /* so many of its fields have a number, ... */
	uint64_t first_iid; /* ... from this one on */
};

/* The most annotations of an event: its fields, and what is known beside them. */
#define PXT_NOTES_MAX (POSIX_TRACE_FIELDS_MAX_NP + 4u)

struct pxt_perfetto {
	struct pxt_out *out;
	const struct pxt_source *source;
	uint32_t clock; /* of the time stamps */
	int64_t offset; /* from an event's time to that clock */
	uint32_t epoch; /* from one loss to the next */
	bool cleared;   /* the next packet begins an epoch */
	bool dropped;   /* ... because of a loss */
	uint64_t next_iid;
	uint64_t next_track;
	struct pxt_perfetto_type types[PXT_TYPES_MAX];
	const char *name; /* of the event at hand, in place of its type's; NULL: that */
	/* Its stack; 0: none. */
	struct pxt_frames *frames;
	uint32_t stack;
	/* What joins the event at hand with others. */
	unsigned flows;
	uint64_t flow[POSIX_TRACE_FIELDS_MAX_NP];
	/* Its annotations. */
	unsigned notes;
	Pxt__DebugAnnotation note[PXT_NOTES_MAX];
	Pxt__DebugAnnotation *note_list[PXT_NOTES_MAX];
	size_t text_used;
	char text[4 * 4096 + 64 * PXT_NOTES_MAX]; /* their texts, escaped */
};

/* The head of the sequence: clocks, and the machine's name. */
void pxt_perfetto_begin(struct pxt_perfetto *p, struct pxt_out *out,
    const struct pxt_source *source, const char *machine);
/* The clocks at the end, where the log has them. */
void pxt_perfetto_end(struct pxt_perfetto *p);
/* Events were lost here. */
void pxt_perfetto_dropped(struct pxt_perfetto *p);

/* Tracks: each returns its number. */
uint64_t pxt_perfetto_process(struct pxt_perfetto *p, pid_t pid, const char *name);
uint64_t pxt_perfetto_thread(
    struct pxt_perfetto *p, uint64_t parent, pid_t pid, const struct pxt_thread *thread);
uint64_t pxt_perfetto_lane(
    struct pxt_perfetto *p, uint64_t parent, const char *name, bool is_counter);

/* Annotations of the next event; they are gone when it was written. */
void pxt_perfetto_note_fields(
    struct pxt_perfetto *p, const struct pxt_event *event, const struct pxt_layout *except);
void pxt_perfetto_note_number(struct pxt_perfetto *p, const char *name, uint64_t number);
void pxt_perfetto_note_flag(struct pxt_perfetto *p, const char *name);

/* An arrow leads from the event with this number to the next one with it. */
void pxt_perfetto_flow(struct pxt_perfetto *p, uint64_t number);

/* The next event was recorded in the function @top of @frames; 0: nobody told. */
void pxt_perfetto_stack(struct pxt_perfetto *p, struct pxt_frames *frames, uint32_t top);

/* The next event is called @name, which is good until then. */
void pxt_perfetto_name(struct pxt_perfetto *p, const char *name);
/*
 * An event of @kind on @track.  Its name is the type's, or @base (of @bytes) where that is not NULL; an
 * end has none.
 */
void pxt_perfetto_event(struct pxt_perfetto *p, const struct pxt_event *event,
    Pxt__TrackEvent__Type kind, uint64_t track, const char *base, size_t bytes);
/* An event that no type is after; @name NULL: none. */
void pxt_perfetto_mark(struct pxt_perfetto *p, int64_t ns, Pxt__TrackEvent__Type kind,
    uint64_t track, const char *name);
/* False: @value is no number. */
bool pxt_perfetto_counter(
    struct pxt_perfetto *p, int64_t ns, uint64_t track, const struct pxt_value *value);
void pxt_perfetto_task(struct pxt_perfetto *p, int64_t ns, const struct pxt_task *task);

#endif
