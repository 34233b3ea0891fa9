/* SPDX-License-Identifier: MIT */
/*
 * types.c - event types of all logs under common numbers.
 *
 * A type is its name and its description together.  Where a log describes a name otherwise than a log
 * before it, its events must not be read by the other's description: all of that log's types get its
 * program's name in front ("control:job_begin"), all, so that begin and end stay a pair.
 */
#include "tools/merge/merge.h"

#include "format/ids.h"
#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>

static void get_type(
    const struct pxt_source *source, trace_event_id_t id, struct pxt_merge_type *type)
{
	type->path = source->path;
	if (posix_trace_eventid_get_name(source->trid, id, type->name) != 0)
		*type->name = '\0';
	if (posix_trace_eventid_getformat_np(source->trid, id, type->format) != 0)
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
	const char *slash = strrchr(path, '/');
	char stem[64];

	(void)snprintf(stem, sizeof stem, "%.60s", slash ? slash + 1 : path);
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
	for (trace_event_id_t id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++)
		if (!*types->types[id].name)
			get_type(source, id, &types->types[id]);
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
