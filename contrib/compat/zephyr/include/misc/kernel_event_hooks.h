/* SPDX-License-Identifier: MIT */
/*
 * kernel_event_hooks.h - what a kernel calls to have its six messages recorded.  In Zephyr these
 * places are in the kernel; on a host the program, or whatever plays the kernel, calls them.
 *
 * Each does nothing where its symbol of the configuration is off, or the masks leave it out.
 */
#ifndef KERNEL_EVENT_HOOKS_H
#define KERNEL_EVENT_HOOKS_H

#include <misc/kernel_event_logger.h>

#ifdef __cplusplus
extern "C" {
#endif

#if CONFIG_KERNEL_EVENT_LOGGER
/* The time in messages: the low 32 bits of the clock, or the program's own. */
uint32_t kernel_event_time(void);
/* Records the task monitor's @event_id if its @kind (1, 2, 4, 8) is in the monitor's mask. */
void kernel_event_monitor(uint16_t event_id, uint32_t kind, const uint32_t *data, uint8_t words);
#else
static inline uint32_t kernel_event_time(void)
{
	return 0;
}
static inline void kernel_event_monitor(
    uint16_t event_id, uint32_t kind, const uint32_t *data, uint8_t words)
{
	(void)event_id, (void)kind, (void)data, (void)words;
}
#endif

/* Time, number of the interrupt. */
static inline void kernel_event_interrupt(uint32_t number)
{
	if (CONFIG_KERNEL_EVENT_LOGGER_INTERRUPT &&
	    sys_k_must_log_event(KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID)) {
		const uint32_t data[] = { kernel_event_time(), number };

		sys_k_event_logger_put(KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID, data, 2);
	}
}

/* Time, thread that leaves the processor. */
static inline void kernel_event_context_switch(uint32_t thread)
{
	if (CONFIG_KERNEL_EVENT_LOGGER_CONTEXT_SWITCH &&
	    sys_k_must_log_event(KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID)) {
		const uint32_t data[] = { kernel_event_time(), thread };

		sys_k_event_logger_put(KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID, data, 2);
	}
}

/* Time asleep (kernel_event_time() as the sleep began), time awake, interrupt that woke it. */
static inline void kernel_event_sleep(uint32_t asleep, uint32_t interrupt)
{
	if (CONFIG_KERNEL_EVENT_LOGGER_SLEEP &&
	    sys_k_must_log_event(KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID)) {
		const uint32_t data[] = { asleep, kernel_event_time(), interrupt };

		sys_k_event_logger_put(KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID, data, 3);
	}
}

/* Task monitor: time, task, new status. */
static inline void kernel_event_task_state(uint32_t task, uint32_t status)
{
	const uint32_t data[] = { kernel_event_time(), task, status };

	kernel_event_monitor(KERNEL_EVENT_LOGGER_TASK_MON_TASK_STATE_CHANGE_EVENT_ID, 2, data, 3);
}

/* Task monitor: time, task, address of the handler. */
static inline void kernel_event_command_packet(uint32_t task, uint32_t handler)
{
	const uint32_t data[] = { kernel_event_time(), task, handler };

	kernel_event_monitor(KERNEL_EVENT_LOGGER_TASK_MON_CMD_PACKET_EVENT_ID, 4, data, 3);
}

/* Task monitor: time, code of the event. */
static inline void kernel_event_kevent(uint32_t code)
{
	const uint32_t data[] = { kernel_event_time(), code };

	kernel_event_monitor(KERNEL_EVENT_LOGGER_TASK_MON_KEVENT_EVENT_ID, 8, data, 2);
}

#ifdef __cplusplus
}
#endif

#endif
