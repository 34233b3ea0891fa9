/* SPDX-License-Identifier: MIT */
/*
 * port_filemap.h - memory that is a file's, for streams that outlive their process.
 *
 * Descriptors are the caller's: none is kept, none is closed.  Errors are those that creating a
 * stream may have: EINVAL, the file will not do; ENOMEM, there is no room.  Never on the trace
 * path; no cancellation point; errno stays.
 *
 * concurrency: under the process lock.
 */
#ifndef PXT_PORT_FILEMAP_H
#define PXT_PORT_FILEMAP_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * The empty file becomes @bytes long and is mapped; its pages come when they are touched, as those of
 * memory from malloc() do.  Forked children do not have it.  pxt_port_free() ends that.  ENOMEM; EINVAL.
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
 * may be missing that nobody took yet.  EINVAL: it is no such file; EFBIG: it has more than @limit bytes;
 * ENOMEM: there is no room.  pxt_port_free() ends that.
 */
int pxt_port_filemap_view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes);
/*
 * Maps, for reading and writing, a file of @bytes bytes that another process has sealed against shrinking; its pages
 * are there then.  Errors as of view().
 */
int pxt_port_filemap_share(int fd, size_t bytes, void **memory);

#endif
