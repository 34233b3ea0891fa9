/* SPDX-License-Identifier: MIT */
/* label.c - what the labels of stream and directory have in common, and the directory's; see label.h. */
#include "core/process/label.h"

#include "core/process/directory.h"
#include "core/process/label_names.h"

#include <string.h>

void pxt_label_fill(struct pxt_label *label, size_t bytes, uint64_t key)
{
	label->order = PXT_LABEL_ORDER;
	label->version = PXT_LABEL_VERSION;
	label->bytes = bytes;
	label->key = key;
	label->pid = pxt_process_pid();
	label->word_bytes = sizeof(void *);
}

/* Its first bytes last, and at once: half of it is no magic number. */
void pxt_label_make_valid(struct pxt_label *label, const char *magic)
{
	uint32_t first;

	memcpy(&first, magic, sizeof(first));
	memcpy(label->magic + sizeof(first), magic + sizeof(first),
	    sizeof(label->magic) - sizeof(first));
	__atomic_store_n((uint32_t *)(void *)label->magic, first, __ATOMIC_RELEASE);
}

void pxt_label_directory(struct pxt_directory *directory)
{
	struct pxt_directory_label *label = &directory->label;
	const size_t entries = offsetof(struct pxt_directory, threads.entry);

	label->threads_at = offsetof(struct pxt_directory, threads);
	label->entries_at = (uint32_t)entries;
	label->entry_bytes = sizeof(struct pxt_thread);
	label->entries = CONFIG_PTRACE_MAX_THREADS;
	label->passes_at = offsetof(struct pxt_thread, passes);
	label->thread_at = offsetof(struct pxt_thread, thread);
	label->pid_at = offsetof(struct pxt_thread, pid);
	label->tid_at = offsetof(struct pxt_thread, tid);
	label->name_at = offsetof(struct pxt_thread, name);
	label->form =
	    sizeof(pxt_cell) == sizeof(struct pxt_slot) ? PXT_LABEL_WHOLE : PXT_LABEL_WORDS;
	pxt_label_put_names(label, PXT_NAMES_AT);
	/* No two processes have the same: pid, and when it began to trace. */
	pxt_label_fill(&label->label, sizeof(*directory),
	    pxt_port_ticks() ^ (uint64_t)pxt_process_pid() << 44);
	pxt_label_make_valid(&label->label, PXT_DIRECTORY_MAGIC);
}
