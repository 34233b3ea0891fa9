/* SPDX-License-Identifier: MIT */
/*
 * memory.c - memory for rings and tables: its own mapping, so that it can be kept from children, and touched, so
 * that the trace path meets no page fault (ruling 20); what is done around a fork, and at the end of a thread.
 */
#define _GNU_SOURCE
#include "port/posix/owncalls.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* From so many bytes on large pages are asked for: clearing them takes a third, and there are fewer faults. */
#define LARGE (UINT32_C(1) << 21)

static size_t page_size(void)
{
	long size = sysconf(_SC_PAGESIZE);

	return size > 0 ? (size_t)size : 4096u;
}

static size_t whole_pages(size_t bytes, size_t page)
{
	return (bytes + page - 1) & ~(page - 1);
}

static void *map_touched(size_t bytes, int sharing, size_t *size)
{
	size_t page = page_size();
	unsigned char *memory;

	*size = whole_pages(bytes, page);
	if (bytes == 0 || *size < bytes)
		return NULL;
	memory = mmap(NULL, *size, PROT_READ | PROT_WRITE,
	    sharing | MAP_ANONYMOUS | (*size < LARGE ? MAP_POPULATE : 0), -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (*size >= LARGE) {
		(void)madvise(memory, *size, MADV_HUGEPAGE);
		(void)madvise(memory, *size, MADV_POPULATE_WRITE);
	}
	/* Both ways to populate give up silently when memory is short; writing does not. */
	for (size_t at = 0; at < *size; at += page)
		((volatile unsigned char *)memory)[at] = 0;
	return memory;
}

/*
 * A child would otherwise share these pages copy-on-write, and the next event of its *parent*
 * would take the fault.  The child finds a hole: a thread that holds such memory forgets it at fork.
 */
void *pxt_port_alloc(size_t bytes)
{
	PXT_KEEP_ERRNO();
	size_t size;
	void *memory = map_touched(bytes, MAP_PRIVATE, &size);

	if (memory)
		(void)madvise(memory, size, MADV_DONTFORK);
	return memory;
}

void *pxt_port_alloc_shared(size_t bytes)
{
	PXT_KEEP_ERRNO();
	size_t size;

	return map_touched(bytes, MAP_SHARED, &size);
}

void *pxt_port_alloc_sparse(size_t bytes)
{
	PXT_KEEP_ERRNO();
	void *memory = mmap(NULL, whole_pages(bytes, page_size()), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void pxt_port_free(void *memory, size_t bytes)
{
	PXT_KEEP_ERRNO();

	if (memory != NULL)
		(void)munmap(memory, whole_pages(bytes, page_size()));
}

/* One system call each, so that other threads never find a hole. */
void pxt_port_empty(void *memory, size_t bytes)
{
	PXT_KEEP_ERRNO();

	if (bytes != 0)
		(void)mmap(memory, whole_pages(bytes, page_size()), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

bool pxt_port_own(void *memory, size_t bytes, bool with_children)
{
	PXT_KEEP_ERRNO();
	size_t size;
	void *copy = map_touched(bytes, with_children ? MAP_SHARED : MAP_PRIVATE, &size);
	bool done = false;

	if (copy) {
		memcpy(copy, memory, bytes);
		done =
		    mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory) != MAP_FAILED;
		if (!done)
			(void)munmap(copy, size);
	}
	return done;
}

/* First the one, then the other: no child has a copy in between, which would cost this process faults. */
void pxt_port_lend(void *memory, size_t bytes)
{
	PXT_KEEP_ERRNO();
	size_t size = whole_pages(bytes, page_size());

	(void)madvise(memory, size, MADV_WIPEONFORK);
	(void)madvise(memory, size, MADV_DOFORK);
}

/* Of nothing at the old address: which stays, and the new one has the same pages. */
void *pxt_port_alias(void *memory, size_t bytes)
{
	PXT_KEEP_ERRNO();
	void *other = mremap(memory, 0, whole_pages(bytes, page_size()), MREMAP_MAYMOVE);

	return other == MAP_FAILED ? NULL : other;
}

bool pxt_port_wipe_on_fork(void *memory, size_t bytes)
{
	PXT_KEEP_ERRNO();

	return madvise(memory, bytes, MADV_WIPEONFORK) == 0;
}

/* ---- What is to be done about a fork, before it and after it; and about the end of a thread ---- */

void pxt_port_at_fork(void (*child)(void))
{
	(void)pthread_atfork(NULL, NULL, child);
}

void pxt_port_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)pthread_atfork(before, parent, child);
}

/* ---- The end of a thread ---- */

/* The C library keeps a value of the first keys in the thread itself; of others it may allocate. */
#define KEYS_WITHOUT_MEMORY 32u

static pthread_key_t key;
static void (*at_end)(void); /* NULL: nobody wants to know */

/*
 * In the last round but one, so that most destructors of the thread come before.  In the last one sanitizers
 * drop what they know of the thread: after that none of their code may run in it.
 */
static void one_round(void *round)
{
	const uintptr_t next = (uintptr_t)round + 1u;

	if (next < PTHREAD_DESTRUCTOR_ITERATIONS)
		(void)pthread_setspecific(
		    key, (void *)next); /* NOLINT(performance-no-int-to-ptr) */
	else
		at_end();
}

bool pxt_port_thread_end_watch(void (*end)(void))
{
	if (pthread_key_create(&key, one_round) != 0)
		return false;
	if (key >= KEYS_WITHOUT_MEMORY) {
		(void)pthread_key_delete(key);
		return false;
	}
	at_end = end;
	return true;
}

/* Threads that end later must not call a library that was unloaded. */
__attribute__((destructor)) static void forget(void)
{
	if (at_end)
		(void)pthread_key_delete(key);
	at_end = NULL;
}

void pxt_port_thread_end_mark(void)
{
	if (at_end)
		(void)pthread_setspecific(key, (void *)1); /* NOLINT(performance-no-int-to-ptr) */
}
