/* SPDX-License-Identifier: MIT */
/*
 * about.h - text about the process, for the files of streams (format/imageheader.h has its lines).
 *
 *   concurrency: under the process lock.
 */
#ifndef PXT_ABOUT_H
#define PXT_ABOUT_H

#include <stddef.h>

/* Bytes that the text takes now. */
size_t pxt_about_bytes(void);
/* Writes the lines that fit; returns their bytes. */
size_t pxt_about_write(char *to, size_t room);

#endif
