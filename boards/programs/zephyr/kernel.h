/* SPDX-License-Identifier: MIT */
/* kernel.h - as much of Zephyr's <zephyr/kernel.h> as contrib/rtos/zephyr_trace.c asks for, by its documentation. */
#ifndef ZEPHYR_KERNEL_H
#define ZEPHYR_KERNEL_H

#include <stdint.h>

struct k_thread {
	void *custom_data;
	const char *name;
	int priority;
};

struct k_mutex {
	struct k_thread *owner;
	uint32_t lock_count;
};

typedef struct {
	int64_t ticks;
} k_timeout_t;

struct k_thread *k_current_get(void);
int k_thread_priority_get(struct k_thread *thread);
const char *k_thread_name_get(struct k_thread *thread);

/* What Zephyr calls. */
void sys_trace_thread_create_user(struct k_thread *thread);
void sys_trace_thread_name_set_user(struct k_thread *thread);
void sys_trace_thread_abort_user(struct k_thread *thread);
void sys_trace_thread_sched_ready_user(struct k_thread *thread);
void sys_trace_thread_pend_user(struct k_thread *thread);
void sys_trace_thread_suspend_user(struct k_thread *thread);
void sys_trace_thread_priority_set_user(struct k_thread *thread, int priority);
void sys_trace_thread_switched_out_user(void);
void sys_trace_thread_switched_in_user(void);
void sys_trace_k_thread_sleep_enter_user(k_timeout_t timeout);
void sys_trace_k_thread_usleep_enter_user(int32_t us);
void sys_trace_k_mutex_lock_blocking_user(struct k_mutex *mutex, k_timeout_t timeout);
void sys_trace_k_mutex_lock_exit_user(struct k_mutex *mutex, k_timeout_t timeout, int ret);
void sys_trace_k_mutex_unlock_enter_user(struct k_mutex *mutex);

#endif
