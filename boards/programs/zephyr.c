/* SPDX-License-Identifier: MIT */
/* zephyr.c - Zephyr's callbacks (contrib/rtos/zephyr_trace.c), called as its scheduler does. */
#include <zephyr/kernel.h>

typedef struct k_thread *task_t;

#include "kernel.h"

static struct k_thread threads[3];
static struct k_thread *current;
static struct k_mutex mutex;
static const k_timeout_t forever = { -1 };

struct k_thread *k_current_get(void)
{
	return current;
}

int k_thread_priority_get(struct k_thread *thread)
{
	return thread->priority;
}

const char *k_thread_name_get(struct k_thread *thread)
{
	return thread->name;
}

static void play_switch(task_t to)
{
	if (current)
		sys_trace_thread_switched_out_user();
	current = to;
	sys_trace_thread_switched_in_user();
}

static task_t play_task(const char *name, unsigned urgency)
{
	static uint32_t count;
	task_t thread = &threads[count++];

	thread->priority = (int)urgency;
	sys_trace_thread_create_user(thread);
	thread->name = name;
	sys_trace_thread_name_set_user(thread);
	if (count == 1)
		play_switch(thread);
	return thread;
}

static void play_ready(task_t thread)
{
	sys_trace_thread_sched_ready_user(thread);
}

static void play_sleep(void)
{
	sys_trace_k_thread_sleep_enter_user(forever);
}

static void play_wait(void)
{
	sys_trace_k_mutex_lock_blocking_user(&mutex, forever);
	sys_trace_thread_pend_user(current);
}

static void play_take(void)
{
	mutex.owner = current;
	mutex.lock_count++;
	sys_trace_k_mutex_lock_exit_user(&mutex, forever, 0);
}

static void play_give(void)
{
	sys_trace_k_mutex_unlock_enter_user(&mutex);
	mutex.lock_count--;
	mutex.owner = NULL;
}

#include "story.h"

int main(void)
{
	int result = story();

	sys_trace_thread_suspend_user(&threads[1]);
	sys_trace_thread_priority_set_user(&threads[1], 3);
	sys_trace_k_thread_usleep_enter_user(1);
	for (unsigned i = 0; i < 40; i++) {
		struct k_thread short_lived = { .name = "short" };

		sys_trace_thread_create_user(&short_lived);
		MUST(short_lived.custom_data);
		sys_trace_thread_abort_user(&short_lived);
	}
	return result;
}
