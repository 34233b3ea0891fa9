/* SPDX-License-Identifier: MIT */
/* shark.c - S.Ha.R.K.'s files and datagrams, sorted, as a log. */
#include "tools/import/import.h"

#include "contrib/compat/shark/include/FTrace_codes.h"
#include "format/ticks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES   16u
#define HEAD_BYTES    24u
#define PACKET_EVENTS 60u
#define FAST          0x8000u /* logged by the unchecked macro */
#define FIRST_TYPE    32u
#define NS            1000000000u

static const char magic[12] = "TRACER-V1.0";

#define EVENT(name, one, two) { name, #name, "u16 " #one ", u32 " #two },
#define FILTER(name)          { name, #name, "u16 status, u32 par2" },
static const struct {
	uint16_t code;
	const char *name;
	const char *format;
} codes[] = { FTRACE_EVENTS(EVENT) FTRACE_FILTERS(FILTER) };
#define CODES (sizeof(codes) / sizeof(codes[0]))

#define SLIP(printed, code) { printed, code },
static const struct {
	uint16_t printed;
	uint16_t code;
} slips[] = { FTRACE_SLIPS(SLIP) };

/* The place of a code in the table; CODES: it has none. */
static size_t place_of(uint16_t code)
{
	size_t i = 0;

	while (i < CODES && codes[i].code != code)
		i++;
	return i;
}

/* As older versions wrote it, and as the manual prints it. */
static uint16_t mended(uint16_t code)
{
	if ((code & FAST) && place_of(code & 0xff) < CODES)
		code &= 0xff;
	for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
		if (slips[i].printed == code)
			code = slips[i].code;
	return code;
}

static uint32_t number(const unsigned char *bytes, unsigned count)
{
	uint32_t value = 0;

	while (count-- > 0)
		value = value << 8 | bytes[count];
	return value;
}

/* ---- Taking ---- */

static bool make_room(struct pxt_shark *shark, size_t more)
{
	struct pxt_shark_record *records;
	size_t room = shark->room ? shark->room : 1024;

	while (room < shark->count + more)
		room *= 2;
	if (room == shark->room)
		return true;
	records = realloc(shark->records, room * sizeof(*records));
	if (!records) {
		shark->failed = true;
		return false;
	}
	shark->records = records;
	shark->room = room;
	return true;
}

/* The stamp as the manual takes it out of an event's bytes.  Returns how many codes are unknown. */
static size_t take(struct pxt_shark *shark, const unsigned char *bytes, size_t events)
{
	size_t unknown = 0;

	if (!make_room(shark, events))
		return 0;
	for (size_t i = 0; i < events; i++, bytes += EVENT_BYTES) {
		struct pxt_shark_record *record = &shark->records[shark->count];

		record->code = mended((uint16_t)number(&bytes[0], 2));
		if (record->code == FTrace_EVT_empty) {
			shark->empty++;
			continue;
		}
		unknown += place_of(record->code) == CODES;
		record->par1 = (uint16_t)number(&bytes[2], 2);
		record->ticks = (uint64_t)number(&bytes[4], 4) << 32 | number(&bytes[8], 4);
		record->par2 = number(&bytes[12], 4);
		record->place = shark->count++;
	}
	return unknown;
}

static int take_file(struct pxt_shark *shark, const char *path, FILE *file)
{
	unsigned char bytes[EVENT_BYTES * 256];
	const size_t before = shark->count;
	size_t all = before;
	size_t unknown = 0;
	size_t left = 0;
	size_t got = 0;

	while (all <= PXT_SHARK_EVENTS_MAX && (got = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		unknown += take(shark, bytes, got / EVENT_BYTES);
		all += got / EVENT_BYTES;
		left = got % EVENT_BYTES;
	}
	if (got > 0) {
		pxt_complain("import: %s: has more than %u events", path, PXT_SHARK_EVENTS_MAX);
		return PXT_EXIT_LOG;
	}
	if (ferror(file)) {
		pxt_complain("import: %s: %s", path, strerror(errno));
		return PXT_EXIT_LOG;
	}
	if (shark->failed) {
		pxt_complain("import: %s: %s", path, strerror(ENOMEM));
		return PXT_EXIT_LOG;
	}
	if (left != 0) {
		pxt_complain("import: %s: it ends in the middle of an event (%zu bytes behind %zu "
		             "whole ones)",
		    path, left, shark->count - before);
		return PXT_EXIT_LOG;
	}
	if (shark->count == before || unknown * 2 > shark->count - before) {
		pxt_complain(
		    "import: %s: no file of S.Ha.R.K.'s tracer: of %zu events %zu have codes "
		    "that it does not have",
		    path, shark->count - before, unknown);
		return PXT_EXIT_LOG;
	}
	return PXT_EXIT_OK;
}

int pxt_shark_file(struct pxt_shark *shark, const char *path)
{
	int fd = pxt_open_named(path, PXT_OPEN_WAIT_MS);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
	int status;

	if (!file) {
		pxt_complain("import: %s: %s", path, pxt_open_error(errno));
		return PXT_EXIT_LOG;
	}
	status = take_file(shark, path, file);
	(void)fclose(file);
	return status;
}

bool pxt_shark_is_packet(const unsigned char *bytes, size_t count)
{
	return count >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

/* Notes the number; false: it was there before, or there is no memory. */
static bool note(struct pxt_shark *shark, uint32_t packet)
{
	const size_t bytes = packet / 8u + 1u;
	unsigned char *seen;

	if (bytes > shark->seen_bytes) {
		seen = realloc(shark->seen, bytes * 2);
		if (!seen) {
			shark->failed = true;
			return false;
		}
		memset(&seen[shark->seen_bytes], 0, bytes * 2 - shark->seen_bytes);
		shark->seen = seen;
		shark->seen_bytes = bytes * 2;
	}
	if ((unsigned)shark->seen[packet / 8u] >> packet % 8u & 1u) {
		shark->twice++;
		return false;
	}
	shark->seen[packet / 8u] |= (unsigned char)(1u << packet % 8u);
	shark->first = shark->packets == 0 || packet < shark->first ? packet : shark->first;
	shark->last = packet > shark->last ? packet : shark->last;
	shark->packets++;
	return true;
}

void pxt_shark_packet(struct pxt_shark *shark, const unsigned char *bytes, size_t count)
{
	const uint32_t packet = count >= HEAD_BYTES ? number(&bytes[12], 4) : 0;
	const uint32_t events = count >= HEAD_BYTES ? number(&bytes[16], 4) : 0;

	if (count < HEAD_BYTES || events > PACKET_EVENTS || packet >= PXT_SHARK_PACKETS_MAX ||
	    count != HEAD_BYTES + (size_t)events * EVENT_BYTES || number(&bytes[20], 4) != count ||
	    shark->count + events > PXT_SHARK_EVENTS_MAX)
		shark->spoilt++;
	else if (note(shark, packet))
		(void)take(shark, &bytes[HEAD_BYTES], events);
}

uint64_t pxt_shark_missing(const struct pxt_shark *shark)
{
	return shark->packets ? (uint64_t)shark->last - shark->first + 1 - shark->packets : 0;
}

/* ---- Writing ---- */

static int by_stamp(const void *one, const void *other)
{
	const struct pxt_shark_record *a = one;
	const struct pxt_shark_record *b = other;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Ticks per second; 0: more than a log can have is not believed. */
static uint64_t believed(uint32_t cycles_per_msec)
{
	uint64_t hz = (uint64_t)cycles_per_msec * 1000u;

	return hz <= PXT_HZ_MAX ? hz : 0;
}

/* The event that is there for it tells the rate, or the start of the trace, as in the manual's example. */
static uint64_t rate_of(const struct pxt_shark *shark, const char *command)
{
	uint64_t start = 0;

	if (shark->hz)
		return shark->hz;
	for (size_t i = 0; i < shark->count; i++) {
		uint64_t hz = believed(shark->records[i].par2);

		if (shark->records[i].code == FTrace_EVT_cycles_per_msec && hz)
			return hz;
		if (shark->records[i].code == FTrace_EVT_trace_start && !start)
			start = hz;
	}
	if (start)
		return start;
	pxt_complain(
	    "%s: no event tells a rate that stamps can have: a tick is shown as a nanosecond",
	    command);
	return NS;
}

static void write_types(struct pxt_logwrite *log, const struct pxt_shark *shark)
{
	bool used[CODES + 1] = { false };

	for (size_t i = 0; i < shark->count; i++)
		used[place_of(shark->records[i].code)] = true;
	for (size_t i = 0; i < CODES; i++)
		if (used[i])
			pxt_logwrite_type(
			    log, FIRST_TYPE + (trace_event_id_t)i, codes[i].name, codes[i].format);
	if (used[CODES])
		pxt_logwrite_type(log, FIRST_TYPE + (trace_event_id_t)CODES, "FTrace_EVT_other",
		    "u16 par1, u32 par2, x16 code");
}

static void write_event(struct pxt_logwrite *log, const struct pxt_shark_record *record)
{
	unsigned char data[8];
	const size_t place = place_of(record->code);
	const struct pxt_logevent event = { .id = FIRST_TYPE + (trace_event_id_t)place,
		.ticks = record->ticks,
		.thread_index = 1,
		.cpu = -1,
		.data = data,
		.bytes = place == CODES ? 8 : 6 };

	memcpy(&data[0], &record->par1, 2);
	memcpy(&data[2], &record->par2, 4);
	memcpy(&data[6], &record->code, 2);
	pxt_logwrite_event(log, &event);
}

int pxt_shark_write(struct pxt_shark *shark, const char *command, const char *output)
{
	/* The files do not say who logged an event: all are of the one processor, in its order. */
	const struct posix_trace_logthread_np processor = {
		.posix_thread_np = 1, .posix_pid_np = 1, .posix_name_np = "shark"
	};
	struct pxt_loghead head = { .name = "shark", .clock_source = POSIX_TRACE_CLOCK_PORT_NP };
	struct pxt_logwrite *log;
	const struct pxt_logend end = { .unknown = pxt_shark_missing(shark) || shark->spoilt,
		.counts = { .posix_written_np = shark->count,
		    .posix_retrieved_np = shark->count,
		    .posix_stable_np = 1 } };

	if (shark->count != 0)
		qsort(shark->records, shark->count, sizeof(*shark->records), by_stamp);
	head.hz = rate_of(shark, command);
	head.created.ticks = shark->count ? shark->records[0].ticks : 0;
	log = pxt_logwrite_begin(output, PXT_LOG_WHOLE, &head);
	if (log) {
		pxt_logwrite_thread(log, 1, &processor);
		write_types(log, shark);
		for (size_t i = 0; i < shark->count; i++)
			write_event(log, &shark->records[i]);
	}
	return pxt_import_end(log, &end, command, output);
}

void pxt_shark_free(struct pxt_shark *shark)
{
	free(shark->records);
	free(shark->seen);
}
