/* SPDX-License-Identifier: MIT */
/* busiest.c - which thread had most events in each slice of time; see busiest.h. */
#include "tools/stat/busiest.h"

#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>

struct pxt_busiest {
	uint32_t count; /* of those that had events */
	uint32_t index[PXT_THREADS_MAX];
	uint64_t events[PXT_THREADS_MAX];
	const struct pxt_thread *thread[PXT_THREADS_MAX];
};

struct pxt_busiest *pxt_busiest_new(void)
{
	return pxt_must(calloc(1, sizeof(struct pxt_busiest)));
}

void pxt_busiest_free(struct pxt_busiest *busiest)
{
	free(busiest);
}

void pxt_busiest_take(struct pxt_busiest *busiest, const struct pxt_thread *thread)
{
	uint32_t index = thread->index;

	if (index == PXT_INDEX_NONE || (!thread->recorded && thread->tid <= 0))
		return;
	if (busiest->events[index]++ == 0) {
		busiest->index[busiest->count++] = index;
		busiest->thread[index] = thread;
	}
}

const struct pxt_thread *pxt_busiest_next(struct pxt_busiest *busiest, uint64_t *events)
{
	const struct pxt_thread *most = NULL;

	*events = 0;
	for (uint32_t i = 0; i < busiest->count; i++) {
		uint32_t index = busiest->index[i];
		const struct pxt_thread *thread = busiest->thread[index];

		if (busiest->events[index] > *events ||
		    (busiest->events[index] == *events && strcmp(thread->label, most->label) < 0)) {
			*events = busiest->events[index];
			most = thread;
		}
		busiest->events[index] = 0;
	}
	busiest->count = 0;
	return most;
}
