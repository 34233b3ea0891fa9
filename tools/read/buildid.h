/* SPDX-License-Identifier: MIT */
/* buildid.h - the identity of an ELF file. */
#ifndef PXT_BUILDID_H
#define PXT_BUILDID_H

#include <stddef.h>
#include <stdint.h>

/*
 * The GNU build-id in the file @fd, of any byte order and word size.  Returns its length, 0 when
 * there is none or the file is no proper ELF file.
 */
size_t pxt_build_id(int fd, unsigned char *id, size_t room);

/* How many sections the file says that it has; 0: it is no ELF file. */
uint64_t pxt_build_sections(int fd);

#endif
