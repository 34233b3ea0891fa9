/* SPDX-License-Identifier: MIT */
/*
 * sched.h - the kernel's scheduler beside a program: the log that its records become, the thread that
 * reads them.
 */
#ifndef PXT_SCHED_H
#define PXT_SCHED_H

#include "tools/sched/perfrec.h"
#include "tools/write/logwrite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* What is recorded beside the scheduler, bit by bit. */
#define PXT_SCHEDGROUP_IRQ       2u
#define PXT_SCHEDGROUP_BLOCK     4u
#define PXT_SCHEDGROUP_FREQUENCY 8u
#define PXT_SCHEDGROUP_SOFTIRQ   16u /* each packet of a loopback is one, of who sends it */
#define PXT_SCHEDGROUP_ALL       30u

/*
 * ---- What the kernel recorded of threads, in the order of time, as the events of a log; its head,
 * its threads, and how the kernel is asked ----
 *
 * 	sched_switch        prev_comm prev_tid prev_prio prev_state next_comm next_tid next_prio
 * 	sched_waking, sched_wakeup, sched_wakeup_new   comm tid prio target_cpu
 * 	sched_migrate_task  comm tid prio orig_cpu dest_cpu
 * 	sched_pi_setprio    comm tid oldprio newprio
 * 	sched_process_fork  parent_comm parent_tid parent_pid child_comm child_tid child_pid
 * 	sched_process_exit  comm tid pid
 * 	task_rename         tid oldcomm newcomm exec
 * 	page_faults         count major wait_ns
 * 	cpu_sample          caller1 caller2 caller3 (its address is where the thread is, after each millisecond)
 *
 * page_faults tells of PXT_PERFREC_FAULTS_EACH at once, at the address of the last one; of each that
 * waited for a disk (major) alone, with the time that the thread was off the CPU for it, where that is known.
 *
 * Other names and fields are those of LTTng, as in merged logs of ftrace (tools/merge/ftrace.c).
 * Without tracepoints priorities are the last fields, as /proc said them up to a quarter of a second
 * before, else those of the thread that made it; an event ends where one is not known.  A thread's
 * number is -1 where it is not told who it is: a thread of another program.  prev_state without
 * tracepoints is 0 (it could have run on), 1 (it waits, whatever for) or 16 (it ended).
 *
 * Of a machine-wide recording only what concerns the watched threads is written: their own events, and
 * the thread that has a CPU while one of them could run there.  When that ends, the CPU is given to
 * -1, so readers do not take a thread for running whose events end there.  When it begins, -1 gives
 * the CPU to the thread that has it already, if that is known.
 */

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
	int waits_on;     /* the CPU that it could run on and does not have; -1: none */
	uint32_t epoch;   /* of @running, @waits_on and @stuck; an older one: not known */
	bool stuck;       /* it waits for something that no signal ends, as a disk */
	uint64_t left_ns; /* it waited from then until @back_ns, 0: no page fault's time any more */
	uint64_t back_ns;
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

/*
 * The functions that called the one in which a thread ran, innermost first, as many of PXT_SCHEDCALLERS as are known:
 * none where a binary has no tables, is for another processor, or lies in another file system.  A process that
 * has run for less than 16 milliseconds is not looked at.
 *
 * Memory: at most 2 MiB for each of 64 binaries in which threads ran; some kilobytes mostly.
 */
#define PXT_SCHEDCALLERS       3u
#define PXT_SCHEDCALLERS_KNOWN (PXT_CFI_KNOWN && sizeof(void *) == 8)
struct pxt_schedcallers;
/* NULL: there is no memory, or it cannot be known on this machine; then there are no callers. */
struct pxt_schedcallers *pxt_schedcallers_new(void);
void pxt_schedcallers_free(struct pxt_schedcallers *callers);
unsigned pxt_schedcallers_of(struct pxt_schedcallers *callers, const struct pxt_perfrec *rec,
    uint64_t found[PXT_SCHEDCALLERS]);
/* The process has ended, or executed another program. */
void pxt_schedcallers_forget(struct pxt_schedcallers *callers, int32_t pid);

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

/* An event's data. */
#define PXT_SCHEDDATA_BYTES 64u

struct pxt_scheddata {
	size_t count;
	unsigned char bytes[PXT_SCHEDDATA_BYTES];
};

static inline void pxt_scheddata_add(struct pxt_scheddata *data, const void *from, size_t count)
{
	memcpy(data->bytes + data->count, from, count);
	data->count += count;
}

static inline void pxt_scheddata_number(struct pxt_scheddata *data, int32_t number)
{
	pxt_scheddata_add(data, &number, sizeof number);
}

static inline void pxt_scheddata_name(struct pxt_scheddata *data, const char *name)
{
	char bytes[PXT_SCHEDTHREAD_NAME] = "";

	memcpy(bytes, name, strnlen(name, sizeof bytes - 1));
	pxt_scheddata_add(data, bytes, sizeof bytes);
}

/* A thread's name, and two numbers. */
static inline void pxt_scheddata_thread(
    struct pxt_scheddata *data, const char *name, int32_t one, int32_t other)
{
	pxt_scheddata_name(data, name);
	pxt_scheddata_number(data, one);
	pxt_scheddata_number(data, other);
}

/* Events, those of schedmachine.c from the gap on. */
enum {
	PXT_SCHEDLOG_SWITCH = 32,
	PXT_SCHEDLOG_WAKING,
	PXT_SCHEDLOG_WAKEUP,
	PXT_SCHEDLOG_NEW,
	PXT_SCHEDLOG_MIGRATE,
	PXT_SCHEDLOG_FORK,
	PXT_SCHEDLOG_EXIT,
	PXT_SCHEDLOG_RENAME,
	PXT_SCHEDLOG_FAULTS,
	PXT_SCHEDLOG_SAMPLE,
	PXT_SCHEDLOG_BOOST,
	PXT_SCHEDLOG_THROTTLED = 48,
	PXT_SCHEDLOG_INTERRUPTS,
	PXT_SCHEDLOG_BLOCK,
	PXT_SCHEDLOG_FREQUENCY
};

struct pxt_schedmachine;

struct pxt_schedlog {
	struct pxt_schedlog_wish wish;
	struct pxt_schedmachine *machine; /* NULL: its tracepoints are not recorded */
	uint32_t stuck;                   /* watched threads that are so */
	struct pxt_logwrite *log;
	struct pxt_schedthreads threads;
	struct pxt_schedcallers *callers; /* NULL: /proc is not asked */
	uint64_t last_ns;
	uint32_t epoch; /* one more at each loss: what was known before is not known any more */
	uint32_t indices;
	uint64_t lost;
	uint64_t beyond;   /* of the events: written no more, or over, since @limit was reached */
	uint64_t unended;  /* requests of the program to disks, of which no end was told */
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
/* NULL: @tid is no thread's, or there is no memory. */
struct pxt_schedthread *pxt_schedlog_thread(struct pxt_schedlog *log, int32_t tid);
/* Whether records tell of priorities. */
bool pxt_schedlog_has_prio(const struct pxt_schedlog *log);
/* "": it is not known, not by /proc either. */
const char *pxt_schedlog_name(struct pxt_schedlog *log, struct pxt_schedthread *thread);
/* It has a name, or another one, of which a rename also tells the log. */
void pxt_schedlog_call(struct pxt_schedthread *thread, const char *name);
void pxt_schedlog_rename(
    struct pxt_schedlog *log, struct pxt_schedthread *thread, const char *name);
/* An event of thread @tid, at the time and CPU of @rec. */
void pxt_schedlog_put(struct pxt_schedlog *log, const struct pxt_perfrec *rec, trace_event_id_t id,
    int32_t tid, const struct pxt_scheddata *data);

/*
 * ---- What the machine did meanwhile (schedmachine.c) ----
 *
 * 	interrupts     ns count longest: of a thread that was interrupted, up to a millisecond of them
 * 	block_io       ns bytes error dev sector rwbs: a request to a disk, at its end, of the thread that gave it
 * 	cpu_frequency  khz: of the CPU, told where a thread of the program runs
 * 	cpu_throttled  ns within_ns times: of a process whose cgroup, or one around that, had used up its CPU time,
 * 	               and was kept from running for @ns within that time before, on all CPUs together
 */

/* False: there is no memory. */
bool pxt_schedmachine_begin(struct pxt_schedlog *log);
void pxt_schedmachine_take(struct pxt_schedlog *log, const struct pxt_perfrec *rec,
    enum pxt_tracepoint_kind kind, const struct pxt_tracepoint_said *said);
/* Another thread is about to have the CPU of @rec, or (@entered) @to has it now. */
void pxt_schedmachine_switch(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, int32_t to, bool entered);
/* Nothing that began is followed any more: after a loss, or at the end. */
void pxt_schedmachine_forget(struct pxt_schedlog *log);
/* Whether the kernel tells this machine's frequencies. */
bool pxt_schedmachine_has_frequency(void);

/*
 * ---- CPU time of cgroups (throttles.c) ----
 *
 * How often and how long the kernel kept processes from running, as their cgroups had used up their share of CPU time
 * (cpu.max, cpu.cfs_quota_us): this process' own cgroup, those of watched processes, and those around them.
 *
 * Bound: 32 cgroups; 64 processes; in a look 8 processes are asked where they are.
 */
struct pxt_throttle {
	uint64_t times;
	uint64_t ns; /* of all CPUs together */
};

struct pxt_throttles;
/* NULL: nobody says, or there is no memory. */
struct pxt_throttles *pxt_throttles_new(void);
void pxt_throttles_free(struct pxt_throttles *throttles);
/* Where the program's processes are now, as many as one look has time for. */
void pxt_throttles_ask(struct pxt_throttles *throttles, const struct pxt_schedlog *log);
/* True: there was something since the last look.  @all: since the begin. */
bool pxt_throttles_look(struct pxt_throttles *throttles, struct pxt_throttle *all);
/* An event of what looks found between the two times, for each process. */
void pxt_throttles_tell(
    struct pxt_throttles *throttles, struct pxt_schedlog *log, uint64_t from_ns, uint64_t now_ns);
void pxt_throttles_put(struct pxt_schedlog *log, int32_t pid, const struct pxt_throttle *meanwhile,
    uint64_t from_ns, uint64_t now_ns);

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
int pxt_schedopen(
    struct pxt_schedrings *rings, pid_t child, enum pxt_schedlevel most, unsigned groups);
/* Nothing is recorded any more; what was stays to be read. */
void pxt_schedopen_stop(struct pxt_schedrings *rings);
/* How many records had no room since the begin, as the kernel counts; 0 where it does not count. */
uint64_t pxt_schedopen_lost(const struct pxt_schedrings *rings);
void pxt_schedopen_close(struct pxt_schedrings *rings);

/*
 * ---- A program's threads as the kernel's scheduler sees them, beside the program, into a log of its
 * own (sched.h says which events), which `pxtrace merge` brings onto one line of time with the
 * program's own ----
 *
 * 	pid = fork();                 the child waits for a byte, say, before it calls exec
 * 	file = { .path = "run.sched.ptl" };
 * 	watch = pxt_schedwatch_open(pid, &file, PXT_SCHEDLEVEL_POINTS, &told);
 * 	if (pxt_schedsay_missing(&say, &told))  what is not recorded, and what would allow it: once
 * 	...the child may go on...
 * 	poll() of pxt_schedwatch_fd(watch) and whatever else, PXT_SCHEDWATCH_MS at most, then
 * 	    pxt_schedwatch_poll(watch);
 * 	error = pxt_schedwatch_end(watch, &told);
 *
 * All functions are for one thread.  The child may be anybody's program: static, setuid (whose records
 * end with its exec unless the caller is root), or one that closes all descriptors.  Nothing of this
 * is in it.
 *
 * Memory: the rings (sched.h), 64 KiB a CPU, and 64 bytes a thread.
 */

#define PXT_SCHEDWATCH_MS 100 /* how often it wants to be polled */

#define PXT_SCHEDTOLD_UNKNOWN 99

/* What is recorded, and what became of it. */
struct pxt_schedtold {
	enum pxt_schedlevel level;
	int error;        /* why nothing is recorded, an errno; 0 */
	int all_error;    /* why not of all threads; 0 */
	int points_error; /* why no tracepoints; 0 */
	bool other_space; /* ... because this is a container with its own numbers of threads */
	int paranoid;     /* kernel.perf_event_paranoid; -1 to 4, or PXT_SCHEDTOLD_UNKNOWN */
	unsigned cpus;
	uint64_t ring_bytes; /* of one CPU */
	/* After the end: */
	uint64_t events;   /* in the log */
	uint64_t switches; /* of watched threads */
	uint64_t wakes;
	uint64_t lost;     /* records that had no room, told to the log where they are missing */
	uint64_t beyond;   /* events that had no room in the file, or were overwritten there */
	uint64_t unended;  /* requests of the program to disks, of which the kernel told no end */
	unsigned segments; /* 2: the older events are in the other file */
	/* Records that came too late for their place: written with the time before. */
	uint64_t late;
	uint64_t broken; /* bytes that were no record */
};

struct pxt_schedwatch;

/* Where it is recorded. */
struct pxt_schedwatch_file {
	const char *path; /* NULL: in memory (pxt_schedwatch_memory()) */
	uint64_t limit;   /* bytes of records; 0: no bound */
	unsigned groups;  /* beside the scheduler's: PXT_SCHEDGROUP_... */
	const char *
	    other; /* with it, both take turns, and the newest events are kept; NULL: the first are */
};

/*
 * Begins to watch @child, a process that does not run yet, and all that it will start.  @path gets the
 * log when it ends.  @most: no more than this (PXT_SCHEDLEVEL_POINTS: all that can be had).  NULL:
 * nothing is recorded, @told->error says why.
 */
struct pxt_schedwatch *pxt_schedwatch_open(pid_t child, const struct pxt_schedwatch_file *file,
    enum pxt_schedlevel most, struct pxt_schedtold *told);
/* Readable (POLLIN) when a ring is a quarter full; stays the same. */
int pxt_schedwatch_fd(const struct pxt_schedwatch *watch);
/* Of a log in memory: its descriptor, until the end; -1: there is none. */
int pxt_schedwatch_memory(const struct pxt_schedwatch *watch);
/* Takes what is there, but for the last moments, since CPUs may tell theirs late.  0, or the log's errno. */
int pxt_schedwatch_poll(struct pxt_schedwatch *watch);
/* From now on each poll looks whether cgroups have used up their CPU time.  They stay the caller's; NULL: none. */
void pxt_schedwatch_throttles(struct pxt_schedwatch *watch, struct pxt_throttles *throttles);
/* Takes all and closes the log.  0, or its errno: then there is no log.  @told is filled anew; NULL is allowed. */
int pxt_schedwatch_end(struct pxt_schedwatch *watch, struct pxt_schedtold *told);
/* The same without a log; also in a child process, which must not go on watching. */
void pxt_schedwatch_abandon(struct pxt_schedwatch *watch);

/* ---- What is not recorded, in a sentence ---- */

struct pxt_schedsay {
	char what[160]; /* for pxt_complain(): what is not recorded, and why */
	char how[160];  /* for pxt_explain(): the line that would allow it; "": there is none */
};

/* False: all that the kernel has is recorded, and there is nothing to say. */
bool pxt_schedsay_missing(struct pxt_schedsay *say, const struct pxt_schedtold *told);

#endif
