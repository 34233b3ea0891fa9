/* SPDX-License-Identifier: MIT */
/* golden.h - the golden logs, as they are or spoilt, in files of the test's own. */
#ifndef PXT_GOLDEN_H
#define PXT_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define GOLDEN_MAX 8192

struct golden {
	unsigned char bytes[GOLDEN_MAX];
	size_t size;
};

/* Reads NAME.ptl of those that make_golden.py made. */
void golden_read(struct golden *golden, const char *name);
/* The one of 64 bits in this machine's byte order: its name, and whether that is the lowest byte first. */
const char *golden_native(void);
bool golden_little_endian(void);
/* A descriptor of a new, nameless file with these bytes. */
int golden_file(const void *bytes, size_t size);
/* Replaces the file's content. */
void golden_rewrite(int fd, const void *bytes, size_t size);
/* Makes the checksum of the head (@at 0) or of the block at @at right again. */
void golden_sign(struct golden *golden, size_t at);
/* Offset of the @which-th block (from 0) of @type in a sequential log of this byte order. */
size_t golden_block(const struct golden *golden, unsigned type, unsigned which);
/*
 * What posix_trace_log_open_np() says to these bytes, or what reading finds damaged first (EINVAL as well); a
 * log that it takes is closed.
 */
int golden_try(const void *bytes, size_t size, struct posix_trace_logerror_np *error);
/* Opens a golden log, fatally. */
trace_id_t golden_open(const char *name);

#endif
