/* SPDX-License-Identifier: MIT */
/* monitor.c - Zephyr's event logger: the mask of the task monitor. */
#include "logger.h"

void sys_k_event_logger_set_monitor_mask(int value)
{
	atomic_store_explicit(&zephyr_logger.monitor_mask, (uint32_t)value, memory_order_relaxed);
}

int sys_k_event_logger_get_monitor_mask(void)
{
	return (int)atomic_load_explicit(&zephyr_logger.monitor_mask, memory_order_relaxed);
}
