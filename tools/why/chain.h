/* SPDX-License-Identifier: MIT */
/*
 * chain.h - why a thread was late, followed to the end: what took most of its time; who had what it
 * waited for, or who ended the wait; what that one did meanwhile; and so on.
 *
 * A link says what one thread did.  A chain ends where a thread ran, slept because it chose to,
 * could not run, or where the log does not say more.
 */
#ifndef PXT_CHAIN_H
#define PXT_CHAIN_H

#include "tools/why/history.h"

#define PXT_CHAIN_LINKS 6u
#define PXT_LINK_PLACES 16u
#define PXT_LINK_TURNS  16u

enum pxt_link_kind {
	PXT_LINK_LOCK, /* waited for @stretch.lock, which @peer had; @in_cond: to leave that call */
	PXT_LINK_CALL, /* was in a call; @peer ended it, if somebody of the program did */
	PXT_LINK_TRIED,   /* asked for a lock again and again and slept in between; @peer had it */
	PXT_LINK_HANDLER, /* was in the handler of a signal, from @peer */
	PXT_LINK_STOPPED, /* by SIGSTOP, from @peer */
	PXT_LINK_RAN,     /* and could run for @ready_ns, but other programs did (@peer) */
	PXT_LINK_READY,   /* could run; @peer did */
	PXT_LINK_THROTTLED, /* could run; less urgent threads did */
	PXT_LINK_SLEPT, /* in what no event tells of; @peer woke it, if somebody of the program did */
	PXT_LINK_ENDED,  /* that it did, before: it does nothing any more */
	PXT_LINK_UNKNOWN /* no event says what it did, no scheduler whether it ran */
};

struct pxt_link {
	enum pxt_link_kind kind;
	const struct pxt_actor *actor;
	int64_t ns;       /* of the time that is explained, ... */
	int64_t begin_ns; /* ... which this is; of the longest stretch, where that is most of it */
	int64_t end_ns;
	struct pxt_stretch stretch; /* CALL, LOCK, HANDLER: the longest one */
	const struct pxt_actor *peer;
	struct pxt_log_address peer_place; /* where it took the lock, or was when it woke */
	/* LOCK: nobody had it most of the time, but these did, one after the other; @peer for the longest. */
	const struct pxt_actor *turns[PXT_LINK_TURNS];
	unsigned turn_count; /* 0: @peer had it */
	bool together;       /* some of them at once, to read */
	int64_t ran_ns;      /* CALL: the thread ran so long inside */
	int64_t ready_ns;    /* CALL: it had been woken and waited for a CPU so long ... */
	const struct pxt_actor *instead; /* ... because that one ran */
	const struct pxt_actor *among;   /* READY: many did, each for a short time; this one most */
	int bound_cpu; /* READY, CALL: it seems to be bound to this one, for another was free; -1: not */
	bool throttled;  /* CALL: @instead is less urgent */
	bool in_cond;    /* LOCK */
	bool timed_out;  /* CALL: nobody ended it; @peer mostly does so */
	bool inferred;   /* SLEPT: no event of @peer says that it did something that wakes */
	bool is_child;   /* SLEPT: @peer is its child, and had its memory until it ran a program */
	uint64_t faults; /* RAN, SLEPT: page faults meanwhile; ... */
	bool faults_major; /* ... some of them waited for a disk, ... */
	int64_t faults_ns; /* ... for so long, as far as that is known */
	int64_t irq_ns;    /* RAN: of it, in interrupts */
	int64_t disk_ns;   /* CALL, SLEPT: off the CPU while a disk had a request, ... */
	const struct pxt_actor *disk_peer; /* ... most of them this one's; NULL: its own */
	int64_t cgroup_ns; /* RAN, READY: its cgroup was throttled for so long, on all CPUs, ... */
	int64_t cgroup_within_ns; /* ... within this time, as it is looked at now and then */
	uint64_t khz; /* RAN: the frequency of its CPU, where that was much lower than ... */
	uint64_t khz_most;
	/* RAN: places that it was in, spread over the time; of many page faults, where these were. */
	struct pxt_log_address places[PXT_LINK_PLACES];
	uint64_t above[PXT_LINK_PLACES][PXT_PLACES_ABOVE]; /* who called there */
	unsigned place_count;
};

/* A part of a thread's time. */
struct pxt_part {
	enum pxt_link_kind kind;
	int64_t ns;                        /* of all that are alike */
	int64_t own_ns;                    /* of @stretch alone, the longest of them */
	const struct pxt_stretch *stretch; /* CALL, LOCK, HANDLER */
};

struct pxt_chain {
	unsigned count;
	bool is_deadlock; /* the last one waits for one of those before it, without end */
	struct pxt_link links[PXT_CHAIN_LINKS];
};

/* The largest part of the thread's time (parts.c). */
struct pxt_part pxt_parts_largest(const struct pxt_history *history, const struct pxt_actor *actor,
    int64_t begin_ns, int64_t end_ns);
/* Whether page faults explain a part of the time. */
bool pxt_link_has_faults(const struct pxt_link *link);
/* A disk had it for most of the time. */
bool pxt_link_has_disk(const struct pxt_link *link);
/* It waited for a CPU, in a call or not. */
bool pxt_link_is_cpu(const struct pxt_link *link);
/* Whether two rounds of a thread were held up by the same object, under any holder. */
bool pxt_link_is_same(const struct pxt_link *a, const struct pxt_link *b);

/* A wait that no signal ends, as for a disk: prev_state of sched_switch. */
#define PXT_STATE_UNINTERRUPTIBLE 2

/*
 * What the machine did in that time (machine.c): a disk had a request of the thread, or of one of the kernel's; its
 * cgroup was throttled, for half of @ready_ns; page faults, interrupts and the frequency, where it ran.
 */
void pxt_machine_disk(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns);
void pxt_machine_cgroup(struct pxt_link *link, const struct pxt_history *history, int64_t ready_ns,
    int64_t begin_ns, int64_t end_ns);
void pxt_machine_ran(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns);

/* Why @actor needed the time from @begin_ns to @end_ns. */
void pxt_chain_follow(struct pxt_chain *chain, const struct pxt_history *history,
    const struct pxt_actor *actor, int64_t begin_ns, int64_t end_ns);

#endif
