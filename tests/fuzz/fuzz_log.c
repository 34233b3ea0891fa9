/* SPDX-License-Identifier: MIT */
/*
 * fuzz_log.c - whatever the bytes are, Log Retrieval neither crashes nor hangs.
 *
 *	make_corpus.py corpus && clang -fsanitize=fuzzer,address,undefined ... fuzz_log.c
 *	./fuzz_log -max_len=65536 corpus
 *
 * Checksums would keep a fuzzer out of everything behind them.  The first byte of an input says
 * whether they are made right before the log is opened, and how it is read; the rest is the log.
 */
#define _GNU_SOURCE
#include "base/crc32.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define SIGN    1u
#define GROWING 2u
#define SPOIL   4u

#define EVENTS_MAX 100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t get32(const unsigned char *at, bool swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap32(value) : value;
}

static void put32(unsigned char *at, uint32_t value, bool swapped)
{
	value = swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
}

/* Makes the checksum of the block at @block right; returns its length as it says, or 16. */
static size_t sign_block(unsigned char *block, size_t room, bool swapped)
{
	uint32_t length;
	uint32_t crc;

	if (room < 96 || memcmp(block, "PTLB", 4) != 0)
		return 16;
	length = get32(block + 8, swapped);
	if (length < 96 || length > room)
		return 16;
	crc = pxt_crc32(pxt_crc32(0, block, 92), block + 96, length - 96);
	put32(block + 92, crc, swapped);
	return (length + 15u) & ~(size_t)15;
}

static void sign(unsigned char *log, size_t size)
{
	bool swapped;

	if (size < 512)
		return;
	swapped = get32(log + 8, false) != 0x01020304u;
	put32(log + 508, pxt_crc32(0, log, 508), swapped);
	for (size_t at = 512; at < size;)
		at += sign_block(log + at, size - at, swapped);
}

static void read_fields(trace_id_t trid, trace_event_id_t id, const unsigned char *data, size_t len)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_field_np field;
	uint32_t cursor = 0;

	if (posix_trace_eventid_getformat_np(trid, id, format))
		return;
	for (unsigned i = 0; i < 2 * POSIX_TRACE_FIELDS_MAX_NP; i++) {
		if (posix_trace_field_next_np(format, data, len, 0, &cursor, &field))
			return;
	}
	abort();
}

static void read_events(trace_id_t trid, size_t room)
{
	struct timespec last = { 0, 0 };
	struct posix_trace_event_info event;
	unsigned char data[4096];
	int unavailable;
	size_t len;

	for (unsigned i = 0; i < EVENTS_MAX; i++) {
		int error = posix_trace_getnext_event(trid, &event, data, room, &len, &unavailable);

		if (error && error != EIO)
			abort();
		if (unavailable)
			return;
		if (error || len > room || event.posix_timestamp.tv_nsec < 0 ||
		    event.posix_timestamp.tv_nsec > 999999999 ||
		    event.posix_timestamp.tv_sec < last.tv_sec)
			abort();
		last = event.posix_timestamp;
		read_fields(trid, event.posix_event_id, data, len);
	}
}

static void ask(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	struct posix_trace_logthread_np thread;
	struct posix_trace_logmodule_np module;
	struct posix_trace_clock_np clock;
	struct posix_trace_loginfo_np info;
	trace_event_id_t id;
	trace_attr_t attr;
	int unavailable = 0;

	if (posix_trace_log_getinfo_np(trid, &info) || posix_trace_get_attr(trid, &attr) ||
	    posix_trace_get_status(trid, &status) || posix_trace_getclock_np(trid, &clock))
		abort();
	for (uint32_t i = 0; i < info.posix_threads_np; i++) {
		if (posix_trace_log_getthread_np(trid, i, &thread))
			abort();
	}
	for (uint32_t i = 0; i < info.posix_modules_np; i++) {
		if (posix_trace_log_getmodule_np(trid, i, &module))
			abort();
	}
	for (unsigned i = 0; i <= 1024 && !unavailable; i++) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) ||
		    (!unavailable && posix_trace_eventid_get_name(trid, id, name)))
			abort();
	}
	if (!unavailable)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct posix_trace_logerror_np error;
	unsigned char *log;
	trace_id_t trid;
	int result;
	int fd;

	if (size < 2)
		return 0;
	log = malloc(size - 1);
	fd = memfd_create("log", 0);
	if (!log || fd < 0)
		abort();
	memcpy(log, data + 1, size - 1);
	if (data[0] & SIGN)
		sign(log, size - 1);
	if (write(fd, log, size - 1) != (ssize_t)(size - 1))
		abort();
	result = data[0] & GROWING ? posix_trace_open_growing_np(fd, &trid, &error)
	                           : posix_trace_open_explained_np(fd, &trid, &error);
	if (result && (result != EINVAL || error.posix_reason_np[0] == '\0'))
		abort();
	if (!result) {
		ask(trid);
		if (data[0] & SPOIL && ftruncate(fd, (off_t)(size / 2)))
			abort();
		read_events(trid, 4096);
		if (posix_trace_rewind(trid))
			abort();
		read_events(trid, 7);
		if (posix_trace_close(trid))
			abort();
	}
	(void)close(fd);
	free(log);
	return 0;
}
