/* SPDX-License-Identifier: MIT */
/* waits.c - waits for locks, and times off the CPU; see waits.h. */
#include "tools/why/waits.h"

#include <stdlib.h>

static struct pxt_wait *wait_of(
    struct pxt_waits *waits, const struct pxt_actor *actor, enum pxt_wait_kind kind)
{
	waits->list = pxt_actor_rows(waits->list, &waits->room, actor, sizeof *waits->list);
	return &waits->list[actor->index][kind];
}

static void begin(struct pxt_waits *waits, const struct pxt_actor *actor, enum pxt_wait_kind kind,
    const struct pxt_act *act)
{
	struct pxt_wait *wait = wait_of(waits, actor, kind);
	unsigned source = pxt_state_source(waits->state, act->event);

	*wait = (struct pxt_wait){ .is_on = true,
		.kind = kind,
		.actor = actor,
		.lock = act->lock,
		.mode = kind == PXT_WAIT_LOCK ? actor->wait_mode : PXT_NO_NAME,
		.since_ns = act->ns,
		.source = source,
		.epoch = waits->state->epochs[source],
		.cpu = actor->cpu };
	waits->begun(waits->self, wait, act);
}

/* A scheduler that does not tell of all threads tells all only of the program's own. */
static bool is_told(const struct pxt_waits *waits, const struct pxt_wait *wait)
{
	return wait->epoch == waits->state->epochs[wait->source] &&
	       (wait->kind != PXT_WAIT_CPU || !waits->state->others || wait->actor->own);
}

static void end(struct pxt_waits *waits, struct pxt_wait *wait, const struct pxt_act *act)
{
	if (wait->is_on && is_told(waits, wait))
		waits->ended(waits->self, wait, act);
	wait->is_on = false;
}

void pxt_waits_look(struct pxt_waits *waits, const struct pxt_act *act)
{
	if (act->deed == PXT_SWITCH) {
		if (act->former)
			begin(waits, act->former, PXT_WAIT_CPU, act);
		if (act->actor)
			end(waits, wait_of(waits, act->actor, PXT_WAIT_CPU), act);
		return;
	}
	/* Who asks anew does not wait for the former lock any more. */
	if (act->actor && (!act->actor->wait || act->deed == PXT_LOCK_WAIT))
		end(waits, wait_of(waits, act->actor, PXT_WAIT_LOCK), act);
	if (act->actor && act->lock && act->deed == PXT_LOCK_WAIT)
		begin(waits, act->actor, PXT_WAIT_LOCK, act);
}

void pxt_waits_close(struct pxt_waits *waits)
{
	for (uint32_t i = 0; i < waits->room; i++)
		end(waits, &waits->list[i][PXT_WAIT_LOCK], NULL);
}

void pxt_waits_free(struct pxt_waits *waits)
{
	free(waits->list);
}
