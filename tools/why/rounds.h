/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - what is late in a program without spans.
 *
 * A thread that waits again and again at the same place, for the same object, works in rounds.  Its
 * most frequent such wait is its home; a round is the time from the end of one home wait to the
 * begin of the next.  The median round is what is usual for this thread.  What counts is the excess:
 * the time by which late rounds were longer than usual, summed.  So a thread that waits all day for
 * work has no excess, however long it waits, and one that misses its period has.
 *
 * A home wait can be late as well: a sleep that takes longer than was asked for, or a wait that
 * usually ends at once and once did not.
 *
 * Who waits in a call of input for somebody outside of the program, as a server for its clients, is idle: such a
 * home wait is never late.  The scheduler says who ended it.  Where there is none, most of the waits of such a
 * home end though no thread of the program has just sent anything: that is an inference.
 *
 * Time in which another program had the CPU, and time in which a thread that waits at home was stopped,
 * counts less: it delays all alike, or nobody.
 *
 * Threads that wait fewer than PXT_ROUNDS_LEAST times at the same place have no usual round: they do
 * not compete.
 *
 * Where more than a quarter of the rounds are late, late is what is usual.  Then only another measure
 * tells: until when the thread had asked its timer to wait, or what the user says (pxt_limits).
 *
 * rounds.c collects while events are read, with roundsched.c; usual.c chooses when all were.
 *
 * Bounded: PXT_ROUNDS_HOMES places of waiting, 12 KiB each beside their series (spans/pairs.h).
 */
#ifndef PXT_ROUNDS_H
#define PXT_ROUNDS_H

#include "tools/spans/pairs.h"
#include "tools/why/state.h"

#define PXT_ROUNDS_LEAST      8u
#define PXT_ROUNDS_HOMES      4096u
#define PXT_ROUNDS_TABLE      8192u /* twice as many */
#define PXT_ROUNDS_KEPT       64u   /* of a home: the longest rounds, and the longest waits */
#define PXT_ROUNDS_CANDIDATES 8u

/* A wait in a condition, beside the numbers of calls (trace_hooks_np.h). */
#define PXT_CALL_COND 0x10000u

/* Calls that wait for something to happen.  A lock or a disk is no home: they are in the way. */
bool pxt_calls_is_home(uint32_t call);
/* Calls that wait for descriptors, one or several. */
bool pxt_calls_is_set(uint32_t call);
/* Calls whose size is a limit in milliseconds (FORMAT.md 5.1). */
bool pxt_calls_has_limit(uint32_t call);
/* Calls in which a thread waits for what another one sends, or sends it. */
bool pxt_calls_is_input(uint32_t call);
bool pxt_calls_is_output(uint32_t call);
/* How long a call that begins is to last at most; 0: it does not say, less: that time had passed. */
int64_t pxt_calls_asked_ns(const struct pxt_event *event, uint32_t call);

/* Who waits again for the same so soon after its time was up waits on. */
#define PXT_AGAIN_NS INT64_C(50000)
/* Who sent so shortly before the end of a wait may have ended it. */
#define PXT_SENT_NS  INT64_C(200000)

/* By what it is said that something was late. */
enum pxt_measure {
	PXT_MEASURE_USUAL, /* the median of its like */
	PXT_MEASURE_ASKED, /* how long a sleep was asked for */
	PXT_MEASURE_DATE,  /* until when a timer was asked for */
	PXT_MEASURE_PERIOD,
	PXT_MEASURE_DEADLINE,
	PXT_MEASURES
};

/* What the user says of threads, and of spans, of such a name. */
#define PXT_LIMITS_MAX 32u
struct pxt_limits {
	struct pxt_limit {
		const char *name; /* a glob; NULL: of all */
		bool is_period;
		int64_t ns;
		bool matched; /* a thread or a span has this name */
	} list[PXT_LIMITS_MAX];
	unsigned count;
};

/* The latest one that is said of @name; NULL: none is. */
const struct pxt_limit *pxt_limits_of(struct pxt_limits *limits, const char *name);

/* A round or a home wait that was long. */
struct pxt_round {
	int64_t begin_ns;
	int64_t end_ns;
	int64_t rank_ns;    /* how long it was, or how much beyond a limit */
	int64_t limit_ns;   /* how long it was to be; 0: what is usual */
	int64_t planned_ns; /* of it, in waits that took as long as the thread had said */
	/* Of it, by what is not the program's: another one ran, a signal had stopped it. */
	int64_t outside_ns;
	uint64_t followers; /* rounds that were late because this one was */
	bool tried;         /* the thread tried to get a lock meanwhile, in vain */
	bool for_client;    /* a wait that ended when somebody outside of the program came */
};

struct pxt_round_list {
	struct pxt_round list[PXT_ROUNDS_KEPT]; /* the highest rank first */
	unsigned count;
};

/* Rounds or waits by how much they were beyond a limit that was known when they ended. */
struct pxt_beyond {
	struct pxt_series by; /* 0: within it */
	struct pxt_round_list *worst;
	/* Of those that only follow from another one: they are not in the list. */
	int64_t followed_ns;
};

/* Where a thread waits again and again. */
struct pxt_home {
	uint32_t actor; /* index */
	uint32_t call;
	uint64_t object;
	uint64_t asked; /* how long a sleep, in milliseconds; of other calls 0 */
	uint64_t place;
	struct pxt_series waits;
	uint64_t again;       /* of them, those that only went on with the one before */
	uint64_t requests;    /* something was sent there before so many of them */
	uint64_t ran_out;     /* of them, those for descriptors in which nothing came in time */
	uint32_t ended_by;    /* the thread of the program that mostly ends them, ... */
	uint64_t ended_times; /* ... at least so often */
	/* Of them, those that ended when a thread of the program had just sent something. */
	uint64_t answered;
	/* Of them, those for somebody outside of the program, or nobody. */
	struct pxt_series client_waits;
	struct pxt_series rounds;
	struct pxt_round_list *long_waits;
	struct pxt_round_list *long_rounds;
	struct pxt_beyond late_waits;
	struct pxt_beyond late_rounds;
	enum pxt_measure measure; /* of these two */
	/* The latest late round, or the one that it follows from; end_ns 0: none. */
	struct pxt_round head;
	bool is_behind;    /* the latest wait began behind the date that it was to end at */
	int64_t asked_ns;  /* of sleeps: the longest one; 0: they did not say, or a date */
	int64_t date_ns;   /* until when the latest wait was asked for; 0: it did not say */
	int64_t waited_ns; /* in all */
	int64_t first_ns;
	int64_t last_ns; /* when the latest wait ended */
	uint64_t epoch;  /* of its log, then */
	int64_t planned_ns;
	int64_t outside_ns; /* of the thread, then, ... */
	int64_t behind_ns;  /* ... and when the latest wait began */
	uint64_t tries;     /* of the thread, then */
};

/* Whether what a home waits for comes from an address of the network. */
bool pxt_calls_is_from_far(const struct pxt_state *state, const struct pxt_actor *actor,
    const struct pxt_home *home, int64_t ns);

/* What a thread is late by. */
struct pxt_excess {
	const struct pxt_home *home;
	bool is_wait; /* the home wait is late, else the round */
	enum pxt_measure measure;
	int64_t usual_ns; /* what they are measured by */
	bool no_usual;    /* more than a quarter is late */
	uint64_t idle;    /* waits that were as long, but for somebody outside of the program */
	uint64_t late;    /* how many were late, ... */
	uint64_t of;      /* ... of how many */
	int64_t sum_ns;
	/* Of it, what neither other programs caused, nor the thread had planned. */
	int64_t inside_ns;
	const struct pxt_round_list *longest;
};

/* Waits that never end are at least so long, and ten times as long as the longest that ended. */
#define PXT_STUCK_NS UINT64_C(500000000)

/* Who mostly ends the waits of a thread at a place. */
struct pxt_usual_end {
	uint32_t actor;
	uint32_t call;
	uint64_t object;
	uint64_t place;
	uint32_t by;
};

/* A client's: a request goes before at least every fourth wait, as replies come in pieces. */
static inline bool pxt_home_is_for_reply(const struct pxt_home *home)
{
	return home->requests * 4 > home->waits.count;
}

/* What one thread does at the moment. */
struct pxt_round_thread {
	bool waits;
	bool ended;
	bool gave_up;          /* nobody ended its latest wait, but its time */
	struct pxt_home *home; /* where it waits; NULL: there was no place for it */
	uint32_t call;
	int64_t asked_ns; /* how long at most; 0: it did not say */
	int64_t since_ns;
	int64_t date_ns;  /* until when it is to last, where that is a date; 0: else */
	int64_t round_ns; /* how long the round before it was */
	/* That round, until it is known that there is something to wait for; ... */
	struct pxt_round before;
	bool is_unsure; /* ... it is not yet */
	uint64_t epoch;
	int64_t planned_ns;     /* in all waits that took as long as they said */
	int64_t ready_ns;       /* since when it could run and does not; 0: it runs, or sleeps */
	int ready_cpu;          /* where, -1: that is not known; ... */
	int64_t others_ns;      /* ... and how long other programs had run there by then */
	int64_t stopped_ns;     /* since when a signal has stopped it; 0: none has */
	int64_t outside_ns;     /* while other programs had its CPU, or it was stopped in a wait */
	int64_t others_from_ns; /* the latest time in which it could run, ... */
	int64_t others_to_ns;   /* ... to here */
	int64_t begun_ns;       /* the same, when its wait began */
	uint64_t tries;         /* locks that it asked for and did not get */
	bool is_patient; /* it sleeps as one does who waits for another one, not for a disk */
	const struct pxt_actor *woken_by; /* the latest one in its wait, if of the program */
	bool woken_outside;       /* the latest waking of its wait was by nobody of the program */
	struct pxt_home *silent;  /* nothing came in its latest wait; NULL: something did */
	struct pxt_round silence; /* that wait */
	/* A bit for each descriptor below 64 that it connected itself. */
	uint64_t connected;
	uint64_t sent_to; /* + 1: where it sent something since it waited there; 0: nowhere */
	bool ran_out;     /* its latest call, a wait for descriptors, ended by its time */
	bool in_vain; /* its latest call ended by its descriptor's limit, or would have blocked */
};

struct pxt_rounds {
	const struct pxt_state *state;
	struct pxt_limits *limits; /* NULL: none */
	struct pxt_home **homes;   /* hash table of PXT_ROUNDS_TABLE */
	uint32_t home_count;
	struct pxt_round_thread *threads; /* by index */
	uint32_t thread_room;
	struct pxt_excess candidates[PXT_ROUNDS_CANDIDATES]; /* with much excess, the most first */
	unsigned candidate_count;
	const struct pxt_home *unmeasured; /* of a thread without a usual round; NULL: none */
	bool has_wakes;                    /* the scheduler says who wakes whom */
	struct pxt_round_list *stuck;      /* a wait that never ends; NULL: none */
	int64_t now_ns;
	/* Who runs there: of other programs how long, in all. */
	struct pxt_rounds_cpu {
		int64_t others_ns; /* up to ... */
		int64_t since_ns;
		bool others_run; /* since then */
	} * cpus;                /* PXT_STATE_CPUS_MAX; NULL: no scheduler tells */
	/* The latest sending, and the latest one of another thread. */
	struct pxt_rounds_sent {
		const struct pxt_actor *by;
		int64_t ns;
	} sent[2];
	/* Of the threads that were chosen from: long waits for somebody outside of the program. */
	uint64_t idle_waits;
	int64_t idle_ns;             /* the longest one, ... */
	const struct pxt_home *idle; /* ... which is of this one */
	/*
	 * By a thread's index: threads that wait at the same place do the same work, as those of a pool; 0: it has
	 * no rounds.
	 */
	uint32_t *kinds;
	/* Somebody looks on while events are read: a round, or a home wait, ended; NULL: nobody. */
	void (*ended)(
	    void *self, const struct pxt_home *home, const struct pxt_round *round, bool is_wait);
	void *self;
	uint64_t threads_with_rounds;
	uint64_t rounds_read;
	uint64_t beyond; /* waits at places that found no place */
};

struct pxt_round_thread *pxt_rounds_thread(
    struct pxt_rounds *rounds, const struct pxt_actor *actor);
/* After the state has changed: what the scheduler tells (roundsched.c). */
void pxt_rounds_look(struct pxt_rounds *rounds, const struct pxt_act *act);
/* After the state has taken the event. */
void pxt_rounds_take(struct pxt_rounds *rounds, const struct pxt_event *event, unsigned source);
/* How a round of @home compares to what the user says, or to the date that its timer is asked for next. */
void pxt_limits_measure_round(struct pxt_home *home, const struct pxt_round *ended,
    const struct pxt_limit *limit, int64_t date_ns);
/* The same for a home wait.  Of a period the round before it, @round_ns, has used a part. */
void pxt_limits_measure_wait(struct pxt_home *home, const struct pxt_round *ended,
    const struct pxt_limit *limit, int64_t date_ns, int64_t round_ns);
/* Keeps @round in a list if its rank is one of the highest. */
void pxt_rounds_keep(struct pxt_round_list **list, const struct pxt_round *round);
/*
 * By how much a round, or a wait, that ended just now was longer than what is usual so far, or was asked for
 * (*@usual_ns); 0: it was not, or nothing is usual.
 */
int64_t pxt_rounds_late_by(
    const struct pxt_home *home, const struct pxt_round *round, bool is_wait, int64_t *usual_ns);
/* Of the excess @ns of a round: what the thread had not planned itself. */
int64_t pxt_rounds_unplanned(const struct pxt_round *round, int64_t ns);
/* Of what was read: the home of each thread that is @wanted, by its index, or NULL; free() it. */
const struct pxt_home **pxt_rounds_homes(const struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self);
/* All was read: fills in the candidates, of the threads that are @wanted. */
void pxt_rounds_choose(struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self);
/*
 * All was read: where a thread waits without end, since *@since_ns, as who mostly woke it there has ended; NULL: none
 * does.  Who waits so when its process calls exit() had nothing to do.
 */
const struct pxt_home *pxt_rounds_stuck(const struct pxt_rounds *rounds, int64_t *since_ns);
/* All was read: who waited in vain at last asks no more. */
void pxt_rounds_settle(struct pxt_rounds *rounds);
/* All was read: who mostly ends which waits; free() it. */
struct pxt_usual_end *pxt_rounds_usual_ends(const struct pxt_rounds *rounds, uint32_t *count);
void pxt_rounds_free(struct pxt_rounds *rounds);

#endif
