/* SPDX-License-Identifier: MIT */
/* answers.c - the answers of `pxtrace why`, as JSON inside a page; see report.h. */
#include "tools/report/report.h"

#include "tools/output/out.h"

#define MEANWHILE_MAX 8u  /* spans of other threads, the longest ones */
#define CAUSES_SHOWN  24u /* of a span, the largest ones; the rest is told as one */

void pxt_answers_begin(
    struct pxt_answers *answers, const struct pxt_reader *reader, struct pxt_select *select)
{
	answers->search.select = select;
	if (answers->worst > 0)
		pxt_late_begin(&answers->search, reader, answers->book);
}

bool pxt_answers_take(struct pxt_answers *answers, const struct pxt_event *event)
{
	return answers->worst == 0 || pxt_late_take(&answers->search, event);
}

bool pxt_answers_end(struct pxt_answers *answers, const struct pxt_reader *reader)
{
	if (answers->worst == 0)
		return true;
	if (!pxt_late_end(&answers->search))
		return false;
	pxt_roles_review(answers->book, reader);
	return true;
}

void pxt_answers_explain(struct pxt_answers *answers, struct pxt_reader *reader)
{
	const struct pxt_late_list *list = pxt_late_result(&answers->search);
	unsigned count = list->count < answers->worst ? list->count : answers->worst;

	if (count > 0) {
		pxt_reader_rewind(reader);
		pxt_blames_read(&answers->blames, reader, answers->book, &answers->search, count);
	}
	if (pxt_blames_beyond(&answers->blames, &answers->search) > 0)
		pxt_complain(
		    "%llu threads, spans, waits or locks found no place in memory and are left out",
		    (unsigned long long)pxt_blames_beyond(&answers->blames, &answers->search));
}

void pxt_answers_free(struct pxt_answers *answers)
{
	pxt_blames_free(&answers->blames);
	pxt_late_free(&answers->search);
	pxt_roles_free(answers->book);
}

/* ---- JSON ---- */

static void put_bool(struct pxt_out *out, const char *name, bool value)
{
	pxt_json_name(out, name);
	pxt_out_text(out, value ? "true" : "false");
}

static void put_time(struct pxt_out *out, const char *name, int64_t ns)
{
	pxt_json_name(out, name);
	pxt_json_signed(out, ns);
}

/* What why says is escaped already. */
static void put_words(struct pxt_out *out, const char *name, const struct pxt_words *words)
{
	pxt_json_name(out, name);
	pxt_json_label(out, words->text);
}

static void put_one_cause(struct pxt_out *out, const char *kind, int64_t ns, bool concluded,
    const struct pxt_words *words)
{
	pxt_out_format(out, "{\"kind\":\"%s\"", kind);
	put_time(out, "ns", ns);
	put_bool(out, "concluded", concluded);
	put_words(out, "text", words);
	pxt_out_char(out, '}');
}

static void put_causes(
    struct pxt_out *out, const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	static const char *const kinds[PXT_CAUSE_KINDS] = { "own", "pending", "wait", "preempted",
		"blocked", "slept", "lost", "other" };
	const struct pxt_cause *sorted[PXT_CAUSES_MAX];
	struct pxt_words rest = { 0 };
	int64_t rest_ns = 0;
	unsigned count;

	pxt_tell_causes(blame, sorted, &count);
	pxt_json_name(out, "causes");
	pxt_out_char(out, '[');
	for (unsigned i = 0; i < count; i++) {
		struct pxt_words words = { 0 };

		if (i >= CAUSES_SHOWN) {
			rest_ns += sorted[i]->ns;
			continue;
		}
		pxt_say_cause(&words, tell->book, blame, sorted[i]);
		pxt_out_text(out, i == 0 ? "" : ",");
		put_one_cause(out, kinds[sorted[i]->kind], sorted[i]->ns,
		    sorted[i]->runner && !sorted[i]->exact, &words);
	}
	if (rest_ns > 0) {
		pxt_say(&rest, "%u other causes", count - CAUSES_SHOWN);
		pxt_out_char(out, ',');
		put_one_cause(out, "other", rest_ns, false, &rest);
	}
	pxt_out_char(out, ']');
}

static void put_meanwhile(
    struct pxt_out *out, const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX];
	unsigned count;

	pxt_tell_overlaps(blame, sorted, &count);
	pxt_json_name(out, "meanwhile");
	pxt_out_char(out, '[');
	for (unsigned i = 0; i < count && i < MEANWHILE_MAX; i++) {
		struct pxt_words name = { 0 };

		pxt_say_name(&name, tell->book, sorted[i]->name, NULL);
		pxt_out_text(out, i == 0 ? "{\"thread\":" : ",{\"thread\":");
		pxt_json_label(out, sorted[i]->actor->name);
		put_words(out, "span", &name);
		pxt_json_member(out, "count", sorted[i]->count);
		put_time(out, "ns", sorted[i]->ns);
		pxt_out_char(out, '}');
	}
	pxt_out_char(out, ']');
	pxt_json_member(
	    out, "meanwhileMore", count > MEANWHILE_MAX ? (uint64_t)(count - MEANWHILE_MAX) : 0);
}

/* As the page's threads have it. */
static void put_thread(struct pxt_out *out, const struct pxt_actor *actor)
{
	pxt_out_text(out, "\"thread\":");
	pxt_json_label(out, actor ? actor->name : "");
	pxt_json_member(out, "log", actor ? actor->source : 0);
	pxt_out_format(out, ",\"id\":\"%#llx\",\"tid\":%ld",
	    (unsigned long long)(actor ? actor->id : 0), actor ? (long)actor->tid : 0L);
}

static void put_link(
    struct pxt_out *out, const struct pxt_tell *tell, const struct pxt_link *link, int64_t start_ns)
{
	const struct pxt_actor *by = link->timed_out ? NULL
	                             : link->peer    ? link->peer
	                                             : link->instead;
	struct pxt_words words = { 0 };

	pxt_say_link(&words, tell->book, link);
	pxt_out_char(out, '{');
	put_thread(out, link->actor);
	put_words(out, "text", &words);
	put_time(out, "begin", link->begin_ns - start_ns);
	put_time(out, "end", link->end_ns - start_ns);
	if (by) {
		pxt_json_name(out, "by");
		pxt_out_char(out, '{');
		put_thread(out, by);
		pxt_out_char(out, '}');
	}
	pxt_out_char(out, '}');
}

/* Who waited for whom, as the sentence says it; empty where events tell of no links, causes alone. */
static void put_chain(struct pxt_out *out, const struct pxt_tell *tell,
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t start_ns)
{
	unsigned count = pxt_has_chain_of_answer(setting, blame) ? blame->chain.count : 0;

	pxt_json_name(out, "chain");
	pxt_out_char(out, '[');
	for (unsigned i = 0; i < count; i++) {
		pxt_out_text(out, i == 0 ? "" : ",");
		put_link(out, tell, &blame->chain.links[i], start_ns);
	}
	pxt_out_char(out, ']');
}

static void put_span(struct pxt_out *out, const struct pxt_tell *tell,
    const struct pxt_blame *blame, int64_t start_ns)
{
	struct pxt_setting setting = pxt_tell_setting(tell, blame);
	struct pxt_words name = { 0 };
	struct pxt_words answer = { 0 };
	struct pxt_words help = { 0 };

	pxt_say_span(&name, tell->book, blame);
	pxt_say_answer(&answer, &setting, blame);
	pxt_say_help(&help, &setting, blame);
	pxt_out_char(out, '{');
	put_thread(out, blame->actor);
	put_words(out, "span", &name);
	put_words(out, "answer", &answer);
	put_words(out, "help", &help);
	put_time(out, "release", blame->late.release_ns - start_ns);
	put_time(out, "begin", blame->late.begin_ns - start_ns);
	put_time(out, "end", blame->late.end_ns - start_ns);
	put_time(out, "length", pxt_blame_length(blame));
	put_bool(out, "missed", blame->late.missed);
	put_bool(out, "unfinished", blame->late.unfinished);
	pxt_json_member(out, "lost", blame->lost);
	pxt_json_member(out, "gaps", blame->gaps);
	put_chain(out, tell, &setting, blame, start_ns);
	put_causes(out, tell, blame);
	put_meanwhile(out, tell, blame);
	pxt_out_char(out, '}');
}

void pxt_answers_put(struct pxt_answers *answers, struct pxt_out *out, int64_t start_ns)
{
	static const char *const modes[] = {
		[PXT_LATE_MISSES] = "misses",
		[PXT_LATE_LONGER] = "unusual",
		[PXT_LATE_AT] = "unusual",
		[PXT_LATE_UNUSUAL] = "unusual",
		[PXT_LATE_ROUNDS] = "rounds",
		[PXT_LATE_WAITS] = "waits",
		[PXT_LATE_OFF_CPU] = "off-cpu",
	};
	const struct pxt_tell tell = { .out = out,
		.blames = &answers->blames,
		.search = &answers->search,
		.book = answers->book };

	pxt_out_format(out, "{\"by\":\"%s\"", modes[answers->search.mode]);
	pxt_json_member(out, "worst", answers->worst);
	pxt_json_member(out, "misses", answers->search.misses.all);
	pxt_json_member(out, "spans", answers->search.spans);
	pxt_out_text(out, ",\n\"list\":[");
	for (unsigned i = 0; i < answers->blames.count; i++) {
		pxt_out_text(out, i == 0 ? "" : ",\n");
		put_span(out, &tell, &answers->blames.list[i], start_ns);
	}
	pxt_out_text(out, "]}");
}
