/* SPDX-License-Identifier: MIT */
/* bars.c - the first reading of formats with bars and stacks, names of functions, and frames; see bars.h. */
#include "tools/export/bars.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is written in the first reading will be taken back, or was. */
static struct {
	bool spoilt;
	bool tried;
} reading;

void pxt_bars_begin(struct pxt_bars *bars, const struct pxt_source *source, bool stacks)
{
	reading.spoilt = false;
	reading.tried = false;
	bars->slices = pxt_slices_new();
	bars->symbols = pxt_symbols_new(source, NULL);
	bars->stacks = stacks;
	bars->unnamed = false;
}

void pxt_bars_end(struct pxt_bars *bars)
{
	pxt_slices_free(bars->slices);
	pxt_symbols_free(bars->symbols);
}

/* ---- The first reading ---- */

/* Images are told of by events that may not be wanted. */
void pxt_bars_look_before(struct pxt_export *export, const struct pxt_event *event)
{
	struct pxt_bars *bars = pxt_export_of(event->source);

	(void)export;
	pxt_symbols_take(bars->symbols, event);
}

/* The functions of an event's stack; false: it tells of none that called. */
static bool want_stack(struct pxt_bars *bars, const struct pxt_event *event)
{
	struct pxt_address at = pxt_symbols_address(event);
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);

	if (count == 0)
		return false;
	pxt_symbols_want(bars->symbols, at);
	for (unsigned i = 0; i < count; i++) {
		at.value = callers[i];
		pxt_symbols_want(bars->symbols, at);
	}
	return true;
}

void pxt_bars_look(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_bars *bars = pxt_export_of(event->source);
	const struct pxt_syspair *system;
	struct pxt_slice slice;

	(void)export;
	if (lost > 0)
		pxt_slices_cut(bars->slices, NULL, NULL);
	slice = pxt_slices_take(bars->slices, event);
	system = slice.bar == PXT_BAR_BEGIN ? pxt_slices_system(bars->slices, slice.pair) : NULL;
	if (system && system->names == PXT_SYSPAIR_FUNCTIONS)
		pxt_symbols_want(bars->symbols, pxt_symbols_address(event));
	if (bars->stacks)
		(void)want_stack(bars, event);
}

void pxt_bars_looked(struct pxt_export *export, struct pxt_reader *reader)
{
	(void)export;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_bars *bars = pxt_export_of(reader->sources[i]);

		pxt_symbols_resolve(bars->symbols);
		pxt_slices_again(bars->slices);
	}
}

static bool is_unnamed(const struct pxt_bars *bars)
{
	return bars->unnamed && !pxt_slices_known(bars->slices);
}

bool pxt_bars_spoilt(const struct pxt_bars *bars)
{
	reading.spoilt |= is_unnamed(bars) || pxt_slices_spoilt(bars->slices);
	return reading.spoilt;
}

bool pxt_bars_stand(struct pxt_export *export, struct pxt_reader *reader)
{
	bool all = !reading.spoilt;

	(void)export;
	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_bars *bars = pxt_export_of(reader->sources[i]);

		all = all && !is_unnamed(bars) && pxt_slices_stand(bars->slices);
	}
	reading.tried = true;
	reading.spoilt = false;
	return all;
}

bool pxt_bars_tried(void)
{
	return reading.tried;
}

/* ---- Names ---- */

struct pxt_place pxt_bars_place(const char *name)
{
	struct pxt_place place = { .function = strlen(name) };
	const char *open = NULL;
	const char *colon;

	for (const char *at = strstr(name, " ("); at; at = strstr(at + 1, " ("))
		open = at;
	/* Types of parameters have parentheses, too: what ends in another one is none. */
	if (!open || open[2 + strcspn(open + 2, "()")] != ')' ||
	    open + 2 + strcspn(open + 2, "()") + 1 != name + place.function)
		return place;
	place.function = (size_t)(open - name);
	place.file = open + 2;
	colon = strrchr(place.file, ':');
	place.file_bytes = colon ? (size_t)(colon - place.file) : strlen(place.file) - 1;
	place.line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	return place;
}

/* Of the pair's bar that has @value, or begins with the function there. */
static const char *name_of(struct pxt_bars *bars, const struct pxt_syspair *system,
    const struct pxt_type *type, uint64_t value, struct pxt_address at)
{
	static char name[512];
	const char *text;

	if (system->names == PXT_SYSPAIR_FUNCTIONS) {
		if (!pxt_slices_known(bars->slices)) {
			bars->unnamed = true;
			pxt_symbols_want(bars->symbols, at);
		}
		text = pxt_symbols_text(bars->symbols, at);
		(void)snprintf(name, sizeof name, "%.*s", (int)pxt_bars_place(text).function, text);
		return name;
	}
	text = pxt_sysnames_word(type->id, system->field, value);
	if (!text)
		(void)snprintf(
		    name, sizeof name, "%s %llu", system->name, (unsigned long long)value);
	return text ? text : name;
}

const char *pxt_bars_own_name(
    struct pxt_bars *bars, const struct pxt_slice *slice, const struct pxt_event *event)
{
	const struct pxt_syspair *system = pxt_slices_system(bars->slices, slice->pair);
	uint64_t value = 0;

	if (!system || !slice->key || !pxt_field_key(event, slice->key, &value))
		return NULL;
	return name_of(bars, system, event->type, value, pxt_symbols_address(event));
}

const char *pxt_bars_cut_name(
    struct pxt_bars *bars, const struct pxt_slice *slice, pid_t pid, int64_t ns)
{
	const struct pxt_syspair *system = pxt_slices_system(bars->slices, slice->pair);
	struct pxt_address at = { .value = slice->value, .pid = pid, .ns = ns, .begins = true };

	return system && slice->keyed ? name_of(bars, system, slice->type, slice->value, at) : NULL;
}

/* ---- Frames ---- */

void pxt_bars_frames_free(struct pxt_frames *frames)
{
	for (uint32_t i = 1; i < frames->count; i++)
		free(frames->list[i].name);
	free(frames->list);
	*frames = (struct pxt_frames){ 0 };
}

static bool is_called(const struct pxt_frame *frame, const char *name, size_t bytes)
{
	return frame->name && strncmp(frame->name, name, bytes) == 0 && frame->name[bytes] == '\0';
}

/* Frame 0 is there. */
static void begin_frames(struct pxt_frames *frames)
{
	if (frames->list)
		return;
	frames->list = pxt_must(calloc(PXT_FRAMES_MAX, sizeof *frames->list));
	frames->count = 1;
}

/* There is room for it. */
static uint32_t add_frame(struct pxt_frames *frames, uint32_t parent, struct pxt_frame frame)
{
	uint32_t added = frames->count++;

	frame.parent = parent;
	frame.sibling = frames->list[parent].child;
	frames->list[added] = frame;
	frames->list[parent].child = added;
	return added;
}

uint32_t pxt_bars_above(struct pxt_frames *frames, uint32_t parent, const char *name, size_t bytes)
{
	uint32_t found;

	begin_frames(frames);
	found = frames->list[parent].child;
	while (found != 0 && !is_called(&frames->list[found], name, bytes))
		found = frames->list[found].sibling;
	if (found == 0 && frames->count < PXT_FRAMES_MAX)
		return add_frame(
		    frames, parent, (struct pxt_frame){ .name = pxt_must(strndup(name, bytes)) });
	frames->missing += found == 0;
	return found;
}

uint32_t pxt_bars_path(const struct pxt_frames *frames, uint32_t top, uint32_t *path, uint32_t room)
{
	uint32_t deep = 0;
	uint32_t at = top;

	for (; at != 0 && deep < room; at = frames->list[at].parent)
		deep++;
	at = top;
	for (uint32_t i = deep; i-- > 0; at = frames->list[at].parent)
		path[i] = at;
	return deep;
}

/* The frame of the function at @at above @parent, whose name comes later; 0: there is no place. */
static uint32_t above_late(struct pxt_frames *frames, struct pxt_bars *bars, uint32_t parent,
    struct pxt_address at, uint32_t changes)
{
	struct pxt_frame *frame;
	uint32_t found;

	begin_frames(frames);
	for (found = frames->list[parent].child; found != 0; found = frame->sibling) {
		frame = &frames->list[found];
		if (frame->bars == bars && frame->at.value == at.value && frame->at.pid == at.pid &&
		    frame->at.begins == at.begins && frame->changes == changes) {
			frame->last_ns = at.ns;
			return found;
		}
	}
	if (frames->count == PXT_FRAMES_MAX)
		return 0;
	pxt_symbols_want(bars->symbols, at);
	return add_frame(frames, parent,
	    (struct pxt_frame){ .bars = bars, .at = at, .last_ns = at.ns, .changes = changes });
}

/* The frame of the function at @at above @parent. */
static uint32_t above_named(struct pxt_frames *frames, struct pxt_bars *bars, uint32_t parent,
    struct pxt_address at, bool places)
{
	const char *name = pxt_symbols_text(bars->symbols, at);

	return pxt_bars_above(
	    frames, parent, name, places ? strlen(name) : pxt_bars_place(name).function);
}

uint32_t pxt_bars_stack(struct pxt_bars *bars, const struct pxt_event *event,
    struct pxt_frames *frames, uint32_t parent, bool places)
{
	struct pxt_address at = pxt_symbols_address(event);
	uint64_t addresses[PXT_STACK_MAX] = { at.value };
	unsigned count = pxt_callers_of(event, addresses + 1);
	bool known = pxt_slices_known(bars->slices);
	uint32_t changes;

	if (count == 0)
		return 0;
	if (!known && !frames->late) {
		bars->unnamed = want_stack(bars, event);
		return 0;
	}
	changes = known ? 0 : pxt_symbols_changes(bars->symbols, at.pid);
	for (unsigned i = count + 1; i-- > 0;) {
		at.value = addresses[i];
		if (at.value == 0)
			continue;
		parent = known ? above_named(frames, bars, parent, at, places)
		               : above_late(frames, bars, parent, at, changes);
		if (parent == 0) {
			bars->unnamed = !known && want_stack(bars, event);
			return 0;
		}
	}
	return parent;
}

/* Whether one image has each address as long as it was seen; of the others, both will be asked. */
static bool stay(const struct pxt_frames *frames)
{
	bool all = true;

	for (uint32_t i = 1; i < frames->count; i++) {
		const struct pxt_frame *frame = &frames->list[i];
		struct pxt_address last = frame->at;

		if (frame->name ||
		    pxt_symbols_stays(frame->bars->symbols, frame->at, frame->last_ns))
			continue;
		last.ns = frame->last_ns;
		pxt_symbols_want(frame->bars->symbols, frame->at);
		pxt_symbols_want(frame->bars->symbols, last);
		all = false;
	}
	return all;
}

uint32_t *pxt_bars_name_frames(
    struct pxt_frames *frames, const struct pxt_reader *reader, bool places)
{
	struct pxt_frames named = { 0 };
	uint32_t *now;

	if (!stay(frames))
		return NULL;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_bars *bars = pxt_export_of(reader->sources[i]);

		pxt_symbols_resolve(bars->symbols);
	}
	now = pxt_must(calloc((size_t)frames->count + 1, sizeof *now));
	/* In their order, which is that in which each name was seen first: it is as good as a second reading. */
	for (uint32_t i = 1; i < frames->count; i++) {
		const struct pxt_frame *frame = &frames->list[i];
		uint32_t parent = now[frame->parent];

		now[i] = frame->name
		             ? pxt_bars_above(&named, parent, frame->name, strlen(frame->name))
		             : above_named(&named, frame->bars, parent, frame->at, places);
		named.list[now[i]].sum += frame->sum;
	}
	pxt_bars_frames_free(frames);
	*frames = named;
	return now;
}
