/* SPDX-License-Identifier: MIT */
/* identity.c - who the caller is: its task's name and number, or the interrupt's. */
#include "port/port_sysinfo.h"
#include "port_atomic.h"

#include <trace_np.h>

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
