/* SPDX-License-Identifier: MIT */
/* filehead.h - the head of a log's file, also where the file has it damaged. */
#ifndef PXT_RECOVER_FILEHEAD_H
#define PXT_RECOVER_FILEHEAD_H

#include "tools/recover/image.h"

#include "format/logfmt.h"

enum pxt_filehead {
	PXT_FILEHEAD_NONE,
	PXT_FILEHEAD_SOUND,
	PXT_FILEHEAD_REPEATED, /* a block of the log repeats it */
	PXT_FILEHEAD_MENDED    /* one byte was wrong, which the checksum tells */
};

/* @whole: PXT_LOG_HEADER_BYTES bytes.  NONE: *wrong says what is wrong with the file's own. */
enum pxt_filehead pxt_filehead_load(const struct pxt_image *image, unsigned char *whole,
    struct pxt_log_header *header, const char **wrong);
/* Whether a sound block of the file repeats the head of a log. */
bool pxt_filehead_repeated(
    const struct pxt_image *image, unsigned char *whole, struct pxt_log_header *header);

#endif
