/* SPDX-License-Identifier: MIT */
/* task.c - tasks and interrupts by number, and the tasks' names; see tiny.h. */
#include "tiny/tiny.h"

/* Of a task's own words. */
#define TOLD 1

struct posix_trace_task_np *pxt_tiny_tasks;
uint32_t pxt_tiny_seen[PXT_TINY_SEEN];
static uint32_t interrupts_told[PXT_TINY_SEEN];
/* Tasks that ended before the log had told them: the last few, without their words and their names' memory. */
struct pxt_tiny_ended pxt_tiny_ended[PXT_TINY_ENDED];
static uint32_t ended_count;

PXT_API void posix_trace_task_begin_np(
    struct posix_trace_task_np *task, uint32_t number, const char *name)
{
	uint32_t irq = pxt_irq_save();

	task->_pxt_number = number;
	task->_pxt_name = name;
	task->_pxt_own[0] = (uintptr_t)pxt_tiny_tasks;
	task->_pxt_own[TOLD] = 0;
	pxt_tiny_tasks = task;
	pxt_irq_restore(irq);
}

PXT_API void posix_trace_task_switch_np(struct posix_trace_task_np *task)
{
	pxt_tiny.who = task ? task->_pxt_number : 0;
}

static void keep_ended(const struct posix_trace_task_np *task)
{
	const char *name = task->_pxt_name;
	uint32_t at = ended_count++ % PXT_TINY_ENDED;
	size_t length = 0;

	pxt_tiny_ended[at].number = task->_pxt_number;
	for (; name && name[length] && length < sizeof(pxt_tiny_ended[at].name) - 1u; length++)
		pxt_tiny_ended[at].name[length] = name[length];
	pxt_tiny_ended[at].name[length] = '\0';
}

PXT_API void posix_trace_task_end_np(struct posix_trace_task_np *task)
{
	uint32_t irq = pxt_irq_save();
	struct posix_trace_task_np *before = NULL;

	if (!task->_pxt_own[TOLD])
		keep_ended(task);

	/* Bound: the tasks that live. */
	for (struct posix_trace_task_np *at = pxt_tiny_tasks; at; at = pxt_tiny_task_after(at)) {
		if (at == task && before)
			before->_pxt_own[0] = task->_pxt_own[0];
		else if (at == task)
			pxt_tiny_tasks = pxt_tiny_task_after(task);
		before = at;
	}
	pxt_irq_restore(irq);
}

PXT_API void *posix_trace_interrupt_begin_np(uint32_t number)
{
	void *interrupted = (void *)(uintptr_t)pxt_tiny.who;

	pxt_tiny_interrupt_see(number);
	pxt_tiny.who = PXT_TINY_INTERRUPT | number;
	return interrupted;
}

PXT_API void posix_trace_interrupt_end_np(void *interrupted)
{
	pxt_tiny.who = (uint32_t)(uintptr_t)interrupted;
}

/* ---- For the log ---- */

void pxt_tiny_who_forget(void)
{
	uint32_t irq = pxt_irq_save();

	for (struct posix_trace_task_np *task = pxt_tiny_tasks; task;
	     task = pxt_tiny_task_after(task))
		task->_pxt_own[TOLD] = 0;
	pxt_irq_restore(irq);
	for (uint32_t i = 0; i < PXT_TINY_SEEN; i++)
		interrupts_told[i] = 0;
}

/* Bound: the tasks that live. */
static bool next_task(struct pxt_tiny_who *who)
{
	uint32_t irq = pxt_irq_save();
	struct posix_trace_task_np *task = pxt_tiny_tasks;

	while (task && task->_pxt_own[TOLD])
		task = pxt_tiny_task_after(task);
	if (task) {
		task->_pxt_own[TOLD] = 1;
		who->number = task->_pxt_number;
		who->name = task->_pxt_name;
	}
	pxt_irq_restore(irq);
	return task != NULL;
}

/* A task that ends meanwhile takes another place, or this one: then it is reported twice, or the older one is not. */
static bool next_ended(struct pxt_tiny_who *who)
{
	for (uint32_t i = 0; i < PXT_TINY_ENDED; i++) {
		if (pxt_tiny_ended[i].number) {
			who->number = pxt_tiny_ended[i].number;
			who->name = pxt_tiny_ended[i].name;
			pxt_tiny_ended[i].number = 0;
			return true;
		}
	}
	return false;
}

bool pxt_tiny_who_next(struct pxt_tiny_who *who)
{
	if (next_ended(who) || next_task(who))
		return true;
	who->name = "interrupt";
	for (uint32_t number = 0; number < 32u * PXT_TINY_SEEN; number++) {
		uint32_t bit = 1u << number % 32u;

		if (pxt_tiny_seen[number / 32u] & ~interrupts_told[number / 32u] & bit) {
			interrupts_told[number / 32u] |= bit;
			who->number = PXT_TINY_INTERRUPT | number;
			return true;
		}
	}
	return false;
}
