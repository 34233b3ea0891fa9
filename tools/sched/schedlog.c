/* SPDX-License-Identifier: MIT */
/* schedlog.c - the log of the scheduler's events: its threads, its one or two files, what the kernel lost; see sched.h. */
#include "tools/sched/sched.h"

#include "tools/output/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a record beside its data, on average: its begin slot, its context, and what slots leave empty. */
#define RECORD_BYTES 48u
#define ASK_NS       UINT64_C(250000000) /* what /proc said is good for that long */

/* ---- Threads ---- */

bool pxt_schedlog_has_prio(const struct pxt_schedlog *log)
{
	return log->wish.points && log->wish.points[PXT_TRACEPOINT_SWITCH].known;
}

void pxt_schedlog_call(struct pxt_schedthread *thread, const char *name)
{
	memset(thread->name, 0, sizeof thread->name);
	memcpy(thread->name, name, strnlen(name, sizeof thread->name - 1));
	thread->named = true;
}

/* After a loss the record of its begin may be missing: whose it is can be asked. */
static void adopt(struct pxt_schedlog *log, struct pxt_schedthread *thread)
{
	int32_t pid;
	int32_t parent;

	if (!pxt_schedthreads_ask_parents(thread->tid, &pid, &parent))
		return;
	const struct pxt_schedthread *leader = pxt_schedthreads_find(&log->threads, pid);
	const struct pxt_schedthread *above = pxt_schedthreads_find(&log->threads, parent);
	thread->pid = pid;
	thread->watched = (leader && leader->watched) || (above && above->watched);
}

struct pxt_schedthread *pxt_schedlog_thread(struct pxt_schedlog *log, int32_t tid)
{
	size_t before = log->threads.count;
	struct pxt_schedthread *thread = pxt_schedthreads_of(&log->threads, tid);

	if (!thread)
		return NULL;
	bool made = log->threads.count != before;
	if (made && !log->wish.wide)
		thread->watched = true;
	if (made && log->wish.wide && log->wish.ask && log->epoch > 0)
		adopt(log, thread);
	if (thread->epoch != log->epoch) {
		thread->epoch = log->epoch;
		thread->running = false;
		thread->waits_on = -1;
		thread->stuck = false;
		thread->left_ns = 0;
	}
	return thread;
}

/* What /proc says, where no record told it; of a priority from time to time, for it may change. */
static void ask(struct pxt_schedlog *log, struct pxt_schedthread *thread, uint64_t ns)
{
	char name[PXT_SCHEDTHREAD_NAME];
	int32_t prio;
	bool wanted = !thread->named || !pxt_schedlog_has_prio(log);

	if (!log->wish.ask || !wanted || thread->ended ||
	    (thread->asked != 0 && ns < thread->asked + ASK_NS))
		return;
	thread->asked = ns;
	if (!pxt_schedthreads_ask(thread->tid, name, &prio))
		return;
	if (!thread->named)
		pxt_schedlog_call(thread, name);
	thread->prio = prio;
	thread->has_prio = true;
}

const char *pxt_schedlog_name(struct pxt_schedlog *log, struct pxt_schedthread *thread)
{
	ask(log, thread, log->last_ns);
	return thread->named ? thread->name : "";
}

static void tell_thread(
    struct pxt_schedlog *log, uint32_t index, int32_t tid, int32_t pid, const char *name)
{
	struct posix_trace_logthread_np entry = {
		.posix_thread_np = PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)tid,
		.posix_pid_np = pid,
		.posix_tid_np = tid,
	};

	if (index == PXT_LOGWRITE_NO_INDEX)
		return;
	memcpy(entry.posix_name_np, name, strnlen(name, sizeof entry.posix_name_np - 1));
	pxt_logwrite_thread(log->log, index, &entry);
}

void pxt_schedlog_rename(struct pxt_schedlog *log, struct pxt_schedthread *thread, const char *name)
{
	pxt_schedlog_call(thread, name);
	if (thread->index != 0)
		tell_thread(log, thread->index, thread->tid, thread->pid, thread->name);
}

static uint32_t next_index(struct pxt_schedlog *log)
{
	return log->indices < PXT_LOGWRITE_THREADS ? ++log->indices : PXT_LOGWRITE_NO_INDEX;
}

static uint32_t index_of(struct pxt_schedlog *log, struct pxt_schedthread *thread)
{
	if (thread->index == 0) {
		thread->index = next_index(log);
		tell_thread(
		    log, thread->index, thread->tid, thread->pid, pxt_schedlog_name(log, thread));
	}
	return thread->index;
}

static uint32_t idle_index(struct pxt_schedlog *log)
{
	if (!log->idle_told) {
		log->idle_told = true;
		log->idle_index = next_index(log);
		tell_thread(log, log->idle_index, 0, 0, "idle");
	}
	return log->idle_index;
}

/* ---- Segments ---- */

static void tell_types(struct pxt_schedlog *log)
{
	static const char wake[] = "char[16] comm, i32 tid, i32 prio, i32 target_cpu";
	const struct {
		trace_event_id_t id;
		const char *name;
		const char *format;
	} types[] = {
		{ PXT_SCHEDLOG_SWITCH, "sched_switch",
		    pxt_schedlog_has_prio(log)
		        ? "char[16] prev_comm, i32 prev_tid, i32 prev_prio, i64 prev_state, "
		          "char[16] next_comm, i32 next_tid, i32 next_prio"
		        : "char[16] prev_comm, i32 prev_tid, i64 prev_state, char[16] next_comm, "
		          "i32 next_tid, i32 prev_prio, i32 next_prio" },
		{ PXT_SCHEDLOG_WAKING, "sched_waking", wake },
		{ PXT_SCHEDLOG_WAKEUP, "sched_wakeup", wake },
		{ PXT_SCHEDLOG_NEW, "sched_wakeup_new", wake },
		{ PXT_SCHEDLOG_MIGRATE, "sched_migrate_task",
		    "char[16] comm, i32 tid, i32 prio, i32 orig_cpu, i32 dest_cpu" },
		{ PXT_SCHEDLOG_FORK, "sched_process_fork",
		    "char[16] parent_comm, i32 parent_tid, i32 parent_pid, char[16] child_comm, "
		    "i32 child_tid, i32 child_pid" },
		{ PXT_SCHEDLOG_EXIT, "sched_process_exit", "char[16] comm, i32 tid, i32 pid" },
		{ PXT_SCHEDLOG_RENAME, "task_rename",
		    "i32 tid, char[16] oldcomm, char[16] newcomm, u8 exec" },
		{ PXT_SCHEDLOG_FAULTS, "page_faults", "u32 count, u8 major, u64 wait_ns" },
		{ PXT_SCHEDLOG_SAMPLE, "cpu_sample", "x64 caller1, x64 caller2, x64 caller3" },
		{ PXT_SCHEDLOG_BOOST, "sched_pi_setprio",
		    "char[16] comm, i32 tid, i32 oldprio, i32 newprio" },
		{ PXT_SCHEDLOG_THROTTLED, "cpu_throttled", "u64 ns, u64 within_ns, u64 times" },
		{ PXT_SCHEDLOG_INTERRUPTS, "interrupts", "u64 ns, u32 count, char[16] longest" },
		{ PXT_SCHEDLOG_BLOCK, "block_io",
		    "u64 ns, u32 bytes, i32 error, x32 dev, u64 sector, char[16] rwbs" },
		{ PXT_SCHEDLOG_FREQUENCY, "cpu_frequency", "u32 khz" },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (log->machine || types[i].id <= PXT_SCHEDLOG_THROTTLED)
			pxt_logwrite_type(log->log, types[i].id, types[i].name, types[i].format);
}

static const char *path_of(const struct pxt_schedlog *log, unsigned segment)
{
	return segment % 2 == 0 ? log->wish.path : log->wish.other;
}

/* A log of the same stream: all that it needs to be read alone. */
static struct pxt_logwrite *begin_segment(struct pxt_schedlog *log)
{
	struct posix_trace_loginfo_np info;
	struct pxt_loghead head;

	pxt_schedhead_make(&head, &info);
	const char *path = path_of(log, log->segments);
	log->log = pxt_logwrite_begin(path, path ? PXT_LOG_WHOLE : PXT_LOG_MEMORY, &head);
	if (!log->log)
		return NULL;
	pxt_logwrite_process(log->log, &info);
	tell_types(log);
	return log->log;
}

static int end_segment(struct pxt_schedlog *log)
{
	pxt_schedhead_clock(log->log);
	return pxt_logwrite_end(log->log, NULL);
}

/* Threads have no places in a new table, and who has a CPU is told once more. */
static void forget_told(struct pxt_schedlog *log)
{
	for (size_t i = 0; i < log->threads.room; i++)
		if (log->threads.table[i])
			log->threads.table[i]->index = 0;
	for (unsigned cpu = 0; cpu < PXT_SCHEDLOG_CPUS; cpu++)
		log->cpus[cpu].told = PXT_SCHEDLOG_NOBODY;
	log->indices = 0;
	log->idle_told = false;
}

/* The segment before this one makes room for the next.  False: the file, or memory, failed. */
static bool turn(struct pxt_schedlog *log)
{
	struct pxt_logwrite *full = log->log;
	uint64_t events = pxt_logwrite_events(full);
	int error = end_segment(log);

	log->error = log->error ? log->error : error;
	log->beyond += log->before;
	log->before = events;
	log->bytes = 0;
	log->segments++;
	/* Its room is wanted before the new segment takes its name. */
	if (log->segments > 1)
		(void)unlink(path_of(log, log->segments));
	forget_told(log);
	if (!begin_segment(log))
		log->error = log->error ? log->error : ENOMEM;
	return log->log != NULL;
}

static bool has_room(struct pxt_schedlog *log)
{
	if (log->log && (log->wish.limit == 0 || log->bytes < log->wish.limit))
		return true;
	if (log->log && log->wish.other)
		return turn(log);
	log->beyond++;
	return false;
}

/* ---- Events ---- */

void pxt_schedlog_put(struct pxt_schedlog *log, const struct pxt_perfrec *rec, trace_event_id_t id,
    int32_t tid, const struct pxt_scheddata *data)
{
	struct pxt_logevent event = {
		.id = id, .cpu = rec->cpu, .data = data->bytes, .bytes = data->count
	};
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, tid);

	if (!has_room(log))
		return;
	if (rec->ns < log->last_ns)
		log->late++;
	else
		log->last_ns = rec->ns;
	event.ticks = log->last_ns;
	event.address = rec->address;
	if (thread) {
		event.thread_index = index_of(log, thread);
		event.pid = thread->pid;
	} else if (tid == 0) {
		event.thread_index = idle_index(log);
	}
	if (event.thread_index == PXT_LOGWRITE_NO_INDEX)
		event.thread = PXT_LOGWRITE_KERNEL_THREAD + (uint32_t)tid;
	pxt_logwrite_event(log->log, &event);
	log->bytes += RECORD_BYTES + data->count;
}

/* ---- All ---- */

bool pxt_schedlog_begin(struct pxt_schedlog *log, const struct pxt_schedlog_wish *wish)
{
	*log = (struct pxt_schedlog){ .wish = *wish };
	/* No CPU is told yet, nor any thread. */
	for (unsigned cpu = 0; cpu < PXT_SCHEDLOG_CPUS; cpu++)
		log->cpus[cpu].told = log->cpus[cpu].runs = PXT_SCHEDLOG_NOBODY;
	if (!pxt_schedmachine_begin(log) || !begin_segment(log)) {
		free(log->machine);
		return false;
	}
	struct pxt_schedthread *child = pxt_schedthreads_of(&log->threads, wish->child);
	if (!child) {
		pxt_schedlog_abandon(log);
		return false;
	}
	log->callers = wish->ask ? pxt_schedcallers_new() : NULL;
	child->watched = true;
	child->pid = wish->child;
	/* While it is there; of what it starts, nobody may come to ask in time. */
	ask(log, child, log->last_ns);
	child->named = false;
	return true;
}

void pxt_schedlog_loss(struct pxt_schedlog *log, uint64_t records)
{
	if (records == 0)
		return;
	log->lost += records;
	log->epoch++;
	pxt_schedmachine_forget(log);
	if (log->log)
		pxt_logwrite_loss(log->log, records);
}

uint64_t pxt_schedlog_events(const struct pxt_schedlog *log)
{
	return log->before + (log->log ? pxt_logwrite_events(log->log) : 0);
}

int pxt_schedlog_end(struct pxt_schedlog *log)
{
	int error = log->error;

	if (log->log && log->lost > 0) {
		struct posix_trace_lognote_np note;

		pxt_logwrite_lossnote(&note, PXT_LOSSNOTE_SCHED, log->lost);
		pxt_logwrite_note(log->log, &note);
	}
	if (log->log && !log->wish.other)
		pxt_logwrite_loss(log->log, log->beyond);
	if (log->log) {
		int last = end_segment(log);

		error = error ? error : last;
	}
	log->log = NULL;
	pxt_schedthreads_free(&log->threads);
	pxt_schedcallers_free(log->callers);
	free(log->machine);
	return error;
}

void pxt_schedlog_abandon(struct pxt_schedlog *log)
{
	if (log->log)
		pxt_logwrite_abandon(log->log);
	for (unsigned i = 0; i < log->segments && i < 2; i++)
		(void)unlink(path_of(log, log->segments - 1u - i));
	log->log = NULL;
	pxt_schedthreads_free(&log->threads);
	pxt_schedcallers_free(log->callers);
	free(log->machine);
}
