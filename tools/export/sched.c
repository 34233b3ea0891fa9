/* SPDX-License-Identifier: MIT */
/*
 * sched.c - what scheduler events say, the kernel's and those of hooks: who runs, and by prev_state whether who
 * left sleeps, waits or is dead; see export.h.
 */
#include "tools/export/export.h"

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <string.h>
#include <trace_hooks_np.h>

enum {
	ROLE_UNKNOWN,
	ROLE_NONE,
	ROLE_SWITCH,
	ROLE_WAKE,
	ROLE_STATE
};

static unsigned char role_of(const struct pxt_type *type)
{
	if (strcmp(type->name, "sched_switch") == 0 || type->id == POSIX_TRACE_CONTEXT_SWITCH_NP)
		return ROLE_SWITCH;
	if (type->id == POSIX_TRACE_TASK_STATE_NP)
		return ROLE_STATE;
	if (strcmp(type->name, "sched_wakeup") == 0 || strcmp(type->name, "sched_waking") == 0)
		return ROLE_WAKE;
	return ROLE_NONE;
}

/* The field of one of two names as a number. */
static bool number(
    const struct pxt_event *event, const char *name, const char *other, int64_t *result)
{
	const struct pxt_layout *field = pxt_field_named(event->type, name);
	struct pxt_value value;

	if (!field && other)
		field = pxt_field_named(event->type, other);
	if (!field || !pxt_field_value(event, field, &value))
		return false;
	if (value.kind == POSIX_TRACE_FIELD_SIGNED_NP)
		*result = value.i;
	else if (value.kind == POSIX_TRACE_FIELD_UNSIGNED_NP ||
	         value.kind == POSIX_TRACE_FIELD_HEX_NP)
		*result = value.u > INT64_MAX ? INT64_MAX : (int64_t)value.u;
	else
		return false;
	return true;
}

static void text(const struct pxt_event *event, const char *name, char *to, size_t room)
{
	const struct pxt_layout *field = pxt_field_named(event->type, name);
	struct pxt_value value;

	*to = '\0';
	if (field && field->kind == POSIX_TRACE_FIELD_TEXT_NP &&
	    pxt_field_value(event, field, &value))
		(void)pxt_escape(value.text, value.bytes, to, room, NULL);
}

/* Linux's numbers, or the letters that its tools make of them. */
static enum pxt_task_state state_before(const struct pxt_event *event)
{
	char letters[8];
	int64_t bits;

	if (number(event, "prev_state", NULL, &bits))
		return bits == 0       ? PXT_TASK_READY
		       : (bits & 1)    ? PXT_TASK_SLEEPS
		       : (bits & 2)    ? PXT_TASK_WAITS
		       : (bits & 0x4c) ? PXT_TASK_STOPPED
		       : (bits & 0xb0) ? PXT_TASK_DEAD
		                       : PXT_TASK_READY;
	text(event, "prev_state", letters, sizeof letters);
	switch (*letters) {
	case 'S':
	case 'I':
		return PXT_TASK_SLEEPS;
	case 'D':
		return PXT_TASK_WAITS;
	case 'T':
	case 't':
		return PXT_TASK_STOPPED;
	case 'X':
	case 'Z':
		return PXT_TASK_DEAD;
	default:
		return PXT_TASK_READY;
	}
}

/* Hooks give numbers alone; the log says whose they are. */
static void name_by_table(trace_id_t trid, struct pxt_task *task)
{
	struct posix_trace_logthread_np thread;

	for (uint32_t i = 0; posix_trace_log_getthread_np(trid, i, &thread, sizeof thread) == 0;
	     i++) {
		if (thread.posix_tid_np == task->tid) {
			(void)pxt_escape(thread.posix_name_np,
			    strnlen(thread.posix_name_np, sizeof thread.posix_name_np), task->comm,
			    sizeof task->comm, NULL);
			return;
		}
	}
}

/* One task of the event, by the names of its fields; false for the idle thread. */
static bool fill(const struct pxt_event *event, struct pxt_task *task, enum pxt_task_state state,
    const char *const names[4])
{
	int64_t cpu;

	if (!number(event, names[0], names[1], &task->tid) || task->tid <= 0)
		return false;
	task->state = state;
	task->cpu = event->extra.posix_cpu_np;
	if (number(event, "cpu", "cpu_id", &cpu) && cpu >= 0 && cpu <= INT32_MAX)
		task->cpu = (int)cpu;
	task->has_prio = number(event, names[2], NULL, &task->prio);
	text(event, names[3], task->comm, sizeof task->comm);
	if (!*task->comm)
		name_by_table(event->source->trid, task);
	return true;
}

/* By a hook's number. */
static bool told_state(const struct pxt_event *event, enum pxt_task_state *state)
{
	static const enum pxt_task_state states[] = {
		[POSIX_TRACE_TASK_CREATED_NP] = PXT_TASK_STOPPED,
		[POSIX_TRACE_TASK_READY_NP] = PXT_TASK_READY,
		[POSIX_TRACE_TASK_RUNNING_NP] = PXT_TASK_RUNS,
		[POSIX_TRACE_TASK_BLOCKED_NP] = PXT_TASK_WAITS,
		[POSIX_TRACE_TASK_SLEEPING_NP] = PXT_TASK_SLEEPS,
		[POSIX_TRACE_TASK_SUSPENDED_NP] = PXT_TASK_STOPPED,
		[POSIX_TRACE_TASK_ENDED_NP] = PXT_TASK_DEAD,
	};
	int64_t told;

	if (!number(event, "state", NULL, &told) || told < POSIX_TRACE_TASK_CREATED_NP ||
	    told > POSIX_TRACE_TASK_ENDED_NP)
		return false;
	*state = states[told];
	return true;
}

unsigned pxt_sched_take(
    struct pxt_sched *sched, const struct pxt_event *event, struct pxt_task tasks[2])
{
	static const char *const before[] = { "prev_tid", "prev_pid", "prev_prio", "prev_comm" };
	static const char *const after[] = { "next_tid", "next_pid", "next_prio", "next_comm" };
	static const char *const woken[] = { "tid", "pid", "prio", "comm" };
	unsigned count = 0;

	if (event->type->index == PXT_INDEX_NONE)
		return 0;
	unsigned char *role = &sched->roles[event->type->index];
	if (*role == ROLE_UNKNOWN)
		*role = role_of(event->type);
	if (*role == ROLE_SWITCH) {
		count += fill(event, &tasks[count], state_before(event), before);
		count += fill(event, &tasks[count], PXT_TASK_RUNS, after);
	} else if (*role == ROLE_WAKE) {
		count += fill(event, &tasks[count], PXT_TASK_READY, woken);
	} else if (*role == ROLE_STATE) {
		enum pxt_task_state state;

		count += told_state(event, &state) && fill(event, &tasks[count], state, woken);
	}
	return count;
}
