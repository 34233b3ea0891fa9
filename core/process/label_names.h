/* SPDX-License-Identifier: MIT */
/*
 * label_names.h - where the directory's label says that names lie.
 *
 *   concurrency: as label.h.
 */
#ifndef PXT_LABEL_NAMES_H
#define PXT_LABEL_NAMES_H

#include "core/process/names_map.h"
#include "format/label.h"

#if CONFIG_PTRACE_USEREVENTS
PXT_INLINE void pxt_label_put_names(struct pxt_directory_label *label, uint32_t at)
{
	label->names_at = at;
	label->name_bytes = PXT_NAME_BYTES;
	label->names_max = PXT_NAMES_MAX;
	label->names_count_at = label->names_at + offsetof(struct pxt_names, count);
	label->format_offsets_at = label->names_at + offsetof(struct pxt_names, format_at);
	label->names_first_at = label->names_at + offsetof(struct pxt_names, names);
	label->pool_at = label->names_at + offsetof(struct pxt_names, pool);
	label->pool_bytes = CONFIG_PTRACE_FORMAT_POOL_BYTES;
	label->first_user_id = PXT_ID_USER_FIRST;
}
#else
PXT_INLINE void pxt_label_put_names(struct pxt_directory_label *label, uint32_t at)
{
	label->names_at = at;
}
#endif

#endif
