/* SPDX-License-Identifier: MIT */
/* play.c - a history, played with the library and with the reference, step by step. */
#define _GNU_SOURCE 1
#include "core/process/threads.h"
#include "model/reference.h"
#include "port/port.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM 4200u

static const struct hi_history *history;
static struct ref refs[HI_STREAMS];
static trace_id_t trids[HI_STREAMS];
static int fds[HI_STREAMS];
static int64_t last_ns[HI_STREAMS];
static bool resumed[HI_STREAMS]; /* RESUME was told, and its event has its time (SYS-07) */
static trace_event_id_t types[HI_TYPES];
static uint32_t numbers;
static unsigned step_now;
static char *failure;
static size_t failure_room;
static volatile uint32_t lane;

static void say(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(bool ok, const char *format, ...)
{
	va_list args;
	int used;

	if (ok || failure[0])
		return;
	used = snprintf(failure, failure_room, "step %u: ", step_now);
	va_start(args, format);
	(void)vsnprintf(failure + used, failure_room - (size_t)used, format, args);
	va_end(args);
}

static void equal(const char *what, long long got, long long want)
{
	say(got == want, "%s is %lld, not %lld", what, got, want);
}

/* ---- One event ---- */

static unsigned char byte_of(uint32_t number, uint32_t at)
{
	return (unsigned char)(number * 7u + at * 13u + 1u);
}

static bool same_data(
    const struct ref *ref, const struct ref_item *item, const unsigned char *data, size_t len)
{
	if (item->id < POSIX_TRACE_UNNAMED_USEREVENT)
		return !len || memcmp(data, ref_data(ref, item), len) == 0;
	for (size_t i = 0; i < len; i++) {
		if (data[i] != byte_of(item->number, (uint32_t)i))
			return false;
	}
	return true;
}

static void compare_data(const struct ref *ref, const struct ref_item *item, int truncation,
    const unsigned char *data, size_t len, size_t room)
{
	size_t told = item->len < room ? item->len : room;
	int want = told < item->len ? POSIX_TRACE_TRUNCATED_READ
	           : item->cut      ? POSIX_TRACE_TRUNCATED_RECORD
	                            : POSIX_TRACE_NOT_TRUNCATED;

	equal("length of data", (long long)len, (long long)told);
	equal("truncation", truncation, want);
	say(failure[0] || same_data(ref, item, data, told), "other data in event %u", item->id);
}

static void compare_time(unsigned which, const struct ref_item *item, int64_t ns)
{
	say(ns >= last_ns[which], "time steps back at event %u", item->id);
	/* But for a log that was full then. */
	say(!resumed[which] || item->made || ns == last_ns[which],
	    "RESUME has not its event's time");
	last_ns[which] = ns;
	resumed[which] = item->id == POSIX_TRACE_RESUME;
}

static void compare_info(unsigned which, const struct ref_item *item,
    const struct posix_trace_event_info *info, bool lost_too)
{
	struct posix_trace_eventextra_np extra;

	equal("event", info->posix_event_id, item->id);
	equal("pid", info->posix_pid, getpid());
	say(pthread_equal(info->posix_thread_id, pthread_self()), "another thread");
	say(!info->posix_prog_address || !item->made, "automatic event %u has an address",
	    item->id);
	say(info->posix_prog_address || item->id < POSIX_TRACE_UNNAMED_USEREVENT, "no address");
	(void)posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra));
	if (lost_too)
		say(extra.posix_lost_before_np == item->lost,
		    "lost before event %u is %llu, not %llu", item->id,
		    (unsigned long long)extra.posix_lost_before_np, (unsigned long long)item->lost);
	compare_time(which, item,
	    (int64_t)info->posix_timestamp.tv_sec * 1000000000 + info->posix_timestamp.tv_nsec);
}

/* ---- Steps ---- */

static void open_type(const struct hi_step *step)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 0;

	(void)snprintf(
	    name, sizeof(name), "h%llu.%u", (unsigned long long)history->seed, step->type);
	if (step->draw & 1)
		equal("eventid_open", posix_trace_eventid_open(name, &id), 0);
	else
		equal("trid_eventid_open", posix_trace_trid_eventid_open(trids[0], name, &id), 0);
	say(id > POSIX_TRACE_UNNAMED_USEREVENT, "no identifier");
	if (!step->type)
		return;
	say(!types[step->type] || types[step->type] == id, "another identifier for a name");
	types[step->type] = id;
}

static void say_event(const struct hi_step *step, trace_event_id_t type, uint32_t len)
{
	unsigned char data[ROOM];

	lane = step->lane;
	for (unsigned at = 0; at < len; at++)
		data[at] = byte_of(numbers, at);
	posix_trace_event(type, data, len);
	for (unsigned s = 0; s < history->streams; s++)
		ref_event(&refs[s], type, len, numbers, step->lane);
	numbers++;
}

static void say_events(const struct hi_step *step)
{
	for (unsigned i = 0; i < step->count && types[step->type]; i++)
		say_event(step, types[step->type], step->len);
}

/* Where one slot more or less decides. */
static void fill_up(const struct hi_step *step)
{
	const struct ref *ref = &refs[step->stream];
	uint32_t left = step->draw % 8u ? step->draw % 8u : step->draw % 32u;
	uint32_t was = UINT32_MAX;

	while (ref_room(ref, step->lane) >= left + 2u && ref_room(ref, step->lane) != was) {
		was = ref_room(ref, step->lane);
		/* Two slots, or three where that is what is left. */
		say_event(step, POSIX_TRACE_UNNAMED_USEREVENT, was == left + 3u ? 5 : 0);
	}
}

/* DEC-31 */
static void say_strange_event(const struct hi_step *step)
{
	static const trace_event_id_t strange[] = { 0, POSIX_TRACE_START, POSIX_TRACE_FLUSH_STOP,
		29, 30, _PXT_EVENT_IDS - 1u, _PXT_EVENT_IDS, 0x80000000u };

	posix_trace_event(strange[step->draw % 8u], "xyz", 3);
}

/* SETFILL-02, SETFILL-03, DEC-27 */
static void fill_set(trace_event_set_t *set, bool all)
{
	(void)posix_trace_eventset_fill(
	    set, all ? POSIX_TRACE_ALL_EVENTS : POSIX_TRACE_SYSTEM_EVENTS);
	for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
		say(ref_in_set(set, id), "system type %u is not filled in", id);
	for (trace_event_id_t id = POSIX_TRACE_UNNAMED_USEREVENT; id < _PXT_EVENT_IDS; id++)
		say(ref_in_set(set, id) == all, "user type %u, filled in as it should not be", id);
}

static void draw_set(const struct hi_step *step, trace_event_set_t *set)
{
	uint32_t bits = step->draw >> 8;

	(void)posix_trace_eventset_empty(set);
	if ((step->draw & 0xc0) == 0)
		fill_set(set, bits & 1);
	for (trace_event_id_t id = 1; id <= 8; id++) {
		if (bits >> id & 1)
			(void)posix_trace_eventset_add(id, set);
		else if (bits >> (id + 8u) & 1)
			(void)posix_trace_eventset_del(id, set);
	}
	for (unsigned i = 0; i < HI_TYPES; i++) {
		if (types[i] && bits >> (17u + i) & 1)
			(void)posix_trace_eventset_add(types[i], set);
	}
}

static void set_filter(const struct hi_step *step)
{
	static const int hows[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
		POSIX_TRACE_SUB_EVENTSET };
	int how = hows[step->draw % 3u];
	trace_event_set_t set;
	trace_event_set_t got;

	draw_set(step, &set);
	equal("set_filter", posix_trace_set_filter(trids[step->stream], &set, how), 0);
	ref_filter(&refs[step->stream], &set, how);
	equal("get_filter", posix_trace_get_filter(trids[step->stream], &got), 0);
	say(memcmp(&got, &refs[step->stream].filter, sizeof(got)) == 0, "another filter");
}

static void compare_status(
    const struct posix_trace_status_info *got, const struct posix_trace_status_info *want)
{
	equal("stream status", got->posix_stream_status, want->posix_stream_status);
	equal("stream full status", got->posix_stream_full_status, want->posix_stream_full_status);
	equal(
	    "stream overrun", got->posix_stream_overrun_status, want->posix_stream_overrun_status);
	equal("flush status", got->posix_stream_flush_status, want->posix_stream_flush_status);
	equal("flush error", got->posix_stream_flush_error, want->posix_stream_flush_error);
	equal("log overrun", got->posix_log_overrun_status, want->posix_log_overrun_status);
	equal("log full status", got->posix_log_full_status, want->posix_log_full_status);
}

static void look_at_status(unsigned which)
{
	struct posix_trace_status_info got;
	struct posix_trace_status_info want;

	equal("get_status", posix_trace_get_status(trids[which], &got), 0);
	ref_status(&refs[which], true, &want);
	/* Which frames a log of policy LOOP has written over is asked when it is read. */
	if (refs[which].log.on && refs[which].log.policy == POSIX_TRACE_LOOP) {
		want.posix_log_full_status = got.posix_log_full_status;
		want.posix_log_overrun_status = got.posix_log_overrun_status;
	}
	compare_status(&got, &want);
}

static void compare_counts(
    const struct posix_trace_counts_np *got, const struct posix_trace_counts_np *want)
{
	equal("written", (long long)got->posix_written_np, (long long)want->posix_written_np);
	equal("retrieved", (long long)got->posix_retrieved_np, (long long)want->posix_retrieved_np);
	equal("lost", (long long)got->posix_lost_np, (long long)want->posix_lost_np);
	equal("cleared", (long long)got->posix_cleared_np, (long long)want->posix_cleared_np);
	equal("held", (long long)got->posix_held_np, (long long)want->posix_held_np);
}

static void look_at_counts(unsigned which)
{
	struct posix_trace_counts_np got;
	struct posix_trace_counts_np want;

	equal("counts_np", posix_trace_getcounts_np(trids[which], &got, sizeof(got)), 0);
	ref_counts(&refs[which], &want);
	compare_counts(&got, &want);
}

/* ---- Reading ---- */

static int read_by(trace_id_t trid, unsigned how, bool there, struct posix_trace_event_info *info,
    unsigned char *data, size_t room, size_t *len, int *unavailable)
{
	const struct timespec soon = { .tv_sec = 1 };

	if (how == 0 && there)
		return posix_trace_getnext_event(trid, info, data, room, len, unavailable);
	if (how == 1)
		return posix_trace_timedgetnext_event(
		    trid, info, data, room, len, unavailable, &soon);
	return posix_trace_trygetnext_event(trid, info, data, room, len, unavailable);
}

/*
 * A gap is read up to its record: who lets that be overwritten after its OVERFLOW may be told
 * another pair.
 */
static bool within_gap(unsigned which)
{
	return refs[which].resume_due || resumed[which];
}

/* False: nothing more is there. */
static bool read_one(unsigned which, unsigned how, size_t room)
{
	struct ref *ref = &refs[which];
	struct posix_trace_event_info info = { .posix_event_id = 0 };
	static unsigned char data[ROOM];
	bool there = ref_has_next(ref);
	const struct ref_item *item = ref_next(ref);
	size_t len = 0;
	int unavailable = -1;
	int error;

	data[room] = 0xa5;
	error = read_by(trids[which], how, there, &info, data, room, &len, &unavailable);
	equal("getnext", error, !there && how == 1 ? ETIMEDOUT : 0);
	say(!unavailable == there, there ? "event %u does not come" : "event %u comes",
	    there ? item->id : info.posix_event_id);
	if (!there || failure[0])
		return false;
	equal("byte behind the buffer", data[room], 0xa5);
	compare_info(which, item, &info, true);
	compare_data(ref, item, info.posix_truncation_status, data, len, room);
	return true;
}

static void read_views(unsigned which, size_t most)
{
	struct ref *ref = &refs[which];
	static struct posix_trace_eventview_np views[64];
	size_t count = 0;

	most = most < 64 ? most : 64;
	equal("getnext_events_np",
	    posix_trace_getnext_events_np(trids[which], views, sizeof(*views), most, &count), 0);
	for (size_t i = 0; i < most && !failure[0]; i++) {
		const struct posix_trace_eventview_np *view = &views[i];
		const struct ref_item *item;

		if (!ref_has_next(ref)) {
			equal("events in a row", (long long)count, (long long)i);
			break;
		}
		item = ref_next(ref);
		say(i < count, "only %zu events in a row", count);
		if (i >= count)
			break;
		equal("event", view->posix_event_id_np, item->id);
		say(view->posix_lost_before_np == item->lost,
		    "lost before event %u is %llu, not %llu", item->id,
		    (unsigned long long)view->posix_lost_before_np, (unsigned long long)item->lost);
		compare_time(which, item, view->posix_ns_np);
		compare_data(ref, item,
		    view->posix_cut_np ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED,
		    view->posix_data_np, view->posix_bytes_np, ROOM);
	}
}

static void read_some(const struct hi_step *step)
{
	unsigned how = step->draw % 8u;
	size_t room = step->draw & 0x100 ? ROOM - 1u : step->len;

	/*
	 * Lanes that were overtaken are noticed now or when their turn comes; what others hold from before
	 * is given up then.  So they are noticed now.
	 */
	if (refs[step->stream].lane_count > 1 && refs[step->stream].policy == POSIX_TRACE_LOOP)
		look_at_counts(step->stream);
	if (refs[step->stream].log.on) {
		equal("flush", posix_trace_flush(trids[step->stream]), 0);
		ref_flush(&refs[step->stream], false);
		return;
	}
	if (how >= 6) {
		read_views(step->stream, step->count);
		while (!failure[0] && within_gap(step->stream) && read_one(step->stream, 2, room))
			;
		return;
	}
	for (unsigned i = 0; i < step->count || within_gap(step->stream); i++) {
		if (failure[0] || !read_one(step->stream, how > 2 ? 2 : how, room))
			return;
	}
}

/* ---- Streams ---- */

static void check_attr(trace_id_t trid, unsigned which)
{
	const struct hi_spec *spec = &history->specs[which];
	trace_attr_t attr;
	size_t size = 0;
	size_t event = 0;
	int policy = 0;
	char name[TRACE_NAME_MAX + 1] = "";

	equal("get_attr", posix_trace_get_attr(trid, &attr), 0);
	(void)posix_trace_attr_getmaxdatasize(&attr, &size);
	equal("maximum data size", (long long)size, (long long)spec->max_data);
	(void)posix_trace_attr_getstreamfullpolicy(&attr, &policy);
	equal("policy", policy, spec->policy);
	(void)posix_trace_attr_getname(&attr, name);
	say(strcmp(name, "model") == 0, "another name");
	(void)posix_trace_attr_getstreamsize(&attr, &size);
	/* SIZ-05, DEC-08 */
	say(size >= spec->size, "smaller than asked for");
	(void)posix_trace_attr_getmaxsystemeventsize(&attr, &event);
	say(size >= 2u * event, "two system events have no room");
	(void)posix_trace_attr_getmaxusereventsize(&attr, spec->max_data, &event);
	say(size >= 2u * event, "two user events have no room");
	refs[which].size = (uint32_t)size / 16u;
	if (!spec->with_log)
		return;
	(void)posix_trace_attr_getlogsize(&attr, &size);
	equal("log size", (long long)size, (long long)spec->log_size);
	(void)posix_trace_attr_getlogfullpolicy(&attr, &policy);
	equal("log policy", policy, spec->log_policy);
}

static void create(unsigned which)
{
	const struct hi_spec *spec = &history->specs[which];
	struct ref *ref = &refs[which];
	trace_attr_t attr;
	int error;

	ref_begin(ref);
	last_ns[which] = 0;
	resumed[which] = false;
	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setname(&attr, "model");
	(void)posix_trace_attr_setstreamfullpolicy(&attr, spec->policy);
	(void)posix_trace_attr_setstreamsize(&attr, spec->size);
	(void)posix_trace_attr_setmaxdatasize(&attr, spec->max_data);
	(void)posix_trace_attr_setlanes_np(&attr, spec->lanes);
	(void)posix_trace_attr_setlogfullpolicy(&attr, spec->log_policy);
	(void)posix_trace_attr_setlogsize(&attr, spec->log_size);
	/* How much of such a log a coded record takes, nobody says beforehand. */
	if (spec->log_policy == POSIX_TRACE_UNTIL_FULL)
		(void)posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP);
	if (spec->with_log) {
		fds[which] = memfd_create("model", MFD_CLOEXEC);
		error = posix_trace_create_withlog(0, &attr, fds[which], &trids[which]);
	} else {
		error = posix_trace_create(0, &attr, &trids[which]);
	}
	equal("create", error, 0);
	ref->policy = spec->policy;
	ref->lane_count = spec->lanes;
	ref->max_data = (uint32_t)spec->max_data;
	ref->log.on = spec->with_log;
	ref->log.policy = spec->log_policy;
	ref->log.size = spec->log_size;
	check_attr(trids[which], which);
}

/* ---- The helper of FLUSH ---- */

int __wrap_pxt_port_thread_start(
    struct pxt_port_thread *thread, void (*run)(void *), void *argument, int priority);
void __wrap_pxt_port_thread_join(struct pxt_port_thread *thread);

/* It comes when the history says so: a step that flushes does what the helper does. */
int __wrap_pxt_port_thread_start(
    struct pxt_port_thread *thread, void (*run)(void *), void *argument, int priority)
{
	*thread = (struct pxt_port_thread){ .run = run, .argument = argument };
	return 0;
}

void __wrap_pxt_port_thread_join(struct pxt_port_thread *thread)
{
}

/* ---- The log ---- */

static unsigned count_events(trace_id_t log)
{
	struct posix_trace_event_info info;
	int unavailable = 0;
	unsigned count = 0;
	size_t len;

	while (
	    posix_trace_getnext_event(log, &info, NULL, 0, &len, &unavailable) == 0 && !unavailable)
		count++;
	return count;
}

static void compare_log(trace_id_t log, unsigned which, unsigned first)
{
	struct ref *ref = &refs[which];
	static unsigned char data[ROOM];
	uint64_t bytes = 0;

	for (unsigned i = first; i < ref->log.count && !failure[0]; i++) {
		const struct ref_item *item = &ref->items[ref->log.items[i]];
		size_t room = i % 3u ? ROOM : item->len / (i % 2u + 1u);
		struct posix_trace_event_info info = { .posix_event_id = 0 };
		int unavailable = -1;
		size_t len = 0;

		equal("getnext",
		    posix_trace_getnext_event(log, &info, data, room, &len, &unavailable), 0);
		equal("unavailable", unavailable, 0);
		compare_info(which, item, &info, i > first || !first);
		compare_data(ref, item, info.posix_truncation_status, data, len, room);
		bytes += item->slots * 16u;
	}
	/* LOGP-04; coded records of a LOOP log take less than their slots (test_tolog.c looks at its frames). */
	say(bytes <= ref->log.size || ref->log.policy != POSIX_TRACE_UNTIL_FULL,
	    "log larger than allowed");
}

static void check_types(trace_id_t log)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	char want[TRACE_EVENT_NAME_MAX + 1];

	for (unsigned i = 1; i < HI_TYPES; i++) {
		if (!types[i])
			continue;
		(void)snprintf(
		    want, sizeof(want), "h%llu.%u", (unsigned long long)history->seed, i);
		equal("name in the log", posix_trace_eventid_get_name(log, types[i], name), 0);
		say(failure[0] || strcmp(name, want) == 0, "type %u has another name", i);
	}
}

static void check_log_status(trace_id_t log, unsigned which, unsigned missing)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_status_info got;
	struct posix_trace_status_info want;
	struct posix_trace_counts_np counts;

	equal("status of the log", posix_trace_get_status(log, &got), 0);
	ref_status(&refs[which], false, &want);
	if (refs[which].log.policy == POSIX_TRACE_LOOP) {
		/* LOGP-08, LOGP-09: what was written over was lost in a full log. */
		say(!missing == (got.posix_log_full_status == POSIX_TRACE_NOT_FULL),
		    "full or whole");
		want.posix_log_full_status = got.posix_log_full_status;
		want.posix_log_overrun_status = got.posix_log_overrun_status;
	}
	compare_status(&got, &want);
	equal("getinfo_np", posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	ref_counts(&refs[which], &counts);
	compare_counts(&info.posix_counts_np, &counts);
	equal("lost in stream and log", (long long)info.posix_lost_np,
	    (long long)(counts.posix_lost_np + refs[which].log.lost + missing));
}

static void read_log(unsigned which)
{
	const struct ref_log *want = &refs[which].log;
	trace_id_t log = 0;
	unsigned count;

	equal("lseek", lseek(fds[which], 0, SEEK_SET), 0);
	equal("open", posix_trace_open(fds[which], &log), 0);
	if (failure[0])
		return;
	count = count_events(log);
	say(count <= want->count, "%u events in the log, not %u", count, want->count);
	if (want->policy != POSIX_TRACE_LOOP)
		equal("events in the log", count, want->count);
	equal("rewind", posix_trace_rewind(log), 0);
	last_ns[which] = 0;
	resumed[which] = false;
	if (!failure[0])
		compare_log(log, which, want->count - count);
	check_attr(log, which);
	check_types(log);
	check_log_status(log, which, want->count - count);
	equal("close", posix_trace_close(log), 0);
}

static void end(unsigned which)
{
	equal("shutdown", posix_trace_shutdown(trids[which]), 0);
	if (!refs[which].log.on)
		return;
	ref_stop(&refs[which]);
	ref_flush(&refs[which], true);
	if (!failure[0])
		read_log(which);
	(void)close(fds[which]);
}

/* ---- The whole ---- */

static void play_step(const struct hi_step *step)
{
	struct ref *ref = &refs[step->stream];
	trace_id_t trid = trids[step->stream];

	switch ((enum hi_op)step->op) {
	case HI_START:
		equal("start", posix_trace_start(trid), 0);
		ref_start(ref);
		break;
	case HI_STOP:
		equal("stop", posix_trace_stop(trid), 0);
		ref_stop(ref);
		break;
	case HI_CLEAR:
		equal("clear", posix_trace_clear(trid), 0);
		ref_clear(ref);
		break;
	case HI_FILTER:
		set_filter(step);
		break;
	case HI_OPEN:
		open_type(step);
		break;
	case HI_EVENTS:
		say_events(step);
		break;
	case HI_FILL:
		fill_up(step);
		break;
	case HI_STRANGE:
		say_strange_event(step);
		break;
	case HI_READ:
		read_some(step);
		break;
	case HI_STATUS:
		look_at_status(step->stream);
		break;
	case HI_COUNTS:
	case HI_OPS:
		look_at_counts(step->stream);
	}
}

bool hi_play(const struct hi_history *which, char *text, size_t room)
{
	history = which;
	failure = text;
	failure_room = room;
	failure[0] = '\0';
	numbers = 0;
	memset(types, 0, sizeof(types));
	types[0] = POSIX_TRACE_UNNAMED_USEREVENT;
	(void)posix_trace_thread_register_np();
	pxt_self.cpu = &lane;
	for (unsigned i = 0; i < history->streams; i++)
		create(i);
	for (step_now = 0; step_now < history->count && !failure[0]; step_now++) {
		if (history->steps[step_now].stream < history->streams)
			play_step(&history->steps[step_now]);
	}
	for (unsigned i = 0; i < history->streams; i++) {
		if (!failure[0])
			look_at_counts(i);
		end(i);
	}
	return !failure[0];
}
