/* SPDX-License-Identifier: MIT */
/*
 * ask_filter.c - a filter that another process asks for, by the names of event types.
 *
 * A name that is not known defines nothing: others could fill the table of names otherwise.
 */
#include "attach/owner.h"

uint32_t pxt_ask_filter_now(struct pxt_block *block)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint32_t count = 0;

	for (uint32_t id = 1; id < PXT_ID_COUNT; id++) {
		uint32_t word = atomic_load_explicit(
		    &block->filter[gate & PXT_GATE_FILTER ? 1 : 0][id / 32u], memory_order_relaxed);

		count += (word >> id % 32u & 1u) && pxt_names_of(id);
	}
	return count;
}

/* 0: there is no such type. */
static trace_event_id_t find(const char *name)
{
	for (trace_event_id_t id = 1; id < PXT_ID_COUNT; id++) {
		const char *known = pxt_names_of(id);

		if (known && strcmp(known, name) == 0)
			return id;
	}
	return 0;
}

static int unknown(const char *name, char text[128])
{
	static const char before[] = "no event type ";
	size_t length = strlen(name);

	if (length > 127u - (sizeof(before) - 1u))
		length = 127u - (sizeof(before) - 1u);
	memcpy(text, before, sizeof(before) - 1u);
	memcpy(text + sizeof(before) - 1u, name, length);
	text[sizeof(before) - 1u + length] = '\0';
	return EINVAL;
}

int pxt_ask_filter(
    struct pxt_ctlsock *ctlsock, int how, const char *words, uint32_t bytes, char text[128])
{
	trace_event_set_t set;

	(void)posix_trace_eventset_empty(&set);
	/* Bound: the text, which ends in NUL. */
	for (uint32_t at = 0; at < bytes; at += (uint32_t)strlen(words + at) + 1u) {
		trace_event_id_t id = find(words + at);

		if (!id)
			return unknown(words + at, text);
		(void)posix_trace_eventset_add(id, &set);
	}
	return posix_trace_set_filter(ctlsock->trid, &set, how);
}
