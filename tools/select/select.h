/* SPDX-License-Identifier: MIT */
/*
 * select.h - the options by which all subcommands choose events: --event, --thread, --pid, --from,
 * --to, --where.
 */
#ifndef PXT_SELECT_H
#define PXT_SELECT_H

#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/output/out.h"

/*
 * Conditions on events: --where 'late_ns > 1ms and thread ~ "ctl*"'.
 *
 * 	condition  = both { ("or" | "||") both }
 * 	both       = single { ("and" | "&&") single }
 * 	single     = ("not" | "!") single | "(" condition ")" | "has" field | operand [ relation operand ]
 * 	relation   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
 * 	operand    = number | text | built-in | field
 * 	number     = [ "-" ] ( "0x" digits | digits [ "." digits ] ( [ "e" exponent ] | unit ) )
 * 	unit       = "ns" | "us" | "ms" | "s" | "min" | "h"       the number is then nanoseconds
 * 	text       = '"' ... '"' | "'" ... "'"                    with \n \t \r \\ \" \' \xNN
 * 	built-in   = "time" | "event" | "thread" | "pid" | "tid" | "cpu" | "lost" | "bytes" | "cut"
 * 	field      = name | "." name                              the dot where a built-in has its name
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

#define PXT_SELECT_MAX 64u

struct pxt_select {
	const char *events[PXT_SELECT_MAX];
	const char *threads[PXT_SELECT_MAX];
	unsigned event_count;
	unsigned thread_count;
	unsigned pid_count;
	pid_t pids[PXT_SELECT_MAX];
	struct pxt_when from;
	struct pxt_when to;
	struct pxt_where *where; /* NULL: any */
};

extern const struct pxt_option pxt_select_options[]; /* of a struct pxt_select */

/* What --help says of them, in every command. */
#define PXT_SELECT_HELP                                                                            \
	"which events:\n"                                                                          \
	"  -e, --event GLOB      types with such a name; may be given several times\n"             \
	"  -t, --thread NAME|TID threads with such a name (a GLOB) or number; several times\n"     \
	"      --pid PID         of this process; several times\n"                                 \
	"      --from TIME       not before: 1.5 (seconds), 200ms, 7us (since the start), or\n"    \
	"      --to TIME         not after:  2026-01-31T12:00:00.25Z (local without Z)\n"          \
	"      --where CONDITION of which this is true: 'late_ns > 1ms and thread ~ \"ctl*\"';\n"  \
	"                        time is as with --from: 'time > 1.5', 'time > 200ms'\n"

/* False, with a word to the user, when nothing could ever be selected. */
bool pxt_select_check(const struct pxt_select *select);

/* By the name and number alone; asked once for each type and thread. */
bool pxt_select_type(const struct pxt_select *select, const char *name);
bool pxt_select_thread(const struct pxt_select *select, const struct pxt_thread *thread);
/* By which --thread, a bit each. */
uint64_t pxt_select_threads(const struct pxt_select *select, const struct pxt_thread *thread);
/* Whether one --thread means it. */
bool pxt_select_means(const char *wanted, const struct pxt_thread *thread);

/* -1: before the window, 0: inside, 1: after it. */
static inline int pxt_select_time(const struct pxt_select *select, int64_t ns, int64_t start_ns)
{
	if (select->from.set && ns - (select->from.absolute ? 0 : start_ns) < select->from.ns)
		return -1;
	return select->to.set && ns - (select->to.absolute ? 0 : start_ns) > select->to.ns;
}

/* Which of --pid it is: a bit each. */
uint64_t pxt_select_pids(const struct pxt_select *select, pid_t pid);
_Static_assert(PXT_SELECT_MAX <= 64, "a bit each");

/* Everything; what costs least, and turns most away, first. (QNX-46) */
static inline bool pxt_select_event(
    const struct pxt_select *select, const struct pxt_event *event, int64_t start_ns)
{
	return event->type->selected && event->thread->selected &&
	       (select->pid_count == 0 || pxt_select_pids(select, event->info.posix_pid) != 0) &&
	       pxt_select_time(select, event->ns, start_ns) == 0 &&
	       (!select->where || pxt_where_true(select->where, event, start_ns));
}

/*
 * ---- Which numeric fields are shown as curves, or join events ----
 *
 * --counter FIELD, --counter EVENT.FIELD; --flow likewise.
 */

#define PXT_COUNTERS_MAX 32u

struct pxt_counters {
	const char *patterns[PXT_COUNTERS_MAX];
	unsigned count;
};

/* Takes one of @option, such as "--counter".  False, with a word to the user, when there are too many. */
bool pxt_counters_option(struct pxt_counters *counters, const char *option, const char *pattern);
bool pxt_counters_want(const struct pxt_counters *counters, const struct pxt_type *type,
    const struct pxt_layout *field);

#endif
