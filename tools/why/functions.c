/* SPDX-License-Identifier: MIT */
/* functions.c - in which functions a thread is, where events tell of their begin and end (QNX-54). */
#include "tools/why/state_parts.h"

#include "tools/output/say.h"

#include <stdlib.h>
#include <trace_hooks_np.h>

static void enter(struct pxt_actor *actor, const struct pxt_event *event)
{
	if (!actor->functions)
		actor->functions = pxt_must(calloc(PXT_FUNCTIONS_DEEP, sizeof *actor->functions));
	if (actor->function_count == PXT_FUNCTIONS_DEEP)
		actor->functions_deeper++;
	else
		actor->functions[actor->function_count++] = pxt_places_of(event);
}

/* What was left by a jump told of no end: it is over with the function around it. */
static void leave(struct pxt_actor *actor, const struct pxt_event *event)
{
	uint64_t function = pxt_places_of(event).address.value;

	if (actor->functions_deeper > 0) {
		actor->functions_deeper--;
		return;
	}
	for (unsigned i = actor->function_count; i-- > 0;) {
		if (actor->functions[i].address.value != function)
			continue;
		actor->function_count = i;
		return;
	}
}

void pxt_functions_take(struct pxt_actor *actor, const struct pxt_event *event)
{
	if (event->info.posix_event_id == POSIX_TRACE_FUNCTION_ENTER_NP)
		enter(actor, event);
	else if (event->info.posix_event_id == POSIX_TRACE_FUNCTION_EXIT_NP)
		leave(actor, event);
}
