/* SPDX-License-Identifier: MIT */
/*
 * settings.c - Zephyr's event logger: its masks and the program's own clock, as the configuration has them; and
 * the header alone where the logger is off.
 */
#include <misc/kernel_event_hooks.h>

#if CONFIG_KERNEL_EVENT_LOGGER
#include "logger.h"
#endif

#if CONFIG_KERNEL_EVENT_LOGGER && CONFIG_KERNEL_EVENT_LOGGER_CUSTOM_TIMESTAMP
void sys_k_event_logger_set_timer(sys_k_timer_func func)
{
	atomic_store_explicit(&zephyr_logger.timer, func, memory_order_relaxed);
}
#endif

#if CONFIG_KERNEL_EVENT_LOGGER && CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC
/* At the start nothing is recorded. */
uint32_t _kernel_event_logger_mask;

void sys_k_event_logger_set_mask(int value)
{
	__atomic_store_n(&_kernel_event_logger_mask, (uint32_t)value, __ATOMIC_RELAXED);
}

int sys_k_event_logger_get_mask(void)
{
	return (int)__atomic_load_n(&_kernel_event_logger_mask, __ATOMIC_RELAXED);
}
#endif

#if CONFIG_KERNEL_EVENT_LOGGER && CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC && CONFIG_TASK_MONITOR
void sys_k_event_logger_set_monitor_mask(int value)
{
	atomic_store_explicit(&zephyr_logger.monitor_mask, (uint32_t)value, memory_order_relaxed);
}

int sys_k_event_logger_get_monitor_mask(void)
{
	return (int)atomic_load_explicit(&zephyr_logger.monitor_mask, memory_order_relaxed);
}
#endif
