/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the log's line of time (FORMAT.md section 7).
 *
 * Between two readings of the clocks a stamp is from_ns + floor((ticks - from) * ns / ticks),
 * exactly, with multiplications only: the estimate by the reciprocal is at most 1 too small.
 */
#include "logretrieval/log.h"

#include <errno.h>

/* 272 years: what fits 63 bits of nanoseconds. */
#define SECONDS_MAX ((int64_t)1 << 33)
#define NS_MAX      (UINT64_MAX >> 1)

void pxt_log_clock_begin(struct pxt_log *log)
{
	const struct pxt_log_header *header = &log->header;

	pxt_ticks_init(
	    &log->nominal, header->rate.hz, header->created.ticks, &header->created.realtime);
	log->reading_count = 0;
	log->reading_skip = 1;
	log->reading_turn = 0;
	log->readings_backward = 0;
	log->segment.from = 0;
	log->segment.to = 0;
}

/* Every second reading goes, and of those to come too. */
static void thin(struct pxt_log *log)
{
	uint32_t i;

	for (i = 0; 2 * i < log->reading_count; i++)
		log->readings[i] = log->readings[(size_t)2 * i];
	log->reading_count = i;
	log->reading_skip *= 2;
}

static bool make_room(struct pxt_log *log)
{
	struct pxt_log_reading *readings;

	if (log->reading_count == PXT_LOG_READINGS_MAX)
		thin(log);
	readings = pxt_log_grow(log->readings, log->reading_count, &log->reading_room,
	    PXT_LOG_READINGS_MAX, sizeof(*readings));
	if (readings)
		log->readings = readings;
	return readings != NULL;
}

/* Nanoseconds from creation to @set; false when that is no sensible time. */
static bool since_creation(const struct pxt_log *log, const struct pxt_clock_set *set, uint64_t *ns)
{
	const struct timespec *from = &log->header.created.monotonic;
	int64_t seconds = (int64_t)set->monotonic.tv_sec - (int64_t)from->tv_sec;
	int64_t sum;

	if ((from->tv_sec == 0 && from->tv_nsec == 0) || seconds < 0 || seconds >= SECONDS_MAX)
		return false;
	sum = seconds * (int64_t)PXT_NS_PER_S + set->monotonic.tv_nsec - from->tv_nsec;
	*ns = (uint64_t)sum;
	return sum >= 0;
}

/* As of events' stamps, what counters of processors differ by is no step. */
static bool is_before(const struct pxt_log *log, const struct pxt_clock_set *set, bool monotonic,
    const struct pxt_log_reading *last)
{
	return monotonic ||
	       (set->ticks < last->ticks && last->ticks - set->ticks >= log->header.rate.hz / 1000);
}

int pxt_log_add_reading(struct pxt_log *log, const struct pxt_clock_set *set)
{
	struct pxt_log_reading last = { log->header.created.ticks, 0 };
	uint64_t ns = 0;
	bool sensible = since_creation(log, set, &ns);

	if (log->reading_count)
		last = log->readings[log->reading_count - 1];
	log->readings_backward += is_before(log, set, sensible && ns < last.ns, &last);
	/* Not below the last one, and near enough for the arithmetic of segments. */
	if (!sensible || ns < last.ns || set->ticks <= last.ticks ||
	    (set->ticks - last.ticks) >> 63 != 0)
		return 0;
	if (log->reading_turn % log->reading_skip) {
		log->reading_turn++;
		return 0;
	}
	if (!make_room(log))
		return ENOMEM;
	log->reading_turn++;
	log->readings[log->reading_count++] = (struct pxt_log_reading){ set->ticks, ns };
	/* The last segment had no end; now it may have one. */
	log->segment.to = log->segment.from;
	return 0;
}

/* Times between two readings of the clocks are interpolated; after the last one the rate counts. */
static void set_segment(
    struct pxt_log *log, struct pxt_log_reading from, const struct pxt_log_reading *to)
{
	struct pxt_log_segment *segment = &log->segment;

	segment->from = from.ticks;
	segment->from_ns = from.ns;
	segment->to = UINT64_MAX;
	segment->ticks = 0;
	if (!to)
		return;
	segment->to = to->ticks;
	segment->ticks = to->ticks - from.ticks;
	segment->ns = to->ns - from.ns;
	segment->whole = segment->ns / segment->ticks;
	segment->rest = segment->ns % segment->ticks;
	segment->fraction = pxt_divide_high(segment->rest, segment->ticks);
}

/* The segment that holds @ticks, which are not below those of creation. */
static void find_segment(struct pxt_log *log, uint64_t ticks)
{
	struct pxt_log_reading created = { log->header.created.ticks, 0 };
	uint32_t low = 0;
	uint32_t high = log->reading_count;

	/* readings[low] will be the first one above @ticks. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (log->readings[middle].ticks > ticks)
			high = middle;
		else
			low = middle + 1;
	}
	set_segment(log, low ? log->readings[low - 1] : created,
	    low < log->reading_count ? &log->readings[low] : NULL);
}

void pxt_log_time(struct pxt_log *log, uint64_t ticks, struct timespec *time)
{
	const struct pxt_log_header *header = &log->header;
	uint64_t ns;

	/* Stamps from before creation: the counter may even have wrapped between. */
	if (ticks < header->created.ticks) {
		pxt_ticks_time(&log->nominal, ticks, time);
		return;
	}
	if (ticks < log->segment.from || ticks >= log->segment.to)
		find_segment(log, ticks);
	ns = log->segment.ticks ? pxt_log_segment_ns(&log->segment, ticks - log->segment.from)
	                        : pxt_ticks_to_ns(&log->nominal, ticks - log->segment.from);
	/* Far beyond any sensible log: stay there. */
	if (ns > NS_MAX || log->segment.from_ns + ns > NS_MAX)
		ns = NS_MAX - log->segment.from_ns;
	ns += log->segment.from_ns + (uint64_t)header->created.realtime.tv_nsec;
	time->tv_sec = pxt_ticks_seconds(
	    (int64_t)header->created.realtime.tv_sec + (int64_t)(ns / PXT_NS_PER_S));
	time->tv_nsec = (long)(ns % PXT_NS_PER_S);
}

void pxt_log_get_ticks(const struct pxt_log *log, struct posix_trace_clock_np *clock)
{
	clock->posix_source_np = log->header.rate.source;
	clock->posix_error_ppm_np = log->header.rate.error_ppm;
	clock->posix_hz_np = log->header.rate.hz;
	clock->posix_anchor_ticks_np = log->header.created.ticks;
	clock->posix_anchor_np = log->header.created.realtime;
}
