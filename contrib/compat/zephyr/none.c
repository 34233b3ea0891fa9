/* SPDX-License-Identifier: MIT */
/* none.c - Zephyr's event logger is off: its functions are empty ones in the header. */
#include <misc/kernel_event_hooks.h>
