/* SPDX-License-Identifier: MIT */
/* model.c - counts, durations and waits of the last seconds; see top.h. */
#include "tools/top/top.h"

#include "tools/output/out.h"
#include "tools/spans/pairs.h"
#include "tools/why/waits.h"
#include "tools/why/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS    PXT_MODEL_SLOTS
#define LEAST_NS INT64_C(100000000) /* a rate over less than this says nothing */

struct slot {
	int64_t begun_ns;
	uint64_t events; /* that were read, ... */
	uint64_t missed; /* ... and that were not */
	/* What the owner had said when it began. */
	bool has_status;
	int64_t status_ns;
	uint64_t written;
	uint64_t lost;
};

struct thread_count {
	const struct pxt_thread *thread;
	uint32_t events[SLOTS];
};

struct pair_spans {
	struct pxt_series slots[SLOTS];
};

struct lock_use {
	const struct pxt_state_lock *lock;
	struct {
		uint64_t waits;
		int64_t waited_ns;
		int64_t longest_ns;
	} slots[SLOTS];
	/* While rows are made. */
	uint64_t waiting;  /* threads, ... */
	double waiting_ns; /* ... within these seconds, all together, ... */
	int64_t eldest_ns; /* ... and who does so longest, in all */
};

struct pxt_model {
	int64_t slot_ns;
	int64_t now_ns;
	struct slot slots[SLOTS];
	unsigned slot;                /* the present one */
	unsigned count;               /* of slots that have begun */
	struct slot latest;           /* what the owner said last */
	bool has_begun;               /* events were counted, from ... */
	int64_t since_ns;             /* ... this moment on */
	bool counts;                  /* the event at work */
	int64_t event_ns;             /* of the last event, and ... */
	int64_t came_ns;              /* ... when it was taken */
	struct thread_count *threads; /* by the thread's index */
	uint32_t thread_room;
	struct pxt_pair_options pair_options;
	struct pxt_pairs *pairs;
	struct pair_spans *spans[PXT_PAIRS_MAX];
	struct pxt_roles_book *book;
	struct pxt_state *state; /* NULL: no events are read */
	struct pxt_waits waits;
	struct pxt_lateness lateness;
	struct lock_use *locks; /* by the lock's row */
	uint32_t lock_count;
	uint32_t lock_room;
};

/* ---- Locks ---- */

static struct lock_use *use_of(struct pxt_model *model, struct pxt_state_lock *lock)
{
	if (lock->row != 0)
		return &model->locks[lock->row - 1];
	model->locks =
	    pxt_must_grow(model->locks, &model->lock_room, model->lock_count, sizeof *model->locks);
	model->locks[model->lock_count] = (struct lock_use){ .lock = lock };
	lock->row = ++model->lock_count;
	return &model->locks[lock->row - 1];
}

/* Who asks for a lock that is known to be free, or for its own, does not wait. */
static void wait_begun(void *self, struct pxt_wait *wait, const struct pxt_act *act)
{
	struct pxt_model *model = self;
	struct pxt_actor *holder;
	bool known;

	wait->wanted = false;
	if (wait->kind != PXT_WAIT_LOCK)
		return;
	holder = pxt_lock_holder(model->state, act->lock, &known);
	wait->wanted = !known || (holder && holder != act->actor);
	(void)use_of(model, act->lock);
}

static void wait_ended(void *self, const struct pxt_wait *wait, const struct pxt_act *act)
{
	struct pxt_model *model = self;
	int64_t ns = act->ns - wait->since_ns;

	if (!wait->wanted || !model->counts)
		return;
	struct lock_use *use = &model->locks[wait->lock->row - 1];
	use->slots[model->slot].waits++;
	use->slots[model->slot].waited_ns += ns;
	if (ns > use->slots[model->slot].longest_ns)
		use->slots[model->slot].longest_ns = ns;
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_model *model = self;

	pxt_waits_look(&model->waits, act);
	pxt_rounds_look(&model->lateness.rounds, act);
}

/* ---- Pairs ---- */

static void take_span(void *self, uint32_t pair, uint64_t mark, int64_t begin_ns)
{
	struct pxt_model *model = self;
	int64_t ns = model->pairs->now_ns - begin_ns;

	(void)mark;
	if (!model->counts)
		return;
	if (!model->spans[pair])
		model->spans[pair] = pxt_must(calloc(1, sizeof *model->spans[pair]));
	pxt_series_add(&model->spans[pair]->slots[model->slot], ns > 0 ? (uint64_t)ns : 0);
}

/* The durations of the whole reading are nobody's concern here, and take room. */
static void forget_rows(struct pxt_pairs *pairs)
{
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(pairs, &count);

	for (uint32_t i = 0; i < count; i++)
		pxt_series_free(&rows[i]->series);
	free(rows);
}

/* ---- Making ---- */

struct pxt_model *pxt_model_new(int64_t slot_ns, int64_t now_ns)
{
	struct pxt_model *model = pxt_must(calloc(1, sizeof *model));

	model->slot_ns = slot_ns;
	model->now_ns = now_ns;
	model->slots[0].begun_ns = now_ns;
	model->count = 1;
	return model;
}

void pxt_model_open(struct pxt_model *model, const struct pxt_reader *reader)
{
	model->book = pxt_roles_new();
	pxt_roles_bind(model->book, reader);
	model->state = pxt_state_new(model->book, reader);
	model->state->lookers = (struct pxt_lookers){ .self = model, .act = look };
	model->waits = (struct pxt_waits){
		.state = model->state, .self = model, .begun = wait_begun, .ended = wait_ended
	};
	pxt_lateness_open(&model->lateness, model->state);
	model->pairs = pxt_pairs_new(&model->pair_options);
	model->pairs->on_span = take_span;
	model->pairs->context = model;
}

void pxt_model_free(struct pxt_model *model)
{
	for (uint32_t i = 0; i < PXT_PAIRS_MAX; i++) {
		for (unsigned slot = 0; model->spans[i] && slot < SLOTS; slot++)
			pxt_series_free(&model->spans[i]->slots[slot]);
		free(model->spans[i]);
	}
	if (model->state) {
		pxt_pairs_free(model->pairs);
		pxt_waits_free(&model->waits);
		pxt_lateness_free(&model->lateness);
		pxt_state_free(model->state);
		pxt_roles_free(model->book);
	}
	free(model->threads);
	free(model->locks);
	free(model);
}

/* ---- Time ---- */

/* What was in a slot is forgotten; it begins now. */
static void begin_slot(struct pxt_model *model, unsigned slot, int64_t ns)
{
	for (uint32_t i = 0; i < model->thread_room; i++)
		model->threads[i].events[slot] = 0;
	for (uint32_t i = 0; i < PXT_PAIRS_MAX; i++)
		if (model->spans[i])
			pxt_series_free(&model->spans[i]->slots[slot]);
	for (uint32_t i = 0; i < model->lock_count; i++)
		memset(&model->locks[i].slots[slot], 0, sizeof model->locks[i].slots[slot]);
	pxt_lateness_forget(&model->lateness, slot);
	model->slots[slot] = model->latest;
	model->slots[slot].begun_ns = ns;
	model->slot = slot;
}

void pxt_model_tick(struct pxt_model *model, int64_t now_ns)
{
	int64_t begun = model->slots[model->slot].begun_ns;

	model->now_ns = now_ns;
	if (now_ns - begun < model->slot_ns)
		return;
	if (model->pairs)
		forget_rows(model->pairs);
	/* Who stood still for long begins anew. */
	if (now_ns - begun >= (int64_t)SLOTS * model->slot_ns) {
		for (unsigned slot = SLOTS; slot-- > 0;)
			begin_slot(model, slot, now_ns);
		model->count = 1;
		return;
	}
	/* Bound: SLOTS. */
	for (; now_ns - begun >= model->slot_ns; model->count += model->count < SLOTS) {
		begun += model->slot_ns;
		begin_slot(model, (model->slot + 1) % SLOTS, begun);
	}
}

void pxt_model_status(struct pxt_model *model, uint64_t written, uint64_t lost)
{
	model->latest = (struct slot){
		.has_status = true, .status_ns = model->now_ns, .written = written, .lost = lost
	};
	if (model->count == 1 && !model->slots[model->slot].has_status) {
		struct slot *slot = &model->slots[model->slot];

		slot->has_status = true;
		slot->status_ns = model->now_ns;
		slot->written = written;
		slot->lost = lost;
	}
}

/* ---- Events ---- */

static void count_thread(struct pxt_model *model, const struct pxt_thread *thread)
{
	if (thread->index == PXT_INDEX_NONE || (!thread->recorded && thread->tid <= 0))
		return;
	model->threads = pxt_must_reach(
	    model->threads, &model->thread_room, thread->index, sizeof *model->threads);
	model->threads[thread->index].thread = thread;
	model->threads[thread->index].events[model->slot]++;
}

void pxt_model_take(struct pxt_model *model, const struct pxt_event *event, bool counts)
{
	uint64_t lost;

	model->counts = counts;
	model->event_ns = event->ns;
	model->came_ns = model->now_ns;
	if (counts) {
		if (!model->has_begun)
			model->since_ns = model->now_ns;
		model->has_begun = true;
		model->slots[model->slot].events++;
		model->slots[model->slot].missed += event->extra.posix_lost_before_np;
		count_thread(model, event->thread);
	}
	pxt_pairs_gap(model->pairs, event);
	pxt_pairs_take(model->pairs, event);
	(void)pxt_state_gap(model->state, event, 0, &lost);
	pxt_state_take(model->state, event, 0);
	pxt_lateness_take(&model->lateness, event, model->slot, counts);
}

/* ---- Numbers ---- */

/* The oldest slot that counts. */
static unsigned first_slot(const struct pxt_model *model)
{
	return (model->slot + 1 + SLOTS - model->count) % SLOTS;
}

/* For how long events were counted, of the time that the slots are of. */
static double seconds(const struct pxt_model *model)
{
	int64_t begun = model->slots[first_slot(model)].begun_ns;
	int64_t since = model->since_ns > begun ? model->since_ns : begun;
	int64_t ns = model->now_ns - since;

	return ns > LEAST_NS ? (double)ns / 1e9 : (double)LEAST_NS / 1e9;
}

static void read_so_far(const struct pxt_model *model, double *events, double *missed)
{
	*events = *missed = 0;
	for (unsigned i = 0; i < model->count; i++) {
		unsigned slot = (model->slot + SLOTS - i) % SLOTS;

		*events += (double)model->slots[slot].events;
		*missed += (double)model->slots[slot].missed;
	}
}

static void add_threads(struct pxt_model *model, uint32_t stream, struct pxt_numbers *numbers)
{
	double events;
	double missed;

	read_so_far(model, &events, &missed);
	for (uint32_t i = 0; i < model->thread_room; i++) {
		const struct thread_count *thread = &model->threads[i];
		double sum = 0;

		for (unsigned slot = 0; slot < SLOTS; slot++)
			sum += thread->events[slot];
		struct pxt_numbers_row *row =
		    sum > 0 ? pxt_numbers_add(numbers, PXT_NUMBERS_THREADS, sum / seconds(model))
		            : NULL;
		if (!row)
			continue;
		row->stream = stream;
		row->values[PXT_NUMBERS_SHARE] = sum * 100 / events;
		(void)snprintf(row->label, sizeof row->label, "%s", thread->thread->label);
	}
}

/* "job_begin .. _end" */
static void label_pair(const struct pxt_pair *pair, char *label, size_t room)
{
	char raw[2 * TRACE_EVENT_NAME_MAX + 8];

	(void)snprintf(
	    raw, sizeof raw, "%s .. %s", pair->begin->name, pair->end->name + strlen(pair->base));
	(void)pxt_escape(raw, strlen(raw), label, room, NULL);
}

static void add_pair(
    struct pxt_model *model, uint32_t pair, uint32_t stream, struct pxt_numbers *numbers)
{
	struct pxt_series all = { 0 };
	struct pxt_numbers_row *row = NULL;
	double p99;
	bool exact;

	for (unsigned slot = 0; slot < SLOTS; slot++)
		pxt_series_join(&all, &model->spans[pair]->slots[slot]);
	p99 = (double)pxt_series_quantile(&all, 990, &exact);
	if (all.count > 0)
		row = pxt_numbers_add(numbers, PXT_NUMBERS_PAIRS, p99);
	if (row) {
		row->stream = stream;
		row->values[PXT_NUMBERS_COUNT] = (double)all.count;
		row->values[PXT_NUMBERS_P50] = (double)pxt_series_quantile(&all, 500, &exact);
		row->values[PXT_NUMBERS_MAX] = (double)all.most;
		label_pair(&model->pairs->pairs[pair], row->label, sizeof row->label);
	}
	pxt_series_free(&all);
}

/* Who waits at this moment, which no event has ended. */
static void find_waiting(struct pxt_model *model)
{
	/* Events tell what time it is in their stream; where none come, it passes as elsewhere. */
	int64_t now = model->event_ns + (model->now_ns - model->came_ns);
	double most = seconds(model) * 1e9;

	for (uint32_t i = 0; i < model->lock_count; i++) {
		model->locks[i].waiting = 0;
		model->locks[i].waiting_ns = 0;
		model->locks[i].eldest_ns = 0;
	}
	for (uint32_t i = 0; i < model->waits.room; i++) {
		const struct pxt_wait *wait = &model->waits.list[i][PXT_WAIT_LOCK];
		int64_t ns = now - wait->since_ns;

		if (!wait->is_on || !wait->wanted || wait->epoch != model->state->epochs[0])
			continue;
		struct lock_use *use = &model->locks[wait->lock->row - 1];
		use->waiting++;
		/* What lies before these seconds is not theirs. */
		use->waiting_ns += (double)ns < most ? (double)ns : most;
		if (ns > use->eldest_ns)
			use->eldest_ns = ns;
	}
}

static void add_lock(struct pxt_model *model, const struct lock_use *use, uint32_t stream,
    struct pxt_numbers *numbers)
{
	int64_t longest = use->eldest_ns;
	double waited = use->waiting_ns;
	double waits = (double)use->waiting;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		waits += (double)use->slots[slot].waits;
		waited += (double)use->slots[slot].waited_ns;
		if (use->slots[slot].longest_ns > longest)
			longest = use->slots[slot].longest_ns;
	}
	struct pxt_numbers_row *row =
	    waits > 0 ? pxt_numbers_add(numbers, PXT_NUMBERS_LOCKS, waited) : NULL;
	if (!row)
		return;
	struct pxt_words words = { 0 };
	(void)pxt_say_lock_short(&words, model->book, use->lock);
	(void)snprintf(
	    row->label, sizeof row->label, "%.*s", (int)sizeof row->label - 1, words.text);
	row->stream = stream;
	row->values[PXT_NUMBERS_WAITS] = waits;
	row->values[PXT_NUMBERS_LONGEST] = (double)longest;
	row->values[PXT_NUMBERS_WAITING] = (double)use->waiting;
}

void pxt_model_rows(struct pxt_model *model, uint32_t stream, struct pxt_numbers *numbers)
{
	if (!model->state)
		return;
	add_threads(model, stream, numbers);
	for (uint32_t i = 0; i < PXT_PAIRS_MAX; i++)
		if (model->spans[i])
			add_pair(model, i, stream, numbers);
	pxt_lateness_rows(&model->lateness, stream, numbers);
	find_waiting(model);
	for (uint32_t i = 0; i < model->lock_count; i++)
		add_lock(model, &model->locks[i], stream, numbers);
}

/* What the owner had said at the beginning of these seconds; false: it has said nothing since. */
static bool earlier_status(const struct pxt_model *model, struct slot *earlier)
{
	for (unsigned i = model->count; i-- > 0;) {
		*earlier = model->slots[(model->slot + SLOTS - i) % SLOTS];
		if (earlier->has_status)
			return model->latest.status_ns > earlier->status_ns;
	}
	return false;
}

static double growth(uint64_t before, uint64_t after, int64_t ns)
{
	return after > before ? (double)(after - before) * 1e9 / (double)ns : 0;
}

double pxt_model_rate(const struct pxt_model *model)
{
	struct slot earlier;

	return earlier_status(model, &earlier) ? growth(earlier.written, model->latest.written,
	                                             model->latest.status_ns - earlier.status_ns)
	                                       : 0;
}

void pxt_model_rates(const struct pxt_model *model, struct pxt_numbers_row *row)
{
	struct slot earlier;
	double events;
	double missed;

	row->values[PXT_NUMBERS_EVENTS] = pxt_model_rate(model);
	row->values[PXT_NUMBERS_LOST] = 0;
	if (earlier_status(model, &earlier))
		row->values[PXT_NUMBERS_LOST] = growth(
		    earlier.lost, model->latest.lost, model->latest.status_ns - earlier.status_ns);
	row->lost_all = (double)model->latest.lost;
	read_so_far(model, &events, &missed);
	row->seen = !model->state         ? -1
	            : events + missed > 0 ? events * 100 / (events + missed)
	                                  : 100;
}
