/* SPDX-License-Identifier: MIT */
/* mirror_names.c - names and descriptions in the copies of the directory; see core/process/mirror.h. */
#include "blackbox/mirrors.h"

#include "core/process/directory.h"
#include "core/testpoints.h"

#include <string.h>

static void add(const struct pxt_names *names, uint32_t index)
{
	for (uint32_t i = 0; i < PXT_MIRRORS; i++) {
		struct pxt_directory *mirror = pxt_mirror_of(i);

		if (!mirror)
			continue;
		memcpy(mirror->names.names[index], names->names[index], PXT_NAME_BYTES);
		PXT_TESTPOINT(PXT_TP_MIRROR_NAME);
		atomic_store_explicit(&mirror->names.count, index + 1, memory_order_release);
		PXT_TESTPOINT(PXT_TP_MIRROR_NAMED);
	}
}

static void format(const struct pxt_names *names, uint32_t index, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; i < PXT_MIRRORS; i++) {
		struct pxt_directory *mirror = pxt_mirror_of(i);

		if (!mirror)
			continue;
		mirror->names.pool_used = names->pool_used;
		memcpy(&mirror->names.pool[at], &names->pool[at], bytes);
		PXT_TESTPOINT(PXT_TP_MIRROR_FORMAT);
		atomic_store_explicit(
		    &mirror->names.format_at[index], at + 1, memory_order_release);
		PXT_TESTPOINT(PXT_TP_MIRROR_FORMATTED);
	}
}

/* Names first: a description belongs to one. */
static void follow(struct pxt_names *mirror, const struct pxt_names *names)
{
	uint32_t count = atomic_load_explicit(&names->count, memory_order_acquire);

	for (uint32_t i = atomic_load_explicit(&mirror->count, memory_order_relaxed); i < count;
	     i++) {
		memcpy(mirror->names[i], names->names[i], PXT_NAME_BYTES);
		atomic_store_explicit(&mirror->count, i + 1, memory_order_release);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = atomic_load_explicit(&names->format_at[i], memory_order_acquire);

		if (!at || atomic_load_explicit(&mirror->format_at[i], memory_order_relaxed))
			continue;
		memcpy(
		    &mirror->pool[at - 1], &names->pool[at - 1], strlen(&names->pool[at - 1]) + 1);
		atomic_store_explicit(&mirror->format_at[i], at, memory_order_release);
	}
}

static void follow_all(const struct pxt_names *names)
{
	for (uint32_t i = 0; i < PXT_MIRRORS; i++) {
		struct pxt_directory *mirror = pxt_mirror_of(i);

		if (mirror)
			follow(&mirror->names, names);
	}
}

const struct pxt_mirror_names_ops pxt_mirror_names_ops = {
	.add = add,
	.format = format,
	.follow = follow_all,
};
