/* SPDX-License-Identifier: MIT */
/* forge.c - whole frames whose numbers are made up; and what the library itself sends, as bytes. */
#include "logs.h"

#include "format/compiler.h"
#include "format/crc32.h"
#include "format/logfmt_fields.h"
#include "tools/receive/receiver.h"
#include "tools/write/logwrite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Numbers at which sums run over, and others. */
static const uint64_t odd_numbers[] = { 0, 1, 7, 0xffff, 1u << 20, UINT64_C(1) << 32,
	UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX };

#define ODD_NUMBERS (sizeof odd_numbers / sizeof *odd_numbers)

static uint64_t odd_number(uint64_t choice)
{
	return odd_numbers[choice % ODD_NUMBERS];
}

/* ---- Streams ---- */

static void set_attr(struct _pxt_attr *attr)
{
	trace_attr_t defaults;

	(void)posix_trace_attr_init(&defaults);
	*attr = defaults._pxt_kept;
	attr->_pxt_stream_policy = POSIX_TRACE_LOOP;
	attr->_pxt_log_policy = POSIX_TRACE_APPEND;
	attr->_pxt_ctx_bytes = 8;
}

void forge_begin(struct forge *forge, unsigned which)
{
	struct pxt_log_header header = { .word_bytes = 8,
		.ctx_bytes = 8,
		.layout = PXT_LAYOUT_SEQUENTIAL,
		.contents = PXT_LOG_HAS_THREAD | PXT_LOG_HAS_ADDRESS | PXT_LOG_HAS_CPU,
		.rate = { .hz = 1000000000, .source = POSIX_TRACE_CLOCK_MONOTONIC_NP },
		.created = { .ticks = 1000, .realtime = { .tv_sec = 1700000000 } },
		.largest_block = 4096,
		.set_bytes = _PXT_EVENT_IDS / 8u };

	memset(forge, 0, sizeof *forge);
	set_attr(&header.attr);
	memset(header.uuid, (int)(which + 1u), sizeof header.uuid);
	pxt_logfmt_put_header(forge->head, &header);
	forge->seed = pxt_crc32(0, header.uuid, sizeof header.uuid);
	forge->swapped = which == FORGE_STREAMS - 1u;
	if (forge->swapped)
		pxt_logblocks_swap_head(forge->head);
}

/* ---- Frames ---- */

static void put_little(unsigned char *at, uint32_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static void put16(const struct forge *forge, unsigned char *at, uint16_t value)
{
	value = forge->swapped ? __builtin_bswap16(value) : value;
	memcpy(at, &value, sizeof value);
}

static void put32(const struct forge *forge, unsigned char *at, uint32_t value)
{
	value = forge->swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof value);
}

static void put64(const struct forge *forge, unsigned char *at, uint64_t value)
{
	value = forge->swapped ? __builtin_bswap64(value) : value;
	memcpy(at, &value, sizeof value);
}

/* The contents are there: what is around them. */
static void pack(
    const struct forge *forge, struct forged *forged, enum pxt_frame_kind kind, size_t bytes)
{
	uint32_t word =
	    ((uint32_t)forge->frames & PXT_FRAME_NUMBER_MASK) | kind << PXT_FRAME_KIND_SHIFT;
	size_t whole = PXT_FRAME_START_BYTES + bytes;

	put_little(forged->bytes, word, 2);
	put_little(forged->bytes + 2, (uint32_t)forge->records & 0xffffu, 2);
	put_little(forged->bytes + whole,
	    pxt_crc32(kind == PXT_FRAME_HEAD ? 0 : forge->seed, forged->bytes, whole),
	    PXT_FRAME_CRC_BYTES);
	forged->count = whole + PXT_FRAME_CRC_BYTES;
}

void forge_head(const struct forge *forge, struct forged *forged)
{
	unsigned char *contents = forged->bytes + PXT_FRAME_START_BYTES;

	memset(contents, 0, PXT_FRAME_HEAD_BYTES);
	memcpy(contents, forge->head, PXT_FRAME_FILE_HEAD);
	put16(forge, contents + PXT_FRAME_CLOCKS_AT, PXT_LOG_CLOCK_BYTES);
	put16(forge, contents + PXT_FRAME_CLOCKS_AT + 2, PXT_LOG_AT_FLUSH);
	put64(forge, contents + PXT_FRAME_CLOCKS_AT + 8, 2000 + forge->frames);
	put64(forge, contents + PXT_FRAME_COUNTS_AT, forge->frames);
	put64(forge, contents + PXT_FRAME_COUNTS_AT + 8, forge->records);
	pack(forge, forged, PXT_FRAME_HEAD, PXT_FRAME_HEAD_BYTES);
}

void forge_data(const struct forge *forge, struct forged *forged, uint32_t id, uint32_t count)
{
	unsigned char *at = forged->bytes + PXT_FRAME_START_BYTES;
	uint32_t slots = id ? 2u * (count % 8u) : 1u;

	memset(at, 0, (size_t)slots * PXT_SLOT_BYTES);
	for (uint32_t i = 0; i < slots; i += 2, at += 2u * PXT_SLOT_BYTES) {
		put32(forge, at, PXT_SLOT_BEGIN);
		put32(forge, at + 4,
		    id ? pxt_slot_info(id, 4, false, false, 0) : (uint32_t)PXT_LOG_ID_LOSS);
		put32(forge, at + 8, id ? 3000u + (uint32_t)forge->records + i : count);
		put32(forge, at + 12, !id && count > 9 ? UINT32_MAX : 0u);
	}
	pack(forge, forged, PXT_FRAME_DATA, (size_t)slots * PXT_SLOT_BYTES);
}

/* ---- Entries ---- */

/* The next number of such an entry, in this machine's order: the record's own turns it. */
static uint64_t pick(uint64_t *choice)
{
	*choice = *choice * 6364136223846793005u + 1442695040888963407u;
	return odd_number(*choice >> 40);
}

static void make_trailer(struct pxt_log_trailer *trailer, uint64_t choice)
{
	uint64_t state = choice;

	memset(trailer, 0, sizeof *trailer);
	trailer->end.ticks = 5000;
	set_attr(&trailer->attr);
	/* 0: in no contradiction with itself. */
	if (!choice)
		return;
	trailer->counts.posix_written_np = pick(&state);
	trailer->counts.posix_retrieved_np = pick(&state);
	trailer->counts.posix_lost_np = pick(&state);
	trailer->counts.posix_cleared_np = pick(&state);
	trailer->counts.posix_held_np = pick(&state);
	trailer->log_lost = pick(&state);
}

/* In this machine's order. */
static void put_entry(struct pxt_log_block *block, enum pxt_log_type type, uint64_t choice)
{
	struct pxt_log_thread thread = { .thread = choice, .index = (uint16_t)(choice % 5u) };
	struct pxt_log_process process = { .pid = (int32_t)choice, .host = "box" };
	struct pxt_log_module module = { .base = choice, .high = UINT64_MAX, .path = "/lib" };
	struct pxt_log_clock clock = { .moment = PXT_LOG_AT_FLUSH,
		.clock = { .ticks = odd_number(choice) } };
	struct pxt_log_trailer trailer;
	char name[] = "event_?";

	name[sizeof name - 2] = (char)('a' + choice / 7u % 3u);
	make_trailer(&trailer, choice);
	switch ((unsigned)type) {
	case PXT_LOG_TYPES:
		(void)pxt_logfmt_put_type(block, 29u + (uint32_t)(choice % 7u), name, "");
		break;
	case PXT_LOG_THREADS:
		(void)pxt_logfmt_put_thread(block, &thread);
		break;
	case PXT_LOG_PROCESS:
		(void)pxt_logfmt_put_process(block, &process);
		break;
	case PXT_LOG_MODULES:
		(void)pxt_logfmt_put_module(block, &module);
		break;
	case PXT_LOG_NOTES:
		(void)pxt_logfmt_put_note(block, name, "text");
		break;
	case PXT_LOG_CLOCKS:
		(void)pxt_logfmt_put_clock(block, &clock);
		break;
	case PXT_LOG_CLEAR:
		(void)pxt_logfmt_put_clear(block, 0, odd_number(choice));
		break;
	default:
		(void)pxt_logfmt_put_trailer(block, &trailer);
		break;
	}
}

void forge_entry(
    const struct forge *forge, struct forged *forged, enum pxt_log_type type, uint64_t choice)
{
	static _Alignas(16) unsigned char bytes[4096];
	unsigned char *contents = forged->bytes + PXT_FRAME_START_BYTES;
	struct pxt_log_block block;

	pxt_logfmt_start(&block, bytes, sizeof bytes);
	put_entry(&block, type, choice);
	if (forge->swapped)
		pxt_logblocks_swap_entry(type, bytes + PXT_LOG_BLOCK_BYTES);
	put16(forge, contents, (uint16_t)type);
	put16(forge, contents + 2, 1);
	memcpy(contents + PXT_FRAME_META_START, bytes + PXT_LOG_BLOCK_BYTES,
	    block.used - PXT_LOG_BLOCK_BYTES);
	pack(
	    forge, forged, PXT_FRAME_META, PXT_FRAME_META_START + block.used - PXT_LOG_BLOCK_BYTES);
}

/* ---- Anybody's choice ---- */

static void give(struct pxt_receiver *in, const struct forged *forged, bool packets)
{
	unsigned char stuffed[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX) + 1];
	size_t count = pxt_linkframe_stuff(forged->bytes, forged->count, stuffed + 1);

	stuffed[0] = PXT_FRAME_DELIMITER;
	if (packets)
		pxt_receiver_packet(in, NULL, forged->bytes, forged->count);
	else
		pxt_receiver_bytes(in, stuffed, count + 1);
}

/* The numbers move on, back, or far away. */
static void choose_numbers(struct forge *forge, uint8_t how)
{
	static const int64_t steps[] = { 1, 1, 1, 0, 2, 5, -1, -70 };

	forge->frames += (uint64_t)steps[how & 7u];
	forge->records += (uint64_t)steps[how >> 3 & 7u] * 2u;
	if (how >= 0xf8u)
		forge->records = odd_number(how);
	else if (how >= 0xf0u)
		forge->frames = odd_number(how);
}

static void choose_frame(const struct forge *forge, struct forged *forged, const uint8_t *choice)
{
	static const uint32_t ids[] = { 1, 2, 29, 30, 31, 32, 33, 1023, 0 };

	if (choice[0] % 8u == 0)
		forge_head(forge, forged);
	else if (choice[0] % 8u < 4u)
		forge_data(forge, forged, ids[choice[2] % (sizeof ids / sizeof *ids)], choice[3]);
	else
		forge_entry(
		    forge, forged, (enum pxt_log_type)(PXT_LOG_TYPES + choice[2] % 7u), choice[3]);
}

void forge_play(struct pxt_receiver *in, const uint8_t *choices, size_t count, bool packets)
{
	struct forge forges[FORGE_STREAMS];

	for (unsigned i = 0; i < FORGE_STREAMS; i++)
		forge_begin(&forges[i], i);
	for (; count >= 4; choices += 4, count -= 4) {
		struct forge *forge = &forges[choices[0] / 8u % FORGE_STREAMS];
		struct forged forged;

		if (choices[0] >= 0xf8u)
			pxt_receiver_flush(in);
		if (choices[0] == 0xffu)
			pxt_receiver_break(in);
		choose_frame(forge, &forged, choices);
		give(in, &forged, packets);
		choose_numbers(forge, choices[1]);
	}
}

/* ---- Captures: the library is the target, and its bytes are read from the end of a pipe ---- */

#define EVENT "line_event"

struct catcher {
	struct capture *capture;
	int fd;
};

static void *catch (void *argument)
{
	struct catcher *catcher = argument;
	struct capture *capture = catcher->capture;
	ssize_t got;

	do {
		if (capture->room - capture->count < 65536) {
			capture->room += 262144;
			capture->bytes = realloc(capture->bytes, capture->room);
		}
		got = read(catcher->fd, capture->bytes + capture->count, 65536);
		if (got > 0)
			capture->count += (size_t)got;
	} while (got > 0);
	return NULL;
}

static void play(trace_id_t trid, const struct capture_script *script)
{
	static const struct timespec pause = { CONFIG_PTRACE_LOG_LINE_REPEAT_MS / 1000 + 1,
		1000000 };
	unsigned char data[600];
	trace_event_id_t id;

	memset(data, 0xa5, sizeof data);
	PXT_EQ(posix_trace_eventid_open(EVENT, &id), 0);
	(void)posix_trace_eventid_setformat_np(id, "u32 number, text rest");
	PXT_EQ(posix_trace_start(trid), 0);
	for (uint32_t i = 0; i < script->events; i++) {
		if (script->pause_at && i == script->pause_at)
			(void)nanosleep(&pause, NULL);
		memcpy(data, &i, sizeof i);
		posix_trace_event(
		    id, data, script->longer && i % script->longer == 0 ? sizeof data : sizeof i);
		if (script->flush && i % script->flush == script->flush - 1)
			PXT_EQ(posix_trace_flush(trid), 0);
		if (script->clear_in_the_middle && i == script->events / 2)
			PXT_EQ(posix_trace_clear(trid), 0);
	}
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

void capture_run(struct capture *capture, const struct capture_script *script)
{
	struct catcher catcher = { .capture = capture };
	pthread_t thread;
	trace_attr_t attr;
	trace_id_t trid;
	int ends[2];

	capture_free(capture);
	CU_ASSERT_FATAL(pipe(ends) == 0);
	catcher.fd = ends[0];
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, catch, &catcher) == 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 262144), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 1024), 0);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, script->form), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, ends[1], &trid), 0);
	(void)close(ends[1]);
	play(trid, script);
	(void)pthread_join(thread, NULL);
	(void)close(ends[0]);
	(void)posix_trace_attr_destroy(&attr);
}

void capture_free(struct capture *capture)
{
	free(capture->bytes);
	memset(capture, 0, sizeof *capture);
}

bool capture_next(const struct capture *capture, size_t *at, struct capture_frame *frame)
{
	while (*at < capture->count) {
		const unsigned char *from = capture->bytes + *at;
		const unsigned char *end = memchr(from, 0, capture->count - *at);
		size_t bytes = end ? (size_t)(end - from) : 0;
		size_t plain;

		if (!end)
			return false;
		frame->at = *at;
		frame->bytes = bytes + 1;
		*at += bytes + 1;
		plain = bytes ? pxt_linkframe_unstuff(from, bytes, frame->plain) : 0;
		if (plain && pxt_linkframe_parse(&frame->frame, frame->plain, plain))
			return true;
	}
	return false;
}

uint32_t capture_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}
