/* SPDX-License-Identifier: MIT */
/* tell_locks.c - how locks were used, and in which orders they could deadlock, as text and as JSON. */
#include "tools/why/tell.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX      20u
/* Where a terminal has fewer columns, how often a lock was taken is left out. */
#define LOCKS_COLUMNS 72u

/* ---- What both have ---- */

static int by_wait(const void *a, const void *b)
{
	const struct pxt_lockuse_row *x = *(const struct pxt_lockuse_row *const *)a;
	const struct pxt_lockuse_row *y = *(const struct pxt_lockuse_row *const *)b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	if (x->held_ns != y->held_ns)
		return x->held_ns > y->held_ns ? -1 : 1;
	if (x->taken != y->taken)
		return x->taken > y->taken ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Those that were taken or waited for, what was waited for longest first; free() it. */
static const struct pxt_lockuse_row **sort_rows(const struct pxt_lockuse *use)
{
	const struct pxt_lockuse_row **rows =
	    pxt_must(calloc((size_t)use->row_count + 1, sizeof(struct pxt_lockuse_row *)));

	for (uint32_t i = 0; i < use->row_count; i++)
		rows[i] = &use->rows[i];
	qsort(rows, use->row_count, sizeof(struct pxt_lockuse_row *), by_wait);
	return rows;
}

static int64_t since(const struct pxt_tell_locks *tell, int64_t ns)
{
	return ns - tell->reader->start_ns;
}

static const char *place_of(
    const struct pxt_tell_locks *tell, const struct pxt_log_address *address)
{
	return pxt_places_code(tell->book->places, address);
}

/* All that will be shown is looked up at once. */
static void want_row(const struct pxt_tell_locks *tell, const struct pxt_lockuse_row *row)
{
	pxt_places_want(tell->book->places, &row->lock->first);
	pxt_places_want(tell->book->places, &row->longest_place.at);
	pxt_places_want(tell->book->places, &row->held_place.at);
}

static void want_rings(
    const struct pxt_tell_locks *tell, const struct pxt_lockuse_ring *rings, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned k = 0; k < rings[i].count; k++) {
			pxt_places_want(tell->book->places, &rings[i].orders[k]->from_place);
			pxt_places_want(tell->book->places, &rings[i].orders[k]->to_place);
		}
	}
}

static unsigned find_rings(
    const struct pxt_tell_locks *tell, struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS], bool *all)
{
	unsigned count = pxt_lockuse_rings(tell->use, rings, all);

	want_rings(tell, rings, count);
	return count;
}

static bool knows_orders(const struct pxt_tell_locks *tell)
{
	return !tell->use->is_traced || tell->use->tells_free;
}

static void say_lock(
    const struct pxt_tell_locks *tell, struct pxt_words *words, const struct pxt_state_lock *lock)
{
	words->used = 0;
	*words->text = '\0';
	pxt_say_lock(words, tell->book, lock);
}

/* ---- Text ---- */

static void put_duration(struct pxt_out *out, int64_t ns, unsigned column)
{
	char text[24];

	if (ns > 0)
		pxt_duration(text, (uint64_t)ns);
	else
		strcpy(text, "-");
	pxt_out_format(out, " %*s", (int)column, text);
}

/* A time since the start, to the millisecond: enough for --at. */
static void put_moment(struct pxt_out *out, int64_t ns)
{
	char text[24];

	if (ns >= 0 && ns < 1000000000) {
		pxt_duration(text, (uint64_t)ns);
		pxt_out_text(out, text);
	} else {
		pxt_out_format(out, "%.3f s", (double)ns / 1e9);
	}
}

/* ", taken in FUNCTION (FILE:LINE)". */
static void put_place(const struct pxt_tell_locks *tell, const struct pxt_lockuse_place *place,
    const struct pxt_state_lock *lock)
{
	const char *text = place_of(tell, &place->at);

	if (text && lock->is_given)
		pxt_out_format(tell->out, " in %s", text);
	else if (text)
		pxt_out_format(
		    tell->out, ", %s in %s", place->given_back ? "given back" : "taken", text);
}

/* As it was called then. */
static const char *name_at(
    const struct pxt_tell_locks *tell, const struct pxt_actor *actor, int64_t ns)
{
	if (actor)
		pxt_state_names_at(tell->use->state, ns);
	return actor ? actor->name : NULL;
}

static void put_row(
    const struct pxt_tell_locks *tell, const struct pxt_lockuse_row *row, bool narrow)
{
	struct pxt_out *out = tell->out;
	struct pxt_words words = { 0 };
	char text[24];
	bool named = pxt_say_lock_short(&words, tell->book, row->lock);
	int64_t got_ns = row->longest_at_ns + row->longest_ns;

	pxt_out_column(out, words.text, words.used, words.used, narrow ? 16 : 20);
	if (!narrow)
		pxt_out_right(out, row->taken, 8);
	pxt_out_right(out, row->waits, 8);
	put_duration(out, row->wait_ns, 11);
	put_duration(out, row->longest_ns, 11);
	put_duration(out, row->lock->is_given ? 0 : row->held_ns, 11);
	pxt_out_char(out, '\n');
	const char *first = named ? NULL : place_of(tell, &row->lock->first);
	if (first)
		pxt_out_format(
		    out, "    %s %s\n", row->lock->counted ? "taken in" : "first used in", first);
	if (row->longest_by) {
		pxt_duration(text, (uint64_t)row->longest_ns);
		pxt_out_format(out, "    %s waited %s for it at ",
		    name_at(tell, row->longest_by, got_ns), text);
		put_moment(out, since(tell, row->longest_at_ns));
		if (row->longest_holder) {
			pxt_out_format(out, ", %s %s %s it",
			    row->lock->is_given ? "until" : "while", row->longest_holder->name,
			    pxt_word_had(row->lock));
			put_place(tell, &row->longest_place, row->lock);
		}
		pxt_out_char(out, '\n');
	}
	if (row->held_by && row->waits > 0 && !row->lock->is_given) {
		pxt_duration(text, (uint64_t)row->held_ns);
		pxt_out_format(out, "    %s had it longest: %s",
		    name_at(tell, row->held_by, row->held_to_ns), text);
		put_place(tell, &row->held_place, row->lock);
		pxt_out_char(out, '\n');
	}
}

static void put_order(const struct pxt_tell_locks *tell, const struct pxt_lockuse_order *order)
{
	struct pxt_out *out = tell->out;
	struct pxt_words words = { 0 };
	const char *place;

	say_lock(tell, &words, tell->use->rows[order->from].lock);
	pxt_out_format(out, "    %s", words.text);
	place = place_of(tell, &order->from_place);
	if (place)
		pxt_out_format(out, " in %s", place);
	say_lock(tell, &words, tell->use->rows[order->to].lock);
	pxt_out_format(out, ", then %s", words.text);
	place = place_of(tell, &order->to_place);
	if (place)
		pxt_out_format(out, " in %s", place);
	pxt_out_format(
	    out, ": %s%s", name_at(tell, order->by, order->ns), order->others ? " and others" : "");
	pxt_out_format(out, ", %llu time%s, first at ", (unsigned long long)order->count,
	    order->count == 1 ? "" : "s");
	put_moment(out, since(tell, order->ns));
	pxt_out_char(out, '\n');
}

/* A free() is not recorded.  A variable is one lock, and so is what is told to have begun its life at an address. */
static bool may_be_several(const struct pxt_tell_locks *tell, const struct pxt_lockuse_ring *ring)
{
	bool any = false;

	for (unsigned k = 0; k < ring->count; k++) {
		const struct pxt_state_lock *lock = tell->use->rows[ring->orders[k]->from].lock;

		any |= lock->of_system && lock->life == 0 &&
		       !pxt_places_variable(tell->book->places, &lock->self);
	}
	return any;
}

static void put_rings(const struct pxt_tell_locks *tell)
{
	struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS];
	struct pxt_out *out = tell->out;
	bool all;
	unsigned count = find_rings(tell, rings, &all);

	if (!knows_orders(tell))
		pxt_out_text(out, "\nLocks that were free were counted (--all records each): in "
		                  "which orders locks are taken is not known.\n");
	else if (count == 0)
		pxt_out_text(out, "\nNo locks were taken in orders that could deadlock.\n");
	for (unsigned i = 0; i < count; i++) {
		pxt_out_text(
		    out, "\nCOULD DEADLOCK: each thread may have what the next one asks for\n");
		for (unsigned k = 0; k < rings[i].count; k++)
			put_order(tell, rings[i].orders[k]);
		if (may_be_several(tell, &rings[i]))
			pxt_out_text(out,
			    "    It could not, if an object was freed in between: free() is not "
			    "recorded, and the next one's lock has the same address.\n");
	}
	if (!all)
		pxt_out_text(out, "There are more orders; no further ones were looked at.\n");
}

static void put_table(
    const struct pxt_tell_locks *tell, const struct pxt_lockuse_row **rows, uint32_t count)
{
	struct pxt_out *out = tell->out;
	size_t width = pxt_width(out->fd);
	bool narrow = width && width < LOCKS_COLUMNS;

	for (uint32_t i = 0; i < count; i++)
		want_row(tell, rows[i]);
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_text(out, narrow ? "LOCK               " : "LOCK                   TAKEN   ");
	pxt_out_text(out, "WAITS      WAITED     LONGEST        HELD\n");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (uint32_t i = 0; i < count; i++)
		put_row(tell, rows[i], narrow);
}

void pxt_tell_locks_top(const struct pxt_tell_locks *tell, unsigned count)
{
	const struct pxt_lockuse_row **rows = sort_rows(tell->use);
	uint32_t shown = 0;

	while (shown < count && shown < tell->use->row_count && rows[shown]->wait_ns > 0)
		shown++;
	if (shown > 0)
		put_table(tell, rows, shown);
	free(rows);
}

void pxt_tell_locks_text(const struct pxt_tell_locks *tell)
{
	const struct pxt_lockuse_row **rows = sort_rows(tell->use);
	struct pxt_out *out = tell->out;

	if (tell->use->row_count == 0) {
		pxt_out_text(out, "No lock was taken in this log.\n");
		free(rows);
		return;
	}
	put_table(tell, rows, tell->use->row_count < ROWS_MAX ? tell->use->row_count : ROWS_MAX);
	if (tell->use->row_count > ROWS_MAX)
		pxt_out_format(out, "and %lu more, which were waited for no longer\n",
		    (unsigned long)(tell->use->row_count - ROWS_MAX));
	if (tell->use->state->counted_beyond) {
		pxt_out_text(out, "and locks beyond those that are counted one by one: taken ");
		pxt_out_right(out, tell->use->state->counted_beyond, 0);
		pxt_out_text(out, " times\n");
	}
	if (!tell->use->asks && !tell->use->is_traced)
		pxt_out_text(out,
		    "\nNo event says when a lock is asked for (X_wait): waits are not known.\n");
	put_rings(tell);
	free(rows);
}

/* ---- JSON ---- */

static void put_lock(
    const struct pxt_tell_locks *tell, const char *name, const struct pxt_state_lock *lock)
{
	struct pxt_words words = { 0 };

	say_lock(tell, &words, lock);
	pxt_json_label(tell->out, name, words.text);
}

static void put_json_place(
    const struct pxt_tell_locks *tell, const char *name, const struct pxt_lockuse_place *place)
{
	char is_of_release[64];

	pxt_json_label(tell->out, name, place_of(tell, &place->at));
	if (!place->given_back)
		return;
	(void)snprintf(is_of_release, sizeof is_of_release, "%s_is_of_release", name);
	pxt_json_bool(tell->out, is_of_release, true);
}

/* Of a lock that is counted; null: several threads that had ended. */
static void put_json_takers(struct pxt_out *out, const struct pxt_state_lock *lock)
{
	if (lock->taken_by_count == 0)
		return;
	pxt_json_open(out, "taken_by", '[');
	for (uint32_t i = 0; i < lock->taken_by_count; i++) {
		const struct pxt_taken *taken = &lock->taken_by[i];

		pxt_json_open(out, NULL, '{');
		pxt_json_label(out, "thread", taken->actor ? taken->actor->name : NULL);
		pxt_json_signed(out, "tid", taken->actor ? taken->actor->tid : 0);
		pxt_json_number(out, "taken", taken->times);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
}

static void put_json_row(const struct pxt_tell_locks *tell, const struct pxt_lockuse_row *row)
{
	int64_t got_ns = row->longest_at_ns + row->longest_ns;
	struct pxt_out *out = tell->out;

	pxt_json_open(out, NULL, '{');
	put_lock(tell, "lock", row->lock);
	pxt_json_number(out, "taken", row->taken);
	pxt_json_number(out, "waits", row->waits);
	pxt_json_signed(out, "wait_ns", row->wait_ns);
	pxt_json_signed(out, "longest_ns", row->longest_ns);
	pxt_json_signed(out, "longest_at_ns", row->longest_at_ns);
	pxt_json_signed(out, "held_ns", row->held_ns);
	pxt_json_label(out, "longest_by", name_at(tell, row->longest_by, got_ns));
	pxt_json_label(out, "longest_holder", name_at(tell, row->longest_holder, got_ns));
	put_json_place(tell, "longest_holder_place", &row->longest_place);
	pxt_json_label(out, "held_by", name_at(tell, row->held_by, row->held_to_ns));
	put_json_place(tell, "held_place", &row->held_place);
	pxt_state_names_at(tell->use->state, INT64_MAX);
	put_json_takers(out, row->lock);
	pxt_json_close(out, "}");
}

static void put_json_order(const struct pxt_tell_locks *tell, const struct pxt_lockuse_order *order)
{
	struct pxt_out *out = tell->out;

	pxt_json_open(out, NULL, '{');
	put_lock(tell, "first", tell->use->rows[order->from].lock);
	put_lock(tell, "then", tell->use->rows[order->to].lock);
	pxt_json_label(out, "thread", name_at(tell, order->by, order->ns));
	pxt_json_label(out, "first_place", place_of(tell, &order->from_place));
	pxt_json_label(out, "place", place_of(tell, &order->to_place));
	pxt_json_bool(out, "others", order->others);
	pxt_json_number(out, "count", order->count);
	pxt_json_signed(out, "ns", order->ns);
	pxt_json_close(out, "}");
}

void pxt_tell_locks_json(const struct pxt_tell_locks *tell)
{
	const struct pxt_lockuse_row **rows = sort_rows(tell->use);
	struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS];
	struct pxt_out *out = tell->out;
	bool all;
	unsigned count = find_rings(tell, rings, &all);

	for (uint32_t i = 0; i < tell->use->row_count; i++)
		want_row(tell, rows[i]);
	pxt_json_begin(out);
	pxt_json_bool(out, "waits_known", tell->use->asks || tell->use->is_traced);
	pxt_json_open(out, "locks", '[');
	for (uint32_t i = 0; i < tell->use->row_count; i++)
		put_json_row(tell, rows[i]);
	pxt_json_close(out, "]");
	pxt_json_open(out, "could_deadlock", '[');
	for (unsigned i = 0; i < count; i++) {
		pxt_json_open(out, NULL, '[');
		for (unsigned k = 0; k < rings[i].count; k++)
			put_json_order(tell, rings[i].orders[k]);
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "]");
	pxt_json_number(out, "taken_beyond", tell->use->state->counted_beyond);
	pxt_json_bool(out, "orders_known", knows_orders(tell));
	pxt_json_bool(out, "all_orders", all);
	pxt_json_end(out);
	free(rows);
}
