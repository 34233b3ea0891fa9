/* SPDX-License-Identifier: MIT */
/* replica_names.c - names and descriptions in the copies of the directory; see core/process/replica.h. */
#include "blackbox/blackbox.h"

#include "core/testpoints.h"

static void add(const struct pxt_names *names, uint32_t index)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_directory *replica = pxt_replica_of(i);

		if (!replica)
			continue;
		memcpy(replica->names.names[index], names->names[index], PXT_NAME_BYTES);
		PXT_TESTPOINT(PXT_TP_REPLICA_NAME);
		atomic_store_explicit(&replica->names.count, index + 1, memory_order_release);
		PXT_TESTPOINT(PXT_TP_REPLICA_NAMED);
	}
}

static void format(const struct pxt_names *names, uint32_t index, uint32_t at, uint32_t bytes)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_directory *replica = pxt_replica_of(i);

		if (!replica)
			continue;
		replica->names.pool_used = names->pool_used;
		memcpy(&replica->names.pool[at], &names->pool[at], bytes);
		PXT_TESTPOINT(PXT_TP_REPLICA_FORMAT);
		atomic_store_explicit(
		    &replica->names.format_at[index], at + 1, memory_order_release);
		PXT_TESTPOINT(PXT_TP_REPLICA_FORMATTED);
	}
}

/* Names first: a description belongs to one. */
static void follow(struct pxt_names *replica, const struct pxt_names *names)
{
	uint32_t count = atomic_load_explicit(&names->count, memory_order_acquire);

	for (uint32_t i = atomic_load_explicit(&replica->count, memory_order_relaxed); i < count;
	     i++) {
		memcpy(replica->names[i], names->names[i], PXT_NAME_BYTES);
		atomic_store_explicit(&replica->count, i + 1, memory_order_release);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = atomic_load_explicit(&names->format_at[i], memory_order_acquire);

		if (!at || atomic_load_explicit(&replica->format_at[i], memory_order_relaxed))
			continue;
		memcpy(
		    &replica->pool[at - 1], &names->pool[at - 1], strlen(&names->pool[at - 1]) + 1);
		atomic_store_explicit(&replica->format_at[i], at, memory_order_release);
	}
}

static void follow_all(const struct pxt_names *names)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_directory *replica = pxt_replica_of(i);

		if (replica)
			follow(&replica->names, names);
	}
}

void pxt_replica_names_begin(void)
{
	static const struct pxt_replica_names_ops ops = {
		.add = add,
		.format = format,
		.follow = follow_all,
	};

	atomic_store_explicit(&pxt_replica_names_ops, &ops, memory_order_release);
}
