/* SPDX-License-Identifier: MIT */
/* slices.c - pairs of events as bars that lie inside each other; see slices.h. */
#include "tools/export/slices.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

struct bar {
	uint16_t pair;
	uint16_t lane;
	bool keyed;
	uint64_t key;
};

/* The open bars of one thread, newest last. */
struct stack {
	struct bar *bars;
	uint32_t count;
	uint32_t room;
	uint32_t thread;
	bool listed;
	struct stack *next; /* in the list of those that have some */
};

struct role {
	bool learnt;
	bool begins;
	uint16_t pair; /* PXT_PAIRS_MAX: none */
	const struct pxt_layout *key;
	bool of_system; /* pair, key and side are those of the event at hand */
};

struct pair {
	const struct pxt_syspair *system;
	unsigned family;
	size_t bytes;
	char base[256];
	const struct pxt_type *begin;
	const struct pxt_type *end;
	bool overlaps;
	uint64_t own;   /* ends whose begin was of their thread, ... */
	uint64_t other; /* ... and of another one */
	bool moves;     /* the second reading: most were */
};

#define CONFLICTS_MAX 4096u
/* So many open bars are looked at in all, to find ends' begins in other threads. */
#define SEARCH_MAX    (UINT32_C(1) << 26)

struct pxt_slices {
	bool known; /* all pairs: the second reading */
	uint16_t pair_count;
	/* Once each, in the order they were seen: one pair ended while the other was inside it. */
	uint32_t conflict_count;
	uint16_t conflicts[CONFLICTS_MAX][2];
	unsigned char seen[PXT_PAIRS_MAX][PXT_PAIRS_MAX / 8];
	uint32_t room; /* bars that all stacks have room for */
	uint32_t searched;
	bool moved; /* an end's begin was found in another thread */
	struct stack *open;
	struct stack **stacks; /* by the thread's index; the last: of pairs that move */
	struct role roles[PXT_TYPES_MAX];
	struct pair pairs[PXT_PAIRS_MAX];
};

struct pxt_slices *pxt_slices_new(void)
{
	struct pxt_slices *slices = pxt_must(calloc(1, sizeof *slices));

	slices->stacks = pxt_must(calloc(PXT_SLICES_MOVED + 1, sizeof(struct stack *)));
	return slices;
}

void pxt_slices_free(struct pxt_slices *slices)
{
	for (uint32_t i = 0; i <= PXT_SLICES_MOVED; i++) {
		if (slices->stacks[i])
			free(slices->stacks[i]->bars);
		free(slices->stacks[i]);
	}
	free(slices->stacks);
	free(slices);
}

/* Whether the log has both sides of it. */
static bool is_whole(const struct pxt_slices *slices, uint16_t pair)
{
	return slices->pairs[pair].begin && slices->pairs[pair].end;
}

/*
 * Of two pairs that do not nest the one that ended too early leaves the thread's track.  What then
 * is left nests: a bar taken away spoils nothing of the others.
 */
static void choose_lanes(struct pxt_slices *slices)
{
	for (uint32_t i = 0; i < slices->conflict_count; i++) {
		uint16_t outer = slices->conflicts[i][0];
		uint16_t inner = slices->conflicts[i][1];

		if (is_whole(slices, outer) && is_whole(slices, inner) &&
		    !slices->pairs[outer].moves && !slices->pairs[inner].moves &&
		    !slices->pairs[outer].overlaps && !slices->pairs[inner].overlaps)
			slices->pairs[outer].overlaps = true;
	}
}

void pxt_slices_again(struct pxt_slices *slices)
{
	pxt_slices_cut(slices, NULL, NULL);
	for (uint16_t i = 0; i < slices->pair_count; i++)
		slices->pairs[i].moves = slices->pairs[i].other > slices->pairs[i].own;
	choose_lanes(slices);
	slices->known = true;
}

const char *pxt_slices_name(const struct pxt_slices *slices, uint16_t pair, size_t *bytes)
{
	*bytes = slices->pairs[pair].bytes;
	return slices->pairs[pair].base;
}

const struct pxt_syspair *pxt_slices_system(const struct pxt_slices *slices, uint16_t pair)
{
	const struct pxt_syspair *system = slices->pairs[pair].system;

	return system && system->by_value ? system : NULL;
}

/* ---- Types ---- */

static uint16_t pair_of(struct pxt_slices *slices, const struct pxt_type *type, bool *begins)
{
	struct pxt_pair_name name;

	if (!pxt_pair_name(type, &name) || name.bytes >= sizeof slices->pairs->base)
		return PXT_PAIRS_MAX;
	*begins = name.begins;
	for (uint16_t i = 0; i < slices->pair_count; i++)
		if (slices->pairs[i].family == name.family &&
		    slices->pairs[i].bytes == name.bytes &&
		    memcmp(slices->pairs[i].base, type->name, name.bytes) == 0)
			return i;
	if (slices->pair_count == PXT_PAIRS_MAX)
		return PXT_PAIRS_MAX;
	struct pair *pair = &slices->pairs[slices->pair_count];
	pair->family = name.family;
	pair->bytes = name.bytes;
	memcpy(pair->base, type->name, name.bytes);
	return slices->pair_count++;
}

/* The pair of system events; PXT_PAIRS_MAX: there is no place. */
static uint16_t system_pair(struct pxt_slices *slices, unsigned index)
{
	const struct pxt_syspair *system = &pxt_syspairs[index];
	struct pair *pair = &slices->pairs[slices->pair_count];

	for (uint16_t i = 0; i < slices->pair_count; i++)
		if (slices->pairs[i].system == system)
			return i;
	if (slices->pair_count == PXT_PAIRS_MAX)
		return PXT_PAIRS_MAX;
	pair->system = system;
	pair->bytes = strlen(system->name);
	memcpy(pair->base, system->name, pair->bytes);
	return slices->pair_count++;
}

static void note_side(struct pair *pair, const struct pxt_type *type, bool begins)
{
	if (begins)
		pair->begin = pair->begin ? pair->begin : type;
	else
		pair->end = pair->end ? pair->end : type;
}

/*
 * What a system event does depends on what it says.  A lock that is held is no bar: it would cut those of
 * what is done meanwhile.
 */
static void learn_system(
    struct pxt_slices *slices, struct role *role, const struct pxt_event *event)
{
	const struct pxt_syspair_role *system = pxt_syspairs_next(event->type->id, NULL);

	while (system && !pxt_syspairs_does(event, system))
		system = pxt_syspairs_next(event->type->id, system);
	role->pair = system ? system_pair(slices, system->pair) : PXT_PAIRS_MAX;
	if (role->pair == PXT_PAIRS_MAX)
		return;
	role->begins = system->begins;
	role->key = pxt_field_named(event->type, pxt_syspairs[system->pair].field);
	note_side(&slices->pairs[role->pair], event->type, role->begins);
}

static void learn(struct pxt_slices *slices, struct role *role, const struct pxt_type *type)
{
	role->learnt = true;
	role->of_system = pxt_syspairs_next(type->id, NULL) != NULL;
	role->pair = pair_of(slices, type, &role->begins);
	if (role->pair == PXT_PAIRS_MAX)
		return;
	role->key = type->field_count > 0 ? &type->fields[0] : NULL;
	note_side(&slices->pairs[role->pair], type, role->begins);
}

/* By which field begin and end are matched: the first of both, where it has one name. */
static const struct pxt_layout *key_of(const struct pair *pair, const struct role *role)
{
	const struct pxt_type *other = role->begins ? pair->end : pair->begin;

	if (role->of_system)
		return role->key;
	return role->key && other && other->field_count > 0 &&
	               strcmp(other->fields[0].name, role->key->name) == 0
	           ? role->key
	           : NULL;
}

/* ---- Stacks ---- */

static struct stack *stack_of(struct pxt_slices *slices, uint32_t thread)
{
	struct stack **stack = &slices->stacks[thread];

	if (!*stack) {
		*stack = pxt_must(calloc(1, sizeof **stack));
		(*stack)->thread = thread;
	}
	return *stack;
}

static bool make_room(struct pxt_slices *slices, struct stack *stack)
{
	uint32_t room = stack->room ? 2 * stack->room : 8;

	if (stack->count < stack->room)
		return true;
	if (room > PXT_OPEN_DEPTH || slices->room + room - stack->room > PXT_OPEN_MAX)
		return false;
	stack->bars = pxt_must(realloc(stack->bars, room * sizeof *stack->bars));
	slices->room += room - stack->room;
	stack->room = room;
	return true;
}

static void list(struct pxt_slices *slices, struct stack *stack)
{
	if (stack->listed)
		return;
	stack->listed = true;
	stack->next = slices->open;
	slices->open = stack;
}

/* The lowest lane of the pair that is free in this thread. */
static uint16_t free_lane(const struct stack *stack, uint16_t pair)
{
	/* One more than the bars, so one is free; lanes count from 1. */
	bool taken[PXT_OPEN_DEPTH + 2] = { false };
	uint16_t lane = 1;

	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->bars[i].pair == pair)
			taken[stack->bars[i].lane] = true;
	while (taken[lane])
		lane++;
	return lane;
}

static bool push(struct pxt_slices *slices, struct stack *stack, struct bar bar)
{
	if (!make_room(slices, stack))
		return false;
	stack->bars[stack->count++] = bar;
	list(slices, stack);
	return true;
}

/* Whether another bar on the thread's own track is inside bar @i. */
static bool others_inside(const struct pxt_slices *slices, const struct stack *stack, uint32_t i)
{
	while (++i < stack->count)
		if (!slices->pairs[stack->bars[i].pair].overlaps)
			return true;
	return false;
}

/* The first reading: bar @i ends, and these are inside it. */
static void note_conflicts(struct pxt_slices *slices, const struct stack *stack, uint32_t i)
{
	uint16_t outer = stack->bars[i].pair;

	while (++i < stack->count) {
		uint16_t inner = stack->bars[i].pair;
		unsigned char bit = (unsigned char)(1u << inner % 8);

		if (slices->seen[outer][inner / 8] & bit)
			continue;
		slices->seen[outer][inner / 8] |= bit;
		if (slices->conflict_count == CONFLICTS_MAX) {
			slices->pairs[outer].overlaps = true;
			return;
		}
		slices->conflicts[slices->conflict_count][0] = outer;
		slices->conflicts[slices->conflict_count++][1] = inner;
	}
}

static void take_out(struct stack *stack, uint32_t i)
{
	stack->count--;
	memmove(stack->bars + i, stack->bars + i + 1, (stack->count - i) * sizeof *stack->bars);
}

/* Takes the newest begin of the pair with this key off the stack; false: there is none. */
static bool pop(
    struct pxt_slices *slices, struct stack *stack, const struct bar *end, uint16_t *lane)
{
	for (uint32_t i = stack->count; i-- > 0;) {
		const struct bar *bar = &stack->bars[i];

		if (bar->pair != end->pair || (end->keyed && bar->keyed && bar->key != end->key))
			continue;
		/*
		 * The second reading sees no conflict that the first did not, unless the log grew
		 * meanwhile: then the end is an event of its own.
		 */
		if (!slices->known)
			note_conflicts(slices, stack, i);
		else if (!slices->pairs[bar->pair].overlaps && !slices->pairs[bar->pair].moves &&
		         others_inside(slices, stack, i))
			return false;
		*lane = bar->lane;
		take_out(stack, i);
		return true;
	}
	return false;
}

/* The first reading: the begin is looked for in other threads; bars inside that one tell nothing. */
static bool pop_others(struct pxt_slices *slices, const struct bar *end)
{
	for (struct stack *stack = slices->open; stack; stack = stack->next)
		for (uint32_t i = stack->count; i-- > 0 && slices->searched < SEARCH_MAX;) {
			const struct bar *bar = &stack->bars[i];

			slices->searched++;
			if (bar->pair != end->pair || !bar->keyed || bar->key != end->key)
				continue;
			take_out(stack, i);
			slices->pairs[end->pair].other++;
			slices->moved = true;
			return true;
		}
	return false;
}

void pxt_slices_cut(struct pxt_slices *slices,
    void (*cut)(void *context, uint32_t thread, const struct pxt_slice *slice), void *context)
{
	while (slices->open) {
		struct stack *stack = slices->open;

		slices->open = stack->next;
		stack->listed = false;
		while (stack->count > 0) {
			const struct bar *bar = &stack->bars[--stack->count];
			struct pxt_slice slice = { .bar = PXT_BAR_END,
				.pair = bar->pair,
				.lane = bar->lane,
				.type = slices->pairs[bar->pair].begin,
				.keyed = bar->keyed,
				.value = bar->key };

			if (cut)
				cut(context, stack->thread, &slice);
		}
	}
}

/* ---- Events ---- */

struct pxt_slice pxt_slices_take(struct pxt_slices *slices, const struct pxt_event *event)
{
	struct pxt_slice slice = { .bar = PXT_BAR_NONE };

	if (event->type->index == PXT_INDEX_NONE || event->thread->index == PXT_INDEX_NONE)
		return slice;
	struct role *role = &slices->roles[event->type->index];
	if (!role->learnt)
		learn(slices, role, event->type);
	if (role->of_system)
		learn_system(slices, role, event);
	if (role->pair == PXT_PAIRS_MAX)
		return slice;
	struct pair *pair = &slices->pairs[role->pair];
	/* "engine_start" alone makes no pair. */
	if (slices->known && !is_whole(slices, role->pair))
		return slice;
	slice.moved = slices->known && pair->moves;
	struct stack *stack =
	    stack_of(slices, slice.moved ? PXT_SLICES_MOVED : event->thread->index);
	struct bar bar = { .pair = role->pair };
	const struct pxt_layout *key = key_of(pair, role);
	/* In the first reading the other type may not have come yet: the begin keeps its key. */
	const struct pxt_layout *kept = role->begins ? role->key : key;
	bar.keyed = kept && pxt_field_key(event, kept, &bar.key);
	slice.pair = role->pair;
	slice.key = key;
	if (role->begins) {
		if (slices->known && (pair->overlaps || pair->moves))
			bar.lane = free_lane(stack, role->pair);
		slice.lane = bar.lane;
		if (push(slices, stack, bar))
			slice.bar = PXT_BAR_BEGIN;
	} else if (pop(slices, stack, &bar, &slice.lane)) {
		slice.bar = PXT_BAR_END;
		pair->own += !slices->known;
	} else if (!slices->known && bar.keyed && !role->of_system && pop_others(slices, &bar)) {
		slice.bar = PXT_BAR_END;
	}
	return slice;
}

bool pxt_slices_known(const struct pxt_slices *slices)
{
	return slices->known;
}

bool pxt_slices_spoilt(const struct pxt_slices *slices)
{
	return !slices->known && (slices->moved || slices->conflict_count > 0);
}

bool pxt_slices_stand(const struct pxt_slices *slices)
{
	/* What only begins is no bar. */
	for (uint16_t i = 0; i < slices->pair_count; i++)
		if (slices->pairs[i].begin && !slices->pairs[i].end)
			return false;
	return !pxt_slices_spoilt(slices);
}
