/* SPDX-License-Identifier: MIT */
/*
 * guests.c - attached processes, as their owner sees them: from the descriptor that each sends to
 * the last record in its memory.
 *
 * The helper alone begins, learns and ends; a pull, by whomever, finds in `present` what is whole.
 */
#include "attach/owner.h"

#include "core/process/process.h"
#include "core/read/consumer.h"

#include <errno.h>

static struct pxt_guest_memory *memory_of(struct pxt_door *door, uint32_t guest)
{
	return door->guests[guest];
}

/* Nobody pulls from it any more; the place is free. */
static void forget(struct pxt_door *door, uint32_t guest)
{
	pxt_intake_end(door->guests[guest]);
	door->guests[guest] = NULL;
}

/* From here on others pull from it. */
static int present(struct pxt_door *door, struct pxt_caller *caller)
{
	struct pxt_guest_memory *memory = memory_of(door, caller->guest);
	uint32_t state;

	if (!pxt_stream_enter(door->stream))
		return ECANCELED;
	state = pxt_block_state(door->stream->block);
	caller->runs = state != PXT_GATE_OFF;
	if (caller->runs)
		pxt_intake_started(memory, pxt_port_ticks_ordered());
	door->present[caller->guest] = memory;
	pxt_stream_unlock(door->stream);
	PXT_TESTPOINT(PXT_TP_OWNER_PRESENT);
	return 0;
}

int pxt_door_guest_comes(struct pxt_door *door, unsigned i, const int fd[2])
{
	const struct pxt_door_request *request = &door->in.request;
	struct pxt_caller *caller = &door->caller[i];
	uint32_t guest = 0;
	int error;

	/*
	 * Stamps of both are compared: they must come from one counter.  Its rate, which each process may
	 * have measured for itself, is looked at in the label.
	 */
	if (request->clock_source != (uint32_t)pxt_clock.source)
		return ENOTSUP;
	while (guest < CONFIG_PTRACE_ATTACH_MAX && door->guests[guest])
		guest++;
	if (guest == CONFIG_PTRACE_ATTACH_MAX)
		return EAGAIN;
	error = pxt_intake_begin(fd[0], fd[1], caller->pid, &door->guests[guest]);
	if (error)
		return error;
	PXT_TESTPOINT(PXT_TP_OWNER_MAPPED);
	pxt_intake_learn(memory_of(door, guest));
	caller->guest = guest;
	error = present(door, caller);
	if (error)
		forget(door, guest);
	else
		caller->kind = PXT_CALLER_GUEST;
	return error;
}

void pxt_door_guest_goes(struct pxt_door *door, unsigned i)
{
	struct pxt_caller *caller = &door->caller[i];

	pxt_port_mutex_lock(&door->stream->mutex);
	pxt_intake_gone(memory_of(door, caller->guest));
	pxt_stream_unlock(door->stream);
	caller->kind = PXT_CALLER_GONE;
}

/* ---- Taking ---- */

/* Names are defined under the process lock, which comes before the stream's: so not in a pull. */
bool pxt_door_learn(struct pxt_door *door)
{
	bool any = false;

	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		const struct pxt_caller *caller = &door->caller[i];

		if (caller->kind == PXT_CALLER_GUEST || caller->kind == PXT_CALLER_GONE) {
			pxt_intake_learn(memory_of(door, caller->guest));
			any = true;
		}
	}
	return any;
}

static uint64_t guests_head(struct pxt_block *block)
{
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(pxt_block_lane(block, block->lane_mask + 1u), &pos, &seq);
	return pos;
}

/* With the mutex.  Readers sleep until somebody records; that was not their own process. */
static void pull(struct pxt_door *door)
{
	struct pxt_block *block = door->stream->block;
	uint64_t head = guests_head(block);

	door->pulled = pxt_port_ticks_ordered();
	(void)pxt_share_pull(block, door->pulled, false);
	if (guests_head(block) != head)
		pxt_block_wake(block);
}

/* With the mutex: nobody pulls from it any more. */
static bool take_out(struct pxt_door *door, const struct pxt_caller *caller)
{
	if (caller->kind != PXT_CALLER_GONE || !pxt_intake_empty(memory_of(door, caller->guest)))
		return false;
	door->present[caller->guest] = NULL;
	return true;
}

/* Not more often than once in half a period, however often somebody rings or asks. */
static bool is_due(const struct pxt_door *door)
{
	uint64_t half = pxt_clock.hz * CONFIG_PTRACE_ATTACH_PERIOD_MS / 2000u;

	return pxt_port_ticks_ordered() - door->pulled >= half;
}

void pxt_door_collect(struct pxt_door *door)
{
	bool out[PXT_DOOR_PLACES] = { false };

	if (!is_due(door) || !pxt_door_learn(door) || !pxt_stream_enter(door->stream))
		return;
	pull(door);
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		const struct pxt_caller *caller = &door->caller[i];

		out[i] = take_out(door, caller);
		door->learns |= caller->kind == PXT_CALLER_GUEST &&
		                pxt_intake_wants_types(memory_of(door, caller->guest));
	}
	pxt_stream_unlock(door->stream);
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		if (out[i]) {
			forget(door, door->caller[i].guest);
			door->caller[i].kind = PXT_CALLER_NONE;
		}
	}
}

void pxt_door_guests_end(struct pxt_door *door)
{
	pxt_port_mutex_lock(&door->stream->mutex);
	for (unsigned i = 0; i < CONFIG_PTRACE_ATTACH_MAX; i++)
		door->present[i] = NULL;
	pxt_stream_unlock(door->stream);
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		if (door->caller[i].kind == PXT_CALLER_GONE)
			forget(door, door->caller[i].guest);
		door->caller[i].kind = PXT_CALLER_NONE;
	}
}
