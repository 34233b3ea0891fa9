/* SPDX-License-Identifier: MIT */
/* history.c - what all threads did while something was late; see history.h. */
#include "tools/why/history.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <trace_hooks_np.h>

#define SIGNAL_STOP 19
#define WAKE_LATER  INT64_C(200000) /* a call that wakes may tell of itself behind its waking */

/* What a thread does at the moment. */
struct pxt_history_thread {
	struct pxt_stretch run; /* or it is off the CPU */
	struct pxt_stretch call;
	struct pxt_stretch lock;
	struct pxt_stretch handler;
	bool is_scheduled;
	bool calls;
	bool waits;
	bool handles;
	struct pxt_stretch interrupted; /* the call that the handler interrupted, ... */
	bool calls_on;                  /* ... which goes on behind it; false: none */
	uint32_t repeats_on;
	bool ended;         /* its latest event is the end of a call, ... */
	bool follows;       /* ... and so was the one before */
	bool gave_back;     /* ... behind which it gave back the mutex of that wait */
	uint32_t repeats;   /* the place, + 1, of the call that @call goes on with */
	uint32_t kept;      /* the place, + 1, of its latest call */
	bool may_wake;      /* its latest event says that it does something that wakes */
	uint32_t mark;      /* its latest waking, + 1 */
	uint64_t signalled; /* the condition that its latest event signals; 0: it does not */
	struct pxt_log_address place;   /* of its latest event */
	const struct pxt_actor *holder; /* of the lock that it asks for next, ... */
	uint64_t held;                  /* ... which is this one */
};

static struct pxt_history_thread *thread_of(
    struct pxt_history *history, const struct pxt_actor *actor)
{
	history->threads = pxt_must_reach(
	    history->threads, &history->thread_room, actor->index, sizeof *history->threads);
	return &history->threads[actor->index];
}

/* What comes often leaves a quarter of the room to what says why: calls, locks, and who woke whom. */
static bool has_room(uint32_t count, bool is_frequent)
{
	return count < (is_frequent ? PXT_HISTORY_STRETCHES / 4 * 3 : PXT_HISTORY_STRETCHES);
}

/* Of a stretch that has ended. */
static void keep(struct pxt_history *history, struct pxt_stretch *stretch, int64_t end_ns)
{
	stretch->end_ns = end_ns;
	if (!pxt_history_wants(history, stretch->begin_ns, end_ns))
		return;
	if (!has_room(history->count, stretch->kind <= PXT_STRETCH_SLEPT)) {
		history->beyond++;
		return;
	}
	history->stretches = pxt_must_grow(
	    history->stretches, &history->room, history->count, sizeof *history->stretches);
	history->stretches[history->count++] = *stretch;
}

static struct pxt_mark *new_mark(
    struct pxt_history *history, enum pxt_mark_kind kind, const struct pxt_actor *actor, int64_t ns)
{
	/* A signal may stop a thread long before anybody waits for it; the last two hold for more than their moment. */
	if (kind != PXT_MARK_STOP && kind < PXT_MARK_FREQUENCY &&
	    !pxt_history_wants(history, ns - WAKE_LATER, ns))
		return NULL;
	if (!has_room(history->mark_count, kind >= PXT_MARK_FAULTS)) {
		history->beyond++;
		return NULL;
	}
	history->marks = pxt_must_grow(
	    history->marks, &history->mark_room, history->mark_count, sizeof *history->marks);
	struct pxt_mark *mark = &history->marks[history->mark_count++];
	*mark = (struct pxt_mark){ .kind = kind, .actor = actor->index, .ns = ns };
	return mark;
}

/* ---- Events of a thread ---- */

static void end_call(struct pxt_history *history, struct pxt_history_thread *thread, int64_t ns)
{
	uint32_t count = history->count;

	if (!thread->calls)
		return;
	thread->calls = false;
	if (thread->repeats > 0) {
		struct pxt_stretch *first = &history->stretches[thread->repeats - 1];

		first->end_ns = ns;
		first->result = thread->call.result;
		/* It may wait longer each time. */
		if (thread->call.asked_ns > first->asked_ns)
			first->asked_ns = thread->call.asked_ns;
		thread->kept = thread->repeats;
		return;
	}
	keep(history, &thread->call, ns);
	thread->kept = history->count > count ? history->count : 0;
}

/*
 * Who waits again for the same, as soon as its time was up, waits on.  One that gave back the mutex in between may
 * have found what it waited for, and wait for the next thing; not so where it asks for much longer than before.
 */
static uint32_t repeated(const struct pxt_history *history, const struct pxt_history_thread *thread)
{
	const struct pxt_stretch *call = &thread->call;
	const struct pxt_stretch *last =
	    thread->kept ? &history->stretches[thread->kept - 1] : NULL;

	return last && pxt_stretch_timed_out(last) &&
	               call->begin_ns - last->end_ns < PXT_AGAIN_NS && last->call == call->call &&
	               last->object == call->object &&
	               last->place.address.value == call->place.address.value &&
	               (!thread->gave_back || call->asked_ns > 2 * last->asked_ns)
	           ? thread->kept
	           : 0;
}

/* Where no scheduler tells who ended the call. */
static void find_waker(
    struct pxt_history *history, const struct pxt_actor *actor, struct pxt_history_thread *thread)
{
	const struct pxt_actor *peer;
	struct pxt_waking by;
	bool inferred;

	if (!history->has_wakings && thread->calls &&
	    pxt_history_wants(history, history->now_ns, history->now_ns) &&
	    pxt_wakes_ended(history, &thread->call, &peer, &by, &inferred)) {
		struct pxt_mark *mark = new_mark(history, PXT_MARK_WOKE, actor, history->now_ns);

		if (!mark)
			return;
		mark->peer = peer;
		mark->meant = true;
		mark->inferred = inferred;
		mark->place = by.place;
		mark->object = by.call == PXT_CALL_COND ? by.object : 0;
	}
}

static void begin_call(struct pxt_history *history, const struct pxt_actor *actor,
    struct pxt_history_thread *thread, const struct pxt_event *event, uint32_t call)
{
	unsigned object = call == PXT_CALL_COND ? 0 : 1;
	int64_t asked = pxt_calls_asked_ns(event, call);

	end_call(history, thread, event->ns);
	thread->calls = true;
	thread->call = (struct pxt_stretch){ .kind = PXT_STRETCH_CALL,
		.actor = actor->index,
		.begin_ns = event->ns,
		.call = call,
		.cpu = -1,
		.asked_ns = asked > 0 ? asked : 0,
		.object = pxt_key_number(event, object),
		.mutex = call == PXT_CALL_COND ? pxt_key_number(event, 1) : 0,
		.place = pxt_places_of(event) };
	thread->repeats = thread->follows ? repeated(history, thread) : 0;
}

/*
 * Functions of the C and the C++ library say less than the program's own that called them: *@own, 0 where @place is in
 * one itself.  Who called that is @above.
 */
static void find_callers(const struct pxt_history *history, const struct pxt_event *event,
    struct pxt_log_address place, uint64_t *own, uint64_t above[PXT_PLACES_ABOVE])
{
	struct pxt_places *places = history->state->book->places;
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);
	unsigned found = 0;

	for (unsigned i = 0; i < count && found < PXT_PLACES_ABOVE; i++) {
		bool in_system = pxt_places_is_system(places, &place);

		place.address.value = callers[i];
		if (pxt_places_is_system(places, &place)) {
			if (!in_system)
				return;
		} else if (in_system) {
			*own = callers[i];
		} else {
			above[found++] = callers[i];
		}
	}
}

/* Calls within a handler end none that it interrupted. */
static void resume(struct pxt_history *history, struct pxt_history_thread *thread, int64_t ns)
{
	end_call(history, thread, ns);
	thread->call = thread->interrupted;
	thread->calls = thread->calls_on;
	thread->repeats = thread->repeats_on;
}

static void take_signal(struct pxt_history *history, const struct pxt_actor *actor,
    struct pxt_history_thread *thread, const struct pxt_event *event)
{
	uint64_t what = pxt_key_number(event, 0);
	struct pxt_mark *mark;

	if (what == POSIX_TRACE_SIGNAL_SENT_NP) {
		mark = new_mark(history,
		    pxt_key_number(event, 1) == SIGNAL_STOP ? PXT_MARK_STOP : PXT_MARK_SIGNAL,
		    actor, event->ns);
		if (mark) {
			mark->object = pxt_key_number(event, 1);
			mark->to = pxt_key_number(event, 3);
			mark->place = pxt_places_of(event);
		}
		return;
	}
	if (thread->handles)
		keep(history, &thread->handler, event->ns);
	if (thread->handles && what != POSIX_TRACE_SIGNAL_BEGIN_NP)
		resume(history, thread, event->ns);
	thread->handles = what == POSIX_TRACE_SIGNAL_BEGIN_NP;
	if (!thread->handles)
		return;
	thread->interrupted = thread->call;
	thread->calls_on = thread->calls;
	thread->repeats_on = thread->repeats;
	thread->calls = false;
	thread->handler = (struct pxt_stretch){ .kind = PXT_STRETCH_HANDLER,
		.actor = actor->index,
		.begin_ns = event->ns,
		.cpu = -1,
		.object = pxt_key_number(event, 1),
		.place = pxt_places_of(event) };
	/* Addresses are where a call returns to; a function begins one byte before that. */
	thread->handler.place.address.value = pxt_key_number(event, 3);
	if (thread->handler.place.address.value != 0)
		thread->handler.place.address.value++;
}

/* What the thread's event says of who was woken by it. */
static void note_waking(
    struct pxt_history *history, struct pxt_history_thread *thread, const struct pxt_event *event)
{
	struct pxt_mark *mark = thread->mark ? &history->marks[thread->mark - 1] : NULL;

	thread->may_wake = pxt_wakes_event(event);
	thread->signalled = event->info.posix_event_id == POSIX_TRACE_COND_SIGNAL_NP ||
	                            event->info.posix_event_id == POSIX_TRACE_COND_BROADCAST_NP
	                        ? pxt_key_number(event, 0)
	                        : 0;
	thread->place = pxt_places_of(event);
	/* A thread's end is told by the library itself. */
	if (event->info.posix_event_id == POSIX_TRACE_PROCESS_NP)
		thread->place.address.value = 0;
	thread->mark = 0;
	if (!mark || mark->meant || !thread->may_wake || event->ns > mark->ns + WAKE_LATER ||
	    event->info.posix_event_id != POSIX_TRACE_CALL_EXIT_NP)
		return;
	mark->meant = true;
	mark->place = thread->place;
}

static const enum pxt_mark_kind kernel_marks[PXT_KERNEL_EVENTS] = { [PXT_KERNEL_FAULTS] =
	                                                                PXT_MARK_FAULTS,
	[PXT_KERNEL_SAMPLE] = PXT_MARK_SAMPLE,
	[PXT_KERNEL_INTERRUPTS] = PXT_MARK_INTERRUPTS,
	[PXT_KERNEL_DISK] = PXT_MARK_DISK,
	[PXT_KERNEL_FREQUENCY] = PXT_MARK_FREQUENCY,
	[PXT_KERNEL_THROTTLED] = PXT_MARK_THROTTLED };

/* What the kernel counted (tools/sched/sched.h). */
static void take_kernel(
    struct pxt_history *history, const struct pxt_event *event, enum pxt_mark_kind kind)
{
	const struct pxt_actor *actor = pxt_state_met(history->state, event, event->thread->tid);
	struct pxt_mark *mark = actor ? new_mark(history, kind, actor, event->ns) : NULL;
	uint64_t own = 0;

	if (!mark)
		return;
	mark->object = pxt_key_number(event, 0);
	mark->to = pxt_key_number(event, 1);
	mark->major = mark->to != 0;
	mark->wait_ns = kind == PXT_MARK_FAULTS ? pxt_key_number(event, 2) : 0;
	mark->place = pxt_places_of(event);
	find_callers(history, event, mark->place, &own, mark->above);
	if (own != 0)
		mark->place.address.value = own;
}

void pxt_history_later(struct pxt_history *history, const struct pxt_event *event, unsigned source)
{
	if (pxt_roles_of(history->state->book, event, source)->kernel == PXT_KERNEL_THROTTLED)
		take_kernel(history, event, PXT_MARK_THROTTLED);
}

/* Before a lock is waited for, or was asked for in vain. */
static void note_holder(
    struct pxt_history *history, struct pxt_history_thread *thread, const struct pxt_event *event)
{
	if (pxt_key_number(event, 0) != POSIX_TRACE_PROCESS_HOLDS_NP)
		return;
	thread->holder =
	    pxt_state_numbered(history->state, event, (int64_t)pxt_key_number(event, 1));
	thread->held = pxt_key_number(event, 2);
}

/* Between two waits for a condition it may give back the mutex that the first one had to get back. */
static void note_end(struct pxt_history_thread *thread, const struct pxt_event *event)
{
	trace_event_id_t id = event->info.posix_event_id;

	if (id == POSIX_TRACE_MUTEX_UNLOCK_NP && thread->ended && thread->call.mutex != 0 &&
	    pxt_key_number(event, 0) == thread->call.mutex) {
		thread->gave_back = true;
		return;
	}
	thread->follows = thread->ended;
	thread->ended = id == POSIX_TRACE_CALL_EXIT_NP || id == POSIX_TRACE_COND_RESUME_NP;
	if (thread->ended)
		thread->gave_back = false;
}

void pxt_history_take(struct pxt_history *history, const struct pxt_event *event, unsigned source)
{
	const struct pxt_actor *actor = history->state->latest;
	const struct pxt_type_roles *roles;
	struct pxt_history_thread *thread;

	history->now_ns = event->ns;
	roles = pxt_roles_of(history->state->book, event, source);
	if (roles->kernel != PXT_KERNEL_NONE)
		take_kernel(history, event, kernel_marks[roles->kernel]);
	if (!actor)
		return;
	thread = thread_of(history, actor);
	note_end(thread, event);
	note_waking(history, thread, event);
	pxt_wakes_note(history, actor, event);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_PROCESS_NP:
		note_holder(history, thread, event);
		return;
	case POSIX_TRACE_CALL_ENTER_NP:
		if (!pxt_call_lasts(event))
			return;
		begin_call(history, actor, thread, event, (uint32_t)pxt_key_number(event, 0));
		return;
	case POSIX_TRACE_COND_WAIT_NP:
		begin_call(history, actor, thread, event, PXT_CALL_COND);
		return;
	case POSIX_TRACE_CALL_EXIT_NP:
	case POSIX_TRACE_COND_RESUME_NP:
		thread->call.result = (int64_t)pxt_key_number(
		    event, event->info.posix_event_id == POSIX_TRACE_CALL_EXIT_NP ? 2 : 3);
		if (thread->calls)
			find_callers(history, event, thread->call.place, &thread->call.caller,
			    thread->call.above);
		find_waker(history, actor, thread);
		end_call(history, thread, event->ns);
		return;
	case POSIX_TRACE_SIGNAL_NP:
		take_signal(history, actor, thread, event);
		return;
	default:
		return;
	}
}

/* ---- What the state says ---- */

/* The thread runs, or is off the CPU, from now on. */
static void turn(struct pxt_history *history, const struct pxt_actor *actor,
    enum pxt_stretch_kind kind, const struct pxt_act *act)
{
	struct pxt_history_thread *thread = thread_of(history, actor);

	if (thread->is_scheduled)
		keep(history, &thread->run, act->ns);
	thread->is_scheduled = true;
	thread->run = (struct pxt_stretch){ .kind = kind,
		.actor = actor->index,
		.begin_ns = act->ns,
		.cpu = act->cpu,
		.has_prio = actor->has_prio,
		.prio = actor->prio };
}

/* Several of them may run at once: what they do is kept by CPU. */
static void end_others(struct pxt_history *history, int cpu, int64_t ns)
{
	struct pxt_stretch run = {
		.kind = PXT_STRETCH_RAN, .begin_ns = history->others_ns[cpu], .cpu = cpu
	};

	if (run.begin_ns == 0)
		return;
	run.actor = history->state->others->index;
	keep(history, &run, ns);
}

static void switch_others(struct pxt_history *history, const struct pxt_act *act)
{
	int64_t *since = &history->others_ns[act->cpu];

	end_others(history, act->cpu, act->ns);
	*since = act->actor && act->actor == history->state->others ? act->ns : 0;
}

/* Whose end there was not told, as it is no thread of the program, has left the CPU by now. */
static void end_runner(struct pxt_history *history, const struct pxt_act *act)
{
	const struct pxt_actor *runner = history->runners[act->cpu];
	struct pxt_history_thread *thread =
	    runner && runner != act->former ? thread_of(history, runner) : NULL;

	history->runners[act->cpu] = act->actor;
	if (!thread || !thread->is_scheduled || thread->run.kind != PXT_STRETCH_RAN ||
	    thread->run.cpu != act->cpu)
		return;
	keep(history, &thread->run, act->ns);
	thread->is_scheduled = false;
}

static void switched(struct pxt_history *history, const struct pxt_act *act)
{
	if (act->cpu < 0 || act->cpu >= (int)PXT_STATE_CPUS_MAX)
		return;
	end_runner(history, act);
	switch_others(history, act);
	if (act->former) {
		int64_t state = pxt_act_left_state(act);

		turn(history, act->former,
		    act->former->running == PXT_RUN_READY   ? PXT_STRETCH_READY
		    : act->former->running == PXT_RUN_ENDED ? PXT_STRETCH_ENDED
		    : state == PXT_LINUX_STOPPED            ? PXT_STRETCH_STOPPED
		                                            : PXT_STRETCH_SLEPT,
		    act);
		if (act->former->running == PXT_RUN_ENDED)
			end_call(history, thread_of(history, act->former), act->ns);
		thread_of(history, act->former)->run.object = (uint64_t)state;
	}
	if (act->actor && act->actor != history->state->others)
		turn(history, act->actor, PXT_STRETCH_RAN, act);
}

/* The scheduler's event is one of the thread that ran then; the program's own names the waker. */
static void woken(struct pxt_history *history, const struct pxt_act *act)
{
	const struct pxt_layout *field = act->role->fields[PXT_USE_THREAD];
	const struct pxt_thread *by = act->event->thread;
	struct pxt_history_thread *thread;
	struct pxt_actor *peer = NULL;
	struct pxt_mark *mark;

	if (!act->actor || !field)
		return;
	history->has_wakings = true;
	thread = thread_of(history, act->actor);
	if (act->role->is_new ||
	    (thread->is_scheduled && (thread->run.kind == PXT_STRETCH_SLEPT ||
	                                 thread->run.kind == PXT_STRETCH_STOPPED))) {
		turn(history, act->actor, PXT_STRETCH_READY, act);
		/* Where it is to run, not where it was woken. */
		thread->run.cpu = act->actor->cpu;
	}
	if (by->recorded && by->tid > 0)
		peer = pxt_state_met(history->state, act->event, by->tid);
	mark = new_mark(history, PXT_MARK_WOKE, act->actor, act->ns);
	if (!mark || !peer)
		return;
	thread = thread_of(history, peer);
	mark->peer = peer;
	mark->is_new = act->role->is_new;
	mark->meant = thread->may_wake || history->state->latest == peer;
	mark->place = thread->place;
	mark->object = thread->signalled;
	thread->mark = history->mark_count;
}

static void end_lock(struct pxt_history *history, const struct pxt_act *act)
{
	struct pxt_history_thread *thread = thread_of(history, act->actor);
	struct pxt_mark *mark;

	if (thread->waits && act->actor->wait != thread->lock.lock) {
		keep(history, &thread->lock, act->ns);
		thread->waits = false;
	}
	/* The state has forgotten a lock that was asked for and not got. */
	if (act->deed == PXT_LOCK_ACQUIRE && !act->lock && act->role &&
	    act->role->fields[PXT_USE_KEY]) {
		mark = new_mark(history, PXT_MARK_FAILED, act->actor, act->ns);
		if (mark) {
			mark->object = pxt_key_of(act->event, act->role).value;
			mark->place = pxt_places_of(act->event);
			mark->peer = thread->held == mark->object ? thread->holder : NULL;
		}
	}
}

void pxt_history_look(struct pxt_history *history, const struct pxt_act *act)
{
	if (act->deed == PXT_SWITCH) {
		switched(history, act);
		return;
	}
	if (act->deed == PXT_WAKE) {
		woken(history, act);
		return;
	}
	if (act->actor)
		end_lock(history, act);
	if (act->deed == PXT_LOCK_WAIT && act->actor && act->lock) {
		struct pxt_history_thread *thread = thread_of(history, act->actor);
		bool known;

		thread->waits = true;
		thread->lock = (struct pxt_stretch){ .kind = PXT_STRETCH_LOCK,
			.actor = act->actor->index,
			.begin_ns = act->ns,
			.cpu = -1,
			.place = pxt_places_of(act->event),
			.lock = act->lock,
			.object = act->lock->key.value,
			.peer = pxt_lock_holder(history->state, act->lock, &known) };
	}
	if (act->deed == PXT_LOCK_RELEASE && act->lock && act->former && act->gave_back) {
		struct pxt_stretch hold = { .kind = PXT_STRETCH_HOLD,
			.actor = act->former->index,
			.begin_ns = act->held_since_ns,
			.cpu = -1,
			.place = act->held_place,
			.lock = act->lock,
			.object = act->lock->key.value };

		keep(history, &hold, act->ns);
	}
}

/* ---- The end ---- */

static void close_one(
    struct pxt_history *history, struct pxt_stretch *stretch, bool is_on, bool with_log)
{
	if (!is_on)
		return;
	stretch->open = with_log;
	stretch->cut = !with_log;
	keep(history, stretch, history->now_ns);
}

static void close_holds(struct pxt_history *history, const struct pxt_actor *actor, bool with_log)
{
	for (unsigned i = 0; i < actor->hold_count; i++) {
		struct pxt_state_lock *lock = actor->holds[i];
		struct pxt_stretch hold = { .kind = PXT_STRETCH_HOLD,
			.actor = actor->index,
			.begin_ns = lock->since_ns,
			.cpu = -1,
			.place = lock->place,
			.lock = lock,
			.object = lock->key.value };

		close_one(history, &hold, true, with_log);
	}
}

void pxt_history_close(struct pxt_history *history, bool with_log)
{
	for (uint32_t i = 0; i < history->state->actor_count; i++) {
		const struct pxt_actor *actor = history->state->actors[i];
		struct pxt_history_thread *thread = thread_of(history, actor);

		close_one(history, &thread->run, thread->is_scheduled, with_log);
		if (thread->calls && thread->repeats > 0)
			thread->call.begin_ns = history->stretches[thread->repeats - 1].begin_ns;
		close_one(history, &thread->call, thread->calls, with_log);
		close_one(history, &thread->lock, thread->waits, with_log);
		close_one(history, &thread->handler, thread->handles, with_log);
		if (pxt_actor_certain(history->state, actor))
			close_holds(history, actor, with_log);
	}
	for (int cpu = 0; cpu < (int)PXT_STATE_CPUS_MAX; cpu++)
		end_others(history, cpu, history->now_ns);
	pxt_history_sort(history);
}
