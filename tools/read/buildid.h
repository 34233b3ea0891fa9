/* SPDX-License-Identifier: MIT */
/* buildid.h - the identity of an ELF file, and the file beside it that its identity leads to. */
#ifndef PXT_BUILDID_H
#define PXT_BUILDID_H

#include "format/elfnote.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The GNU build-id in the file @fd, of any byte order and word size.  Returns its length, 0 when
 * there is none or the file is no proper ELF file.
 */
size_t pxt_build_id(int fd, unsigned char id[PXT_BUILDID_MAX]);

/* Where Debian has what was stripped from the file of that build. */
#define PXT_BUILD_DEBUG_ROOM (sizeof "/usr/lib/debug/.build-id//.debug" + 2u * PXT_BUILDID_MAX)
void pxt_build_debug_path(const unsigned char *id, size_t bytes, char path[PXT_BUILD_DEBUG_ROOM]);

/* As digits. */
void pxt_build_text(const unsigned char *id, size_t bytes, char text[2 * PXT_BUILDID_MAX + 1]);

/* How many sections the file says that it has; 0: it is no ELF file. */
uint64_t pxt_build_sections(int fd);

#endif
