/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - see kernel.h.
 *
 * Page: posix_trace_task_begin_np, posix_trace_task_switch_np, posix_trace_task_end_np,
 * posix_trace_interrupt_begin_np, posix_trace_interrupt_end_np - tasks and interrupts of a system without threads of POSIX
 */
#include "kernel.h"

#include "kernel_port.h"

static struct kernel_task *tasks; /* all of them */
static struct kernel_task idle;
/* Whoever runs before the kernel does. */
static struct kernel_task boot = { .state = POSIX_TRACE_TASK_ENDED_NP };
static struct kernel_task *running = &boot;
static uint32_t idle_stack[KERNEL_STACK_WORDS];
static volatile uint32_t now_ms;
static uint32_t count;

static struct kernel_task *most_urgent(void)
{
	struct kernel_task *best = &idle;

	for (struct kernel_task *task = tasks; task; task = task->next) {
		bool ready = task->state == POSIX_TRACE_TASK_READY_NP ||
		             task->state == POSIX_TRACE_TASK_RUNNING_NP;

		if (ready && (task->priority > best->priority ||
		                 (task->priority == best->priority && task == running)))
			best = task;
	}
	return best;
}

/* With interrupts away. */
static void schedule(void)
{
	if (running != &boot && most_urgent() != running)
		kernel_port_ask_switch();
}

static void becomes(struct kernel_task *task, uint8_t state, const void *object)
{
	task->state = state;
	task->waits_for = object;
	posix_trace_hook_task_state_np(
	    task->number, state, task->priority, (uint64_t)(uintptr_t)object);
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

static void idle_run(void)
{
	for (;;)
		kernel_port_idle();
}

void kernel_task(struct kernel_task *task, const char *name, uint8_t priority, void (*run)(void),
    uint32_t *stack, size_t words)
{
	task->name = name;
	task->number = ++count;
	task->base = priority;
	task->priority = priority;
	task->state = POSIX_TRACE_TASK_READY_NP;
	task->stack = kernel_port_stack(stack + words, run);
	posix_trace_task_begin_np(&task->trace, task->number, name);
	if (task != &idle) {
		task->next = tasks;
		tasks = task;
	}
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

void kernel_run(void)
{
	kernel_task(&idle, "idle", 0, idle_run, idle_stack, KERNEL_STACK_WORDS);
	kernel_port_begin();
}

void kernel_tick(void)
{
	uint32_t how = kernel_port_away();

	now_ms++;
	for (struct kernel_task *task = tasks; task; task = task->next) {
		if (task->state == POSIX_TRACE_TASK_SLEEPING_NP &&
		    (int32_t)(now_ms - task->wake_ms) >= 0)
			becomes(task, POSIX_TRACE_TASK_READY_NP, NULL);
	}
	schedule();
	kernel_port_back(how);
}

uint32_t kernel_ms(void)
{
	return now_ms;
}

void kernel_sleep_until(uint32_t ms)
{
	uint32_t how = kernel_port_away();

	if ((int32_t)(ms - now_ms) > 0) {
		running->wake_ms = ms;
		becomes(running, POSIX_TRACE_TASK_SLEEPING_NP, NULL);
		schedule();
	}
	kernel_port_back(how);
}

/* Whoever waits for @object may look again. */
static void wake(const void *object)
{
	for (struct kernel_task *task = tasks; task; task = task->next) {
		if (task->state == POSIX_TRACE_TASK_BLOCKED_NP && task->waits_for == object)
			becomes(task, POSIX_TRACE_TASK_READY_NP, NULL);
	}
	schedule();
}

/* Interrupts come here, and other tasks run, until somebody wakes those who wait for @object. */
static void wait_for(const void *object, uint32_t how)
{
	becomes(running, POSIX_TRACE_TASK_BLOCKED_NP, object);
	schedule();
	kernel_port_back(how);
}

static void takes(struct kernel_mutex *mutex)
{
	mutex->owner = running;
	if (!mutex->untraced)
		posix_trace_hook_mutex_lock_np((uintptr_t)mutex, 0, 0);
}

/* The running task waits for it, and its owner hurries. */
static void hurry(struct kernel_mutex *mutex)
{
	struct kernel_task *owner = mutex->owner;

	if (!mutex->inherits || owner->priority >= running->priority)
		return;
	owner->priority = running->priority;
	posix_trace_hook_priority_np(owner->number, owner->priority);
}

void kernel_lock(struct kernel_mutex *mutex)
{
	uint32_t how = kernel_port_away();

	if (mutex->owner && !mutex->untraced)
		posix_trace_hook_mutex_wait_np((uintptr_t)mutex, mutex->owner->number);
	while (mutex->owner) {
		hurry(mutex);
		wait_for(mutex, how);
		how = kernel_port_away();
	}
	takes(mutex);
	kernel_port_back(how);
}

bool kernel_try(struct kernel_mutex *mutex)
{
	uint32_t how = kernel_port_away();
	bool unlocked = !mutex->owner;

	if (unlocked)
		takes(mutex);
	kernel_port_back(how);
	return unlocked;
}

void kernel_unlock(struct kernel_mutex *mutex)
{
	uint32_t how = kernel_port_away();

	if (!mutex->untraced)
		posix_trace_hook_mutex_unlock_np((uintptr_t)mutex, 0);
	mutex->owner = NULL;
	if (running->priority != running->base) {
		running->priority = running->base;
		posix_trace_hook_priority_np(running->number, running->base);
	}
	wake(mutex);
	kernel_port_back(how);
}

void kernel_pause(void)
{
	if (running != &boot)
		kernel_sleep_until(now_ms + 1);
}

bool kernel_queue_put(struct kernel_queue *queue, uint32_t item)
{
	uint32_t how = kernel_port_away();
	bool room = queue->put - queue->taken < 8u;

	if (room) {
		queue->item[queue->put++ % 8u] = item;
		posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, 0, 0);
		wake(queue);
	}
	kernel_port_back(how);
	return room;
}

uint32_t kernel_queue_take(struct kernel_queue *queue)
{
	uint32_t how = kernel_port_away();
	uint32_t item;

	posix_trace_hook_call_enter_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, sizeof(item));
	while (queue->put == queue->taken) {
		wait_for(queue, how);
		how = kernel_port_away();
	}
	item = queue->item[queue->taken++ % 8u];
	posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_MQ_NP, (uintptr_t)queue, sizeof(item), 0);
	kernel_port_back(how);
	return item;
}
