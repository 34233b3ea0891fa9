/* SPDX-License-Identifier: MIT */
/* tell.c - what differs between two sets of logs, as text and as JSON. */
#include "tools/why/tell.h"
#include "tools/compare/compare.h"
#include "tools/output/out.h"

#include <inttypes.h>

const char *const pxt_compare_figures[PXT_FIGURES] = { "median", "p99", "worst" };
const char *const pxt_compare_kinds[] = { "span", "rounds of", "waits for" };
const char *const pxt_compare_verdicts[] = { "unjudged", "noise", "slower", "faster" };
static const char *const kind_words[] = { "span", "round", "wait" };
static const char *const sides[PXT_SIDES] = { "before", "after" };

bool pxt_compare_is_changed(const struct pxt_compared *compared)
{
	for (unsigned k = 0; k < PXT_FIGURES; k++)
		if (compared->changes[k].verdict > PXT_VERDICT_NOISE)
			return true;
	return false;
}

/* Only one side has it. */
static bool is_new(const struct pxt_compared *compared)
{
	return compared->found[PXT_BEFORE] == 0;
}

static bool is_gone(const struct pxt_compared *compared)
{
	return compared->found[PXT_AFTER] == 0;
}

double pxt_compare_ratio(const struct pxt_compared *compared, unsigned figure)
{
	uint64_t before = compared->shown[PXT_BEFORE][figure];

	if (compared->changes[figure].verdict != PXT_VERDICT_UNJUDGED)
		return compared->changes[figure].ratio;
	return (double)compared->shown[PXT_AFTER][figure] / (double)(before > 0 ? before : 1);
}

/* ---- Text ---- */

void pxt_compare_answer(struct pxt_out *out, const struct pxt_comparison *comparison)
{
	const unsigned *logs = comparison->logs;
	const unsigned *found = comparison->verdicts;
	unsigned judged =
	    found[PXT_VERDICT_NOISE] + found[PXT_VERDICT_SLOWER] + found[PXT_VERDICT_FASTER];

	if (comparison->level <= 0)
		pxt_out_format(out,
		    "%u log%s before, %u after: that gives no interval and no conclusion, as "
		    "nobody\n"
		    "knows what differs from run to run anyway. 4 logs a side are enough, or 3 and "
		    "5.\n",
		    logs[PXT_BEFORE], logs[PXT_BEFORE] == 1 ? "" : "s", logs[PXT_AFTER]);
	else if (judged == 0)
		pxt_out_text(out, "No name is in all logs: there is nothing to compare.\n");
	else if (judged == found[PXT_VERDICT_NOISE])
		pxt_out_format(out,
		    "No difference that is more than noise (figures: %u; logs: %u before, %u "
		    "after).\n",
		    judged, logs[PXT_BEFORE], logs[PXT_AFTER]);
	else
		pxt_out_format(out,
		    "More than noise: %u slower, %u faster, of %u figures (logs: %u before, %u "
		    "after).\n",
		    found[PXT_VERDICT_SLOWER], found[PXT_VERDICT_FASTER], judged, logs[PXT_BEFORE],
		    logs[PXT_AFTER]);
}

static void put_duration(
    struct pxt_out *out, const struct pxt_compared *compared, unsigned side, unsigned figure)
{
	char text[24] = "-";

	if (compared->found[side] > 0)
		pxt_duration(text, compared->shown[side][figure]);
	pxt_out_format(out, " %11s", text);
}

static void put_figure(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared, unsigned figure)
{
	const struct pxt_change *change = &compared->changes[figure];
	bool judged = change->verdict != PXT_VERDICT_UNJUDGED;
	double ratio = pxt_compare_ratio(compared, figure);

	pxt_out_format(out, "  %-7s", pxt_compare_figures[figure]);
	put_duration(out, compared, PXT_BEFORE, figure);
	put_duration(out, compared, PXT_AFTER, figure);
	if (!is_new(compared) && !is_gone(compared))
		pxt_out_format(out, " %+9.1f %%", (ratio - 1) * 100);
	if (judged)
		pxt_out_format(
		    out, "  %+8.1f .. %+.1f %%", (change->low - 1) * 100, (change->high - 1) * 100);
	if (change->verdict > PXT_VERDICT_NOISE)
		pxt_out_format(out, "  %s", pxt_compare_verdicts[change->verdict]);
	else if (!judged && comparison->level > 0 && !is_new(compared) && !is_gone(compared))
		pxt_out_text(out, "  not judged");
	pxt_out_char(out, '\n');
}

/* ---- Causes ---- */

static void put_text(struct pxt_out *out, const char *text, bool html)
{
	if (html)
		pxt_compare_put_html(out, text);
	else
		pxt_out_text(out, text);
}

static void end_line(struct pxt_out *out, bool html)
{
	pxt_out_text(out, html ? "</p>\n" : "\n");
}

/* "0" has no unit. */
static void put_ns(struct pxt_out *out, uint64_t ns)
{
	char text[24];

	pxt_duration(text, ns);
	pxt_out_text(out, ns > 0 ? text : "0");
}

static void put_sentence(struct pxt_out *out, const struct pxt_compared *compared,
    const struct pxt_cause_of *cause, bool html)
{
	const struct pxt_reason *reason = cause->reason;

	pxt_out_text(out, html ? "<p>" : "");
	put_text(out, compared->name, html);
	pxt_out_format(out, " %s ", pxt_compare_figures[cause->figure]);
	put_ns(out, compared->shown[PXT_BEFORE][cause->figure]);
	put_text(out, " -> ", html);
	put_ns(out, compared->shown[PXT_AFTER][cause->figure]);
	pxt_out_text(out, ": ");
	put_text(out, reason->lock, html);
	if (reason->holder) {
		pxt_out_text(out, ", held by ");
		put_text(out, reason->holder, html);
	}
	if (reason->place) {
		pxt_out_text(out, " in ");
		put_text(out, reason->place, html);
	}
	pxt_out_text(out, ", ");
	put_ns(out, cause->before_ns);
	put_text(out, " -> ", html);
	put_ns(out, cause->after_ns);
	end_line(out, html);
}

void pxt_compare_sentences(struct pxt_out *out, const struct pxt_comparison *comparison, bool html)
{
	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_cause_of cause;

		if (pxt_compare_cause(comparison, comparison->list[i], &cause))
			put_sentence(out, comparison->list[i], &cause, html);
	}
}

void pxt_compare_held(struct pxt_out *out, const struct pxt_held *held, bool html)
{
	char text[24];

	if (!held->thread)
		return;
	pxt_duration(text, held->ns);
	pxt_out_text(out, html ? "<p>" : "  ");
	pxt_out_text(out, "after, ");
	put_text(out, held->thread, html);
	pxt_out_format(out, " waited %s while ", text);
	put_text(out, held->holder, html);
	pxt_out_text(out, " had it");
	if (held->place) {
		pxt_out_text(out, ", taken in ");
		put_text(out, held->place, html);
	}
	end_line(out, html);
}

static void put_name(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared)
{
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_format(out, "%s%s %s",
	    is_new(compared)    ? "new: "
	    : is_gone(compared) ? "gone: "
	                        : "",
	    pxt_compare_kinds[compared->kind], compared->name);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (unsigned side = 0; side < PXT_SIDES; side++) {
		pxt_out_format(out, "%s %" PRIu64 " %s", side ? "," : ":", compared->counts[side],
		    sides[side]);
		if (compared->found[side] > 0 && compared->found[side] < comparison->logs[side])
			pxt_out_format(out, " (in %u of %u logs)", compared->found[side],
			    comparison->logs[side]);
	}
	pxt_out_char(out, '\n');
	for (unsigned k = 0; k < PXT_FIGURES; k++)
		put_figure(out, comparison, compared, k);
	pxt_compare_held(out, &compared->held, false);
}

void pxt_compare_text(struct pxt_out *out, const struct pxt_comparison *comparison)
{
	pxt_compare_answer(out, comparison);
	pxt_compare_sentences(out, comparison, false);
	if (comparison->count == 0)
		return;
	pxt_out_format(
	    out, "\n  %-7s %11s %11s %11s", "", sides[PXT_BEFORE], sides[PXT_AFTER], "change");
	if (comparison->level > 0)
		pxt_out_format(out, "  interval of %.1f %%", comparison->level * 100);
	pxt_out_char(out, '\n');
	for (unsigned i = 0; i < comparison->count; i++)
		if (pxt_compare_is_changed(comparison->list[i]))
			put_name(out, comparison, comparison->list[i]);
	for (unsigned i = 0; i < comparison->count; i++)
		if (!pxt_compare_is_changed(comparison->list[i]))
			put_name(out, comparison, comparison->list[i]);
}

/* ---- JSON ---- */

static void put_json_side(struct pxt_out *out, const struct pxt_compared *compared, unsigned side)
{
	char name[24];

	pxt_json_open(out, sides[side], '{');
	pxt_json_number(out, "logs", compared->found[side]);
	pxt_json_number(out, "count", compared->counts[side]);
	for (unsigned k = 0; k < PXT_FIGURES && compared->found[side] > 0; k++) {
		(void)snprintf(name, sizeof name, "%s_ns", pxt_compare_figures[k]);
		pxt_json_number(out, name, compared->shown[side][k]);
	}
	pxt_json_close(out, "}");
}

static void put_json_ratio(struct pxt_out *out, const char *name, double value)
{
	pxt_json_name(out, name);
	pxt_out_format(out, "%.6g", value);
}

static void put_json_change(struct pxt_out *out, const struct pxt_change *change, unsigned figure)
{
	pxt_json_open(out, pxt_compare_figures[figure], '{');
	pxt_json_label(out, "verdict", pxt_compare_verdicts[change->verdict]);
	if (change->verdict != PXT_VERDICT_UNJUDGED) {
		put_json_ratio(out, "ratio", change->ratio);
		put_json_ratio(out, "low", change->low);
		put_json_ratio(out, "high", change->high);
		put_json_ratio(out, "p", change->p);
	}
	pxt_json_close(out, "}");
}

static void put_json_held(struct pxt_out *out, const struct pxt_held *held)
{
	if (!held->thread)
		return;
	pxt_json_open(out, "longest", '{');
	pxt_json_number(out, "ns", held->ns);
	pxt_json_label(out, "thread", held->thread);
	pxt_json_label(out, "holder", held->holder);
	pxt_json_label(out, "place", held->place);
	pxt_json_close(out, "}");
}

static void put_json_cause(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared)
{
	struct pxt_cause_of cause;

	if (!pxt_compare_cause(comparison, compared, &cause))
		return;
	pxt_json_open(out, "cause", '{');
	pxt_json_label(out, "figure", pxt_compare_figures[cause.figure]);
	pxt_json_label(out, "lock", cause.reason->lock);
	pxt_json_label(out, "holder", cause.reason->holder);
	pxt_json_label(out, "place", cause.reason->place);
	pxt_json_number(out, "before_ns", cause.before_ns);
	pxt_json_number(out, "after_ns", cause.after_ns);
	pxt_json_close(out, "}");
}

void pxt_compare_json(struct pxt_out *out, const struct pxt_comparison *comparison)
{
	pxt_json_begin(out);
	pxt_json_number(out, "logs_before", comparison->logs[PXT_BEFORE]);
	pxt_json_number(out, "logs_after", comparison->logs[PXT_AFTER]);
	put_json_ratio(out, "level", comparison->level);
	pxt_json_number(out, "permutations", comparison->permutations);
	pxt_json_number(out, "slower", comparison->verdicts[PXT_VERDICT_SLOWER]);
	pxt_json_number(out, "faster", comparison->verdicts[PXT_VERDICT_FASTER]);
	pxt_json_number(out, "noise", comparison->verdicts[PXT_VERDICT_NOISE]);
	pxt_json_number(out, "unjudged", comparison->verdicts[PXT_VERDICT_UNJUDGED]);
	pxt_json_open(out, "durations", '[');
	for (unsigned i = 0; i < comparison->count; i++) {
		const struct pxt_compared *compared = comparison->list[i];

		pxt_json_open(out, NULL, '{');
		pxt_json_label(out, "kind", kind_words[compared->kind]);
		pxt_json_label(out, "name", compared->name);
		pxt_json_label(out, "in",
		    is_new(compared)    ? "after"
		    : is_gone(compared) ? "before"
		                        : "both");
		for (unsigned side = 0; side < PXT_SIDES; side++)
			put_json_side(out, compared, side);
		for (unsigned k = 0; k < PXT_FIGURES; k++)
			put_json_change(out, &compared->changes[k], k);
		put_json_held(out, &compared->held);
		put_json_cause(out, comparison, compared);
		pxt_json_close(out, "}");
	}
	pxt_json_close(out, "]");
	pxt_json_end(out);
}
