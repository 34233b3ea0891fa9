/* SPDX-License-Identifier: MIT */
/*
 * types.c - event types of all logs under common numbers.
 *
 * A type is its name and its description together.  Where a log describes a name otherwise than a log
 * before it, its events must not be read by the other's description: all of that log's types get its
 * program's name in front ("control:job_begin"), all, so that begin and end stay a pair.
 */
#include "tools/merge/merge.h"

#include "tools/output/out.h"

#include "format/ids.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

static void get_type(
    const struct pxt_source *source, trace_event_id_t id, struct pxt_merge_type *type)
{
	type->path = source->path;
	if (posix_trace_eventid_get_name(source->trid, id, type->name) != 0)
		*type->name = '\0';
	if (posix_trace_eventid_getformat_np(
	        source->trid, id, type->format, sizeof(type->format)) != 0)
		*type->format = '\0';
}

static const struct pxt_merge_type *find(const struct pxt_merge_types *types, const char *name)
{
	for (uint32_t id = PXT_MERGE_USER; id < types->count; id++)
		if (strcmp(types->types[id].name, name) == 0)
			return &types->types[id];
	return NULL;
}

static const struct pxt_merge_type *rival(
    const struct pxt_merge_types *types, const struct pxt_merge_type *type)
{
	const struct pxt_merge_type *known = find(types, type->name);

	return known && strcmp(known->format, type->format) != 0 ? known : NULL;
}

/* The log's types that need a number; 0 at the end. */
static trace_event_id_t next_id(const struct pxt_source *source)
{
	trace_event_id_t id = 0;
	int unavailable = 1;

	do {
		if (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) != 0 ||
		    unavailable)
			return 0;
	} while (id < PXT_MERGE_USER || id >= PXT_MERGE_TYPES);
	return id;
}

/* The first of a log's types that an earlier log describes otherwise, into @type. */
static const struct pxt_merge_type *find_rival(const struct pxt_merge_types *types,
    const struct pxt_source *source, struct pxt_merge_type *type)
{
	const struct pxt_merge_type *other = NULL;
	trace_event_id_t id;

	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (!other && (id = next_id(source)) != 0) {
		get_type(source, id, type);
		other = rival(types, type);
	}
	return other;
}

/* "control", "control2", ...: what no type's name begins with yet. */
static void make_prefix(
    const struct pxt_merge_types *types, const struct pxt_source *source, char prefix[80])
{
	const char *path =
	    *source->info.posix_executable_np ? source->info.posix_executable_np : source->path;
	char stem[64];

	(void)snprintf(stem, sizeof stem, "%.60s", pxt_path_name(path));
	for (unsigned turn = 1; turn <= PXT_MERGE_TYPES; turn++) {
		bool taken = false;

		if (turn == 1)
			(void)snprintf(prefix, 80, "%s:", stem);
		else
			(void)snprintf(prefix, 80, "%s%u:", stem, turn);
		for (uint32_t id = PXT_MERGE_USER; id < types->count && !taken; id++)
			taken = strncmp(types->types[id].name, prefix, strlen(prefix)) == 0;
		if (!taken)
			return;
	}
}

static trace_event_id_t add(struct pxt_merge_types *types, const struct pxt_merge_type *type)
{
	const struct pxt_merge_type *known = find(types, type->name);

	if (known && strcmp(known->format, type->format) == 0)
		return (trace_event_id_t)(known - types->types);
	if (types->count == PXT_MERGE_TYPES)
		return 0;
	types->types[types->count] = *type;
	return types->count++;
}

trace_event_id_t pxt_merge_types_add(
    struct pxt_merge_types *types, const char *name, const char *format, const char *path)
{
	struct pxt_merge_type type = { .path = path };

	if (types->count == 0)
		types->count = PXT_MERGE_USER;
	(void)snprintf(type.name, sizeof type.name, "%s", name);
	(void)snprintf(type.format, sizeof type.format, "%s", format);
	return add(types, &type);
}

static bool take_log(
    struct pxt_merge_types *types, const struct pxt_source *source, uint16_t *numbers)
{
	struct pxt_merge_type type;
	const struct pxt_merge_type *other = find_rival(types, source, &type);
	char prefix[80] = "";
	trace_event_id_t id;

	if (other) {
		make_prefix(types, source, prefix);
		pxt_complain("%s: its %s is described otherwise than that of %s", source->path,
		    type.name, other->path);
		pxt_explain("so its types are called %s%s and so on", prefix, type.name);
	}
	(void)posix_trace_eventtypelist_rewind(source->trid);
	while ((id = next_id(source)) != 0) {
		char name[sizeof type.name + sizeof prefix];

		get_type(source, id, &type);
		(void)snprintf(name, sizeof name, "%s%s", prefix, type.name);
		/* Cut where that is longer than a name may be. */
		memcpy(type.name, name, sizeof type.name - 1);
		type.name[sizeof type.name - 1] = '\0';
		numbers[id] = (uint16_t)add(types, &type);
		if (numbers[id] == 0)
			return false;
	}
	return true;
}

/* System events have the same numbers in all logs, and what was first said of them holds. */
static void take_specific(struct pxt_merge_types *types, const struct pxt_source *source)
{
	struct pxt_merge_type *of_switch = &types->types[POSIX_TRACE_CONTEXT_SWITCH_NP];
	struct pxt_merge_type own;

	for (trace_event_id_t id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++)
		if (!*types->types[id].name)
			get_type(source, id, &types->types[id]);
	get_type(source, POSIX_TRACE_CONTEXT_SWITCH_NP, &own);
	if (*own.name && strcmp(own.format, of_switch->format) != 0) {
		(void)snprintf(
		    of_switch->format, sizeof of_switch->format, PXT_MERGE_SWITCH_FORMAT);
		types->switches = true;
	}
}

bool pxt_merge_types_make(struct pxt_merge_types *types, const struct pxt_reader *reader)
{
	if (types->count == 0)
		types->count = PXT_MERGE_USER;
	types->numbers = pxt_must(calloc(reader->count, sizeof *types->numbers));
	for (unsigned i = 0; i < reader->count; i++) {
		take_specific(types, reader->sources[i]);
		if (take_log(types, reader->sources[i], types->numbers[i]))
			continue;
		pxt_complain("%s: with its types there would be more than %u in one log",
		    reader->sources[i]->path, PXT_MERGE_TYPES - PXT_MERGE_USER);
		return false;
	}
	return true;
}

void pxt_merge_types_write(const struct pxt_merge_types *types, struct pxt_logwrite *log)
{
	for (uint32_t id = PXT_ID_SPECIFIC_FIRST; id < types->count; id++)
		if (id >= PXT_MERGE_USER || *types->types[id].name)
			pxt_logwrite_type(log, id, types->types[id].name, types->types[id].format);
}

/*
 * ---- What program addresses mean, where that is the same in all logs ----
 *
 * A log knows one address space.  Modules that lie at one place in two processes and are not the same
 * file are left out: better a number than another program's function.
 */

/* So many are compared each with each; beyond that none are written. */
#define MODULES_MAX 4096u

struct module {
	struct posix_trace_logmodule_np what;
	bool clashes;
	bool again; /* the same one as before */
};

static bool same(const struct posix_trace_logmodule_np *a, const struct posix_trace_logmodule_np *b)
{
	return a->posix_base_np == b->posix_base_np && a->posix_low_np == b->posix_low_np &&
	       a->posix_high_np == b->posix_high_np &&
	       a->posix_buildid_bytes_np == b->posix_buildid_bytes_np &&
	       memcmp(a->posix_buildid_np, b->posix_buildid_np, sizeof a->posix_buildid_np) == 0 &&
	       strcmp(a->posix_path_np, b->posix_path_np) == 0;
}

static bool overlap(
    const struct posix_trace_logmodule_np *a, const struct posix_trace_logmodule_np *b)
{
	return a->posix_low_np < b->posix_high_np && b->posix_low_np < a->posix_high_np;
}

static uint32_t gather(const struct pxt_reader *reader, struct module *modules)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < reader->count; i++)
		for (uint32_t k = 0; k < reader->sources[i]->info.posix_modules_np; k++) {
			if (count == MODULES_MAX)
				return MODULES_MAX + 1;
			if (posix_trace_log_getmodule_np(reader->sources[i]->trid, k,
			        &modules[count].what, sizeof modules[count].what) == 0)
				count++;
		}
	return count;
}

static bool compare(struct module *modules, uint32_t count)
{
	bool clash = false;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < i; k++) {
			if (same(&modules[i].what, &modules[k].what)) {
				modules[i].again = true;
			} else if (overlap(&modules[i].what, &modules[k].what)) {
				modules[i].clashes = modules[k].clashes = true;
				clash = true;
			}
		}
	return clash;
}

void pxt_merge_modules(const struct pxt_reader *reader, struct pxt_logwrite *log)
{
	struct module *modules = pxt_must(calloc(MODULES_MAX, sizeof *modules));
	uint32_t count = gather(reader, modules);

	if (count > MODULES_MAX || compare(modules, count))
		pxt_complain("the programs of these logs lie at the same addresses: where they do, "
		             "addresses stay numbers");
	for (uint32_t i = 0; i < count && count <= MODULES_MAX; i++)
		if (!modules[i].again && !modules[i].clashes)
			pxt_logwrite_module(log, &modules[i].what);
	free(modules);
}

/* ---- The notes of all logs; what several say alike is in the new one once ---- */

static bool is_there(
    const struct pxt_source *source, uint32_t end, const struct posix_trace_lognote_np *note)
{
	struct posix_trace_lognote_np other;

	for (uint32_t k = 0;
	     k < end && posix_trace_log_getnote_np(source->trid, k, &other, sizeof other) == 0; k++)
		if (strcmp(other.posix_name_np, note->posix_name_np) == 0 &&
		    strcmp(other.posix_text_np, note->posix_text_np) == 0)
			return true;
	return false;
}

void pxt_merge_notes(const struct pxt_reader *reader, struct pxt_logwrite *log)
{
	struct posix_trace_lognote_np note;

	for (unsigned i = 0; i < reader->count; i++)
		for (uint32_t k = 0; posix_trace_log_getnote_np(
		                         reader->sources[i]->trid, k, &note, sizeof note) == 0;
		     k++) {
			bool again = is_there(reader->sources[i], k, &note);

			for (unsigned before = 0; before < i && !again; before++)
				again = is_there(reader->sources[before], UINT32_MAX, &note);
			if (!again)
				pxt_logwrite_note(log, &note);
		}
}
