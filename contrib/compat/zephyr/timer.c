/* SPDX-License-Identifier: MIT */
/* timer.c - Zephyr's event logger: the program's own clock. */
#include "logger.h"

void sys_k_event_logger_set_timer(sys_k_timer_func func)
{
	atomic_store_explicit(&zephyr_logger.timer, func, memory_order_relaxed);
}
