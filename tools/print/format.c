/* SPDX-License-Identifier: MIT */
/* format.c - lines as --format says. */
#include "tools/print/printer.h"

#include "tools/command/command.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

/* What stands in braces, in the order of its names below. */
enum kind {
	TIME,
	UTC,
	LOCAL,
	NS,
	TICKS,
	DELTA,
	THREAD,
	THREADNAME,
	TID,
	PID,
	CPU,
	EVENT,
	ID,
	FIELDS,
	FIELD,
	DATA,
	BYTES,
	LOST,
	ADDRESS,
	LOG,
	KINDS,
	PLAIN = KINDS
};

struct piece {
	enum kind kind;
	const char *text; /* to be put as it is, or a field's name */
	size_t bytes;
	uint8_t width;
	char side; /* '<', '>' or '0' */
	bool hex;
};

struct pxt_format {
	unsigned count;
	struct piece pieces[PXT_FORMAT_PIECES];
	struct pxt_calendar utc;
	struct pxt_calendar local;
	char pool[]; /* the texts, NUL after each */
};

/* ---- Conversions ---- */

static const char *const names[KINDS + 1] = { "time", "utc", "local", "ns", "ticks", "delta",
	"thread", "threadname", "tid", "pid", "cpu", "event", "id", "fields", "field", "data",
	"bytes", "lost", "address", "log", NULL };

/* False: it is not known. */
static bool number_of(
    const struct pxt_line *line, enum kind kind, const struct pxt_event *event, uint64_t *number)
{
	int64_t value = 0;

	switch ((int)kind) {
	case NS:
		value = event->ns - line->reader->start_ns;
		break;
	case TID:
		value = event->thread->tid > 0 ? event->thread->tid : -1;
		break;
	case PID:
		value = event->info.posix_pid > 0 ? event->info.posix_pid : -1;
		break;
	case CPU:
		value = event->extra.posix_cpu_np;
		break;
	case TICKS:
		*number = event->extra.posix_ticks_np;
		return true;
	case ID:
		*number = event->type->id;
		return true;
	case BYTES:
		*number = event->bytes;
		return true;
	default:
		*number = event->extra.posix_lost_before_np;
		return true;
	}
	*number = (uint64_t)value;
	return kind == NS || value >= 0;
}

static void put_number(
    struct pxt_line *line, const struct piece *piece, const struct pxt_event *event)
{
	uint64_t number;

	if (!number_of(line, piece->kind, event, &number))
		pxt_out_char(&line->out, '-');
	else if (piece->hex)
		pxt_out_hexdigits(&line->out, number);
	else if (piece->kind == NS)
		pxt_out_signed(&line->out, (int64_t)number);
	else
		pxt_out_unsigned(&line->out, number);
}

static void put_field(
    struct pxt_line *line, const struct piece *piece, const struct pxt_event *event)
{
	const struct pxt_layout *field = pxt_field_named(event->type, piece->text);
	struct pxt_out *out = &line->out;
	struct pxt_value value;

	if (!field || !pxt_field_value(event, field, &value))
		pxt_out_char(out, '-');
	else if (piece->hex && value.kind != POSIX_TRACE_FIELD_FLOAT_NP &&
	         value.kind != POSIX_TRACE_FIELD_TEXT_NP)
		pxt_out_hexdigits(out, value.u);
	else
		pxt_out_value(out, &value);
}

static void put_text(struct pxt_out *out, const char *text)
{
	pxt_out_escaped(out, text, strlen(text));
}

static void put(struct pxt_line *line, const struct piece *piece, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;

	switch ((int)piece->kind) {
	case PLAIN:
		pxt_out_bytes(out, piece->text, piece->bytes);
		break;
	case TIME:
		pxt_line_time(line, event);
		break;
	case UTC:
		pxt_out_calendar(out, &line->format->utc, event->ns);
		break;
	case LOCAL:
		pxt_out_calendar(out, &line->format->local, event->ns);
		break;
	case DELTA:
		pxt_out_seconds_plain(out, pxt_line_delta(line, event));
		break;
	case THREAD:
		pxt_out_bytes(out, event->thread->label, event->thread->bytes);
		break;
	case THREADNAME:
		put_text(out, *event->thread->name ? event->thread->name : "-");
		break;
	case EVENT:
		pxt_out_bytes(out, event->type->label, event->type->bytes);
		break;
	case FIELDS:
		pxt_out_fields_bare(out, &line->fields, event);
		break;
	case FIELD:
		put_field(line, piece, event);
		break;
	case DATA:
		pxt_out_hexbytes(out, event->data, event->bytes);
		break;
	case ADDRESS:
		pxt_out_text(out, pxt_line_address(line, event));
		break;
	case LOG:
		put_text(out, event->source->path);
		break;
	default:
		put_number(line, piece, event);
	}
}

/* ---- Reading ---- */

struct reader {
	const char *text;
	const char *next;
	char *pool;
	struct pxt_format *format;
	struct pxt_text_error *error;
};

static bool wrong(struct reader *reader, const char *at, const char *reason)
{
	return pxt_text_wrong(reader->error, (size_t)(at - reader->text), "%s", reason);
}

static bool add_piece(struct reader *reader, const struct piece *piece)
{
	if (reader->format->count == PXT_FORMAT_PIECES)
		return wrong(reader, reader->next, "more pieces than fit (128)");
	reader->format->pieces[reader->format->count++] = *piece;
	return true;
}

/* Copies @bytes to the pool, and a NUL. */
static char *keep(struct reader *reader, const char *from, size_t bytes)
{
	char *kept = reader->pool;

	memcpy(kept, from, bytes);
	kept[bytes] = '\0';
	reader->pool += bytes + 1;
	return kept;
}

/* One character of plain text, which may be written as two; false with the error noted. */
static bool read_plain(struct reader *reader, char *to)
{
	static const char escapes[][2] = { { 'n', '\n' }, { 't', '\t' }, { '\\', '\\' } };
	const char *at = reader->next;

	*to = *at;
	reader->next += *at == '{' || *at == '}' || *at == '\\' ? 2 : 1;
	if (*at == '}' && at[1] != '}')
		return wrong(reader, at, "a brace that closes nothing; }} stands for a brace");
	if (*at != '\\')
		return true;
	for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
		if (at[1] == escapes[i][0]) {
			*to = escapes[i][1];
			return true;
		}
	}
	return wrong(reader, at, "behind a backslash stands n, t or another one");
}

static bool read_text(struct reader *reader)
{
	struct piece piece = { .kind = PLAIN, .text = reader->pool };
	char *to = reader->pool;

	while (*reader->next && (*reader->next != '{' || reader->next[1] == '{'))
		if (!read_plain(reader, to++))
			return false;
	piece.bytes = (size_t)(to - reader->pool);
	*to = '\0';
	reader->pool = to + 1;
	return add_piece(reader, &piece);
}

/* "[<>0]WIDTH[x]" up to @end. */
static bool read_width(struct reader *reader, struct piece *piece, const char *end)
{
	const char *at = reader->next;
	unsigned width = 0;

	piece->side = '<';
	if (*at == '<' || *at == '>' || *at == '0')
		piece->side = *at++;
	for (; *at >= '0' && *at <= '9' && width <= PXT_FORMAT_WIDTH; at++)
		width = width * 10 + (unsigned)(*at - '0');
	if (width > PXT_FORMAT_WIDTH)
		return wrong(reader, reader->next, "a width is at most 255");
	piece->hex = *at == 'x';
	at += piece->hex;
	if (at != end || at == reader->next)
		return wrong(reader, reader->next,
		    "a width is written 20, <20, >20 or 020, with an x behind it for hex digits");
	if (piece->kind == FIELDS)
		return wrong(reader, reader->next, "{fields} takes no width");
	piece->width = (uint8_t)width;
	return true;
}

static bool name_conversion(
    struct reader *reader, struct piece *piece, const char *name, size_t bytes)
{
	char word[32] = "";

	if (bytes < sizeof word)
		memcpy(word, name, bytes);
	for (unsigned i = 0; i < KINDS; i++) {
		if (strcmp(word, names[i]) == 0) {
			piece->kind = (enum kind)i;
			return true;
		}
	}
	const char *meant = *word ? pxt_suggest(word, names) : NULL;
	if (meant)
		return pxt_text_wrong(reader->error, (size_t)(name - reader->text),
		    "there is no {%s}; did you mean {%s}?", word, meant);
	return wrong(reader, name,
	    "{time}, {thread}, {event}, {fields}, {field:NAME} ... are known: see --help");
}

static bool read_conversion(struct reader *reader)
{
	struct piece piece = { 0 };
	const char *open = reader->next;
	const char *begin = open + 1;
	const char *close = begin + strcspn(begin, "{}");
	const char *end = begin + strcspn(begin, ":{}");

	if (*close != '}')
		return wrong(reader, open, "this brace is not closed; {{ stands for a brace");
	if (!name_conversion(reader, &piece, begin, (size_t)(end - begin)))
		return false;
	if (piece.kind == FIELD) {
		const char *field = end + (*end == ':');

		end = field + strcspn(field, ":}");
		if (end == field)
			return wrong(reader, field, "which field? {field:NAME}");
		piece.text = keep(reader, field, (size_t)(end - field));
	}
	reader->next = end + 1;
	if (*end == ':' && !read_width(reader, &piece, close))
		return false;
	reader->next = close + 1;
	return add_piece(reader, &piece);
}

struct pxt_format *pxt_format_parse(const char *text, struct pxt_text_error *error)
{
	/* Each piece is as long as what it was made of, and a NUL. */
	struct pxt_format *format =
	    pxt_must(calloc(1, sizeof *format + strlen(text) + PXT_FORMAT_PIECES + 1));
	struct reader reader = {
		.text = text, .next = text, .pool = format->pool, .format = format, .error = error
	};

	format->local.local = true;
	while (*reader.next) {
		bool is_plain = *reader.next != '{' || reader.next[1] == '{';

		if (!(is_plain ? read_text(&reader) : read_conversion(&reader))) {
			free(format);
			return NULL;
		}
	}
	return format;
}

void pxt_format_free(struct pxt_format *format)
{
	free(format);
}

bool pxt_format_has_address(const struct pxt_format *format)
{
	for (unsigned i = 0; i < format->count; i++)
		if (format->pieces[i].kind == ADDRESS)
			return true;
	return false;
}

const char *pxt_format_field(const struct pxt_format *format, unsigned i)
{
	for (unsigned k = 0; k < format->count; k++)
		if (format->pieces[k].kind == FIELD && i-- == 0)
			return format->pieces[k].text;
	return NULL;
}

/* ---- Writing ---- */

/* Most bytes of a piece with a width: data as hex, a text or a path of which each byte became \xNN. */
#define PIECE_BYTES 40000u
_Static_assert(PIECE_BYTES + PXT_FORMAT_WIDTH < PXT_OUT_BYTES, "a piece fits");

/* Fills what was written from @begin on up to the piece's width. */
static void pad(struct pxt_out *out, const struct piece *piece, size_t begin)
{
	char *text = out->buffer + begin;
	size_t bytes = out->used - begin;
	size_t columns = 0;

	/* Escaped text is well-formed: a column for each byte that begins a character. */
	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	if (columns >= piece->width)
		return;
	size_t missing = piece->width - columns;
	size_t at = piece->side == '<' ? bytes : 0;
	/* Zeros are after the sign, and not where no number is known. */
	bool unknown = bytes == 1 && *text == '-';
	if (piece->side == '0' && *text == '-' && !unknown)
		at = 1;
	memmove(text + at + missing, text + at, bytes - at);
	memset(text + at, piece->side == '0' && !unknown ? '0' : ' ', missing);
	out->used += missing;
}

void pxt_format_event(struct pxt_line *line, const struct pxt_event *event)
{
	const struct pxt_format *format = line->format;

	for (unsigned i = 0; i < format->count; i++) {
		const struct piece *piece = &format->pieces[i];

		if (piece->width == 0) {
			put(line, piece, event);
			continue;
		}
		(void)pxt_out_room(&line->out, PIECE_BYTES + PXT_FORMAT_WIDTH);
		size_t begin = line->out.used;
		put(line, piece, event);
		pad(&line->out, piece, begin);
	}
	pxt_out_char(&line->out, '\n');
}
