/* SPDX-License-Identifier: MIT */
/*
 * files.c - bytes of a log: a piece of the file in memory, the other byte order, what is wrong and where; a rotated
 * log, whose several files are read as one: posix_trace_log_open_np().
 */
#include "base/fields.h"
#include "logretrieval/log.h"

#include <errno.h>
#include <stdio.h>

struct pxt_log_file {
	struct pxt_port_file file;
	uint64_t records; /* in all files before */
	uint32_t number;
};

struct pxt_log_files {
	uint32_t count;
	uint32_t now;                 /* the one that is scanned */
	uint64_t expected_records;    /* before it, as those before it tell; ... */
	uint64_t expected_lost;       /* ... and lost */
	struct pxt_log_former former; /* trailers of the files before */
	struct pxt_log_file file[];
};

/* ---- Reading ---- */

/* The last one that begins at or before @offset. */
static struct pxt_log_file *file_at(const struct pxt_log *log, uint64_t offset)
{
	struct pxt_log_files *files = log->files;
	uint32_t low = 0;
	uint32_t high = files->count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (files->file[middle].file.from <= offset)
			low = middle;
		else
			high = middle;
	}
	return &files->file[low];
}

int pxt_log_end_of_file(const struct pxt_log *log, uint64_t offset, uint64_t *end)
{
	const struct pxt_port_file *file = log->files ? &file_at(log, offset)->file : &log->file;
	/* The first one is the log's own. */
	int error = pxt_port_file_size(file->from ? file : &log->file, end);

	*end += file->from;
	return error;
}

uint64_t pxt_log_begin_of_file(const struct pxt_log *log, uint64_t offset)
{
	return log->files ? file_at(log, offset)->file.from : 0;
}

uint64_t pxt_log_records_before(const struct pxt_log *log, uint64_t offset)
{
	return log->files ? file_at(log, offset)->records : 0;
}

/* ---- Scanning ---- */

void pxt_log_first_file(struct pxt_log *log)
{
	struct pxt_log_files *files = log->files;

	if (!files)
		return;
	files->now = 0;
	files->expected_records = 0;
	files->expected_lost = 0;
	memset(&files->former, 0, sizeof(files->former));
}

bool pxt_log_more_files(struct pxt_log *log)
{
	struct pxt_log_files *files = log->files;
	const struct pxt_log_trailer *trailer = &log->trailer;
	struct pxt_log_former *former;

	if (!files || files->now + 1 == files->count)
		return false;
	former = &files->former;
	pxt_sum_add(&former->written, trailer->counts.posix_written_np);
	pxt_sum_add(&former->retrieved, trailer->counts.posix_retrieved_np);
	pxt_sum_add(&former->lost, trailer->counts.posix_lost_np);
	pxt_sum_add(&former->cleared, trailer->counts.posix_cleared_np);
	pxt_sum_add(&former->log_lost, trailer->log_lost);
	files->expected_lost += trailer->counts.posix_lost_np + trailer->log_lost;
	return true;
}

static bool add_gap(struct pxt_log *log, uint64_t from, uint64_t to)
{
	if (!pxt_log_room_for_gap(log))
		return false;
	log->gaps[log->scan.gap_count++] = (struct pxt_log_gap){ .from = from, .to = to };
	return true;
}

/* Without its trailer, a file counts as its blocks tell. */
static void count_cut(struct pxt_log *log)
{
	struct pxt_log_former *former = &log->files->former;

	pxt_sum_add(&former->retrieved, log->scan.records_total);
	pxt_sum_add(&former->lost, log->scan.lost_total);
	pxt_sum_add(&former->written, log->scan.records_total);
	pxt_sum_add(&former->written, log->scan.lost_total);
	log->files->expected_lost += log->scan.lost_total;
}

int pxt_log_enter_file(struct pxt_log *log, bool cut)
{
	struct pxt_log_files *files = log->files;
	const struct pxt_log_file *file;
	struct pxt_log_file *next;

	if (!files)
		return cut ? ENODATA : 0;
	file = &files->file[files->now];
	if (files->now + 1 == files->count)
		return cut ? ENODATA : 0;
	if (!cut && log->scan.at < file->file.to)
		return 0;
	next = &files->file[files->now + 1];
	if (!add_gap(log, log->scan.at, next->file.from + log->header.header_bytes))
		return ENOMEM;
	if (cut)
		count_cut(log);
	files->expected_records += log->scan.records_total;
	next->records = files->expected_records;
	files->now++;
	log->scan.at = next->file.from + log->header.header_bytes;
	log->scan.taken = 0;
	log->scan.data_blocks = 0;
	log->scan.meta_blocks = 0;
	log->scan.records_total = 0;
	log->scan.lost_total = 0;
	log->scan.data_records = 0;
	log->scan.data_lost = 0;
	return 0;
}

int pxt_log_take_set(struct pxt_log *log, PXT_UNUSED uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_files *files = log->files;
	struct pxt_log_set set;
	struct pxt_log_gap *gap;
	uint64_t missing = 0;

	pxt_logfmt_get_set(entry, log->header.swapped, &set);
	if (!files || !files->now) {
		log->set = set;
		if (files) {
			files->expected_records = set.records;
			files->expected_lost = set.lost;
			files->file[0].records = set.records;
		}
		return 0;
	}
	if (set.records > files->expected_records)
		missing = set.records - files->expected_records;
	if (set.lost > files->expected_lost)
		pxt_sum_add(&missing, set.lost - files->expected_lost);
	gap = &log->gaps[log->scan.gap_count - 1];
	gap->missing = missing;
	pxt_sum_add(&log->scan.missing, missing);
	files->expected_records = set.records;
	files->expected_lost = set.lost;
	files->file[files->now].records = set.records;
	return 0;
}

const struct pxt_log_former *pxt_log_former(const struct pxt_log *log)
{
	static const struct pxt_log_former none;

	return log->files ? &log->files->former : &none;
}

/* ---- Opening ---- */

void pxt_log_close_files(struct pxt_log *log)
{
	struct pxt_log_files *files = log->files;

	for (uint32_t i = 0; files && i < files->count; i++)
		if (files->file[i].file.fd >= 0)
			pxt_port_file_close(&files->file[i].file);
	pxt_port_heap_free(files);
	log->files = NULL;
}

/* Its head, and that it goes with the others. */
static int look_at(struct pxt_log *log, struct pxt_log_file *file, struct pxt_log_header *first)
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header;
	size_t done = 0;
	const char *wrong = "the file is too short to be a log";

	if (pxt_port_file_read(&file->file, 0, head, sizeof(head), &done))
		return pxt_log_fail(log, 0, "the file cannot be read");
	if (done == sizeof(head))
		wrong = pxt_logfmt_get_header(head, &header);
	if (!wrong && !header.number)
		wrong = "the log is one file, and does not go on in others";
	if (!wrong && first->number &&
	    (memcmp(header.uuid, first->uuid, sizeof(header.uuid)) != 0 ||
	        header.swapped != first->swapped || header.ctx_bytes != first->ctx_bytes ||
	        header.word_bytes != first->word_bytes || header.contents != first->contents ||
	        header.header_bytes != first->header_bytes || header.layout != first->layout ||
	        header.largest_block != first->largest_block))
		wrong = "a file is of another log";
	if (wrong)
		return pxt_log_fail(log, 0, wrong);
	file->number = header.number;
	if (!first->number)
		*first = header;
	return pxt_port_file_size(&file->file, &file->file.to) ? EINVAL : 0;
}

static void sort(struct pxt_log_files *files)
{
	for (uint32_t i = 1; i < files->count; i++) {
		struct pxt_log_file moved = files->file[i];
		uint32_t at = i;

		for (; at > 0 && files->file[at - 1].number > moved.number; at--)
			files->file[at] = files->file[at - 1];
		files->file[at] = moved;
	}
}

/* One after another; the last one may grow. */
static int lay_out(struct pxt_log *log)
{
	struct pxt_log_files *files = log->files;
	uint64_t at = 0;

	sort(files);
	for (uint32_t i = 0; i < files->count; i++) {
		struct pxt_log_file *file = &files->file[i];

		if (i > 0 && file->number == files->file[i - 1].number)
			return pxt_log_fail(log, at, "a file of the log is there twice");
		if (file->file.to > (UINT64_MAX >> 1) / PXT_LOG_FILES_MAX)
			return pxt_log_fail(log, at, "the file is too long");
		file->file.from = at;
		at += file->file.to;
		file->file.to = at;
		file->file.next = i + 1 < files->count ? &file[1].file : NULL;
	}
	/* The first one is the log's own from now on. */
	pxt_port_file_close(&log->file);
	log->file = files->file[0].file;
	files->file[0].file.fd = -1;
	return 0;
}

int pxt_log_open_files(struct pxt_log *log, const int *fds, size_t count)
{
	struct pxt_log_header first = { .number = 0 };
	struct pxt_log_files *files;
	int error = 0;

	if (count > PXT_LOG_FILES_MAX)
		return pxt_log_fail(log, 0, "more files than a log can have");
	files = pxt_port_heap_resize(NULL, sizeof(*files) + count * sizeof(files->file[0]));
	if (!files)
		return ENOMEM;
	memset(files, 0, sizeof(*files) + count * sizeof(files->file[0]));
	log->files = files;
	for (size_t i = 0; i < count && !error; i++) {
		files->file[i].file.fd = -1;
		error = pxt_port_file_open(&files->file[i].file, fds[i]);
		if (error)
			break;
		files->count++;
		error = look_at(log, &files->file[i], &first);
	}
	return error ? error : lay_out(log);
}

/*
 * Bytes of the file: a piece of it in memory, read by offset; what is wrong, kept for a thread that asks
 * why a log does not open; its beginning, or in words why format/logfmt_get.c refuses it; data of the other byte
 * order, where what is known to be numbers is turned round, so that programs need not care, and all else stays as it
 * was recorded.
 */

/* One piece of memory; what no log needs is never touched. */
bool pxt_log_take_window(struct pxt_log *log)
{
	unsigned char *memory = pxt_port_heap_resize(
	    NULL, sizeof(struct pxt_compress_told) + 2u * (size_t)PXT_LOG_BLOCK_MAX);

	if (!memory)
		return false;
	log->told = (struct pxt_compress_told *)(void *)memory;
	log->window = memory + sizeof(struct pxt_compress_told);
	log->decoded = log->window + PXT_LOG_BLOCK_MAX;
	log->window_bytes = PXT_LOG_HEADER_BYTES;
	return true;
}

void pxt_log_give_window(struct pxt_log *log)
{
	pxt_port_heap_free(log->told);
}

/*
 * The bytes from @offset on that the window has go to its front, and are not read again; returns how many.  None of a
 * file that grows, where a block's head and its end are to be of one moment, and none before another file.
 */
static uint32_t keep_rest(struct pxt_log *log, uint64_t offset)
{
	uint64_t from = offset - log->window_at;
	uint32_t kept;

	if (log->growing || offset < log->window_from || from >= log->window_filled)
		return 0;
	kept = log->window_filled - (uint32_t)from;
	if (log->files && file_at(log, offset) != file_at(log, offset + kept))
		return 0;
	memmove(log->window, log->window + from, kept);
	return kept;
}

int pxt_log_view(struct pxt_log *log, uint64_t offset, uint32_t bytes, const unsigned char **at)
{
	uint32_t wanted = log->ahead ? log->ahead : log->window_bytes;
	uint32_t kept;
	size_t done;
	int error;

	*at = NULL;
	if (offset < log->window_from || offset - log->window_at > log->window_filled ||
	    log->window_filled - (offset - log->window_at) < bytes) {
		kept = keep_rest(log, offset);
		log->window_filled = 0;
		wanted = wanted > bytes ? wanted : bytes;
		error = pxt_port_file_read(
		    &log->file, offset + kept, log->window + kept, wanted - kept, &done);
		if (error) {
			log->unreadable = true;
			return error;
		}
		log->window_at = offset;
		log->window_from = offset;
		log->window_filled = kept + (uint32_t)done;
		if (log->window_filled < bytes)
			return 0;
	}
	*at = log->window + (offset - log->window_at);
	return 0;
}

const unsigned char *pxt_log_see(struct pxt_log *log, uint64_t offset, uint32_t bytes)
{
	const unsigned char *at;

	(void)pxt_log_view(log, offset, bytes, &at);
	return at;
}

int pxt_log_need(struct pxt_log *log, uint64_t offset, uint32_t bytes, const char *missing,
    const unsigned char **at)
{
	if (pxt_log_view(log, offset, bytes, at))
		return pxt_log_fail(log, offset, "the file cannot be read");
	return *at ? 0 : pxt_log_fail(log, offset, missing);
}

void pxt_log_view_again(struct pxt_log *log)
{
	log->window_filled = 0;
}

/* ---- The beginning of a log ---- */

int pxt_log_read_header(struct pxt_log *log)
{
	const unsigned char *at;
	const char *wrong;

	if (pxt_log_need(log, 0, PXT_LOG_HEADER_BYTES, "the file is too short to be a log", &at))
		return EINVAL;
	wrong = pxt_logfmt_get_header(at, &log->header);
	/* Where bytes are saved, there is one way for all. */
	log->usual = !PXT_SMALL && !log->header.swapped && log->header.word_bytes == 8 &&
	             (log->header.contents & PXT_LOG_HAS_THREAD) &&
	             (log->header.contents & PXT_LOG_HAS_ADDRESS);
	if (!wrong)
		return 0;
	(void)pxt_log_fail(log, 0, wrong);
	if (wrong == pxt_log_newer)
		(void)snprintf(log->error.posix_reason_np, sizeof(log->error.posix_reason_np),
		    "the log needs a reader of format %u.%u or newer; this one reads %u.%u",
		    (unsigned)log->header.min_major, (unsigned)log->header.min_minor, PXT_LOG_MAJOR,
		    PXT_LOG_MINOR);
	return EINVAL;
}

/* ---- What is wrong with a log, and where ---- */

int pxt_log_fail(struct pxt_log *log, uint64_t offset, const char *reason)
{
	size_t length = strlen(reason);

	if (length >= sizeof(log->error.posix_reason_np))
		length = sizeof(log->error.posix_reason_np) - 1;
	log->error.posix_offset_np = offset;
	memcpy(log->error.posix_reason_np, reason, length);
	log->error.posix_reason_np[length] = '\0';
	return EINVAL;
}

/* ---- The other byte order ---- */

static void turn(unsigned char *at, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes / 2; i++) {
		unsigned char byte = at[i];

		at[i] = at[bytes - 1 - i];
		at[bytes - 1 - i] = byte;
	}
}

/* int or trace_event_set_t: all of them are made of 32-bit words. */
static void turn_words(unsigned char *data, uint32_t bytes)
{
	uint32_t at;

	for (at = 0; at + 4 <= bytes; at += 4)
		turn(data + at, 4);
}

static void turn_fields(const char *format, unsigned char *data, uint32_t bytes)
{
	struct pxt_field field;
	uint32_t at = 0;

	while (!pxt_fields_over(format) && pxt_field_parse(&format, &field)) {
		if (field.trailing || field.bytes > bytes - at)
			return;
		if (field.kind != POSIX_TRACE_FIELD_TEXT_NP)
			turn(data + at, field.bytes);
		at += field.bytes;
	}
}

void pxt_log_swap_data(const struct pxt_log *log, uint32_t id, unsigned char *data, uint32_t bytes)
{
	if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == POSIX_TRACE_FILTER ||
	    id == POSIX_TRACE_ERROR)
		turn_words(data, bytes);
	else if (log->names[id])
		turn_fields(log->names[id]->format, data, bytes);
}
