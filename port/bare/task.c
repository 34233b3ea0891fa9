/* SPDX-License-Identifier: MIT */
/*
 * task.c - tasks and interrupts: whose words a trace point finds, and their names.
 *
 * A task's words lie in its control block, and the system's switch says which are in force.  An
 * interrupt has words in a table here.  So an interrupt or a task between two steps of a trace point
 * changes nothing there.
 */
#include "port/port_sysinfo.h"

#include "port_atomic.h"

#include <trace_np.h>

/* Interrupts have numbers from here on, so that none is a task's. */
#define INTERRUPTS 0x8000u

_Static_assert(offsetof(struct posix_trace_task_np, _pxt_number) == PXT_PORT_WORDS_BYTES,
    "where pxt_port_tid() looks");

static struct posix_trace_task_np first; /* until a task runs */
/* The last one is of all interrupts that find no other place. */
static struct posix_trace_task_np interrupts[CONFIG_PTRACE_INTERRUPTS + 1u];

void *pxt_port_words_of_task = &first;

/* A place that was given to a number stays its own.  Bound: the table's length. */
void *pxt_port_words_of_interrupt(uint32_t number)
{
	struct posix_trace_task_np *place = interrupts;

	number |= INTERRUPTS;
	for (; place < interrupts + CONFIG_PTRACE_INTERRUPTS; place++) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(&place->_pxt_number, &free, number, false,
		        __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    free == number)
			return place;
	}
	place->_pxt_number = INTERRUPTS;
	return place;
}

PXT_API void posix_trace_task_begin_np(
    struct posix_trace_task_np *task, uint32_t number, const char *name)
{
	memset(task, 0, sizeof(*task));
	task->_pxt_number = number;
	task->_pxt_name = name;
}

PXT_API void posix_trace_task_switch_np(struct posix_trace_task_np *task)
{
	pxt_port_words_of_task = task ? task : &first;
}

PXT_API void *posix_trace_interrupt_begin_np(uint32_t number)
{
	void *interrupted = pxt_port_words_of_task;

	pxt_port_words_of_task = pxt_port_words_of_interrupt(number);
	return interrupted;
}

PXT_API void posix_trace_interrupt_end_np(void *interrupted)
{
	pxt_port_words_of_task = interrupted;
}

/* ---- Who the caller is: its task's name and number, or the interrupt's ---- */

void pxt_port_thread_self(struct pxt_port_thread_info *self)
{
	const struct posix_trace_task_np *own = pxt_port_words();
	const char *name = own->_pxt_name;
	size_t length = 0;

	*self = (struct pxt_port_thread_info){ .thread = (uintptr_t)own, .tid = pxt_port_tid() };
	if (!name && own->_pxt_number)
		name = "interrupt";
	for (; name && name[length] && length < sizeof(self->name) - 1u; length++)
		self->name[length] = name[length];
}
