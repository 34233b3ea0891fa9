/* SPDX-License-Identifier: MIT */
/*
 * modules.c - what program addresses mean, where that is the same in all logs.
 *
 * A log knows one address space.  Modules that lie at one place in two processes and are not the same
 * file are left out: better a number than another program's function.
 */
#include "tools/merge/merge.h"

#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>

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
			if (posix_trace_log_getmodule_np(
			        reader->sources[i]->trid, k, &modules[count].what) == 0)
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
