/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the threads that the program has, and a lock of its own, make themselves known.
 *
 * Page: posix_trace_hook_mutex_lock_np, posix_trace_hook_mutex_unlock_np,
 * posix_trace_hook_mutex_wait_np, posix_trace_hook_context_switch_np,
 * posix_trace_hook_task_state_np, posix_trace_hook_kernel_np, posix_trace_hook_call_enter_np,
 * posix_trace_hook_call_exit_np, posix_trace_hook_priority_np, posix_trace_hook_debug_np,
 * POSIX_TRACE_HERE_NP - record system events
 * Page: posix_trace_system_event_np, posix_trace_thread_exclude_np - record a system event, or
 * leave a thread out
 * Page: posix_trace_thread_register_np, posix_trace_dump_threads_np - tell a trace of threads
 *
 * Prints:
 *	1 thread was recorded
 *	thread_state
 *	posix_trace_mutex_lock
 *	posix_trace_mutex_unlock
 *	posix_trace_general_debug
 */
#include <trace.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;

static void must(int error)
{
	if (error != 0)
		exit(1);
}

static void take(void)
{
	while (atomic_flag_test_and_set(&lock))
		continue;
	posix_trace_hook_mutex_lock_np((uintptr_t)&lock, 0, 0);
}

static void give(void)
{
	posix_trace_hook_mutex_unlock_np((uintptr_t)&lock, 0);
	atomic_flag_clear(&lock);
}

int main(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_info event;
	trace_id_t trid;
	size_t threads;
	size_t length;
	int nothing;

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_thread_register_np()); /* ahead of the first event */
	must(posix_trace_start(trid));
	must(posix_trace_dump_threads_np(&threads));
	(void)printf("%zu thread was recorded\n", threads);
	take();
	give();
	POSIX_TRACE_HERE_NP();
	must(posix_trace_thread_exclude_np(
	    1)); /* what this thread does from here on is not of interest */
	take();
	give();
	must(posix_trace_stop(trid));
	for (;;) {
		must(posix_trace_trygetnext_event(trid, &event, NULL, 0, &length, &nothing));
		if (nothing)
			break;
		must(posix_trace_eventid_get_name(trid, event.posix_event_id, name));
		if (event.posix_event_id >= POSIX_TRACE_MUTEX_WAIT_NP)
			(void)puts(name);
	}
	must(posix_trace_shutdown(trid));
	return 0;
}
