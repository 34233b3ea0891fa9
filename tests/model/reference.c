/* SPDX-License-Identifier: MIT */
/* reference.c - streams and logs as lists; see reference.h. */
#include "model/reference.h"

#include "format/slot.h"
#include "suite.h"

#include <stddef.h>
#include <string.h>

#define UNTIL_FULL POSIX_TRACE_UNTIL_FULL
#define DISCARD    POSIX_TRACE_DISCARD_NP
#define SIDES      3u
#define NEVER      UINT64_MAX
#define STOP_SLOTS pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + (uint32_t)sizeof(int))
#define START_SLOTS                                                                                \
	pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + (uint32_t)sizeof(trace_event_set_t))

bool ref_in_set(const trace_event_set_t *set, trace_event_id_t id)
{
	int is = 0;

	(void)posix_trace_eventset_ismember(id, set, &is);
	return is != 0;
}

static bool wants(const struct ref *ref, trace_event_id_t id)
{
	return !ref_in_set(&ref->filter, id);
}

static bool is_mark(const struct ref_item *item)
{
	return item->mark || item->refusals;
}

static struct ref_item *new_item(
    struct ref *ref, trace_event_id_t id, const void *data, uint32_t len)
{
	struct ref_item *item = &ref->items[ref->item_count++];

	CU_ASSERT_FATAL(ref->item_count < REF_ITEMS);
	memset(item, 0, sizeof(*item));
	item->id = id;
	item->len = len;
	item->slots = pxt_slots_for(PXT_CTX_BYTES + len);
	item->order = ++ref->now;
	if (!data)
		return item;
	if (id == POSIX_TRACE_STOP) {
		memcpy(&item->value, data, sizeof(item->value));
		return item;
	}
	item->set = ref->set_count;
	memcpy(&ref->sets[ref->set_count], data, len);
	ref->set_count += len / (uint32_t)sizeof(ref->sets[0]);
	CU_ASSERT_FATAL(ref->set_count < REF_SETS - 2u);
	return item;
}

void ref_begin(struct ref *ref)
{
	memset(ref, 0, offsetof(struct ref, items));
}

const void *ref_data(const struct ref *ref, const struct ref_item *item)
{
	if (item->id == POSIX_TRACE_STOP)
		return &item->value;
	return &ref->sets[item->set];
}

/* ---- Lanes ---- */

static unsigned front_index(const struct ref *ref, unsigned lane)
{
	const struct ref_lane *at = &ref->lanes[lane];

	return at->first < at->count ? at->items[at->first] : REF_ITEMS;
}

static const struct ref_item *front(const struct ref *ref, unsigned lane)
{
	unsigned index = front_index(ref, lane);

	return index < REF_ITEMS ? &ref->items[index] : NULL;
}

/* The position after what was done with: where the next unread one begins. */
static void advance(struct ref *ref, unsigned lane)
{
	struct ref_lane *at = &ref->lanes[lane];
	const struct ref_item *done = front(ref, lane);

	at->pos = done->pos + done->slots;
	at->partial = false;
	at->first++;
	at->known = front(ref, lane) && !is_mark(front(ref, lane));
}

/* Marks have no time; the record after up to eight of them does.  0: nobody knows when the gap began. */
static uint64_t time_of_first(const struct ref *ref, const struct ref_lane *at)
{
	for (unsigned i = at->first; i < at->count && i <= at->first + 8u; i++) {
		if (!ref->items[at->items[i]].mark)
			return ref->items[at->items[i]].order;
	}
	return 0;
}

static void append(struct ref *ref, unsigned lane, struct ref_item *item)
{
	struct ref_lane *at = &ref->lanes[lane];

	const struct ref_item *first = front(ref, lane);
	bool was_there = at->head <= (first ? first->pos : 0) + ref->size;

	item->pos = at->head;
	at->head += item->slots;
	if (first && was_there && at->head > first->pos + ref->size)
		at->first_lost = time_of_first(ref, at);
	at->items[at->count++] = (uint16_t)(item - ref->items);
}

static uint32_t room(const struct ref *ref)
{
	uint64_t least = ref->size;

	for (unsigned i = 0; i < ref->lane_count && ref->policy != LOOP; i++) {
		uint64_t used = ref->lanes[i].head - ref->lanes[i].pos;

		least = ref->size - used < least ? ref->size - used : least;
	}
	return (uint32_t)least;
}

static bool drained(const struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++) {
		if (ref->lanes[i].head != ref->lanes[i].pos)
			return false;
	}
	return !ref->side_count;
}

uint32_t ref_room(const struct ref *ref, uint32_t lane)
{
	const struct ref_lane *at = &ref->lanes[lane & (ref->lane_count - 1u)];
	uint64_t used = at->head - at->pos;

	return used < ref->size ? (uint32_t)(ref->size - used) : 0;
}

/* ---- Losses of a stream that overwrites ---- */

static void note_gap(struct ref *ref, uint64_t order)
{
	if (ref->resume_due)
		return;
	if (!ref->gap || (order && (!ref->gap_order || order < ref->gap_order)))
		ref->gap_order = order;
	ref->gap = true;
}

static void lose(struct ref *ref, uint64_t records)
{
	ref->lost += records;
	ref->lost_before += records;
}

/* What was overwritten in a lane; and in the others, what is older than what is left in it. */
static void notice_in_lane(struct ref *ref, unsigned lane)
{
	struct ref_lane *at = &ref->lanes[lane];
	const struct ref_item *left = front(ref, lane);
	uint64_t gone;
	unsigned i;

	if (at->head - at->pos <= ref->size)
		return;
	/* A mark does not look: 0 stands for a gap that began nobody knows when, too. */
	gone = at->known && !left->mark ? left->order : at->first_lost;
	for (; left && left->pos + ref->size < at->head; left = front(ref, lane)) {
		if (left->mark)
			at->barrier = left->mark;
		else
			lose(ref, 1);
		advance(ref, lane);
	}
	at->partial = true;
	at->known = false;
	at->first_lost = 0;
	at->pos = left ? left->pos : at->head;
	note_gap(ref, gone);
	for (i = at->first; i < at->count && ref->items[at->items[i]].mark; i++)
		;
	if (i < at->count)
		gone = ref->items[at->items[i]].order;
	if (ref->lane_count > 1 && gone > ref->give_up)
		ref->give_up = gone;
}

static void notice(struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++)
		notice_in_lane(ref, i);
}

/* ---- Recording ---- */

static void auto_stop(struct ref *ref)
{
	ref->state = REF_AUTO;
	ref->stopped_at = ++ref->now;
}

/* The first one that finds room after some were refused has a mark before it. */
static bool record_or_discard(struct ref *ref, unsigned lane, struct ref_item *item)
{
	struct ref_lane *at = &ref->lanes[lane];
	bool marks = at->refused != at->marked;

	if (at->head - at->pos + item->slots + marks > ref->size) {
		ref->refused++;
		at->refused++;
		return false;
	}
	if (marks) {
		struct ref_item *mark = new_item(ref, 0, NULL, 0);

		mark->slots = 1;
		mark->order = item->order;
		mark->refusals = at->refused;
		at->marked = at->refused;
		append(ref, lane, mark);
	}
	append(ref, lane, item);
	return true;
}

/* False: it was refused. */
static bool record(struct ref *ref, unsigned lane, struct ref_item *item)
{
	const struct ref_lane *at = &ref->lanes[lane];
	uint64_t used = at->head - at->pos;

	ref->written++;
	if (ref->policy == LOOP) {
		append(ref, lane, item);
		return true;
	}
	if (ref->policy == DISCARD)
		return record_or_discard(ref, lane, item);
	if (ref->state == REF_AUTO || used + item->slots > ref->size) {
		ref->refused++;
		if (ref->state == REF_RUNNING)
			auto_stop(ref);
		return false;
	}
	append(ref, lane, item);
	if (used + item->slots == ref->size)
		auto_stop(ref);
	return true;
}

void ref_event(struct ref *ref, trace_event_id_t id, uint32_t len, uint32_t number, uint32_t lane)
{
	struct ref_item *item;

	if (ref->state == REF_OFF || !wants(ref, id))
		return;
	item = new_item(ref, id, NULL, len < ref->max_data ? len : ref->max_data);
	item->cut = len > ref->max_data;
	item->number = number;
	(void)record(ref, lane & (ref->lane_count - 1u), item);
}

/* ---- Control ---- */

static bool put_oob(struct ref *ref, struct ref_item *item)
{
	if (ref->side_count == SIDES)
		return false;
	ref->oob[ref->side_count++] = (uint16_t)(item - ref->items);
	ref->written += !item->made;
	return true;
}

/* START or STOP by call: between what was recorded before and after, in all lanes. */
static bool put_barrier(struct ref *ref, trace_event_id_t id, const void *data, uint32_t len)
{
	uint64_t order = ref->now + 1u;
	struct ref_item *item;

	if (!wants(ref, id))
		return true;
	item = new_item(ref, id, data, len);
	if (room(ref) < item->slots + (ref->lane_count > 1))
		return put_oob(ref, item);
	for (unsigned i = 0; i < ref->lane_count && ref->lane_count > 1; i++) {
		struct ref_item *mark = new_item(ref, 0, NULL, 0);

		mark->slots = 1;
		mark->order = order;
		mark->mark = ref->barriers + 1u;
		append(ref, i, mark);
	}
	ref->barriers += ref->lane_count > 1;
	append(ref, 0, item);
	ref->written++;
	return true;
}

static bool was_auto(const struct ref *ref)
{
	return ref->state == REF_AUTO || ref->owes_stop;
}

static bool owes_stop(const struct ref *ref)
{
	return was_auto(ref) && !ref->stop_told && wants(ref, POSIX_TRACE_STOP);
}

/* Beside the lanes there is room for the data of one. */
static bool start_is_oob(const struct ref *ref)
{
	bool found = false;

	for (unsigned i = 0; i < ref->side_count; i++)
		found |= ref->items[ref->oob[i]].id == POSIX_TRACE_START;
	return found;
}

/* A START needs a place, as does the STOP that may follow it. */
static bool start_has_place(const struct ref *ref)
{
	uint32_t slots = START_SLOTS + (ref->lane_count > 1 ? 2u : 1u);
	unsigned sides = 1u + (room(ref) < slots) + owes_stop(ref);

	return !(room(ref) < slots && start_is_oob(ref)) && ref->side_count + sides <= SIDES;
}

/* DEC-10 */
static bool is_full(const struct ref *ref)
{
	if (ref->policy == DISCARD)
		return room(ref) < pxt_slots_for(PXT_CTX_BYTES) + 1u;
	return room(ref) == 0 || (was_auto(ref) && !ref->freed) || !start_has_place(ref);
}

static bool start_is_refused(const struct ref *ref)
{
	if (ref->policy == LOOP)
		return false;
	return ref->policy == DISCARD ? !start_has_place(ref) : is_full(ref);
}

/* What is in the lanes now was recorded before a start or stop by call. */
static void note_call(struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++)
		ref->lanes[i].called = ref->lanes[i].count;
}

void ref_start(struct ref *ref)
{
	const int automatic = 1;

	if (ref->state == REF_RUNNING || ref->log.dead || start_is_refused(ref))
		return;
	if (owes_stop(ref)) {
		struct ref_item *item =
		    new_item(ref, POSIX_TRACE_STOP, &automatic, sizeof(automatic));

		item->made = true;
		(void)put_oob(ref, item);
	}
	ref->owes_stop = false;
	note_call(ref);
	(void)put_barrier(ref, POSIX_TRACE_START, &ref->filter, sizeof(ref->filter));
	ref->stop_told = false;
	ref->freed = false;
	ref->stopped_at = 0;
	ref->state = REF_RUNNING;
}

void ref_stop(struct ref *ref)
{
	enum ref_state state = ref->state;
	const int by_call = 0;

	if (state == REF_OFF)
		return;
	ref->owes_stop |= state == REF_AUTO && !ref->stop_told;
	ref->stop_told = false;
	ref->state = REF_OFF;
	note_call(ref);
	if (state == REF_RUNNING)
		(void)put_barrier(ref, POSIX_TRACE_STOP, &by_call, sizeof(by_call));
}

static void restart(struct ref *ref)
{
	ref->lost_before += ref->refused - ref->refused_told;
	if (ref->log.on && ref->refused != ref->refused_told)
		note_gap(ref, ref->stopped_at);
	ref->refused_told = ref->refused;
	ref->stop_told = false;
	ref->freed = false;
	ref->stopped_at = 0;
	ref->start_order = ++ref->now;
	ref->start_set = ref->filter;
	ref->owes_start = wants(ref, POSIX_TRACE_START);
	ref->state = REF_RUNNING;
}

/* POL-09: it has become empty. */
static void settle(struct ref *ref)
{
	if (ref->state != REF_AUTO || (!ref->stop_told && wants(ref, POSIX_TRACE_STOP)))
		return;
	if (ref->stop_told || drained(ref))
		restart(ref);
}

void ref_filter(struct ref *ref, const trace_event_set_t *set, int how)
{
	trace_event_set_t both[2];

	both[0] = ref->filter;
	(void)posix_trace_eventset_empty(&both[1]);
	for (trace_event_id_t id = 1; id < _PXT_EVENT_IDS; id++) {
		bool old = ref_in_set(&both[0], id);
		bool with = ref_in_set(set, id);
		bool is = how == POSIX_TRACE_SET_EVENTSET   ? with
		          : how == POSIX_TRACE_ADD_EVENTSET ? old || with
		                                            : old && !with;

		if (is)
			(void)posix_trace_eventset_add(id, &both[1]);
	}
	if (ref->state == REF_RUNNING && wants(ref, POSIX_TRACE_FILTER))
		(void)record(ref, 0, new_item(ref, POSIX_TRACE_FILTER, both, sizeof(both)));
	ref->filter = both[1];
	/* The automatic STOP may have been all that was left. */
	if (!ref->log.on)
		settle(ref);
}

static void clear_log(struct ref *ref)
{
	struct ref_log *log = &ref->log;

	log->count = 0;
	log->bytes = 0;
	log->taken = 0;
	log->full = false;
	log->overrun = false;
	log->lost = 0;
	log->dead = false;
	log->owes_stop = false;
	log->stop_mark = false;
	log->unreported = 0;
	log->last_id = 0;
}

/* DEC-25 */
void ref_clear(struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++) {
		struct ref_lane *at = &ref->lanes[i];

		for (; at->first < at->count; at->first++)
			ref->cleared += !is_mark(&ref->items[at->items[at->first]]);
		/* Overwritten ones, too: nobody had been told. */
		at->pos = at->head;
		at->partial = false;
		at->known = false;
		at->barrier = ref->barriers;
		at->passed = at->refused;
		at->told = at->refused;
	}
	for (unsigned i = 0; i < ref->side_count; i++)
		ref->cleared += !ref->items[ref->oob[i]].made;
	ref->side_count = 0;
	ref->gap = false;
	ref->resume_due = false;
	ref->owes_stop = false;
	ref->owes_start = false;
	ref->stop_told = false;
	ref->freed = false;
	ref->control_first = false;
	ref->give_up = 0;
	ref->lost_before = 0;
	ref->refused_told = ref->refused;
	ref->lost_told = ref->lost + ref->refused;
	(void)posix_trace_eventset_empty(&ref->filter);
	if (ref->state == REF_AUTO)
		ref->state = REF_OFF;
	clear_log(ref);
}

/* ---- What comes next ---- */

/* Marks that lanes have come to hold no room any more: what is after them is later anyway. */
static bool pass_marks(struct ref *ref)
{
	bool passed = false;

	for (unsigned i = 0; i < ref->lane_count; i++) {
		while (front(ref, i) && is_mark(front(ref, i))) {
			if (front(ref, i)->mark)
				ref->lanes[i].barrier = front(ref, i)->mark;
			else
				ref->lanes[i].passed = front(ref, i)->refusals;
			advance(ref, i);
			passed = true;
		}
	}
	return passed;
}

/* The lane of the oldest unread record; lanes: none. */
static unsigned oldest(struct ref *ref)
{
	unsigned found = ref->lane_count;

	for (unsigned i = 0; i < ref->lane_count; i++) {
		const struct ref_item *item = front(ref, i);

		if (item && !is_mark(item) &&
		    (found == ref->lane_count || item->order < front(ref, found)->order))
			found = i;
	}
	return found;
}

static unsigned pick(struct ref *ref)
{
	for (;;) {
		unsigned lane;

		notice(ref);
		if (pass_marks(ref))
			continue;
		lane = oldest(ref);
		if (lane == ref->lane_count || front(ref, lane)->order >= ref->give_up)
			return lane;
		note_gap(ref, front(ref, lane)->order);
		lose(ref, 1);
		advance(ref, lane);
	}
}

/* Before the first record that came after them into the same lane. */
static void tell_refused(struct ref *ref, unsigned lane)
{
	struct ref_lane *at = &ref->lanes[lane];

	if (at->passed == at->told)
		return;
	ref->lost_before += at->passed - at->told;
	at->told = at->passed;
	note_gap(ref, 0);
}

static bool oob_is_next(const struct ref *ref)
{
	if (!ref->side_count)
		return false;
	for (unsigned i = 0; i < ref->lane_count; i++) {
		if (front(ref, i) && front(ref, i)->order < ref->items[ref->oob[0]].order)
			return false;
	}
	return true;
}

static struct ref_item *make(
    struct ref *ref, trace_event_id_t id, uint64_t order, const void *data, uint32_t len)
{
	struct ref_item *item = new_item(ref, id, data, len);

	item->order = order > ref->last_order ? order : ref->last_order;
	item->made = true;
	return item;
}

/* Where the next one is: after what is automatic. */
enum from {
	FROM_NOWHERE,
	FROM_START,
	FROM_STOP,
	FROM_SIDE,
	FROM_LANE
};

static enum from look(struct ref *ref, unsigned *lane)
{
	bool stops = ref->owes_stop || (ref->state == REF_AUTO && !ref->stop_told);

	if (ref->owes_start)
		return FROM_START;
	if (ref->stop_told)
		return FROM_NOWHERE;
	if (oob_is_next(ref))
		return FROM_SIDE;
	*lane = pick(ref);
	if (*lane < ref->lane_count) {
		tell_refused(ref, *lane);
		return FROM_LANE;
	}
	return stops && wants(ref, POSIX_TRACE_STOP) && drained(ref) ? FROM_STOP : FROM_NOWHERE;
}

/* What comes next, not taken yet. */
struct next {
	enum from from;
	unsigned lane;
	trace_event_id_t gap; /* OVERFLOW or RESUME, before it */
	trace_event_id_t id;
	uint64_t order;
	uint32_t slots;
	bool made;
};

static void look_closely(const struct ref *ref, struct next *next)
{
	const struct ref_item *item = NULL;

	next->made = next->from == FROM_START || next->from == FROM_STOP;
	if (next->made) {
		bool start = next->from == FROM_START;

		next->id = start ? POSIX_TRACE_START : POSIX_TRACE_STOP;
		next->order = start ? ref->start_order : ref->stopped_at;
		next->slots = pxt_slots_for(
		    PXT_CTX_BYTES + (uint32_t)(start ? sizeof(trace_event_set_t) : sizeof(int)));
		return;
	}
	item = next->from == FROM_SIDE ? &ref->items[ref->oob[0]] : front(ref, next->lane);
	next->id = item->id;
	next->order = item->order;
	next->slots = item->slots;
	next->made = false;
}

/* OVERFLOW and RESUME are before what comes next; one that is filtered is left out (DEC-12). */
static bool peek(struct ref *ref, struct next *next)
{
	*next = (struct next){ .from = FROM_NOWHERE };
	next->from = look(ref, &next->lane);
	if (next->from == FROM_NOWHERE)
		return false;
	look_closely(ref, next);
	if (ref->gap && wants(ref, POSIX_TRACE_OVERFLOW))
		next->gap = POSIX_TRACE_OVERFLOW;
	else if ((ref->gap || ref->resume_due) && wants(ref, POSIX_TRACE_RESUME))
		next->gap = POSIX_TRACE_RESUME;
	if (next->gap) {
		next->id = next->gap;
		next->slots = pxt_slots_for(PXT_CTX_BYTES);
		next->made = true;
	}
	if (next->gap == POSIX_TRACE_OVERFLOW && ref->gap_order < next->order)
		next->order = ref->gap_order;
	if (next->order < ref->last_order)
		next->order = ref->last_order;
	return true;
}

static struct ref_item *take_automatic(struct ref *ref, const struct next *next)
{
	const int automatic = 1;

	if (next->gap) {
		ref->gap = false;
		ref->resume_due = next->gap == POSIX_TRACE_OVERFLOW;
		return make(ref, next->id, next->order, NULL, 0);
	}
	if (next->from == FROM_START) {
		ref->owes_start = false;
		return make(
		    ref, POSIX_TRACE_START, next->order, &ref->start_set, sizeof(ref->start_set));
	}
	if (ref->owes_stop)
		ref->owes_stop = false;
	else
		ref->stop_told = true;
	return make(ref, POSIX_TRACE_STOP, next->order, &automatic, sizeof(automatic));
}

static struct ref_item *take_record(struct ref *ref, const struct next *next)
{
	struct ref_item *item;

	if (next->from == FROM_SIDE) {
		item = &ref->items[ref->oob[0]];
		ref->side_count--;
		memmove(ref->oob, ref->oob + 1, sizeof(ref->oob) - sizeof(ref->oob[0]));
	} else {
		item = &ref->items[front_index(ref, next->lane)];
		advance(ref, next->lane);
		ref->freed |= was_auto(ref);
	}
	ref->retrieved += !item->made;
	/* What was left out of a gap does not come later. */
	ref->gap = false;
	ref->resume_due = false;
	return item;
}

static bool passed_last_call(const struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++) {
		const struct ref_lane *at = &ref->lanes[i];

		for (unsigned item = at->first; item < at->called; item++) {
			if (!is_mark(&ref->items[at->items[item]]))
				return false;
		}
	}
	return true;
}

/* Of an automatic stop that no restart has ended: behind its STOP. */
static void tell_refused_by_stop(struct ref *ref)
{
	if (ref->policy == DISCARD || was_auto(ref) || ref->side_count || !passed_last_call(ref))
		return;
	ref->lost_before += ref->refused - ref->refused_told;
	ref->refused_told = ref->refused;
}

static struct ref_item *take(struct ref *ref, const struct next *next)
{
	struct ref_item *item;

	tell_refused_by_stop(ref);
	item = next->made ? take_automatic(ref, next) : take_record(ref, next);

	item->lost = ref->lost_before;
	ref->lost_before = 0;
	ref->last_order = next->order;
	return item;
}

bool ref_has_next(struct ref *ref)
{
	struct next next;

	return peek(ref, &next);
}

const struct ref_item *ref_next(struct ref *ref)
{
	const struct ref_item *item;
	struct next next;

	if (!peek(ref, &next))
		return NULL;
	item = take(ref, &next);
	settle(ref);
	return item;
}

/* ---- The log ---- */

static void put_in_log(struct ref *ref, struct ref_item *item)
{
	struct ref_log *log = &ref->log;

	log->items[log->count++] = (uint16_t)(item - ref->items);
	log->taken += item->slots * PXT_SLOT_BYTES;
	log->bytes += item->slots * PXT_SLOT_BYTES;
	log->last_id = item->id;
}

/* DEC-14: room for a STOP is kept. */
static bool log_admits(const struct ref_log *log, trace_event_id_t id, uint32_t slots)
{
	uint32_t kept = id == POSIX_TRACE_STOP ? 0u : STOP_SLOTS * PXT_SLOT_BYTES;

	return log->policy != UNTIL_FULL || log->taken + slots * PXT_SLOT_BYTES + kept <= log->size;
}

static bool put_made(struct ref *ref, trace_event_id_t id, uint64_t order)
{
	struct ref_item *item = make(ref, id, order, NULL, 0);

	if (!log_admits(&ref->log, id, item->slots))
		return false;
	put_in_log(ref, item);
	if (item->order > ref->last_order)
		ref->last_order = item->order;
	return true;
}

static bool put_stop_mark(struct ref *ref)
{
	if (!ref->log.stop_mark)
		return true;
	if (!put_made(ref, POSIX_TRACE_FLUSH_STOP, ref->log.stop_order))
		return false;
	ref->log.stop_mark = false;
	return true;
}

/* What the stream hands out goes into the log.  False: the log is full. */
static bool take_into_log(struct ref *ref)
{
	struct ref_log *log = &ref->log;
	struct next next;

	while (peek(ref, &next)) {
		struct ref_item *item;

		if (log->stop_mark && (next.order >= log->stop_order ||
		                          (!next.made && next.id == POSIX_TRACE_STOP))) {
			if (!put_stop_mark(ref))
				return false;
			continue;
		}
		if (!log_admits(log, next.id, next.slots))
			return false;
		item = take(ref, &next);
		item->lost += log->unreported;
		log->unreported = 0;
		put_in_log(ref, item);
	}
	return true;
}

static void discard(struct ref *ref)
{
	struct next next;

	while (peek(ref, &next)) {
		const struct ref_item *item = take(ref, &next);

		ref->log.unreported += item->lost + !item->made;
		ref->log.overrun |= !item->made;
		ref->log.lost += !item->made;
	}
}

static void fill_log_up(struct ref *ref)
{
	struct ref_log *log = &ref->log;
	const int automatic = 1;

	ref->state = REF_OFF;
	log->dead = true;
	log->full = true;
	if (log->last_id != POSIX_TRACE_STOP && wants(ref, POSIX_TRACE_STOP))
		put_in_log(
		    ref, make(ref, POSIX_TRACE_STOP, ++ref->now, &automatic, sizeof(automatic)));
	discard(ref);
}

void ref_flush(struct ref *ref, bool final)
{
	struct ref_log *log = &ref->log;
	bool marks = !final && ref->state != REF_OFF;
	uint64_t bound = ++ref->now;
	bool fits;

	if (log->policy == UNTIL_FULL && log->full) {
		discard(ref);
		marks = false;
	} else {
		fits = take_into_log(ref);
		if (fits && (marks || final))
			fits = put_stop_mark(ref);
		if (fits && marks && wants(ref, POSIX_TRACE_FLUSH_START))
			fits = put_made(ref, POSIX_TRACE_FLUSH_START, bound);
		if (!fits) {
			fill_log_up(ref);
			marks = false;
		}
	}
	if (marks && wants(ref, POSIX_TRACE_FLUSH_STOP)) {
		log->stop_mark = true;
		log->stop_order = ++ref->now;
	}
	if (!final)
		settle(ref);
}

/* ---- What can be asked ---- */

static bool loop_full(const struct ref *ref)
{
	for (unsigned i = 0; i < ref->lane_count; i++) {
		const struct ref_lane *at = &ref->lanes[i];

		if (at->partial || at->head - at->pos >= ref->size)
			return true;
	}
	return false;
}

void ref_status(struct ref *ref, bool reset, struct posix_trace_status_info *status)
{
	bool running = ref->state == REF_RUNNING;

	memset(status, 0, sizeof(*status));
	if (ref->policy == LOOP)
		notice(ref);
	status->posix_stream_status = running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	status->posix_stream_full_status =
	    ref->policy == LOOP ? loop_full(ref)
	                        : (!running || ref->policy == DISCARD) && is_full(ref);
	status->posix_stream_overrun_status = ref->lost + ref->refused != ref->lost_told;
	status->posix_log_overrun_status = ref->log.overrun;
	status->posix_log_full_status = ref->log.full;
	if (reset) {
		ref->lost_told = ref->lost + ref->refused;
		ref->log.overrun = false;
	}
}

void ref_counts(struct ref *ref, struct posix_trace_counts_np *counts)
{
	if (ref->policy == LOOP)
		notice(ref);
	counts->posix_written_np = ref->written;
	counts->posix_retrieved_np = ref->retrieved;
	counts->posix_lost_np = ref->lost + ref->refused;
	counts->posix_cleared_np = ref->cleared;
	counts->posix_held_np =
	    ref->written - ref->retrieved - ref->lost - ref->refused - ref->cleared;
	counts->posix_stable_np = 1;
}
