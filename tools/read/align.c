/* SPDX-License-Identifier: MIT */
/* align.c - see align.h.  `pxtrace merge` asks more of what it writes down (tools/merge/place.c). */
#include "tools/read/align.h"

#include "tools/output/say.h"
#include "tools/output/when.h"
#include "tools/read/lasting.h"

#include <stdlib.h>
#include <string.h>

/* Earlier than this, nobody had set the clock. */
#define DATE_KNOWN (INT64_C(631152000) * 1000000000) /* 1990 */
/* What slewing does is not worth a word. */
#define FAR        (INT64_C(2) * 1000000000)

/* Up to here (2067) no sum of four runs over. */
#define SUM_MAX (INT64_MAX / 3)

static int64_t monotonic(const struct pxt_source *source)
{
	return pxt_when_ns(&source->info.posix_start_monotonic_np);
}

static bool has_clocks(const struct pxt_source *source)
{
	return monotonic(source) > 0 && monotonic(source) < SUM_MAX && source->start_ns >= 0 &&
	       source->start_ns < SUM_MAX;
}

static bool one_line(const struct pxt_source *a, const struct pxt_source *b)
{
	static const unsigned char none[sizeof a->info.posix_boot_id_np];
	bool counted;

	return memcmp(a->info.posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(a->info.posix_boot_id_np, b->info.posix_boot_id_np, sizeof none) == 0 &&
	       has_clocks(a) && has_clocks(b) &&
	       pxt_lasting_one_monotonic(&a->info, &b->info, &counted);
}

/* Whether @a says better than @b what civil time it was, in whatever order they come. */
static bool knows_better(const struct pxt_source *a, const struct pxt_source *b)
{
	bool known = a->start_ns >= DATE_KNOWN;

	if (known != (b->start_ns >= DATE_KNOWN))
		return known;
	return monotonic(a) < monotonic(b);
}

/* The log by whose civil time that one lies. */
static const struct pxt_source *base_of(
    const struct pxt_reader *reader, const struct pxt_source *source)
{
	const struct pxt_source *base = source;

	for (unsigned i = 0; i < reader->count; i++)
		if (reader->sources[i]->is_open && one_line(reader->sources[i], source) &&
		    knows_better(reader->sources[i], base))
			base = reader->sources[i];
	return base;
}

void pxt_align(struct pxt_reader *reader)
{
	int64_t *shifts = pxt_must(calloc(reader->count, sizeof *shifts));

	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];
		const struct pxt_source *base = base_of(reader, source);

		if (!source->is_open || base == source)
			continue;
		shifts[i] =
		    (base->start_ns - monotonic(base)) - (source->start_ns - monotonic(source));
		if (llabs(shifts[i]) > FAR)
			pxt_complain(
			    "%s: lies by CLOCK_MONOTONIC after %s: the civil clock was set "
			    "between them",
			    source->path, base->path);
	}
	for (unsigned i = 0; i < reader->count; i++) {
		reader->sources[i]->shift_ns = shifts[i];
		reader->sources[i]->start_ns += reader->sources[i]->shift_ns;
	}
	free(shifts);
}
