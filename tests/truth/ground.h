/* SPDX-License-Identifier: MIT */
/*
 * ground.h - small streams on which one thing happens at a time, as a test says; all that is reported
 * of it must be true exactly: on one processor, or by the fakes' clock, readings are off by nothing.
 */
#ifndef TRUTH_GROUND_H
#define TRUTH_GROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define LONG_NS (UINT64_C(1000) * 1000000000)

#define GROUND_STREAMS 2u
#define GROUND_LAP     40u /* so many small events are more than a lane holds */

/* Who traces: sources. */
enum ground_source {
	OUTER, /* the event that is interrupted, or that stands still */
	BEFORE,
	NESTED, /* what happens meanwhile */
	INNER,  /* what happens within that */
	LAP,
	AFTER
};

enum ground_fill {
	FRESH,
	SOME, /* a few events in each lane */
	BRIM  /* LOOP: lapped; FULL: nearly full */
};

struct ground {
	int policy;
	unsigned lanes;
	size_t len; /* of the outer event */
	enum ground_fill fill;
	bool ordered;
	bool two;    /* streams */
	bool logged; /* nobody reads but the flusher */
	bool many;   /* events are read many at once */
};

extern const struct ground *ground;
extern trace_id_t ground_streams[GROUND_STREAMS];

/* Streams, running, filled; the calling thread traces into lane 0.  Nobody is given up. */
void ground_begin(const struct ground *where);
/* Two more events; then the law, and the verdict on everything.  @what: where it happened, for the report. */
bool ground_end(const char *what);
unsigned ground_count(void);
/* In words. */
const char *ground_name(void);

/* The calling thread registers, and traces into the lane that it says. */
void ground_register(void);
void ground_lane(uint32_t lane);
/* So many lanes beside that, and back. */
void ground_say(uint32_t beside, enum ground_source source, size_t len);

/* What may happen. */
void ground_read(void); /* logged: by a flush */
void ground_clear(void);
/* LOOP: overwrites all there is in its lane; FULL: fills it, and is refused. */
void ground_lap(void);

/*
 * The threads that untrue times came from (the setting of the report after ruling 25): one
 * wakes every 60 us, whoever runs, and traces the two ends of a span of 20 us; one that it preempts,
 * anywhere in its trace points, traces in a loop; so does a third one on another processor.
 */

/* Their numbers are those of their sources. */
enum crowd_member {
	CROWD_PEAK,
	CROWD_BELOW,
	CROWD_BESIDE,
	CROWD_MEMBERS
};

struct crowd_wish {
	uint32_t ms;  /* so long */
	bool signals; /* a timer's handler traces, too, in the two that trace in a loop */
	bool forked;  /* the one beside is none of this process' threads: crowd_be() is */
};

/* Events that a member makes at most in so long a time: what rd_begin() is to be told. */
uint32_t crowd_events(uint32_t ms);
/* How long they are at it, and how often: so short a time takes little memory. */
uint32_t crowd_ms(void);
unsigned crowd_rounds(void);
void crowd_begin(const struct crowd_wish *wish);
/* Whether anybody is still at it. */
bool crowd_busy(void);
/* Moves those who trace in a loop to the other processor, wherever they are in their code. */
void crowd_move(unsigned turn);
void crowd_end(void);

/* The calling thread is the one beside, for @ms. */
void crowd_be_beside(uint32_t ms);

/*
 * What callers read from the stamps' counter directly before and after each of their
 * trace points, and the verdict on what was reported of them (rulings 25 and 26):
 *
 *	entered <= reported time <= returned        of each event, and of each start and stop by call
 *	a source's events come in their order       a source: a thread, or the handlers in a thread
 *	Y returned before X entered                 then Y is handed out before X
 *	reported times never decrease
 *
 * Readings are in memory that forked processes share and that outlives them.  A source is written
 * by one thread; verdicts are for the time when nobody writes any more.
 */

#define RD_SOURCES 16u
#define RD_HANDLER 8u /* the handlers that interrupt source n are source n + RD_HANDLER */
#define RD_LONGEST 100u

/* So far may readings of different processors, or before older instructions are through, be off. */
#define RD_RESOLUTION_NS 1000

/* ---- Trace points between two readings ---- */

/* Forgets everything, and makes room for so many events of each source. */
void rd_begin(uint32_t events_each);
void rd_end(void);
trace_event_id_t rd_type(void);
/* Traces the source's next event; its length follows from its number.  False: there is no room. */
bool rd_say(unsigned source);
/* The same with @len bytes: 4 or more. */
bool rd_say_long(unsigned source, size_t len);
/* Events that the source has begun. */
uint32_t rd_said(unsigned source);
/* posix_trace_start() or posix_trace_stop(), which make an event in each stream that they are called for. */
int rd_call(int (*call)(trace_id_t), trace_id_t trid);

/* ---- What was handed out ---- */

struct rd_event {
	int64_t ns;     /* as reported */
	uint64_t ticks; /* as the trace point read it */
	uint32_t word;  /* source and number; or: a call's, a reader's */
	trace_event_id_t id;
};

struct rd_list {
	struct rd_event *at;
	uint32_t count;
	uint32_t room;
	uint64_t strange; /* no event of ours, or not its length; or there was no room */
};

void rd_list_begin(struct rd_list *list, uint32_t room);
void rd_list_end(struct rd_list *list);
/* Takes what there is, of a stream or a log; how many there were. */
uint64_t rd_take(struct rd_list *list, trace_id_t trid);
/* The same, by calls that take many at once. */
uint64_t rd_take_many(struct rd_list *list, trace_id_t trid);
/* Waits for the next event, @ms at most; 0: for ever.  False: there was none. */
bool rd_take_waiting(struct rd_list *list, trace_id_t trid, int ms);

/* ---- The verdict ---- */

struct rd_verdict {
	uint64_t events;
	uint64_t calls;
	uint64_t raised;     /* reported later than it was stamped: that may be */
	uint64_t early;      /* reported before it entered */
	uint64_t late;       /* reported after its return */
	uint64_t stamps;     /* stamped outside of both */
	uint64_t back;       /* reported before what was handed out before it */
	uint64_t disordered; /* not after its source's last one */
	uint64_t swapped;    /* returned before another one entered that was handed out before it */
	uint64_t strange;
	int64_t worst_ns; /* how far the farthest is off */
	uint32_t worst;   /* ... its source and number, ... */
	uint32_t raiser;  /* ... and those of who was first reported at its time */
	uint32_t raiser_id;
};

/*
 * @trid: the stream or the log that @list came from, still open.  @resolution_ns: readings may be off
 * by so much.
 */
void rd_judge(
    const struct rd_list *list, trace_id_t trid, int64_t resolution_ns, struct rd_verdict *verdict);
/* Fails the test unless all is true; @what says where.  Returns whether it is. */
bool rd_expect(const struct rd_verdict *verdict, const char *what);

#endif
