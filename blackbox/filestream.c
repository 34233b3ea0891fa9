/* SPDX-License-Identifier: MIT */
/* filestream.c - a stream's file, from creation to end; see core/control/filestream.h. */
#include "core/control/filestream.h"

#include "base/attr.h"
#include "blackbox/blackbox.h"
#include "core/process/directory.h"
#include "core/process/replica.h"
#include "port/port_file.h"
#include "port/port_sysinfo.h"

#include <errno.h>

#define PAGE 4096u

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* What could not be finished leaves no trace. */
static int map_file(const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block)
{
	int fd = attr->_pxt_file - 1;
	void *memory = NULL;
	int error;

	if (pxt_attr_guest(attr))
		return pxt_room_guest(attr, bytes, block);
	error = pxt_port_filemap_check(fd);
	if (error)
		return error;
	error = pxt_room_take(attr, bytes);
	PXT_TESTPOINT(PXT_TP_FILE_TAKEN);
	if (!error)
		error = pxt_port_filemap(
		    fd, bytes, attr->_pxt_inherit == POSIX_TRACE_INHERITED, &memory);
	PXT_TESTPOINT(PXT_TP_FILE_MAPPED);
	if (error)
		pxt_port_filemap_cut(fd);
	*block = memory;
	return error;
}

int pxt_filestream_make(
    const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	size_t directory_at = whole_pages(bytes);
	size_t procinfo_at = whole_pages(directory_at + sizeof(struct pxt_directory));
	bool guest = pxt_attr_guest(attr);
	int error;

	/* What another process reads while this one lives has its directory beside it (attach/), or behind it. */
	*whole = guest                     ? procinfo_at + PXT_ROOM_GUEST
	         : pxt_attr_producer(attr) ? directory_at
	                                   : whole_pages(procinfo_at + pxt_procinfo_bytes());
	if (*whole < bytes)
		return ENOMEM;
	error = map_file(attr, *whole, block);
	if (!error && (guest || !pxt_attr_producer(attr)))
		(*block)->header.directory_at = directory_at;
	if (!error && !pxt_attr_producer(attr))
		(*block)->header.procinfo_at = procinfo_at;
	return error;
}

/* In the header as well: what recovers a stream without more than its directory finds it there. */
static void tell_process(struct pxt_directory_header *header)
{
	struct timespec start;

	pxt_port_executable(header->executable, sizeof(header->executable));
	pxt_port_host(header->host, sizeof(header->host));
	pxt_port_process_start(&start);
	header->started_sec = start.tv_sec;
	header->started_nsec = (uint32_t)start.tv_nsec;
}

void pxt_filestream_fill(struct pxt_block *block, uint32_t index, size_t whole)
{
	struct pxt_stream_header *header = &block->header;
	unsigned char *bytes = (unsigned char *)block;
	struct pxt_directory *replica;

	if (!header->directory_at)
		return;
	replica = (struct pxt_directory *)(void *)(bytes + header->directory_at);
	pxt_replica_begin(index, replica);
	if (!header->procinfo_at)
		return;
	tell_process(&replica->header);
	header->procinfo_bytes = (uint32_t)pxt_procinfo_write(
	    (char *)bytes + header->procinfo_at, whole - (size_t)header->procinfo_at);
	PXT_TESTPOINT(PXT_TP_FILE_FILLED);
}

void pxt_filestream_publish(struct pxt_block *block)
{
	/* An attachment's is sealed further (attach/producer.c). */
	if (!pxt_attr_guest(&block->attr))
		pxt_port_filemap_seal(block->attr._pxt_file - 1);
	/* Closed soon, and another file's then. */
	block->attr._pxt_file = 0;
}
