/* SPDX-License-Identifier: MIT */
/*
 * zephyr_trace.c - Zephyr's callbacks of CONFIG_TRACING_USER as libptrace's hooks.  Compile it into the
 * application.
 *
 * It needs CONFIG_TRACING, CONFIG_TRACING_USER, CONFIG_THREAD_CUSTOM_DATA and CONFIG_THREAD_NAME, and libptrace
 * without CONFIG_PTRACE_LARGER_PRIORITY: a smaller number is more urgent.  Threads are numbered as they are created.
 * A Zephyr whose <tracing_user.h> has no callbacks for mutexes calls none: call posix_trace_hook_mutex_wait_np(),
 * _lock_np() and _unlock_np() around k_mutex_lock() and k_mutex_unlock() there.
 */
#include <stdbool.h>
#include <trace_hooks_np.h>
#include <trace_np.h>
#include <zephyr/kernel.h>

/* Threads that live at the same time and have words of their own. */
#ifndef ZEPHYR_TRACE_THREADS
#define ZEPHYR_TRACE_THREADS 16
#endif

/* A place with number 0 is nobody's. */
static struct posix_trace_task_np words[ZEPHYR_TRACE_THREADS];
static uint32_t created;
static uint32_t out;
static int32_t out_priority;
static bool out_waits;

/* 14 bits, of which a context switch has room for two.  A thread without words has one made of its address. */
static uint32_t number(const struct k_thread *thread)
{
	const struct posix_trace_task_np *own = thread->custom_data;

	return own ? own->_pxt_number : 0x4000u | ((uint32_t)(uintptr_t)thread >> 3 & 0x3fffu);
}

static void state(struct k_thread *thread, uint8_t state)
{
	posix_trace_hook_task_state_np(number(thread), state, k_thread_priority_get(thread), 0);
}

void sys_trace_thread_create_user(struct k_thread *thread)
{
	thread->custom_data = NULL;
	for (unsigned i = 0; i < ZEPHYR_TRACE_THREADS && !thread->custom_data; i++) {
		if (words[i]._pxt_number)
			continue;
		created = created % 0x3fffu + 1u;
		posix_trace_task_begin_np(&words[i], created, k_thread_name_get(thread));
		thread->custom_data = &words[i];
	}
	state(thread, POSIX_TRACE_TASK_CREATED_NP);
}

/* Names come after the creation. */
void sys_trace_thread_name_set_user(struct k_thread *thread)
{
	struct posix_trace_task_np *own = thread->custom_data;

	if (own)
		own->_pxt_name = k_thread_name_get(thread);
}

void sys_trace_thread_abort_user(struct k_thread *thread)
{
	struct posix_trace_task_np *own = thread->custom_data;

	state(thread, POSIX_TRACE_TASK_ENDED_NP);
	if (thread == k_current_get())
		posix_trace_task_switch_np(NULL);
	thread->custom_data = NULL;
	if (own) {
		posix_trace_task_end_np(own);
		own->_pxt_number = 0;
	}
}

void sys_trace_thread_sched_ready_user(struct k_thread *thread)
{
	state(thread, POSIX_TRACE_TASK_READY_NP);
}

void sys_trace_thread_pend_user(struct k_thread *thread)
{
	out_waits |= thread == k_current_get();
	state(thread, POSIX_TRACE_TASK_BLOCKED_NP);
}

void sys_trace_thread_suspend_user(struct k_thread *thread)
{
	out_waits |= thread == k_current_get();
	state(thread, POSIX_TRACE_TASK_SUSPENDED_NP);
}

/* Who sleeps is not pending. */
static void sleeps(void)
{
	out_waits = true;
	state(k_current_get(), POSIX_TRACE_TASK_SLEEPING_NP);
}

void sys_trace_k_thread_sleep_enter_user(k_timeout_t timeout)
{
	(void)timeout;
	sleeps();
}

void sys_trace_k_thread_usleep_enter_user(int32_t us)
{
	(void)us;
	sleeps();
}

void sys_trace_thread_priority_set_user(struct k_thread *thread, int priority)
{
	posix_trace_hook_priority_np(number(thread), priority);
}

void sys_trace_thread_switched_out_user(void)
{
	out = number(k_current_get());
	out_priority = k_thread_priority_get(k_current_get());
}

void sys_trace_thread_switched_in_user(void)
{
	struct k_thread *thread = k_current_get();

	if (out != number(thread)) {
		posix_trace_hook_context_switch_np(
		    0, out, number(thread), out_waits, out_priority, k_thread_priority_get(thread));
		posix_trace_task_switch_np(thread->custom_data);
	}
	out_waits = false;
}

/* ---- Mutexes: a thread may lock its own one again ---- */

void sys_trace_k_mutex_lock_blocking_user(struct k_mutex *mutex, k_timeout_t timeout)
{
	(void)timeout;
	posix_trace_hook_mutex_wait_np((uintptr_t)mutex, mutex->owner ? number(mutex->owner) : 0);
}

void sys_trace_k_mutex_lock_exit_user(struct k_mutex *mutex, k_timeout_t timeout, int ret)
{
	(void)timeout;
	if (ret != 0 || mutex->lock_count == 1)
		posix_trace_hook_mutex_lock_np((uintptr_t)mutex, 0, -ret);
}

void sys_trace_k_mutex_unlock_enter_user(struct k_mutex *mutex)
{
	if (mutex->owner == k_current_get() && mutex->lock_count == 1)
		posix_trace_hook_mutex_unlock_np((uintptr_t)mutex, 0);
}
