/* SPDX-License-Identifier: MIT */
/* dynamic.c - Zephyr's event logger: the masks of CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC. */
#include "logger.h"

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
