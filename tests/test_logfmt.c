/* SPDX-License-Identifier: MIT */
/* test_logfmt.c - what the writing half makes, the golden log and the reading half agree upon. */
#include "suite.h"

#include "format/logfmt.h"
#include "format/logfmt_fields.h"
#include "logs.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREATED 1700000000

static const struct pxt_clock_set created = {
	1000000,
	{ CREATED, 250000000 },
	{ 5000, 500000000 },
	{ 5001, 500000000 },
};
static const struct pxt_clock_set ended = {
	5000004,
	{ CREATED + 2, 253000000 },
	{ 5002, 503000000 },
	{ 5003, 503000000 },
};

/* A log in memory. */
struct writer {
	unsigned char *bytes;
	size_t size;
	size_t room;
	struct pxt_log_header header;
	struct pxt_log_stream stream;
	struct pxt_log_block block;
	_Alignas(16) unsigned char staging[2048];
};

static struct writer *new_writer(void)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct pxt_log_header *header;

	CU_ASSERT_FATAL(writer != NULL);
	writer->room = (size_t)4 << 20;
	writer->bytes = calloc(1, writer->room);
	CU_ASSERT_FATAL(writer->bytes != NULL);
	header = &writer->header;
	header->word_bytes = 8;
	header->ctx_bytes = 8;
	header->layout = PXT_LAYOUT_SEQUENTIAL;
	header->contents = PXT_LOG_HAS_THREAD | PXT_LOG_HAS_ADDRESS | PXT_LOG_HAS_CPU;
	for (unsigned i = 0; i < PXT_LOG_UUID_BYTES; i++)
		header->uuid[i] = (unsigned char)(0xa0 + i);
	memcpy(writer->stream.uuid, header->uuid, sizeof(writer->stream.uuid));
	header->rate = (struct pxt_clock_rate){ 2000000, 50, POSIX_TRACE_CLOCK_TSC_NP, 1 };
	header->created = created;
	header->largest_block = 2048;
	header->set_bytes = 128;
	header->attr._pxt_stream_policy = POSIX_TRACE_FLUSH;
	header->attr._pxt_log_policy = POSIX_TRACE_APPEND;
	header->attr._pxt_inherit = POSIX_TRACE_CLOSE_FOR_CHILD;
	header->attr._pxt_lanes = 4;
	header->attr._pxt_flags = 2;
	header->attr._pxt_flush_priority = 10;
	header->attr._pxt_stream_size = 65536;
	header->attr._pxt_max_data = 256;
	header->attr._pxt_log_size = 1 << 20;
	header->attr._pxt_create_sec = CREATED;
	header->attr._pxt_create_nsec = 250000000;
	header->attr._pxt_clockres_nsec = 500;
	header->attr._pxt_system_slots = 24;
	header->attr._pxt_ctx_bytes = 8;
	memcpy(header->attr._pxt_name, "golden", 7);
	memcpy(header->attr._pxt_genversion, "golden 1", 9);
	return writer;
}

static void free_writer(struct writer *writer)
{
	free(writer->bytes);
	free(writer);
}

static void put_header(struct writer *writer)
{
	pxt_logfmt_put_header(writer->bytes, &writer->header);
	writer->size = PXT_LOG_HEADER_BYTES;
}

static void start(struct writer *writer)
{
	pxt_logfmt_start(&writer->block, writer->staging, sizeof(writer->staging));
}

static void finish(struct writer *writer, enum pxt_log_type type)
{
	uint32_t length = pxt_logfmt_finish(&writer->block, &writer->stream, type);

	CU_ASSERT_FATAL(writer->size + length <= writer->room);
	memcpy(writer->bytes + writer->size, writer->staging, length);
	writer->size += length;
	pxt_logfmt_written(&writer->block, &writer->stream, type);
	start(writer);
}

/* A record of a 64-bit machine; returns its slots. */
static uint32_t make_record(struct pxt_slot *slots, uint32_t id, uint64_t ticks, const void *data,
    uint32_t bytes, uint64_t context, uint32_t cpu, bool cut)
{
	unsigned char payload[4128] = { 0 };
	uint32_t n = pxt_slots_for(8 + bytes);

	for (unsigned i = 0; i < 8; i++)
		payload[i] = (unsigned char)(context >> (8 * i));
	memcpy(payload + 8, data, bytes);
	/* Tags as in a ring: a log has none. */
	slots[0].word[0] = PXT_SLOT_BEGIN | 0x1234567;
	slots[0].word[1] = pxt_slot_info(id, bytes, cut, false, cpu);
	slots[0].word[2] = (uint32_t)ticks;
	slots[0].word[3] = (uint32_t)(ticks >> 32);
	for (uint32_t i = 1; i < n; i++) {
		slots[i].word[0] = 0x7654321;
		memcpy(&slots[i].word[1], payload + (i - 1) * 12, 12);
	}
	return n;
}

static bool put_record(struct writer *writer, uint32_t id, uint64_t ticks, const void *data,
    uint32_t bytes, uint64_t context, uint32_t cpu, bool cut)
{
	struct pxt_slot slots[345];
	uint32_t n = make_record(slots, id, ticks, data, bytes, context, cpu, cut);

	return pxt_logfmt_put_record(&writer->block, slots, n);
}

static void put_trailer(struct writer *writer)
{
	struct pxt_log_trailer trailer = { 0 };

	trailer.status = (struct posix_trace_status_info){ 2, 0, 1, 0, 5, 1, 0, { 0 } };
	trailer.counts = (struct posix_trace_counts_np){ 20, 9, 6, 5, 0, 1, { 0 } };
	trailer.data_blocks = writer->stream.data_sequence;
	trailer.meta_blocks = writer->stream.meta_sequence;
	trailer.end = ended;
	trailer.attr = writer->header.attr;
	CU_ASSERT(pxt_logfmt_put_trailer(&writer->block, &trailer));
	finish(writer, PXT_LOG_TRAILER);
}

static trace_id_t open_written(const struct writer *writer)
{
	struct posix_trace_logerror_np error = { 0, "" };
	int fd = golden_file(writer->bytes, writer->size);
	trace_id_t trid = 0;

	PXT_CHECK(posix_trace_log_open_np(&fd, 1, 0, &trid, &error, sizeof(error)) == 0,
	    "byte %llu: %s", (unsigned long long)error.posix_offset_np, error.posix_reason_np);
	CU_ASSERT_FATAL(trid != 0);
	CU_ASSERT(close(fd) == 0);
	return trid;
}

/* ---- The golden log once more, by the library's own writer ---- */

static const char *const system_names[] = { "posix_trace_error", "posix_trace_start",
	"posix_trace_stop", "posix_trace_overflow", "posix_trace_resume", "posix_trace_filter",
	"posix_trace_flush_start", "posix_trace_flush_stop" };

/* What is longer than a note may be is cut. */
static void write_notes(struct writer *writer)
{
	char name[POSIX_TRACE_NOTE_NAME_MAX_NP + 2] = "";
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 2] = "";

	memset(name, 'n', sizeof(name) - 1);
	memset(text, 't', sizeof(text) - 1);
	CU_ASSERT(pxt_logfmt_put_note(&writer->block, "load", "80 %, without network"));
	CU_ASSERT(pxt_logfmt_put_note(&writer->block, name, text));
	CU_ASSERT(pxt_logfmt_put_note(&writer->block, "load", ""));
	finish(writer, PXT_LOG_NOTES);
}

static void write_beginning(struct writer *writer)
{
	struct pxt_log_process process = { .pid = 4711, .start = { CREATED - 1000, 5 } };
	struct pxt_log_module module = { .base = 0x400000, .low = 0x400000, .high = 0x480000 };
	struct pxt_log_thread thread = { .thread = 0x7f12345678, .pid = 4711, .tid = 4712 };
	const struct pxt_log_set set = { .records = 700, .lost = 50, .repeated = 3 };

	CU_ASSERT(pxt_logfmt_put_set(&writer->block, &set));
	finish(writer, PXT_LOG_SET);
	memcpy(process.executable, "/opt/rt/control", 16);
	memcpy(process.host, "target-7", 9);
	for (unsigned i = 0; i < sizeof(process.boot_id); i++)
		process.boot_id[i] = (unsigned char)(0xb0 + i);
	process.cpus = 0x102;
	memcpy(process.system, "riscv64 Linux 6.1.0-13-rt", 26);
	CU_ASSERT(pxt_logfmt_put_process(&writer->block, &process));
	finish(writer, PXT_LOG_PROCESS);
	module.build_id_bytes = 20;
	for (unsigned i = 0; i < 20; i++)
		module.build_id[i] = (unsigned char)i;
	memcpy(module.path, "/opt/rt/control", 16);
	CU_ASSERT(pxt_logfmt_put_module(&writer->block, &module));
	module = (struct pxt_log_module){
		.base = 0x7f0000000000, .low = 0x7f0000001000, .high = 0x7f0000009000
	};
	memcpy(module.path, "/lib/libc.so", 13);
	CU_ASSERT(pxt_logfmt_put_module(&writer->block, &module));
	finish(writer, PXT_LOG_MODULES);
	write_notes(writer);
	for (uint32_t i = 0; i < 8; i++)
		CU_ASSERT(pxt_logfmt_put_type(&writer->block, i + 1, system_names[i], ""));
	CU_ASSERT(pxt_logfmt_put_type(&writer->block, 31, "posix_trace_unnamed_userevent", ""));
	CU_ASSERT(pxt_logfmt_put_type(&writer->block, 32, "job_start", ""));
	CU_ASSERT(pxt_logfmt_put_type(&writer->block, 33, "blob", ""));
	finish(writer, PXT_LOG_TYPES);
	thread.index = 1;
	memcpy(thread.name, "worker", 7);
	CU_ASSERT(pxt_logfmt_put_thread(&writer->block, &thread));
	thread = (struct pxt_log_thread){ .thread = 99, .pid = 4711, .index = 2 };
	memcpy(thread.name, "fifteen-letters", 16);
	CU_ASSERT(pxt_logfmt_put_thread(&writer->block, &thread));
	finish(writer, PXT_LOG_THREADS);
	CU_ASSERT(pxt_logfmt_put_head(&writer->block, &writer->header));
	finish(writer, PXT_LOG_HEAD);
	CU_ASSERT(pxt_logfmt_put_type(&writer->block, 32, "job_start", "u32 job, i64 late_ns"));
	CU_ASSERT(pxt_logfmt_put_type(&writer->block, 34, "mix",
	    "x16 mask, f32 temp, f64 level, text[4] tag, i8 small, string rest"));
	finish(writer, PXT_LOG_TYPES);
}

static uint64_t context(uint32_t thread, uint64_t address)
{
	return thread | address << 16;
}

static void write_first_data(struct writer *writer)
{
	static const unsigned char counting[] = { 1, 2, 3, 4, 5 };
	unsigned char mix[28] = { 0xef, 0xbe };
	uint32_t set[32] = { 1u << 3, 1u << 8 };
	unsigned char job[12] = { 7 };
	const double level = -0.125;
	const float temp = 1.5f;
	const int64_t late = -5;
	struct pxt_slot slots[3];
	uint64_t dead = 0xdead;
	uint32_t pid = 777;

	CU_ASSERT(put_record(writer, 2, 1000010, set, 128, context(1, 0x400100), 255, false));
	memcpy(job + 4, &late, sizeof(late));
	CU_ASSERT(put_record(writer, 32, 1000100, job, 12, context(1, 0x401234), 2, false));
	CU_ASSERT(
	    put_record(writer, 33, 1000099, counting, 5, context(2, 0xffff80001000), 255, false));
	CU_ASSERT(pxt_logfmt_put_loss(&writer->block, 3));
	memcpy(mix + 2, &temp, sizeof(temp));
	memcpy(mix + 6, &level, sizeof(level));
	memcpy(mix + 14,
	    "ab\0\0\xfd"
	    "free text",
	    14);
	CU_ASSERT(put_record(writer, 34, 1000200, mix, 28, context(1, 0x401300), 0, false));
	/* A thread without place in the table: 12 bytes of data become the extra ones. */
	memcpy(job, &dead, 8);
	memcpy(job + 8, &pid, 4);
	CU_ASSERT(
	    make_record(slots, 31, 1000300, job, 12, context(0xffff, 0x401400), 254, false) == 3);
	slots[0].word[1] = pxt_slot_info(31, 0, false, true, 254);
	CU_ASSERT(pxt_logfmt_put_record(&writer->block, slots, 3));
	CU_ASSERT(pxt_logfmt_put_loss(&writer->block, 2));
	finish(writer, PXT_LOG_DATA);
}

static void write_second_data(struct writer *writer)
{
	struct pxt_log_clock clock = { PXT_LOG_AT_FLUSH,
		{ 3000000, { CREATED + 1, 251000000 }, { 5001, 501000000 }, { 5002, 501000000 } } };
	struct pxt_log_thread thread = {
		.thread = 55, .since = 2000000, .pid = 4711, .tid = 4799, .index = 1, .name = "late"
	};
	unsigned char counting[300];
	uint32_t sets[64] = { 0, 1u << 1 };
	int one = 1;

	for (unsigned i = 0; i < sizeof(counting); i++)
		counting[i] = (unsigned char)i;
	CU_ASSERT(pxt_logfmt_put_clock(&writer->block, &clock));
	finish(writer, PXT_LOG_CLOCKS);
	CU_ASSERT(pxt_logfmt_put_thread(&writer->block, &thread));
	finish(writer, PXT_LOG_THREADS);
	CU_ASSERT(pxt_logfmt_put_loss(&writer->block, 1));
	CU_ASSERT(put_record(writer, 33, 2000001, counting, 20, context(1, 0x401234), 1, true));
	sets[63] = 1u << 31;
	CU_ASSERT(put_record(writer, 6, 2500000, sets, 256, context(1, 0x400200), 255, false));
	CU_ASSERT(put_record(writer, 32, 3000000, counting, 300, context(2, 1), 255, false));
	CU_ASSERT(put_record(writer, 3, 5000001, &one, 4, 0, 255, false));
	finish(writer, PXT_LOG_DATA);
}

PXT_TEST(the_writer_makes_the_golden_log_byte_for_byte)
{
	struct writer *writer = new_writer();
	const uint16_t one = 1;
	struct golden golden;
	unsigned char first;

	memcpy(&first, &one, 1);
	golden_read(&golden, first == 1 ? "set-le64" : "set-be64");
	writer->header.number = 2;
	put_header(writer);
	start(writer);
	write_beginning(writer);
	write_first_data(writer);
	write_second_data(writer);
	CU_ASSERT(pxt_logfmt_put_head(&writer->block, &writer->header));
	finish(writer, PXT_LOG_HEAD);
	put_trailer(writer);
	PXT_EQ(writer->size, golden.size);
	for (size_t at = 0; at < golden.size; at++) {
		if (writer->bytes[at] != golden.bytes[at]) {
			PXT_CHECK(false, "byte %zu is %02x, not %02x", at, writer->bytes[at],
			    golden.bytes[at]);
			break;
		}
	}
	free_writer(writer);
}

/* ---- Room ---- */

PXT_TEST(a_block_takes_what_fits_to_the_last_byte_and_no_more)
{
	struct writer *writer = new_writer();
	struct pxt_slot slots[4];
	uint32_t taken = 0;

	put_header(writer);
	start(writer);
	/* 2 slots each into 2048 - 96 bytes: 61 records. */
	while (put_record(writer, 32, 1000000 + taken, "", 0, 0, 0, false))
		taken++;
	PXT_EQ(taken, 61);
	PXT_EQ(writer->block.used, PXT_LOG_BLOCK_BYTES + 61 * 32);
	CU_ASSERT(!pxt_logfmt_put_loss(&writer->block, 1));
	PXT_EQ(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_DATA), 2048);
	finish(writer, PXT_LOG_DATA);
	PXT_EQ(writer->stream.records, 61);
	/* An odd number of slots is left: a loss slot fills it. */
	pxt_logfmt_start(&writer->block, writer->staging, 96 + 16 * 5 + 15);
	CU_ASSERT(make_record(slots, 32, 5, "", 0, 0, 0, false) == 2);
	CU_ASSERT(pxt_logfmt_put_record(&writer->block, slots, 2));
	CU_ASSERT(pxt_logfmt_put_record(&writer->block, slots, 2));
	CU_ASSERT(!pxt_logfmt_put_record(&writer->block, slots, 2));
	CU_ASSERT(pxt_logfmt_put_loss(&writer->block, 1));
	CU_ASSERT(!pxt_logfmt_put_loss(&writer->block, 1));
	PXT_EQ(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_DATA), 96 + 16 * 5);
	free_writer(writer);
}

static void expect_word(const unsigned char *at, uint32_t want)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	PXT_EQ(word, want);
}

static void expect_long(const unsigned char *at, uint64_t want)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	PXT_EQ(word, want);
}

/* FORMAT.md, TRAILER: offsets by hand, as the reader shares its constants with the writer. */
PXT_TEST(what_a_signal_left_stands_where_the_format_says)
{
	struct writer *writer = new_writer();
	const struct pxt_log_trailer trailer = { .log_lost = 1,
		.crash = { .signal = 0x01020304,
		    .code = 0x11121314,
		    .address = 0x2122232425262728u,
		    .at = 0x3132333435363738u,
		    .sender = 0x41424344,
		    .tid = 0x51525354 } };
	const unsigned char *entry = writer->staging + 96;

	pxt_logfmt_start(&writer->block, writer->staging, PXT_LOG_STAGING_MIN);
	CU_ASSERT_FATAL(pxt_logfmt_put_trailer(&writer->block, &trailer));
	expect_word(entry + 304, 0x01020304);
	expect_word(entry + 308, 0x11121314);
	expect_long(entry + 312, 0x2122232425262728u);
	expect_long(entry + 320, 0x3132333435363738u);
	expect_word(entry + 328, 0x41424344);
	expect_word(entry + 332, 0x51525354);
	free_writer(writer);
}

static void put_word(unsigned char *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

static void put_long(unsigned char *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

/* FORMAT.md, section 8: every field has another value, at the offset that is said there. */
static void make_attributes(unsigned char at[144])
{
	static const uint32_t words[] = { 2, 4, 1, 0x0d0e0f10, 2, 0x15161718 };

	memset(at, 0, 144);
	for (unsigned i = 0; i < 6; i++)
		put_word(at + (size_t)4 * i, words[i]);
	put_long(at + 24, 0x191a1b1c1d1e1f20u);
	put_long(at + 32, PXT_DATA_MAX);
	put_long(at + 40, 0x292a2b2c2d2e2f30u);
	put_long(at + 48, 0x132333435u);
	put_long(at + 56, 0x13a3b3c3du);
	put_word(at + 64, 999999999);
	put_word(at + 68, 123456789);
	put_word(at + 72, 4096);
	put_word(at + 76, 0x4d4e4f50);
	memcpy(at + 80, "a name of thirty-one characters", 31);
	memcpy(at + 112, "a version of thirty-one letters", 31);
}

PXT_TEST(attributes_are_read_where_the_format_says)
{
	unsigned char at[144];
	struct _pxt_attr attr;

	make_attributes(at);
	CU_ASSERT(pxt_logfmt_get_attr(at, false, &attr) == NULL);
	PXT_EQ(attr._pxt_stream_policy, 2);
	PXT_EQ(attr._pxt_log_policy, 4);
	PXT_EQ(attr._pxt_inherit, 1);
	PXT_EQ(attr._pxt_lanes, 0x0d0e0f10);
	PXT_EQ(attr._pxt_flags, 2);
	PXT_EQ(attr._pxt_flush_priority, 0x15161718);
	CU_ASSERT(attr._pxt_stream_size == 0x191a1b1c1d1e1f20u);
	PXT_EQ(attr._pxt_max_data, PXT_DATA_MAX);
	CU_ASSERT(attr._pxt_log_size == 0x292a2b2c2d2e2f30u);
	PXT_EQ(attr._pxt_create_sec, 0x132333435);
	PXT_EQ(attr._pxt_clockres_sec, 0x13a3b3c3d);
	PXT_EQ(attr._pxt_create_nsec, 999999999);
	PXT_EQ(attr._pxt_clockres_nsec, 123456789);
	PXT_EQ(attr._pxt_system_slots, 4096);
	PXT_EQ(attr._pxt_ctx_bytes, 0x4d4e4f50);
	CU_ASSERT_STRING_EQUAL(attr._pxt_name, "a name of thirty-one characters");
	CU_ASSERT_STRING_EQUAL(attr._pxt_genversion, "a version of thirty-one letters");
}

PXT_TEST(attributes_one_beyond_their_bounds_are_refused)
{
	static const struct {
		unsigned at;
		uint32_t good;
		uint32_t bad;
	} bounds[] = {
		{ 0, 1, 0 },
		{ 0, 3, 4 },
		{ 4, 1, 0 },
		{ 4, 2, 3 },
		{ 4, 4, 5 },
		{ 8, 1, 0 },
		{ 8, 2, 3 },
		{ 32, PXT_DATA_MAX, PXT_DATA_MAX + 1 },
		{ 64, 999999999, 1000000000 },
		{ 68, 999999999, 1000000000 },
		{ 72, 4096, 4097 },
	};
	unsigned char at[144];
	struct _pxt_attr attr;

	for (unsigned i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		make_attributes(at);
		if (bounds[i].at == 32)
			put_long(at + 32, bounds[i].good);
		else
			put_word(at + bounds[i].at, bounds[i].good);
		PXT_CHECK(pxt_logfmt_get_attr(at, false, &attr) == NULL, "offset %u: %u",
		    bounds[i].at, (unsigned)bounds[i].good);
		if (bounds[i].at == 32)
			put_long(at + 32, bounds[i].bad);
		else
			put_word(at + bounds[i].at, bounds[i].bad);
		PXT_CHECK(pxt_logfmt_get_attr(at, false, &attr) != NULL, "offset %u: %u",
		    bounds[i].at, (unsigned)bounds[i].bad);
	}
	for (unsigned end = 111; end <= 143; end += 32) {
		make_attributes(at);
		at[end] = 'x';
		CU_ASSERT(pxt_logfmt_get_attr(at, false, &attr) != NULL);
	}
}

/* The caller writes the block out and tries again: an entry that was not put must be told. */
PXT_TEST(an_entry_that_has_no_room_is_refused_and_leaves_the_block_as_it_is)
{
	struct writer *writer = new_writer();
	const struct pxt_log_process process = { .pid = 1 };
	const struct pxt_log_module module = { .base = 1 };
	const struct pxt_log_trailer trailer = { .log_lost = 1 };
	const struct pxt_log_clock clock = { .moment = PXT_LOG_AT_CREATE };
	const struct pxt_log_thread thread = { .index = 1 };

	for (unsigned kind = 0; kind < 8; kind++) {
		unsigned room = 0;
		bool put = false;

		for (room = 96; !put && room <= PXT_LOG_STAGING_MIN; room++) {
			memset(writer->staging, 0xee, PXT_LOG_STAGING_MIN + 1);
			pxt_logfmt_start(&writer->block, writer->staging, room);
			put = kind == 0   ? pxt_logfmt_put_process(&writer->block, &process)
			      : kind == 1 ? pxt_logfmt_put_module(&writer->block, &module)
			      : kind == 2 ? pxt_logfmt_put_trailer(&writer->block, &trailer)
			      : kind == 3 ? pxt_logfmt_put_type(&writer->block, 1023, "n", "f")
			      : kind == 4 ? pxt_logfmt_put_thread(&writer->block, &thread)
			      : kind == 5 ? pxt_logfmt_put_clock(&writer->block, &clock)
			      : kind == 6 ? pxt_logfmt_put_clear(&writer->block, 5, 6)
			                  : pxt_logfmt_put_note(&writer->block, "n", "t");
			PXT_CHECK(writer->staging[room] == 0xee, "kind %u in %u bytes", kind, room);
			PXT_CHECK((writer->block.count == 1) == put,
			    "kind %u in %u bytes: %u entries", kind, room,
			    (unsigned)writer->block.count);
		}
		CU_ASSERT(put);
		/* The first length that was enough is what is taken, to the last byte. */
		PXT_EQ(writer->block.used, room - 1);
	}
	free_writer(writer);
}

PXT_TEST(the_smallest_staging_buffer_takes_one_of_each_entry)
{
	struct writer *writer = new_writer();
	struct pxt_log_process process = { .pid = 1 };
	struct pxt_log_module module = { .base = 1 };
	struct pxt_log_trailer trailer = { .log_lost = 1 };
	struct pxt_log_clock clock = { .moment = PXT_LOG_AT_CREATE };
	char name[TRACE_EVENT_NAME_MAX + 1];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned fits = 0;
	unsigned entries = 0;

	memset(process.system, 's', sizeof(process.system) - 1);
	memset(process.executable, 'e', sizeof(process.executable) - 1);
	memset(module.path, 'p', sizeof(module.path) - 1);
	memset(name, 'n', sizeof(name));
	memset(format, 'f', sizeof(format));
	name[sizeof(name) - 1] = '\0';
	format[sizeof(format) - 1] = '\0';
	for (unsigned kind = 0; kind < 6; kind++) {
		pxt_logfmt_start(&writer->block, writer->staging, PXT_LOG_STAGING_MIN);
		fits += kind == 0   ? pxt_logfmt_put_process(&writer->block, &process)
		        : kind == 1 ? pxt_logfmt_put_module(&writer->block, &module)
		        : kind == 2 ? pxt_logfmt_put_trailer(&writer->block, &trailer)
		        : kind == 3 ? pxt_logfmt_put_type(&writer->block, 1023, name, format)
		        : kind == 4 ? pxt_logfmt_put_clear(&writer->block, 5, 6)
		                    : pxt_logfmt_put_note(&writer->block, name, format);
		CU_ASSERT(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_TYPES) <=
		          PXT_LOG_STAGING_MIN);
	}
	PXT_EQ(fits, 6);
	pxt_logfmt_start(&writer->block, writer->staging, PXT_LOG_STAGING_MIN);
	while (pxt_logfmt_put_clock(&writer->block, &clock))
		entries++;
	PXT_EQ(entries, (512 - 96) / 64);
	PXT_EQ(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_CLOCKS), 480);
	free_writer(writer);
}

/* An entry of a type with texts of these lengths; why it is refused, or NULL. */
static const char *get_type(unsigned name, unsigned format, struct pxt_log_typename *type)
{
	unsigned char entry[PXT_LOG_TYPE_BYTES + 1024] = { 0 };
	const uint16_t head[4] = { sizeof(entry), 40, (uint16_t)name, (uint16_t)format };

	memcpy(entry, head, sizeof(head));
	memset(entry + PXT_LOG_TYPE_BYTES, 'n', name);
	memset(entry + PXT_LOG_TYPE_BYTES + name, 'f', format);
	return pxt_logfmt_get_type(entry, false, type);
}

PXT_TEST(the_texts_of_a_type_are_as_long_as_their_room_and_no_longer)
{
	struct pxt_log_typename type;
	const unsigned name = sizeof(type.name) - 1;
	const unsigned format = sizeof(type.format) - 1;

	CU_ASSERT(get_type(name, format, &type) == NULL);
	PXT_EQ(type.id, 40);
	PXT_EQ(strlen(type.name), name);
	PXT_EQ(strlen(type.format), format);
	CU_ASSERT(get_type(name + 1, format, &type) != NULL);
	CU_ASSERT(get_type(name, format + 1, &type) != NULL);
}

/* A block that could not be written leaves no gap, and one written again counts once. */
PXT_TEST(a_block_counts_only_when_it_was_written)
{
	struct writer *writer = new_writer();

	start(writer);
	CU_ASSERT(put_record(writer, 32, 1000000, "", 0, 0, 0, false));
	CU_ASSERT(pxt_logfmt_put_loss(&writer->block, 5));
	PXT_EQ(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_DATA), 96 + 48);
	CU_ASSERT(put_record(writer, 32, 1000001, "", 0, 0, 0, false));
	PXT_EQ(pxt_logfmt_finish(&writer->block, &writer->stream, PXT_LOG_DATA), 96 + 80);
	PXT_EQ(writer->stream.data_sequence, 0);
	PXT_EQ(writer->stream.records, 0);
	PXT_EQ(writer->stream.lost, 0);
	pxt_logfmt_written(&writer->block, &writer->stream, PXT_LOG_DATA);
	PXT_EQ(writer->stream.data_sequence, 1);
	PXT_EQ(writer->stream.meta_sequence, 0);
	PXT_EQ(writer->stream.records, 2);
	PXT_EQ(writer->stream.lost, 5);
	free_writer(writer);
}

/* ---- There and back ---- */

static uint64_t state;

static uint32_t random32(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

struct record {
	uint32_t id;
	uint32_t bytes;
	uint32_t cpu;
	uint64_t ticks;
	uint64_t lost;
	unsigned char first;
};

#define RECORDS 20000u

static void make_random(struct record *record, uint64_t ticks)
{
	record->id = 32 + random32() % 992;
	record->bytes = random32() % 8 ? random32() % 32 : random32() % 1000;
	record->cpu = random32() % 256;
	record->ticks = ticks;
	record->lost = random32() % 16 ? 0 : random32();
	record->first = (unsigned char)random32();
}

static bool put_random(struct writer *writer, const struct record *record)
{
	unsigned char data[1000];

	for (uint32_t i = 0; i < record->bytes; i++)
		data[i] = (unsigned char)(record->first + i);
	return put_record(writer, record->id, record->ticks, data, record->bytes,
	    context(0, record->ticks), record->cpu, record->bytes % 2);
}

/* About 1.5 MB: several windows of the reader. */
static struct record *write_random(struct writer *writer)
{
	struct record *records = calloc(RECORDS, sizeof(*records));

	CU_ASSERT_FATAL(records != NULL);
	state = 7;
	put_header(writer);
	start(writer);
	for (uint32_t i = 0; i < RECORDS; i++) {
		make_random(&records[i], 1000000 + (uint64_t)i * 3);
		if (records[i].lost && !pxt_logfmt_put_loss(&writer->block, records[i].lost)) {
			finish(writer, PXT_LOG_DATA);
			CU_ASSERT(pxt_logfmt_put_loss(&writer->block, records[i].lost));
		}
		if (!put_random(writer, &records[i])) {
			finish(writer, PXT_LOG_DATA);
			CU_ASSERT(put_random(writer, &records[i]));
		}
	}
	finish(writer, PXT_LOG_DATA);
	put_trailer(writer);
	return records;
}

static unsigned differences(const struct record *record, const struct posix_trace_event_info *event,
    const unsigned char *data, size_t len)
{
	unsigned wrong = 0;

	wrong += event->posix_event_id != record->id;
	wrong += len != record->bytes;
	wrong += event->_pxt_ticks != record->ticks;
	wrong += event->_pxt_lost_before != record->lost;
	wrong +=
	    (event->posix_truncation_status == POSIX_TRACE_TRUNCATED_RECORD) != record->bytes % 2;
	wrong += event->_pxt_cpu != (record->cpu == 255 ? -1 : (int)record->cpu);
	wrong += (uintptr_t)event->posix_prog_address != (uintptr_t)record->ticks;
	for (size_t i = 0; i < len; i++)
		wrong += data[i] != (unsigned char)(record->first + i);
	return wrong;
}

PXT_TEST(random_records_come_back_whole_in_order_with_their_losses)
{
	struct writer *writer = new_writer();
	struct record *records = write_random(writer);
	trace_id_t trid = open_written(writer);
	struct posix_trace_event_info event;
	unsigned char data[1000];
	unsigned wrong = 0;
	int unavailable;
	size_t len;

	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < RECORDS; i++) {
			CU_ASSERT_FATAL(posix_trace_getnext_event(trid, &event, data, sizeof(data),
			                    &len, &unavailable) == 0);
			CU_ASSERT_FATAL(unavailable == 0);
			wrong += differences(&records[i], &event, data, len);
		}
		CU_ASSERT(posix_trace_getnext_event(
		              trid, &event, data, sizeof(data), &len, &unavailable) == 0);
		CU_ASSERT(unavailable != 0);
		CU_ASSERT(posix_trace_rewind(trid) == 0);
	}
	PXT_EQ(wrong, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	free(records);
	free_writer(writer);
}

/* ERR-02: what was a good log when it was opened is looked at again where it is used. */
PXT_TEST(a_log_that_is_spoilt_while_it_is_read_gives_an_error_and_no_more)
{
	struct writer *writer = new_writer();
	struct record *records = write_random(writer);
	struct posix_trace_event_info event;
	unsigned char data[64];
	unsigned errors = 0;
	trace_id_t trid;
	int unavailable;
	int result;
	size_t len;
	int fd;

	for (size_t at = 300000; at < 1000000; at += 70001) {
		fd = golden_file(writer->bytes, writer->size);
		CU_ASSERT_FATAL(posix_trace_open(fd, &trid) == 0);
		if (at % 2)
			result = ftruncate(fd, (off_t)at);
		else
			result = pwrite(fd, writer->bytes, 100000, (off_t)at) != 100000;
		CU_ASSERT(result == 0);
		for (uint32_t events = 0; events <= RECORDS; events++) {
			result = posix_trace_getnext_event(
			    trid, &event, data, sizeof(data), &len, &unavailable);
			CU_ASSERT_FATAL(result == 0 || result == EIO);
			CU_ASSERT_FATAL(result == 0 || unavailable != 0);
			errors += result == EIO;
			if (unavailable)
				break;
		}
		CU_ASSERT(posix_trace_close(trid) == 0);
		CU_ASSERT(close(fd) == 0);
	}
	CU_ASSERT(errors != 0);
	free(records);
	free_writer(writer);
}

/* ---- Time ---- */

/* Every piece of a payload, and no byte beyond it. */
PXT_TEST(a_payload_is_copied_to_its_last_byte_and_no_further)
{
	enum {
		MOST = 40
	};
	unsigned char record[16 * 6];
	unsigned char whole[MOST];
	unsigned char out[MOST + 8];

	for (unsigned i = 0; i < sizeof(record); i++)
		record[i] = (unsigned char)(i * 7u + 1u);
	for (unsigned i = 0; i < MOST; i++)
		whole[i] = record[16 + i / 12 * 16 + 4 + i % 12];
	for (uint32_t from = 0; from < MOST; from++) {
		for (uint32_t bytes = 1; from + bytes <= MOST; bytes++) {
			memset(out, 0xee, sizeof(out));
			pxt_logfmt_get_payload(record, from, out, bytes);
			PXT_CHECK(memcmp(out, whole + from, bytes) == 0, "%u bytes from %u",
			    (unsigned)bytes, (unsigned)from);
			for (size_t i = bytes; i < sizeof(out); i++)
				PXT_CHECK(out[i] == 0xee, "byte %u after %u from %u", (unsigned)i,
				    (unsigned)bytes, (unsigned)from);
		}
	}
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;

static struct pxt_clock_set reading(uint64_t ticks, uint64_t ns)
{
	struct pxt_clock_set set = { .ticks = ticks };

	ns += 5000500000000u;
	set.monotonic.tv_sec = (time_t)(ns / 1000000000);
	set.monotonic.tv_nsec = (long)(ns % 1000000000);
	return set;
}

/* FORMAT.md section 7, in arithmetic that nobody needs to trust a proof for. */
static wide expected_ns(const uint64_t (*pairs)[2], unsigned count, uint64_t ticks, uint64_t hz)
{
	unsigned i;

	for (i = 0; i + 1 < count && ticks >= pairs[i + 1][0]; i++)
		;
	if (i + 1 == count)
		return pairs[i][1] + (wide)(ticks - pairs[i][0]) * 1000000000 / hz;
	return pairs[i][1] + (wide)(ticks - pairs[i][0]) * (pairs[i + 1][1] - pairs[i][1]) /
	                         (pairs[i + 1][0] - pairs[i][0]);
}

#define PAIRS 5u

/* With one reading more, by which time went back, if @back. */
static void check_times(const uint64_t (*pairs)[2], uint64_t hz, bool back, unsigned *wrong)
{
	struct pxt_log_clock earlier = { PXT_LOG_AT_FLUSH, reading(pairs[2][0] + 1, pairs[1][1]) };
	struct writer *writer = new_writer();
	struct posix_trace_event_info event;
	uint64_t ticks = pairs[0][0];
	uint64_t step;
	trace_id_t trid;
	int unavailable;
	size_t len;

	writer->header.rate.hz = hz;
	writer->header.created = reading(pairs[0][0], pairs[0][1]);
	writer->header.created.realtime.tv_sec = CREATED;
	put_header(writer);
	start(writer);
	for (unsigned i = 1; i < PAIRS; i++) {
		struct pxt_log_clock clock = { PXT_LOG_AT_FLUSH,
			reading(pairs[i][0], pairs[i][1]) };

		CU_ASSERT(pxt_logfmt_put_clock(&writer->block, &clock));
		if (back && i == 2)
			CU_ASSERT(pxt_logfmt_put_clock(&writer->block, &earlier));
	}
	finish(writer, PXT_LOG_CLOCKS);
	step = (pairs[PAIRS - 1][0] - ticks) / 500 + 1;
	for (unsigned i = 0; i < 600; i++) {
		if (!put_record(writer, 32, ticks, "", 0, 0, 0, false)) {
			finish(writer, PXT_LOG_DATA);
			CU_ASSERT(put_record(writer, 32, ticks, "", 0, 0, 0, false));
		}
		ticks += 1 + random32() % step * 2;
	}
	finish(writer, PXT_LOG_DATA);
	/* Without a trailer, whose reading would be one more. */
	trid = 0;
	{
		int fd = golden_file(writer->bytes, writer->size);

		CU_ASSERT_FATAL(posix_trace_log_open_np(
		                    &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) == 0);
		CU_ASSERT(close(fd) == 0);
	}
	for (unsigned i = 0; i < 600; i++) {
		wide got;

		CU_ASSERT_FATAL(
		    posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable) == 0);
		CU_ASSERT_FATAL(unavailable == 0);
		got = (wide)(event.posix_timestamp.tv_sec - CREATED) * 1000000000 +
		      event.posix_timestamp.tv_nsec;
		*wrong += got != expected_ns(pairs, PAIRS, event._pxt_ticks, hz);
	}
	CU_ASSERT(posix_trace_close(trid) == 0);
	free_writer(writer);
}

static void check_drawn_times(bool back)
{
	static const uint64_t rates[] = { 1, 1000, 32768, 999999937, 1000000000, 2596992000,
		UINT64_C(1) << 40 };
	uint64_t pairs[PAIRS][2];
	unsigned wrong = 0;

	state = 99;
	for (unsigned round = 0; round < 70; round++) {
		uint64_t hz = rates[round % 7];

		pairs[0][0] = (uint64_t)random32() << round % 20;
		pairs[0][1] = 0;
		for (unsigned i = 1; i < PAIRS; i++) {
			/* Up to days apart, the rate up to some percent off. */
			uint64_t seconds = 1 + random32() % (round < 35 ? 3 : 300000);

			pairs[i][0] = pairs[i - 1][0] + seconds * hz + random32() % (hz / 16 + 1);
			pairs[i][1] =
			    pairs[i - 1][1] + seconds * 1000000000 + random32() % 50000000;
		}
		check_times((const uint64_t(*)[2])pairs, hz, back, &wrong);
	}
	PXT_EQ(wrong, 0);
}

/* TIM-06, INF-06, INF-07, DEC-18 */
PXT_TEST(stamps_between_readings_equal_128_bit_arithmetic)
{
	check_drawn_times(false);
}

PXT_TEST(a_reading_by_which_time_went_back_counts_for_nothing)
{
	check_drawn_times(true);
}

#endif
