/* SPDX-License-Identifier: MIT */
/*
 * directory.h - the process' own block of memory: the name map with its descriptions, and the
 * thread table.  Beside a stream's block it is all that is needed to read a stream elsewhere.
 *
 *   concurrency: made under the process lock, never moved or given back in this process;
 *   its parts have their own rules (names.h, threads.h).
 *
 * It begins with a header (format/imageheader.h) and holds no pointers: it can be mapped anywhere, and
 * found in a dump.  Children share its pages instead of copying them, so that a fork brings no fault to
 * the parent's next trace point; a child that traces makes its own, with the names so far.
 */
#ifndef PXT_DIRECTORY_H
#define PXT_DIRECTORY_H

#include "core/process/names.h"
#include "core/process/threads.h"
#include "format/imageheader.h"

/*
 * ---- The image header at its beginning (format/imageheader.h) ----
 *
 * Only where the configuration has headers.  Written before any other thread finds the block.
 */

struct pxt_directory;

#if CONFIG_PTRACE_LABELS
#define PXT_DIRECTORY_HEADER struct pxt_directory_header header;

/* What all headers begin with, but for the magic number; @bytes: of the whole block. */
void pxt_imageheader_fill(struct pxt_imageheader *header, size_t bytes, uint64_t key);
/* The magic number: from now on a thread that finds the block takes it for what it says. */
void pxt_imageheader_make_valid(struct pxt_imageheader *header, const char *magic);
#else
#define PXT_DIRECTORY_HEADER
#endif

void pxt_imageheader_directory(struct pxt_directory *directory);

#if CONFIG_PTRACE_USEREVENTS
PXT_INLINE void pxt_imageheader_put_names(struct pxt_directory_header *header, uint32_t at)
{
	header->names_at = at;
	header->name_bytes = PXT_NAME_BYTES;
	header->names_max = PXT_NAMES_MAX;
	header->names_count_at = header->names_at + offsetof(struct pxt_names, count);
	header->format_offsets_at = header->names_at + offsetof(struct pxt_names, format_at);
	header->names_first_at = header->names_at + offsetof(struct pxt_names, names);
	header->pool_at = header->names_at + offsetof(struct pxt_names, pool);
	header->pool_bytes = CONFIG_PTRACE_FORMAT_POOL_BYTES;
	header->first_user_id = PXT_ID_USER_FIRST;
}
#else
PXT_INLINE void pxt_imageheader_put_names(struct pxt_directory_header *header, uint32_t at)
{
	header->names_at = at;
}
#endif

/* ---- The directory ---- */

/* core/process/forks.h: the pid namespaces of forked processes, in the order in which they came. */
#if CONFIG_PTRACE_INHERIT
#define PXT_SPACES        7u
#define PXT_SPACES_MEMBER _Atomic uint32_t spaces[PXT_SPACES];
#else
#define PXT_SPACES_MEMBER
#endif

struct pxt_directory {
	PXT_DIRECTORY_HEADER
	/* core/process/forks.h: the process that defines something; 0: none. */
	_Atomic uint32_t lock;
	PXT_SPACES_MEMBER
	struct pxt_thread_table threads;
	PXT_NAMES_MEMBER
};

/* NULL until the first event type or stream of the process. */
extern struct pxt_directory *pxt_directory;

/*
 * Its pages come when they are touched: of a process that does not trace of its own accord, for which they are
 * most of what its start costs.  Set before there is one, under the process lock.
 */
extern bool pxt_directory_sparse;

/* Makes it, if it is not there.  ENOMEM or 0.  Under the process lock. */
int pxt_directory_start(void);
/* In a child that comes back into a trace point (forked.h): the forked processes' one, which the child goes on with, at another address. */
bool pxt_directory_move(void);

/* ---- A thread says its name, while it can be asked ---- */

/*
 * The calling thread has time and says its name, once: who creates a stream, attaches or is the first to
 * name a type is known where no thread can be asked any more.  [process lock held]
 */
void pxt_directory_introduce(void);

#endif
