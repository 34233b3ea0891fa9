/* SPDX-License-Identifier: MIT */
/*
 * packed.h - logs that are compressed by zstd: told by their first bytes when they are read, by the end of
 * their name when they are written.
 *
 * Where this pxtrace was built without libzstd, reading and writing are ENOTSUP.
 */
#ifndef PXTRACE_PACKED_H
#define PXTRACE_PACKED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct pxt_packer;

/* Whether what is written under this name is to be compressed: it ends in ".zst". */
static inline bool pxt_packed_named(const char *path)
{
	size_t bytes = strlen(path);

	return bytes > 4 && strcmp(path + bytes - 4, ".zst") == 0;
}

/* Whether the file begins as a compressed one does. */
static inline bool pxt_packed_is(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof magic, 0) == sizeof magic &&
	       memcmp(magic, "\x28\xb5\x2f\xfd", sizeof magic) == 0;
}

#ifdef PXTRACE_HAS_ZSTD

/* NULL: @error says why, ENOTSUP or ENOMEM. */
struct pxt_packer *pxt_packer_begin(int *error);
/* 0 or an error number; some of it may be kept until the end. */
int pxt_packer_put(struct pxt_packer *packer, int fd, const void *bytes, size_t count);
/* The rest; 0 or an error number. */
int pxt_packer_end(struct pxt_packer *packer, int fd);
void pxt_packer_free(struct pxt_packer *packer);

/*
 * All of @from, unpacked, into @to, which is a file.  @log: if it does not begin as a log does, only its
 * beginning.  0 or an error number: EPROTO, @from is damaged or cut off; EFBIG, it becomes more than
 * PXT_PACKED_RATIO times as much and PXT_PACKED_LEAST, which is not believed; ENOTSUP; what reading and
 * writing return.
 */
int pxt_packed_unpack(int from, int to, bool log);

#else

/* Without libzstd no log is compressed or unpacked. */

static inline struct pxt_packer *pxt_packer_begin(int *error)
{
	*error = ENOTSUP;
	return NULL;
}

static inline int pxt_packer_put(struct pxt_packer *packer, int fd, const void *bytes, size_t count)
{
	(void)packer;
	(void)fd;
	(void)bytes;
	(void)count;
	return ENOTSUP;
}

static inline int pxt_packer_end(struct pxt_packer *packer, int fd)
{
	(void)packer;
	(void)fd;
	return ENOTSUP;
}

static inline void pxt_packer_free(struct pxt_packer *packer)
{
	(void)packer;
}

static inline int pxt_packed_unpack(int from, int to, bool log)
{
	(void)from;
	(void)to;
	(void)log;
	return ENOTSUP;
}

#endif

#define PXT_PACKED_RATIO 1000u
#define PXT_PACKED_LEAST (UINT64_C(16) << 20)

#endif
