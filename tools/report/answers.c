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

/* What why says is escaped already. */
static void put_words(struct pxt_out *out, const char *name, const struct pxt_words *words)
{
	pxt_json_label(out, name, words->text);
}

static void put_one_cause(struct pxt_out *out, const char *kind, int64_t ns, bool concluded,
    const struct pxt_words *words)
{
	pxt_json_open(out, NULL, '{');
	pxt_json_label(out, "kind", kind);
	pxt_json_signed(out, "ns", ns);
	pxt_json_bool(out, "concluded", concluded);
	put_words(out, "text", words);
	pxt_json_close(out, "}");
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
	pxt_json_open(out, "causes", '[');
	for (unsigned i = 0; i < count; i++) {
		struct pxt_words words = { 0 };

		if (i >= CAUSES_SHOWN) {
			rest_ns += sorted[i]->ns;
			continue;
		}
		pxt_say_cause(&words, tell->book, blame, sorted[i]);
		put_one_cause(out, kinds[sorted[i]->kind], sorted[i]->ns,
		    sorted[i]->runner && !sorted[i]->exact, &words);
	}
	if (rest_ns > 0) {
		pxt_say(&rest, "%u other causes", count - CAUSES_SHOWN);
		put_one_cause(out, "other", rest_ns, false, &rest);
	}
	pxt_json_close(out, "]");
}

static void put_meanwhile(
    struct pxt_out *out, const struct pxt_tell *tell, const struct pxt_blame *blame)
{
	const struct pxt_overlap *sorted[PXT_OVERLAPS_MAX];
	unsigned count;

	pxt_tell_overlaps(blame, sorted, &count);
	pxt_json_open(out, "meanwhile", '[');
	for (unsigned i = 0; i < count && i < MEANWHILE_MAX; i++) {
		struct pxt_words name = { 0 };

		pxt_say_name(&name, tell->book, sorted[i]->name, NULL);
		pxt_json_open(out, NULL, '{');
		pxt_json_label(out, "thread", sorted[i]->actor->name);
		put_words(out, "span", &name);
		pxt_json_number(out, "count", sorted[i]->count);
		pxt_json_signed(out, "ns", sorted[i]->ns);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
	pxt_json_number(
	    out, "meanwhileMore", count > MEANWHILE_MAX ? (uint64_t)(count - MEANWHILE_MAX) : 0);
}

static void put_thread(struct pxt_out *out, const struct pxt_actor *actor)
{
	pxt_json_label(out, "thread", actor ? actor->name : "");
	pxt_json_number(out, "log", actor ? actor->source : 0);
	pxt_report_meta_thread(out, actor ? actor->id : 0, actor ? actor->tid : 0);
}

static void put_link(
    struct pxt_out *out, const struct pxt_tell *tell, const struct pxt_link *link, int64_t start_ns)
{
	const struct pxt_actor *by = link->timed_out ? NULL
	                             : link->peer    ? link->peer
	                                             : link->instead;
	struct pxt_words words = { 0 };

	pxt_say_link(&words, tell->book, link);
	pxt_json_open(out, NULL, '{');
	put_thread(out, link->actor);
	put_words(out, "text", &words);
	pxt_json_signed(out, "begin", link->begin_ns - start_ns);
	pxt_json_signed(out, "end", link->end_ns - start_ns);
	if (by) {
		pxt_json_open(out, "by", '{');
		put_thread(out, by);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "}");
}

/* Who waited for whom, as the sentence says it; empty where events tell of no links, causes alone. */
static void put_chain(struct pxt_out *out, const struct pxt_tell *tell,
    const struct pxt_setting *setting, const struct pxt_blame *blame, int64_t start_ns)
{
	unsigned count = pxt_has_chain_of_answer(setting, blame) ? blame->chain.count : 0;

	pxt_json_open(out, "chain", '[');
	for (unsigned i = 0; i < count; i++)
		put_link(out, tell, &blame->chain.links[i], start_ns);
	pxt_json_close(out, "]");
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
	pxt_json_open(out, NULL, '{');
	put_thread(out, blame->actor);
	put_words(out, "span", &name);
	put_words(out, "answer", &answer);
	put_words(out, "help", &help);
	pxt_json_signed(out, "release", blame->late.release_ns - start_ns);
	pxt_json_signed(out, "begin", blame->late.begin_ns - start_ns);
	pxt_json_signed(out, "end", blame->late.end_ns - start_ns);
	pxt_json_signed(out, "length", pxt_blame_length(blame));
	pxt_json_bool(out, "missed", blame->late.missed);
	pxt_json_bool(out, "unfinished", blame->late.unfinished);
	pxt_json_number(out, "lost", blame->lost);
	pxt_json_number(out, "gaps", blame->gaps);
	put_chain(out, tell, &setting, blame, start_ns);
	put_causes(out, tell, blame);
	put_meanwhile(out, tell, blame);
	pxt_json_close(out, "}");
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

	pxt_json_open(out, "why", '{');
	pxt_json_label(out, "by", modes[answers->search.mode]);
	pxt_json_number(out, "worst", answers->worst);
	pxt_json_number(out, "misses", answers->search.misses.all);
	pxt_json_number(out, "spans", answers->search.spans);
	pxt_json_open(out, "list", '[');
	for (unsigned i = 0; i < answers->blames.count; i++)
		put_span(out, &tell, &answers->blames.list[i], start_ns);
	pxt_json_close(out, "]}");
}
