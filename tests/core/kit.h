/* SPDX-License-Identifier: MIT */
/*
 * kit.h - one thread that plays all parts: writers whose events say who wrote them and which one
 * it is, a reader that checks what it gets, and an interrupt at any test point.
 *
 * "Writers" are numbers, not threads; the lane is chosen by telling the library on which CPU it
 * runs.  So every case is the same in every run.
 */
#ifndef PXT_CORE_KIT_H
#define PXT_CORE_KIT_H

#include "core/control/control.h"
#include "core/process/threads.h"
#include "core/read/consumer.h"
#include "core/stream/stream.h"
#include "core/testpoints.h"
#include "suite.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define KIT_WRITERS     8u
#define KIT_NUMBERS     8192u
#define KIT_HOLDBACK_NS 200000u

struct kit_spec {
	int policy;
	unsigned lanes;
	size_t bytes; /* of the stream; what is too small becomes the smallest there can be */
	size_t data;  /* max-data-size */
	bool polling;
	bool ordered; /* stamps */
};

/* What writers did and the reader got, since kit_open(). */
struct kit_seen {
	uint32_t sent[KIT_WRITERS]; /* number of the last event generated */
	uint32_t last[KIT_WRITERS]; /* number of the last one read */
	uint8_t times[KIT_WRITERS][KIT_NUMBERS];
	uint64_t user;
	uint64_t slots;  /* that the events read took in their lanes */
	uint64_t starts; /* by call */
	uint64_t stops;  /* by call */
	uint64_t filters;
	uint64_t auto_starts;
	uint64_t auto_stops;
	uint64_t overflows;
	uint64_t resumes;
	uint64_t strange;    /* events of other types, or of no writer */
	uint64_t torn;       /* bytes that the writer did not write */
	uint64_t disordered; /* a writer's event after a later one of the same writer */
	uint64_t back;       /* a stamp before the one reported last */
	uint64_t misplaced;  /* after an automatic STOP, and no START before it */
	uint64_t untrue;     /* stamped or reported before its call began, or after that returned */
	uint64_t swapped;    /* handed out after one whose call began when its own had returned */
	uint32_t due_starts; /* start() was called that many times, with effect */
	bool behind_auto;    /* the event before this was an automatic STOP */
	bool last_was_stop;
	uint64_t last_lost;
	int64_t last_ns;
	uint64_t latest_entry; /* of the calls whose events were read */
};
extern struct kit_seen kit_seen;

/*
 * Calls are timed from outside from now on (rulings 25, 26): of one processor, on which threads stay, and by
 * its own clock, not by the test's.
 */
void kit_time_calls(void);
/* The file that streams of kit_open() live in; -1: memory. */
extern int kit_file;
/* A stream, not started; the thread runs in lane 0, the hold-back time is short. */
trace_id_t kit_open(const struct kit_spec *spec);
void kit_start(trace_id_t trid);
struct pxt_stream *kit_stream(trace_id_t trid);
struct pxt_block *kit_block(trace_id_t trid);
uint32_t kit_slots(trace_id_t trid);
/* Writes into this lane from now on. */
void kit_lane(unsigned lane);
trace_event_id_t kit_type(void);
/*
 * A lane of a stream that was not started yet begins at this position (a multiple of its slots is
 * not needed) and record number, with slots as the lap before would have left them.
 */
void kit_move(trace_id_t trid, unsigned lane, uint64_t pos, uint64_t seq);
/* Head alone goes on by so many slots and records: they were written while nobody read. */
void kit_skip(trace_id_t trid, unsigned lane, uint64_t slots, uint64_t records);
/* The next event of @writer, @len bytes (at least 4). */
void kit_write(unsigned writer, size_t len);
/* Slots that such an event takes. */
uint32_t kit_slots_of(size_t len);
/* Fills in what event @number of @writer consists of. */
void kit_data(unsigned char *data, unsigned writer, uint32_t number, size_t len);

/* Looks at one event as it was got. */
void kit_judge(const struct posix_trace_event_info *info, const void *data, size_t len);
/* Takes one event without waiting, and judges it; false when there is none. */
bool kit_read(trace_id_t trid);
uint64_t kit_read_all(trace_id_t trid);
/* Reads until nothing is held, through hold-back times; false when that does not come. */
bool kit_settle(trace_id_t trid);
/* Nothing torn, strange, doubled, or out of order so far. */
bool kit_clean(void);
/* The law, and that what was retrieved is what was read. */
bool kit_law(trace_id_t trid);
void kit_counts(trace_id_t trid, struct posix_trace_counts_np *counts);
/* Numbers of @writer in [first, last] that were not read. */
uint32_t kit_missing(unsigned writer, uint32_t first, uint32_t last);

/* ---- Interrupts ---- */

/*
 * Calls @run once, when the @nth (from 0) test point with @mask's bit set is passed.  Interrupts
 * are not interrupted.
 */
void kit_interrupt(uint32_t nth, uint64_t mask, void (*run)(void *), void *argument);
/* The point where it happened, or -1; and nothing is armed any more. */
int kit_interrupted(void);
/* What @run calls to leave for good: the call under kit_jumped() never returns. */
extern sigjmp_buf kit_way_out;
PXT_INLINE void kit_die(void *argument)
{
	siglongjmp(kit_way_out, 1);
}
/* The thread that jumped out of trace points was another one, which is outside by now. */
void kit_heal(void);

/* ---- Without a place in the thread table ---- */

/* The calling thread is one that found none, until it has its own again. */
void kit_lose_place(void);
void kit_regain_place(void);

#define KIT_WRITER_POINTS                                                                          \
	(UINT64_C(1) << PXT_TP_ENTERED | UINT64_C(1) << PXT_TP_GATE_SEEN |                         \
	    UINT64_C(1) << PXT_TP_HEAD_SEEN | UINT64_C(1) << PXT_TP_LIMIT_SEEN |                   \
	    UINT64_C(1) << PXT_TP_RESERVED | UINT64_C(1) << PXT_TP_STAMPED |                       \
	    UINT64_C(1) << PXT_TP_LOOKED | UINT64_C(1) << PXT_TP_BEGIN_STORED |                    \
	    UINT64_C(1) << PXT_TP_MIDDLE_STORED | UINT64_C(1) << PXT_TP_STORED |                   \
	    UINT64_C(1) << PXT_TP_FULL | UINT64_C(1) << PXT_TP_AUTO_STOPPED |                      \
	    UINT64_C(1) << PXT_TP_LEFT)
#define KIT_READER_POINTS                                                                          \
	(UINT64_C(1) << PXT_TP_FRONT_SEEN | UINT64_C(1) << PXT_TP_PIECE_READ |                     \
	    UINT64_C(1) << PXT_TP_CONSUMED | UINT64_C(1) << PXT_TP_LAPPED |                        \
	    UINT64_C(1) << PXT_TP_PASSED)

/*
 * ---- Memory that the library gives back is taken from everybody, and nobody gets it again soon ----
 *
 * A thread that still touches it ends the test.  Link with -Wl,--wrap=pxt_port_free.
 */

/* Whether @memory is among what was given back lately (the last 256 pieces). */
bool guard_freed(const void *memory);
/* How often: where it was given back, other memory may come to lie. */
unsigned guard_times_freed(const void *memory);

/*
 * ---- The trap flag of x86-64 ----
 *
 * SIGTRAP after every instruction of the calling thread from here on.
 */

#if defined(__x86_64__)
/* The words below the stack pointer may be the compiler's. */
static inline void trap(bool on)
{
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\t"
		                 "popfq\n\tlea 128(%%rsp), %%rsp" ::
		                     : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\t"
		                 "popfq\n\tlea 128(%%rsp), %%rsp" ::
		                     : "memory", "cc");
}
#endif

/*
 * ---- What may come between two steps of a write (actions.c) ----
 *
 * In which setting, and the verdict: the counts add up, nothing is torn, nothing is lost that need not be, and
 * everybody goes on.
 */

/* Who writes. */
enum action_writer {
	OUTER = 1, /* the write that is interrupted */
	BEFORE,
	NESTED,
	AFTER,
	INNER, /* a write that interrupts it and is interrupted itself */
	SPARE
};

enum action_fill {
	FRESH, /* START was read, nothing else is there */
	SOME,  /* a few unread records */
	FREE,  /* so many slots are left as the record has, plus `more` */
	LAPPED,
	EDGE, /* the record crosses the ring's end */
};

#define TWO     1u /* a second stream wants the event as well */
#define ORDERED 2u /* stamps */

/* Where it happens. */
struct setting {
	int policy;
	unsigned lanes;
	size_t bytes;
	size_t len;
	enum action_fill fill;
	int more;
	unsigned kind; /* TWO, ORDERED */
};

enum action_effect {
	LAPS = 1,   /* more than a ring is written meanwhile */
	STOPS = 2,  /* the stream is stopped when the writer goes on */
	CLEARS = 4, /* what was there is cleared */
	ENDS = 8,   /* the stream is gone */
	DIES = 16,
	WAITS = 32, /* long enough that the unfinished record is given up */
	MARKS = 64, /* START and STOP take room */
};

struct action {
	const char *name;
	void (*run)(void *);
	unsigned effect;
	int policy;     /* 0: any */
	unsigned lanes; /* at least */
};

#define ACTIONS 22u
extern const struct action actions[ACTIONS];

/* One case, as the verdict must know it. */
struct action_case {
	const struct action *action;
	int point;      /* where the outer write was interrupted */
	int inner;      /* where the inner one was; -1: there is none */
	unsigned spoil; /* records that late stores may have spoiled (ruling 23) */
};

extern const struct setting *action_setting;
extern trace_id_t action_stream;
/* Bytes of the inner write; 0: there is none. */
extern size_t action_inner_len;

bool action_fits(const struct action *action, const struct setting *setting);
/* The stream (or both), running, filled as the setting says. */
void action_begin(const struct setting *setting);
void action_verdict(const struct action_case *what);
void action_end(void);
void action_stop(void *argument);
void action_filter(int how);
/* @one_case for the nth point of a write, from 0 on, until it says that there is none. */
void action_at_all_points(
    const struct action *action, bool (*one_case)(const struct action *, uint32_t));
/* So for all actions that fit, but those that have such an effect. */
void action_all_on(const struct setting *setting, unsigned without,
    bool (*one_case)(const struct action *, uint32_t));

#endif
