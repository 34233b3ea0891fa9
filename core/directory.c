/* SPDX-License-Identifier: MIT */
/* directory.c - the process' block of names and threads; see directory.h. */
#include "core/directory.h"

#include "core/names.h"
#include "core/process.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct pxt_directory *pxt_directory;

static struct pxt_directory *make(void)
{
	struct pxt_directory *made = pxt_port_alloc_shared(sizeof(*made));

	if (!made)
		return NULL;
	memcpy(made->magic, "PXTPROC1", sizeof(made->magic));
	made->version = PXT_DIRECTORY_VERSION;
	made->bytes = sizeof(*made);
	made->threads_offset = offsetof(struct pxt_directory, threads);
	made->pid = pxt_process_pid();
	pxt_names_init(made);
	return made;
}

int pxt_directory_start(void)
{
	if (!pxt_directory) {
		struct pxt_directory *made = make();

		if (!made)
			return ENOMEM;
		pxt_threads = &made->threads;
		/* Release: readers of names look without a lock. */
		__atomic_store_n(&pxt_directory, made, __ATOMIC_RELEASE);
	}
	return 0;
}

/*
 * The parent may define a name at this moment; what it has published is complete.  Without memory
 * the child goes on with its parent's names and has no thread table: it cannot trace.
 */
void pxt_directory_after_fork(void)
{
	struct pxt_directory *parents = pxt_directory;
	struct pxt_directory *made = parents ? make() : NULL;

	pxt_threads = NULL;
	if (!made)
		return;
	pxt_names_copy(made, parents);
	pxt_threads = &made->threads;
	__atomic_store_n(&pxt_directory, made, __ATOMIC_RELEASE);
	pxt_port_free(parents, sizeof(*parents));
}
