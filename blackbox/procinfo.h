/* SPDX-License-Identifier: MIT */
/*
 * procinfo.h - process information, for the files of streams (format/imageheader.h has its lines).
 *
 *   concurrency: under the process lock.
 */
#ifndef PXT_PROCINFO_H
#define PXT_PROCINFO_H

#include <stddef.h>

/* Bytes that the text takes now. */
size_t pxt_procinfo_bytes(void);
/* Writes the lines that fit; returns their bytes. */
size_t pxt_procinfo_write(char *to, size_t room);

#endif
