/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - where each log (not the kernel's events: ftrace.c) lies on the common line of time.
 *
 * Logs of one boot of one machine have CLOCK_MONOTONIC in common: they are placed by it, exactly,
 * whatever happened to the civil clock between their creations.  Two logs are of one boot if their boot
 * ids agree, and no counter tells two CLOCK_MONOTONIC apart (processes may have time namespaces of their
 * own).  Without ids, the host's name and the moment of its boot must agree.  Other logs have civil time
 * alone in common, which a machine must have known.
 */
#include "tools/merge/merge.h"

#include "tools/output/out.h"
#include "tools/read/source.h"

#include <stdlib.h>
#include <string.h>

#define SECOND     INT64_C(1000000000)
/* Earlier than this, nobody had set the clock: it counts from 1970, or from a firmware's idea. */
#define DATE_KNOWN (INT64_C(631152000) * SECOND) /* 1990 */
/* Slewing moves civil time against CLOCK_BOOTTIME; a reboot takes longer than this. */
#define SAME_BOOT  (2 * SECOND)

/* Up to here (2067) no sum of three runs over. */
#define FAR (INT64_MAX / 3)

/* 0 where the log does not know the clock, or says nonsense. */
static int64_t known(const struct timespec *time)
{
	int64_t ns = pxt_when_ns(time);

	return ns > 0 && ns < FAR ? ns : 0;
}

static struct pxt_place place_of(const struct pxt_source *source)
{
	return (struct pxt_place){
		.real_ns = known(&source->info.posix_start_np),
		.mono_ns = known(&source->info.posix_start_monotonic_np),
		.boot_ns = known(&source->info.posix_start_boottime_np),
	};
}

static bool date_known(const struct pxt_place *place)
{
	return place->real_ns + place->moved_ns >= DATE_KNOWN;
}

/* As the system says; false, and *@told false, where one of the two does not say it. */
static bool same_boot_id(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b, bool *told)
{
	static const unsigned char none[sizeof a->posix_boot_id_np];

	*told = memcmp(a->posix_boot_id_np, none, sizeof none) != 0 &&
	        memcmp(b->posix_boot_id_np, none, sizeof none) != 0;
	return *told && memcmp(a->posix_boot_id_np, b->posix_boot_id_np, sizeof none) == 0;
}

/* How much further @y is on civil time than on CLOCK_MONOTONIC, both counted from @x. */
static int64_t apart_of(const struct pxt_place *x, const struct pxt_place *y)
{
	return (y->real_ns - x->real_ns) - (y->mono_ns - x->mono_ns);
}

static const char *direction(int64_t ns)
{
	return ns < 0 ? "earlier" : "later";
}

/* Of one boot id: whether CLOCK_MONOTONIC places the two; what contradicts it is said. */
static bool share_monotonic(
    const struct pxt_reader *reader, const struct pxt_merge_line *line, uint32_t a, uint32_t b)
{
	const struct pxt_place *x = &line->places[a];
	const struct pxt_place *y = &line->places[b];
	const char *first = reader->sources[a]->path;
	const char *second = reader->sources[b]->path;
	int64_t apart = apart_of(x, y);
	int64_t mono_ns = y->mono_ns - x->mono_ns;
	int64_t real_ns = y->real_ns - x->real_ns;
	bool counted;
	bool one = pxt_lasting_one_monotonic(
	    &reader->sources[a]->info, &reader->sources[b]->info, &counted);
	char by_mono[16];
	char by_date[16];

	if (apart <= SAME_BOOT && apart >= -SAME_BOOT)
		return true;
	pxt_duration(by_mono, (uint64_t)llabs(mono_ns));
	pxt_duration(by_date, (uint64_t)llabs(real_ns));
	pxt_complain("%s and %s: their clocks contradict each other: by CLOCK_MONOTONIC the second "
	             "began %s %s, by civil time %s %s",
	    first, second, by_mono, direction(mono_ns), by_date, direction(real_ns));
	if (!one)
		pxt_explain("the processor's counter says that their CLOCK_MONOTONIC is not one "
		            "(time namespaces): placed by civil time; --same-boot takes "
		            "CLOCK_MONOTONIC");
	else if (counted)
		pxt_explain("the processor's counter says that the civil clock was set between "
		            "them: placed by CLOCK_MONOTONIC; --by-date takes civil time");
	else
		pxt_explain("the civil clock was set between them, or they have time namespaces of "
		            "their own: placed by CLOCK_MONOTONIC; --by-date takes civil time");
	return one;
}

static bool same_boot(
    const struct pxt_reader *reader, const struct pxt_merge_line *line, uint32_t a, uint32_t b)
{
	const struct pxt_place *x = &line->places[a];
	const struct pxt_place *y = &line->places[b];
	const char *host = reader->sources[a]->info.posix_host_np;
	bool told;
	bool same = same_boot_id(&reader->sources[a]->info, &reader->sources[b]->info, &told);
	int64_t apart;

	if (told)
		return same && x->mono_ns > 0 && y->mono_ns > 0 &&
		       share_monotonic(reader, line, a, b);
	if (*host == '\0' || strcmp(host, reader->sources[b]->info.posix_host_np) != 0 ||
	    !x->boot_ns || !y->boot_ns || !x->mono_ns || !y->mono_ns || !date_known(x) ||
	    !date_known(y))
		return false;
	apart = (x->real_ns - x->boot_ns) - (y->real_ns - y->boot_ns);
	return apart <= SAME_BOOT && apart >= -SAME_BOOT;
}

/* By civil time alone.  What has none, and is not alone, has no place. */
static bool check_dates(const struct pxt_reader *reader, const struct pxt_merge_line *line)
{
	bool good = true;

	for (uint32_t i = 0; i < reader->count; i++) {
		if (date_known(&line->places[i]) || line->places[line->places[i].group].aligned)
			continue;
		pxt_complain("%s: cannot be placed: its machine did not know the date when the log "
		             "began",
		    reader->sources[i]->path);
		good = false;
	}
	if (!good)
		pxt_explain(
		    "--same-boot places logs by CLOCK_MONOTONIC: if all are from one machine, "
		    "not restarted between them; --align by an event that both have");
	return good;
}

static bool check_monotonic(const struct pxt_reader *reader, const struct pxt_merge_line *line)
{
	bool good = true;

	for (uint32_t i = 0; i < reader->count; i++) {
		if (line->places[i].mono_ns > 0)
			continue;
		pxt_complain("%s: cannot be placed by --same-boot: it has no CLOCK_MONOTONIC",
		    reader->sources[i]->path);
		good = false;
	}
	return good;
}

/* Two logs of one boot that the user did not move apart. */
static bool together(const struct pxt_reader *reader, const struct pxt_merge_line *line,
    enum pxt_clock_rule rule, uint32_t a, uint32_t b)
{
	if (rule == PXT_CLOCK_DATES || line->places[a].moved_ns != line->places[b].moved_ns)
		return false;
	return rule == PXT_CLOCK_ONE_BOOT || same_boot(reader, line, a, b);
}

/* Groups of one boot; returns their number. */
static uint32_t group(
    const struct pxt_reader *reader, const struct pxt_merge_line *line, enum pxt_clock_rule rule)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < reader->count; i++) {
		uint32_t first = 0;

		while (first < i && (line->places[first].group != first ||
		                        !together(reader, line, rule, first, i)))
			first++;
		line->places[i].group = first;
		groups += first == i;
	}
	return groups;
}

/* Whether @x says better than @y what civil time it was, in whatever order they come. */
static bool knows_better(const struct pxt_place *x, const struct pxt_place *y)
{
	if (date_known(x) != date_known(y))
		return date_known(x);
	return x->mono_ns < y->mono_ns || (x->mono_ns == y->mono_ns && x->real_ns < y->real_ns);
}

/* The log of a group that began first, and knew the date, says what civil time it was. */
static void choose_base(const struct pxt_reader *reader, struct pxt_merge_line *line)
{
	for (uint32_t i = 0; i < reader->count; i++) {
		struct pxt_place *group = &line->places[line->places[i].group];

		if (line->places[i].group == i ||
		    knows_better(&line->places[i], &line->places[group->base]))
			group->base = i;
	}
}

static void shift(const struct pxt_reader *reader, const struct pxt_merge_line *line)
{
	for (uint32_t i = 0; i < reader->count; i++) {
		const struct pxt_place *mine = &line->places[i];
		const struct pxt_place *first = &line->places[line->places[mine->group].base];

		/* In place of what the reader took for it (tools/read/open.c). */
		reader->sources[i]->shift_ns = mine->moved_ns;
		if (mine != first)
			reader->sources[i]->shift_ns +=
			    (first->real_ns - first->mono_ns) - (mine->real_ns - mine->mono_ns);
	}
}

static struct timespec time_of(int64_t ns)
{
	if (ns <= 0)
		return (struct timespec){ 0, 0 };
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };
}

static void begin_line(const struct pxt_reader *reader, struct pxt_merge_line *line)
{
	const struct pxt_place *first = NULL;

	for (uint32_t i = 0; i < reader->count; i++) {
		int64_t start = pxt_source_placed(reader->sources[i], line->places[i].real_ns);

		if (first && start >= line->start_ns)
			continue;
		first = &line->places[i];
		line->start_ns = start;
	}
	line->created.realtime = time_of(line->start_ns);
	line->created.ticks = (uint64_t)line->start_ns;
	if (!line->monotonic || !first)
		return;
	line->created.ticks = (uint64_t)first->mono_ns;
	line->created.monotonic = time_of(first->mono_ns);
	line->created.boottime = time_of(first->boot_ns);
}

/* ---- What the user says of clocks ---- */

/* "box", "logs/box.ptl", "box.ptl". */
static bool is_called(const struct pxt_source *source, const char *name)
{

	return strcmp(source->info.posix_host_np, name) == 0 || strcmp(source->path, name) == 0 ||
	       strcmp(pxt_path_name(source->path), name) == 0;
}

static bool move(const struct pxt_merge_line *line, const struct pxt_reader *reader,
    const char *name, int64_t ns)
{
	bool met = false;

	for (uint32_t i = 0; i < reader->count; i++) {
		if (!is_called(reader->sources[i], name))
			continue;
		int64_t moved = pxt_when_sum(line->places[i].moved_ns, ns);

		if (moved > FAR || moved < -FAR) {
			pxt_complain("--shift %s: by more than 97 years", name);
			return false;
		}
		line->places[i].moved_ns = moved;
		met = true;
	}
	if (met)
		return true;
	pxt_complain("--shift: no log is of a host %s, and none is called so; there are", name);
	for (uint32_t i = 0; i < reader->count; i++)
		pxt_explain("%s of host %s", reader->sources[i]->path,
		    *reader->sources[i]->info.posix_host_np ? reader->sources[i]->info.posix_host_np
		                                            : "unknown");
	return false;
}

/* Whether @x's clock is to be the common one rather than @y's, in whatever order files come. */
static bool leads(
    const struct pxt_reader *reader, const struct pxt_merge_line *line, uint32_t x, uint32_t y)
{
	const struct pxt_place *a = &line->places[x];
	const struct pxt_place *b = &line->places[y];
	int64_t later = (a->real_ns + a->moved_ns) - (b->real_ns + b->moved_ns);

	if (date_known(a) != date_known(b))
		return date_known(a);
	if (later != 0)
		return later < 0;
	return memcmp(reader->sources[x]->info.posix_uuid_np,
	           reader->sources[y]->info.posix_uuid_np,
	           sizeof reader->sources[x]->info.posix_uuid_np) < 0;
}

/* The group to whose clock others are compared. */
static uint32_t reference_of(const struct pxt_reader *reader, const struct pxt_merge_line *line)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < reader->count; i++)
		if (line->places[i].group == i &&
		    leads(reader, line, line->places[i].base, line->places[best].base))
			best = i;
	return best;
}

static bool align(
    struct pxt_merge_line *line, struct pxt_reader *reader, const struct pxt_placing *placing)
{
	uint32_t reference = reference_of(reader, line);

	line->places[reference].aligned = true;
	return pxt_align_clocks(line, reader, placing, reference);
}

bool pxt_merge_line_make(
    struct pxt_merge_line *line, struct pxt_reader *reader, const struct pxt_placing *placing)
{
	line->places = pxt_must(calloc(reader->count, sizeof *line->places));
	for (uint32_t i = 0; i < reader->count; i++)
		line->places[i] = place_of(reader->sources[i]);
	for (unsigned k = 0; k < placing->shift_count; k++)
		if (!move(line, reader, placing->shifts[k].name, placing->shifts[k].ns))
			return false;
	if (placing->rule == PXT_CLOCK_ONE_BOOT && !check_monotonic(reader, line))
		return false;
	uint32_t groups = group(reader, line, placing->rule);
	choose_base(reader, line);
	shift(reader, line);
	if (placing->event && !align(line, reader, placing))
		return false;
	/* Logs of one boot need no date: nothing but CLOCK_MONOTONIC places them. */
	if (groups > 1 && !check_dates(reader, line))
		return false;
	line->monotonic = groups == 1 && line->places[0].mono_ns > 0;
	begin_line(reader, line);
	if (line->monotonic || line->start_ns > 0)
		return true;
	pxt_complain("%s: its clock says a time before 1970", reader->sources[0]->path);
	return false;
}

void pxt_merge_line_free(struct pxt_merge_line *line)
{
	free(line->places);
	free(line->tids);
	free(line->notes);
}

uint64_t pxt_merge_line_ticks(const struct pxt_merge_line *line, int64_t ns)
{
	/* What lies further back than the ticks' own beginning: at it. */
	if (ns >= line->start_ns)
		return line->created.ticks + (uint64_t)(ns - line->start_ns);
	uint64_t back = (uint64_t)line->start_ns - (uint64_t)ns;
	return back < line->created.ticks ? line->created.ticks - back : 0;
}
