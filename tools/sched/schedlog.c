/* SPDX-License-Identifier: MIT */
/* schedlog.c - from records of the kernel to events of a log, what the kernel lost included; see sched.h. */
#include "tools/sched/sched.h"

#include "tools/output/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_WAITS   INT64_C(0x1)
#define STATE_STUCK   INT64_C(0x2)
#define STATE_ENDED   INT64_C(0x10)
/* Of a record beside its data, on average: its begin slot, its context, and what slots leave empty. */
#define RECORD_BYTES  48u
#define IDLE_PRIO     120                 /* as the kernel says */
#define ASK_NS        UINT64_C(250000000) /* what /proc said is good for that long */
#define FAULT_ENDS_NS UINT64_C(200000)    /* so long a page fault takes once its page is there */

enum {
	ID_SWITCH = 32,
	ID_WAKING,
	ID_WAKEUP,
	ID_NEW,
	ID_MIGRATE,
	ID_FORK,
	ID_EXIT,
	ID_RENAME,
	ID_FAULTS,
	ID_SAMPLE,
	ID_BOOST
};

static const trace_event_id_t wake_ids[PXT_TRACEPOINTS] = { [PXT_TRACEPOINT_WAKING] = ID_WAKING,
	[PXT_TRACEPOINT_WAKEUP] = ID_WAKEUP,
	[PXT_TRACEPOINT_NEW] = ID_NEW };

/* ---- Data ---- */

static void pack_name(struct pxt_scheddata *data, const char *name)
{
	char bytes[PXT_SCHEDTHREAD_NAME] = "";

	memcpy(bytes, name, strnlen(name, sizeof bytes - 1));
	pxt_scheddata_add(data, bytes, sizeof bytes);
}

static void pack_number(struct pxt_scheddata *data, int32_t number)
{
	pxt_scheddata_add(data, &number, sizeof number);
}

/* ---- Threads ---- */

/* Whether records tell of priorities. */
static bool has_prio(const struct pxt_schedlog *log)
{
	return log->wish.points && log->wish.points[PXT_TRACEPOINT_SWITCH].known;
}

static void give_name(struct pxt_schedthread *thread, const char *name)
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

static struct pxt_schedthread *thread_of(struct pxt_schedlog *log, int32_t tid)
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
	bool wanted = !thread->named || !has_prio(log);

	if (!log->wish.ask || !wanted || thread->ended ||
	    (thread->asked != 0 && ns < thread->asked + ASK_NS))
		return;
	thread->asked = ns;
	if (!pxt_schedthreads_ask(thread->tid, name, &prio))
		return;
	if (!thread->named)
		give_name(thread, name);
	thread->prio = prio;
	thread->has_prio = true;
}

static const char *name_of(struct pxt_schedlog *log, struct pxt_schedthread *thread)
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

static uint32_t next_index(struct pxt_schedlog *log)
{
	return log->indices < PXT_LOGWRITE_THREADS ? ++log->indices : PXT_LOGWRITE_NO_INDEX;
}

static uint32_t index_of(struct pxt_schedlog *log, struct pxt_schedthread *thread)
{
	if (thread->index == 0) {
		thread->index = next_index(log);
		tell_thread(log, thread->index, thread->tid, thread->pid, name_of(log, thread));
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
		{ ID_SWITCH, "sched_switch",
		    has_prio(log)
		        ? "char[16] prev_comm, i32 prev_tid, i32 prev_prio, i64 prev_state, "
		          "char[16] next_comm, i32 next_tid, i32 next_prio"
		        : "char[16] prev_comm, i32 prev_tid, i64 prev_state, char[16] next_comm, "
		          "i32 next_tid, i32 prev_prio, i32 next_prio" },
		{ ID_WAKING, "sched_waking", wake },
		{ ID_WAKEUP, "sched_wakeup", wake },
		{ ID_NEW, "sched_wakeup_new", wake },
		{ ID_MIGRATE, "sched_migrate_task",
		    "char[16] comm, i32 tid, i32 prio, i32 orig_cpu, i32 dest_cpu" },
		{ ID_FORK, "sched_process_fork",
		    "char[16] parent_comm, i32 parent_tid, i32 parent_pid, char[16] child_comm, "
		    "i32 child_tid, i32 child_pid" },
		{ ID_EXIT, "sched_process_exit", "char[16] comm, i32 tid, i32 pid" },
		{ ID_RENAME, "task_rename",
		    "i32 tid, char[16] oldcomm, char[16] newcomm, u8 exec" },
		{ ID_FAULTS, "page_faults", "u32 count, u8 major, u64 wait_ns" },
		{ ID_SAMPLE, "cpu_sample", "x64 caller1, x64 caller2, x64 caller3" },
		{ ID_BOOST, "sched_pi_setprio",
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
	struct pxt_schedthread *thread = thread_of(log, tid);

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

/* One side of a switch. */
struct side {
	int32_t tid;
	int32_t prio;
	bool has_prio;
	char name[PXT_SCHEDTHREAD_NAME];
};

static const struct side nobody = { .tid = PXT_SCHEDLOG_NOBODY, .has_prio = true };

/* Who ran is a number; of CPU @cpu, whose idle thread has a name of its own. */
static struct side side_of(struct pxt_schedlog *log, int32_t tid, int cpu)
{
	struct side side = { .tid = tid, .has_prio = tid == PXT_SCHEDLOG_NOBODY };
	struct pxt_schedthread *thread = thread_of(log, tid);

	if (thread) {
		memcpy(side.name, name_of(log, thread), strlen(name_of(log, thread)));
		side.prio = thread->prio;
		side.has_prio = thread->has_prio;
	} else if (tid == 0) {
		(void)snprintf(side.name, sizeof side.name, "swapper/%d", cpu);
		side.prio = IDLE_PRIO;
		side.has_prio = true;
	}
	return side;
}

static void put_switch(struct pxt_schedlog *log, const struct pxt_perfrec *rec, int32_t by,
    const struct side *from, int64_t state, const struct side *to)
{
	struct pxt_scheddata data = { .count = 0 };

	pack_name(&data, from->name);
	pack_number(&data, from->tid);
	if (has_prio(log))
		pack_number(&data, from->prio);
	pxt_scheddata_add(&data, &state, sizeof state);
	pack_name(&data, to->name);
	pack_number(&data, to->tid);
	if (has_prio(log)) {
		pack_number(&data, to->prio);
	} else if (from->has_prio && (to->has_prio || from->tid > 0)) {
		/* Fields at the end are left out where they are not known. */
		pack_number(&data, from->prio);
		if (to->has_prio)
			pack_number(&data, to->prio);
	}
	pxt_schedlog_put(log, rec, ID_SWITCH, by, &data);
}

/* ---- CPUs ---- */

static struct pxt_schedlog_cpu *cpu_of(struct pxt_schedlog *log, int cpu)
{
	if (cpu < 0 || cpu >= (int)PXT_SCHEDLOG_CPUS)
		return NULL;
	struct pxt_schedlog_cpu *on = &log->cpus[cpu];
	if (on->epoch != log->epoch)
		*on = (struct pxt_schedlog_cpu){ .epoch = log->epoch,
			.told = PXT_SCHEDLOG_NOBODY,
			.runs = PXT_SCHEDLOG_NOBODY };
	return on;
}

static void stop_waiting(struct pxt_schedlog *log, struct pxt_schedthread *thread)
{
	struct pxt_schedlog_cpu *on = cpu_of(log, thread->waits_on);

	if (on && on->waiting > 0)
		on->waiting--;
	thread->waits_on = -1;
}

/* Now it matters who has the CPU, who may have it for long. */
static void begin_waiting(struct pxt_schedlog *log, const struct pxt_perfrec *rec,
    struct pxt_schedthread *thread, int cpu)
{
	struct pxt_schedlog_cpu *on = cpu_of(log, cpu);

	stop_waiting(log, thread);
	if (!on)
		return;
	thread->waits_on = cpu;
	on->waiting++;
	if (on->told != PXT_SCHEDLOG_NOBODY)
		return;
	struct pxt_perfrec there = *rec;
	there.cpu = cpu;
	const struct side to = side_of(log, on->runs, cpu);
	put_switch(log, &there, PXT_SCHEDLOG_NOBODY, &nobody, 0, &to);
	on->told = on->runs;
}

/* ---- Switches ---- */

/* It waits, or does so no more. */
static void set_stuck(struct pxt_schedlog *log, struct pxt_schedthread *thread, bool stuck)
{
	if (thread->stuck != stuck)
		log->stuck = stuck ? log->stuck + 1 : log->stuck - (log->stuck > 0);
	thread->stuck = stuck;
}

static void leave(
    struct pxt_schedlog *log, struct pxt_schedthread *thread, int cpu, int64_t state, uint64_t ns)
{
	struct pxt_schedlog_cpu *on = cpu_of(log, cpu);

	if (!thread)
		return;
	thread->running = false;
	if (state != 0)
		thread->left_ns = ns;
	if (thread->watched)
		set_stuck(log, thread, (state & STATE_STUCK) != 0);
	if (!thread->watched || (state & 0xff) != 0 || !on)
		return;
	stop_waiting(log, thread);
	thread->waits_on = cpu;
	on->waiting++;
}

static void enter(struct pxt_schedlog *log, struct pxt_schedthread *thread, uint64_t ns)
{
	if (!thread)
		return;
	thread->running = true;
	thread->back_ns = ns;
	set_stuck(log, thread, false);
	stop_waiting(log, thread);
}

static void take_switch(struct pxt_schedlog *log, const struct pxt_perfrec *rec, struct side *from,
    int64_t state, struct side *to)
{
	struct pxt_schedlog_cpu *on = cpu_of(log, rec->cpu);
	struct pxt_schedthread *left = thread_of(log, from->tid);
	struct pxt_schedthread *entered = thread_of(log, to->tid);
	bool own = (left && left->watched) || (entered && entered->watched);

	if (!on)
		return;
	log->switches += own;
	pxt_schedmachine_switch(log, rec, to->tid, false);
	if (own || on->waiting > 0) {
		put_switch(log, rec, from->tid, from, state, to);
		on->told = to->tid;
	} else if (on->told != PXT_SCHEDLOG_NOBODY) {
		put_switch(log, rec, from->tid, from, state, &nobody);
		on->told = PXT_SCHEDLOG_NOBODY;
	}
	on->runs = to->tid;
	leave(log, left, rec->cpu, state, rec->ns);
	enter(log, entered, rec->ns);
	pxt_schedmachine_switch(log, rec, to->tid, true);
}

static void learn_pid(struct pxt_schedlog *log, int32_t tid, int32_t pid)
{
	struct pxt_schedthread *thread = thread_of(log, tid);

	if (thread && pid > 0)
		thread->pid = pid;
}

static int64_t state_after(
    const struct pxt_schedlog *log, const struct pxt_perfrec *rec, int32_t tid)
{
	const struct pxt_schedthread *thread = pxt_schedthreads_find(&log->threads, tid);

	if (rec->preempted)
		return 0;
	return thread && thread->ended ? STATE_ENDED : STATE_WAITS;
}

/* A number of perf_event_open(2), as it is in the log. */
static int32_t number_of(const struct pxt_schedlog *log, int32_t tid)
{
	return tid < 0 || (tid == 0 && log->wish.hidden) ? PXT_SCHEDLOG_NOBODY : tid;
}

/*
 * Two records tell of each switch, and a tracepoint before them where there is one.  One of them may be
 * missing: where the kernel does not record in its idle thread, say.  So each is taken that tells
 * anything new of who runs.
 */
static void take_wide(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedlog_cpu *on = cpu_of(log, rec->cpu);
	bool out = rec->kind == PXT_PERFREC_OUT;
	int32_t self = number_of(log, rec->tid);
	int32_t other = number_of(log, rec->other_tid);

	if (!on)
		return;
	learn_pid(log, self, rec->pid);
	learn_pid(log, other, rec->other_pid);
	int32_t next = out ? other : self;
	/* Who is dead already has no number any more: a tracepoint told it, and IN tells nothing. */
	if (next == PXT_SCHEDLOG_NOBODY ? !out || has_prio(log) : on->runs == next)
		return;
	int32_t before = out ? self : other;
	if (before == PXT_SCHEDLOG_NOBODY)
		before = on->runs;
	struct side from = side_of(log, before, rec->cpu);
	struct side to = side_of(log, next, rec->cpu);
	take_switch(log, rec, &from, before == 0 ? 0 : state_after(log, rec, before), &to);
}

/* Events say when watched threads run, and not which other threads run. */
static void take_own(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct side self = side_of(log, rec->tid, rec->cpu);
	struct pxt_schedthread *thread = thread_of(log, rec->tid);

	if (!thread)
		return;
	log->switches++;
	learn_pid(log, rec->tid, rec->pid);
	thread->running = rec->kind == PXT_PERFREC_IN;
	if (thread->running)
		thread->back_ns = rec->ns;
	else if (!rec->preempted)
		thread->left_ns = rec->ns;
	if (thread->running)
		put_switch(log, rec, rec->tid, &nobody, 0, &self);
	else
		put_switch(log, rec, rec->tid, &self, state_after(log, rec, rec->tid), &nobody);
}

/* ---- Threads that begin and end ---- */

static void take_fork(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *parent = thread_of(log, rec->other_tid);
	struct pxt_schedthread *child = thread_of(log, rec->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!child)
		return;
	/* The number may have been another thread's. */
	stop_waiting(log, child);
	child->index = 0;
	child->ended = child->named = child->running = false;
	child->asked = 0;
	/* It has its parent's until it, or /proc, says something else. */
	child->has_prio = parent && parent->has_prio;
	child->prio = parent ? parent->prio : 0;
	child->pid = rec->pid;
	child->watched = !log->wish.wide || (parent && parent->watched);
	if (parent && parent->named)
		give_name(child, parent->name);
	if (!child->watched)
		return;
	struct side from = side_of(log, rec->other_tid, rec->cpu);
	struct side made = side_of(log, rec->tid, rec->cpu);
	pack_name(&data, from.name);
	pack_number(&data, rec->other_tid);
	pack_number(&data, rec->other_pid);
	pack_name(&data, made.name);
	pack_number(&data, rec->tid);
	pack_number(&data, rec->pid);
	pxt_schedlog_put(log, rec, ID_FORK, rec->other_tid, &data);
}

/* A thread whose events end with it: nobody tells when it left the CPU for ever. */
static void end_own(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = thread_of(log, rec->tid);
	struct side self = side_of(log, rec->tid, rec->cpu);

	if (!thread || !thread->running)
		return;
	thread->running = false;
	put_switch(log, rec, rec->tid, &self, STATE_ENDED, &nobody);
}

static void take_exit(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = thread_of(log, rec->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!thread || thread->ended)
		return;
	thread->ended = true;
	if (!thread->watched)
		return;
	pack_name(&data, name_of(log, thread));
	pack_number(&data, rec->tid);
	pack_number(&data, rec->pid);
	pxt_schedlog_put(log, rec, ID_EXIT, rec->tid, &data);
	if (rec->tid == rec->pid)
		pxt_schedcallers_forget(log->callers, rec->pid);
	if (!log->wish.wide)
		end_own(log, rec);
}

static void take_name(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = thread_of(log, rec->tid);
	const unsigned char exec = rec->exec;
	struct pxt_scheddata data = { .count = 0 };

	if (!thread)
		return;
	learn_pid(log, rec->tid, rec->pid);
	if (rec->exec)
		pxt_schedcallers_forget(log->callers, rec->pid);
	if (thread->watched) {
		pack_number(&data, rec->tid);
		/* /proc has the new one by now. */
		pack_name(&data, thread->named ? thread->name : "");
		pack_name(&data, rec->name);
		pxt_scheddata_add(&data, &exec, sizeof exec);
		pxt_schedlog_put(log, rec, ID_RENAME, rec->tid, &data);
	}
	give_name(thread, rec->name);
	if (thread->index != 0)
		tell_thread(log, thread->index, thread->tid, thread->pid, thread->name);
}

/* ---- Page faults, and where threads are ---- */

/*
 * How long the thread waited in a page fault that is over now: it ended at once when the thread was back.  0: it did
 * something in between.
 */
static uint64_t fault_time(struct pxt_schedthread *thread, uint64_t ns)
{
	uint64_t left = thread->left_ns;

	thread->left_ns = 0;
	return left != 0 && left < thread->back_ns && thread->back_ns <= ns &&
	               ns - thread->back_ns <= FAULT_ENDS_NS
	           ? ns - left
	           : 0;
}

static void take_address(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = thread_of(log, rec->tid);
	const uint32_t count = rec->major ? 1 : PXT_PERFREC_FAULTS_EACH;
	const unsigned char major = rec->major;
	struct pxt_scheddata data = { .count = 0 };

	if (!thread || !thread->watched)
		return;
	learn_pid(log, rec->tid, rec->pid);
	if (rec->kind == PXT_PERFREC_FAULTS) {
		pxt_scheddata_add(&data, &count, sizeof count);
		pxt_scheddata_add(&data, &major, sizeof major);
		const uint64_t wait_ns = rec->major ? fault_time(thread, rec->ns) : 0;
		if (wait_ns > 0)
			pxt_scheddata_add(&data, &wait_ns, sizeof wait_ns);
	} else {
		uint64_t callers[PXT_SCHEDCALLERS];
		unsigned found = pxt_schedcallers_of(log->callers, rec, callers);

		pxt_scheddata_add(&data, callers, found * sizeof *callers);
	}
	pxt_schedlog_put(
	    log, rec, rec->kind == PXT_PERFREC_FAULTS ? ID_FAULTS : ID_SAMPLE, rec->tid, &data);
}

/* ---- Tracepoints ---- */

static void learn(struct pxt_schedlog *log, int32_t tid, const char *name, int32_t prio)
{
	struct pxt_schedthread *thread = thread_of(log, tid);

	if (!thread)
		return;
	thread->prio = prio;
	thread->has_prio = true;
	if (!thread->named)
		give_name(thread, name);
}

static void take_said_switch(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	struct side from = { .tid = said->tid, .prio = said->prio };
	struct side to = { .tid = said->next_tid, .prio = said->next_prio };

	memcpy(from.name, said->name, sizeof from.name);
	memcpy(to.name, said->next_name, sizeof to.name);
	learn_pid(log, from.tid, rec->pid);
	take_switch(log, rec, &from, said->state, &to);
}

/*
 * By @rec's thread, or by an interrupt in it; so whom a watched thread wakes is no event of its.  Of a
 * thread that still runs it changes nothing.
 */
static void take_wake(struct pxt_schedlog *log, const struct pxt_perfrec *rec,
    enum pxt_tracepoint_kind kind, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedthread *woken = thread_of(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!woken || !woken->watched)
		return;
	log->wakes++;
	pack_name(&data, said->name);
	pack_number(&data, said->tid);
	pack_number(&data, said->prio);
	pack_number(&data, said->to);
	pxt_schedlog_put(log, rec, wake_ids[kind], rec->tid, &data);
	if (!woken->running)
		begin_waiting(log, rec, woken, said->to);
}

static void take_migration(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedthread *thread = thread_of(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!thread || !thread->watched)
		return;
	pack_name(&data, said->name);
	pack_number(&data, said->tid);
	pack_number(&data, said->prio);
	pack_number(&data, said->from);
	pack_number(&data, said->to);
	/* Recorded by the thread that moves it; it is an event of the one that is moved. */
	struct pxt_perfrec moved = *rec;
	moved.cpu = -1;
	pxt_schedlog_put(log, &moved, ID_MIGRATE, said->tid, &data);
	if (thread->waits_on >= 0)
		begin_waiting(log, rec, thread, said->to);
}

/* Who waits for a lock that hands its priority on, or the holder itself that has given it back. */
static void take_boost(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	const struct pxt_schedthread *thread = thread_of(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	learn(log, said->tid, said->name, said->next_prio);
	if (!thread || !thread->watched)
		return;
	pack_name(&data, said->name);
	pack_number(&data, said->tid);
	pack_number(&data, said->prio);
	pack_number(&data, said->next_prio);
	pxt_schedlog_put(log, rec, ID_BOOST, rec->tid, &data);
}

static void take_sample(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_tracepoint_said said;

	if (!log->wish.points)
		return;
	enum pxt_tracepoint_kind kind =
	    pxt_tracepoint_read(log->wish.points, rec->data, rec->bytes, &said);
	if (kind == PXT_TRACEPOINTS)
		return;
	if (kind >= PXT_TRACEPOINT_IRQ) {
		pxt_schedmachine_take(log, rec, kind, &said);
		return;
	}
	learn(log, said.tid, said.name, said.prio);
	if (kind == PXT_TRACEPOINT_SWITCH) {
		learn(log, said.next_tid, said.next_name, said.next_prio);
		take_said_switch(log, rec, &said);
	} else if (kind == PXT_TRACEPOINT_MIGRATE) {
		take_migration(log, rec, &said);
	} else if (kind == PXT_TRACEPOINT_BOOST) {
		take_boost(log, rec, &said);
	} else {
		take_wake(log, rec, kind, &said);
	}
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

void pxt_schedlog_take(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	switch (rec->kind) {
	case PXT_PERFREC_IN:
	case PXT_PERFREC_OUT:
		if (rec->told_other)
			take_wide(log, rec);
		else
			take_own(log, rec);
		break;
	case PXT_PERFREC_NAME:
		take_name(log, rec);
		break;
	case PXT_PERFREC_FORK:
		take_fork(log, rec);
		break;
	case PXT_PERFREC_EXIT:
		take_exit(log, rec);
		break;
	case PXT_PERFREC_LOST:
		pxt_schedlog_loss(log, rec->lost);
		break;
	case PXT_PERFREC_SAMPLE:
		take_sample(log, rec);
		break;
	case PXT_PERFREC_FAULTS:
	case PXT_PERFREC_RUNS:
		take_address(log, rec);
		break;
	case PXT_PERFREC_OTHER:
		break;
	}
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
