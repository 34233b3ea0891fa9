/* SPDX-License-Identifier: MIT */
/*
 * history.h - what all threads did while something was late: who ran, was in which call, waited for or
 * had which lock, and who woke whom.  The events of these times are kept as stretches, so that a wait
 * can be followed to the thread that ended it, and from there to that thread's own waits.
 *
 * Bounded: PXT_HISTORY_STRETCHES stretches and marks (176 bytes at most); what comes beyond is left out
 * and counted.  Of these three quarters at most are of who ran, could run or slept, and samples and page faults.
 */
#ifndef PXT_HISTORY_H
#define PXT_HISTORY_H

#include "tools/why/rounds.h"

#define PXT_HISTORY_STRETCHES (UINT32_C(1) << 19)
#define PXT_REAL_TIME         100 /* priorities below it, in the kernel's numbers, are real-time */

enum pxt_stretch_kind {
	PXT_STRETCH_RAN,     /* on @cpu, as the scheduler says; ... */
	PXT_STRETCH_READY,   /* ... it could run and did not; ... */
	PXT_STRETCH_SLEPT,   /* ... it slept, in the kernel's state @object; ... */
	PXT_STRETCH_STOPPED, /* ... a signal had stopped it; ... */
	PXT_STRETCH_ENDED,   /* ... it had ended */
	PXT_STRETCH_CALL,    /* @call, @object, @result */
	PXT_STRETCH_LOCK, /* waited for @lock; @peer had it when it was asked for, if that is known */
	PXT_STRETCH_HOLD,    /* had @lock, taken in @place */
	PXT_STRETCH_HANDLER, /* in the handler of signal @object, which is @place */
	PXT_STRETCH_KINDS
};

struct pxt_stretch {
	enum pxt_stretch_kind kind;
	uint32_t actor; /* index */
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t call;
	int cpu;
	bool open; /* it had not ended when the log did ... */
	bool cut;  /* ... or when enough was read */
	bool has_prio;
	int64_t prio; /* RAN, READY: then; the kernel's, smaller is more urgent */
	uint64_t object;
	uint64_t mutex; /* CALL: that a wait in a condition has to get back */
	int64_t result;
	int64_t asked_ns; /* CALL: how long it was to last at most; 0: not known */
	struct pxt_log_address place;
	/* CALL: where @place is in a system's library, who called that; 0: not known. */
	uint64_t caller;
	uint64_t above[PXT_PLACES_ABOVE]; /* CALL: who called that function of the program's own */
	struct pxt_state_lock *lock;
	const struct pxt_actor *peer;
};

enum pxt_mark_kind {
	PXT_MARK_WOKE,   /* @actor was woken by @peer */
	PXT_MARK_FAILED, /* @actor asked for a lock and did not get it */
	PXT_MARK_STOP,   /* @actor sent SIGSTOP, ... */
	PXT_MARK_SIGNAL, /* ... or the signal @object, to @to */
	PXT_MARK_FAULTS, /* @actor met @object page faults since the mark before, the last one in @place */
	PXT_MARK_SAMPLE,     /* @actor ran in @place */
	PXT_MARK_INTERRUPTS, /* took @object nanoseconds of @actor's time on the CPU */
	PXT_MARK_DISK,       /* @actor's request had taken @object nanoseconds when it ended */
	PXT_MARK_FREQUENCY,  /* of a CPU where @actor ran: @object kHz from then on */
	PXT_MARK_THROTTLED   /* the cgroup of @actor's process was, for @object ns within @to */
};

struct pxt_mark {
	enum pxt_mark_kind kind;
	uint32_t actor;
	int64_t ns;
	const struct pxt_actor *peer; /* FAILED: who had it, where that was told */
	bool is_new;                  /* WOKE: @peer made the thread, which begins */
	bool meant;    /* WOKE: an event of @peer says that it did something that wakes */
	bool inferred; /* WOKE: no scheduler says so, and no object: it is the order of events */
	bool major;    /* FAULTS: it waited for a disk */
	/* FAILED: the lock's number; WOKE: the condition that @peer had just signalled, or 0. */
	uint64_t object;
	uint64_t wait_ns; /* FAULTS: that the thread waited for a disk, as far as that is known */
	uint64_t to;      /* SIGNAL: number of a process or a thread, or a thread's identifier */
	struct pxt_log_address place;     /* WOKE: where @peer was in the program */
	uint64_t above[PXT_PLACES_ABOVE]; /* SAMPLE: who called there */
};

/* The latest of what a thread did that wakes others. */
#define PXT_WAKINGS 8u
struct pxt_wakings {
	struct pxt_waking {
		uint32_t call; /* PXT_CALL_COND: it signalled @object; 0: none */
		uint64_t object;
		int64_t begin_ns;
		int64_t end_ns; /* INT64_MAX: it goes on */
		struct pxt_log_address place;
	} list[PXT_WAKINGS];
	unsigned next;
};

struct pxt_history {
	const struct pxt_state *state;
	const struct pxt_usual_end *usual_ends; /* NULL: none is known */
	uint32_t usual_end_count;
	struct pxt_window {
		int64_t begin_ns;
		int64_t end_ns;
	} * windows; /* in order, none overlaps another */
	uint32_t window_count;
	struct pxt_stretch *stretches;
	uint32_t count;
	uint32_t room;
	uint32_t *first; /* once closed: of each thread and kind, the first one in @stretches */
	struct pxt_mark *marks;
	uint32_t mark_count;
	uint32_t mark_room;
	struct pxt_history_thread *threads; /* by index */
	uint32_t thread_room;
	/* Since when threads run there that the scheduler does not name; 0: none does. */
	int64_t others_ns[PXT_STATE_CPUS_MAX];
	const struct pxt_actor *runners[PXT_STATE_CPUS_MAX]; /* who runs there, as told last */
	int64_t now_ns;
	struct pxt_wakings *wakings; /* by index */
	uint32_t waking_room;
	bool has_wakings; /* a scheduler tells who woke whom */
	uint64_t beyond;
};

/* Before the first event: the times that are explained.  The history takes the memory. */
void pxt_history_windows(struct pxt_history *history, struct pxt_window *windows, uint32_t count);
/* After the state has changed. */
void pxt_history_look(struct pxt_history *history, const struct pxt_act *act);
/* After the state has taken the event. */
void pxt_history_take(struct pxt_history *history, const struct pxt_event *event, unsigned source);
/* An event that comes after all that is wanted: of what it tells, the time before is a part. */
void pxt_history_later(struct pxt_history *history, const struct pxt_event *event, unsigned source);
/* The reading ends, with the log or before: what goes on is kept as far as it got.  Then the stretches can be asked for. */
void pxt_history_close(struct pxt_history *history, bool with_log);
/* A thread's stretches of one kind, in the order of their begins; *@count: how many. */
const struct pxt_stretch *pxt_history_of(const struct pxt_history *history,
    const struct pxt_actor *actor, enum pxt_stretch_kind kind, uint32_t *count);
void pxt_history_free(struct pxt_history *history);
/* Who mostly ends waits of that thread at that place; NULL: nobody of the program does. */
const struct pxt_actor *pxt_history_usual_end(
    const struct pxt_history *history, const struct pxt_stretch *call);
/* Whether one of the windows has a part of that time (historyask.c). */
bool pxt_history_wants(const struct pxt_history *history, int64_t begin_ns, int64_t end_ns);
/* All are kept: brings them into their order (historyask.c). */
void pxt_history_sort(struct pxt_history *history);

/* ---- What wakes (wakes.c) ---- */

/* Whether an event says that its thread does something that wakes another one. */
bool pxt_wakes_event(const struct pxt_event *event);
/* Any event of the thread. */
void pxt_wakes_note(
    struct pxt_history *history, const struct pxt_actor *actor, const struct pxt_event *event);
/*
 * Who ended a wait that is over now, and by what; false: that is not known.  *@inferred: no object says so, but the
 * order of events.
 */
bool pxt_wakes_ended(const struct pxt_history *history, const struct pxt_stretch *wait,
    const struct pxt_actor **peer, struct pxt_waking *by, bool *inferred);

/* ---- Questions (historyask.c) ---- */

/* Of stretches that follow each other: the first one that ends after @ns. */
uint32_t pxt_history_after(const struct pxt_stretch *list, uint32_t count, int64_t ns);
/* How much of that time its stretches of one kind cover. */
int64_t pxt_history_within(const struct pxt_history *history, const struct pxt_actor *actor,
    enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns);
/* The first mark that is not before @ns: they are in the order of time. */
uint32_t pxt_history_mark(const struct pxt_history *history, int64_t ns);
/* Who woke the thread last in that time; NULL: nobody of whom the scheduler says so. */
const struct pxt_mark *pxt_history_waker(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns);
/* Who woke it first in that time. */
const struct pxt_mark *pxt_history_first_waker(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns);
/* The longest stretch of that kind. */
const struct pxt_stretch *pxt_history_longest(const struct pxt_history *history,
    const struct pxt_actor *actor, enum pxt_stretch_kind kind, int64_t begin_ns, int64_t end_ns);
/* Who ran where the thread ran next, most of the longest time in which it could run itself, and a fifth of it. */
const struct pxt_actor *pxt_history_instead(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns);
/* Of many who did, none of them for a fifth: the one that ran most. */
const struct pxt_actor *pxt_history_among(const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns);
/* It waited for a CPU while another one was free, and was never seen on another one: which one that is, or -1. */
int pxt_history_bound(const struct pxt_history *history, const struct pxt_actor *actor,
    int64_t begin_ns, int64_t end_ns);
/* Who had a lock for most of a time. */
const struct pxt_stretch *pxt_history_holder(const struct pxt_history *history, uint64_t lock,
    const struct pxt_actor *but, int64_t begin_ns, int64_t end_ns);

/*
 * Who had a lock, others than @but: the first @most of them, and how many they were.  *@sum_ns: how long, in all; longer
 * than the time is where several had it together.
 */
unsigned pxt_history_turns(const struct pxt_history *history, uint64_t lock,
    const struct pxt_actor *but, int64_t begin_ns, int64_t end_ns, const struct pxt_actor **turns,
    unsigned most, int64_t *sum_ns);

/* Of a call: a wait with a limit that ended by it. */
bool pxt_stretch_timed_out(const struct pxt_stretch *call);

/* Narrows a time to the part that the stretch covers. */
static inline void pxt_stretch_clip(
    const struct pxt_stretch *stretch, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = stretch->begin_ns > *begin_ns ? stretch->begin_ns : *begin_ns;
	*end_ns = stretch->end_ns < *end_ns ? stretch->end_ns : *end_ns;
}

/* The part of a stretch within [@begin_ns, @end_ns]. */
static inline int64_t pxt_stretch_within(
    const struct pxt_stretch *stretch, int64_t begin_ns, int64_t end_ns)
{
	pxt_stretch_clip(stretch, &begin_ns, &end_ns);
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

#endif
