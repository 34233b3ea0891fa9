/* SPDX-License-Identifier: MIT */
/* buildid.h - the identity of an ELF file. */
#ifndef PXT_BUILDID_H
#define PXT_BUILDID_H

#include <stddef.h>

/*
 * The GNU build-id in the file @fd, of any byte order and word size.  Returns its length, 0 when
 * there is none or the file is no proper ELF file.
 */
size_t pxt_build_id(int fd, unsigned char *id, size_t room);

#endif
