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

#include "format/compiler.h"
#include "port/port_place.h"

#include <stddef.h>
#include <stdint.h>

struct pxt_port_file {
	int fd; /* the port's own duplicate, closed by exec */
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

#endif
