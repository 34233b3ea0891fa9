/* SPDX-License-Identifier: MIT */
/* who.c - threads and names, each place checked before it is read. */
#include "tools/recover/who.h"

#include "format/logfmt_bytes.h"

#include <stdlib.h>
#include <string.h>

static bool has(const struct pxt_who *who, uint64_t at, uint64_t bytes)
{
	return at <= who->there && who->there - at >= bytes;
}

static uint32_t get32(const struct pxt_who *who, uint64_t at)
{
	return has(who, at, 4) ? pxt_get32(who->bytes + at, who->swapped) : 0;
}

static uint32_t fewer(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

const char *pxt_who_load(struct pxt_who *who, const struct pxt_found *found)
{
	const struct pxt_directory_header *header;

	*who = (struct pxt_who){ 0 };
	if (!found)
		return NULL;
	header = &found->directory;
	if (found->there > SIZE_MAX)
		return "it is larger than the memory of this machine";
	who->bytes = malloc((size_t)found->there);
	if (!who->bytes)
		return "out of memory";
	who->header = header;
	who->swapped = found->swapped;
	who->there = pxt_image_read(found->image, found->at, who->bytes, found->there);
	who->threads = get32(who, header->threads_at);
	who->threads = fewer(who->threads, header->entries ? header->entries - 1u : 0);
	who->threads = fewer(who->threads, PXT_THREAD_EXTRA - 1u);
	if (header->names_at)
		who->names = fewer(get32(who, header->names_count_at), header->names_max);
	return NULL;
}

void pxt_who_free(struct pxt_who *who)
{
	free(who->bytes);
	*who = (struct pxt_who){ 0 };
}

/* ---- Threads ---- */

/* The place of an entry, or 0: it is not in the image. */
static uint64_t entry_at(const struct pxt_who *who, uint32_t index)
{
	uint64_t at;

	if (!index || index > who->threads)
		return 0;
	at = who->header->entries_at + (uint64_t)index * who->header->entry_bytes;
	return has(who, at, who->header->entry_bytes) ? at : 0;
}

/* WORDS: low, high, and their exclusive-or; 0 while it is being set. */
static uint64_t get_thread(const struct pxt_who *who, uint64_t at)
{
	uint32_t low = get32(who, at);
	uint32_t high = get32(who, at + 4);

	if (who->header->form == PXT_IMAGEHEADER_WHOLE)
		return pxt_get64(who->bytes + at, who->swapped);
	return (low ^ high) == get32(who, at + 8) ? (uint64_t)high << 32 | low : 0;
}

bool pxt_who_thread(const struct pxt_who *who, uint32_t index, struct pxt_log_thread *thread)
{
	uint64_t at = entry_at(who, index);

	memset(thread, 0, sizeof *thread);
	if (!at)
		return false;
	thread->index = (uint16_t)index;
	thread->thread = get_thread(who, at + who->header->thread_at);
	thread->pid = (int32_t)get32(who, at + who->header->pid_at);
	thread->tid = (int32_t)get32(who, at + who->header->tid_at);
	memcpy(thread->name, who->bytes + at + who->header->name_at, sizeof thread->name);
	thread->name[sizeof thread->name - 1] = '\0';
	return thread->thread != 0;
}

bool pxt_who_inside(const struct pxt_who *who, uint32_t index)
{
	uint64_t at = entry_at(who, index);

	return at && (get32(who, at + who->header->passes_at) & 1u);
}

/* ---- Names ---- */

/* Text with its NUL within @most bytes at @at; false: it has none, or is longer than @room. */
static bool get_text(const struct pxt_who *who, uint64_t at, uint64_t most, char *to, size_t room)
{
	const unsigned char *text = who->bytes + at;
	const unsigned char *end;

	if (!has(who, at, 1))
		return false;
	most = most < who->there - at ? most : who->there - at;
	most = most < room ? most : room;
	end = memchr(text, '\0', (size_t)most);
	if (!end)
		return false;
	memcpy(to, text, (size_t)(end - text) + 1u);
	return true;
}

bool pxt_who_type(const struct pxt_who *who, uint32_t number, struct pxt_log_typename *type)
{
	const struct pxt_directory_header *header = who->header;
	uint32_t format;

	memset(type, 0, sizeof *type);
	if (number >= who->names)
		return false;
	type->id = header->first_user_id + number;
	if (!get_text(who, header->names_first_at + (uint64_t)number * header->name_bytes,
	        header->name_bytes, type->name, sizeof type->name))
		return false;
	format = get32(who, header->format_offsets_at + (uint64_t)number * 4u);
	if (format && format <= header->pool_bytes &&
	    !get_text(who, (uint64_t)header->pool_at + format - 1u,
	        header->pool_bytes - format + 1u, type->format, sizeof type->format))
		type->format[0] = '\0';
	return type->name[0] != '\0';
}

/* ---- The process ---- */

void pxt_who_process(const struct pxt_who *who, struct pxt_log_process *process)
{
	const struct pxt_directory_header *header = who->header;

	memset(process, 0, sizeof *process);
	if (!header)
		return;
	process->pid = header->header.pid;
	memcpy(process->executable, header->executable, sizeof header->executable);
	process->executable[sizeof header->executable - 1] = '\0';
	memcpy(process->host, header->host, sizeof header->host);
	process->host[sizeof header->host - 1] = '\0';
	if (header->started_sec > 0 && header->started_sec < (int64_t)1 << 40 &&
	    header->started_nsec < 1000000000u) {
		process->start.tv_sec = (time_t)header->started_sec;
		process->start.tv_nsec = (long)header->started_nsec;
	}
}
