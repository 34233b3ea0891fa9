/* SPDX-License-Identifier: MIT */
/*
 * blackbox.h - what the files of the unit Black Box share: the list of replicas, room in files, process information.
 *
 *   concurrency: any thread may look at replicas; core/process/replica.h says who changes them.  The rest under
 *   the process lock.
 */
#ifndef PXT_BLACKBOX_H
#define PXT_BLACKBOX_H

#include "core/process/replica.h"
#include "core/stream/share.h"
#include "port/port_file.h"

/* NULL: there is none. */
struct pxt_directory *pxt_replica_of(uint32_t index);

/* There are replicas from now on. */
#if CONFIG_PTRACE_USEREVENTS
void pxt_replica_names_begin(void);
#else
PXT_OFF(pxt_replica_names_begin, void);
#endif

/*
 * Asks the port for a stream's room in a file, new or as a part of one that is there (filemap.c).
 *
 *   concurrency: under the process lock.
 */

struct pxt_block;

#if CONFIG_PTRACE_ATTACH
PXT_INLINE int pxt_room_take(const struct _pxt_attr *attr, size_t bytes)
{
	return pxt_attr_producer(attr) ? pxt_port_filemap_fill(attr->_pxt_file - 1, bytes)
	                               : pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}

/*
 * Zeroed memory of a new file, which nobody touched; behind it what the owner wants, and, if they are asked for, counts of
 * locks.  That stays when the stream is given back.
 */
PXT_INLINE int pxt_room_guest(const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block)
{
	bool counts = (attr->_pxt_flags & PXT_ATTR_COUNTS) != 0;
	size_t whole = PXT_LOCKTALLY_AT(bytes) + (counts ? sizeof(struct pxt_locktally) : 0u);
	void *memory = NULL;
	int error = pxt_port_filemap_untouched(attr->_pxt_file - 1, whole, &memory);

	*block = memory;
	return error;
}
#else
PXT_INLINE int pxt_room_take(const struct _pxt_attr *attr, size_t bytes)
{
	return pxt_port_filemap_extend(attr->_pxt_file - 1, bytes);
}

PXT_OFF_RETURNS(ENOMEM, int, pxt_room_guest, const struct _pxt_attr *attr, size_t bytes,
    struct pxt_block **block);
#endif

/*
 * Process information, for the files of streams (format/imageheader.h has its lines).
 *
 *   concurrency: under the process lock.
 */

/* Bytes that the text takes now. */
size_t pxt_procinfo_bytes(void);
/* Writes the lines that fit; returns their bytes. */
size_t pxt_procinfo_write(char *to, size_t room);

#endif
