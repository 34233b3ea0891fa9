/* SPDX-License-Identifier: MIT */
/* directory.c - the process' block of names and threads; see directory.h. */
#include "core/process/directory.h"

#include "core/process/replica.h"
#include "port/port_sysinfo.h"

#include <trace_np.h>

struct pxt_directory *pxt_directory;
_Atomic bool pxt_names_specific; /* names.h; here, because names.c is not in each configuration */

bool pxt_directory_sparse;

static struct pxt_directory *make(void)
{
	struct pxt_directory *made = pxt_directory_sparse ? pxt_port_alloc_sparse(sizeof(*made))
	                                                  : pxt_port_alloc_shared(sizeof(*made));

	if (!made)
		return NULL;
	pxt_names_init(made);
	if (CONFIG_PTRACE_LABELS)
		pxt_imageheader_directory(made);
	return made;
}

/*
 * The parent may define a name at this moment; what it has published is complete.  Without memory
 * the child goes on with its parent's names and has no thread table: it cannot trace.  Without names,
 * if its thread would change what its parent has.
 */
static void make_own(bool comes_back)
{
	struct pxt_directory *parents = pxt_directory;
	struct pxt_directory *made = parents ? make() : NULL;

	pxt_threads = NULL;
	if (!made && comes_back)
		pxt_port_empty(parents, sizeof(*parents));
	if (!made)
		return;
	pxt_names_copy(made, parents);
	pxt_threads = &made->threads;
	__atomic_store_n(&pxt_directory, made, __ATOMIC_RELEASE);
	if (comes_back)
		pxt_port_empty(parents, sizeof(*parents));
	else
		pxt_port_free(parents, sizeof(*parents));
}

bool pxt_directory_move(void)
{
	struct pxt_directory *here = pxt_directory;
	struct pxt_directory *moved = here ? pxt_port_alias(here, sizeof(*here)) : NULL;

	if (!moved)
		return false;
	pxt_threads = &moved->threads;
	__atomic_store_n(&pxt_directory, moved, __ATOMIC_RELEASE);
	pxt_port_empty(here, sizeof(*here));
	return true;
}

static void nothing(void)
{
}

/* Forked processes have one directory; who is alone makes its own. */
static bool begin(bool shared, uint32_t inside)
{
	if (!shared)
		make_own(inside != 0);
	return shared;
}

int pxt_directory_start(void)
{
	if (!pxt_directory) {
		static const struct pxt_child_part part = {
			.lend = nothing, .abandon = nothing, .begin = begin
		};
		struct pxt_directory *made = make();

		if (!made)
			return ENOMEM;
		pxt_process_child_part(PXT_CHILD_DIRECTORY, &part);
		pxt_threads = &made->threads;
		/* Release: readers of names look without a lock. */
		__atomic_store_n(&pxt_directory, made, __ATOMIC_RELEASE);
	}
	return 0;
}

/* ---- The calling thread's name and number ---- */

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

void pxt_directory_introduce(void)
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
