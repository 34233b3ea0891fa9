/* SPDX-License-Identifier: MIT */
/*
 * where.h - conditions on events: --where 'late_ns > 1ms and thread ~ "ctl*"'.
 *
 *	condition  = both { ("or" | "||") both }
 *	both       = single { ("and" | "&&") single }
 *	single     = ("not" | "!") single | "(" condition ")" | "has" field | operand [ relation operand ]
 *	relation   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
 *	operand    = number | text | built-in | field
 *	number     = [ "-" ] ( "0x" digits | digits [ "." digits ] ( [ "e" exponent ] | unit ) )
 *	unit       = "ns" | "us" | "ms" | "s" | "min" | "h"       the number is then nanoseconds
 *	text       = '"' ... '"' | "'" ... "'"                    with \n \t \r \\ \" \' \xNN
 *	built-in   = "time" | "event" | "thread" | "pid" | "tid" | "cpu" | "lost" | "bytes" | "cut"
 *	field      = name | "." name                              the dot where a built-in has its name
 *
 * "time" is nanoseconds since the start of the (earliest) log, and a plain number beside it seconds,
 * as with --from; "lost" is what was lost directly before the event, "bytes" the length of its data,
 * "cut" 1 when it was cut at recording.  "~" matches a text with a glob.  An operand alone is true
 * when it is neither 0 nor empty.
 *
 * A third answer is beside true and false: unknown, where the event has no such field, where a
 * built-in was not recorded, or where a number meets a text.  "not" leaves it unknown, "and" and "or"
 * need not know what cannot change their answer, and only events whose answer is true are chosen:
 * 'not late_ns > 1ms' chooses no event without late_ns.
 *
 * Numbers are compared exactly, whatever their signs and sizes; of a float and an integer as far as
 * a long double goes.
 */
#ifndef PXT_WHERE_H
#define PXT_WHERE_H

#include "tools/event/event.h"

#define PXT_WHERE_BYTES 4096u /* longest condition */
#define PXT_WHERE_DEPTH 32u   /* parentheses and nots inside each other */
#define PXT_WHERE_TESTS 64u   /* comparisons */

struct pxt_text_error;
struct pxt_where;

/* NULL where @text makes no sense: @error says where and why. */
struct pxt_where *pxt_where_parse(const char *text, struct pxt_text_error *error);
void pxt_where_free(struct pxt_where *where);

/* Whether the answer is true; @start_ns is the zero of "time". */
bool pxt_where_true(struct pxt_where *where, const struct pxt_event *event, int64_t start_ns);

/* The @i-th field that the condition names, NULL after the last. */
const char *pxt_where_field(const struct pxt_where *where, unsigned i);
/* The @i-th name or glob that "event", or "thread", is to be; NULL after the last. */
enum pxt_where_of {
	PXT_WHERE_EVENT,
	PXT_WHERE_THREAD
};
const char *pxt_where_name(const struct pxt_where *where, enum pxt_where_of of, unsigned i);

#endif
