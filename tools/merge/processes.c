/* SPDX-License-Identifier: MIT */
/*
 * processes.c - processes of different logs that have one number.  A number is one of its machine and its
 * namespace: the first process of each container is 1.  Readers of the new log tell processes apart by it, so
 * it is made different there.
 */
#include "tools/merge/merge.h"

#include "tools/output/say.h"
#include "tools/output/when.h"

#include <stdlib.h>
#include <string.h>

/* Above all numbers of Linux, and easy to take off again. */
#define STEP      10000000
#define MOST      200u /* of them fit a pid_t */
#define SAME_TIME INT64_C(50000000)

pid_t pxt_processes_number(const struct pxt_line *line, uint32_t place, pid_t number)
{
	return number > 0 && number < STEP ? number + (pid_t)line->places[place].others * STEP
	                                   : number;
}

/* Both say it, and not the same. */
static bool texts_differ(const char *a, const char *b)
{
	return *a != '\0' && *b != '\0' && strcmp(a, b) != 0;
}

static bool boots_differ(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b)
{
	static const unsigned char none[sizeof a->posix_boot_id_np];

	return memcmp(a->posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(b->posix_boot_id_np, none, sizeof none) != 0 &&
	       memcmp(a->posix_boot_id_np, b->posix_boot_id_np, sizeof none) != 0;
}

/* On CLOCK_BOOTTIME, as the log that says it knew the civil time. */
static int64_t started(const struct pxt_source *source)
{
	int64_t start = pxt_when_ns(&source->info.posix_process_start_np);
	int64_t boot = pxt_when_ns(&source->info.posix_start_boottime_np);

	return start > 0 && boot > 0 ? start - pxt_when_ns(&source->info.posix_start_np) + boot : 0;
}

/* Where a program lies, and its loader, does not change while the process lives. */
static bool stays(const struct pxt_source *source, const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, source->info.posix_executable_np) == 0 ||
	       strncmp(slash ? slash + 1 : path, "ld-", 3) == 0;
}

static bool places_differ(const struct pxt_source *a, const struct pxt_source *b)
{
	struct posix_trace_logmodule_np x;
	struct posix_trace_logmodule_np y;

	for (uint32_t i = 0; posix_trace_log_getmodule_np(a->trid, i, &x) == 0; i++) {
		bool here = false;
		bool elsewhere = false;

		if (!stays(a, x.posix_path_np))
			continue;
		for (uint32_t k = 0; posix_trace_log_getmodule_np(b->trid, k, &y) == 0; k++) {
			if (strcmp(x.posix_path_np, y.posix_path_np) != 0)
				continue;
			here |= x.posix_low_np == y.posix_low_np;
			elsewhere |= x.posix_low_np != y.posix_low_np;
		}
		if (elsewhere && !here)
			return true;
	}
	return false;
}

/* What is not known is taken for the same. */
static bool is_another(const struct pxt_source *a, const struct pxt_source *b)
{
	int64_t x = started(a);
	int64_t y = started(b);

	return boots_differ(&a->info, &b->info) ||
	       texts_differ(a->info.posix_host_np, b->info.posix_host_np) ||
	       (x > 0 && y > 0 && llabs(x - y) > SAME_TIME) || places_differ(a, b);
}

void pxt_processes_part(const struct pxt_line *line, const struct pxt_reader *reader)
{
	for (uint32_t i = 1; i < reader->count; i++) {
		const struct pxt_source *mine = reader->sources[i];
		const struct pxt_source *other = NULL;
		uint32_t others = 0;
		uint32_t k = 0;

		for (; k < i; k++) {
			const struct pxt_source *before = reader->sources[k];

			if (before->info.posix_pid_np != mine->info.posix_pid_np)
				continue;
			if (!is_another(before, mine))
				break;
			other = before;
			if (others <= line->places[k].others)
				others = line->places[k].others + 1;
		}
		line->places[i].others = k < i ? line->places[k].others : others;
		if (k < i || !other || mine->info.posix_pid_np <= 0)
			continue;
		if (others > MOST)
			line->places[i].others = 0;
		else
			pxt_complain(
			    "%s: its process %ld is another one than that of %s: in the new "
			    "log it has the number %ld, and its threads 10000000 more, too",
			    mine->path, (long)mine->info.posix_pid_np, other->path,
			    (long)pxt_processes_number(line, i, mine->info.posix_pid_np));
	}
}
