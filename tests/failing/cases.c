/* SPDX-License-Identifier: MIT */
/*
 * cases.c - each error of each public function, with at least one case for each cause that the
 * function's comment names (listed.py compares the two).
 *
 *	CASE(function, error, how, expression)     one call; errno and results must stay as they are
 *	HOW(function, error, how, expression)      more than one call: provoke.c
 *
 * @how tells cases of one function apart.
 */
#include "fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct failing_case failing_cases[FAILING_CASES_MAX];
size_t failing_count;

static void add(const struct failing_case *one)
{
	if (failing_count == FAILING_CASES_MAX)
		abort();
	failing_cases[failing_count++] = *one;
}

/* Both stand on their own: an error's name that one hands to the other would become a number. */
#define HOW(function, error, how, ...)                                                             \
	static int function##_##error##_##how(void)                                                \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}                                                                                          \
	__attribute__((constructor)) static void add_##function##_##error##_##how(void)            \
	{                                                                                          \
		add(&(const struct failing_case){                                                  \
		    #function, #error, #how, error, false, function##_##error##_##how });          \
	}
#define CASE(function, error, how, ...)                                                            \
	static int function##_##error##_##how(void)                                                \
	{                                                                                          \
		return TRY(__VA_ARGS__);                                                           \
	}                                                                                          \
	__attribute__((constructor)) static void add_##function##_##error##_##how(void)            \
	{                                                                                          \
		add(&(const struct failing_case){                                                  \
		    #function, #error, #how, error, true, function##_##error##_##how });           \
	}

/* clang-format off */

/* ---- Attributes ---- */

CASE(posix_trace_attr_destroy, EINVAL, null, posix_trace_attr_destroy(NULL))
CASE(posix_trace_attr_destroy, EINVAL, destroyed, posix_trace_attr_destroy(&env.bad))
CASE(posix_trace_attr_init, EINVAL, null, posix_trace_attr_init(NULL))

#define GETTER(name)                                                                         \
	CASE(posix_trace_attr_##name, EINVAL, destroyed,                                           \
	    posix_trace_attr_##name(&env.bad, (void *)out.bytes))                                    \
	CASE(posix_trace_attr_##name, EINVAL, null, posix_trace_attr_##name(NULL, (void *)out.bytes)) \
	CASE(posix_trace_attr_##name, EINVAL, no_result, posix_trace_attr_##name(&env.good, NULL))

GETTER(getclockres)
GETTER(getcreatetime)
GETTER(getgenversion)
GETTER(getname)
GETTER(getmaxdatasize)
GETTER(getmaxsystemeventsize)
GETTER(getstreamfullpolicy)
GETTER(getstreamsize)
GETTER(getlogfullpolicy)
GETTER(getlogsize)
GETTER(getinherited)
GETTER(getlanes_np)
GETTER(getorderedstamps_np)
GETTER(getpolling_np)
GETTER(getfile_np)
GETTER(getflushpriority_np)
GETTER(getlogform_np)
#undef GETTER
CASE(posix_trace_attr_getsharename_np, EINVAL, destroyed,
    posix_trace_attr_getsharename_np(&env.bad, (void *)out.bytes, 1))
CASE(posix_trace_attr_getsharename_np, EINVAL, no_result, posix_trace_attr_getsharename_np(&env.good, NULL, 1))
CASE(posix_trace_attr_getsharename_np, ERANGE, no_room,
    posix_trace_attr_getsharename_np(&env.good, (void *)out.bytes, 0))
CASE(posix_trace_attr_getrotation_np, EINVAL, destroyed,
    posix_trace_attr_getrotation_np(&env.bad, (void *)out.bytes, 1))
CASE(posix_trace_attr_getrotation_np, EINVAL, null, posix_trace_attr_getrotation_np(NULL, (void *)out.bytes, 1))
CASE(posix_trace_attr_getrotation_np, EINVAL, no_result, posix_trace_attr_getrotation_np(&env.good, NULL, 1))
CASE(posix_trace_attr_getmaxusereventsize, EINVAL, destroyed,
    posix_trace_attr_getmaxusereventsize(&env.bad, 1, &out.size))
CASE(posix_trace_attr_getmaxusereventsize, EINVAL, no_result,
    posix_trace_attr_getmaxusereventsize(&env.good, 1, NULL))

#define SETTER(name, value)                                                                        \
	CASE(posix_trace_attr_##name, EINVAL, destroyed, posix_trace_attr_##name(&env.bad, value))  \
	CASE(posix_trace_attr_##name, EINVAL, null, posix_trace_attr_##name(NULL, value))

SETTER(setname, "name")
SETTER(setmaxdatasize, 8)
SETTER(setstreamfullpolicy, POSIX_TRACE_LOOP)
SETTER(setstreamsize, 4096)
SETTER(setlogfullpolicy, POSIX_TRACE_APPEND)
SETTER(setlogsize, 65536)
SETTER(setinherited, POSIX_TRACE_INHERITED)
SETTER(setlanes_np, 1)
SETTER(setorderedstamps_np, 1)
SETTER(setpolling_np, 1)
SETTER(setfile_np, -1)
SETTER(setsharename_np, "name")
SETTER(setflushpriority_np, 1)
SETTER(setlogform_np, POSIX_TRACE_LOG_AUTO_NP)
#undef SETTER
CASE(posix_trace_attr_setname, EINVAL, no_name, posix_trace_attr_setname(&env.good, NULL))
CASE(posix_trace_attr_setmaxdatasize, EINVAL, large,
    posix_trace_attr_setmaxdatasize(&env.good, 4096))
CASE(posix_trace_attr_setstreamfullpolicy, EINVAL, value,
    posix_trace_attr_setstreamfullpolicy(&env.good, 77))
CASE(posix_trace_attr_setlogfullpolicy, EINVAL, value,
    posix_trace_attr_setlogfullpolicy(&env.good, 77))
CASE(posix_trace_attr_setinherited, EINVAL, value, posix_trace_attr_setinherited(&env.good, 77))
CASE(posix_trace_attr_setlanes_np, EINVAL, value, posix_trace_attr_setlanes_np(&env.good, 3))
CASE(posix_trace_attr_setfile_np, EINVAL, value, posix_trace_attr_setfile_np(&env.good, -2))
CASE(posix_trace_attr_setfile_np, EINVAL, high, posix_trace_attr_setfile_np(&env.good, INT_MAX))
CASE(posix_trace_attr_setrotation_np, EINVAL, destroyed, posix_trace_attr_setrotation_np(&env.bad, NULL, 0))
CASE(posix_trace_attr_setrotation_np, EINVAL, null, posix_trace_attr_setrotation_np(NULL, NULL, 0))
CASE(posix_trace_attr_setrotation_np, EINVAL, name,
    posix_trace_attr_setrotation_np(&env.good, &(struct posix_trace_rotation_np){ .posix_name_np = "" },
        sizeof(struct posix_trace_rotation_np)))
CASE(posix_trace_attr_setsharename_np, EINVAL, empty,
    posix_trace_attr_setsharename_np(&env.good, ""))
CASE(posix_trace_attr_setsharename_np, EINVAL, dots,
    posix_trace_attr_setsharename_np(&env.good, ".."))
CASE(posix_trace_attr_setsharename_np, EINVAL, longer,
    posix_trace_attr_setsharename_np(&env.good, LONG_NAME))
CASE(posix_trace_attr_setflushpriority_np, EINVAL, value,
    posix_trace_attr_setflushpriority_np(&env.good, -1))
CASE(posix_trace_attr_setlogform_np, EINVAL, value, posix_trace_attr_setlogform_np(&env.good, 77))

/* ---- Names and types ---- */

CASE(posix_trace_eventid_get_name, EINVAL, unknown,
    posix_trace_eventid_get_name(UNKNOWN, POSIX_TRACE_START, out.text))
CASE(posix_trace_eventid_get_name, EINVAL, no_type,
    posix_trace_eventid_get_name(env.stream, 999999, out.text))
CASE(posix_trace_eventid_get_name, EINVAL, no_type_in_log,
    posix_trace_eventid_get_name(env.log, 999999, out.text))
CASE(posix_trace_eventid_get_name, EINVAL, no_result,
    posix_trace_eventid_get_name(env.stream, POSIX_TRACE_START, NULL))
CASE(posix_trace_eventtypelist_getnext_id, EINVAL, unknown,
    posix_trace_eventtypelist_getnext_id(UNKNOWN, &out.id, &gone))
CASE(posix_trace_eventtypelist_getnext_id, EINVAL, no_id,
    posix_trace_eventtypelist_getnext_id(env.stream, NULL, &gone))
CASE(posix_trace_eventtypelist_getnext_id, EINVAL, no_answer,
    posix_trace_eventtypelist_getnext_id(env.stream, &out.id, NULL))
CASE(posix_trace_eventtypelist_rewind, EINVAL, unknown, posix_trace_eventtypelist_rewind(UNKNOWN))
CASE(posix_trace_eventid_getformat_np, EINVAL, unknown,
    posix_trace_eventid_getformat_np(UNKNOWN, POSIX_TRACE_START, out.text, sizeof(out.text)))
CASE(posix_trace_eventid_getformat_np, EINVAL, no_type,
    posix_trace_eventid_getformat_np(env.stream, 999999, out.text, sizeof(out.text)))
CASE(posix_trace_eventid_getformat_np, EINVAL, no_result,
    posix_trace_eventid_getformat_np(env.stream, env.id, NULL, sizeof(out.text)))
CASE(posix_trace_eventid_getformat_np, ERANGE, no_room,
    posix_trace_eventid_getformat_np(env.stream, env.id, out.text, 0))
CASE(posix_trace_eventid_open, EINVAL, no_name, posix_trace_eventid_open(NULL, &out.id))
CASE(posix_trace_eventid_open, EINVAL, no_result, posix_trace_eventid_open("name", NULL))
CASE(posix_trace_eventid_open, ENAMETOOLONG, longer, posix_trace_eventid_open(LONG_NAME, &out.id))
HOW(posix_trace_eventid_open, ENOMEM, first_of_all, in_fresh_process("name"))
HOW(posix_trace_eventid_open, EAGAIN, a_fork_stands, standing(name_anew))
CASE(posix_trace_trid_eventid_open, EINVAL, unknown,
    posix_trace_trid_eventid_open(UNKNOWN, "name", &out.id))
CASE(posix_trace_trid_eventid_open, EINVAL, no_name,
    posix_trace_trid_eventid_open(env.stream, NULL, &out.id))
CASE(posix_trace_trid_eventid_open, EINVAL, no_result,
    posix_trace_trid_eventid_open(env.stream, "name", NULL))
CASE(posix_trace_trid_eventid_open, ENAMETOOLONG, longer,
    posix_trace_trid_eventid_open(env.stream, LONG_NAME, &out.id))
HOW(posix_trace_trid_eventid_open, EAGAIN, a_fork_stands, standing(name_anew_by_stream))
CASE(posix_trace_eventid_setformat_np, EINVAL, malformed,
    posix_trace_eventid_setformat_np(env.id, "u33 x"))
CASE(posix_trace_eventid_setformat_np, EINVAL, null,
    posix_trace_eventid_setformat_np(env.id, NULL))
CASE(posix_trace_eventid_setformat_np, EINVAL, system_type,
    posix_trace_eventid_setformat_np(POSIX_TRACE_START, "u32 x"))
CASE(posix_trace_eventid_setformat_np, EINVAL, unnamed,
    posix_trace_eventid_setformat_np(POSIX_TRACE_UNNAMED_USEREVENT, "u32 x"))
CASE(posix_trace_eventid_setformat_np, EBUSY, another,
    posix_trace_eventid_setformat_np(env.id, "u64 other"))
HOW(posix_trace_eventid_setformat_np, ENOMEM, used_up, in_new_process(describe_too_much))
HOW(posix_trace_eventid_setformat_np, EAGAIN, a_fork_stands, standing(describe))
CASE(posix_trace_event_stack_np, EINVAL, none, posix_trace_event_stack_np(env.id, NULL, 0, 0))
CASE(posix_trace_event_stack_np, EINVAL, deep,
    posix_trace_event_stack_np(env.id, NULL, 0, POSIX_TRACE_STACK_MAX_NP + 1))
CASE(posix_trace_event_stack_np, EINVAL, long_data,
    posix_trace_event_stack_np(env.id, "", POSIX_TRACE_STACK_DATA_NP + 1, 1))
CASE(posix_trace_event_stack_np, EINVAL, null, posix_trace_event_stack_np(env.id, NULL, 1, 1))
HOW(posix_trace_dump_threads_np, EBUSY, another, in_new_process(dump_what_is_something_else))
HOW(posix_trace_dump_threads_np, ENOMEM, used_up, in_new_process(dump_without_room))
HOW(posix_trace_dump_threads_np, EAGAIN, a_fork_stands, standing(dump_threads))

CASE(posix_trace_fields_np, EINVAL, malformed,
    posix_trace_fields_np("u33 a", NULL, 0, 0, (void *)out.bytes))
CASE(posix_trace_fields_np, EINVAL, no_format, posix_trace_fields_np(NULL, NULL, 0, 0, (void *)out.bytes))
CASE(posix_trace_fields_np, EINVAL, no_fields,
    posix_trace_fields_np("u32 a", NULL, sizeof(struct posix_trace_field_np), 1, (void *)out.bytes))
CASE(posix_trace_fields_np, EINVAL, no_count, posix_trace_fields_np("u32 a", NULL, 0, 0, NULL))
CASE(posix_trace_fields_np, EINVAL, no_size,
    posix_trace_fields_np("u32 a", (void *)out.bytes, 0, 1, &out.size))
CASE(posix_trace_field_value_np, ENOENT, cut,
    posix_trace_field_value_np(
        &(struct posix_trace_field_np){ .posix_kind_np = 1, .posix_bytes_np = 4 }, "abc", 3, 0,
        (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_value_np, EINVAL, none,
    posix_trace_field_value_np(&(struct posix_trace_field_np){ .posix_kind_np = 1 }, "abcd", 4, 0,
        (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_value_np, EINVAL, no_field,
    posix_trace_field_value_np(NULL, "abcd", 4, 0, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_value_np, EINVAL, no_data,
    posix_trace_field_value_np(
        &(struct posix_trace_field_np){ .posix_kind_np = 1, .posix_bytes_np = 4 }, NULL, 4, 0,
        (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_value_np, EINVAL, no_result,
    posix_trace_field_value_np(
        &(struct posix_trace_field_np){ .posix_kind_np = 1, .posix_bytes_np = 4 }, "abcd", 4, 0,
        NULL, sizeof(out.bytes)))
CASE(posix_trace_field_value_np, EINVAL, short_result,
    posix_trace_field_value_np(
        &(struct posix_trace_field_np){ .posix_kind_np = 1, .posix_bytes_np = 4 }, "abcd", 4, 0,
        (void *)out.bytes, 72))
HOW(posix_trace_field_next_np, ENOENT, no_more, second_field())
CASE(posix_trace_field_next_np, ENOENT, cut,
    posix_trace_field_next_np("u32 a", "ab", 2, 0, &(size_t){ 0 }, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_next_np, EINVAL, malformed,
    posix_trace_field_next_np("u33 a", "ab", 2, 0, &(size_t){ 0 }, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_next_np, EINVAL, no_format,
    posix_trace_field_next_np(NULL, "ab", 2, 0, &(size_t){ 0 }, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_next_np, EINVAL, no_data,
    posix_trace_field_next_np("u32 a", NULL, 2, 0, &(size_t){ 0 }, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_next_np, EINVAL, no_cursor,
    posix_trace_field_next_np("u32 a", "abcd", 4, 0, NULL, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_field_next_np, EINVAL, no_result,
    posix_trace_field_next_np("u32 a", "abcd", 4, 0, &(size_t){ 0 }, NULL, 0))

/* ---- Sets and filters ---- */

CASE(posix_trace_eventset_add, EINVAL, zero, posix_trace_eventset_add(0, &out.set))
CASE(posix_trace_eventset_add, EINVAL, large, posix_trace_eventset_add(_PXT_EVENT_IDS, &out.set))
CASE(posix_trace_eventset_add, EINVAL, no_set, posix_trace_eventset_add(1, NULL))
CASE(posix_trace_eventset_del, EINVAL, zero, posix_trace_eventset_del(0, &out.set))
CASE(posix_trace_eventset_del, EINVAL, large, posix_trace_eventset_del(_PXT_EVENT_IDS, &out.set))
CASE(posix_trace_eventset_del, EINVAL, no_set, posix_trace_eventset_del(1, NULL))
CASE(posix_trace_eventset_empty, EINVAL, no_set, posix_trace_eventset_empty(NULL))
CASE(posix_trace_eventset_fill, EINVAL, value, posix_trace_eventset_fill(&out.set, 77))
CASE(posix_trace_eventset_fill, EINVAL, no_set,
    posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS))
CASE(posix_trace_eventset_ismember, EINVAL, zero,
    posix_trace_eventset_ismember(0, &env.set, &out.number))
CASE(posix_trace_eventset_ismember, EINVAL, no_set,
    posix_trace_eventset_ismember(1, NULL, &out.number))
CASE(posix_trace_eventset_ismember, EINVAL, no_result,
    posix_trace_eventset_ismember(1, &env.set, NULL))
CASE(posix_trace_get_filter, EINVAL, unknown, posix_trace_get_filter(UNKNOWN, &out.set))
CASE(posix_trace_get_filter, EINVAL, log, posix_trace_get_filter(env.log, &out.set))
CASE(posix_trace_get_filter, EINVAL, no_set, posix_trace_get_filter(env.stream, NULL))
CASE(posix_trace_set_filter, EINVAL, unknown,
    posix_trace_set_filter(UNKNOWN, &env.set, POSIX_TRACE_SET_EVENTSET))
CASE(posix_trace_set_filter, EINVAL, log,
    posix_trace_set_filter(env.log, &env.set, POSIX_TRACE_SET_EVENTSET))
CASE(posix_trace_set_filter, EINVAL, no_set,
    posix_trace_set_filter(env.stream, NULL, POSIX_TRACE_SET_EVENTSET))
CASE(posix_trace_set_filter, EINVAL, value, posix_trace_set_filter(env.stream, &env.set, 77))

/* ---- What streams and logs tell, and control ---- */

CASE(posix_trace_get_attr, EINVAL, unknown, posix_trace_get_attr(UNKNOWN, &out.attr))
CASE(posix_trace_get_attr, EINVAL, no_result, posix_trace_get_attr(env.stream, NULL))
CASE(posix_trace_get_attr, EINVAL, log_no_result, posix_trace_get_attr(env.log, NULL))
CASE(posix_trace_get_status, EINVAL, unknown, posix_trace_get_status(UNKNOWN, &out.status))
CASE(posix_trace_get_status, EINVAL, no_result, posix_trace_get_status(env.stream, NULL))
CASE(posix_trace_getclock_np, EINVAL, unknown, posix_trace_getclock_np(UNKNOWN, &out.clock, sizeof(out.clock)))
CASE(posix_trace_getclock_np, EINVAL, no_result, posix_trace_getclock_np(env.stream, NULL, 0))
CASE(posix_trace_getcounts_np, EINVAL, unknown, posix_trace_getcounts_np(UNKNOWN, &out.counts, sizeof(out.counts)))
CASE(posix_trace_getcounts_np, EINVAL, log, posix_trace_getcounts_np(env.log, &out.counts, sizeof(out.counts)))
CASE(posix_trace_getcounts_np, EINVAL, no_result, posix_trace_getcounts_np(env.stream, NULL, 0))
CASE(posix_trace_eventset_addgroup_np, ENOENT, none,
    posix_trace_eventset_addgroup_np("there is no such *", &out.set))
CASE(posix_trace_eventset_addgroup_np, EINVAL, no_pattern,
    posix_trace_eventset_addgroup_np(NULL, &out.set))
CASE(posix_trace_eventset_addgroup_np, EINVAL, no_set, posix_trace_eventset_addgroup_np("*", NULL))
CASE(posix_trace_set_handler_np, EINVAL, unknown,
    posix_trace_set_handler_np(UNKNOWN, &env.set, keep_event, NULL))
CASE(posix_trace_set_handler_np, EINVAL, log,
    posix_trace_set_handler_np(env.log, &env.set, keep_event, NULL))
CASE(posix_trace_set_handler_np, EINVAL, no_set,
    posix_trace_set_handler_np(env.stream, NULL, keep_event, NULL))
HOW(posix_trace_set_handler_np, ENOMEM, many, in_new_process(set_too_many_handlers))
HOW(posix_trace_set_handler_np, ENOMEM, no_memory, rules_without_memory(set_a_handler))
HOW(posix_trace_set_handler_np, EBUSY, inside, rules_from_inside(set_a_handler))
HOW(posix_trace_set_threads_np, ENOMEM, no_memory, rules_without_memory(set_no_threads))
HOW(posix_trace_set_threads_np, EBUSY, inside, rules_from_inside(set_no_threads))
HOW(posix_trace_set_processes_np, ENOMEM, no_memory, rules_without_memory(set_no_processes))
HOW(posix_trace_set_processes_np, EBUSY, inside, rules_from_inside(set_no_processes))
HOW(posix_trace_set_short_np, ENOMEM, no_memory, rules_without_memory(set_short))
HOW(posix_trace_set_short_np, EBUSY, inside, rules_from_inside(set_short))
CASE(posix_trace_set_threads_np, EINVAL, unknown, posix_trace_set_threads_np(UNKNOWN, NULL, 0))
CASE(posix_trace_set_threads_np, EINVAL, no_threads, posix_trace_set_threads_np(env.stream, NULL, 1))
CASE(posix_trace_set_threads_np, EINVAL, many,
    posix_trace_set_threads_np(env.stream, (const pthread_t *)(void *)out.bytes, 33))
CASE(posix_trace_set_processes_np, EINVAL, unknown, posix_trace_set_processes_np(UNKNOWN, NULL, 0))
CASE(posix_trace_set_processes_np, EINVAL, no_pids, posix_trace_set_processes_np(env.stream, NULL, 1))
CASE(posix_trace_set_processes_np, EINVAL, many,
    posix_trace_set_processes_np(env.stream, (const pid_t *)(void *)out.bytes, 17))
CASE(posix_trace_set_short_np, EINVAL, unknown, posix_trace_set_short_np(UNKNOWN, &env.set))
CASE(posix_trace_set_short_np, EINVAL, no_set, posix_trace_set_short_np(env.stream, NULL))
CASE(posix_trace_getlevels_np, EINVAL, unknown, posix_trace_getlevels_np(UNKNOWN, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_getlevels_np, EINVAL, no_result, posix_trace_getlevels_np(env.stream, NULL, 0))
CASE(posix_trace_set_process_clock_np, EBUSY, stream, posix_trace_set_process_clock_np(NULL, NULL, 0))
CASE(posix_trace_set_process_clock_np, EINVAL, rate, posix_trace_set_process_clock_np(no_clock, NULL, 0))
CASE(posix_trace_text_np, ENOENT, no_message,
    posix_trace_text_np("u32 a", "1234", 4, 0, out.text, sizeof(out.text)))
CASE(posix_trace_text_np, EINVAL, malformed,
    posix_trace_text_np("u33 a; b", "1234", 4, 0, out.text, sizeof(out.text)))
CASE(posix_trace_text_np, EINVAL, no_text, posix_trace_text_np("u32 a; b", "1234", 4, 0, NULL, 8))
CASE(posix_trace_text_np, EINVAL, no_room, posix_trace_text_np("u32 a; b", "1234", 4, 0, out.text, 0))
CASE(posix_trace_streams_np, EINVAL, no_count, posix_trace_streams_np(&out.trid, 1, NULL))
CASE(posix_trace_streams_np, EINVAL, no_room, posix_trace_streams_np(NULL, 1, &out.size))
CASE(posix_trace_clear, EINVAL, unknown, posix_trace_clear(UNKNOWN))
CASE(posix_trace_clear, EINVAL, log, posix_trace_clear(env.log))
CASE(posix_trace_shutdown, EINVAL, unknown, posix_trace_shutdown(UNKNOWN))
CASE(posix_trace_shutdown, EINVAL, log, posix_trace_shutdown(env.log))
HOW(posix_trace_shutdown, EFBIG, large, shutdown_failing(EFBIG))
HOW(posix_trace_shutdown, ENOSPC, full, shutdown_failing(ENOSPC))
HOW(posix_trace_shutdown, EIO, truncated, shutdown_untruncated(EIO))
CASE(posix_trace_start, EINVAL, unknown, posix_trace_start(UNKNOWN))
CASE(posix_trace_start, EINVAL, log, posix_trace_start(env.log))
CASE(posix_trace_stop, EINVAL, unknown, posix_trace_stop(UNKNOWN))
CASE(posix_trace_stop, EINVAL, log, posix_trace_stop(env.log))
HOW(posix_trace_thread_register_np, ENOMEM, first_of_all, in_fresh_process("register"))
CASE(posix_trace_seal_on_signals_np, EINVAL, uncaught,
    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, (const int[]){ SIGSEGV, SIGKILL }, 2))
CASE(posix_trace_seal_on_signals_np, EINVAL, harmless,
    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, (const int[]){ SIGCHLD }, 1))
CASE(posix_trace_seal_on_signals_np, EINVAL, none_such,
    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, (const int[]){ 4711 }, 1))
CASE(posix_trace_seal_on_signals_np, EINVAL, which, posix_trace_seal_on_signals_np(3, NULL, 0))
CASE(posix_trace_seal_on_signals_np, EINVAL, no_signals,
    posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, NULL, 1))
HOW(posix_trace_seal_on_signals_np, ENOMEM, many, in_new_process(seal_on_too_many))

/* ---- Creation ---- */

#define CREATE_WRONG(create, made)                                                                 \
	HOW(create, ESRCH, negative, made(-1, NULL))                                               \
	HOW(create, ESRCH, dead, made(dead_pid(), NULL))                                           \
	HOW(create, EPERM, another, made(getppid(), NULL))                                         \
	HOW(create, EINVAL, destroyed, made(0, &env.bad))                                          \
	HOW(create, EINVAL, file_not_empty, with_file(made, full_file()))                          \
	HOW(create, EINVAL, file_is_pipe, with_file(made, dup(env.pipe[1])))                       \
	HOW(create, EINVAL, file_sealed, with_file(made, sealed_file()))                           \
	HOW(create, EINVAL, path_leads_nowhere, with_name(made, "/nowhere/at/all"))                \
	HOW(create, EINVAL, path_is_a_file, with_name(made, path_of_file()))                       \
	HOW(create, EEXIST, name_taken, name_twice(made))                                          \
	HOW(create, EACCES, folder_closed, with_closed_folder(made))                               \
	HOW(create, EAGAIN, streams, too_many(made))                                               \
	HOW(create, EAGAIN, no_thread_for_name, name_without_thread(made))                         \
	HOW(create, EAGAIN, no_descriptor_for_name, name_without_descriptors(made))                \
	HOW(create, ENOMEM, first, without_memory(made, 1))                                        \
	HOW(create, ENOMEM, file, file_without_room(made, true))                                   \
	HOW(create, ENOMEM, file_not_mapped, file_without_room(made, false))

CREATE_WRONG(posix_trace_create, make)
CREATE_WRONG(posix_trace_create_withlog, make_logged)
#undef CREATE_WRONG
HOW(posix_trace_create, ENOMEM, first_of_all, in_fresh_process("create"))
HOW(posix_trace_create, EINVAL, no_result, TRY(posix_trace_create(0, NULL, NULL)))
HOW(posix_trace_create, EINVAL, needs_log, make(0, with_policy(POSIX_TRACE_FLUSH)))
HOW(posix_trace_create_withlog, ENOMEM, second, without_memory(make_logged, 2))
HOW(posix_trace_create_withlog, EINVAL, no_result,
    TRY(posix_trace_create_withlog(0, NULL, env.file, NULL)))
HOW(posix_trace_create_withlog, EINVAL, pipe_and_policy, logged_to_pipe(POSIX_TRACE_LOOP))
HOW(posix_trace_create_withlog, EINVAL, no_device, logged_to(eventfd(0, 0)))
HOW(posix_trace_create_withlog, EBADF, directory, logged_to(open("/", O_RDONLY | O_DIRECTORY)))
HOW(posix_trace_create_withlog, EINVAL, small_log, make_logged(0, with_tiny_log()))
HOW(posix_trace_create_withlog, EINVAL, priority, make_logged(0, with_priority(1000)))
HOW(posix_trace_create_withlog, EINVAL, file_is_the_log, own_log_as_file())
HOW(posix_trace_create_withlog, EBADF, closed,
    TRY(posix_trace_create_withlog(0, NULL, -1, &out.trid)))
HOW(posix_trace_create_withlog, EBADF, only_for_reading, logged_to(open("/dev/null", O_RDONLY)))
HOW(posix_trace_create_withlog, EMFILE, no_descriptor, without_descriptors(make_logged))
HOW(posix_trace_create_withlog, EAGAIN, no_thread, flush_without_thread(0, EAGAIN))
HOW(posix_trace_create_withlog, EAGAIN, no_thread_of_priority, flush_without_thread(1, EAGAIN))
HOW(posix_trace_create_withlog, EAGAIN, device_takes_nothing, logged_to_full_pipe())
HOW(posix_trace_create_withlog, EPERM, priority, flush_without_thread(1, EPERM))
HOW(posix_trace_create_withlog, EPERM, priority_for_real, priority_not_for_us())
HOW(posix_trace_create_withlog, ENOSPC, head, logged_failing(ENOSPC))
HOW(posix_trace_create_withlog, ENOSPC, device, logged_to(open("/dev/full", O_WRONLY)))
HOW(posix_trace_create_withlog, EFBIG, head, logged_failing(EFBIG))
HOW(posix_trace_create_withlog, EIO, head, logged_failing(EIO))
HOW(posix_trace_create_withlog, EIO, truncate, logged_untruncated(EIO))
HOW(posix_trace_create_withlog, EPIPE, nobody_reads, logged_to_broken_pipe())

/* ---- Reading ---- */

#define GETNEXT(function, more, wrong)                                                             \
	CASE(function, EINVAL, unknown, function(UNKNOWN, READ more))                              \
	CASE(function, EINVAL, with_log, function(env.logged, READ more))                          \
	CASE(function, EINVAL, no_event,                                                           \
	    function(env.stream, NULL, out.bytes, 8, &out.size, &gone more))                       \
	CASE(function, EINVAL, no_data,                                                            \
	    function(env.stream, &out.event, NULL, 8, &out.size, &gone more))                      \
	CASE(function, EINVAL, no_length,                                                          \
	    function(env.stream, &out.event, out.bytes, 8, NULL, &gone more))                      \
	CASE(function, EINVAL, no_answer,                                                          \
	    function(env.stream, &out.event, out.bytes, 8, &out.size, NULL more))                  \
	wrong

#define READ &out.event, out.bytes, 8, &out.size, &gone
GETNEXT(posix_trace_getnext_event, , )
GETNEXT(posix_trace_trygetnext_event, , )
GETNEXT(posix_trace_timedgetnext_event, COMMA &env.past, )
GETNEXT(posix_trace_trygetnext_whole_np, , )
#undef GETNEXT
CASE(posix_trace_trygetnext_event, EINVAL, log, posix_trace_trygetnext_event(env.log, READ))
CASE(posix_trace_timedgetnext_event, EINVAL, log,
    posix_trace_timedgetnext_event(env.log, READ, &env.past))
CASE(posix_trace_timedgetnext_event, EINVAL, time,
    posix_trace_timedgetnext_event(env.stream, READ, &env.wrong_time))
CASE(posix_trace_timedgetnext_event, EINVAL, no_time,
    posix_trace_timedgetnext_event(env.stream, READ, NULL))
HOW(posix_trace_timedgetnext_event, EINVAL, shut_down, shut_down_meanwhile(&env.far))
HOW(posix_trace_timedgetnext_event, EINTR, signal, interrupted(&env.far))
CASE(posix_trace_timedgetnext_event, ETIMEDOUT, past,
    posix_trace_timedgetnext_event(env.stream, READ, &env.past))
HOW(posix_trace_getnext_event, EINVAL, shut_down, shut_down_meanwhile(NULL))
HOW(posix_trace_getnext_event, EINTR, signal, interrupted(NULL))
HOW(posix_trace_getnext_event, EIO, unreadable, unreadable(read_one))
HOW(posix_trace_getnext_event, EIO, cut, cut_short(read_one))
HOW(posix_trace_trygetnext_whole_np, EIO, unreadable, unreadable(read_whole))
HOW(posix_trace_trygetnext_whole_np, EIO, cut, cut_short(read_whole))
HOW(posix_trace_trygetnext_whole_np, EMSGSIZE, stream, short_of_streams_event())
HOW(posix_trace_trygetnext_whole_np, EMSGSIZE, log, short_of_logs_event())
HOW(posix_trace_getnext_events_np, EIO, unreadable, unreadable(read_many))
HOW(posix_trace_getnext_events_np, EIO, cut, cut_short(read_many))
/* *count is 0 then. */
HOW(posix_trace_getnext_events_np, EINVAL, unknown,
    TRY(posix_trace_getnext_events_np(UNKNOWN, out.views, sizeof(*out.views), 1, &out.size)))
HOW(posix_trace_getnext_events_np, EINVAL, with_log,
    TRY(posix_trace_getnext_events_np(env.logged, out.views, sizeof(*out.views), 1, &out.size)))
HOW(posix_trace_getnext_events_np, EINVAL, no_room,
    TRY(posix_trace_getnext_events_np(env.stream, out.views, sizeof(*out.views), 0, &out.size)))
HOW(posix_trace_getnext_events_np, EINVAL, no_size,
    TRY(posix_trace_getnext_events_np(env.stream, out.views, 0, 1, &out.size)))
HOW(posix_trace_getnext_events_np, EINVAL, no_views,
    TRY(posix_trace_getnext_events_np(env.stream, NULL, sizeof(*out.views), 1, &out.size)))
HOW(posix_trace_getnext_events_np, EINVAL, no_count,
    TRY(posix_trace_getnext_events_np(env.stream, out.views, sizeof(*out.views), 1, NULL)))
HOW(posix_trace_getnext_events_np, ENOMEM, first_call, views_without_memory())
CASE(posix_trace_eventinfo_getextra_np, EINVAL, no_event,
    posix_trace_eventinfo_getextra_np(NULL, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_eventinfo_getextra_np, EINVAL, no_result,
    posix_trace_eventinfo_getextra_np(&env.event, NULL, 0))

/* ---- Output ---- */

CASE(posix_trace_flush, EINVAL, unknown, posix_trace_flush(UNKNOWN))
CASE(posix_trace_flush, EINVAL, no_log, posix_trace_flush(env.stream))
CASE(posix_trace_flush, EINVAL, log, posix_trace_flush(env.log))
HOW(posix_trace_flush, EFBIG, large, flush_failing(EFBIG))
HOW(posix_trace_flush, ENOSPC, full, flush_failing(ENOSPC))
HOW(posix_trace_flush, EIO, passed_on, flush_failing(EIO))
HOW(posix_trace_flush, EAGAIN, device_takes_nothing, flush_to_full_pipe())
HOW(posix_trace_flush, EBADF, closed, flush_without_descriptor())
HOW(posix_trace_flush, EPIPE, reader_gone, flush_without_reader())
CASE(posix_trace_rotate_np, EINVAL, unknown, posix_trace_rotate_np(UNKNOWN))
CASE(posix_trace_rotate_np, EINVAL, no_log, posix_trace_rotate_np(env.stream))
CASE(posix_trace_rotate_np, EINVAL, one_file, posix_trace_rotate_np(env.logged))
CASE(posix_trace_note_np, EINVAL, unknown, posix_trace_note_np(UNKNOWN, "name", "text"))
CASE(posix_trace_note_np, EINVAL, no_log, posix_trace_note_np(env.stream, "name", "text"))
CASE(posix_trace_note_np, EINVAL, log, posix_trace_note_np(env.log, "name", "text"))
CASE(posix_trace_note_np, EINVAL, no_name, posix_trace_note_np(env.logged, NULL, "text"))
CASE(posix_trace_note_np, EINVAL, no_text, posix_trace_note_np(env.logged, "name", NULL))
CASE(posix_trace_note_np, EINVAL, empty, posix_trace_note_np(env.logged, "", "text"))
HOW(posix_trace_note_np, EINVAL, long_name, note_too_much(64, 0))
HOW(posix_trace_note_np, EINVAL, long_text, note_too_much(1, 256))
HOW(posix_trace_note_np, ENOMEM, many, note_too_often())
HOW(posix_trace_snapshot_np, EBADF, closed, TRY(posix_trace_snapshot_np(env.stream, -1)))
HOW(posix_trace_snapshot_np, EBADF, only_for_reading, shot_into(open("/dev/null", O_RDONLY)))
HOW(posix_trace_snapshot_np, EINVAL, unknown, TRY(posix_trace_snapshot_np(UNKNOWN, env.file)))
HOW(posix_trace_snapshot_np, EINVAL, log, TRY(posix_trace_snapshot_np(env.log, env.file)))
HOW(posix_trace_snapshot_np, EINVAL, no_device, shot_into(eventfd(0, 0)))
HOW(posix_trace_snapshot_np, EBADF, directory, shot_into(open("/", O_RDONLY | O_DIRECTORY)))
HOW(posix_trace_snapshot_np, EINVAL, behind, shot_behind_something())
HOW(posix_trace_snapshot_np, ENOMEM, copy, shot_without_memory(1))
HOW(posix_trace_snapshot_np, ENOMEM, log, shot_without_memory(2))
HOW(posix_trace_snapshot_np, EMFILE, no_descriptor, shot_without_descriptors())
HOW(posix_trace_snapshot_np, ENOSPC, full, shot_failing(ENOSPC))
HOW(posix_trace_snapshot_np, ENOSPC, device, shot_into(open("/dev/full", O_WRONLY)))
HOW(posix_trace_snapshot_np, EFBIG, large, shot_failing(EFBIG))
HOW(posix_trace_snapshot_np, EIO, any, shot_failing(EIO))
HOW(posix_trace_snapshot_np, EIO, truncate, shot_untruncated(EIO))
HOW(posix_trace_snapshot_np, EPIPE, nobody_reads, shot_into_broken_pipe())
HOW(posix_trace_snapshot_np, EAGAIN, device_takes_nothing, shot_into_full_pipe())

/* ---- Logs ---- */

#define OPEN_WRONG(function, opened)                                                               \
	HOW(function, EINVAL, closed, opened(-1, &out.trid))                                       \
	HOW(function, EINVAL, pipe, opened(env.pipe[0], &out.trid))                                \
	HOW(function, EINVAL, empty, opened(env.file, &out.trid))                                  \
	HOW(function, EINVAL, no_log, with_bytes(opened, "no log at all", 13))                     \
	HOW(function, EINVAL, newer, with_golden(opened, "newer-major"))                           \
	HOW(function, EINVAL, no_result, opened(env.log_file, NULL))                               \
	HOW(function, EMFILE, no_descriptor, open_without_descriptors(opened))                     \
	HOW(function, ENOMEM, first, open_without_memory(opened, 1))                               \
	HOW(function, ENOMEM, second, open_without_memory(opened, 2))                              \
	HOW(function, ENOMEM, third, open_without_memory(opened, 3))                               \
	HOW(function, ENOMEM, fourth, open_without_memory(opened, 4))                              \
	HOW(function, ENOMEM, fifth, open_without_memory(opened, 5))

OPEN_WRONG(posix_trace_open, open_plain)
OPEN_WRONG(posix_trace_log_open_np, open_growing)
#undef OPEN_WRONG
HOW(posix_trace_open, EINVAL, incomplete, with_golden(open_plain, "no-trailer"))
HOW(posix_trace_open, EINVAL, damaged, with_damage(open_plain))
HOW(posix_trace_open, EINVAL, unreadable, open_unreadable(open_plain))
HOW(posix_trace_log_open_np, EINVAL, incomplete, with_golden(open_explained, "no-trailer"))
HOW(posix_trace_log_open_np, EINVAL, damaged, with_damage(open_explained))
CASE(posix_trace_log_open_np, EINVAL, flags, posix_trace_log_open_np(&env.log_file, 1, 2, &out.trid, NULL, 0))
CASE(posix_trace_log_open_np, EINVAL, no_descriptors, posix_trace_log_open_np(NULL, 1, 0, &out.trid, NULL, 0))
CASE(posix_trace_log_open_np, EINVAL, no_count, posix_trace_log_open_np(&env.log_file, 0, 0, &out.trid, NULL, 0))
CASE(posix_trace_close, EINVAL, unknown, posix_trace_close(UNKNOWN))
CASE(posix_trace_close, EINVAL, stream, posix_trace_close(env.stream))
CASE(posix_trace_rewind, EINVAL, unknown, posix_trace_rewind(UNKNOWN))
CASE(posix_trace_rewind, EINVAL, stream, posix_trace_rewind(env.stream))
CASE(posix_trace_log_getinfo_np, EINVAL, stream,
    posix_trace_log_getinfo_np(env.stream, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getinfo_np, EINVAL, no_result, posix_trace_log_getinfo_np(env.log, NULL, 0))
CASE(posix_trace_log_getthread_np, ENOENT, behind,
    posix_trace_log_getthread_np(env.log, 100000, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getthread_np, EINVAL, stream,
    posix_trace_log_getthread_np(env.stream, 0, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getthread_np, EINVAL, no_result,
    posix_trace_log_getthread_np(env.log, 0, NULL, 0))
CASE(posix_trace_log_getnote_np, ENOENT, behind,
    posix_trace_log_getnote_np(env.log, 100000, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getnote_np, EINVAL, stream,
    posix_trace_log_getnote_np(env.stream, 0, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getnote_np, EINVAL, no_result,
    posix_trace_log_getnote_np(env.log, 0, NULL, 0))
CASE(posix_trace_log_getmodule_np, ENOENT, behind,
    posix_trace_log_getmodule_np(env.log, 100000, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getmodule_np, EINVAL, stream,
    posix_trace_log_getmodule_np(env.stream, 0, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_getmodule_np, EINVAL, no_result,
    posix_trace_log_getmodule_np(env.log, 0, NULL, 0))
CASE(posix_trace_seek_np, EINVAL, unknown, posix_trace_seek_np(UNKNOWN, 0, NULL, 0))
HOW(posix_trace_seek_np, EIO, unreadable, unreadable(seek_end))
HOW(posix_trace_seek_np, EIO, cut, cut_short(seek_end))
CASE(posix_trace_log_nextblock_np, EINVAL, stream,
    posix_trace_log_nextblock_np(env.stream, (void *)out.bytes, sizeof(out.bytes), &gone))
CASE(posix_trace_log_nextblock_np, EINVAL, no_result,
    posix_trace_log_nextblock_np(env.log, NULL, 0, &gone))
CASE(posix_trace_log_nextblock_np, EINVAL, no_answer,
    posix_trace_log_nextblock_np(env.log, (void *)out.bytes, sizeof(out.bytes), NULL))
HOW(posix_trace_log_nextblock_np, EIO, unreadable, unreadable(next_block))
HOW(posix_trace_log_nextblock_np, EIO, cut, cut_short(next_block))
CASE(posix_trace_log_gettime_np, EINVAL, stream,
    posix_trace_log_gettime_np(env.stream, 0, &out.time))
CASE(posix_trace_log_gettime_np, EINVAL, no_result, posix_trace_log_gettime_np(env.log, 0, NULL))
HOW(posix_trace_log_check_np, EINVAL, pipe, check_plain(env.pipe[0]))
HOW(posix_trace_log_check_np, EINVAL, empty, check_plain(env.file))
HOW(posix_trace_log_check_np, EINVAL, no_descriptor, check_without_descriptors(check_plain))
CASE(posix_trace_log_check_np, EINVAL, no_result,
    posix_trace_log_check_np(env.log_file, NULL, 0, NULL, 0, 0, NULL, NULL))
CASE(posix_trace_log_check_np, EINVAL, no_findings,
    posix_trace_log_check_np(env.log_file, (void *)out.bytes, sizeof(out.bytes), NULL, 1, 1, NULL, NULL))
CASE(posix_trace_log_check_np, EINVAL, no_size,
    posix_trace_log_check_np(env.log_file, (void *)out.bytes, sizeof(out.bytes), (void *)out.bytes, 0, 1, NULL, NULL))
HOW(posix_trace_log_check_np, ENOMEM, first, check_without_memory(check_plain, 1))
HOW(posix_trace_log_check_np, ENOMEM, second, check_without_memory(check_plain, 2))
HOW(posix_trace_log_check_np, ENOMEM, third, check_without_memory(check_plain, 3))
CASE(posix_trace_log_skipdamage_np, ENOENT, complete,
    posix_trace_log_skipdamage_np(env.log, (void *)out.bytes, sizeof(out.bytes)))
HOW(posix_trace_log_skipdamage_np, ENOENT, unread, skip_damage(SKIP_UNREAD))
HOW(posix_trace_log_skipdamage_np, ENOENT, nothing_behind, skip_damage(SKIP_NOTHING_BEHIND))
HOW(posix_trace_log_skipdamage_np, EIO, unreadable, skip_damage(SKIP_UNREADABLE))
HOW(posix_trace_log_skipdamage_np, ENOMEM, no_memory, skip_damage(SKIP_NO_MEMORY))
CASE(posix_trace_log_skipdamage_np, EINVAL, stream,
    posix_trace_log_skipdamage_np(env.stream, (void *)out.bytes, sizeof(out.bytes)))
CASE(posix_trace_log_skipdamage_np, EINVAL, no_result,
    posix_trace_log_skipdamage_np(env.log, NULL, 0))

/* ---- Attaching ---- */

CASE(posix_trace_attach_np, EINVAL, no_name, posix_trace_attach_np(NULL, NULL, &out.trid))
CASE(posix_trace_attach_np, EINVAL, longer, posix_trace_attach_np(LONG_NAME, NULL, &out.trid))
CASE(posix_trace_attach_np, EINVAL, no_result, posix_trace_attach_np("name", NULL, NULL))
HOW(posix_trace_attach_np, EINVAL, destroyed, attach_with(&env.bad))
CASE(posix_trace_attach_np, ENOENT, nobody, posix_trace_attach_np("/nowhere/x", NULL, &out.trid))
HOW(posix_trace_attach_np, ENOENT, left_behind, attach_to_the_dead())
HOW(posix_trace_attach_np, ENOENT, ended, attach_answered(0, -1))
HOW(posix_trace_attach_np, EEXIST, own, attach_to_own())
HOW(posix_trace_attach_np, EACCES, closed, attach_to_closed())
HOW(posix_trace_attach_np, EACCES, refused, attach_answered(PXT_CTLSOCK_VERSION, EACCES))
HOW(posix_trace_attach_np, ENOTSUP, version, attach_answered(PXT_CTLSOCK_VERSION + 1u, 0))
HOW(posix_trace_attach_np, ENOTSUP, refused, attach_answered(PXT_CTLSOCK_VERSION, ENOTSUP))
HOW(posix_trace_attach_np, EAGAIN, refused, attach_answered(PXT_CTLSOCK_VERSION, EAGAIN))
HOW(posix_trace_attach_np, EAGAIN, streams, attach_beside_too_many())
HOW(posix_trace_attach_np, EAGAIN, no_thread, attach_without_thread())
HOW(posix_trace_attach_np, EAGAIN, no_descriptor, attach_without_descriptors(0))
HOW(posix_trace_attach_np, EAGAIN, one_descriptor, attach_without_descriptors(1))
HOW(posix_trace_attach_np, EAGAIN, two_descriptors, attach_without_descriptors(2))
HOW(posix_trace_attach_np, ENOMEM, not_mapped, attach_unmapped())
HOW(posix_trace_attach_np, ENOMEM, no_room, attach_without_room())
HOW(posix_trace_attach_np, ETIMEDOUT, silence, attach_to_silence())
