/* SPDX-License-Identifier: MIT */
/* readings.c - see ground.h. */
#define _GNU_SOURCE
#include "ground.h"

#include "suite.h"

#include "port_atomic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALLS       (RD_SOURCES - 1u) /* the source that starts and stops are */
#define NUMBER_BITS 26u
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1u)
#define A_CALL      (UINT32_MAX - 1u)
#define NOBODYS     UINT32_MAX /* the reader made it, or the stream did: nobody called */
#define S_NS        INT64_C(1000000000)

struct reading {
	uint64_t entered;
	uint64_t returned; /* 0: it never did */
};

struct source {
	uint32_t count;
	struct reading at[];
};

static unsigned char *memory;
static size_t source_bytes;
static uint32_t room;

static size_t bytes_of(uint32_t events)
{
	size_t bytes = sizeof(struct source) + events * sizeof(struct reading);

	return (bytes + 4095u) / 4096u * 4096u;
}

static struct source *source_of(unsigned source)
{
	return (struct source *)(void *)(memory + source * source_bytes);
}

/* ---- Trace points between two readings ---- */

void rd_begin(uint32_t events_each)
{
	rd_end();
	room = events_each;
	source_bytes = bytes_of(room);
	/* Pages that nobody touches are none. */
	memory = mmap(NULL, RD_SOURCES * source_bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CU_ASSERT_FATAL(memory != MAP_FAILED);
	(void)rd_type();
}

void rd_end(void)
{
	if (memory)
		(void)munmap(memory, RD_SOURCES * source_bytes);
	memory = NULL;
}

trace_event_id_t rd_type(void)
{
	static trace_event_id_t type;

	if (!type)
		PXT_EQ_FATAL(posix_trace_eventid_open("truth", &type), 0);
	return type;
}

static size_t length_of(uint32_t number)
{
	static const unsigned char lengths[8] = { 4, 4, 32, 4, 4, 12, 4, RD_LONGEST };

	return lengths[number % 8u];
}

bool rd_say_long(unsigned index, size_t len)
{
	struct source *source = source_of(index);
	unsigned char data[RD_LONGEST] = { 0 };
	uint32_t number = source->count;
	uint32_t word = index << NUMBER_BITS | number;
	struct reading *reading = &source->at[number];

	if (number >= room || number > NUMBER_MASK)
		return false;
	source->count = number + 1u;
	memcpy(data, &word, sizeof(word));
	reading->entered = pxt_port_ticks_ordered();
	posix_trace_event(rd_type(), data, len);
	reading->returned = pxt_port_ticks_ordered();
	return true;
}

bool rd_say(unsigned source)
{
	return rd_say_long(source, length_of(source_of(source)->count));
}

uint32_t rd_said(unsigned source)
{
	return source_of(source)->count;
}

int rd_call(int (*call)(trace_id_t), trace_id_t trid)
{
	struct source *source = source_of(CALLS);
	struct reading *reading = &source->at[source->count];
	int error;

	CU_ASSERT_FATAL(source->count < room);
	source->count++;
	reading->entered = pxt_port_ticks_ordered();
	error = call(trid);
	reading->returned = pxt_port_ticks_ordered();
	return error;
}

/* ---- What was handed out ---- */

void rd_list_begin(struct rd_list *list, uint32_t events)
{
	memset(list, 0, sizeof(*list));
	list->room = events;
	list->at = malloc(events * sizeof(*list->at));
	CU_ASSERT_FATAL(list->at != NULL);
}

void rd_list_end(struct rd_list *list)
{
	free(list->at);
	list->at = NULL;
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * S_NS + time->tv_nsec;
}

/* A START by call has an address, a STOP by call says so. */
static uint32_t word_of_system_event(
    trace_event_id_t id, const void *address, const void *data, size_t len)
{
	int by_itself = 1;

	if (id == POSIX_TRACE_START)
		return address ? A_CALL : NOBODYS;
	if (id != POSIX_TRACE_STOP || len != sizeof(by_itself))
		return NOBODYS;
	memcpy(&by_itself, data, sizeof(by_itself));
	return by_itself ? NOBODYS : A_CALL;
}

static void note(
    struct rd_list *list, struct rd_event event, const void *address, const void *data, size_t len)
{
	if (event.id != rd_type())
		event.word = word_of_system_event(event.id, address, data, len);
	else if (len >= sizeof(event.word))
		memcpy(&event.word, data, sizeof(event.word));
	if (list->count == list->room || (event.id == rd_type() && len < sizeof(event.word)))
		list->strange++;
	else
		list->at[list->count++] = event;
}

static void note_one(
    struct rd_list *list, const struct posix_trace_event_info *info, const void *data, size_t len)
{
	struct posix_trace_eventextra_np extra = { 0 };

	(void)posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra));
	note(list,
	    (struct rd_event){ .ns = ns_of(&info->posix_timestamp),
	        .ticks = extra.posix_ticks_np,
	        .id = info->posix_event_id },
	    info->posix_prog_address, data, len);
}

/* A stream's reader must not wait, a log's never does. */
static int try_next(
    trace_id_t trid, struct posix_trace_event_info *info, void *data, size_t *len, int *none)
{
	int error = posix_trace_trygetnext_event(trid, info, data, RD_LONGEST, len, none);

	if (error != EINVAL)
		return error;
	return posix_trace_getnext_event(trid, info, data, RD_LONGEST, len, none);
}

uint64_t rd_take(struct rd_list *list, trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[RD_LONGEST];
	size_t len = 0;
	int none = 1;
	uint64_t got = 0;

	while (try_next(trid, &info, data, &len, &none) == 0 && !none) {
		note_one(list, &info, data, len);
		got++;
	}
	return got;
}

uint64_t rd_take_many(struct rd_list *list, trace_id_t trid)
{
	struct posix_trace_eventview_np views[64];
	const size_t most = sizeof(views) / sizeof(views[0]);
	uint64_t got = 0;
	size_t count = 0;

	while (posix_trace_getnext_events_np(trid, views, sizeof(*views), most, &count) == 0 &&
	       count) {
		for (size_t i = 0; i < count; i++)
			note(list,
			    (struct rd_event){ .ns = views[i].posix_ns_np,
			        .ticks = views[i].posix_ticks_np,
			        .id = views[i].posix_event_id_np },
			    views[i].posix_prog_address_np, views[i].posix_data_np,
			    views[i].posix_bytes_np);
		got += count;
	}
	return got;
}

bool rd_take_waiting(struct rd_list *list, trace_id_t trid, int ms)
{
	struct posix_trace_event_info info;
	unsigned char data[RD_LONGEST];
	const struct timespec until = pxt_in_ms(ms);
	size_t len = 0;
	int none = 1;
	int error;

	if (ms)
		error = posix_trace_timedgetnext_event(
		    trid, &info, data, sizeof(data), &len, &none, &until);
	else
		error = posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &none);
	if (error || none)
		return false;
	note_one(list, &info, data, len);
	return true;
}

/* ---- The verdict ---- */

struct judge {
	trace_id_t trid;
	bool is_log;
	struct posix_trace_clock_np clock;
	int64_t resolution_ns;
	int64_t last_ns;
	const struct rd_event *raiser; /* the first that was reported at that time */
	int64_t latest_entry_ns;       /* of what was handed out so far */
	uint32_t next_call;
	uint32_t next[RD_SOURCES]; /* the least number that its next event may have */
	struct rd_verdict *verdict;
};

/* What the stamps of the stream or log mean, by what the public interface says of its clock. */
static int64_t to_ns(const struct judge *judge, uint64_t ticks)
{
	const struct posix_trace_clock_np *clock = &judge->clock;
	/* Another stream's anchor may lie after the reading. */
	bool before = ticks < clock->posix_anchor_ticks_np;
	uint64_t count =
	    before ? clock->posix_anchor_ticks_np - ticks : ticks - clock->posix_anchor_ticks_np;
	uint64_t rest = count % clock->posix_hz_np;
	struct timespec time = { 0, 0 };
	int64_t ns;

	if (judge->is_log) {
		(void)posix_trace_log_gettime_np(judge->trid, ticks, &time);
		return ns_of(&time);
	}
	/* A rate of up to 18 GHz. */
	ns = (int64_t)(count / clock->posix_hz_np) * S_NS +
	     (int64_t)(rest * (uint64_t)S_NS / clock->posix_hz_np);
	return ns_of(&clock->posix_anchor_np) + (before ? -ns : ns);
}

static void note_worst(const struct judge *judge, const struct rd_event *event, int64_t off_ns)
{
	struct rd_verdict *verdict = judge->verdict;

	if (off_ns <= verdict->worst_ns)
		return;
	verdict->worst_ns = off_ns;
	verdict->worst = event->word;
	verdict->raiser = judge->raiser->word;
	verdict->raiser_id = judge->raiser->id;
}

static void judge_reading(
    struct judge *judge, const struct rd_event *event, const struct reading *reading)
{
	struct rd_verdict *verdict = judge->verdict;
	int64_t entered = to_ns(judge, reading->entered) - judge->resolution_ns;
	int64_t returned =
	    reading->returned ? to_ns(judge, reading->returned) + judge->resolution_ns : INT64_MAX;
	int64_t stamp = to_ns(judge, event->ticks);

	verdict->early += event->ns < entered;
	verdict->late += event->ns > returned;
	verdict->stamps += stamp < entered || stamp > returned;
	verdict->raised += event->ns > stamp;
	verdict->swapped += returned < judge->latest_entry_ns;
	note_worst(judge, event, entered - event->ns);
	if (reading->returned) {
		note_worst(judge, event, event->ns - returned);
		note_worst(judge, event, judge->latest_entry_ns - returned);
	}
	if (entered + judge->resolution_ns > judge->latest_entry_ns)
		judge->latest_entry_ns = entered + judge->resolution_ns;
}

/* Calls without effect make no event: the first one that can be it, is. */
static void judge_call(struct judge *judge, const struct rd_event *event)
{
	const struct source *calls = source_of(CALLS);

	while (
	    judge->next_call < calls->count &&
	    to_ns(judge, calls->at[judge->next_call].returned) + judge->resolution_ns < event->ns)
		judge->next_call++;
	judge->verdict->calls++;
	if (judge->next_call < calls->count)
		judge_reading(judge, event, &calls->at[judge->next_call++]);
	else
		judge->verdict->late++;
}

static void judge_event(struct judge *judge, const struct rd_event *event)
{
	unsigned index = event->word >> NUMBER_BITS;
	uint32_t number = event->word & NUMBER_MASK;

	if (index >= CALLS || number >= source_of(index)->count) {
		judge->verdict->strange++;
		return;
	}
	judge->verdict->events++;
	judge->verdict->disordered += number < judge->next[index];
	judge->next[index] = number + 1u;
	judge_reading(judge, event, &source_of(index)->at[number]);
}

void rd_judge(
    const struct rd_list *list, trace_id_t trid, int64_t resolution_ns, struct rd_verdict *verdict)
{
	struct judge judge = { .trid = trid, .resolution_ns = resolution_ns, .verdict = verdict };
	struct timespec time;

	memset(verdict, 0, sizeof(*verdict));
	judge.is_log = posix_trace_log_gettime_np(trid, 0, &time) == 0;
	PXT_EQ_FATAL(posix_trace_getclock_np(trid, &judge.clock, sizeof(judge.clock)), 0);
	judge.last_ns = INT64_MIN;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct rd_event *event = &list->at[i];

		verdict->back += event->ns < judge.last_ns;
		if (event->ns != judge.last_ns)
			judge.raiser = event;
		judge.last_ns = event->ns;
		if (event->word == A_CALL)
			judge_call(&judge, event);
		else if (event->word != NOBODYS)
			judge_event(&judge, event);
	}
	verdict->strange += list->strange;
}

bool rd_expect(const struct rd_verdict *verdict, const char *what)
{
	uint64_t untrue = verdict->early + verdict->late + verdict->stamps + verdict->back +
	                  verdict->disordered + verdict->swapped + verdict->strange;

	PXT_CHECK(untrue == 0,
	    "%s: of %llu: before entry %llu, behind return %llu, stamp outside %llu, back %llu, "
	    "disordered %llu, swapped %llu, strange %llu; worst %lld ns: %x at the time of %x, "
	    "type %u",
	    what, (unsigned long long)verdict->events, (unsigned long long)verdict->early,
	    (unsigned long long)verdict->late, (unsigned long long)verdict->stamps,
	    (unsigned long long)verdict->back, (unsigned long long)verdict->disordered,
	    (unsigned long long)verdict->swapped, (unsigned long long)verdict->strange,
	    (long long)verdict->worst_ns, verdict->worst, verdict->raiser, verdict->raiser_id);
	return untrue == 0;
}
