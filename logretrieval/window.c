/* SPDX-License-Identifier: MIT */
/*
 * window.c - bytes of the file: a piece of it in memory, read by offset; what is wrong, kept for a thread that asks
 * why a log does not open; its beginning, or in words why format/logfmt_get.c refuses it; data of the other byte
 * order, where what is known to be numbers is turned round, so that programs need not care, and all else stays as it
 * was recorded.
 */
#include "logretrieval/log.h"

#include "base/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One piece of memory; what no log needs is never touched. */
bool pxt_log_take_window(struct pxt_log *log)
{
	unsigned char *memory = pxt_port_heap_resize(
	    NULL, sizeof(struct pxt_coded_told) + 2u * (size_t)PXT_LOG_BLOCK_MAX);

	if (!memory)
		return false;
	log->told = (struct pxt_coded_told *)(void *)memory;
	log->window = memory + sizeof(struct pxt_coded_told);
	log->decoded = log->window + PXT_LOG_BLOCK_MAX;
	log->window_bytes = PXT_LOG_HEADER_BYTES;
	return true;
}

void pxt_log_give_window(struct pxt_log *log)
{
	pxt_port_heap_free(log->told);
}

int pxt_log_view(struct pxt_log *log, uint64_t offset, uint32_t bytes, const unsigned char **at)
{
	uint32_t wanted = log->ahead ? log->ahead : log->window_bytes;
	size_t done;
	int error;

	*at = NULL;
	if (offset < log->window_from || offset - log->window_at > log->window_filled ||
	    log->window_filled - (offset - log->window_at) < bytes) {
		log->window_filled = 0;
		wanted = wanted > bytes ? wanted : bytes;
		error = pxt_port_file_read(&log->file, offset, log->window, wanted, &done);
		if (error) {
			log->unreadable = true;
			return error;
		}
		log->window_at = offset;
		log->window_from = offset;
		log->window_filled = (uint32_t)done;
		if (done < bytes)
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

void pxt_log_view_spoilt(struct pxt_log *log, const unsigned char *end)
{
	/* What was decoded is no piece of the file. */
	if ((uintptr_t)end - (uintptr_t)log->window > log->window_filled)
		return;
	log->window_from = log->window_at + (uint64_t)(end - log->window);
}

/* ---- The beginning of a log ---- */

int pxt_log_read_header(struct pxt_log *log)
{
	const unsigned char *at;
	const char *wrong;

	if (pxt_log_need(log, 0, PXT_LOG_HEADER_BYTES, "the file is too short to be a log", &at))
		return EINVAL;
	wrong = pxt_logfmt_get_header(at, &log->header);
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
