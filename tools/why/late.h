/* SPDX-License-Identifier: MIT */
/*
 * late.h - which spans `pxtrace why` is to explain: the first pass over the logs.
 *
 * By itself it takes what missed a deadline, what missed it by most first; where no deadline was missed, the
 * spans that lie farthest above the median of their name.  --longer-than and --at say it otherwise;
 * --event, --thread, --from and --to narrow it.  Where there are no spans at all it takes late
 * rounds (rounds.h); where no thread has rounds, the longest waits for locks, and where there are none of
 * these, the longest times off the CPU (waits.h); --waits and --off-cpu ask for them.
 *
 * Bounded: PXT_LATE_MAX spans of each kind; PXT_LATE_NAMES_MAX names are measured, 60 KiB each.
 */
#ifndef PXT_LATE_H
#define PXT_LATE_H

#include "tools/select/select.h"
#include "tools/spans/pairs.h"
#include "tools/why/rounds.h"
#include "tools/why/waits.h"

#define PXT_LATE_MAX       16u
#define PXT_LATE_NAMES_MAX 512u

enum pxt_late_kind {
	PXT_LATE_SPAN,
	PXT_LATE_WAIT,  /* for a lock: @name and @key are its */
	PXT_LATE_OFF,   /* the CPU; no name */
	PXT_LATE_ROUND, /* of a thread that waits again and again (rounds.h); no name */
	PXT_LATE_HOME   /* its wait; no name */
};

struct pxt_late {
	enum pxt_late_kind kind;
	uint32_t actor; /* index: the same in every pass */
	uint32_t name;
	struct pxt_key key;
	int64_t release_ns;
	int64_t begin_ns;
	int64_t end_ns;
	int cpu; /* at the begin */
	/* Of a wait for a lock: which one that is, and what all waits for it came to. */
	const struct pxt_state_lock *lock; /* while the logs are read */
	bool of_system;
	struct pxt_log_address self;
	struct pxt_log_address first;
	uint32_t mode; /* for what it was asked for: a name, or PXT_NO_NAME */
	uint64_t waits;
	int64_t waits_ns;
	bool has_late;
	int64_t late_ns;
	bool missed;     /* a deadline */
	bool unfinished; /* the log ends inside; @end_ns is its last event */
	bool no_begin;   /* it is lost; all times are that of the miss */
	bool has_ran;    /* of a span that ended: its events say how long the thread ran within */
	int64_t ran_ns;
	/* By what it was late; of a round and of a home wait also how many of all were late. */
	enum pxt_measure measure;
	int64_t usual_ns;
	uint64_t late_count;
	uint64_t of;
	/* How many were late because this one was, and by how much the worst of them. */
	uint64_t followers;
	int64_t worst_ns;
	uint64_t rank;
};

static inline uint64_t pxt_late_length(const struct pxt_late *late)
{
	return late->end_ns > late->release_ns ? (uint64_t)(late->end_ns - late->release_ns) : 0;
}

static inline bool pxt_late_is_round(const struct pxt_late *late)
{
	return late->kind == PXT_LATE_ROUND || late->kind == PXT_LATE_HOME;
}

struct pxt_late_list {
	struct pxt_late list[PXT_LATE_MAX]; /* highest rank first */
	unsigned count;
	uint64_t all; /* how many there were */
};

/* The latest miss of a thread, and those that follow from it. */
struct pxt_late_chain {
	struct pxt_late head;
	int64_t end_ns; /* of the latest one */
	bool is_on;
	/* The latest span that was measured: its name, and when it ended. */
	uint32_t latest;
	int64_t latest_ns;
};

/* A late round of a thread that is among the candidates: of all of them it is known what held them up. */
struct pxt_late_round {
	uint32_t actor;
	int64_t begin_ns;
	int64_t end_ns;
	int64_t excess_ns;  /* less what was planned */
	int64_t outside_ns; /* of it, by other programs, as far as it is the thread's own waiting */
};

struct pxt_late_name {
	struct pxt_series series; /* of the lengths */
	struct pxt_late_list longest;
};

enum pxt_late_mode {
	PXT_LATE_MISSES,
	PXT_LATE_LONGER,
	PXT_LATE_AT,
	PXT_LATE_UNUSUAL,
	PXT_LATE_ROUNDS,
	PXT_LATE_WAITS,
	PXT_LATE_OFF_CPU
};

struct pxt_late_search {
	struct pxt_select *select;
	const struct pxt_reader *reader;
	struct pxt_state *state;
	bool has_limit;
	int64_t limit_ns; /* --longer-than */
	struct pxt_when at;
	bool asks_waits;
	bool asks_off_cpu;
	/* A time of one thread is known to be late: that is explained, whatever else was; 0: not so. */
	pid_t given_tid;
	struct pxt_late given;
	struct pxt_waits waiting;
	struct pxt_late_name *names[PXT_LATE_NAMES_MAX];
	struct pxt_late_list found; /* by miss, by limit or by --at */
	struct pxt_late_list misses;
	struct pxt_late_list waits;
	struct pxt_late_list off_cpu;
	struct pxt_rounds rounds;
	struct pxt_late_list late_rounds;
	struct pxt_late_round *all_rounds;
	unsigned all_round_count;
	uint32_t *kinds; /* of threads, by their index (rounds.h) */
	uint32_t kind_count;
	struct pxt_usual_end *usual_ends;
	uint32_t usual_end_count;
	struct pxt_limits limits;
	struct pxt_late_chain *chains; /* by thread */
	uint32_t chain_room;
	char unmeasured[96]; /* a thread without a usual round; "": none */
	char idle[96]; /* who waited longest for somebody outside of the program; "": nobody */
	uint64_t spans;
	uint64_t unjudged;   /* that their log's clock did not measure */
	uint64_t impossible; /* as in state.h */
	const char *impossible_field;
	int64_t impossible_ns;
	uint64_t beyond; /* things that found no place in memory */
	int64_t last_ns;
	enum pxt_late_mode mode;
};

/* Keeps the highest ranks; of equal ones, what came first. */
void pxt_late_keep(struct pxt_late_list *list, const struct pxt_late *late);
/* Whether a thread is one of those that were asked for; @self: the struct pxt_select. */
bool pxt_late_is_selected(const void *self, const struct pxt_actor *actor);
/* All was read, and the state is there yet: takes what is to be explained (choose.c). */
void pxt_choose(struct pxt_late_search *search);
/* For who reads the logs for more than this: before the first event; each event; after the last one. */
void pxt_late_begin(
    struct pxt_late_search *search, const struct pxt_reader *reader, struct pxt_roles_book *book);
/* False when a roles file does not fit the log: no more events are needed. */
bool pxt_late_take(struct pxt_late_search *search, const struct pxt_event *event);
bool pxt_late_end(struct pxt_late_search *search);
/* The same, and reads all logs.  False when a roles file does not fit them. */
bool pxt_late_search(
    struct pxt_late_search *search, struct pxt_reader *reader, struct pxt_roles_book *book);
/* What is to be explained, most urgent first. */
const struct pxt_late_list *pxt_late_result(const struct pxt_late_search *search);
/* The median length of spans of a name, and how many there were; 0: not measured. */
uint64_t pxt_late_median(struct pxt_late_search *search, uint32_t name, uint64_t *count);
void pxt_late_free(struct pxt_late_search *search);

#endif
