/* SPDX-License-Identifier: MIT */
/*
 * line.h - an event as a line: in columns (line.c), as a --format says (format.c), or as an object
 * of JSON (line_json.c), or as QNX's traceprinter does (line_qnx.c).  A loss is a line of its own in each of them.
 */
#ifndef PXT_LINE_H
#define PXT_LINE_H

#include "tools/event/fields.h"
#include "tools/output/out.h"
#include "tools/output/when.h"
#include "tools/read/source.h"
#include "tools/read/symbols.h"

struct open;
struct pxt_format;

struct pxt_line {
	struct pxt_out out;
	const struct pxt_reader *reader;
	struct pxt_fields fields;
	struct pxt_calendar calendar;
	enum pxt_face face;
	struct pxt_symbols **symbols; /* one a log, with @address */
	struct pxt_format *format;
	bool json;
	bool qnx;
	struct open *open; /* with @qnx: events in parts */
	bool delta;
	bool cpu;
	bool address;
	bool live;  /* addresses were not collected beforehand */
	bool begun; /* a line was printed: @last_ns is its time */
	int64_t last_ns;
};

void pxt_line_event(struct pxt_line *line, const struct pxt_event *event);
/* @lost events before @event; NULL: after the last one. */
void pxt_line_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost);

/* ---- What the three have in common ---- */

/* Where in the program the event was recorded: escaped, "-" where that is not known. */
const char *pxt_line_address(const struct pxt_line *line, const struct pxt_event *event);
/* The addresses that its line will show. */
void pxt_line_want(const struct pxt_line *line, const struct pxt_event *event);
/* The function that called, of those that pxt_callers_of() found. */
const char *pxt_line_caller(
    const struct pxt_line *line, const struct pxt_event *event, uint64_t caller);
/* The time since the line before, which this line then is. */
int64_t pxt_line_delta(struct pxt_line *line, const struct pxt_event *event);
/* The time as --relative, --utc, --local or --raw ask for it, without padding. */
void pxt_line_time(struct pxt_line *line, const struct pxt_event *event);

/* ---- JSON (line_json.c) ---- */

void pxt_json_event(struct pxt_line *line, const struct pxt_event *event);
void pxt_json_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost);

/* ---- QNX's style (line_qnx.c) ---- */

void pxt_qnx_event(struct pxt_line *line, const struct pxt_event *event);
/* After the last event: what never ended. */
void pxt_qnx_end(struct pxt_line *line);

#endif
