/* SPDX-License-Identifier: MIT */
/*
 * roles.h - what event types mean for `pxtrace why`: the begin and end of jobs, waits for locks and
 * who has them, sleep and wake-up, the scheduler's switches.
 *
 * By their names, among the program's own events:
 *
 *	X_begin, X_start .. X_end, X_stop; X_enter .. X_exit    a job or span X of the thread
 *	X_release                                   the job X_begin of the same number may begin
 *	X_wait, X_lock, X_unlock                    the thread asks for, has got, gives back a lock;
 *	                                            X_wait only in a log that has X_lock as well
 *	X_block, X_unblock, X_wake (tid)            the thread sleeps, goes on, another one wakes it;
 *	                                            X_block only in a log that has one of the others
 *	deadline_miss, X_deadline_miss (late_ns)    the thread's latest job was late
 *	sched_switch (cpu, prev_tid, next_tid, ...) another thread runs on a CPU
 *	sched_wakeup, sched_waking, ..._new (tid, target_cpu)   a thread may run
 *	sched_process_fork (child_tid, child_comm)  a thread of the program begins
 *	thread_state (tid, prio, name)              a thread of posix_trace_dump_threads_np()
 *
 * System events (FORMAT.md 5.1) mean what their numbers say (rolesystem.c).
 *
 * The first field is the number of job or lock; start_ns or delay_ns of a begin is the time since
 * the release; cpu_ns of a begin and its end is the CPU time of the thread by then.  A roles file says what other types mean; its format is in rolesfile.c and in
 * pxtrace-why(1).
 *
 * Bounded: PXT_ROLE_LINES_MAX lines of a file, PXT_ROLE_NAMES_MAX names of spans and kinds of locks.
 */
#ifndef PXT_ROLES_H
#define PXT_ROLES_H

#include "tools/read/source.h"
#include "tools/why/places.h"

#define PXT_ROLE_LINES_MAX 256u
#define PXT_ROLE_NAMES_MAX 2048u
#define PXT_ROLES_OF_TYPE  4u

enum pxt_deed {
	PXT_JOB_RELEASE,
	PXT_JOB_START,
	PXT_JOB_END,
	PXT_DEADLINE_MISS,
	PXT_LOCK_WAIT,
	PXT_LOCK_ACQUIRE,
	PXT_LOCK_RELEASE,
	PXT_BLOCK,
	PXT_WAKE,
	PXT_SWITCH,
	PXT_THREAD, /* what a thread is called, and how urgent it is */
	PXT_DEEDS
};

/* What a field of an event is good for. */
enum pxt_use {
	PXT_USE_KEY,    /* number of the job, of the lock, of what is slept for */
	PXT_USE_TIME,   /* since the release (begin); how late (miss); nanoseconds */
	PXT_USE_THREAD, /* the system's number of the thread that is meant */
	PXT_USE_CPU,
	PXT_USE_FROM, /* the thread that ran ... */
	PXT_USE_TO,   /* ... and that runs now */
	PXT_USE_STATE,
	PXT_USE_FROM_PRIO,
	PXT_USE_TO_PRIO,
	PXT_USE_FROM_NAME,
	PXT_USE_TO_NAME,
	PXT_USE_RESULT, /* of a lock: whether the thread has it */
	PXT_USE_HOLDER, /* of a wait: the thread that has the lock, as the lock says */
	PXT_USE_WHAT,   /* of an event that means several things: which */
	PXT_USE_CALL,   /* of calls that are waits for a lock: which call */
	PXT_USE_SIZE,   /* what a call asked for: 0, it does not wait */
	PXT_USE_RAN,    /* of a begin and its end: how long the thread had run by then */
	PXT_USES
};

#define PXT_NO_NAME UINT32_MAX

struct pxt_role {
	enum pxt_deed deed;
	uint32_t name; /* of the span, of the kind of lock; PXT_NO_NAME: any, or too many */
	const struct pxt_layout *fields[PXT_USES];
	bool key_named; /* a roles file says which field is the number */
	bool is_new;    /* of a wake-up, a fork: the thread never ran before */
};

/* A line of a roles file. */
struct pxt_role_line {
	unsigned number;
	enum pxt_deed deed;
	char *event;
	char *name;
	char *fields[PXT_USES];
	bool met; /* an event of that type was read */
};

/* What the kernel tells beside its scheduler (tools/sched/sched.h). */
enum pxt_kernel_event {
	PXT_KERNEL_NONE,
	PXT_KERNEL_FAULTS,
	PXT_KERNEL_SAMPLE, /* where a thread that runs is */
	PXT_KERNEL_INTERRUPTS,
	PXT_KERNEL_DISK,
	PXT_KERNEL_FREQUENCY,
	PXT_KERNEL_THROTTLED,
	PXT_KERNEL_EVENTS
};

struct pxt_type_roles {
	bool learnt;
	bool of_kernel; /* what the kernel did with a thread is no event of its own */
	enum pxt_kernel_event kernel;
	unsigned count;
	struct pxt_role list[PXT_ROLES_OF_TYPE];
};

struct pxt_roles_book {
	bool throttles;   /* an event told of CPU time that the program's cgroup had used up */
	const char *path; /* of the roles file, or NULL */
	char *text;
	struct pxt_role_line lines[PXT_ROLE_LINES_MAX];
	unsigned line_count;
	char *names[PXT_ROLE_NAMES_MAX + 1]; /* as the log has them; NULL after the last */
	uint32_t name_count;
	bool failed;     /* a line names a field that its event does not have */
	bool own_kernel; /* hooks told of its switches: its mutexes are not those of POSIX */
	struct pxt_places *places; /* what addresses are called */
	unsigned source_count;
	struct pxt_type_roles *types; /* PXT_TYPES_MAX for each source */
};

struct pxt_roles_book *pxt_roles_new(void);
void pxt_roles_free(struct pxt_roles_book *book);

/* False, with a word to the user that names the line, when the file makes no sense. */
bool pxt_roles_read(struct pxt_roles_book *book, const char *path);

/* Once the logs are open. */
void pxt_roles_bind(struct pxt_roles_book *book, const struct pxt_reader *reader);
/* What the type of @event means; @source is the log's place in the reader. */
const struct pxt_type_roles *pxt_roles_of(
    struct pxt_roles_book *book, const struct pxt_event *event, unsigned source);
/* Says which lines name events that no log had. */
void pxt_roles_review(const struct pxt_roles_book *book, const struct pxt_reader *reader);

/* What a system event of that number means; nothing, where it means nothing here (rolesystem.c). */
void pxt_rolesystem_add(
    struct pxt_roles_book *book, struct pxt_type_roles *roles, const struct pxt_type *type);
/* Whether the event is about that at all, of what an event of its type can be about. */
bool pxt_rolesystem_applies(const struct pxt_event *event, const struct pxt_role *role);
/* Whether it has come to that: a lock is had, a thread is ready. */
bool pxt_rolesystem_is(const struct pxt_event *event, const struct pxt_role *role);
/* Whether the event says who has the lock from now on, which a futex does not. */
bool pxt_rolesystem_tells_holder(const struct pxt_event *event, const struct pxt_role *role);
/* Whether what is waited for may be given by who never had it: a semaphore, a futex. */
bool pxt_rolesystem_is_given(const struct pxt_event *event, const struct pxt_role *role);
/* Whether the lock is had beside others: for reading. */
bool pxt_rolesystem_shares(const struct pxt_event *event, const struct pxt_role *role);
/* What a lock is asked for, where there are several ways to have it: "read", "write"; else PXT_NO_NAME. */
uint32_t pxt_rolesystem_mode(
    struct pxt_roles_book *book, const struct pxt_event *event, const struct pxt_role *role);
/* The name of what a thread is blocked in, or what kind of lock it is, where the event says it. */
uint32_t pxt_rolesystem_name(
    struct pxt_roles_book *book, const struct pxt_event *event, const struct pxt_role *role);

/* The index of a name, PXT_NO_NAME when there are too many. */
uint32_t pxt_roles_name(struct pxt_roles_book *book, const char *name, size_t bytes);

/* Length of @name without the suffix that makes it a deed by convention; its whole length: none. */
size_t pxt_roles_stem(const char *name);

#endif
