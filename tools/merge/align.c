/* SPDX-License-Identifier: MIT */
/*
 * align.c - clocks of several machines, compared by events that their logs have at one moment (--align).
 *
 * Two such events that belong together are a pair.  The times of the pairs say by how much a clock was
 * behind, and with three or more of them, how much faster or slower it ran: a line through their
 * differences, with the least squares.  What no pair can tell is a delay that all of them have.
 *
 * Bounded: PAIRS_MAX events of each machine.  Where there are more, those with some keys are left out,
 * of every machine the same.
 */
#include "tools/merge/merge.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX       65536u
/* With fewer, a line goes through all pairs whatever they are. */
#define PAIRS_FOR_DRIFT 3u

struct sync {
	uint64_t key; /* which event belongs to it in another log */
	int64_t ns;
};

/* Of one group of logs, or of the common line. */
struct syncs {
	struct sync *list;
	uint32_t count;
	uint32_t room;
	uint64_t seen;    /* events of the type, ... */
	uint64_t without; /* ... of these without the field */
	uint64_t lost;    /* events of any type */
};

/* How one group's clock lies to the common line. */
struct fit {
	size_t pairs;
	int64_t offset_ns;
	double drift;
	bool drifts;       /* more than the pairs differ among each other */
	int64_t middle_ns; /* the offset is that of this time, which has no offset in it */
	double worst_ns;   /* of the pairs from the line */
};

/* ---- Reading the events ---- */

/* Spreads keys, so that those that are left out are everywhere in the log. */
static uint64_t mixed(uint64_t key)
{
	key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

/* Half as many keys of all groups as before. */
static void thin(struct syncs *all, unsigned count, uint64_t *mask)
{
	*mask = *mask << 1 | 1;
	for (unsigned g = 0; g < count; g++) {
		uint32_t kept = 0;

		for (uint32_t i = 0; i < all[g].count; i++)
			if ((mixed(all[g].list[i].key) & *mask) == 0)
				all[g].list[kept++] = all[g].list[i];
		all[g].count = kept;
	}
}

static void put(struct syncs *syncs, uint64_t key, int64_t ns)
{
	syncs->list = pxt_must_grow(syncs->list, &syncs->room, syncs->count, sizeof *syncs->list);
	syncs->list[syncs->count++] = (struct sync){ .key = key, .ns = ns };
}

/* False: this one says nothing by which another log's could be found. */
static bool key_of(
    struct syncs *syncs, const struct pxt_event *event, const char *field, uint64_t *key)
{
	const struct pxt_layout *layout;

	*key = syncs->seen++;
	if (!field)
		return true;
	layout = pxt_field_named(event->type, field);
	if (layout && pxt_field_key(event, layout, key))
		return true;
	syncs->without++;
	return false;
}

static void read_all(struct syncs *all, const struct pxt_merge_line *line,
    struct pxt_reader *reader, const struct pxt_placing *placing)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	uint64_t mask = 0;
	uint64_t key;

	pxt_progress_reader(&progress, "align", reader, false);
	while ((event = pxt_reader_next(reader)) != NULL) {
		struct syncs *mine = &all[line->places[event->source->place].group];

		pxt_progress_step(&progress);
		if (strcmp(event->type->name, placing->event) != 0 ||
		    !key_of(mine, event, placing->field, &key) || (mixed(key) & mask) != 0)
			continue;
		put(mine, key, event->ns);
		if (mine->count > PAIRS_MAX)
			thin(all, reader->count, &mask);
	}
	pxt_progress_end(&progress);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		all[line->places[i].group].lost += source->lost + pxt_source_lost_rest(source);
	}
	pxt_reader_rewind(reader);
}

static int by_key(const void *a, const void *b)
{
	const struct sync *x = a;
	const struct sync *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* What stands twice belongs to nobody. */
static void sort(struct syncs *syncs)
{
	uint32_t kept = 0;

	if (syncs->count > 0)
		qsort(syncs->list, syncs->count, sizeof *syncs->list, by_key);
	for (uint32_t i = 0; i < syncs->count;) {
		uint32_t next = i + 1;

		while (next < syncs->count && syncs->list[next].key == syncs->list[i].key)
			next++;
		if (next == i + 1)
			syncs->list[kept++] = syncs->list[i];
		i = next;
	}
	syncs->count = kept;
}

/* ---- The line through the pairs ---- */

/* The pairs' times: @x of the group, @y of the common line; returns their number. */
static size_t pair_up(const struct syncs *mine, const struct syncs *common, int64_t *x, int64_t *y)
{
	size_t pairs = 0;
	size_t k = 0;

	for (size_t i = 0; i < mine->count; i++) {
		while (k < common->count && common->list[k].key < mine->list[i].key)
			k++;
		if (k == common->count || common->list[k].key != mine->list[i].key)
			continue;
		x[pairs] = mine->list[i].ns;
		y[pairs++] = common->list[k].ns;
	}
	return pairs;
}

/* By how much more the times of pair @i differ than those of the first. */
static double beyond_first(const int64_t *x, const int64_t *y, size_t i)
{
	return (double)(y[i] - y[0]) - (double)(x[i] - x[0]);
}

static void find_drift(
    struct fit *fit, const int64_t *x, const int64_t *y, double x_mean, double mean)
{
	double xx = 0;
	double xy = 0;
	double rest = 0;

	for (size_t i = 0; i < fit->pairs; i++) {
		double from = (double)(x[i] - x[0]) - x_mean;

		xx += from * from;
		xy += from * (beyond_first(x, y, i) - mean);
	}
	if (fit->pairs < PAIRS_FOR_DRIFT || xx <= 0)
		return;
	double drift = xy / xx;
	for (size_t i = 0; i < fit->pairs; i++) {
		double from = (double)(x[i] - x[0]) - x_mean;
		double off = beyond_first(x, y, i) - mean - drift * from;

		rest += off * off;
	}
	/* Three times what the pairs' own differences would make it by chance; times are whole ns. */
	double chance = 3 * sqrt((rest + 1) / (double)(fit->pairs - 2) / xx);
	/* A clock that goes backward or stands still is not used. */
	fit->drifts = fabs(drift) > chance && fabs(drift) < 0.5;
	fit->drift = fit->drifts ? drift : 0;
}

static struct fit fit_line(const int64_t *x, const int64_t *y, size_t pairs)
{
	struct fit fit = { .pairs = pairs };
	double x_mean = 0;
	double mean = 0;

	for (size_t i = 0; i < pairs; i++) {
		x_mean += (double)(x[i] - x[0]) / (double)pairs;
		mean += beyond_first(x, y, i) / (double)pairs;
	}
	find_drift(&fit, x, y, x_mean, mean);
	for (size_t i = 0; i < pairs; i++) {
		double from = (double)(x[i] - x[0]) - x_mean;
		double off = fabs(beyond_first(x, y, i) - mean - fit.drift * from);

		fit.worst_ns = off > fit.worst_ns ? off : fit.worst_ns;
	}
	fit.middle_ns = pxt_when_sum(x[0], pxt_when_whole(x_mean));
	fit.offset_ns = pxt_when_sum(y[0] - x[0], pxt_when_whole(mean));
	return fit;
}

/* ---- Placing a group by it ---- */

static const char *path_of(
    const struct pxt_merge_line *line, const struct pxt_reader *reader, uint32_t group)
{
	return reader->sources[line->places[group].base]->path;
}

/* What the pairs say of the clock; nothing that they do not say. */
static void say_fit(struct posix_trace_lognote_np *note, const struct fit *fit, const char *event,
    const char *path, const char *reference)
{
	char moved[16];
	char worst[16];
	char clock[80] = "no drift is seen";
	char rest[160] = "too few to tell how its clock runs, or how well they agree";

	pxt_duration(moved, (uint64_t)llabs(fit->offset_ns));
	pxt_duration(worst, (uint64_t)pxt_when_whole(fit->worst_ns));
	if (fit->drifts)
		(void)snprintf(clock, sizeof clock, "its clock is %.3g ppm %s",
		    fabs(fit->drift) * 1e6, fit->drift > 0 ? "slow" : "fast");
	if (fit->pairs >= PAIRS_FOR_DRIFT)
		(void)snprintf(rest, sizeof rest, "%s; the pairs agree to %s", clock, worst);
	(void)snprintf(note->posix_name_np, sizeof note->posix_name_np, "clock");
	/* Names are cut rather than the figures behind them. */
	for (int most = 60; most > 0; most -= 20) {
		int length = snprintf(note->posix_text_np, sizeof note->posix_text_np,
		    "%.*s: moved %s %s by %zu pair%s of %.*s with %.*s; %s", most, path, moved,
		    fit->offset_ns < 0 ? "back" : "forward", fit->pairs, fit->pairs == 1 ? "" : "s",
		    most, event, most, reference, rest);

		if (length >= 0 && (size_t)length < sizeof note->posix_text_np)
			break;
	}
	pxt_complain("%s", note->posix_text_np);
}

static void place_group(
    struct pxt_merge_line *line, struct pxt_reader *reader, uint32_t group, const struct fit *fit)
{
	for (uint32_t i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		if (line->places[i].group != group)
			continue;
		source->shift_ns = pxt_when_sum(source->shift_ns, fit->offset_ns);
		source->drift = fit->drift;
		source->drift_ns = pxt_when_sum(fit->middle_ns, fit->offset_ns);
	}
	line->places[group].aligned = true;
}

static int64_t on_line(const struct fit *fit, int64_t ns)
{
	return pxt_when_sum(pxt_when_sum(ns, fit->offset_ns),
	    pxt_when_whole(fit->drift * (double)(ns - fit->middle_ns)));
}

/* Those that the common line has not yet are good for groups that come after this one. */
static void add_to(struct syncs *common, const struct syncs *mine, const struct fit *fit)
{
	size_t old = common->count;

	for (size_t i = 0; i < mine->count; i++)
		if (old == 0 ||
		    !bsearch(&mine->list[i], common->list, old, sizeof *common->list, by_key))
			put(common, mine->list[i].key, on_line(fit, mine->list[i].ns));
	if (common->count > 0)
		qsort(common->list, common->count, sizeof *common->list, by_key);
}

/* Compares one group with the common line; false: they have no pair. */
static bool compare(struct pxt_merge_line *line, struct pxt_reader *reader,
    const struct pxt_placing *placing, uint32_t group, const struct syncs *mine,
    struct syncs *common, uint32_t reference)
{
	int64_t *x = pxt_must(calloc(mine->count + 1, sizeof *x));
	int64_t *y = pxt_must(calloc(mine->count + 1, sizeof *y));
	size_t pairs = pair_up(mine, common, x, y);

	if (pairs > 0) {
		struct fit fit = fit_line(x, y, pairs);

		say_fit(&line->notes[line->note_count++], &fit, placing->event,
		    path_of(line, reader, group), path_of(line, reader, reference));
		place_group(line, reader, group, &fit);
		add_to(common, mine, &fit);
	}
	free(x);
	free(y);
	return pairs > 0;
}

/* ---- Which events belong together ---- */

/* Without a field it is their order that says so: nothing may be missing. */
static bool check_order(const struct pxt_merge_line *line, const struct pxt_reader *reader,
    const struct pxt_placing *placing, const struct syncs *all, uint32_t reference)
{
	for (uint32_t g = 0; g < reader->count; g++) {
		if (line->places[g].group != g || all[g].seen == 0 ||
		    (all[g].seen == all[reference].seen && all[g].lost == 0 &&
		        all[reference].lost == 0))
			continue;
		pxt_complain(
		    "--align %s: %s has %llu of them and %llu EVENTS LOST, %s %llu and %llu: "
		    "which belong together is not known",
		    placing->event, path_of(line, reader, g), (unsigned long long)all[g].seen,
		    (unsigned long long)all[g].lost, path_of(line, reader, reference),
		    (unsigned long long)all[reference].seen,
		    (unsigned long long)all[reference].lost);
		pxt_explain("--align %s,FIELD takes those whose field is equal", placing->event);
		return false;
	}
	return true;
}

static bool check_events(const struct pxt_merge_line *line, const struct pxt_reader *reader,
    const struct pxt_placing *placing, const struct syncs *all, uint32_t reference)
{
	uint64_t seen = 0;
	uint64_t without = 0;

	for (uint32_t g = 0; g < reader->count; g++) {
		seen += all[g].seen;
		without += all[g].without;
	}
	if (seen == 0)
		pxt_complain("--align: no log has an event %s", placing->event);
	else if (seen == without)
		pxt_complain("--align: no event %s has a field %s that tells one from another",
		    placing->event, placing->field);
	else if (all[reference].seen == 0)
		pxt_complain("--align: %s, with which the others are compared, has no event %s",
		    path_of(line, reader, reference), placing->event);
	else
		return placing->field || check_order(line, reader, placing, all, reference);
	return false;
}

/* What stays where its date places it. */
static void say_left(const struct pxt_merge_line *line, const struct pxt_reader *reader,
    const struct pxt_placing *placing)
{
	for (uint32_t i = 0; i < reader->count; i++)
		if (!line->places[line->places[i].group].aligned)
			pxt_complain(
			    "%s: has no %s that belongs to one of the other logs: its clock "
			    "was not compared",
			    reader->sources[i]->path, placing->event);
}

bool pxt_align_clocks(struct pxt_merge_line *line, struct pxt_reader *reader,
    const struct pxt_placing *placing, uint32_t reference)
{
	static const struct fit same = { .pairs = 0 };
	struct syncs *all = pxt_must(calloc(reader->count, sizeof *all));
	struct syncs common = { .list = NULL };

	line->notes = pxt_must(calloc(reader->count, sizeof *line->notes));
	read_all(all, line, reader, placing);
	bool good = check_events(line, reader, placing, all, reference);
	for (uint32_t g = 0; g < reader->count; g++)
		sort(&all[g]);
	if (good)
		add_to(&common, &all[reference], &same);
	/* A group may have pairs only with one that was compared after it was looked at. */
	for (bool more = good; more;) {
		more = false;
		for (uint32_t g = 0; g < reader->count; g++)
			if (line->places[g].group == g && !line->places[g].aligned)
				more |=
				    compare(line, reader, placing, g, &all[g], &common, reference);
	}
	if (good)
		say_left(line, reader, placing);
	for (uint32_t g = 0; g < reader->count; g++)
		free(all[g].list);
	free(all);
	free(common.list);
	return good;
}
