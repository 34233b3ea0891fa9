/* SPDX-License-Identifier: MIT */
/* places.c - see places.h. */
#include "tools/why/places.h"

#include "tools/output/out.h"
#include "tools/symbols/images.h"

#include <stdlib.h>
#include <string.h>

struct pxt_places {
	unsigned count;
	struct pxt_symbols **symbols; /* one a log */
	struct pxt_descriptors **descriptors;
};

struct pxt_places *pxt_places_new(const struct pxt_reader *reader)
{
	struct pxt_places *places = pxt_must(calloc(1, sizeof *places));

	places->count = reader->count;
	places->symbols = pxt_must(calloc(reader->count + 1u, sizeof(struct pxt_symbols *)));
	places->descriptors =
	    pxt_must(calloc(reader->count + 1u, sizeof(struct pxt_descriptors *)));
	for (unsigned i = 0; i < reader->count; i++)
		places->symbols[i] = pxt_symbols_new(reader->sources[i], NULL);
	return places;
}

void pxt_places_free(struct pxt_places *places)
{
	if (!places)
		return;
	for (unsigned i = 0; i < places->count; i++) {
		pxt_symbols_free(places->symbols[i]);
		pxt_descriptors_free(places->descriptors[i]);
	}
	free(places->descriptors);
	free(places->symbols);
	free(places);
}

static struct pxt_symbols *symbols_of(
    const struct pxt_places *places, const struct pxt_log_address *at)
{
	return places && at->address.value && at->source < places->count
	           ? places->symbols[at->source]
	           : NULL;
}

void pxt_places_take(struct pxt_places *places, const struct pxt_event *event)
{
	if (!places || event->source->place >= places->count)
		return;
	pxt_symbols_take(places->symbols[event->source->place], event);
	pxt_descriptors_take(&places->descriptors[event->source->place], event);
}

struct pxt_log_address pxt_places_of(const struct pxt_event *event)
{
	return (struct pxt_log_address){ .source = event->source->place,
		.address = pxt_symbols_address(event) };
}

void pxt_places_want(struct pxt_places *places, const struct pxt_log_address *at)
{
	struct pxt_symbols *symbols = symbols_of(places, at);

	if (symbols)
		pxt_symbols_want(symbols, at->address);
}

const char *pxt_places_code(struct pxt_places *places, const struct pxt_log_address *at)
{
	struct pxt_symbols *symbols = symbols_of(places, at);

	if (!symbols)
		return NULL;
	pxt_symbols_want(symbols, at->address);
	pxt_symbols_resolve(symbols);
	return pxt_symbols_text(symbols, at->address);
}

const char *pxt_places_caller(struct pxt_places *places, const struct pxt_log_address *at,
    const uint64_t above[PXT_PLACES_ABOVE])
{
	const struct pxt_symbols *symbols = symbols_of(places, at);
	struct pxt_log_address caller = *at;
	const char *text = NULL;

	if (!symbols || !pxt_places_code(places, at))
		return NULL;
	text = pxt_symbols_into(symbols, at->address);
	for (unsigned i = 0; !text && i < PXT_PLACES_ABOVE && above && above[i] != 0; i++) {
		caller.address.value = above[i];
		(void)pxt_places_code(places, &caller);
		text = pxt_symbols_own(symbols, caller.address);
	}
	return text;
}

bool pxt_places_is_system(const struct pxt_places *places, const struct pxt_log_address *at)
{
	const struct pxt_symbols *symbols = symbols_of(places, at);
	const char *path = symbols ? pxt_symbols_image(symbols, at->address) : NULL;

	return path && strstr(path, ".so") &&
	       (strncmp(path, "/lib/", 5) == 0 || strncmp(path, "/usr/lib/", 9) == 0);
}

const char *pxt_places_descriptor(
    struct pxt_places *places, const struct pxt_log_address *at, uint64_t fd)
{
	if (!places || at->source >= places->count || fd >= UINT32_MAX)
		return NULL;
	return pxt_descriptors_name(
	    places->descriptors[at->source], at->address.pid, (uint32_t)fd, at->address.ns);
}

const char *pxt_places_variable(struct pxt_places *places, const struct pxt_log_address *at)
{
	struct pxt_symbols *symbols = symbols_of(places, at);

	return symbols ? pxt_symbols_variable(symbols, at->address) : NULL;
}
