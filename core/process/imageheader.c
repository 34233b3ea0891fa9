/* SPDX-License-Identifier: MIT */
/* imageheader.c - what the headers of stream and directory have in common, and the directory's; see imageheader.h. */
#include "core/process/directory.h"

void pxt_imageheader_fill(struct pxt_imageheader *header, size_t bytes, uint64_t key)
{
	header->order = PXT_IMAGEHEADER_ORDER;
	header->version = PXT_IMAGEHEADER_VERSION;
	header->bytes = bytes;
	header->key = key;
	header->pid = pxt_process_pid();
	header->word_bytes = sizeof(void *);
}

/* Its first bytes last, by one store: half of a magic number is not valid. */
void pxt_imageheader_make_valid(struct pxt_imageheader *header, const char *magic)
{
	uint32_t first;

	memcpy(&first, magic, sizeof(first));
	memcpy(header->magic + sizeof(first), magic + sizeof(first),
	    sizeof(header->magic) - sizeof(first));
	__atomic_store_n((uint32_t *)(void *)header->magic, first, __ATOMIC_RELEASE);
}

void pxt_imageheader_directory(struct pxt_directory *directory)
{
	struct pxt_directory_header *header = &directory->header;
	const size_t entries = offsetof(struct pxt_directory, threads.entry);

	header->threads_at = offsetof(struct pxt_directory, threads);
	header->entries_at = (uint32_t)entries;
	header->entry_bytes = sizeof(struct pxt_thread);
	header->entries = CONFIG_PTRACE_MAX_THREADS;
	header->passes_at = offsetof(struct pxt_thread, passes);
	header->thread_at = offsetof(struct pxt_thread, thread);
	header->pid_at = offsetof(struct pxt_thread, pid);
	header->tid_at = offsetof(struct pxt_thread, tid);
	header->name_at = offsetof(struct pxt_thread, name);
	header->form = sizeof(pxt_cell) == sizeof(struct pxt_slot) ? PXT_IMAGEHEADER_WHOLE
	                                                           : PXT_IMAGEHEADER_WORDS;
	pxt_imageheader_put_names(header, PXT_NAMES_AT);
	/* No two processes have the same: pid, and when it began to trace. */
	pxt_imageheader_fill(&header->header, sizeof(*directory),
	    pxt_port_ticks() ^ (uint64_t)pxt_process_pid() << 44);
	pxt_imageheader_make_valid(&header->header, PXT_DIRECTORY_MAGIC);
}
