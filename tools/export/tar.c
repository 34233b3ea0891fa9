/* SPDX-License-Identifier: MIT */
/* tar.c - files in an archive (ustar), as they come; see export.h. */
#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define BLOCK 512u

static const char zeros[2 * BLOCK];

/* The head's fields, by their places. */
enum {
	AT_NAME = 0,
	AT_MODE = 100,
	AT_OWNER = 108,
	AT_GROUP = 116,
	AT_SIZE = 124,
	AT_TIME = 136,
	AT_SUM = 148,
	AT_KIND = 156,
	AT_MAGIC = 257
};

static uint64_t place(struct pxt_out *out)
{
	off_t at;

	pxt_out_flush(out);
	at = lseek(out->fd, 0, SEEK_CUR);
	if (at < 0 && out->error == 0)
		out->error = errno;
	return at < 0 ? 0 : (uint64_t)at;
}

void pxt_tar_begin(struct pxt_tar *tar, struct pxt_out *out, const char *name, int64_t time)
{
	(void)snprintf(tar->name, sizeof tar->name, "%s", name);
	tar->time = time < 0 ? 0 : time;
	tar->at = place(out);
	pxt_out_bytes(out, zeros, BLOCK);
}

/* @digits octal digits; what does not fit them, as a number of big-endian bytes. */
static void put_octal(unsigned char *to, unsigned digits, uint64_t value)
{
	if (value >> (3 * digits) == 0) {
		for (unsigned i = digits; i-- > 0; value >>= 3)
			to[i] = (unsigned char)('0' + (value & 7));
		return;
	}
	for (unsigned i = digits + 1; i-- > 0; value >>= 8)
		to[i] = (unsigned char)value;
	to[0] |= 0x80;
}

static void fill_head(unsigned char *head, const struct pxt_tar *tar, uint64_t bytes)
{
	uint64_t sum = 0;

	memset(head, 0, BLOCK);
	memcpy(head + AT_NAME, tar->name, strlen(tar->name));
	put_octal(head + AT_MODE, 7, 0644);
	put_octal(head + AT_OWNER, 7, 0);
	put_octal(head + AT_GROUP, 7, 0);
	put_octal(head + AT_SIZE, 11, bytes);
	put_octal(head + AT_TIME, 11, (uint64_t)tar->time);
	head[AT_KIND] = '0';
	memcpy(head + AT_MAGIC, "ustar\00000", 8);
	memset(head + AT_SUM, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += head[i];
	put_octal(head + AT_SUM, 6, sum);
	head[AT_SUM + 6] = 0;
}

void pxt_tar_end(struct pxt_tar *tar, struct pxt_out *out)
{
	unsigned char head[BLOCK];
	uint64_t bytes = place(out) - tar->at - BLOCK;

	pxt_out_bytes(out, zeros, (BLOCK - bytes % BLOCK) % BLOCK);
	fill_head(head, tar, bytes);
	if (out->error == 0 && pwrite(out->fd, head, BLOCK, (off_t)tar->at) != (ssize_t)BLOCK)
		out->error = errno ? errno : EIO;
}

void pxt_tar_close(struct pxt_out *out)
{
	pxt_out_bytes(out, zeros, sizeof zeros);
}
