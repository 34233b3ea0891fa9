/* SPDX-License-Identifier: MIT */
/*
 * schedlog.h - what the kernel recorded of threads, in the order of time, as the events of a log; its head, its
 * threads, and how the kernel is asked.
 *
 *	sched_switch        prev_comm prev_tid prev_prio prev_state next_comm next_tid next_prio
 *	sched_waking, sched_wakeup, sched_wakeup_new   comm tid prio target_cpu
 *	sched_migrate_task  comm tid prio orig_cpu dest_cpu
 *	sched_pi_setprio    comm tid oldprio newprio
 *	sched_process_fork  parent_comm parent_tid parent_pid child_comm child_tid child_pid
 *	sched_process_exit  comm tid pid
 *	task_rename         tid oldcomm newcomm exec
 *	page_faults         count major
 *	cpu_sample          (no fields: its address is where the thread is, after each millisecond)
 *
 * page_faults tells of PXT_PERFREC_FAULTS_EACH at once, at the address of the last one; of each that waited for a
 * disk (major) alone.
 *
 * Other names and fields are those of LTTng, as in merged logs of ftrace (tools/merge/ftrace.c).  Without
 * tracepoints priorities are the last fields, as /proc said them up to a quarter of a second before,
 * else those of the thread that made it; an event ends where one is not known.  A thread's number is -1 where it is not told who it is: a
 * thread of another program.  prev_state without tracepoints is 0 (it could have run
 * on), 1 (it waits, whatever for) or 16 (it ended).
 *
 * Of a machine-wide recording only what concerns the watched threads is written: their own events, and
 * the thread that has a CPU while one of them could run there.  When that ends, the CPU is given to -1,
 * so readers do not take a thread for running whose events end there.  When it begins, -1 gives the CPU
 * to the thread that has it already, if that is known.
 */
#ifndef PXT_SCHEDLOG_H
#define PXT_SCHEDLOG_H

#include "tools/sched/perfrec.h"
#include "tools/write/logwrite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- What a log that pxtrace itself records says of its machine, process and clock ---- */

/* Ticks are the nanoseconds of CLOCK_MONOTONIC, and the log begins now. */
void pxt_schedhead_make(struct pxt_loghead *head, struct posix_trace_loginfo_np *info);
/* How the clocks stand to each other now. */
void pxt_schedhead_clock(struct pxt_logwrite *log);
uint64_t pxt_schedhead_now(void);

/*
 * The threads that the scheduler told of: who is watched, what they are called.
 *
 * An entry stays where it is as long as the table lives; a number that the system uses again gets a
 * new life in the same entry.  So there are never more than the system has numbers.
 */

#define PXT_SCHEDTHREAD_NAME 16u

struct pxt_schedthread {
	int32_t tid;
	int32_t pid; /* 0: not known yet */
	bool watched;
	bool named;
	bool has_prio;
	bool running; /* as far as it was told */
	bool ended;
	int waits_on;   /* the CPU that it could run on and does not have; -1: none */
	uint32_t epoch; /* of @running and @waits_on; an older one: not known */
	int32_t prio;   /* with @has_prio: the kernel's, smaller is more urgent */
	uint64_t asked; /* when /proc was asked for it last; 0: never */
	uint32_t index; /* in the log's table; 0: not told yet */
	char name[PXT_SCHEDTHREAD_NAME];
};

struct pxt_schedthreads {
	struct pxt_schedthread **table; /* open addressing; a power of two */
	size_t room;
	size_t count;
};

/* The entry of @tid, made where there is none; NULL: @tid is no thread's number, or there is no memory. */
struct pxt_schedthread *pxt_schedthreads_of(struct pxt_schedthreads *threads, int32_t tid);
/* NULL: there is none. */
struct pxt_schedthread *pxt_schedthreads_find(const struct pxt_schedthreads *threads, int32_t tid);
void pxt_schedthreads_free(struct pxt_schedthreads *threads);

/* What /proc says: false where it says nothing. */
bool pxt_schedthreads_ask(int32_t tid, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio);
/* The same from the line that /proc/TID/stat is: "TID (NAME) ...", where the name may hold anything. */
bool pxt_schedthreads_parse(const char *line, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio);
bool pxt_schedthreads_ask_parents(int32_t tid, int32_t *pid, int32_t *parent);

#define PXT_SCHEDLOG_CPUS   4096u
#define PXT_SCHEDLOG_NOBODY (-1) /* not told who */

struct pxt_schedlog_wish {
	const char *path; /* NULL: a log that grows in memory */
	pid_t child;      /* is watched, and all that it starts */
	bool wide;        /* records are of all threads, and switches tell both */
	bool ask;         /* /proc is asked for what records do not tell */
	bool hidden;      /* the number 0 may also be a thread of another container */
	/*
	 * More records than these bytes hold are not written, and counted; 0: no bound.  With @other, where two
	 * segments take turns, the newest are kept: between one and two of them.
	 */
	uint64_t limit;
	const char *other;
	const struct pxt_tracepoint *points; /* PXT_TRACEPOINTS of them; NULL: none */
};

struct pxt_schedlog {
	struct pxt_schedlog_wish wish;
	struct pxt_logwrite *log;
	struct pxt_schedthreads threads;
	uint64_t last_ns;
	uint32_t epoch; /* one more at each loss: what was known before is not known any more */
	uint32_t indices;
	uint64_t lost;
	uint64_t beyond;   /* of the events: written no more, or over, since @limit was reached */
	uint64_t bytes;    /* of records, in this segment */
	unsigned segments; /* that were begun before this one */
	uint64_t before;   /* events of the last one */
	int error;         /* of a segment that was ended */
	uint64_t late;     /* came when later ones had been written, and got their time */
	uint64_t switches; /* of watched threads */
	uint64_t wakes;
	bool idle_told; /* the idle thread is in the table */
	uint32_t idle_index;
	struct pxt_schedlog_cpu {
		uint32_t epoch;
		int32_t told;     /* who runs, as the log says */
		int32_t runs;     /* who runs */
		uint32_t waiting; /* watched threads that could run here */
	} cpus[PXT_SCHEDLOG_CPUS];
};

/* False: there is no memory.  What fails with the file is told by pxt_schedlog_end(). */
bool pxt_schedlog_begin(struct pxt_schedlog *log, const struct pxt_schedlog_wish *wish);
void pxt_schedlog_take(struct pxt_schedlog *log, const struct pxt_perfrec *rec);
/* @records were lost after what was taken last. */
void pxt_schedlog_loss(struct pxt_schedlog *log, uint64_t records);
/* The events that are in the log, or in both segments. */
uint64_t pxt_schedlog_events(const struct pxt_schedlog *log);
/* 0, or the first errno: then there is no log. */
int pxt_schedlog_end(struct pxt_schedlog *log);
void pxt_schedlog_abandon(struct pxt_schedlog *log);

/*
 * The kernel's records of threads: as many as it allows, in steps.
 *
 * 	PXT_SCHEDLEVEL_POINTS  all threads: switches with states and priorities, wake-ups, migrations
 * 	PXT_SCHEDLEVEL_ALL     all threads: switches
 * 	PXT_SCHEDLEVEL_OWN     the watched threads: when they run, and whether they were preempted
 * 	PXT_SCHEDLEVEL_NONE    nothing
 *
 * With any of them come page faults of user code, PXT_PERFREC_FAULTS_EACH at once; each one that waited
 * for a disk (a major one); and where a watched thread is, after each millisecond that it ran: as far as
 * the kernel counts them.
 *
 * A ring for each CPU, since the kernel fills none from two CPUs.  All of them together have at most
 * PXT_SCHEDOPEN_BYTES; fewer where the system allows fewer locked pages (perf_event_mlock_kb).
 */

#define PXT_SCHEDOPEN_BYTES  (UINT64_C(64) << 20) /* of all rings */
#define PXT_SCHEDOPEN_LARGE  (UINT64_C(4) << 20)  /* of one, at most ... */
#define PXT_SCHEDOPEN_SMALL  (UINT64_C(32) << 10) /* ... and at least */
#define PXT_SCHEDOPEN_EVENTS (4u + PXT_TRACEPOINTS)
#define PXT_SCHEDOPEN_RUNS                                                                         \
	UINT64_C(1000000) /* nanoseconds that a thread runs between two records */

enum pxt_schedlevel {
	PXT_SCHEDLEVEL_NONE,
	PXT_SCHEDLEVEL_OWN,
	PXT_SCHEDLEVEL_ALL,
	PXT_SCHEDLEVEL_POINTS
};

/* One CPU. */
struct pxt_schedcpu {
	int fds[PXT_SCHEDOPEN_EVENTS]; /* the first one's mapping has the records; -1: none */
	size_t mapped;
	struct pxt_perfring ring;
};

struct pxt_schedrings {
	enum pxt_schedlevel level;
	int all_error;    /* why not of all threads; 0 */
	int points_error; /* why no tracepoints; 0 */
	bool other_space; /* ... because numbers of threads are not the kernel's own here */
	unsigned count;
	struct pxt_schedcpu *cpus;
	uint64_t ring_bytes; /* of one CPU */
	struct pxt_tracepoint points[PXT_TRACEPOINTS];
};

/* Watches @child as far as @most and as the kernel allows.  0, or the errno of the last step. */
int pxt_schedopen(struct pxt_schedrings *rings, pid_t child, enum pxt_schedlevel most);
/* Nothing is recorded any more; what was stays to be read. */
void pxt_schedopen_stop(struct pxt_schedrings *rings);
/* How many records had no room since the begin, as the kernel counts; 0 where it does not count. */
uint64_t pxt_schedopen_lost(const struct pxt_schedrings *rings);
void pxt_schedopen_close(struct pxt_schedrings *rings);

#endif
