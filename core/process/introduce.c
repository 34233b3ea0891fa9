/* SPDX-License-Identifier: MIT */
/* introduce.c - the calling thread's name and number in the table; see introduce.h. */
#include "core/process/introduce.h"

#include "core/process/directory.h"
#include "core/process/replica.h"
#include "core/process/threads.h"
#include "port/port_sysinfo.h"

#include <string.h>
#include <trace_np.h>

/* Under the process lock: replicas are written. */
static void note_name(struct pxt_thread *entry)
{
	struct pxt_port_thread_info self;

	if (entry == &pxt_no_entry)
		return;
	pxt_port_thread_self(&self);
	pxt_thread_set_name(entry, self.name);
	pxt_replica_named(pxt_self.index);
}

void pxt_introduce_self(void)
{
	pxt_threads_known();
	if (!pxt_self.entry->name[0])
		note_name(pxt_self.entry);
}

PXT_API int posix_trace_thread_register_np(void)
{
	int error;

	pxt_process_lock();
	error = pxt_directory_start();
	if (!error) {
		pxt_threads_known();
		note_name(pxt_self.entry);
	}
	pxt_process_unlock();
	return error;
}
