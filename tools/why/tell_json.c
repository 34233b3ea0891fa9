/* SPDX-License-Identifier: MIT */
/*
 * tell_json.c - the answers as JSON (pxtrace why --json): one object; times in nanoseconds, those of the time line
 * since the release, others since 1970.  Names are escaped as on the screen (output/out.h).
 */
#include "tools/why/tell.h"

static void put_words(struct pxt_out *out, const char *name, const struct pxt_words *words)
{
	pxt_json_label(out, name, words->used > 0 ? words->text : NULL);
}

static void put_cause(
    const struct pxt_tell *tell, const struct pxt_blame *blame, const struct pxt_cause *cause)
{
	static const char *const kinds[PXT_CAUSE_KINDS] = { "own", "pending", "wait", "preempted",
		"blocked", "slept", "lost", "other" };
	static const char *const lasts[PXT_LAST_KINDS] = { "ran", "ready", "slept", "blocked",
		"ended", "lost", "unknown", "seen", "free", "doubt", "deadlock" };
	struct pxt_out *out = tell->out;
	struct pxt_words words = { 0 };
	bool sure;

	pxt_json_open(out, NULL, '{');
	pxt_json_label(out, "kind", kinds[cause->kind]);
	pxt_json_signed(out, "ns", cause->ns);
	pxt_say_cause(&words, tell->book, blame, cause);
	put_words(out, "text", &words);
	if (cause->kind == PXT_CAUSE_WAIT || cause->kind == PXT_CAUSE_PENDING)
		pxt_json_label(out, "holder_state", lasts[cause->last]);
	if (cause->function.address.value != 0)
		pxt_json_label(
		    out, "function", pxt_places_code(tell->book->places, &cause->function));
	if (cause->call != PXT_NO_NAME) {
		pxt_json_label(out, "call", tell->book->names[cause->call]);
		pxt_json_signed(out, "call_object", (int64_t)cause->object.address.value);
	}
	if (cause->runner) {
		pxt_json_label(out, "ran_instead", cause->runner->name);
		pxt_json_bool(out, "told_by_scheduler", cause->exact);
	}
	pxt_json_bool(out, "priority_inversion", pxt_is_inversion(blame, cause, &sure));
	pxt_json_open(out, "chain", '[');
	for (unsigned i = 0; i < cause->links; i++) {
		struct pxt_words lock = { 0 };
		const struct pxt_actor *holder = cause->chain[i].holder;

		pxt_say_lock(&lock, tell->book, cause->chain[i].lock);
		pxt_json_open(out, NULL, '{');
		put_words(out, "lock", &lock);
		pxt_json_label(out, "holder", holder ? holder->name : NULL);
		pxt_json_label(out, cause->chain[i].given_back ? "given_back_in" : "taken_in",
		    pxt_places_code(tell->book->places, &cause->chain[i].place));
		if (cause->chain[i].others > 0)
			pxt_json_signed(out, "other_holders", cause->chain[i].others);
		if (cause->chain[i].since_ns != 0)
			pxt_json_signed(out, "since_ns", cause->chain[i].since_ns);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]}");
}

static void put_time_line(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct pxt_out *out = tell->out;

	pxt_json_open(out, "time_line", '[');
	for (uint64_t i = 0; i < pxt_blame_lines(blame); i++) {
		const struct pxt_blame_line *line = pxt_blame_line(blame, i);
		struct pxt_words words = { 0 };

		if (!pxt_tell_line(blame, line))
			continue;
		pxt_json_open(out, NULL, '{');
		pxt_json_signed(out, "ns", line->ns - blame->late.release_ns);
		pxt_json_label(out, "thread", line->actor ? line->actor->name : NULL);
		if (line->gap)
			pxt_json_signed(out, "lost", (int64_t)line->lost);
		pxt_tell_deed(&words, blame, line);
		put_words(out, "text", &words);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
	pxt_json_signed(
	    out, "time_line_left_out", (int64_t)(blame->line_count - pxt_blame_lines(blame)));
}

static void put_overlaps(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX];
	struct pxt_out *out = tell->out;
	unsigned count;

	pxt_tell_overlaps(blame, sorted, &count);
	pxt_json_open(out, "meanwhile", '[');
	for (unsigned i = 0; i < count; i++) {
		struct pxt_words name = { 0 };

		pxt_say_name(&name, tell->book, sorted[i]->name, NULL);
		pxt_json_open(out, NULL, '{');
		pxt_json_label(out, "thread", sorted[i]->actor->name);
		put_words(out, "span", &name);
		pxt_json_signed(out, "count", (int64_t)sorted[i]->count);
		pxt_json_signed(out, "ns", sorted[i]->ns);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
}

/* What is known of a lock of a traced program. */
static void put_traced(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const struct pxt_late *late = &blame->late;
	struct pxt_out *out = tell->out;

	pxt_json_label(out, "variable", pxt_places_variable(tell->book->places, &late->self));
	pxt_json_label(out, "first_used_in", pxt_places_code(tell->book->places, &late->first));
	pxt_json_label(out, "to", late->mode != PXT_NO_NAME ? tell->book->names[late->mode] : NULL);
	pxt_json_label(out, "asked_for_in", pxt_places_code(tell->book->places, &blame->asked_in));
	pxt_json_open(out, "callers", '[');
	for (unsigned i = 0; i < blame->caller_count; i++) {
		pxt_json_label(out, NULL, pxt_places_code(tell->book->places, &blame->callers[i]));
	}
	pxt_json_close(out, "]");
	pxt_json_signed(out, "waits", (int64_t)late->waits);
	pxt_json_signed(out, "waits_ns", late->waits_ns);
}

static void put_late(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const struct pxt_late *late = &blame->late;
	struct pxt_out *out = tell->out;
	static const char *const kinds[] = { [PXT_LATE_SPAN] = "span",
		[PXT_LATE_WAIT] = "lock",
		[PXT_LATE_OFF] = "off_cpu",
		[PXT_LATE_ROUND] = "round",
		[PXT_LATE_HOME] = "wait" };
	struct pxt_words name = { 0 };

	if (late->name != PXT_NO_NAME)
		pxt_say_name(&name, tell->book, late->name, NULL);
	pxt_json_label(out, "kind", kinds[late->kind]);
	put_words(out, late->kind == PXT_LATE_WAIT ? "lock" : "span", &name);
	pxt_json_label(out, "number", late->key.is_set ? late->key.label : NULL);
	if (late->kind == PXT_LATE_WAIT && late->of_system)
		put_traced(tell, blame);
	pxt_json_label(out, "thread", blame->actor ? blame->actor->name : NULL);
	pxt_json_signed(out, "tid", blame->actor ? blame->actor->tid : 0);
	pxt_json_signed(out, "release_ns", late->release_ns);
	pxt_json_signed(out, "begin_ns", late->begin_ns);
	pxt_json_signed(out, "end_ns", late->end_ns);
	pxt_json_signed(out, "length_ns", pxt_blame_length(blame));
	pxt_json_bool(out, "missed_deadline", late->missed);
	if (late->has_late)
		pxt_json_signed(out, "late_ns", late->late_ns);
	if (late->has_ran)
		pxt_json_signed(out, "ran_ns", late->ran_ns);
	pxt_json_bool(out, "unfinished", late->unfinished);
	pxt_json_bool(out, "begin_lost", late->no_begin);
}

/* What a round, a home wait, or a span by an option, is measured by. */
static void put_usual(struct pxt_out *out, const struct pxt_late *late)
{
	static const char *const measures[PXT_MEASURES] = { [PXT_MEASURE_USUAL] = "median",
		[PXT_MEASURE_ASKED] = "asked for",
		[PXT_MEASURE_DATE] = "date",
		[PXT_MEASURE_PERIOD] = "period",
		[PXT_MEASURE_DEADLINE] = "deadline" };

	pxt_json_signed(out, "usual_ns", late->usual_ns);
	pxt_json_label(out, "usual_is", measures[late->measure]);
	if (!pxt_late_is_round(late))
		return;
	pxt_json_signed(out, "late_rounds", (int64_t)late->late_count);
	pxt_json_signed(out, "rounds", (int64_t)late->of);
}

/* ---- How sure ---- */

enum confidence {
	RECORDED,
	INFERRED,
	NOT_RECORDED
};

static void put_confidence(struct pxt_out *out, enum confidence confidence)
{
	static const char *const words[] = {
		[RECORDED] = "recorded", [INFERRED] = "inferred", [NOT_RECORDED] = "not recorded"
	};

	pxt_json_label(out, "confidence", words[confidence]);
}

/* Who mostly ends a wait may have had nothing to do with this one. */
static enum confidence of_link(const struct pxt_link *link)
{
	if (link->kind == PXT_LINK_UNKNOWN)
		return NOT_RECORDED;
	/* No event says which request is waited for, nor when a cgroup was throttled within two looks at it. */
	if (pxt_link_has_disk(link) || link->cgroup_ns > 0)
		return INFERRED;
	return link->inferred || link->bound_cpu >= 0 || (link->timed_out && link->peer) ? INFERRED
	                                                                                 : RECORDED;
}

/* Of an answer that goes along no chain. */
static enum confidence of_cause(const struct pxt_late *late, const struct pxt_cause *cause)
{
	if (!cause || cause->kind == PXT_CAUSE_LOST || cause->last == PXT_LAST_UNKNOWN)
		return NOT_RECORDED;
	if (cause->kind == PXT_CAUSE_BLOCKED || cause->exact)
		return RECORDED;
	if (cause->kind == PXT_CAUSE_OWN)
		return late->has_ran ? RECORDED : NOT_RECORDED;
	if (cause->kind == PXT_CAUSE_PENDING && !cause->runner && cause->inside == PXT_NO_NAME)
		return NOT_RECORDED;
	return cause->kind == PXT_CAUSE_PREEMPTED || cause->last == PXT_LAST_DOUBT ? INFERRED
	                                                                           : RECORDED;
}

/* The least sure part of the answer. */
static enum confidence of_answer(const struct pxt_setting *setting, const struct pxt_blame *blame)
{
	enum confidence least = RECORDED;
	int64_t ns;

	if (!pxt_says_chain(setting, blame))
		return of_cause(&blame->late, pxt_main_cause(setting, blame, &ns));
	for (unsigned i = 0; i < blame->chain.count; i++)
		if (of_link(&blame->chain.links[i]) > least)
			least = of_link(&blame->chain.links[i]);
	return least;
}

/* The threads that the answer goes along. */
static void put_chain(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	static const char *const kinds[] = { [PXT_LINK_LOCK] = "lock",
		[PXT_LINK_CALL] = "call",
		[PXT_LINK_TRIED] = "tried",
		[PXT_LINK_HANDLER] = "handler",
		[PXT_LINK_STOPPED] = "stopped",
		[PXT_LINK_RAN] = "ran",
		[PXT_LINK_READY] = "ready",
		[PXT_LINK_THROTTLED] = "throttled",
		[PXT_LINK_SLEPT] = "slept",
		[PXT_LINK_ENDED] = "ended",
		[PXT_LINK_UNKNOWN] = "not recorded" };
	struct pxt_out *out = tell->out;

	pxt_json_open(out, "chain", '[');
	for (unsigned i = 0; i < blame->chain.count; i++) {
		const struct pxt_link *link = &blame->chain.links[i];
		struct pxt_words words = { 0 };

		pxt_json_open(out, NULL, '{');
		pxt_json_label(out, "thread", link->actor->name);
		pxt_json_label(out, "did", kinds[link->kind]);
		pxt_json_signed(out, "ns", link->ns);
		pxt_json_label(out, "by", link->peer ? link->peer->name : NULL);
		pxt_say_link(&words, tell->book, link);
		put_words(out, "text", &words);
		put_confidence(out, of_link(link));
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
}

/* Of all late rounds of the thread. */
static void put_reasons(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct pxt_delay list[PXT_TELL_REASONS];
	struct pxt_out *out = tell->out;
	unsigned rounds;
	unsigned count = pxt_tell_reasons(tell, blame, list, &rounds);

	pxt_json_open(out, "held_up_by", '[');
	for (unsigned i = 0; i < count; i++) {
		struct pxt_words words = { 0 };

		pxt_say_reason(&words, tell->book, &list[i]);
		pxt_json_open(out, NULL, '{');
		put_words(out, "text", &words);
		pxt_json_signed(out, "rounds", list[i].rounds);
		pxt_json_signed(out, "ns", list[i].ns);
		pxt_json_open(out, "threads", '[');
		for (unsigned k = 0; k < list[i].thread_count; k++) {
			pxt_json_open(out, NULL, '{');
			pxt_json_label(out, "thread", list[i].threads[k].actor->name);
			pxt_json_signed(out, "rounds", list[i].threads[k].rounds);
			pxt_json_close(out, "}");
		}
		pxt_json_close(out, "]}");
	}
	pxt_json_close(out, "]");
}

static void put_span(const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	struct pxt_setting setting = pxt_tell_setting(tell, blame);
	const struct pxt_cause *sorted[PXT_CAUSES_MAX];
	struct pxt_out *out = tell->out;
	struct pxt_words words = { 0 };
	unsigned count;

	pxt_state_names_at(tell->blames->state, blame->late.end_ns);
	pxt_json_open(out, NULL, '{');
	pxt_say_answer(&words, &setting, blame);
	put_words(out, "answer", &words);
	put_confidence(out, of_answer(&setting, blame));
	put_late(tell, blame);
	if (setting.spans > 0) {
		pxt_json_signed(out, "median_ns", (int64_t)setting.median_ns);
		pxt_json_signed(out, "spans_of_that_name", (int64_t)setting.spans);
	}
	pxt_json_signed(out, "lost_inside", (int64_t)blame->lost);
	if (pxt_late_is_round(&blame->late) || blame->late.usual_ns > 0)
		put_usual(out, &blame->late);
	if (blame->late.followers > 0)
		pxt_json_signed(out, "followers", (int64_t)blame->late.followers);
	if (pxt_late_is_round(&blame->late))
		put_reasons(tell, blame);
	if (pxt_says_chain(&setting, blame))
		put_chain(tell, blame);
	pxt_tell_causes(blame, sorted, &count);
	pxt_json_open(out, "causes", '[');
	for (unsigned i = 0; i < count; i++)
		put_cause(tell, blame, sorted[i]);
	pxt_json_close(out, "]");
	put_overlaps(tell, blame);
	put_time_line(tell, blame);
	pxt_json_close(out, "}");
}

void pxt_tell_json(const struct pxt_tell *tell)
{
	static const char *const modes[] = {
		[PXT_LATE_MISSES] = "missed deadlines",
		[PXT_LATE_LONGER] = "longer than",
		[PXT_LATE_AT] = "at",
		[PXT_LATE_UNUSUAL] = "unusual",
		[PXT_LATE_ROUNDS] = "late rounds",
		[PXT_LATE_WAITS] = "waits for locks",
		[PXT_LATE_OFF_CPU] = "off the CPU",
	};
	struct pxt_out *out = tell->out;

	pxt_tell_want(tell);
	pxt_json_begin(out);
	pxt_json_label(out, "chosen_by", modes[tell->search->mode]);
	pxt_json_signed(out, "missed_deadlines", (int64_t)tell->search->misses.all);
	pxt_json_signed(out, "spans_read", (int64_t)tell->search->spans);
	pxt_json_signed(out, "unjudged_by_clock", (int64_t)tell->search->unjudged);
	pxt_json_bool(
	    out, "scheduler_events", tell->blames->state && tell->blames->state->has_switches);
	pxt_json_open(out, "late", '[');
	for (unsigned i = 0; i < tell->blames->count && i < tell->explain; i++)
		put_span(tell, &tell->blames->list[i]);
	pxt_json_close(out, "]");
	pxt_json_end(out);
}
