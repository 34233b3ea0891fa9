/* SPDX-License-Identifier: MIT */
/*
 * line.c - a stream's log as frames over a line (FORMAT.md, section 10); see tiny.h.
 *
 * A frame is made when the one before it has gone out; it stays until it has, whatever the device does meanwhile.
 * What a receiver must know is said again every second: the head, the types, the tasks.
 *
 *   concurrency: flush and shutdown one after the other, by a mutex; trace points at any time.
 */
#include "base/attr.h"
#include "core/process/names.h"
#include "format/crc32.h"
#include "format/frame.h"
#include "format/logfmt.h"
#include "format/mul64.h"
#include "port/port_log.h"
#include "port/port_sysinfo.h"
#include "tiny/tiny.h"

#define CONTENTS_BYTES PXT_FRAME_HEAD_BYTES
#define ENTRY_BYTES    304u /* the longest one, a TRAILER */
#define RECORD_SLOTS                                                                               \
	(1u + (PXT_LOG_CTX_BYTES + CONFIG_PTRACE_MAX_DATA_SIZE + PXT_SLOT_BYTES - 1u) /            \
	          PXT_SLOT_BYTES)

_Static_assert(
    PXT_COMPACT_MOST + CONFIG_PTRACE_MAX_DATA_SIZE <= CONTENTS_BYTES, "a frame takes a record");

static struct line {
	struct pxt_port_log out;
	struct pxt_log_header header;
	uint32_t seed;
	uint32_t known;   /* of types, when they were told */
	uint32_t cleared; /* so often, when that was told */
	uint64_t cleared_at;
	uint64_t frames;  /* made so far */
	uint64_t records; /* in them */
	uint64_t lost;    /* told in them */
	uint64_t repeated;
	struct pxt_frame making;    /* the next one, not on the caller's stack */
	struct pxt_log_block block; /* of the entries below */
	uint32_t sent;              /* of the frame that is on its way */
	uint32_t length;
	unsigned char frame[PXT_FRAME_ROOM(CONTENTS_BYTES)];
	/* What the next frame is made of. */
	union {
		struct pxt_slot entries[ENTRY_BYTES / PXT_SLOT_BYTES];
		struct {
			struct pxt_slot record[RECORD_SLOTS];
			struct pxt_compact compact;
		};
		struct {
			unsigned char entry[PXT_LOG_CLOCK_BYTES];
			struct pxt_log_clock reading;
		};
	};
} line;
static struct pxt_port_mutex mutex;

/* ---- Frames ---- */

/* A device that says "not now" is asked again for a second, while it takes nothing. */
static int send(void)
{
	uint64_t since = pxt_port_ticks();

	while (line.sent < line.length) {
		size_t done;
		int error = pxt_port_log_write(
		    &line.out, line.frame + line.sent, line.length - line.sent, &done);

		line.sent += (uint32_t)done;
		if (done)
			since = pxt_port_ticks();
		if (error && (error != EAGAIN || pxt_port_ticks() - since > line.header.rate.hz))
			return error;
		if (error)
			pxt_board_idle();
	}
	return 0;
}

static void begin(enum pxt_frame_kind kind)
{
	const struct pxt_frame_start start = { .kind = kind,
		.seed = kind == PXT_FRAME_HEAD ? 0 : line.seed,
		.frames = line.frames,
		.records = line.records };

	pxt_frame_begin(&line.making, line.frame, &start, false, kind == PXT_FRAME_HEAD);
}

static void add(const void *contents, uint32_t bytes)
{
	pxt_frame_add(&line.making, contents, bytes);
}

static int end(void)
{
	line.frames++;
	line.length = pxt_frame_end(&line.making);
	line.sent = 0;
	return send();
}

/* ---- What a receiver must know ---- */

static struct pxt_log_block *no_entries(void)
{
	line.block =
	    (struct pxt_log_block){ .bytes = (unsigned char *)line.entries, .room = ENTRY_BYTES };
	return &line.block;
}

/* Each of them has its own stack. */
PXT_NOINLINE static int tell_head(void)
{
	const uint64_t counts[] = { line.frames, line.records, line.lost };

	line.repeated = pxt_port_ticks();
	line.known = 0;
	pxt_tiny_who_forget();
	begin(PXT_FRAME_HEAD);
	(void)pxt_logfmt_put_head(no_entries(), &line.header);
	add(line.block.bytes + PXT_LOG_HEAD_BYTES - PXT_FRAME_FILE_HEAD, PXT_FRAME_FILE_HEAD);
	line.reading.moment = PXT_LOG_AT_FLUSH;
	pxt_port_clock_read(&line.reading.clock);
	(void)pxt_logfmt_put_clock(no_entries(), &line.reading);
	add(line.block.bytes, PXT_LOG_CLOCK_BYTES);
	add(counts, sizeof(counts));
	return end();
}

static int tell_entries(enum pxt_log_type type)
{
	const uint16_t start[] = { (uint16_t)type, (uint16_t)line.block.count };

	if (!line.block.count)
		return 0;
	begin(PXT_FRAME_META);
	add(start, sizeof(start));
	add(line.block.bytes, line.block.used);
	(void)no_entries();
	return end();
}

/* Bound: the types of the process. */
PXT_NOINLINE static int tell_types(void)
{
	const uint32_t known = pxt_tiny_known();
	const uint32_t last = PXT_ID_UNNAMED + pxt_names_count();
	struct pxt_log_block *block = no_entries();
	int error = 0;

	if (line.known == known)
		return 0;
	for (uint32_t id = PXT_TINY_FIRST; id <= last && !error; id++) {
		const char *name = pxt_names_of(id);

		if (!name || !pxt_names_tells(id) ||
		    pxt_logfmt_put_type(block, id, name, pxt_names_format(id)))
			continue;
		error = tell_entries(PXT_LOG_TYPES);
		(void)pxt_logfmt_put_type(block, id, name, pxt_names_format(id));
	}
	if (!error)
		error = tell_entries(PXT_LOG_TYPES);
	if (!error)
		line.known = known;
	return error;
}

/* False: no room. */
PXT_NOINLINE static bool put_who(const struct pxt_tiny_who *who)
{
	const char *name = who->name;
	struct pxt_log_thread thread = { .thread = who->number,
		.pid = pxt_port_pid(),
		.tid = (int32_t)who->number,
		.index = (uint16_t)who->number };

	for (uint32_t i = 0; name && name[i] && i + 1u < sizeof(thread.name); i++)
		thread.name[i] = name[i];
	return pxt_logfmt_put_thread(&line.block, &thread);
}

/* Bound: the tasks and the interrupts that there were. */
PXT_NOINLINE static int tell_tasks(void)
{
	struct pxt_tiny_who who;
	int error = 0;

	(void)no_entries();
	while (!error && pxt_tiny_who_next(&who)) {
		if (put_who(&who))
			continue;
		error = tell_entries(PXT_LOG_THREADS);
		(void)put_who(&who);
	}
	return error ? error : tell_entries(PXT_LOG_THREADS);
}

PXT_NOINLINE static int tell_clear(void)
{
	if (line.cleared == pxt_tiny.counts.clears)
		return 0;
	line.cleared = pxt_tiny.counts.clears;
	(void)pxt_logfmt_put_clear(no_entries(), pxt_port_ticks(), line.records - line.cleared_at);
	line.cleared_at = line.records;
	return tell_entries(PXT_LOG_CLEAR);
}

static int tell(bool last)
{
	const uint64_t pause =
	    pxt_divide(line.header.rate.hz, 1000) * CONFIG_PTRACE_LOG_LINE_REPEAT_MS;
	int error = 0;

	if (last || !line.frames || pxt_port_ticks() - line.repeated >= pause)
		error = tell_head();
	if (!error)
		error = tell_clear();
	if (!error)
		error = tell_types();
	return error ? error : tell_tasks();
}

/* ---- Records ---- */

/* As a log has it, but without gaps (format/frame.h). */
static void stage(const struct pxt_tiny_taken *taken)
{
	unsigned char *at = (unsigned char *)(line.record + 1);
	const uint64_t address = taken->address;

	line.record[0].word[1] = taken->info;
	line.record[0].word[2] = (uint32_t)taken->ticks;
	line.record[0].word[3] = (uint32_t)(taken->ticks >> 32);
	memcpy(at, &taken->thread, PXT_LOG_THREAD_CTX);
	memcpy(at + PXT_LOG_THREAD_CTX, &address, PXT_LOG_CTX_BYTES - PXT_LOG_THREAD_CTX);
}

/* A frame of at most @left records; how many it has. */
PXT_NOINLINE static uint32_t pack(uint32_t left, int *error)
{
	unsigned char *data = (unsigned char *)(line.record + 1) + PXT_LOG_CTX_BYTES;
	struct pxt_tiny_taken taken;
	struct pxt_compact *compact = &line.compact;
	uint32_t packed = 0;

	begin(PXT_FRAME_COMPACT);
	pxt_compact_begin(compact, &line.making, line.header.created.ticks);
	while (packed < left &&
	       pxt_compact_fits(compact, CONFIG_PTRACE_MAX_DATA_SIZE, CONTENTS_BYTES) &&
	       pxt_tiny_take(&taken, data, CONFIG_PTRACE_MAX_DATA_SIZE)) {
		stage(&taken);
		if (taken.lost_before)
			pxt_compact_put_loss(compact, taken.lost_before);
		pxt_compact_put(compact, line.record);
		line.lost += taken.lost_before;
		packed++;
	}
	pxt_compact_end(compact);
	line.records += packed;
	*error = packed ? end() : 0;
	return packed;
}

/* What the stream held when the flush began. */
static int flush(bool last)
{
	uint32_t left = pxt_tiny_held(pxt_tiny.counts.gone.low);
	int error = send();

	if (!error)
		error = tell(false);
	while (left && !error) {
		uint32_t packed = pack(left, &error);

		if (!packed)
			break;
		left -= packed;
	}
	return error || !last ? error : tell(true);
}

/* ---- Calls ---- */

PXT_API int posix_trace_flush(trace_id_t trid)
{
	int error = EINVAL;

	if (!pxt_tiny_is(trid) || !pxt_tiny.at_shutdown)
		return EINVAL;
	pxt_port_mutex_lock(&mutex);
	if (pxt_tiny_is(trid))
		error = flush(false);
	pxt_port_mutex_unlock(&mutex);
	return error;
}

static int put_trailer(trace_id_t trid)
{
	struct pxt_log_trailer trailer = { .data_blocks = 0 };

	(void)posix_trace_get_status(trid, &trailer.status);
	(void)posix_trace_getcounts_np(trid, &trailer.counts, sizeof(trailer.counts));
	pxt_port_clock_read(&trailer.end);
	trailer.attr = line.header.attr;
	(void)pxt_logfmt_put_trailer(no_entries(), &trailer);
	return tell_entries(PXT_LOG_TRAILER);
}

static int at_shutdown(trace_id_t trid)
{
	int error;

	pxt_port_mutex_lock(&mutex);
	error = flush(true);
	if (!error)
		error = put_trailer(trid);
	pxt_port_log_close(&line.out);
	/* Before who waits to flush has the mutex. */
	pxt_tiny.trid = 0;
	pxt_port_mutex_unlock(&mutex);
	return error;
}

/* The rest is 0. */
static void fill_header(struct pxt_log_header *header)
{
	header->word_bytes = sizeof(void *);
	header->ctx_bytes = PXT_LOG_CTX_BYTES;
	header->layout = PXT_LAYOUT_SEQUENTIAL;
	header->contents = (CONFIG_PTRACE_RECORD_THREAD ? PXT_LOG_HAS_THREAD : 0u) |
	                   (CONFIG_PTRACE_RECORD_ADDRESS ? PXT_LOG_HAS_ADDRESS : 0u) |
	                   (CONFIG_PTRACE_RECORD_CPU ? PXT_LOG_HAS_CPU : 0u) |
	                   (CONFIG_PTRACE_LARGER_PRIORITY ? PXT_LOG_LARGER_PRIORITY : 0u);
	header->largest_block = CONFIG_PTRACE_LOG_BLOCK_SIZE;
	pxt_tiny_get_attr(&header->attr);
	header->attr._pxt_ctx_bytes = PXT_LOG_CTX_BYTES;
	header->attr._pxt_log_policy = POSIX_TRACE_APPEND;
	pxt_port_random(header->uuid, sizeof(header->uuid));
	pxt_port_clock_start(&header->rate);
	header->created.ticks = pxt_tiny.anchor_ticks;
	header->created.realtime = pxt_tiny.anchor;
	pxt_port_since(pxt_tiny.anchor_ticks, &header->created.monotonic);
	header->created.boottime = header->created.monotonic;
}

PXT_API int posix_trace_create_withlog(
    pid_t pid, const trace_attr_t *restrict attr, int file_desc, trace_id_t *restrict trid)
{
	struct pxt_port_log out;
	trace_id_t made;
	int error = trid ? pxt_port_log_open(&out, file_desc) : EINVAL;

	if (error)
		return error;
	if (attr && attr->_pxt_kept._pxt_flags & PXT_ATTR_PLAIN)
		return EINVAL;
	error = pxt_tiny_create(pid, attr, &made);
	if (error)
		return error;
	memset(&line, 0, sizeof(line));
	line.out = out;
	fill_header(&line.header);
	line.seed = pxt_crc32(0, line.header.uuid, PXT_LOG_UUID_BYTES);
	pxt_port_mutex_init(&mutex);
	pxt_tiny.at_shutdown = at_shutdown;
	*trid = made;
	return 0;
}
