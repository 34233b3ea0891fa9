/* SPDX-License-Identifier: MIT */
/*
 * schedlog.h - what the kernel recorded of threads, in the order of time, as the events of a log.
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
#include "tools/sched/schedthreads.h"
#include "tools/sched/tracepoint.h"
#include "tools/write/logwrite.h"

#include <sys/types.h>

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

#endif
