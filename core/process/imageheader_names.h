/* SPDX-License-Identifier: MIT */
/*
 * imageheader_names.h - where the directory's header says that names lie.
 *
 *   concurrency: as imageheader.h.
 */
#ifndef PXT_IMAGEHEADER_NAMES_H
#define PXT_IMAGEHEADER_NAMES_H

#include "core/process/names_map.h"
#include "format/imageheader.h"

#if CONFIG_PTRACE_USEREVENTS
PXT_INLINE void pxt_imageheader_put_names(struct pxt_directory_header *header, uint32_t at)
{
	header->names_at = at;
	header->name_bytes = PXT_NAME_BYTES;
	header->names_max = PXT_NAMES_MAX;
	header->names_count_at = header->names_at + offsetof(struct pxt_names, count);
	header->format_offsets_at = header->names_at + offsetof(struct pxt_names, format_at);
	header->names_first_at = header->names_at + offsetof(struct pxt_names, names);
	header->pool_at = header->names_at + offsetof(struct pxt_names, pool);
	header->pool_bytes = CONFIG_PTRACE_FORMAT_POOL_BYTES;
	header->first_user_id = PXT_ID_USER_FIRST;
}
#else
PXT_INLINE void pxt_imageheader_put_names(struct pxt_directory_header *header, uint32_t at)
{
	header->names_at = at;
}
#endif

#endif
