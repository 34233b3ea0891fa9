/* SPDX-License-Identifier: MIT */
/*
 * state.h - who does what at the moment, as far as the events read so far tell: which spans each
 * thread has open, which lock it waits for, who has which lock, who runs on which CPU.
 *
 * What is not known is not guessed.  A loss of events makes everything uncertain that the lost ones
 * could have changed: a thread until its next event, a lock until somebody takes or releases it, a
 * span unless its end names the same number as its begin.  The same holds where the trace was
 * stopped for a while, and across a step back of the clock, where spans have no length either.
 *
 * Who runs on a CPU is exact where the log has scheduler events.  Where it has none it is concluded:
 * the thread with something to do (a span or a lock) whose event came last on that CPU and which does
 * not wait.
 *
 * Limits are the constants below; what exceeds one is left out and counted (@beyond).  They come to 100 MiB
 * at most, and to a few MiB for an ordinary log.
 */
#ifndef PXT_STATE_H
#define PXT_STATE_H

#include "tools/why/roles.h"

#include <string.h>

#define PXT_ACTORS_MAX       65536u /* threads */
#define PXT_STATE_LOCKS_MAX  65536u /* locks */
#define PXT_STATE_OF_SEVERAL 1024u  /* semaphores that processes share */
#define PXT_STATE_CPUS_MAX   1024u
#define PXT_SPANS_DEEP       4096u   /* spans inside each other, of one thread */
#define PXT_STATE_SPANS_MAX  262144u /* ... of all threads */
#define PXT_HOLDS_MAX        16u     /* locks that one thread has at once */
#define PXT_SHARES_MAX       16u     /* threads that have one lock for reading */
#define PXT_FUNCTIONS_DEEP   64u /* functions inside each other; those in between are left out */
#define PXT_KEY_LABEL        24u
#define PXT_RELEASES_MAX     32u

/* A number of a job or lock, with what it looks like on the screen. */
struct pxt_key {
	bool is_set;
	bool is_named;     /* a roles file says that it is the number */
	const char *field; /* the field that it comes from */
	uint64_t value;
	char label[PXT_KEY_LABEL]; /* escaped */
};

struct pxt_open_span {
	uint32_t name;
	struct pxt_key key;
	int64_t begin_ns;
	int64_t release_ns; /* begin_ns where no release is known */
	int cpu;            /* -1: unknown */
	uint64_t epoch;     /* of its log, at the begin */
	uint64_t steps;     /* of its clock, at the begin */
	bool has_ran; /* the thread's CPU time is known: at the begin; once it ended, within */
	int64_t ran_ns;
	bool selected; /* its begin was, on the command line, ... */
	bool fulfils;  /* ... and --where is true of it */
	bool missed;   /* a deadline miss named it, ... */
	bool has_late; /* ... and said how late it was */
	int64_t late_ns;
};

/* That a thread has a lock, beside the lock's holder: several may read what one alone may write. */
struct pxt_share {
	struct pxt_actor *actor;
	unsigned depth;
	int64_t since_ns;
	struct pxt_log_address place;
};

struct pxt_state_lock {
	uint32_t name;
	struct pxt_key key;
	uint64_t process;
	unsigned source;
	uint64_t epoch; /* what is said here was so at that epoch of its log */
	enum {
		PXT_LOCK_UNKNOWN,
		PXT_LOCK_FREE,
		PXT_LOCK_HELD
	} state;
	struct pxt_actor *holder;
	unsigned depth;               /* a recursive lock, taken so often */
	int64_t since_ns;             /* when @holder got it, or it became free */
	struct pxt_log_address place; /* where @holder took it; 0: not known */
	bool is_shared;               /* its holders have it for reading */
	bool is_given;                /* a semaphore or futex: threads that never had it give it */
	bool is_futex;
	/* A semaphore that processes share: the same in a forked child, at this address. */
	bool of_several;
	struct pxt_share *shares; /* PXT_SHARES_MAX, once it was shared: who else has it */
	unsigned share_count;
	bool of_system;    /* system events tell of it: its number is its address */
	bool gone;         /* what is at its address now is no lock, or another one */
	bool kept;         /* it will be told of: in an order, or waited for (lockuse.h) */
	uint32_t life;     /* one more each time when it stands for another one, ... */
	uint32_t row_life; /* ... and what that was when it got its row */
	struct pxt_state_lock *next_at; /* of those at addresses with one place in a table */
	struct pxt_log_address self;    /* that address, when the first event told of it, ... */
	struct pxt_log_address first;   /* ... and where in the program that was */
	uint64_t counted; /* times that it was taken, where no event tells of each; by whom: */
	struct pxt_taken {
		/* NULL: several threads that had ended, or nobody knows. */
		const struct pxt_actor *actor;
		uint64_t times;
	} * taken_by;
	uint32_t taken_by_count;
	uint64_t waits; /* that ended, and how long they were in all (late.h) */
	int64_t waits_ns;
	uint32_t row; /* of lockuse.h, + 1 */
};

enum pxt_running {
	PXT_RUN_UNKNOWN,
	PXT_RUN_RUNS,
	PXT_RUN_READY,
	PXT_RUN_SLEEPS,
	PXT_RUN_ENDED /* it never runs again; its number may be another thread's */
};

struct pxt_actor {
	uint32_t index;
	uint64_t id;   /* pthread_t as a number; 0: known from the scheduler alone */
	uint64_t key;  /* pxt_thread_key(), with @id */
	unsigned host; /* numbers of threads are unique on a host only */
	unsigned source;
	pid_t tid;
	pid_t pid;     /* 0: not known */
	bool selected; /* on the command line */
	bool own; /* of a traced program: it has events of its own, or one of them told of it */
	bool has_prio;
	int64_t prio;  /* the kernel's: smaller is more urgent */
	char name[96]; /* escaped, for the screen */
	char raw[64];  /* as the log has it */
	uint64_t epoch;
	int cpu; /* of its last event, or where the scheduler put it */
	bool blocked;
	bool in_call; /* a system event says in what: until its next event, also while it runs */
	struct pxt_key blocked_on;
	uint32_t blocked_name;
	int64_t blocked_ns;
	struct pxt_state_lock *wait; /* the lock that it asked for, ... */
	uint32_t wait_mode;          /* ... for what: a name, or PXT_NO_NAME */
	int64_t wait_ns;
	struct pxt_state_lock *holds[PXT_HOLDS_MAX]; /* in the order in which it got them */
	unsigned hold_count;
	/* In which functions it is, of a program that was compiled so that they tell; the innermost last. */
	struct pxt_log_address *functions; /* PXT_FUNCTIONS_DEEP, once it told of one */
	unsigned function_count;
	unsigned functions_deeper; /* that found no place */
	struct pxt_open_span *spans;
	unsigned span_count;
	unsigned span_room;
	struct pxt_open_span last[4]; /* that it ended, newest first */
	int64_t last_end_ns[4];
	enum pxt_running running; /* as the scheduler said ... */
	uint64_t running_epoch;   /* ... in this epoch of its log */
	unsigned running_source;
	struct pxt_actor *older; /* on its CPU: whose event came before, ... */
	struct pxt_actor *newer; /* ... and after its own */
	int listed;              /* on which CPU, -1: on none */
};

struct pxt_state_cpu {
	struct pxt_actor *newest;
	bool known; /* by a switch, in @epoch of @source */
	uint64_t epoch;
	unsigned source;
	struct pxt_actor *runs; /* NULL: idle; or the state's @others */
};

/* What an event did, for who looks on. */
struct pxt_act {
	enum pxt_deed deed;
	const struct pxt_event *event;
	int64_t ns;
	struct pxt_actor *actor;
	struct pxt_open_span *span;  /* JOB_START: the new one, JOB_END: the old one, or NULL */
	struct pxt_state_lock *lock; /* LOCK_... */
	struct pxt_actor *former;    /* LOCK_RELEASE: who was known to have it; SWITCH: who ran */
	int64_t held_since_ns;       /* LOCK_RELEASE, with @former */
	struct pxt_log_address held_place; /* LOCK_RELEASE, with @former: where it took it */
	bool gave_back;                    /* LOCK_RELEASE: @former does not have it any more */
	bool outermost;                    /* JOB_START, JOB_END: no other span around it */
	const struct pxt_role *role;       /* of the event */
	int cpu;                           /* SWITCH */
};

struct pxt_lookers {
	void *self;
	/* After the state has changed; a released span's memory is still good. */
	void (*act)(void *self, const struct pxt_act *act);
};

/* A thread by the number that it has in its process' own pid namespace; 0: the process has such numbers. */
struct pxt_numbered {
	pid_t pid;
	uint32_t number;
	uint32_t actor; /* its index + 1; 0: nothing is here */
};

struct pxt_state {
	struct pxt_roles_book *book;
	const struct pxt_reader *reader;
	struct pxt_lookers lookers;
	/* Whose event was taken last; NULL: nobody's, or the scheduler's. */
	struct pxt_actor *latest;
	struct pxt_actor **actors; /* in order of appearance */
	uint32_t actor_count;
	uint32_t *by_id; /* hash tables of index + 1 */
	uint32_t *by_tid;
	/* NULL: no process has said numbers of its own. */
	struct pxt_numbered *by_number;
	uint32_t number_count;
	struct pxt_state_lock *
	    *locks; /* hash table, and of those of system events one by their addresses */
	struct pxt_state_lock **locks_at;
	uint64_t lock_steps; /* that looking for locks in memory took */
	uint32_t lock_count;
	struct pxt_state_lock *of_several[PXT_STATE_OF_SEVERAL];
	unsigned of_several_count;
	struct pxt_state_cpu *cpus;
	uint64_t *epochs; /* of each source */
	uint64_t *steps;  /* of each source's clock; they are among its epochs */
	/* Times that events say and that cannot be, negative or longer than the log; the first of them. */
	uint64_t impossible;
	const char *impossible_field;
	int64_t impossible_ns;
	unsigned *hosts;             /* of each source */
	bool *stopped;               /* of each source */
	struct pxt_numbers *numbers; /* of each source's table */
	unsigned sources;
	uint32_t span_count;
	bool has_switches;
	/* Threads that the scheduler's events do not name; NULL: they name all. */
	struct pxt_actor *others;
	uint64_t beyond;   /* things that found no place */
	bool counts_locks; /* a traced program counted them: not each taking is an event, ... */
	/* ... and so often it took what it had no room to count one by one. */
	uint64_t counted_beyond;
	struct {
		uint32_t name;
		struct pxt_key key;
		int64_t ns;
	} releases[PXT_RELEASES_MAX]; /* that no begin has met, newest overwrites oldest */
	unsigned release_next;
	/* In the order of time: from then on a thread was called so. */
	struct pxt_rename {
		uint32_t actor;
		int64_t ns;
		char former[64];
		char name[64];
	} * renames;
	uint32_t rename_count;
	uint32_t rename_room;
};

struct pxt_state *pxt_state_new(struct pxt_roles_book *book, const struct pxt_reader *reader);
void pxt_state_free(struct pxt_state *state);

/* All was read.  Behind its last event a log may have lost some: what was open there is not known. */
void pxt_state_end(struct pxt_state *state);
/* The place of an event's log in the reader. */
unsigned pxt_state_source(const struct pxt_state *state, const struct pxt_event *event);
/*
 * Call before pxt_state_take(): whether events of this log may be missing before @event (*@lost: how
 * many were counted; 0: the trace was stopped).  If so, everything of that log is uncertain now.
 */
bool pxt_state_gap(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, uint64_t *lost);
/* What the event changes; @actor is its thread, NULL where the log does not say. */
void pxt_state_take(struct pxt_state *state, const struct pxt_event *event, unsigned source);

/* The thread of that number on the host of @event's log; NULL: there is no place left. */
struct pxt_actor *pxt_state_thread(
    struct pxt_state *state, const struct pxt_event *event, int64_t tid);

/* The same, of a thread that was met already; NULL: it was not. */
struct pxt_actor *pxt_state_met(
    const struct pxt_state *state, const struct pxt_event *event, int64_t tid);

/*
 * The same, of a number that the event's own process says: in a pid namespace its threads have other numbers there.
 * NULL also where the number may be another process' thread's.
 */
struct pxt_actor *pxt_state_numbered(
    const struct pxt_state *state, const struct pxt_event *event, int64_t number);

/* Whether both are threads of one program that was not traced: of those often no more is known than a name. */
static inline bool pxt_actor_is_with(const struct pxt_actor *a, const struct pxt_actor *b)
{
	return a == b ||
	       (a && b && !a->own && !b->own &&
	           ((a->pid > 0 && a->pid == b->pid) || (*a->raw && strcmp(a->raw, b->raw) == 0)));
}

/* Whether a signal to that number is one to the thread: its process's, its own, or its identifier. */
static inline bool pxt_actor_answers_to(const struct pxt_actor *actor, uint64_t number)
{
	return number == (uint64_t)actor->pid || number == (uint64_t)actor->tid ||
	       number == actor->id;
}

/* The library's own thread in a traced process, which sleeps until it is asked for something. */
static inline bool pxt_actor_is_helper(const struct pxt_actor *actor)
{
	return strcmp(actor->raw, "pxt-helper") == 0;
}

/* Whether its clock told the length of a span that ends now: it did not step back meanwhile. */
static inline bool pxt_span_measured(
    const struct pxt_state *state, const struct pxt_actor *actor, const struct pxt_open_span *span)
{
	return span->steps == state->steps[actor->source];
}
/* A time that the event says in @field; false: it has none, or one that cannot be. */
bool pxt_state_time(struct pxt_state *state, const struct pxt_event *event,
    const struct pxt_layout *field, int64_t *ns);

/*
 * Once all was read, before anybody is told of threads: they are called as they were at @ns, and those of one
 * name NAME/NUMBER.
 */
void pxt_state_names_at(struct pxt_state *state, int64_t ns);

/* Whether what the thread did last is still known to be true. */
static inline bool pxt_actor_certain(const struct pxt_state *state, const struct pxt_actor *actor)
{
	return actor->epoch == state->epochs[actor->source];
}
/* Who has the lock; NULL: nobody, or nobody knows (*@known). */
struct pxt_actor *pxt_lock_holder(
    const struct pxt_state *state, const struct pxt_state_lock *lock, bool *known);
/* How often the thread has the lock; 0: as far as events say, it has not. */
unsigned pxt_lock_depth(const struct pxt_state_lock *lock, const struct pxt_actor *actor);
/* What the scheduler says about a thread, PXT_RUN_UNKNOWN where it said nothing. */
enum pxt_running pxt_actor_running(const struct pxt_state *state, const struct pxt_actor *actor);
/* Who runs on a CPU: exactly (*@exact), or as concluded; NULL: unknown or nobody. */
struct pxt_actor *pxt_cpu_runner(const struct pxt_state *state, int cpu, bool *exact);
/* The span to which a miss of this number belongs: open, or ended (*@end_ns); NULL: none. */
struct pxt_open_span *pxt_actor_span(const struct pxt_state *state, struct pxt_actor *actor,
    uint32_t name, const struct pxt_key *key, int64_t *end_ns, bool *is_open);
/* The number of the job or lock in an event. */
struct pxt_key pxt_key_of(const struct pxt_event *event, const struct pxt_role *role);
/* The @index-th field as a number; 0: there is none. */
uint64_t pxt_key_number(const struct pxt_event *event, unsigned index);
#define PXT_LINUX_STOPPED 4 /* a state of who leaves a CPU */
/* Of a SWITCH: the state of who leaves, in Linux' numbers; 0: the event does not say. */
int64_t pxt_act_left_state(const struct pxt_act *act);
/* Whether a signal stopped it. */
static inline bool pxt_act_is_stop(const struct pxt_act *act)
{
	return pxt_act_left_state(act) == PXT_LINUX_STOPPED;
}
/* Whether a call's beginning is one: that of a priority's change (SHARK-36) is told as a call, and has no end. */
bool pxt_call_lasts(const struct pxt_event *event);
/* Whether two numbers count the same thing: fields of one name, or named by a roles file. */
bool pxt_key_comparable(const struct pxt_key *a, const struct pxt_key *b);
/* A number in nanoseconds; false where there is none. */
bool pxt_number_of(const struct pxt_event *event, const struct pxt_layout *field, int64_t *number);

#endif
