/* SPDX-License-Identifier: MIT */
/* fuzz_files.c - what the tool reads in small: files, lines and words that are no logs. */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "format/frame.h"
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/import/import.h"
#include "tools/line/frame.h"
#include "tools/merge/merge.h"
#include "tools/output/out.h"
#include "tools/packed/packed.h"
#include "tools/select/select.h"
#include "tools/symbols/images.h"
#include "tools/symbols/symbols.h"
#include "tools/write/logwrite.h"

#include <sys/stat.h>
#include <trace_hooks_np.h>

/*
 * ---- symbols ----
 *
 * Whatever a binary holds, its build, its sections, its variables and functions are read in bounded memory.
 *
 * The first eight bytes are an address that is asked for; the rest is the binary.
 */

static void fuzz_symbols(const uint8_t *data, size_t size)
{
	struct pxt_objects *objects;
	unsigned char id[PXT_BUILDID_MAX];
	const char *path;
	uint64_t address;
	int fd;

	if (size < sizeof address)
		return;
	memcpy(&address, data, sizeof address);
	path = input_path(data + sizeof address, size - sizeof address);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pxt_build_id(fd, id) > sizeof id)
		abort();
	(void)pxt_build_sections(fd);
	(void)close(fd);
	objects = pxt_objects_open(path);
	if (objects) {
		char name[32] = "";

		for (unsigned i = 0; i < 64; i++) {
			if (pxt_objects_name(objects, address + 8u * i, name, sizeof name) &&
			    !memchr(name, '\0', sizeof name))
				abort();
			(void)pxt_objects_in_function(objects, address << i);
		}
	}
	pxt_objects_close(objects);
}

/*
 * ---- images ----
 *
 * Whatever events say of images, what is found covers the address that was asked for, at that time or later.
 *
 * Steps of 8 bytes: what happens or is asked, process, address, size, two bytes of the path, time.
 */

#define STEP_BYTES 8u

static void images_happen(struct pxt_images *images, const uint8_t *step, int64_t ns)
{
	static const unsigned char kinds[] = { POSIX_TRACE_PROCESS_IMAGE_NP,
		POSIX_TRACE_PROCESS_IMAGE_NP, POSIX_TRACE_PROCESS_IMAGE_GONE_NP,
		POSIX_TRACE_PROCESS_TRACED_NP };
	unsigned char bytes[32] = { step[0] & 64u ? POSIX_TRACE_PROCESS_IMAGE_BUILD_NP
		                                  : kinds[step[0] & 3u] };
	const struct pxt_event event = { .data = bytes,
		.bytes = step[0] & 4u ? step[6] % sizeof bytes : 25,
		.ns = ns,
		.info = { .posix_event_id = POSIX_TRACE_PROCESS_NP, .posix_pid = step[1] % 5 } };
	uint64_t base = step[0] & 8u ? UINT64_MAX - step[2] : (uint64_t)step[2] << 12;
	uint64_t room = step[0] & 16u ? UINT64_MAX - step[3] : (uint64_t)step[3] << 10;

	bytes[1] = step[0] & 32u ? step[6] : 0;
	memcpy(bytes + 5, &base, sizeof base);
	memcpy(bytes + 13, &room, sizeof room);
	memcpy(bytes + 21, step + 4, 2);
	pxt_images_take(images, &event);
}

static void images_ask(const struct pxt_images *images, const uint8_t *step, int64_t ns)
{
	pid_t pid = step[1] % 5;
	uint64_t address = (uint64_t)step[2] << 12 | (uint64_t)step[3] << 4;
	const struct pxt_image *image = pxt_images_find(images, pid, address, ns);

	if (image && (image->pid != pid || address < image->low || address >= image->high ||
	                 (image->from_ns <= ns && image->to_ns <= ns)))
		abort();
	if (image && (image->file >= images->file_count || !*images->files[image->file].path))
		abort();
	if (image && images->files[image->file].build.bytes > PXT_BUILDID_MAX)
		abort();
	if (image && !pxt_images_knows(images, pid))
		abort();
}

static void fuzz_images(const uint8_t *data, size_t size)
{
	struct pxt_images images = { 0 };
	int64_t ns = 0;

	for (; size >= STEP_BYTES; data += STEP_BYTES, size -= STEP_BYTES) {
		if (data[0] & 128u) {
			images_ask(&images, data, ns - data[7]);
		} else {
			ns += data[7];
			images_happen(&images, data, ns);
		}
	}
	pxt_images_free(&images);
}

/*
 * ---- packed ----
 *
 * Whatever a compressed file holds, what becomes of it is bounded.
 *
 * The first byte says whether it should be a log.
 */

static void fuzz_packed(const uint8_t *data, size_t size)
{
	static int to = -1;
	struct stat st;
	int from;

	if (to < 0)
		to = memfd_create("unpacked", MFD_CLOEXEC);
	if (size < 1 || ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
		return;
	from = open(input_path(data + 1, size - 1), O_RDONLY | O_CLOEXEC);
	if (from < 0)
		abort();
	if (pxt_packed_is(from))
		(void)pxt_packed_unpack(from, to, data[0] & 1u);
	(void)close(from);
	if (fstat(to, &st) || (uint64_t)st.st_size > PXT_PACKED_LEAST + PXT_PACKED_RATIO * size)
		abort();
}

/*
 * ---- import ----
 *
 * Whatever S.Ha.R.K.'s tracer or SystemView is said to have left, the log of it is sound.
 *
 * The first byte says whether the rest is a file, or datagrams with a byte of length each; whose; and the rate.
 */

static void take_packets(struct pxt_shark *shark, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t bytes = *data * 8u < size - 1 ? *data * 8u : size - 1;

		if (pxt_shark_is_packet(data + 1, bytes))
			pxt_shark_packet(shark, data + 1, bytes);
		data += bytes + 1;
		size -= bytes + 1;
	}
	(void)pxt_shark_missing(shark);
}

static void fuzz_import(const uint8_t *data, size_t size)
{
	static char path[64];
	struct pxt_shark shark = { 0 };
	int status = 0;

	if (!*path)
		(void)snprintf(path, sizeof path, "/tmp/fuzz-import-%ld.ptl", (long)getpid());
	if (size < 1)
		return;
	shark.hz = data[0] & 2u ? 1000000u << (data[0] >> 4) : 0;
	if (data[0] & 4u) {
		if (pxt_sysview_import(input_path(data + 1, size - 1), shark.hz, path) == 0)
			check_log(path);
		return;
	}
	if (data[0] & 1u)
		take_packets(&shark, data + 1, size - 1);
	else
		status = pxt_shark_file(&shark, input_path(data + 1, size - 1));
	if (status == 0 && pxt_shark_write(&shark, "import", path) == 0)
		check_log(path);
	pxt_shark_free(&shark);
}

/*
 * ---- ftrace ----
 *
 * Whatever the text of ftrace or trace-cmd says, its events are read to the end, and a log that is made of it is
 * sound.
 *
 * The first byte chooses the clock, or that a log is made; the rest is the text.
 */

#define NS_PER_S INT64_C(1000000000)

static struct pxt_reader reader;
static struct pxt_merge_line line;

/* Of a machine that counts nanoseconds: ten seconds from when it began. */
static void make_log(const char *path)
{
	const struct pxt_loghead head = { .uuid = { 1 },
		.hz = 1000000000,
		.created = {
		    .realtime.tv_sec = 1000, .monotonic.tv_sec = 1, .boottime.tv_sec = 1 } };
	struct pxt_logwrite *log = pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head);
	struct pxt_logclock clock = { .realtime.tv_sec = 1000 };

	pxt_logwrite_type(log, 40, "note", "u32 n");
	for (uint32_t i = 0; i <= 10; i++) {
		const struct pxt_logevent event = { .id = 40,
			.ticks = (uint64_t)(i * NS_PER_S),
			.cpu = -1,
			.data = &i,
			.bytes = sizeof i };

		clock.ticks = event.ticks;
		clock.realtime.tv_sec = 1000 + (time_t)i;
		clock.monotonic.tv_sec = 1 + (time_t)i;
		clock.boottime.tv_sec = 1 + (time_t)i;
		pxt_logwrite_clock(log, &clock);
		pxt_logwrite_event(log, &event);
	}
	if (pxt_logwrite_end(log, NULL))
		abort();
}

static char ftrace_path[64]; /* messages name it */

static void ftrace_begin(void)
{
	char *paths[] = { ftrace_path };
	static const struct pxt_placing placing = { .rule = PXT_CLOCK_AUTO };

	(void)snprintf(ftrace_path, sizeof ftrace_path, "/tmp/fuzz-ftrace-%ld.ptl", (long)getpid());
	make_log(ftrace_path);
	if (pxt_reader_open(&reader, paths, 1, PXT_OPEN_COMPLETE, NULL) != PXT_EXIT_OK ||
	    !pxt_merge_line_make(&line, &reader, &placing))
		abort();
	(void)unlink(ftrace_path);
}

static void fuzz_ftrace(const uint8_t *data, size_t size)
{
	struct pxt_ftrace ftrace;

	if (reader.count == 0)
		ftrace_begin();
	if (size < 1)
		return;
	if (data[0] & 4u) {
		FILE *file = fopen(input_path(data + 1, size - 1), "r");

		if (file && pxt_linux_text(file, "it", data[0] & 8u ? 1000 : 0, ftrace_path) == 0)
			check_log(ftrace_path);
		return;
	}
	if (pxt_ftrace_open(&ftrace, input_path(data + 1, size - 1),
	        (enum pxt_ftrace_clock)(data[0] % (PXT_FTRACE_TSC + 1)), &reader, &line)) {
		for (size_t i = 0; pxt_ftrace_next(&ftrace); i++)
			if (i > size || ftrace.text.event.kind >= PXT_FTRACETEXT_KINDS)
				abort();
	}
	pxt_ftrace_close(&ftrace);
}

/*
 * ---- where ----
 *
 * Whatever a condition (--where) says, it is taken or refused with a place in it, and an event is never chosen
 * by a condition and its contrary.
 */

static const unsigned char where_bytes[] = { 0x01, 0x80, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0xef, 0xbe, 0xad, 0xde, 'o', 'k', 0,
	0, 'a', '\n', 0, 0xc3 };

/* Types with fields of each kind; with their data whole, and cut in several places. */
static struct pxt_layout fields[2][POSIX_TRACE_FIELDS_MAX_NP];
static struct pxt_type types[2] = {
	{ .id = 40, .index = 0, .name = "job_end", .fields = fields[0] },
	{ .id = 72, .index = 1, .name = "other", .fields = fields[1] },
};
static struct pxt_thread thread = { .id = 1, .tid = 7, .recorded = true, .name = "ctl" };

static void where_prepare(void)
{
	types[0].field_count = pxt_fields_of(
	    "u8 job, i8 minus, i64 late_ns, double real, x32 mask, char[4] code, text label",
	    fields[0]);
	types[1].field_count = pxt_fields_of("u64 huge, f32 real, i16 pid", fields[1]);
	if (types[0].field_count != 7 || types[1].field_count != 3)
		abort();
}

static unsigned where_answers(struct pxt_where *where)
{
	static const size_t lengths[] = { sizeof where_bytes, 26, 12, 1, 0 };
	unsigned chosen = 0;

	for (unsigned i = 0; i < 10; i++) {
		struct pxt_event event = { .ns = 1000 * (int64_t)i - 500,
			.type = &types[i & 1],
			.thread = &thread,
			.data = where_bytes,
			.bytes = lengths[i / 2] };

		event.info.posix_pid = 4711;
		event.extra.posix_cpu_np = (int)i - 1;
		event.extra.posix_lost_before_np = i;
		chosen |= (unsigned)pxt_where_true(where, &event, 0) << i;
	}
	return chosen;
}

static struct pxt_where *where_parse(const char *text)
{
	struct pxt_text_error error = { 0 };
	struct pxt_where *where = pxt_where_parse(text, &error);

	if (!where && (error.at > strlen(text) || error.reason[0] == '\0'))
		abort();
	return where;
}

static void where_check(const char *text)
{
	char contrary[PXT_WHERE_BYTES + 32] = "not (";
	struct pxt_where *where = where_parse(text);

	if (!where)
		return;
	unsigned chosen = where_answers(where);
	if (where_answers(where) != chosen)
		abort();
	for (unsigned i = 0; pxt_where_field(where, i); i++)
		if (i > 2 * PXT_WHERE_TESTS)
			abort();
	pxt_where_free(where);
	strcat(contrary, text);
	strcat(contrary, ")");
	/* It may be too deep or too long now. */
	where = where_parse(contrary);
	if (where && (where_answers(where) & chosen) != 0)
		abort();
	pxt_where_free(where);
}

static void fuzz_where(const uint8_t *data, size_t size)
{
	char text[PXT_WHERE_BYTES + 64];

	if (types[0].field_count == 0)
		where_prepare();
	if (size >= sizeof text)
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	if (strlen(text) <= PXT_WHERE_BYTES)
		where_check(text);
	else if (where_parse(text))
		abort();
}

/*
 * ---- link ----
 *
 * Whatever a target's line brings, no answer is taken but the one to the order, and the first one it is.
 *
 * The first byte says whether the line is a console's, and in what pieces the bytes come; the rest is the line.
 * With FRAMES it is frames without COBS and checksum, each after its length, as in fuzz_line.c.
 */

#define CONSOLE 1u
#define FRAMES  2u

static const unsigned char order[PXT_ORDER_BYTES] = { 1, 2, PXT_ORDER_STAT };

static void link_give(struct pxt_linkanswer *link, const uint8_t *bytes, size_t count, size_t piece)
{
	for (size_t at = 0; at < count; at += piece) {
		struct pxt_linkanswer before = *link;

		pxt_linkanswer_bytes(link, bytes + at, count - at < piece ? count - at : piece);
		if (link->answered &&
		    (link->answer.number != 0x0201 || link->answer.what != PXT_ORDER_STAT))
			abort();
		if (before.answered && (!link->answered || memcmp(&link->answer, &before.answer,
		                                               sizeof before.answer) != 0))
			abort();
	}
}

static void link_frames(struct pxt_linkanswer *link, const uint8_t *data, size_t size, size_t piece)
{
	uint32_t seed = 0;

	while (size >= 2) {
		unsigned char frame[512 + PXT_FRAME_CRC_BYTES];
		unsigned char stuffed[1 + PXT_FRAME_ROOM(sizeof frame)] = { PXT_FRAME_DELIMITER };
		size_t count = data[0] | (size_t)data[1] << 8;
		uint32_t sum;

		data += 2;
		size -= 2;
		count = count < size ? count : size;
		count = count < 512 ? count : 512;
		memcpy(frame, data, count);
		data += count;
		size -= count;
		sum = pxt_crc32(
		    count >= 2 && frame[1] >> 6 == PXT_FRAME_HEAD ? 0 : seed, frame, count);
		for (unsigned i = 0; i < PXT_FRAME_CRC_BYTES; i++)
			frame[count + i] = (unsigned char)(sum >> 8 * i);
		if (count >= PXT_FRAME_START_BYTES + PXT_FRAME_HEAD_BYTES &&
		    frame[1] >> 6 == PXT_FRAME_HEAD)
			seed = pxt_crc32(0, frame + PXT_FRAME_START_BYTES + PXT_FRAME_UUID_AT, 16);
		link_give(link, stuffed,
		    1 + pxt_linkframe_stuff(frame, count + PXT_FRAME_CRC_BYTES, stuffed + 1),
		    piece);
	}
}

static void fuzz_link(const uint8_t *data, size_t size)
{
	static struct pxt_linkanswer link;
	size_t piece;

	if (size < 1)
		return;
	memset(&link, 0, sizeof link);
	pxt_linkanswer_begin(&link, order);
	link.console = (data[0] & CONSOLE) != 0;
	piece = 1u + data[0] / 4u * 16u;
	if (data[0] & FRAMES)
		link_frames(&link, data + 1, size - 1, piece);
	else
		link_give(&link, data + 1, size - 1, piece);
}

static const struct fuzz_target targets[] = {
	{ "ftrace", fuzz_ftrace },
	{ "images", fuzz_images },
	{ "import", fuzz_import },
	{ "link", fuzz_link },
	{ "packed", fuzz_packed },
	{ "symbols", fuzz_symbols },
	{ "where", fuzz_where },
	{ NULL, NULL },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return run_target(targets, data, size);
}
