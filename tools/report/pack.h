/* SPDX-License-Identifier: MIT */
/*
 * pack.h - events and spans on their way into a page: columns of variable-length numbers, in
 * chunks, as base64 in <script> elements that no browser runs.  data.js is the other end.
 *
 * No compression library: what deltas leave is a few bytes an event, base64 costs a third of that,
 * and both ends need no more than loops.  Base64 has no letter that means anything to HTML, so that
 * no payload can leave its element.
 *
 * A chunk is PXT_PACK_CHUNK events at most: 4 numbers of 4 bytes (events, spans, bytes of data as
 * the reader will unpack them, 0), then 10 columns.  A column is 4 bytes of length and its bytes;
 * with the length's top bit set it is one number that stands for all.  Numbers of 4 bytes are
 * little-endian, the others have 7 bits a byte, the lowest first, the top bit saying that more
 * follows.
 *
 *	0  time in ns since the event before (of the first: since base_ns)
 *	1  type          2  thread          3  CPU + 1         4  1: data was cut at recording
 *	5  bytes of data as the log has them; kept are PXT_PACK_KEEP at most
 *	6  data, by exclusive-or with the data before of the same type (that was longer: its head;
 *	   shorter: as if zeros followed); of each 8 bytes a byte whose bits tell which are not zero,
 *	   and those
 *	7  span: its end event, counted from the span's before
 *	8  span: events from begin to end
 *	9  span: pair
 *
 * Memory: one chunk (at most 40 MB, if every event has the longest data and every number ten bytes;
 * 1 MB in practice) and PXT_PACK_KEEP bytes a type.
 */
#ifndef PXT_PACK_H
#define PXT_PACK_H

#include "tools/output/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_PACK_CHUNK   32768u
#define PXT_PACK_KEEP    256u
#define PXT_PACK_COLUMNS 10u

struct pxt_column {
	unsigned char *bytes;
	size_t used;
	size_t room;
	uint64_t first;
	uint64_t values;
	bool varied;
};

struct pxt_pack {
	struct pxt_out *out;
	uint64_t events; /* so far */
	uint64_t spans;
	uint64_t data_bytes; /* kept */
	int64_t base_ns;     /* of the first event, if that is before the start: else 0 */
	int64_t last_ns;
	uint64_t last_end;
	uint32_t chunk_events;
	uint32_t chunk_spans;
	uint32_t chunk_data;
	struct pxt_column columns[PXT_PACK_COLUMNS];
	unsigned char (*before)[PXT_PACK_KEEP]; /* by type */
	uint32_t before_count;
};

struct pxt_packed {
	int64_t ns; /* since the start, not below the event before */
	uint32_t type;
	uint32_t thread;
	int cpu; /* -1: not known */
	bool cut;
	size_t bytes;
	const unsigned char *data;
};

void pxt_pack_event(struct pxt_pack *pack, const struct pxt_packed *event);
/* Between two events of the page by their numbers; @end not below the span's before. */
void pxt_pack_span(struct pxt_pack *pack, uint64_t begin, uint64_t end, uint32_t pair);
/* Writes what is left, and frees everything. */
void pxt_pack_finish(struct pxt_pack *pack);

/*
 * ---- JSON inside a page ----
 *
 * What means something to HTML (<, >, &) is written as \u00NN, so that no text ends the element that the
 * JSON is in.
 */

/* Text from a log: escaped as for a terminal (output/out.h) first, so that it is printable UTF-8. */
void pxt_json_text(struct pxt_out *out, const char *text);
/* Text that is escaped already (a label). */
void pxt_json_label(struct pxt_out *out, const char *label);
/* Numbers beyond 2^53, which JavaScript would round, become strings. */
void pxt_json_number(struct pxt_out *out, uint64_t value);
void pxt_json_signed(struct pxt_out *out, int64_t value);
/* ,"name": for every member of an object but the first. */
void pxt_json_name(struct pxt_out *out, const char *name);
void pxt_json_member(struct pxt_out *out, const char *name, uint64_t value);
void pxt_json_member_text(struct pxt_out *out, const char *name, const char *text);

/*
 * The page of pxtrace report without its data: embed.py makes these two arrays of
 * page.html, style.css and the scripts beside it.  The data are between them.
 */

extern const unsigned char pxt_page_head[];
extern const size_t pxt_page_head_bytes;
extern const unsigned char pxt_page_tail[];
extern const size_t pxt_page_tail_bytes;

#endif
