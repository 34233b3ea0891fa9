/* SPDX-License-Identifier: MIT */
/* header.c - <trace.h> itself: types, constants, prototypes, limits, and peace with the C library. */
#include <trace.h>

/* Names that old texts use and <trace.h> must not take (DEC-37): these would clash. */
typedef char posix_trace_attr_t;
typedef char posix_trace_event_info;
typedef char posix_trace_status_info;

#include <trace.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#include "../suite.h"

#define FULL_CONFIGURATION                                                                         \
	(_PXT_UNIT_ONLINE && _PXT_UNIT_TOLOG && _PXT_UNIT_USEREVENTS && _PXT_UNIT_FILTER &&        \
	    !CONFIG_PTRACE_SINGLE_STREAM && !CONFIG_PTRACE_PORT_BARE)
#define TYPE_IS(expression, type) _Generic((expression), type : 1, default : 0)

/* HDR-01 */
PXT_TEST(event_info_has_the_members_of_the_standard)
{
	struct posix_trace_event_info info;

	memset(&info, 0, sizeof(info));
	CU_ASSERT(TYPE_IS(&info.posix_event_id, trace_event_id_t *));
	CU_ASSERT(TYPE_IS(&info.posix_pid, pid_t *));
	CU_ASSERT(TYPE_IS(&info.posix_prog_address, void **));
	CU_ASSERT(TYPE_IS(&info.posix_thread_id, pthread_t *));
	CU_ASSERT(TYPE_IS(&info.posix_timestamp, struct timespec *));
	CU_ASSERT(TYPE_IS(&info.posix_truncation_status, int *));
}

/* HDR-02 */
PXT_TEST(status_info_has_the_members_of_the_standard)
{
	struct posix_trace_status_info info;

	memset(&info, 0, sizeof(info));
	CU_ASSERT(TYPE_IS(&info.posix_stream_status, int *));
	CU_ASSERT(TYPE_IS(&info.posix_stream_full_status, int *));
	CU_ASSERT(TYPE_IS(&info.posix_stream_overrun_status, int *));
	CU_ASSERT(TYPE_IS(&info.posix_stream_flush_status, int *));
	CU_ASSERT(TYPE_IS(&info.posix_stream_flush_error, int *));
	CU_ASSERT(TYPE_IS(&info.posix_log_overrun_status, int *));
	CU_ASSERT(TYPE_IS(&info.posix_log_full_status, int *));
}

/* HDR-03, LIM-08, DEC-03 */
PXT_TEST(the_types_exist_once_the_header_is_included)
{
	CU_ASSERT(sizeof(size_t) != 0);
	CU_ASSERT(sizeof(trace_attr_t) != 0);
	CU_ASSERT(sizeof(trace_event_id_t) != 0);
	CU_ASSERT(sizeof(trace_id_t) != 0);
}

/* Every constant as an enumerator: it must be an integer constant expression. */
#define CONSTANTS(X)                                                                               \
	X(status, POSIX_TRACE_RUNNING)                                                             \
	X(status, POSIX_TRACE_SUSPENDED)                                                           \
	X(full, POSIX_TRACE_FULL)                                                                  \
	X(full, POSIX_TRACE_NOT_FULL)                                                              \
	X(overrun, POSIX_TRACE_OVERRUN)                                                            \
	X(overrun, POSIX_TRACE_NO_OVERRUN)                                                         \
	X(flush, POSIX_TRACE_FLUSHING)                                                             \
	X(flush, POSIX_TRACE_NOT_FLUSHING)                                                         \
	X(policy, POSIX_TRACE_LOOP)                                                                \
	X(policy, POSIX_TRACE_UNTIL_FULL)                                                          \
	X(policy, POSIX_TRACE_FLUSH)                                                               \
	X(policy, POSIX_TRACE_APPEND)                                                              \
	X(inheritance, POSIX_TRACE_CLOSE_FOR_CHILD)                                                \
	X(inheritance, POSIX_TRACE_INHERITED)                                                      \
	X(truncation, POSIX_TRACE_NOT_TRUNCATED)                                                   \
	X(truncation, POSIX_TRACE_TRUNCATED_RECORD)                                                \
	X(truncation, POSIX_TRACE_TRUNCATED_READ)                                                  \
	X(fill, POSIX_TRACE_WOPID_EVENTS)                                                          \
	X(fill, POSIX_TRACE_SYSTEM_EVENTS)                                                         \
	X(fill, POSIX_TRACE_ALL_EVENTS)                                                            \
	X(how, POSIX_TRACE_SET_EVENTSET)                                                           \
	X(how, POSIX_TRACE_ADD_EVENTSET)                                                           \
	X(how, POSIX_TRACE_SUB_EVENTSET)                                                           \
	X(event, POSIX_TRACE_ERROR)                                                                \
	X(event, POSIX_TRACE_START)                                                                \
	X(event, POSIX_TRACE_STOP)                                                                 \
	X(event, POSIX_TRACE_FILTER)                                                               \
	X(event, POSIX_TRACE_OVERFLOW)                                                             \
	X(event, POSIX_TRACE_RESUME)                                                               \
	X(event, POSIX_TRACE_FLUSH_START)                                                          \
	X(event, POSIX_TRACE_FLUSH_STOP)                                                           \
	X(event, POSIX_TRACE_UNNAMED_USEREVENT)

#define AS_ENUMERATOR(group, name) CONSTANT_##name = name,
enum constant {
	CONSTANTS(AS_ENUMERATOR) CONSTANT_UNNAMED = POSIX_TRACE_UNNAMED_USER_EVENT
};

struct constant_row {
	const char *group;
	const char *name;
	long value;
};
#define AS_ROW(group, name) { #group, #name, (long)CONSTANT_##name },
static const struct constant_row constant_table[] = { CONSTANTS(AS_ROW) };
#define CONSTANT_COUNT (sizeof(constant_table) / sizeof(constant_table[0]))

/* mistake 8, mistake 7, HDR-04, HDR-05, HDR-06, DEC-01 */
PXT_TEST(constants_of_one_group_are_distinct)
{
	for (size_t i = 0; i < CONSTANT_COUNT; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct constant_row *a = &constant_table[i];
			const struct constant_row *b = &constant_table[j];
			PXT_CHECK(strcmp(a->group, b->group) != 0 || a->value != b->value,
			    "%s == %s", a->name, b->name);
		}
	}
}

/* mistake 15, HDR-04, STA-02 */
PXT_TEST(no_overrun_is_zero)
{
	PXT_EQ(POSIX_TRACE_NO_OVERRUN, 0);
}

/* HDR-05, DEC-01 */
PXT_TEST(both_spellings_of_the_unnamed_event_are_one)
{
	PXT_EQ(POSIX_TRACE_UNNAMED_USER_EVENT, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(CONSTANT_UNNAMED, CONSTANT_POSIX_TRACE_UNNAMED_USEREVENT);
}

#if PXT_CAN_CREATE
/* HDR-06 */
PXT_TEST(no_event_constant_is_an_invalid_identifier)
{
	trace_id_t trid = pxt_any_stream(NULL);

	/* An object of static storage is no event type, and neither is all ones. */
	CU_ASSERT_FALSE(pxt_has_type(trid, 0));
	CU_ASSERT_FALSE(pxt_has_type(trid, (trace_event_id_t)-1));
	for (size_t i = 0; i < CONSTANT_COUNT; i++) {
		if (strcmp(constant_table[i].group, "event") == 0)
			CU_ASSERT_NOT_EQUAL(constant_table[i].value, 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* The table holds a pointer to each function; a wrong prototype does not compile. */
#define FUNCTION(type, name, ...) static type(*const p_##name) __VA_ARGS__ = (posix_trace_##name);
#define IS_THERE(name)            CU_ASSERT_PTR_NOT_NULL(p_##name)

FUNCTION(int, attr_destroy, (trace_attr_t *))
FUNCTION(int, attr_init, (trace_attr_t *))
FUNCTION(int, attr_getclockres, (const trace_attr_t *, struct timespec *))
FUNCTION(int, attr_getcreatetime, (const trace_attr_t *, struct timespec *))
FUNCTION(int, attr_getgenversion, (const trace_attr_t *, char *))
FUNCTION(int, attr_getname, (const trace_attr_t *, char *))
FUNCTION(int, attr_getmaxdatasize, (const trace_attr_t *restrict, size_t *restrict))
FUNCTION(int, attr_getmaxsystemeventsize, (const trace_attr_t *restrict, size_t *restrict))
FUNCTION(int, attr_getmaxusereventsize, (const trace_attr_t *restrict, size_t, size_t *restrict))
FUNCTION(int, attr_getstreamfullpolicy, (const trace_attr_t *restrict, int *restrict))
FUNCTION(int, attr_getstreamsize, (const trace_attr_t *restrict, size_t *restrict))
FUNCTION(int, eventid_equal, (trace_id_t, trace_event_id_t, trace_event_id_t))
FUNCTION(int, eventid_get_name, (trace_id_t, trace_event_id_t, char *))
FUNCTION(int, eventtypelist_getnext_id, (trace_id_t, trace_event_id_t *restrict, int *restrict))
FUNCTION(int, eventtypelist_rewind, (trace_id_t))
FUNCTION(int, get_attr, (trace_id_t, trace_attr_t *))
FUNCTION(int, get_status, (trace_id_t, struct posix_trace_status_info *))

/* HDR-07 */
PXT_TEST(functions_of_every_configuration_have_the_prototypes_of_the_standard)
{
	IS_THERE(attr_destroy);
	IS_THERE(attr_init);
	IS_THERE(attr_getclockres);
	IS_THERE(attr_getcreatetime);
	IS_THERE(attr_getgenversion);
	IS_THERE(attr_getname);
	IS_THERE(attr_getmaxdatasize);
	IS_THERE(attr_getmaxsystemeventsize);
	IS_THERE(attr_getmaxusereventsize);
	IS_THERE(attr_getstreamfullpolicy);
	IS_THERE(attr_getstreamsize);
	IS_THERE(eventid_equal);
	IS_THERE(eventid_get_name);
	IS_THERE(eventtypelist_getnext_id);
	IS_THERE(eventtypelist_rewind);
	IS_THERE(get_attr);
	IS_THERE(get_status);
}

#if _PXT_UNIT_CORE
FUNCTION(int, attr_setname, (trace_attr_t *, const char *))
FUNCTION(int, attr_setmaxdatasize, (trace_attr_t *, size_t))
FUNCTION(int, attr_setstreamfullpolicy, (trace_attr_t *, int))
FUNCTION(int, attr_setstreamsize, (trace_attr_t *, size_t))
FUNCTION(int, clear, (trace_id_t))
FUNCTION(int, shutdown, (trace_id_t))
FUNCTION(int, start, (trace_id_t))
FUNCTION(int, stop, (trace_id_t))

/* mistake 10, HDR-07 */
PXT_TEST(core_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(attr_setname);
	IS_THERE(attr_setmaxdatasize);
	IS_THERE(attr_setstreamfullpolicy);
	IS_THERE(attr_setstreamsize);
	IS_THERE(clear);
	IS_THERE(shutdown);
	IS_THERE(start);
	IS_THERE(stop);
}
#endif

#if _PXT_UNIT_ONLINE
FUNCTION(int, create, (pid_t, const trace_attr_t *restrict, trace_id_t *restrict))
FUNCTION(int, getnext_event,
    (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,
        int *restrict))
FUNCTION(int, timedgetnext_event,
    (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,
        int *restrict, const struct timespec *restrict))
FUNCTION(int, trygetnext_event,
    (trace_id_t, struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,
        int *restrict))

/* HDR-07 */
PXT_TEST(online_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(create);
	IS_THERE(getnext_event);
	IS_THERE(timedgetnext_event);
	IS_THERE(trygetnext_event);
}
#endif

#if _PXT_UNIT_TOLOG
FUNCTION(int, attr_getlogfullpolicy, (const trace_attr_t *restrict, int *restrict))
FUNCTION(int, attr_getlogsize, (const trace_attr_t *restrict, size_t *restrict))
FUNCTION(int, attr_setlogfullpolicy, (trace_attr_t *, int))
FUNCTION(int, attr_setlogsize, (trace_attr_t *, size_t))
FUNCTION(int, create_withlog, (pid_t, const trace_attr_t *restrict, int, trace_id_t *restrict))
FUNCTION(int, flush, (trace_id_t))

/* HDR-07 */
PXT_TEST(log_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(attr_getlogfullpolicy);
	IS_THERE(attr_getlogsize);
	IS_THERE(attr_setlogfullpolicy);
	IS_THERE(attr_setlogsize);
	IS_THERE(create_withlog);
	IS_THERE(flush);
}
#endif

#if _PXT_UNIT_USEREVENTS
FUNCTION(void, event, (trace_event_id_t, const void *restrict, size_t))
FUNCTION(int, eventid_open, (const char *restrict, trace_event_id_t *restrict))

/* HDR-07 */
PXT_TEST(user_event_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(event);
	IS_THERE(eventid_open);
}
#endif

#if _PXT_UNIT_FILTER
FUNCTION(int, eventset_add, (trace_event_id_t, trace_event_set_t *))
FUNCTION(int, eventset_del, (trace_event_id_t, trace_event_set_t *))
FUNCTION(int, eventset_empty, (trace_event_set_t *))
FUNCTION(int, eventset_fill, (trace_event_set_t *, int))
FUNCTION(
    int, eventset_ismember, (trace_event_id_t, const trace_event_set_t *restrict, int *restrict))
FUNCTION(int, get_filter, (trace_id_t, trace_event_set_t *))
FUNCTION(int, set_filter, (trace_id_t, const trace_event_set_t *, int))
FUNCTION(int, trid_eventid_open, (trace_id_t, const char *restrict, trace_event_id_t *restrict))

/* HDR-07 */
PXT_TEST(filter_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(eventset_add);
	IS_THERE(eventset_del);
	IS_THERE(eventset_empty);
	IS_THERE(eventset_fill);
	IS_THERE(eventset_ismember);
	IS_THERE(get_filter);
	IS_THERE(set_filter);
	IS_THERE(trid_eventid_open);
}

static trace_event_set_t pass_by_value(trace_event_set_t set)
{
	return set;
}

/* HDR-03, HDR-08, HDR-09 */
PXT_TEST(event_sets_can_be_assigned_and_passed_by_value)
{
	trace_event_set_t original;
	trace_event_set_t copy;
	int member = 0;

	PXT_EQ(posix_trace_eventset_empty(&original), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_STOP, &original), 0);
	copy = pass_by_value(original);
	PXT_EQ(posix_trace_eventset_del(POSIX_TRACE_STOP, &original), 0);
	PXT_EQ(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &copy, &member), 0);
	CU_ASSERT_NOT_EQUAL(member, 0);
	PXT_EQ(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &original, &member), 0);
	PXT_EQ(member, 0);
}
#endif

#if _PXT_UNIT_LOGRETRIEVAL
FUNCTION(int, close, (trace_id_t))
FUNCTION(int, open, (int, trace_id_t *))
FUNCTION(int, rewind, (trace_id_t))

/* HDR-07 */
PXT_TEST(retrieval_functions_have_the_prototypes_of_the_standard)
{
	IS_THERE(close);
	IS_THERE(open);
	IS_THERE(rewind);
}
#endif

#if PXT_CAN_CREATE
/* HDR-08 */
PXT_TEST(identifiers_can_be_assigned)
{
	trace_id_t trid = pxt_any_stream(NULL);
	trace_id_t copy = trid;
	trace_event_id_t id = POSIX_TRACE_START;
	trace_event_id_t id_copy = id;
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_get_status(copy, &status), 0);
	CU_ASSERT_NOT_EQUAL(posix_trace_eventid_equal(trid, id, id_copy), 0);
	PXT_EQ(posix_trace_shutdown(copy), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), EINVAL);
}
#endif

/* HDR-11 */
PXT_TEST(the_header_stands_alone_and_bears_repetition)
{
	/* This file includes it first and three times more, around the headers it lives beside. */
	CU_ASSERT_EQUAL(sizeof(posix_trace_attr_t), 1);
}

/* DEC-37 */
PXT_TEST(names_of_old_texts_are_left_to_the_application)
{
	CU_ASSERT_EQUAL(sizeof(posix_trace_attr_t), 1);
	CU_ASSERT_EQUAL(sizeof(posix_trace_event_info), 1);
	CU_ASSERT_EQUAL(sizeof(posix_trace_status_info), 1);
}

/* LIM-01, LIM-02, DEC-03 */
PXT_TEST(limits_are_at_least_their_minima)
{
	PXT_EQ(_POSIX_TRACE_EVENT_NAME_MAX, 30);
	PXT_EQ(_POSIX_TRACE_NAME_MAX, 8);
	PXT_EQ(_POSIX_TRACE_SYS_MAX, 8);
	PXT_EQ(_POSIX_TRACE_USER_EVENT_MAX, 32);
	CU_ASSERT(TRACE_EVENT_NAME_MAX >= _POSIX_TRACE_EVENT_NAME_MAX);
	CU_ASSERT(TRACE_NAME_MAX >= _POSIX_TRACE_NAME_MAX);
	CU_ASSERT(TRACE_USER_EVENT_MAX >= _POSIX_TRACE_USER_EVENT_MAX);
	/* A configuration with a single stream says so here and is no conforming one (DEC-36). */
	CU_ASSERT(TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX || TRACE_SYS_MAX >= 1);
}

#if FULL_CONFIGURATION
/* LIM-01, DEC-36 */
PXT_TEST(a_full_configuration_has_at_least_eight_streams)
{
	CU_ASSERT(TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX);
}
#endif

struct option_row {
	const char *name;
	long in_unistd;
	int sysconf_name;
};
static const struct option_row option_table[] = {
#if defined _SC_TRACE && defined _POSIX_TRACE
	{ "_POSIX_TRACE", _POSIX_TRACE, _SC_TRACE },
	{ "_POSIX_TRACE_EVENT_FILTER", _POSIX_TRACE_EVENT_FILTER, _SC_TRACE_EVENT_FILTER },
	{ "_POSIX_TRACE_LOG", _POSIX_TRACE_LOG, _SC_TRACE_LOG },
	{ "_POSIX_TRACE_INHERIT", _POSIX_TRACE_INHERIT, _SC_TRACE_INHERIT },
#elif defined _SC_TRACE
	/* A C library that leaves the macros away means the same as -1. */
	{ "_POSIX_TRACE", -1, _SC_TRACE },
	{ "_POSIX_TRACE_EVENT_FILTER", -1, _SC_TRACE_EVENT_FILTER },
	{ "_POSIX_TRACE_LOG", -1, _SC_TRACE_LOG },
	{ "_POSIX_TRACE_INHERIT", -1, _SC_TRACE_INHERIT },
#endif
	{ NULL, 0, 0 },
};

/* LIM-05, LIM-07, DEC-03 */
PXT_TEST(the_options_of_the_c_library_are_left_alone)
{
	for (const struct option_row *row = option_table; row->name; row++) {
		PXT_CHECK(row->in_unistd == -1 || row->in_unistd == 0 || row->in_unistd == 200809L,
		    "%s is %ld", row->name, row->in_unistd);
		errno = 0;
		PXT_CHECK(sysconf(row->sysconf_name) == row->in_unistd && errno == 0,
		    "sysconf does not say what %s says", row->name);
	}
}

/* DEC-03 */
PXT_TEST(each_unit_has_a_feature_macro_of_its_own)
{
	static const int macros[] = { _PXT_UNIT_CORE, _PXT_UNIT_ONLINE, _PXT_UNIT_TOLOG,
		_PXT_UNIT_USEREVENTS, _PXT_UNIT_FILTER, _PXT_UNIT_INHERIT, _PXT_UNIT_LOGRETRIEVAL };

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
		CU_ASSERT(macros[i] == 0 || macros[i] == 1);
	CU_ASSERT(!_PXT_UNIT_ONLINE || _PXT_UNIT_CORE);
	CU_ASSERT(!_PXT_UNIT_TOLOG || _PXT_UNIT_CORE);
}
