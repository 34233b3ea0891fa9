/* SPDX-License-Identifier: MIT */
/* golden.c - see logs.h. */
#include "logs.h"

#include "format/crc32.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void golden_read(struct golden *golden, const char *name)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s.ptl", PXT_GOLDEN, name);
	file = fopen(path, "rb");
	CU_ASSERT_FATAL(file != NULL);
	golden->size = fread(golden->bytes, 1, sizeof(golden->bytes), file);
	CU_ASSERT_FATAL(golden->size > 512 && golden->size < sizeof(golden->bytes));
	CU_ASSERT_FATAL(fclose(file) == 0);
}

bool golden_little_endian(void)
{
	const uint16_t one = 1;

	return *(const unsigned char *)&one == 1;
}

const char *golden_native(void)
{
	return golden_little_endian() ? "le64" : "be64";
}

void golden_rewrite(int fd, const void *bytes, size_t size)
{
	CU_ASSERT_FATAL(ftruncate(fd, 0) == 0);
	CU_ASSERT_FATAL(pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

int golden_file(const void *bytes, size_t size)
{
	char name[] = "/tmp/pxt-golden-XXXXXX";
	int fd = mkstemp(name);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(unlink(name) == 0);
	golden_rewrite(fd, bytes, size);
	return fd;
}

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

void golden_sign(struct golden *golden, size_t at)
{
	unsigned char *block = golden->bytes + at;
	size_t place = at == 0 ? 508 : 92;
	uint32_t crc = pxt_crc32(0, block, place);

	if (at != 0)
		crc = pxt_crc32(crc, block + 96, get32(block + 8) - 96);
	memcpy(block + place, &crc, sizeof(crc));
}

void golden_put(struct golden *golden, size_t at, unsigned bytes, uint64_t number)
{
	const unsigned char *from = (const unsigned char *)&number;

	memcpy(golden->bytes + at, golden_little_endian() ? from : from + sizeof(number) - bytes,
	    bytes);
}

void golden_cut(struct golden *golden, size_t from, size_t to)
{
	memmove(golden->bytes + from, golden->bytes + to, golden->size - to);
	golden->size -= to - from;
}

void golden_double(struct golden *golden, size_t from, size_t to)
{
	CU_ASSERT_FATAL(golden->size + (to - from) <= sizeof(golden->bytes));
	memmove(golden->bytes + to + (to - from), golden->bytes + to, golden->size - to);
	memcpy(golden->bytes + to, golden->bytes + from, to - from);
	golden->size += to - from;
}

size_t golden_block(const struct golden *golden, unsigned type, unsigned which)
{
	size_t at = get32(golden->bytes + 24);

	while (at < golden->size) {
		uint16_t its_type;

		memcpy(&its_type, golden->bytes + at + 4, sizeof(its_type));
		if (its_type == type && which-- == 0)
			return at;
		/* A frame of a LOOP log may be empty, and then has no length. */
		CU_ASSERT_FATAL(get32(golden->bytes + at + 8) >= 96);
		at += get32(golden->bytes + at + 8);
	}
	CU_FAIL_FATAL("no such block in the golden log");
	return 0;
}

/* Damage that is met before the end: *@error says where, and reading goes on to the end. */
static int read_through(trace_id_t trid, struct posix_trace_logerror_np *error)
{
	struct posix_trace_eventview_np views[64];
	struct posix_trace_logfinding_np finding;
	size_t count = 1;
	int result = 0;

	while (count) {
		if (posix_trace_getnext_events_np(trid, views, sizeof(*views), 64, &count) == 0)
			continue;
		if (posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)))
			return EIO;
		if (!result) {
			error->posix_offset_np = finding.posix_offset_np;
			memcpy(error->posix_reason_np, finding.posix_reason_np,
			    sizeof(error->posix_reason_np));
		}
		result = EINVAL;
		count = 1;
	}
	return result;
}

int golden_try(const void *bytes, size_t size, struct posix_trace_logerror_np *error)
{
	static int fd = -1; /* one file for all, because there are thousands of them */
	trace_id_t trid;
	int result;

	if (fd < 0)
		fd = golden_file(bytes, size);
	golden_rewrite(fd, bytes, size);
	memset(error, 0, sizeof(*error));
	result = posix_trace_log_open_np(&fd, 1, 0, &trid, error, sizeof(*error));
	if (result == 0) {
		result = read_through(trid, error);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
	return result;
}

trace_id_t golden_open(const char *name)
{
	struct posix_trace_logerror_np error = { 0, "" };
	struct golden golden;
	trace_id_t trid = 0;
	int fd;

	golden_read(&golden, name);
	fd = golden_file(golden.bytes, golden.size);
	PXT_CHECK(posix_trace_log_open_np(&fd, 1, 0, &trid, &error, sizeof(error)) == 0,
	    "%s: byte %llu: %s", name, (unsigned long long)error.posix_offset_np,
	    error.posix_reason_np);
	CU_ASSERT(close(fd) == 0);
	CU_ASSERT_FATAL(trid != 0);
	return trid;
}
