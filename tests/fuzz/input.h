/* SPDX-License-Identifier: MIT */
/* input.h - which target a program is, an input as a file, and a log out of it or into it. */
#ifndef PXT_FUZZ_INPUT_H
#define PXT_FUZZ_INPUT_H

#include "format/crc32.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * ---- A program of several targets ----
 *
 * It is the one whose name it was called by: fuzz_NAME.  The last of @targets has no name.
 */

struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
};

static inline int run_target(const struct fuzz_target *targets, const uint8_t *data, size_t size)
{
	static const struct fuzz_target *chosen;
	const char *name = program_invocation_short_name + strlen("fuzz_");

	if (!chosen) {
		for (chosen = targets; chosen->name && strcmp(chosen->name, name) != 0;)
			chosen++;
		if (!chosen->name) {
			(void)fprintf(stderr, "no target %s\n", name);
			exit(2);
		}
	}
	chosen->run(data, size);
	return 0;
}

/* ---- Inputs as files ---- */

/* A file without a name of its own; always the same one. */
static inline const char *input_path(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || (size && pwrite(fd, data, size, 0) != (ssize_t)size))
		abort();
	return path;
}

/* Whether a text is fit for a terminal: nothing in it is a command. */
static inline void check_text(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (((unsigned char)text[i] < 32 && text[i] != '\n') || text[i] == 127)
			abort();
}

/*
 * ---- A log that was made of whatever came in ----
 *
 * It is opened and read to its end, and does not contradict itself.
 */

#define EVENTS_MAX 100000u

/* The open file, whose log was read. */
static inline int read_log(const char *path)
{
	struct posix_trace_logerror_np error = { 0 };
	struct posix_trace_event_info event;
	unsigned char data[4096];
	int unavailable = 0;
	trace_id_t trid;
	size_t length;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || posix_trace_log_open_np(&fd, 1, 0, &trid, &error, sizeof(error))) {
		(void)fprintf(stderr, "%s: byte %llu: %s\n", path,
		    (unsigned long long)error.posix_offset_np, error.posix_reason_np);
		abort();
	}
	for (unsigned i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (posix_trace_getnext_event(
		        trid, &event, data, sizeof data, &length, &unavailable))
			abort();
	if (posix_trace_close(trid))
		abort();
	return fd;
}

#define FINDINGS 16u

static inline void check_log(const char *path)
{
	struct posix_trace_logfinding_np findings[FINDINGS];
	struct posix_trace_logcheck_np sum;
	int fd = read_log(path);

	if (posix_trace_log_check_np(
	        fd, &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL))
		abort();
	for (uint64_t i = 0; i < sum.posix_findings_np && i < FINDINGS; i++)
		(void)fprintf(stderr, "byte %llu: %s\n",
		    (unsigned long long)findings[i].posix_offset_np, findings[i].posix_reason_np);
	if (sum.posix_findings_np)
		abort();
	(void)close(fd);
	(void)unlink(path);
}

/*
 * ---- Checksums ----
 *
 * Those of a log are made right, whatever else is in it, so that a fuzzer comes past them.
 */

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

	if (room < 96 || memcmp(block, "PTLB", 4) != 0)
		return 16;
	length = get32(block + 8, swapped);
	if (length < 96 || length > room)
		return 16;
	put32(block + 92, pxt_crc32(pxt_crc32(0, block, 92), block + 96, length - 96), swapped);
	return (length + 15u) & ~(size_t)15;
}

static inline void sign(unsigned char *log, size_t size)
{
	bool swapped;

	if (size < 512)
		return;
	swapped = get32(log + 8, false) != 0x01020304u;
	put32(log + 508, pxt_crc32(0, log, 508), swapped);
	for (size_t at = 512; at < size;)
		at += sign_block(log + at, size - at, swapped);
}

/* The log behind @head bytes as a file; the first byte says whether its checksums are made right. */
static inline const char *input_log(const uint8_t *data, size_t size, size_t head)
{
	unsigned char *log = malloc(size);
	const char *path;

	if (!log)
		abort();
	memcpy(log, data + head, size - head);
	if (data[0] & 1u)
		sign(log, size - head);
	path = input_path(log, size - head);
	free(log);
	return path;
}

#endif
