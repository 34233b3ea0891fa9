/* SPDX-License-Identifier: MIT */
/* thread.c - helper threads that cannot be had. */
#include "fakes.h"
#include "port/port.h"

struct pxt_fault pxt_fault_thread;

PXT_WRAPPED(int, pxt_port_thread_start,
    (struct pxt_port_thread * thread, void (*run)(void *), void *argument, int priority))
{
	if (pxt_fault_hit(&pxt_fault_thread))
		return pxt_fault_thread.error;
	return __real_pxt_port_thread_start(thread, run, argument, priority);
}
