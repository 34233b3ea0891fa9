/* SPDX-License-Identifier: MIT */
/* pairs.c - which end belongs to which begin; see pairs.h. */
#include "tools/spans/pairs.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct open_begin {
	uint64_t key;
	uint64_t mark;
	int64_t ns;
};

/* The open begins of one pair and thread, newest last. */
struct pxt_stack {
	bool used;
	uint32_t pair;
	uint64_t thread;
	const struct pxt_thread *who; /* NULL: one of those beyond PXT_THREADS_MAX */
	struct pxt_row *row;          /* where all entries have the same one, once it is known */
	uint64_t losses;              /* older entries than this loss are closed */
	uint32_t count;
	uint32_t room;
	struct open_begin *entries;
};

/* What a type does in pairs: those of its own and all the explicit ones. */
struct pxt_roles {
	bool learnt;
	unsigned count;
	struct role {
		uint16_t pair;
		bool begins;
		bool matched;                   /* the begin has the field, too: ... */
		const struct pxt_type *with;    /* ... if this is still the begin */
		const struct pxt_layout *field; /* by which it is matched, or NULL */
		const struct pxt_syspair_role *system;
	} * list;
};

/* ---- Which types belong together ---- */

/* The words of `pxtrace why` are in tools/why/roles.c. */
static const struct {
	const char *suffix;
	unsigned family;
	bool begins;
} suffixes[] = {
	{ "_begin", 0, true },
	{ "_start", 0, true },
	{ "_end", 0, false },
	{ "_stop", 0, false },
	{ "_enter", 1, true },
	{ "_exit", 1, false },
	{ "_unlock", 2, false },
	{ "_lock", 2, true },
};

bool pxt_pairs_option(struct pxt_pair_options *options, char *text)
{
	char *rest = NULL;
	char *begin = strtok_r(text, ",", &rest);
	char *end = begin ? strtok_r(NULL, ",", &rest) : NULL;
	char *field = end ? strtok_r(NULL, ",", &rest) : NULL;

	if (!end || (rest && *rest)) {
		pxt_complain("--pair wants two event names, and perhaps a field: --pair "
		             "request,reply or --pair request,reply,id");
		return false;
	}
	if (options->count == PXT_EXPLICIT_MAX) {
		pxt_complain("more than %u times --pair", PXT_EXPLICIT_MAX);
		return false;
	}
	options->pairs[options->count].begin = begin;
	options->pairs[options->count].end = end;
	options->pairs[options->count].field = field;
	options->count++;
	return true;
}

struct pxt_pairs *pxt_pairs_new(struct pxt_pair_options *options)
{
	struct pxt_pairs *pairs = pxt_must(calloc(1, sizeof *pairs));

	pairs->options = options;
	pairs->rows = pxt_must(calloc((size_t)2 * PXT_ROWS_MAX, sizeof(struct pxt_row *)));
	pairs->roles = pxt_must(calloc(PXT_TYPES_MAX, sizeof *pairs->roles));
	pairs->stack_size = 64;
	pairs->stacks = pxt_must(calloc(pairs->stack_size, sizeof *pairs->stacks));
	for (unsigned i = 0; i < options->count; i++) {
		pairs->pairs[i].is_explicit = true;
		pairs->pairs[i].field = options->pairs[i].field;
	}
	pairs->pair_count = options->count;
	return pairs;
}

bool pxt_pair_name(const struct pxt_type *type, struct pxt_pair_name *name)
{
	size_t length = strlen(type->name);

	if (type->id <= POSIX_TRACE_UNNAMED_USEREVENT)
		return false;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t suffix = strlen(suffixes[i].suffix);

		if (length <= suffix ||
		    strcmp(type->name + length - suffix, suffixes[i].suffix) != 0)
			continue;
		name->bytes = length - suffix;
		name->family = suffixes[i].family;
		name->begins = suffixes[i].begins;
		return true;
	}
	return false;
}

/* The pair that a type's own name puts it into; PXT_PAIRS_MAX: none. */
static uint32_t own_pair(struct pxt_pairs *pairs, const struct pxt_type *type, bool *begins)
{
	struct pxt_pair_name name;

	if (!pxt_pair_name(type, &name))
		return PXT_PAIRS_MAX;
	*begins = name.begins;
	for (uint32_t k = 0; k < pairs->pair_count; k++)
		if (!pairs->pairs[k].is_explicit && pairs->pairs[k].family == name.family &&
		    strlen(pairs->pairs[k].base) == name.bytes &&
		    memcmp(pairs->pairs[k].base, type->name, name.bytes) == 0)
			return k;
	if (pairs->pair_count == PXT_PAIRS_MAX || name.bytes >= sizeof pairs->pairs->base)
		return PXT_PAIRS_MAX;
	struct pxt_pair *pair = &pairs->pairs[pairs->pair_count];
	pair->family = name.family;
	memcpy(pair->base, type->name, name.bytes);
	return pairs->pair_count++;
}

static void add_role(struct pxt_pairs *pairs, struct pxt_roles *roles, uint32_t index,
    const struct pxt_type *type, bool begins)
{
	struct pxt_pair *pair = &pairs->pairs[index];
	const struct pxt_layout *field = NULL;

	if (pairs->options->no_field)
		field = NULL;
	else if (pair->field)
		field = pxt_field_named(type, pair->field);
	else if (type->field_count > 0)
		field = &type->fields[0];
	roles->list[roles->count].pair = (uint16_t)index;
	roles->list[roles->count].begins = begins;
	roles->list[roles->count].field = field;
	roles->count++;
	if (begins)
		pair->begin = pair->begin ? pair->begin : type;
	else
		pair->end = pair->end ? pair->end : type;
}

/* The pair of system events; PXT_PAIRS_MAX: there is no place. */
static uint32_t system_pair(struct pxt_pairs *pairs, const struct pxt_syspair *system)
{
	struct pxt_pair *pair = &pairs->pairs[pairs->pair_count];

	for (uint32_t k = 0; k < pairs->pair_count; k++)
		if (pairs->pairs[k].system == system)
			return k;
	if (pairs->pair_count == PXT_PAIRS_MAX)
		return PXT_PAIRS_MAX;
	pair->system = system;
	pair->field = system->field;
	(void)snprintf(pair->base, sizeof pair->base, "%s", system->name);
	return pairs->pair_count++;
}

static void add_system(
    struct pxt_pairs *pairs, struct pxt_roles *roles, const struct pxt_type *type)
{
	const struct pxt_syspair_role *role = NULL;

	while ((role = pxt_syspairs_next(type->id, role)) != NULL) {
		uint32_t pair = system_pair(pairs, &pxt_syspairs[role->pair]);

		if (pair == PXT_PAIRS_MAX)
			continue;
		add_role(pairs, roles, pair, type, role->begins);
		roles->list[roles->count - 1].system = role;
	}
}

static void learn(struct pxt_pairs *pairs, struct pxt_roles *roles, const struct pxt_type *type)
{
	struct pxt_pair_options *options = pairs->options;
	bool begins = false;

	roles->learnt = true;
	roles->list =
	    pxt_must(calloc((size_t)2 * (options->count + PXT_SYSPAIRS) + 1, sizeof *roles->list));
	/* Ends first: where begin and end are one type, an event ends one span and begins the next. */
	for (unsigned i = 0; i < options->count; i++) {
		if (strcmp(options->pairs[i].end, type->name) != 0)
			continue;
		options->pairs[i].ended = true;
		add_role(pairs, roles, i, type, false);
	}
	for (unsigned i = 0; i < options->count; i++) {
		if (strcmp(options->pairs[i].begin, type->name) != 0)
			continue;
		options->pairs[i].begun = true;
		add_role(pairs, roles, i, type, true);
	}
	uint32_t own = own_pair(pairs, type, &begins);
	if (own < PXT_PAIRS_MAX)
		add_role(pairs, roles, own, type, begins);
	add_system(pairs, roles, type);
}

/* ---- Open begins ---- */

static struct pxt_row *row_of_stack(struct pxt_pairs *pairs, struct pxt_stack *stack, uint64_t key)
{
	if (pairs->options->rows == PXT_ROWS_FIELD || pxt_pairs_by_value(pairs, stack->pair))
		return pxt_pairs_row(pairs, stack->pair, stack->thread, stack->who, key);
	if (!stack->row)
		stack->row = pxt_pairs_row(pairs, stack->pair, stack->thread, stack->who, key);
	return stack->row;
}

/* One span more, or one less, is open from now on. */
static void change_open(const struct pxt_pairs *pairs, struct pxt_row *row, bool more)
{
	if (row->losses != pairs->losses)
		pxt_row_close(row, pairs, pairs->now_ns);
	row->area = pxt_row_area(row, pairs->now_ns);
	row->area_ns = pairs->now_ns;
	row->open_now += more ? 1 : UINT64_MAX;
}

static struct pxt_stack *find_stack(struct pxt_pairs *pairs, uint32_t pair, uint64_t thread)
{
	uint32_t at = pxt_pairs_mix(thread, pair + 1u) & (pairs->stack_size - 1);

	while (pairs->stacks[at].used &&
	       (pairs->stacks[at].pair != pair || pairs->stacks[at].thread != thread))
		at = (at + 1) & (pairs->stack_size - 1);
	return &pairs->stacks[at];
}

static void grow_stacks(struct pxt_pairs *pairs)
{
	struct pxt_stack *old = pairs->stacks;
	uint32_t size = pairs->stack_size;

	pairs->stack_size *= 2;
	pairs->stacks = pxt_must(calloc(pairs->stack_size, sizeof *pairs->stacks));
	for (uint32_t i = 0; i < size; i++)
		if (old[i].used)
			*find_stack(pairs, old[i].pair, old[i].thread) = old[i];
	free(old);
}

static void close_all(struct pxt_pairs *pairs, struct pxt_stack *stack, bool lost)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		struct pxt_row *row = row_of_stack(pairs, stack, stack->entries[i].key);

		if (lost) {
			row->cut++;
		} else {
			row->open++;
			change_open(pairs, row, false);
		}
	}
	stack->count = 0;
}

static struct pxt_stack *stack_of(
    struct pxt_pairs *pairs, uint32_t pair, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	uint64_t number = pairs->options->any_thread ? 0 : pxt_thread_key(thread);
	struct pxt_stack *stack = find_stack(pairs, pair, number);

	if (!stack->used) {
		if (pairs->stack_count == PXT_STACKS_MAX)
			return NULL;
		if (pairs->stack_count * 2 >= pairs->stack_size) {
			grow_stacks(pairs);
			stack = find_stack(pairs, pair, number);
		}
		stack->used = true;
		stack->pair = pair;
		stack->thread = number;
		stack->who = thread->index == PXT_INDEX_NONE ? NULL : thread;
		pairs->stack_count++;
	}
	if (stack->losses != pairs->losses)
		close_all(pairs, stack, true);
	stack->losses = pairs->losses;
	return stack;
}

static void push(struct pxt_pairs *pairs, struct pxt_stack *stack, uint64_t key, int64_t ns)
{
	if (stack->count == stack->room && stack->room < PXT_OPEN_DEPTH &&
	    pairs->room + stack->room + 4 <= PXT_OPEN_MAX) {
		uint32_t room = stack->room ? 2 * stack->room : 4;

		stack->entries = pxt_must(realloc(stack->entries, room * sizeof *stack->entries));
		pairs->room += room - stack->room;
		stack->room = room;
	}
	struct pxt_row *row = row_of_stack(pairs, stack, key);
	if (stack->room == 0) {
		row->open++;
		return;
	}
	if (stack->count == stack->room) {
		/* No room: the oldest will find no end any more. */
		struct pxt_row *oldest = row_of_stack(pairs, stack, stack->entries[0].key);

		oldest->open++;
		change_open(pairs, oldest, false);
		memmove(
		    stack->entries, stack->entries + 1, (stack->room - 1) * sizeof *stack->entries);
		stack->count--;
	}
	change_open(pairs, row, true);
	stack->entries[stack->count++] =
	    (struct open_begin){ .key = key, .mark = pairs->mark, .ns = ns };
}

/* The newest begin, of the same key where the types have one in common. */
static void pop(
    struct pxt_pairs *pairs, struct pxt_stack *stack, bool keyed, uint64_t key, int64_t ns)
{
	for (uint32_t i = stack->count; i-- > 0;) {
		struct open_begin begin = stack->entries[i];

		if (keyed && begin.key != key)
			continue;
		if (i + 1 < stack->count)
			memmove(stack->entries + i, stack->entries + i + 1,
			    (stack->count - i - 1) * sizeof *stack->entries);
		stack->count--;
		pairs->row = row_of_stack(pairs, stack, begin.key);
		change_open(pairs, pairs->row, false);
		pxt_series_add(&pairs->row->series, ns > begin.ns ? (uint64_t)(ns - begin.ns) : 0);
		if (pairs->on_span)
			pairs->on_span(pairs->context, stack->pair, begin.mark, begin.ns);
		return;
	}
	const struct pxt_syspair *system = pairs->pairs[stack->pair].system;
	if (!system || !system->alone)
		row_of_stack(pairs, stack, key)->unopened++;
}

/* What found no stack, in a row of its own. */
static void stack_refused(struct pxt_pairs *pairs, uint32_t pair, bool begins)
{
	struct pxt_row *row = pxt_pairs_row(pairs, pair, UINT64_MAX, NULL, UINT64_MAX);

	row->open += begins;
	row->unopened += !begins;
}

/* ---- Events ---- */

/* Whether begin and end are matched by a field: both have it, under one name. */
static bool matched_by_field(const struct pxt_pair *pair, const struct pxt_layout *field)
{
	return field && pair->begin &&
	       (pair->field ? pxt_field_named(pair->begin, pair->field) != NULL
	                    : pair->begin->field_count > 0 &&
	                          strcmp(pair->begin->fields[0].name, field->name) == 0);
}

static bool matched(struct role *role, const struct pxt_pair *pair)
{
	if (role->with != pair->begin) {
		role->with = pair->begin;
		role->matched = matched_by_field(pair, role->field);
	}
	return role->matched;
}

void pxt_pairs_gap(struct pxt_pairs *pairs, const struct pxt_event *event)
{
	if (event->extra.posix_lost_before_np > 0 || event->source->steps)
		pairs->losses++;
	if (event->source->steps)
		pairs->by_clock = true;
}

void pxt_pairs_take(struct pxt_pairs *pairs, const struct pxt_event *event)
{
	if (event->type->index == PXT_INDEX_NONE)
		return;
	struct pxt_roles *roles = &pairs->roles[event->type->index];

	pairs->event = event;
	pairs->now_ns = event->ns;
	if (!roles->learnt)
		learn(pairs, roles, event->type);
	for (unsigned i = 0; i < roles->count; i++) {
		const struct pxt_pair *pair = &pairs->pairs[roles->list[i].pair];
		const struct pxt_layout *field = roles->list[i].field;
		uint64_t key = 0;

		if (roles->list[i].system && !pxt_syspairs_does(event, roles->list[i].system))
			continue;
		struct pxt_stack *stack = stack_of(pairs, roles->list[i].pair, event);
		bool has_key = field && pxt_field_key(event, field, &key);

		if (!stack)
			stack_refused(pairs, roles->list[i].pair, roles->list[i].begins);
		else if (roles->list[i].begins)
			push(pairs, stack, key, event->ns);
		else
			pop(pairs, stack, has_key && matched(&roles->list[i], pair), key,
			    event->ns);
	}
}

void pxt_pairs_end(struct pxt_pairs *pairs)
{
	pairs->event = NULL;
	for (uint32_t i = 0; i < pairs->stack_size; i++)
		if (pairs->stacks[i].used)
			close_all(
			    pairs, &pairs->stacks[i], pairs->stacks[i].losses != pairs->losses);
}

void pxt_pairs_free(struct pxt_pairs *pairs)
{
	for (uint32_t i = 0; i < 2 * PXT_ROWS_MAX; i++) {
		if (pairs->rows[i])
			pxt_series_free(&pairs->rows[i]->series);
		free(pairs->rows[i]);
	}
	for (uint32_t i = 0; i < pairs->stack_size; i++)
		free(pairs->stacks[i].entries);
	for (uint32_t i = 0; i < PXT_TYPES_MAX; i++)
		free(pairs->roles[i].list);
	free(pairs->rows);
	free(pairs->stacks);
	free(pairs->roles);
	free(pairs);
}
