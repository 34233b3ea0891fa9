/* SPDX-License-Identifier: MIT */
/* filehead.c - see filehead.h. */
#include "tools/recover/filehead.h"

#include <string.h>

#define STEP 16u /* blocks begin at multiples of it */

bool pxt_filehead_repeated(
    const struct pxt_image *image, unsigned char *whole, struct pxt_log_header *header)
{
	unsigned char piece[65536 + PXT_LOG_STAGING_MIN];
	const uint64_t turn = sizeof piece - PXT_LOG_STAGING_MIN;

	for (uint64_t at = 0; at < image->size; at += turn) {
		uint64_t got = pxt_image_read(image, at, piece, sizeof piece);

		for (uint32_t i = 0; i < turn && i < got; i += STEP)
			if (pxt_logfmt_get_head(piece + i, (uint32_t)got - i, whole) &&
			    !pxt_logfmt_get_header(whole, header))
				return true;
	}
	return false;
}

/*
 * One byte that was changed: with the right value at the right place the checksum is right again.  Of
 * 130,560 others one would be taken for it once in 30,000 files that are damaged otherwise.
 */
static bool mend(unsigned char *whole, struct pxt_log_header *header)
{
	for (uint32_t at = 0; at < PXT_LOG_HEADER_BYTES; at++) {
		unsigned char was = whole[at];

		for (uint32_t change = 1; change < 256; change++) {
			whole[at] = (unsigned char)(was ^ change);
			if (!pxt_logfmt_get_header(whole, header))
				return true;
		}
		whole[at] = was;
	}
	return false;
}

enum pxt_filehead pxt_filehead_load(const struct pxt_image *image, unsigned char *whole,
    struct pxt_log_header *header, const char **wrong)
{
	unsigned char repeated[PXT_LOG_HEADER_BYTES];

	memset(whole, 0, PXT_LOG_HEADER_BYTES);
	if (pxt_image_read(image, 0, whole, PXT_LOG_HEADER_BYTES) < PXT_LOG_HEADER_BYTES) {
		*wrong = "the file is too short to be a log";
		return PXT_FILEHEAD_NONE;
	}
	*wrong = pxt_logfmt_get_header(whole, header);
	if (!*wrong)
		return PXT_FILEHEAD_SOUND;
	if (pxt_filehead_repeated(image, repeated, header)) {
		memcpy(whole, repeated, sizeof repeated);
		return PXT_FILEHEAD_REPEATED;
	}
	return mend(whole, header) ? PXT_FILEHEAD_MENDED : PXT_FILEHEAD_NONE;
}
