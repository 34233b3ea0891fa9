/* SPDX-License-Identifier: MIT */
/* places.c - see places.h. */
#include "tools/why/places.h"

#include "tools/output/escape.h"
#include "tools/output/say.h"
#include "tools/read/objects.h"
#include "tools/read/symbols.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX 64u

struct pxt_places {
	const struct pxt_reader *reader;
	struct pxt_images images;
	struct process {
		unsigned source;
		pid_t pid;
		struct pxt_symbols *symbols;
	} processes[PROCESSES_MAX];
	unsigned count;
	char text[256];
};

struct pxt_places *pxt_places_new(const struct pxt_reader *reader)
{
	struct pxt_places *places = pxt_must(calloc(1, sizeof *places));

	places->reader = reader;
	return places;
}

void pxt_places_free(struct pxt_places *places)
{
	if (!places)
		return;
	for (unsigned i = 0; i < places->count; i++)
		pxt_symbols_free(places->processes[i].symbols);
	pxt_images_free(&places->images);
	free(places);
}

void pxt_places_take(struct pxt_places *places, const struct pxt_event *event)
{
	if (places)
		pxt_images_take(&places->images, event);
}

static struct pxt_symbols *symbols_of(struct pxt_places *places, unsigned source, pid_t pid)
{
	struct process *process = places->processes;

	for (unsigned i = 0; i < places->count; i++, process++)
		if (process->source == source && process->pid == pid)
			return process->symbols;
	if (places->count == PROCESSES_MAX)
		return NULL;
	process->source = source;
	process->pid = pid;
	process->symbols =
	    pxt_symbols_of_process(places->reader->sources[source], &places->images, pid);
	places->count++;
	return process->symbols;
}

const char *pxt_places_code(struct pxt_places *places, unsigned source, pid_t pid, uint64_t address)
{
	struct pxt_symbols *symbols = places && address ? symbols_of(places, source, pid) : NULL;

	if (!symbols)
		return NULL;
	pxt_symbols_want(symbols, address);
	pxt_symbols_resolve(symbols);
	return pxt_symbols_text(symbols, address);
}

const char *pxt_places_variable(struct pxt_places *places, pid_t pid, uint64_t address)
{
	char raw[sizeof places->text / 4];

	for (uint32_t i = 0; places && i < places->images.count; i++) {
		const struct pxt_image *image = &places->images.list[i];

		if (image->pid != pid || address < image->module.posix_low_np ||
		    address >= image->module.posix_high_np ||
		    !pxt_objects_name(image->module.posix_path_np,
		        address - image->module.posix_base_np, raw, sizeof raw))
			continue;
		(void)pxt_escape(raw, strlen(raw), places->text, sizeof places->text, NULL);
		return places->text;
	}
	return NULL;
}
