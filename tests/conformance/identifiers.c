/* SPDX-License-Identifier: MIT */
/* identifiers.c - which kind of identifier fits which function, cell by cell (table 6.2). */
#include "../suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

/* What an identifier may stand for.  The first three are alive. */
enum kind {
	NO_LOG,
	WITH_LOG,
	RECORDED,
	ZERO,
	GARBAGE,
	ALL_ONES,
	SHUT_NO_LOG,
	SHUT_WITH_LOG,
	CLOSED
};
static const char *const kind_names[] = { "no log", "with log", "pre-recorded", "0", "garbage",
	"all ones", "shut down", "shut down with log", "closed" };
#define N               1u /* fits a stream without log, */
#define L               2u /* ... with log, */
#define R               4u /* ... a pre-recorded one */
#define CANARY          0xa5
#define UNTOUCHED_ERRNO 12345

/* All that any of the functions may store; "unavailable" apart, because readers always set it. */
struct outputs {
	struct posix_trace_event_info event;
	struct posix_trace_status_info status;
	trace_attr_t attr;
	trace_event_id_t id;
	size_t data_len;
	char data[64];
	char name[TRACE_EVENT_NAME_MAX + 1];
#if _PXT_UNIT_FILTER
	trace_event_set_t set;
#endif
	int unavailable;
};

struct function_row {
	const char *name;
	int (*call)(trace_id_t trid, struct outputs *out);
	unsigned fits;
	bool reads; /* would wait, or report nothing, if there were no event */
};

static int call_get_name(trace_id_t trid, struct outputs *out)
{
	return posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USEREVENT, out->name);
}

static int call_list_next(trace_id_t trid, struct outputs *out)
{
	return posix_trace_eventtypelist_getnext_id(trid, &out->id, &out->unavailable);
}

static int call_list_rewind(trace_id_t trid, struct outputs *out)
{
	return posix_trace_eventtypelist_rewind(trid);
}

static int call_get_attr(trace_id_t trid, struct outputs *out)
{
	return posix_trace_get_attr(trid, &out->attr);
}

static int call_get_status(trace_id_t trid, struct outputs *out)
{
	return posix_trace_get_status(trid, &out->status);
}

#if _PXT_UNIT_CORE
static int call_start(trace_id_t trid, struct outputs *out)
{
	return posix_trace_start(trid);
}

static int call_stop(trace_id_t trid, struct outputs *out)
{
	return posix_trace_stop(trid);
}

static int call_clear(trace_id_t trid, struct outputs *out)
{
	return posix_trace_clear(trid);
}

static int call_shutdown(trace_id_t trid, struct outputs *out)
{
	return posix_trace_shutdown(trid);
}
#endif

#if _PXT_UNIT_FILTER
static int call_trid_open(trace_id_t trid, struct outputs *out)
{
	return posix_trace_trid_eventid_open(trid, "identifiers_open", &out->id);
}

static int call_get_filter(trace_id_t trid, struct outputs *out)
{
	return posix_trace_get_filter(trid, &out->set);
}

static int call_set_filter(trace_id_t trid, struct outputs *out)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	return posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
}
#endif

#if _PXT_UNIT_TOLOG
static int call_flush(trace_id_t trid, struct outputs *out)
{
	return posix_trace_flush(trid);
}
#endif

#if _PXT_UNIT_ONLINE || _PXT_UNIT_LOGRETRIEVAL
static int call_getnext(trace_id_t trid, struct outputs *out)
{
	return posix_trace_getnext_event(
	    trid, &out->event, out->data, sizeof(out->data), &out->data_len, &out->unavailable);
}
#endif

#if _PXT_UNIT_ONLINE
static int call_timedgetnext(trace_id_t trid, struct outputs *out)
{
	static const struct timespec past = { 1, 0 };

	return posix_trace_timedgetnext_event(trid, &out->event, out->data, sizeof(out->data),
	    &out->data_len, &out->unavailable, &past);
}

static int call_trygetnext(trace_id_t trid, struct outputs *out)
{
	return posix_trace_trygetnext_event(
	    trid, &out->event, out->data, sizeof(out->data), &out->data_len, &out->unavailable);
}
#endif

#if _PXT_UNIT_LOGRETRIEVAL
static int call_rewind(trace_id_t trid, struct outputs *out)
{
	return posix_trace_rewind(trid);
}

static int call_close(trace_id_t trid, struct outputs *out)
{
	return posix_trace_close(trid);
}
#endif

/* Table 6.2.  Readers of streams with log: DEC-16. */
static const struct function_row functions[] = {
#if _PXT_UNIT_CORE
	{ "start", call_start, N | L, false },
	{ "stop", call_stop, N | L, false },
	{ "clear", call_clear, N | L, false },
	{ "shutdown", call_shutdown, N | L, false },
#endif
#if _PXT_UNIT_FILTER
	{ "trid_eventid_open", call_trid_open, N | L, false },
	{ "get_filter", call_get_filter, N | L, false },
	{ "set_filter", call_set_filter, N | L, false },
#endif
#if _PXT_UNIT_TOLOG
	{ "flush", call_flush, L, false },
#endif
	{ "eventid_get_name", call_get_name, N | L | R, false },
	{ "eventtypelist_getnext_id", call_list_next, N | L | R, false },
	{ "eventtypelist_rewind", call_list_rewind, N | L | R, false },
	{ "get_attr", call_get_attr, N | L | R, false },
	{ "get_status", call_get_status, N | L | R, false },
#if _PXT_UNIT_ONLINE || _PXT_UNIT_LOGRETRIEVAL
	{ "getnext_event", call_getnext, N | R, true },
#endif
#if _PXT_UNIT_ONLINE
	{ "timedgetnext_event", call_timedgetnext, N, true },
	{ "trygetnext_event", call_trygetnext, N, true },
#endif
#if _PXT_UNIT_LOGRETRIEVAL
	{ "rewind", call_rewind, R, false },
	{ "close", call_close, R, false },
#endif
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* ---- Identifiers of each kind ---- */

/* Runs the stream and puts an event into it, if this configuration knows any. */
#if _PXT_UNIT_USEREVENTS
static void put_event(trace_id_t trid)
{
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
}
#elif _PXT_UNIT_CORE
static void put_event(trace_id_t trid)
{
	PXT_EQ(posix_trace_start(trid), 0);
}
#endif

#if _PXT_UNIT_ONLINE
static trace_id_t make_no_log(void)
{
	trace_id_t trid = pxt_any_stream(NULL);

	put_event(trid);
	return trid;
}
#else
#define make_no_log() 0
#endif

#if _PXT_UNIT_TOLOG
static trace_id_t make_with_log(int fd)
{
	trace_id_t trid = pxt_log_stream(NULL, fd);

	put_event(trid);
	return trid;
}
#else
#define make_with_log(fd) ((void)(fd), 0)
#endif

#if PXT_CAN_LOG
static trace_id_t make_recorded(void)
{
	int fd = pxt_temp_file();
	trace_id_t trid = make_with_log(fd);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	/* Reading goes on after the application has closed its descriptor (DEC-22). */
	close(fd);
	return trid;
}
#else
#define make_recorded() 0
#endif

#if _PXT_UNIT_LOGRETRIEVAL
#define close_log(trid) PXT_EQ(posix_trace_close(trid), 0)
#else
#define close_log(trid) ((void)(trid))
#endif

#if _PXT_UNIT_CORE
#define shut(trid) PXT_EQ(posix_trace_shutdown(trid), 0)
#else
#define shut(trid) ((void)(trid))
#endif

static bool kind_exists(enum kind kind)
{
	if (kind == NO_LOG || kind == SHUT_NO_LOG)
		return _PXT_UNIT_ONLINE != 0;
	if (kind == WITH_LOG || kind == SHUT_WITH_LOG)
		return _PXT_UNIT_TOLOG != 0;
	if (kind == RECORDED || kind == CLOSED)
		return PXT_CAN_LOG != 0;
	return true;
}

static trace_id_t make(enum kind kind)
{
	trace_id_t trid = 0;

	if (kind == NO_LOG || kind == SHUT_NO_LOG) {
		trid = make_no_log();
	} else if (kind == WITH_LOG || kind == SHUT_WITH_LOG) {
		int fd = pxt_temp_file();
		trid = make_with_log(fd);
		close(fd);
	} else if (kind == RECORDED || kind == CLOSED) {
		trid = make_recorded();
	} else if (kind == GARBAGE) {
		trid = (trace_id_t)0xdeadbeefu;
	} else if (kind == ALL_ONES) {
		trid = ~(trace_id_t)0;
	}
	if (kind == SHUT_NO_LOG || kind == SHUT_WITH_LOG)
		shut(trid);
	if (kind == CLOSED)
		close_log(trid);
	return trid;
}

/* ---- The tables ---- */

static bool untouched(const struct outputs *out)
{
	const unsigned char *bytes = (const unsigned char *)out;

	for (size_t i = 0; i < offsetof(struct outputs, unavailable); i++) {
		if (bytes[i] != CANARY)
			return false;
	}
	return true;
}

static bool fits(const struct function_row *row, enum kind kind)
{
	return kind <= RECORDED && (row->fits & 1u << kind) != 0;
}

static bool can_read(enum kind kind)
{
	return kind > RECORDED || _PXT_UNIT_USEREVENTS || CONFIG_PTRACE_SYSEV_START_STOP;
}

static void check_cell(const struct function_row *row, enum kind kind)
{
	static struct outputs out;
	trace_id_t trid = make(kind);
	int error;

	memset(&out, CANARY, sizeof(out));
	out.unavailable = row->reads ? 0 : -1;
	errno = UNTOUCHED_ERRNO;
	error = row->call(trid, &out);
	PXT_CHECK(errno == UNTOUCHED_ERRNO, "%s on %s changes errno", row->name, kind_names[kind]);
	PXT_CHECK(error == (fits(row, kind) ? 0 : EINVAL), "%s on %s returns %d", row->name,
	    kind_names[kind], error);
	if (!fits(row, kind)) {
		PXT_CHECK(untouched(&out), "%s on %s stores in spite of an error", row->name,
		    kind_names[kind]);
		PXT_CHECK(!row->reads || out.unavailable != 0,
		    "%s on %s: an event is said to be available", row->name, kind_names[kind]);
	}
	if (kind == NO_LOG || kind == WITH_LOG) {
		if (strcmp(row->name, "shutdown") != 0)
			shut(trid);
	} else if (kind == RECORDED && strcmp(row->name, "close") != 0) {
		close_log(trid);
	}
}

static void check_kinds(unsigned first, unsigned last)
{
	for (unsigned kind = first; kind <= last; kind++) {
		if (!kind_exists((enum kind)kind))
			continue;
		for (size_t i = 0; i < FUNCTIONS; i++) {
			if (!functions[i].reads || can_read((enum kind)kind))
				check_cell(&functions[i], (enum kind)kind);
		}
	}
}

/* TIMED-05, GETNX-09, CREATE-06, CRLOG-02, OPEN-03, FLUSH-E1, START-E1, STOP-E1, CLEAR-E1, SHUT-E1, TREVO-E1, GFILT-E1,
 * SFILT-E1, GETNX-E1, TIMED-E1, TRYNX-E1, REWIND-E1, CLOSE-02, CLOSE-E1, DEC-16, DEC-26, DEC-02 */
PXT_TEST(living_identifiers_fit_the_functions_of_the_table)
{
	check_kinds(NO_LOG, RECORDED);
}

#if PXT_CHECKS_ARGUMENTS
/* EVNAM-E1, LSTNX-E1, LSTRW-E1, GATTR-E1, GSTAT-E1, START-E1, STOP-E1, CLEAR-E1, SHUT-E1, ERR-01,
 * DEC-02 */
PXT_TEST(what_never_was_an_identifier_fits_nothing)
{
	check_kinds(ZERO, ALL_ONES);
}
#endif

/* mistake 1, SHUT-02, CLOSE-01, EVNAM-E1, LSTNX-E1, LSTRW-E1, GATTR-E1, GSTAT-E1, ERR-03, DEC-33 */
PXT_TEST(dead_identifiers_fit_nothing)
{
	check_kinds(SHUT_NO_LOG, CLOSED);
}

#if _PXT_UNIT_CORE && PXT_CAN_CREATE
/* SHUT-02, CREATE-05 */
PXT_TEST(an_identifier_is_not_given_out_again_soon)
{
	trace_id_t first = pxt_any_stream(NULL);
	struct posix_trace_status_info status;

	shut(first);
	for (int i = 0; i < 100; i++) {
		trace_id_t next = pxt_any_stream(NULL);
		CU_ASSERT_NOT_EQUAL(next, first);
		CU_ASSERT_NOT_EQUAL(next, 0);
		PXT_EQ(posix_trace_get_status(first, &status), EINVAL);
		PXT_EQ(posix_trace_shutdown(first), EINVAL);
		shut(next);
	}
}
#endif
