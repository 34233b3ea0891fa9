/* SPDX-License-Identifier: MIT */
/* schedrecords.c - what each record of the kernel says, as events of the log (schedlog.c); see sched.h. */
#include "tools/sched/sched.h"

#include <stdio.h>
#include <string.h>

#define STATE_WAITS   INT64_C(0x1)
#define STATE_STUCK   INT64_C(0x2)
#define STATE_ENDED   INT64_C(0x10)
#define IDLE_PRIO     120              /* as the kernel says */
#define FAULT_ENDS_NS UINT64_C(200000) /* so long a page fault takes once its page is there */

static const trace_event_id_t wake_ids[PXT_TRACEPOINTS] = { [PXT_TRACEPOINT_WAKING] =
	                                                        PXT_SCHEDLOG_WAKING,
	[PXT_TRACEPOINT_WAKEUP] = PXT_SCHEDLOG_WAKEUP,
	[PXT_TRACEPOINT_NEW] = PXT_SCHEDLOG_NEW };

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
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, tid);

	if (thread) {
		memcpy(side.name, pxt_schedlog_name(log, thread),
		    strlen(pxt_schedlog_name(log, thread)));
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

	pxt_scheddata_name(&data, from->name);
	pxt_scheddata_number(&data, from->tid);
	if (pxt_schedlog_has_prio(log))
		pxt_scheddata_number(&data, from->prio);
	pxt_scheddata_add(&data, &state, sizeof state);
	pxt_scheddata_name(&data, to->name);
	pxt_scheddata_number(&data, to->tid);
	if (pxt_schedlog_has_prio(log)) {
		pxt_scheddata_number(&data, to->prio);
	} else if (from->has_prio && (to->has_prio || from->tid > 0)) {
		/* Fields at the end are left out where they are not known. */
		pxt_scheddata_number(&data, from->prio);
		if (to->has_prio)
			pxt_scheddata_number(&data, to->prio);
	}
	pxt_schedlog_put(log, rec, PXT_SCHEDLOG_SWITCH, by, &data);
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
	struct pxt_schedthread *left = pxt_schedlog_thread(log, from->tid);
	struct pxt_schedthread *entered = pxt_schedlog_thread(log, to->tid);
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
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, tid);

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
	if (next == PXT_SCHEDLOG_NOBODY ? !out || pxt_schedlog_has_prio(log) : on->runs == next)
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
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, rec->tid);

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
	struct pxt_schedthread *parent = pxt_schedlog_thread(log, rec->other_tid);
	struct pxt_schedthread *child = pxt_schedlog_thread(log, rec->tid);
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
		pxt_schedlog_call(child, parent->name);
	if (!child->watched)
		return;
	struct side from = side_of(log, rec->other_tid, rec->cpu);
	struct side made = side_of(log, rec->tid, rec->cpu);
	pxt_scheddata_thread(&data, from.name, rec->other_tid, rec->other_pid);
	pxt_scheddata_thread(&data, made.name, rec->tid, rec->pid);
	pxt_schedlog_put(log, rec, PXT_SCHEDLOG_FORK, rec->other_tid, &data);
}

/* A thread whose events end with it: nobody tells when it left the CPU for ever. */
static void end_own(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, rec->tid);
	struct side self = side_of(log, rec->tid, rec->cpu);

	if (!thread || !thread->running)
		return;
	thread->running = false;
	put_switch(log, rec, rec->tid, &self, STATE_ENDED, &nobody);
}

static void take_exit(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, rec->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!thread || thread->ended)
		return;
	thread->ended = true;
	if (!thread->watched)
		return;
	pxt_scheddata_thread(&data, pxt_schedlog_name(log, thread), rec->tid, rec->pid);
	pxt_schedlog_put(log, rec, PXT_SCHEDLOG_EXIT, rec->tid, &data);
	if (rec->tid == rec->pid)
		pxt_schedcallers_forget(log->callers, rec->pid);
	if (!log->wish.wide)
		end_own(log, rec);
}

static void take_name(struct pxt_schedlog *log, const struct pxt_perfrec *rec)
{
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, rec->tid);
	const unsigned char exec = rec->exec;
	struct pxt_scheddata data = { .count = 0 };

	if (!thread)
		return;
	learn_pid(log, rec->tid, rec->pid);
	if (rec->exec)
		pxt_schedcallers_forget(log->callers, rec->pid);
	if (thread->watched) {
		pxt_scheddata_number(&data, rec->tid);
		/* /proc has the new one by now. */
		pxt_scheddata_name(&data, thread->named ? thread->name : "");
		pxt_scheddata_name(&data, rec->name);
		pxt_scheddata_add(&data, &exec, sizeof exec);
		pxt_schedlog_put(log, rec, PXT_SCHEDLOG_RENAME, rec->tid, &data);
	}
	pxt_schedlog_rename(log, thread, rec->name);
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
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, rec->tid);
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
	pxt_schedlog_put(log, rec,
	    rec->kind == PXT_PERFREC_FAULTS ? PXT_SCHEDLOG_FAULTS : PXT_SCHEDLOG_SAMPLE, rec->tid,
	    &data);
}

/* ---- Tracepoints ---- */

static void learn(struct pxt_schedlog *log, int32_t tid, const char *name, int32_t prio)
{
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, tid);

	if (!thread)
		return;
	thread->prio = prio;
	thread->has_prio = true;
	if (!thread->named)
		pxt_schedlog_call(thread, name);
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
	struct pxt_schedthread *woken = pxt_schedlog_thread(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!woken || !woken->watched)
		return;
	log->wakes++;
	pxt_scheddata_thread(&data, said->name, said->tid, said->prio);
	pxt_scheddata_number(&data, said->to);
	pxt_schedlog_put(log, rec, wake_ids[kind], rec->tid, &data);
	if (!woken->running)
		begin_waiting(log, rec, woken, said->to);
}

static void take_migration(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedthread *thread = pxt_schedlog_thread(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	if (!thread || !thread->watched)
		return;
	pxt_scheddata_thread(&data, said->name, said->tid, said->prio);
	pxt_scheddata_number(&data, said->from);
	pxt_scheddata_number(&data, said->to);
	/* Recorded by the thread that moves it; it is an event of the one that is moved. */
	struct pxt_perfrec moved = *rec;
	moved.cpu = -1;
	pxt_schedlog_put(log, &moved, PXT_SCHEDLOG_MIGRATE, said->tid, &data);
	if (thread->waits_on >= 0)
		begin_waiting(log, rec, thread, said->to);
}

/* Who waits for a lock that hands its priority on, or the holder itself that has given it back. */
static void take_boost(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	const struct pxt_schedthread *thread = pxt_schedlog_thread(log, said->tid);
	struct pxt_scheddata data = { .count = 0 };

	learn(log, said->tid, said->name, said->next_prio);
	if (!thread || !thread->watched)
		return;
	pxt_scheddata_thread(&data, said->name, said->tid, said->prio);
	pxt_scheddata_number(&data, said->next_prio);
	pxt_schedlog_put(log, rec, PXT_SCHEDLOG_BOOST, rec->tid, &data);
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
