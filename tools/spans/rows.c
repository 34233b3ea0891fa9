/* SPDX-License-Identifier: MIT */
/* rows.c - the lines of a table of durations: for which pair, thread or value, and what they are called. */
#include "tools/spans/pairs.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void label_text(
    struct pxt_row *row, const struct pxt_event *event, const struct pxt_layout *field)
{
	const char *text;
	size_t bytes = pxt_field_text(event, field, &text);

	(void)snprintf(row->label, sizeof row->label, "%s=", field->name);
	size_t used = strlen(row->label);
	(void)pxt_escape(text, bytes, row->label + used, sizeof row->label - used, NULL);
}

/* Names of functions are for who has symbols: an address until then. */
static void label_value(
    const struct pxt_pairs *pairs, struct pxt_row *row, const char *thread, uint64_t key)
{
	const struct pxt_pair *pair = &pairs->pairs[row->pair];
	const char *word = NULL;
	char number[24];
	bool of_thread = pairs->options->rows == PXT_ROWS_THREAD;

	if (pair->system->names == PXT_SYSPAIR_WORDS && pair->begin)
		word = pxt_sysnames_word(pair->begin->id, pair->field, key);
	if (pair->system->names == PXT_SYSPAIR_FUNCTIONS)
		(void)snprintf(number, sizeof number, "0x%" PRIx64, key);
	else
		(void)snprintf(number, sizeof number, "%" PRIu64, key);
	(void)snprintf(row->label, sizeof row->label, "%s%s%s", word ? word : number,
	    of_thread ? "  " : "", of_thread ? thread : "");
}

static void label_row(
    struct pxt_pairs *pairs, struct pxt_row *row, const char *thread, uint64_t key)
{
	const struct pxt_type *begin = pairs->pairs[row->pair].begin;
	const struct pxt_layout *field = NULL;

	*row->label = '\0';
	if (pxt_pairs_by_value(pairs, row->pair)) {
		label_value(pairs, row, thread, key);
		return;
	}
	if (pairs->options->rows == PXT_ROWS_THREAD)
		(void)snprintf(row->label, sizeof row->label, "%s", thread);
	if (pairs->options->rows != PXT_ROWS_FIELD || !begin)
		return;
	if (pairs->pairs[row->pair].field)
		field = pxt_field_named(begin, pairs->pairs[row->pair].field);
	else if (begin->field_count > 0)
		field = &begin->fields[0];
	if (!field)
		return;
	const struct pxt_layout *text =
	    pairs->event ? pxt_field_named(pairs->event->type, field->name) : NULL;
	if (field->kind == POSIX_TRACE_FIELD_TEXT_NP && text)
		label_text(row, pairs->event, text);
	else if (field->kind == POSIX_TRACE_FIELD_SIGNED_NP)
		(void)snprintf(
		    row->label, sizeof row->label, "%s=%" PRId64, field->name, (int64_t)key);
	else if (field->kind == POSIX_TRACE_FIELD_UNSIGNED_NP)
		(void)snprintf(row->label, sizeof row->label, "%s=%" PRIu64, field->name, key);
	else
		(void)snprintf(row->label, sizeof row->label, "%s=%#" PRIx64, field->name, key);
}

/* Where the row of a pair for this group is, or would be. */
static uint32_t place_of(const struct pxt_pairs *pairs, uint32_t pair, uint64_t group)
{
	uint32_t at = pxt_pairs_mix(pair, group) % (2 * PXT_ROWS_MAX);

	while (
	    pairs->rows[at] && (pairs->rows[at]->pair != pair || pairs->rows[at]->group != group))
		at = (at + 1) % (2 * PXT_ROWS_MAX);
	return at;
}

struct pxt_row *pxt_pairs_find(const struct pxt_pairs *pairs, uint32_t pair, uint64_t group)
{
	return pairs->rows[place_of(pairs, pair, group)];
}

struct pxt_row *pxt_pairs_row(struct pxt_pairs *pairs, uint32_t pair, uint64_t thread,
    const struct pxt_thread *who, uint64_t key)
{
	enum pxt_rows rows = pairs->options->rows;
	uint64_t group = rows == PXT_ROWS_THREAD ? thread : rows == PXT_ROWS_FIELD ? key : 0;
	bool full = pairs->row_count >= PXT_ROWS_MAX - PXT_PAIRS_MAX;

	if (pxt_pairs_by_value(pairs, pair))
		group = rows == PXT_ROWS_THREAD ? thread ^ key * UINT64_C(0x9e3779b97f4a7c15) : key;

	for (;;) {
		uint32_t at = place_of(pairs, pair, group);

		if (pairs->rows[at])
			return pairs->rows[at];
		if (full && group != UINT64_MAX) {
			group = UINT64_MAX;
			continue;
		}
		struct pxt_row *row = pxt_must(calloc(1, sizeof *row));
		row->pair = pair;
		row->group = group;
		row->key = key;
		if (pairs->event) {
			row->pid = pairs->event->info.posix_pid;
			row->ns = pairs->event->ns;
		}
		pairs->rows[at] = row;
		pairs->row_count++;
		if (full)
			(void)snprintf(row->label, sizeof row->label, "(others)");
		else
			label_row(pairs, row, who ? who->label : "(others)", key);
		return row;
	}
}

void pxt_row_close(struct pxt_row *row, const struct pxt_pairs *pairs, int64_t ns)
{
	row->area = pxt_row_area(row, ns);
	row->area_ns = ns;
	row->open_now = 0;
	row->losses = pairs->losses;
}

static int by_pair_and_label(const void *a, const void *b)
{
	const struct pxt_row *x = *(struct pxt_row *const *)a;
	const struct pxt_row *y = *(struct pxt_row *const *)b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	return strcmp(x->label, y->label);
}

struct pxt_row **pxt_pairs_rows(struct pxt_pairs *pairs, uint32_t *count)
{
	struct pxt_row **list = pxt_must(calloc(pairs->row_count + 1u, sizeof(struct pxt_row *)));

	*count = 0;
	for (uint32_t i = 0; i < 2 * PXT_ROWS_MAX; i++) {
		struct pxt_row *row = pairs->rows[i];

		/* "engine_start" alone makes no pair. */
		if (row && ((pairs->pairs[row->pair].begin && pairs->pairs[row->pair].end) ||
		               pairs->pairs[row->pair].is_explicit))
			list[(*count)++] = row;
	}
	qsort(list, *count, sizeof(struct pxt_row *), by_pair_and_label);
	return list;
}
