/* SPDX-License-Identifier: MIT */
/*
 * line_qnx.c - an event as QNX's traceprinter shows one: the low 32 bits of the time, CPU, class, event,
 * and what it is about by name.  The parts of a combine event, interlaced or not, are one line, where
 * its last part is.
 */
#include "tools/print/printer.h"

#include "contrib/compat/qnx/qnx.h"
#include "tools/output/out.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A combine event whose end has not come. */
struct open {
	struct open *next;
	pid_t pid;
	uint32_t header;
	uint32_t stamp;
	uint32_t time;
	bool cut; /* of what comes after that nothing is shown: there would be a hole before it */
	size_t bytes;
	unsigned char *data;
};

static uint32_t word(const struct pxt_event *event, size_t at)
{
	uint32_t value;

	memcpy(&value, &event->data[at], sizeof(value));
	return event->source->info.posix_swapped_np ? __builtin_bswap32(value) : value;
}

static void put_head(struct pxt_line *line, const struct pxt_event *event, uint32_t time)
{
	pxt_out_format(&line->out, "t:0x%08lx CPU:%02d ", (unsigned long)time,
	    event->extra.posix_cpu_np < 0 ? 0 : event->extra.posix_cpu_np);
}

static void put_class(struct pxt_out *out, const char *type, uint32_t header)
{
	for (const char *at = type + sizeof("qnx_") - 1; *at; at++)
		pxt_out_char(out, (char)toupper((unsigned char)*at));
	pxt_out_format(out, " :0x%03x", _NTO_TRACE_GETEVENT(header));
}

static void put_cut(struct pxt_line *line, bool cut)
{
	if (cut)
		pxt_out_text(&line->out, "  [cut]");
	pxt_out_end(&line->out);
}

static bool is_cut(const struct pxt_event *event)
{
	return event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
}

/* ---- Combine events ---- */

static struct open **find(struct pxt_line *line, const struct pxt_event *event, uint32_t header)
{
	struct open **at = &line->open;

	while (*at && ((*at)->pid != event->info.posix_pid || (*at)->stamp != word(event, 4) ||
	                  (((*at)->header ^ header) & 0x7fffu) != 0))
		at = &(*at)->next;
	return at;
}

static void append(struct open *open, const struct pxt_event *event)
{
	const size_t bytes = event->bytes - QNX_HEAD_BYTES;

	if (!open->cut) {
		open->data = pxt_must(realloc(open->data, open->bytes + bytes + 1));
		memcpy(&open->data[open->bytes], &event->data[QNX_HEAD_BYTES], bytes);
		open->bytes += bytes;
	}
	open->cut |= is_cut(event);
}

static void put_whole(struct pxt_line *line, const struct pxt_event *event, struct open **at)
{
	struct open *open = *at;

	put_head(line, event, open->time);
	put_class(&line->out, event->type->name, open->header);
	pxt_out_format(&line->out, " bytes:%zu ", open->bytes);
	pxt_out_dump(&line->out, open->data, open->bytes, line->fields.dump_limit);
	put_cut(line, open->cut);
	*at = open->next;
	free(open->data);
	free(open);
}

static void take_part(struct pxt_line *line, const struct pxt_event *event, uint32_t header)
{
	struct open **at = find(line, event, header);

	if (!*at && _TRACE_GET_STRUCT(header) == _TRACE_STRUCT_CB) {
		*at = pxt_must(calloc(1, sizeof(**at)));
		(*at)->pid = event->info.posix_pid;
		(*at)->header = header;
		(*at)->stamp = word(event, 4);
		(*at)->time = (uint32_t)event->extra.posix_ticks_np;
	}
	if (!*at) {
		put_head(line, event, (uint32_t)event->extra.posix_ticks_np);
		put_class(&line->out, event->type->name, header);
		pxt_out_text(&line->out, " part without a begin");
		pxt_out_end(&line->out);
		return;
	}
	append(*at, event);
	if (_TRACE_GET_STRUCT(header) == _TRACE_STRUCT_CE)
		put_whole(line, event, at);
}

void pxt_qnx_end(struct pxt_line *line)
{
	unsigned long unfinished = 0;

	while (line->open) {
		struct open *open = line->open;

		line->open = open->next;
		free(open->data);
		free(open);
		unfinished++;
	}
	if (unfinished)
		pxt_out_format(
		    &line->out, "*** COMBINE EVENTS WITHOUT AN END: %lu ***\n", unfinished);
}

/* ---- All events ---- */

/* Events of our own are the user's. */
static void put_native(struct pxt_line *line, const struct pxt_event *event)
{
	put_head(line, event, (uint32_t)event->extra.posix_ticks_np);
	pxt_out_text(&line->out,
	    event->type->id < POSIX_TRACE_UNNAMED_USEREVENT ? "CONTROL :" : "USREVENT :");
	pxt_out_bytes(&line->out, event->type->label, event->type->bytes);
	pxt_out_fields(&line->out, &line->fields, event);
	pxt_out_end(&line->out);
}

/* What is whole in one event, or was cut before it says which parts belong to it. */
static void put_simple(struct pxt_line *line, const struct pxt_event *event, uint32_t header)
{
	put_head(line, event, (uint32_t)event->extra.posix_ticks_np);
	put_class(&line->out, event->type->name, header);
	for (size_t at = QNX_LEAST; at + 4 <= event->bytes; at += 4)
		pxt_out_format(
		    &line->out, " d%zu:0x%08lx", at / 4 - 1, (unsigned long)word(event, at));
	put_cut(line, is_cut(event));
}

void pxt_qnx_event(struct pxt_line *line, const struct pxt_event *event)
{
	const unsigned class_ = qnx_class_of(event->type->name);
	const uint32_t header = class_ != 0 && event->bytes >= QNX_LEAST ? word(event, 0) : 0;
	const unsigned kind = _TRACE_GET_STRUCT(header);

	if (_NTO_TRACE_GETEVENT_C(header) >> 10 != class_ || class_ == 0)
		put_native(line, event);
	else if (kind != _TRACE_STRUCT_S && event->bytes >= QNX_HEAD_BYTES)
		take_part(line, event, header);
	/* The begin of a short one has told that it was. */
	else if (kind == _TRACE_STRUCT_S || kind == _TRACE_STRUCT_CB)
		put_simple(line, event, header);
}
