/* SPDX-License-Identifier: MIT */
/* tar.h - files put together in an archive (ustar), written to a regular file as they come. */
#ifndef PXT_TAR_H
#define PXT_TAR_H

#include "tools/output/out.h"

#include <stdint.h>

struct pxt_tar {
	char name[100]; /* of the file at hand */
	uint64_t at;    /* where its head is */
	int64_t time;   /* seconds since 1970 */
};

/* Leaves room for the head; what is written to @out from now on is the file. */
void pxt_tar_begin(struct pxt_tar *tar, struct pxt_out *out, const char *name, int64_t time);
/* Now its length is known. */
void pxt_tar_end(struct pxt_tar *tar, struct pxt_out *out);
/* After the last file. */
void pxt_tar_close(struct pxt_out *out);

#endif
