/* SPDX-License-Identifier: MIT */
/* spool.c - what comes through a pipe or a line, copied to a temporary file; see source.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/read/source.h"

#include "tools/output/out.h"
#include "tools/packed/packed.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 16u /* of the buffer below, in one pxt_spool_take() */

static bool failed(const struct pxt_spool *spool)
{
	pxt_complain("%s: cannot be copied to a temporary file: %s", spool->path, strerror(errno));
	return false;
}

/* A file without a name; -1: errno says why. */
static int temporary(void)
{
	FILE *file = tmpfile();
	int fd = -1;
	int error;

	if (file) {
		fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
		error = errno;
		(void)fclose(file);
		errno = error;
	}
	return fd;
}

bool pxt_spool_begin(struct pxt_spool *spool, const char *path, int from)
{
	*spool = (struct pxt_spool){ .path = path, .from = from, .to = temporary() };
	return spool->to >= 0 || failed(spool);
}

bool pxt_spool_take(struct pxt_spool *spool, int wait_ms)
{
	static char buffer[65536];

	for (unsigned i = 0; i < ROUNDS && !spool->ended; i++) {
		struct pollfd wait = { .fd = spool->from, .events = POLLIN };

		if (poll(&wait, 1, i == 0 ? wait_ms : 0) <= 0)
			break;
		ssize_t bytes = read(spool->from, buffer, sizeof buffer);
		if (bytes < 0 && errno != EINTR && errno != EAGAIN)
			return failed(spool);
		if (bytes > 0 && pxt_write_all(spool->to, buffer, (size_t)bytes) != 0)
			return failed(spool);
		spool->ended = bytes == 0;
		spool->bytes += bytes > 0 ? (uint64_t)bytes : 0;
	}
	return true;
}

/* True also while too little is there to tell. */
static bool may_be_log(int fd)
{
	unsigned char head[PXT_LOG_SEEMS_BYTES];

	return pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head || pxt_packed_is(fd) ||
	       pxt_logfmt_seems(head);
}

static bool may_be_memory(const struct pxt_spool *spool)
{
	unsigned char head[SELFMAG];

	if (spool->bytes <= PXT_SPOOL_MEMORY_MAX ||
	    (pread(spool->to, head, SELFMAG, 0) == SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0))
		return true;
	pxt_complain("%s: is no log and no core file, and still goes on behind %u MiB", spool->path,
	    (unsigned)(PXT_SPOOL_MEMORY_MAX >> 20));
	pxt_explain("copy the memory that is wanted into a file: head -c, or dd");
	return false;
}

bool pxt_spool_all(struct pxt_spool *spool, bool log)
{
	while (!spool->ended && (!log || may_be_log(spool->to))) {
		if (!pxt_spool_take(spool, -1) ||
		    (!log && !pxt_packed_is(spool->to) && !may_be_memory(spool)))
			return false;
	}
	return true;
}

static bool cannot_unpack(const char *path, int error)
{
	if (error == EPROTO) {
		pxt_complain("%s: the compressed log is damaged or cut off", path);
		pxt_explain(
		    "`zstd -t %s` says where; copy it again from where it was written", path);
	} else if (error == EFBIG) {
		pxt_complain("%s: becomes more than %u times as much, as no log does", path,
		    PXT_PACKED_RATIO);
		pxt_explain("what is in it after all is read after `unzstd %s`", path);
	} else if (error == ENOTSUP) {
		pxt_complain("%s: it is compressed: unzstd it first", path);
		pxt_explain("this pxtrace was built without libzstd (Debian: libzstd-dev)");
	} else {
		pxt_complain(
		    "%s: cannot be unpacked into a temporary file: %s", path, strerror(error));
	}
	return false;
}

bool pxt_spool_unpack(const char *path, int *fd, bool log)
{
	int to;
	int error;

	if (!pxt_packed_is(*fd))
		return true;
	to = temporary();
	error = to >= 0 ? pxt_packed_unpack(*fd, to, log) : errno;
	if (error) {
		if (to >= 0)
			(void)close(to);
		return cannot_unpack(path, error);
	}
	if (*fd > STDIN_FILENO)
		(void)close(*fd);
	*fd = to;
	return true;
}

void pxt_spool_end(struct pxt_spool *spool)
{
	if (spool->from > STDIN_FILENO)
		(void)close(spool->from);
	spool->from = -1;
}

/* ---- Memory of a growing log given back behind its reader ---- */

#define PAGE  4096u
#define PIECE ((uint64_t)1 << 20) /* is worth a call of the system */

static bool begin(struct pxt_behind *behind)
{
	unsigned char raw[PXT_LOG_HEADER_BYTES];

	if (pread(behind->fd, raw, sizeof raw, 0) != (ssize_t)sizeof raw ||
	    pxt_logfmt_get_header(raw, &behind->header) ||
	    behind->header.layout != PXT_LAYOUT_SEQUENTIAL)
		return false;
	behind->at = behind->header.header_bytes;
	behind->freed = (behind->at + PAGE - 1) / PAGE * PAGE;
	return behind->begun = true;
}

/*
 * The block at after->at, if event @number comes after it.  One that is no DATA block, or has no
 * records, was read as well when a later one was: each call ends at a DATA block that has some.
 */
static bool passed(const struct pxt_behind *behind, uint64_t number, uint32_t *length)
{
	unsigned char raw[PXT_LOG_BLOCK_BYTES];
	struct pxt_log_blockhead head;

	if (pread(behind->fd, raw, sizeof raw, (off_t)behind->at) != (ssize_t)sizeof raw ||
	    pxt_logfmt_get_block(raw, &behind->header, &head))
		return false;
	*length = head.length;
	return head.type != PXT_LOG_DATA || head.records_total + head.missed <= number;
}

void pxt_behind_read(struct pxt_behind *behind, uint64_t number)
{
	uint32_t length;

	if (behind->off || (!behind->begun && !begin(behind))) {
		behind->off = true;
		return;
	}
	/* Bound: blocks written so far, each passed once.  A block is no shorter than its head. */
	while (passed(behind, number, &length))
		behind->at += length;
	uint64_t end = behind->at / PAGE * PAGE;
	if (end < behind->freed + PIECE)
		return;
	behind->off = fallocate(behind->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	                  (off_t)behind->freed, (off_t)(end - behind->freed)) != 0;
	behind->freed = end;
}
