/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - see kernel.h.
 *
 * Page: posix_trace_task_begin_np, posix_trace_task_switch_np, posix_trace_task_end_np,
 * posix_trace_interrupt_begin_np, posix_trace_interrupt_end_np - tasks and interrupts of a system without threads of POSIX
 */
#include "kernel.h"

#include "port/bare/board.h"

static struct kernel_task idle, boot; /* boot: what runs before the kernel does */
static struct kernel_task *tasks;     /* all of them, from kernel_run() on idle, too */
static struct kernel_task *running = &boot;
volatile uint32_t kernel_ms;

static struct kernel_task *most_urgent(void)
{
	struct kernel_task *best = &idle;

	for (struct kernel_task *task = tasks; task; task = task->next) {
		if (task->state <= POSIX_TRACE_TASK_RUNNING_NP &&
		    (task->priority > best->priority ||
		        (task->priority == best->priority && task == running)))
			best = task;
	}
	return best;
}

uint32_t *kernel_switch(uint32_t *stack)
{
	struct kernel_task *from = running;

	from->stack = stack;
	if (from->state == POSIX_TRACE_TASK_RUNNING_NP)
		from->state = POSIX_TRACE_TASK_READY_NP;
	running = most_urgent();
	running->state = POSIX_TRACE_TASK_RUNNING_NP;
	if (running != from) {
		/* 0: it could go on. */
		posix_trace_hook_context_switch_np(0, from->number, running->number,
		    from->state != POSIX_TRACE_TASK_READY_NP, from->priority, running->priority);
		posix_trace_task_switch_np(&running->trace);
	}
	return running->stack;
}

/* With interrupts away; who is more urgent runs as soon as they come. */
static void becomes(struct kernel_task *task, uint8_t state, const void *object)
{
	task->state = state;
	task->waits_for = object;
	posix_trace_hook_task_state_np(
	    task->number, state, task->priority, (uint64_t)(uintptr_t)object);
	if (running != &boot && most_urgent() != running)
		kernel_port_ask_switch();
}

static void gets_priority(struct kernel_task *task, uint8_t priority)
{
	if (task->priority != priority)
		posix_trace_hook_priority_np(task->number, priority);
	task->priority = priority;
}

/* ---- Tasks ---- */

void kernel_task(struct kernel_task *task, const char *name, uint8_t priority, void (*run)(void),
    uint32_t *stack, size_t words)
{
	static uint32_t count;

	*task = (struct kernel_task){ .number = ++count,
		.base = priority,
		.priority = priority,
		.state = POSIX_TRACE_TASK_READY_NP,
		.stack = kernel_port_stack(stack + words, run) };
	posix_trace_task_begin_np(&task->trace, task->number, name);
	task->next = tasks;
	tasks = task;
}

void kernel_delete(struct kernel_task *task)
{
	uint32_t how = kernel_port_away();
	struct kernel_task **at = &tasks;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	becomes(task, POSIX_TRACE_TASK_ENDED_NP, NULL);
	kernel_port_back(how);
	posix_trace_task_end_np(&task->trace);
}

static void idle_run(void)
{
	for (;;)
		kernel_port_idle();
}

void kernel_run(void)
{
	static uint32_t stack[KERNEL_STACK_WORDS];

	kernel_task(&idle, "idle", 0, idle_run, stack, KERNEL_STACK_WORDS);
	kernel_port_begin();
}

/* ---- Waiting ---- */

void kernel_tick(void)
{
	uint32_t how = kernel_port_away();

	kernel_ms++;
	for (struct kernel_task *task = tasks; task; task = task->next) {
		if (task->state == POSIX_TRACE_TASK_SLEEPING_NP &&
		    (int32_t)(kernel_ms - task->wake_ms) >= 0)
			becomes(task, POSIX_TRACE_TASK_READY_NP, NULL);
	}
	kernel_port_back(how);
}

void kernel_sleep_until(uint32_t ms)
{
	uint32_t how = kernel_port_away();

	running->wake_ms = ms;
	if (running != &boot && (int32_t)(ms - kernel_ms) > 0)
		becomes(running, POSIX_TRACE_TASK_SLEEPING_NP, NULL);
	kernel_port_back(how);
}

/* Interrupts come, as they did, and others run, until @object may be looked at again. */
static void wait_for(const void *object, uint32_t how)
{
	becomes(running, POSIX_TRACE_TASK_BLOCKED_NP, object);
	kernel_port_back(how);
	(void)kernel_port_away();
}

static void wake(const void *object)
{
	for (struct kernel_task *task = tasks; task; task = task->next) {
		if (task->state == POSIX_TRACE_TASK_BLOCKED_NP && task->waits_for == object)
			becomes(task, POSIX_TRACE_TASK_READY_NP, NULL);
	}
}

/* ---- Mutexes ---- */

bool kernel_lock(struct kernel_mutex *mutex, bool wait)
{
	uint32_t how = kernel_port_away();
	struct kernel_task *owner;

	while ((owner = mutex->owner) && wait) {
		if (!mutex->untraced)
			posix_trace_hook_mutex_wait_np((uintptr_t)mutex, owner->number);
		if (mutex->inherits && owner->priority < running->priority)
			gets_priority(owner, running->priority);
		wait_for(mutex, how);
	}
	if (!owner) {
		mutex->owner = running;
		if (!mutex->untraced)
			posix_trace_hook_mutex_lock_np((uintptr_t)mutex, 0, 0);
	}
	kernel_port_back(how);
	return !owner;
}

void kernel_unlock(struct kernel_mutex *mutex)
{
	uint32_t how = kernel_port_away();

	if (!mutex->untraced)
		posix_trace_hook_mutex_unlock_np((uintptr_t)mutex, 0);
	mutex->owner = NULL;
	gets_priority(running, running->base);
	wake(mutex);
	kernel_port_back(how);
}

/* ---- Queues ---- */

bool kernel_queue_put(struct kernel_queue *queue, uint32_t item)
{
	uint32_t how = kernel_port_away();
	bool room = queue->put - queue->taken < KERNEL_QUEUE_ITEMS;

	if (room) {
		queue->item[queue->put++ % KERNEL_QUEUE_ITEMS] = item;
		posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, 0, 0);
		wake(queue);
	}
	kernel_port_back(how);
	return room;
}

uint32_t kernel_queue_take(struct kernel_queue *queue)
{
	uint32_t how = kernel_port_away(), item;

	posix_trace_hook_call_enter_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, sizeof(item));
	while (queue->put == queue->taken)
		wait_for(queue, how);
	item = queue->item[queue->taken++ % KERNEL_QUEUE_ITEMS];
	posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, sizeof(item), 0);
	kernel_port_back(how);
	return item;
}

/* ---- What libptrace's control calls wait by; port/bare/board.h ---- */

void pxt_board_idle(void)
{
	kernel_sleep_until(kernel_ms + 1);
}

_Static_assert(sizeof(struct kernel_mutex) <= PXT_BOARD_LOCK_BYTES, "");

bool pxt_board_lock(void *lock, bool wait)
{
	struct kernel_mutex *mutex = lock;

	mutex->inherits = true;
	mutex->untraced = true;
	return kernel_lock(mutex, wait);
}

void pxt_board_unlock(void *lock)
{
	kernel_unlock(lock);
}
