/* SPDX-License-Identifier: MIT */
/*
 * reference.h - what a stream and its log must tell, as lists and counters.
 *
 * Everything happens in one thread, so that a number that rises with each step stands for time.  Of
 * the library it knows the rules of DESIGN.md and how many slots a record takes, nothing else.
 */
#ifndef MODEL_REFERENCE_H
#define MODEL_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define REF_LANES 4u
#define REF_ITEMS 2048u /* of a stream, in one history, marks included */
#define REF_SETS  512u

/* One event: as it was recorded, or as a reader must be told. */
struct ref_item {
	trace_event_id_t id;
	uint32_t len; /* as recorded */
	uint32_t slots;
	uint32_t number; /* of a user event: what its data is made of */
	bool cut;
	bool made;         /* by the reader: not counted */
	uint64_t order;    /* when it was recorded */
	uint64_t mark;     /* a mark between lanes, and its number: not told, not counted */
	uint64_t refusals; /* a mark before a record: so many were refused in the lane; likewise */
	uint64_t lost;     /* records lost directly before it */
	uint64_t pos;
	int value;    /* of STOP */
	uint32_t set; /* of START and FILTER: where its data is in `sets` */
};

struct ref_lane {
	uint16_t items[REF_ITEMS]; /* indices */
	unsigned first;            /* unread ones: from here ... */
	unsigned count;            /* ... to here */
	unsigned called;           /* those before were there at the last start or stop by call */
	uint64_t head;             /* slots reserved, ... */
	uint64_t pos;              /* ... and done with */
	uint64_t barrier;          /* of the last mark that was passed */
	bool partial;              /* LOOP: what is before `pos` is not free */
	bool known;                /* the reader has seen when its first one was recorded */
	uint64_t first_lost;       /* else its writer has, who has overwritten it */
	/* DISCARD: refused in all; of these, said by marks, by those passed, and told to the reader. */
	uint64_t refused, marked, passed, told;
};

enum ref_state {
	REF_OFF,
	REF_RUNNING,
	REF_AUTO
};

struct ref_log {
	bool on;
	int policy;
	uint64_t size;
	uint64_t taken;
	bool full;
	bool overrun;
	uint64_t lost; /* discarded */
	bool dead;     /* start has no effect before clear (DEC-14) */
	bool owes_stop;
	bool stop_mark; /* FLUSH_STOP is due */
	uint64_t stop_order;
	uint64_t last_order;
	uint64_t unreported;
	trace_event_id_t last_id;
	uint16_t items[REF_ITEMS];
	unsigned count;
	uint64_t bytes; /* of all items */
};

struct ref {
	int policy;
	uint32_t lane_count;
	uint32_t size; /* slots of a lane */
	uint32_t max_data;
	enum ref_state state;
	trace_event_set_t filter;
	unsigned item_count;
	unsigned set_count;
	struct ref_lane lanes[REF_LANES];
	/* START and STOP that found no room are beside the lanes. */
	uint16_t oob[3];
	unsigned side_count;
	uint64_t barriers;
	bool control_first;
	uint64_t now;

	uint64_t last_order; /* of what was handed out last */
	uint64_t stopped_at; /* automatically */
	uint64_t start_order;
	trace_event_set_t start_set;
	bool owes_start;
	bool owes_stop; /* stopped by call before the automatic STOP was told */
	bool stop_told;
	bool freed;
	bool gap; /* OVERFLOW is due, then RESUME */
	bool resume_due;
	uint64_t gap_order;
	uint64_t give_up;

	uint64_t written, retrieved, lost, refused, cleared;
	uint64_t lost_told, lost_before, refused_told;
	struct ref_log log;
	/* Not cleared from one history to the next. */
	struct ref_item items[REF_ITEMS];
	trace_event_set_t sets[REF_SETS];
};

/* Data of a system event. */
const void *ref_data(const struct ref *ref, const struct ref_item *item);

void ref_begin(struct ref *ref);
void ref_event(struct ref *ref, trace_event_id_t id, uint32_t len, uint32_t number, uint32_t lane);
/* Slots that are left in the lane before it is full, or overwrites. */
uint32_t ref_room(const struct ref *ref, uint32_t lane);
void ref_start(struct ref *ref);
void ref_stop(struct ref *ref);
void ref_clear(struct ref *ref);
void ref_filter(struct ref *ref, const trace_event_set_t *set, int how);
/* The next event for a reader; NULL: there is none now. */
const struct ref_item *ref_next(struct ref *ref);
/* Whether there is one. */
bool ref_has_next(struct ref *ref);
void ref_flush(struct ref *ref, bool final);
void ref_status(struct ref *ref, bool reset, struct posix_trace_status_info *status);
void ref_counts(struct ref *ref, struct posix_trace_counts_np *counts);
bool ref_in_set(const trace_event_set_t *set, trace_event_id_t id);

/* A drawn history: the streams, and what is done with them, step by step. */

#define HI_STREAMS 2u
#define HI_STEPS   40u
#define HI_TYPES   4u /* user types of a history; 0 is the unnamed one */

enum hi_op {
	HI_START,
	HI_STOP,
	HI_CLEAR,
	HI_FILTER,
	HI_OPEN,
	HI_EVENTS,
	HI_FILL,    /* small events, until so many slots of the lane are left */
	HI_STRANGE, /* an event of a type that does not exist, or is the system's */
	HI_READ,    /* of a stream with log: flush */
	HI_STATUS,
	HI_COUNTS,
	HI_OPS
};

struct hi_step {
	uint8_t op;
	uint8_t stream;
	uint8_t lane;
	uint8_t type;
	uint16_t len; /* of data, or of the reader's buffer */
	uint16_t count;
	uint32_t draw;
};

struct hi_spec {
	int policy;
	size_t size;
	size_t max_data;
	unsigned lanes;
	bool with_log;
	int log_policy;
	size_t log_size;
};

struct hi_history {
	uint64_t seed;
	unsigned streams;
	struct hi_spec specs[HI_STREAMS];
	unsigned count;
	struct hi_step steps[HI_STEPS];
};

void hi_draw(struct hi_history *history, uint64_t seed);
void hi_print(const struct hi_history *history);
/* Plays it against the reference.  False: they differ; then @text says where. */
bool hi_play(const struct hi_history *history, char *text, size_t room);

#endif
