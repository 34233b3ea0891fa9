/* SPDX-License-Identifier: MIT */
/*
 * elfnote.h - the GNU build-id among the notes of an ELF file: what a recorder sees in memory, and a
 * reader in a file of any byte order.
 *
 * Notes may be anybody's: nothing beyond the given bytes is read.
 */
#ifndef PXT_ELFNOTE_H
#define PXT_ELFNOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longer ones count as none, for recorder and reader alike.  Linkers make 16 or 20 bytes. */
#define PXT_BUILDID_MAX     32u
#define PXT_ELFNOTE_HEAD    12u /* length of the name, of the data, type: u32 each */
#define PXT_ELFNOTE_BUILDID 3u  /* NT_GNU_BUILD_ID, of the name "GNU" */
/* The order of bytes of this machine's own files. */
#define PXT_ELFNOTE_BIG     (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint32_t pxt_elfnote_word(const unsigned char *at, bool big)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 4; i++)
		value |= (uint32_t)at[big ? 3 - i : i] << 8 * i;
	return value;
}

/* Name and data are padded to 4 bytes.  Returns the build-id and its length; NULL: there is none. */
static inline const unsigned char *pxt_elfnote_buildid(
    const unsigned char *notes, size_t bytes, bool big, uint32_t *length)
{
	while (bytes >= PXT_ELFNOTE_HEAD) {
		const size_t room = bytes - PXT_ELFNOTE_HEAD;
		const unsigned char *name = notes + PXT_ELFNOTE_HEAD;
		const uint32_t name_bytes = pxt_elfnote_word(notes, big);
		const uint32_t data_bytes = pxt_elfnote_word(notes + 4, big);

		if (name_bytes > room || data_bytes > room)
			return NULL;
		/* Both are less than @bytes, so the sums are no more than 2 * @bytes + 12. */
		const size_t data_at = ((size_t)name_bytes + 3) & ~(size_t)3;
		if (data_at > room || data_bytes > room - data_at)
			return NULL;
		if (pxt_elfnote_word(notes + 8, big) == PXT_ELFNOTE_BUILDID && name_bytes == 4 &&
		    memcmp(name, "GNU", 4) == 0) {
			*length = data_bytes;
			return data_bytes > 0 && data_bytes <= PXT_BUILDID_MAX ? name + data_at
			                                                       : NULL;
		}
		const size_t next = data_at + (((size_t)data_bytes + 3) & ~(size_t)3);
		if (next > room)
			return NULL;
		notes += PXT_ELFNOTE_HEAD + next;
		bytes -= PXT_ELFNOTE_HEAD + next;
	}
	return NULL;
}

#endif
