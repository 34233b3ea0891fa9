/* SPDX-License-Identifier: MIT */
/*
 * port_file.h - what Log Retrieval asks of the system: to look into a file, and memory.
 *
 * No function is a cancellation point, none touches errno, none needs a thread library.  Memory
 * is that of the C library, so that children made by fork() can go on reading an opened log.
 *
 * concurrency: any number of readers of one struct pxt_port_file; close excludes all others.
 */
#ifndef PXT_PORT_FILE_H
#define PXT_PORT_FILE_H

#include "port/port.h"

/* Whether the process is known to have one thread, so that nothing in it runs at the same time.  False: it may. */
#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
PXT_INLINE bool pxt_port_is_alone(void)
{
	return __libc_single_threaded;
}
#else
PXT_OFF_RETURNS(false, bool, pxt_port_is_alone, void);
#endif

struct pxt_port_file {
	int fd;   /* the port's own duplicate, closed by exec */
	int mark; /* of @fd: the port's own */
	/* The caller looks for EBADF by pxt_port_file_size() after many reads: a read alone does not say it. */
	bool looked_at_later;
	struct pxt_port_place place;
	/*
	 * Of several files that are read as one: the offset of its first byte, the one behind its last, and who
	 * goes on from there.
	 */
	uint64_t from;
	uint64_t to;
	const struct pxt_port_file *next; /* NULL: nobody, and @to means nothing */
};

/*
 * Duplicates @fd (DEC-22).  Returns EBADF when it is not open for reading, EINVAL for anything
 * but a regular file, EMFILE.
 */
int pxt_port_file_open(struct pxt_port_file *file, int fd);
void pxt_port_file_close(struct pxt_port_file *file);

/*
 * EBADF from the next two: the program has closed the descriptor, or opened another file at that number, which
 * is left alone, also by close.
 */

/* Bytes in this file alone at this moment. */
int pxt_port_file_size(const struct pxt_port_file *file, uint64_t *size);

/*
 * Reads at @offset, wherever the descriptor's own position is, and leaves that alone.  *done is
 * less than @bytes at the end of the file only, and where another one goes on.
 */
int pxt_port_file_read(
    const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done);

/* Resizes (from NULL: allocates); NULL when there is no memory, and @old remains. */
void *pxt_port_heap_resize(void *old, size_t bytes);
void pxt_port_heap_free(void *memory);

/*
 * Memory that is a file's, for streams that outlive their process.
 *
 * Descriptors are the caller's: none is kept, none is closed.  Errors are those that creating a
 * stream may have: EINVAL, the file will not do; ENOMEM, there is no room.  Never on the trace
 * path; no cancellation point; errno stays.
 *
 * concurrency: under the process lock.
 */

/* EINVAL for anything but an empty regular file that is open for reading and writing. */
int pxt_port_filemap_check(int fd);
/*
 * Makes the empty file @bytes long, all zero, and takes the room for them: a later store meets
 * no full disk.  After an error some of it may be taken.
 */
int pxt_port_filemap_extend(int fd, uint64_t bytes);
/* Maps the file, touched; forked children have it only if @inherited.  pxt_port_free() ends that. */
int pxt_port_filemap(int fd, size_t bytes, bool inherited, void **memory);
/* Empties the file; no thread may have it mapped. */
void pxt_port_filemap_cut(int fd);
/* From now on no process can make the file shorter, where the system and the kind of file allow that. */
void pxt_port_filemap_seal(int fd);
/* Whether both descriptors are open on one file. */
bool pxt_port_filemap_same(int fd, int other);

/* ---- Memory that one process writes and another one reads ---- */

/* As pxt_port_filemap_extend(), for files in memory alone, and sooner. */
int pxt_port_filemap_fill(int fd, size_t bytes);
/*
 * The file, which is empty, gets @bytes bytes, and these are mapped; its pages come when they are touched, as
 * those of memory from malloc() do.  Forked children do not have it.  pxt_port_free() ends that.  ENOMEM; EINVAL.
 */
int pxt_port_filemap_untouched(int fd, size_t bytes, void **memory);
/*
 * From now on no process can map the file for writing, write to it, make it shorter or take pages out
 * of it; what is mapped stays as it is.  ENOTSUP: not this file, or not on this system.
 */
int pxt_port_filemap_settle(int fd);
/*
 * Maps, for reading, a file that another process has settled, whole; forked children do not have it.
 * To touch it never fails and never waits for a process.  It takes no memory, but with @holes, where room
 * may be missing that nobody took yet: then it need only be sealed against shrinking, and may be written to as well.
 * EINVAL: not such a file; EFBIG: it has more than @limit bytes; ENOMEM: there is no room.  pxt_port_free() ends that.
 */
int pxt_port_filemap_view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes);
/* Takes the room of pages of such a view with holes, so that writing there never fails.  ENOMEM: there is none. */
int pxt_port_filemap_room(void *memory, size_t bytes);

#endif
