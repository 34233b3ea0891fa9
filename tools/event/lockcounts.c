/* SPDX-License-Identifier: MIT */
/* lockcounts.c - what a traced program counted instead of recording it; see fields.h. */
#include "tools/event/fields.h"

#include "format/mul64.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>

static struct pxt_lockcounts_kind *kind_of(struct pxt_lockcounts *taken, const char *name)
{
	unsigned i = 0;

	while (i + 1 < PXT_LOCKCOUNTS_KINDS && *taken->kinds[i].name &&
	       strcmp(taken->kinds[i].name, name) != 0)
		i++;
	if (!*taken->kinds[i].name)
		(void)snprintf(taken->kinds[i].name, sizeof taken->kinds[i].name, "%s",
		    i + 1 < PXT_LOCKCOUNTS_KINDS ? name : "others");
	return &taken->kinds[i];
}

void pxt_lockcounts_add(struct pxt_lockcounts *taken, const struct pxt_event *event)
{
	const struct pxt_layout *what = pxt_field_named(event->type, "what");
	const struct pxt_layout *name = pxt_field_named(event->type, "name");
	const struct pxt_layout *size = pxt_field_named(event->type, "size");
	char kind[sizeof taken->kinds->name];
	struct pxt_value value;
	uint64_t number = 0;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || !what || !name || !size ||
	    !pxt_field_key(event, what, &number) || number != POSIX_TRACE_PROCESS_TAKEN_NP ||
	    !pxt_field_key(event, size, &number) || !pxt_field_value(event, name, &value) ||
	    value.kind != POSIX_TRACE_FIELD_TEXT_NP || value.bytes == 0)
		return;
	(void)pxt_escape(value.text, value.bytes, kind, sizeof kind, NULL);
	pxt_sum_add(&kind_of(taken, kind)->times, number);
}
