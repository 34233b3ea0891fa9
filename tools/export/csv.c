/* SPDX-License-Identifier: MIT */
/*
 * csv.c - pxtrace export csv: a table of fixed columns, which any database loads.
 *
 *	target,stream,seq,ts_ns,event,event_id,pid,tid,cpu,lost_before,payload
 *
 * RFC 4180: CR LF ends a row, a cell with a comma or a quote is in quotes.  Rows are the same
 * whenever a log is exported again, so (target, stream, seq) names an event for good.
 *
 * Cells of text that a spreadsheet would take for a formula get an apostrophe in front
 * (output/out.c); numbers are left alone.
 */
#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/export/export.h"
#include "tools/output/out.h"
#include "tools/unknown/unknown.h"

#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace export csv - writes a table with a row for each event\n"
	"\n"
	"usage: pxtrace export csv [OPTION]... LOG...\n"
	"\n"
	"Columns, as RFC 4180 has it (UTF-8, a head row, rows end in CR LF):\n"
	"\n"
	"  target       the machine: --target, or the host that the log names\n"
	"  stream       UUID of the trace stream\n"
	"  seq          number of the event in the stream's life: with target and stream it names\n"
	"               the event for good, so that a log that is loaded twice is noticed\n"
	"  ts_ns        time, nanoseconds since 1970 (UTC)\n"
	"  event        name of the type; event_id its number in this log\n"
	"  pid, tid     process and thread (the pthread_t where the log knows no number of the\n"
	"               system's; empty where no thread was recorded)\n"
	"  cpu          empty where it was not recorded\n"
	"  lost_before  events that were lost since the row before of this log\n"
	"  payload      the typed fields as a JSON object: {\"job\":5,\"late_ns\":-5000}\n"
	"\n"
	"Losses behind a log's last event stand in a row of their own, whose event is (lost) and\n"
	"whose event_id is 0, so that the sum of lost_before is what the log lost.\n"
	"\n"
	"columns:\n"
	"  -f, --field NAME      also this field as a column of its own; several times\n"
	"      --thread-name     also the thread's name\n"
	"      --no-payload      without the column payload\n"
	"      --no-header       without the head row, to append to a table\n"
	"      --lf              rows end in LF alone, for the tools of Unix\n",
	PXT_EXPORT_COMMON_HELP
	"\n"
	"example: from a log to an answer, with DuckDB\n"
	"\n"
	"  $ pxtrace export csv -o run.csv run.ptl\n"
	"  $ duckdb -c \"select event, count(*) from 'run.csv' group by event\"\n"
	"\n"
	"A cell of text that a spreadsheet would take for a formula (it begins with = + - @) has\n"
	"an apostrophe in front.\n"
	"\n" PXT_HELP_STATUS,
	NULL,
};

#define FIELDS_MAX 32u

/* One output, so one table. */
static struct csv {
	const char *fields[FIELDS_MAX];
	unsigned field_count;
	bool thread_name;
	bool no_payload;
	bool no_header;
	bool lf;
	struct pxt_out json; /* nothing but its buffer is used */
} csv;

/* ---- Cells ---- */

/* Text from outside. */
static void put_text(struct pxt_out *out, const char *text, size_t bytes)
{
	char label[PXT_ESCAPE_GROWTH * 4096u];

	pxt_csvtext_put(out, label, pxt_escape(text, bytes, label, sizeof label, NULL));
}

static void put_field(struct pxt_out *out, const struct pxt_event *event, const char *name)
{
	const struct pxt_layout *field = pxt_field_named(event->type, name);
	struct pxt_value value;

	pxt_out_char(out, ',');
	if (!field || !pxt_field_value(event, field, &value))
		return;
	if (value.kind == POSIX_TRACE_FIELD_TEXT_NP)
		put_text(out, value.text, value.bytes);
	else if (value.kind == POSIX_TRACE_FIELD_HEX_NP)
		pxt_out_unsigned(out, value.u);
	else
		pxt_out_value(out, &value);
}

/* ---- Rows ---- */

/*
 * A file that is begun anew counts its records from 0: the generation is above the number, in
 * bits 62 to 48, and the whole fits a signed integer of 64 bits.
 */
static uint64_t sequence(const struct pxt_source *source, uint64_t number)
{
	const uint64_t below = (UINT64_C(1) << 48) - 1;

	return (uint64_t)(source->info.posix_generation_np & 0x7fffu) << 48 | (number & below);
}

static void put_begin(
    struct pxt_out *out, const struct pxt_source *source, uint64_t number, int64_t ns)
{
	const struct pxt_export_log *log = source->user;
	const char *prefix = log->format;

	pxt_out_text(out, prefix);
	pxt_out_unsigned(out, sequence(source, number));
	pxt_out_char(out, ',');
	pxt_out_signed(out, ns);
	pxt_out_char(out, ',');
}

static void put_end(struct pxt_out *out)
{
	if (!csv.lf)
		pxt_out_char(out, '\r');
	pxt_out_char(out, '\n');
}

/* Databases count in signed integers. */
static void put_count(struct pxt_out *out, uint64_t count)
{
	pxt_out_unsigned(out, count > INT64_MAX ? INT64_MAX : count);
}

/* ",tid": the system's number, else the pthread_t. */
static void put_thread(struct pxt_out *out, const struct pxt_thread *thread)
{
	int64_t number;

	pxt_out_char(out, ',');
	memcpy(&number, &thread->id, sizeof number);
	if (thread->tid > 0)
		pxt_out_signed(out, thread->tid);
	else if (thread->recorded)
		pxt_out_signed(out, number);
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &export->out;
	const struct pxt_type *type = event->type;

	put_begin(out, event->source, event->extra.posix_number_np, event->ns);
	pxt_csvtext_put(out, type->label, type->bytes);
	pxt_out_char(out, ',');
	pxt_out_unsigned(out, type->id);
	pxt_out_char(out, ',');
	pxt_out_signed(out, event->info.posix_pid);
	put_thread(out, event->thread);
	pxt_out_char(out, ',');
	if (event->extra.posix_cpu_np >= 0)
		pxt_out_signed(out, event->extra.posix_cpu_np);
	pxt_out_char(out, ',');
	put_count(out, lost);
	if (!csv.no_payload) {
		csv.json.used = 0;
		pxt_json_begin(&csv.json);
		pxt_json_payload(&csv.json, event, NULL);
		pxt_json_close(&csv.json, "}");
		pxt_out_char(out, ',');
		pxt_csvtext_quote(out, csv.json.buffer, csv.json.used);
	}
	for (unsigned i = 0; i < csv.field_count; i++)
		put_field(out, event, csv.fields[i]);
	if (csv.thread_name) {
		pxt_out_char(out, ',');
		put_text(out, event->thread->name, strlen(event->thread->name));
	}
	put_end(out);
}

/* The last event's successor: a number that no event of a complete log has. */
static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	struct pxt_out *out = &export->out;
	const struct pxt_event *last = &source->event;
	bool any = source->events > 0;

	put_begin(out, source, any ? last->extra.posix_number_np + 1 : 0,
	    any ? last->ns : source->start_ns);
	pxt_out_text(out, "(lost),0,");
	pxt_out_signed(out, source->info.posix_pid_np);
	pxt_out_text(out, ",,,");
	put_count(out, lost);
	if (!csv.no_payload)
		pxt_out_text(out, ",{}");
	for (unsigned i = 0; i < csv.field_count + csv.thread_name; i++)
		pxt_out_char(out, ',');
	put_end(out);
}

static void put_header(struct pxt_out *out)
{
	pxt_out_text(out, "target,stream,seq,ts_ns,event,event_id,pid,tid,cpu,lost_before");
	if (!csv.no_payload)
		pxt_out_text(out, ",payload");
	for (unsigned i = 0; i < csv.field_count; i++) {
		pxt_out_char(out, ',');
		put_text(out, csv.fields[i], strlen(csv.fields[i]));
	}
	if (csv.thread_name)
		pxt_out_text(out, ",thread");
	put_end(out);
}

/* "target,stream," of each log, made once. */
static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	static struct pxt_out cell;

	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];
		struct pxt_export_log *log = source->user;
		const char *target = pxt_export_target(export, source);
		char uuid[37];

		pxt_export_uuid(uuid, source);
		cell.used = 0;
		put_text(&cell, target, strnlen(target, 255));
		pxt_out_char(&cell, ',');
		pxt_out_text(&cell, uuid);
		pxt_out_bytes(&cell, ",", 2); /* with its NUL */
		log->format = pxt_must(strdup(cell.buffer));
	}
	if (!csv.no_header)
		put_header(&export->out);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	(void)export;
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_export_log *log = reader->sources[i]->user;

		free(log->format);
	}
}

/* ---- The command line ---- */

static bool take_field(void *self, char *value)
{
	(void)self;
	if (*value == '\0')
		pxt_complain("--field wants the name of a field");
	else if (csv.field_count == FIELDS_MAX)
		pxt_complain("more than %u times --field", FIELDS_MAX);
	else
		csv.fields[csv.field_count++] = value;
	return csv.field_count > 0 && csv.fields[csv.field_count - 1] == value;
}

static const struct pxt_option options[] = {
	PXT_OPT_TAKE('f', "field", take_field),
	PXT_OPT_FLAG(0, "thread-name", struct csv, thread_name),
	PXT_OPT_FLAG(0, "no-payload", struct csv, no_payload),
	PXT_OPT_FLAG(0, "no-header", struct csv, no_header),
	PXT_OPT_FLAG(0, "lf", struct csv, lf),
	PXT_OPT_END,
};

static void review(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < csv.field_count; i++)
		pxt_unknown_field(reader, "--field", csv.fields[i]);
}

static const struct pxt_export_format format = {
	.name = "csv",
	.help = help,
	.options = options,
	.self = &csv,
	.begin = begin,
	.event = put_event,
	.lost = put_lost,
	.end = end,
	.review = review,
};

PXT_EXPORT_COMMAND(csv, "a table for databases and spreadsheets")
