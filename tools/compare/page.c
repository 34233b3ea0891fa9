/* SPDX-License-Identifier: MIT */
/* page.c - what differs between two sets of logs, as one HTML page that needs nothing else. */
#include "tools/compare/compare.h"
#include "tools/output/out.h"

#include <inttypes.h>
#include <math.h>

/* What the drawings measure, in units of their own: a browser makes them as wide as there is room. */
#define LEFT   52.0
#define RIGHT  668.0
#define TOP    8.0
#define FLOOR  104.0 /* of the curves; the marks of the logs stand below */
#define WIDTH  680
#define HEIGHT 166
#define TICKS  7u

const char pxt_compare_page_mark[] = "<!doctype html>\n<!-- pxtrace compare -->\n";

static const char *const head[] = {
	"<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">\n<title>pxtrace compare</title>\n<style>\n"
	":root { color-scheme: light dark; --paper: #f6f7f9; --sheet: #fff; --ink: #1b2330; "
	"--soft: "
	"#5b6779; --line: #dfe4ea; --before: #5b6779; --after: #1f5fd0; --bad: #c22a22; --good: "
	"#1c7c45; }\n"
	"@media (prefers-color-scheme: dark) { :root { --paper: #11151b; --sheet: #181d25; --ink: "
	"#e6eaf0; --soft: #a3aebd; --line: #2b333f; --before: #a3aebd; --after: #78a9ff; --bad: "
	"#ff7a6e; --good: #63cf92; } }\n",
	"* { box-sizing: border-box; }\n"
	"body { margin: 0 auto; max-width: 1100px; padding: 16px; background: var(--paper); color: "
	"var(--ink); font: 14px/1.45 system-ui, \"DejaVu Sans\", sans-serif; "
	"font-variant-numeric: tabular-nums; }\n"
	"h1 { font-size: 17px; } h2 { font-size: 15px; margin: 0; overflow-wrap: anywhere; "
	"unicode-bidi: isolate; } h2 b { color: var(--bad); }\n"
	"p { margin: 6px 0; overflow-wrap: anywhere; } .quiet { color: var(--soft); }\n"
	".sentence { font-weight: 600; }\n"
	"section { background: var(--sheet); border: 1px solid var(--line); border-radius: 10px; "
	"padding: 12px 14px; margin: 12px 0; }\n"
	".sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), "
	"1fr)); gap: 8px 20px; align-items: start; }\n",
	"table { border-collapse: collapse; width: 100%; } th, td { text-align: right; padding: "
	"3px 0 "
	"3px 10px; border-bottom: 1px solid var(--line); font-weight: 400; } th { color: "
	"var(--soft); } th:first-child { text-align: left; padding-left: 0; }\n"
	".slower { color: var(--bad); font-weight: 600; } .faster { color: var(--good); "
	"font-weight: "
	"600; }\n"
	"svg { display: block; width: 100%; height: auto; font: 13px system-ui, \"DejaVu Sans\", "
	"sans-serif; } svg text { fill: var(--soft); } .grid { stroke: var(--line); }\n"
	".b { fill: var(--before); stroke: var(--before); } .a { fill: var(--after); stroke: "
	"var(--after); } path { fill-opacity: 0.22; stroke-width: 1.5; } .ring { fill: none; "
	"stroke-width: 1.5; }\n"
	".key { display: inline-block; width: 12px; height: 12px; border-radius: 3px; "
	"vertical-align: -2px; margin-right: 4px; } .key.b { background: var(--before); } .key.a "
	"{ background: var(--after); }\n"
	"</style>\n</head>\n<body>\n",
};

/* ---- Text ---- */

void pxt_compare_put_html(struct pxt_out *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			pxt_out_text(out, "&amp;");
			break;
		case '<':
			pxt_out_text(out, "&lt;");
			break;
		case '>':
			pxt_out_text(out, "&gt;");
			break;
		default:
			pxt_out_char(out, *text);
			break;
		}
	}
}

/* ---- Both distributions on one axis ---- */

struct axis {
	double from; /* logarithms */
	double to;
	double highest; /* density */
};

static double density(const struct pxt_compared *compared, unsigned side, unsigned cell)
{
	double low = log(fmax((double)pxt_compare_cell_low(cell), 0.5));

	return compared->shares[side][cell] / compared->found[side] /
	       (log((double)pxt_compare_cell_low(cell + 1)) - low);
}

static struct axis axis_of(const struct pxt_compared *compared)
{
	unsigned first = PXT_COMPARE_CELLS;
	unsigned last = 0;
	struct axis axis = { .highest = 1e-9 };

	for (unsigned side = 0; side < PXT_SIDES; side++) {
		for (unsigned i = 0; compared->found[side] > 0 && i < PXT_COMPARE_CELLS; i++) {
			if (compared->shares[side][i] <= 0)
				continue;
			first = i < first ? i : first;
			last = i > last ? i : last;
			axis.highest = fmax(axis.highest, density(compared, side, i));
		}
	}
	axis.from = log(fmax((double)pxt_compare_cell_low(first), 0.5)) - 0.05;
	axis.to = log((double)pxt_compare_cell_low(last + 1)) + 0.05;
	return axis;
}

static double x_of(const struct axis *axis, double ns)
{
	double part = (log(fmax(ns, 0.5)) - axis->from) / (axis->to - axis->from);

	return LEFT + (RIGHT - LEFT) * fmin(fmax(part, 0), 1);
}

static void put_tick(struct pxt_out *out, const struct axis *axis, double ns)
{
	char text[24];
	double x = x_of(axis, ns);

	pxt_duration(text, (uint64_t)(ns + 0.5));
	pxt_out_format(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"/>", x,
	    x, TOP, FLOOR + 36);
	pxt_out_format(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x,
	    HEIGHT - 10,
	    x > RIGHT - 30  ? "end"
	    : x < LEFT + 30 ? "start"
	                    : "middle",
	    text);
}

/* At 1, 2 and 5, of many powers of ten at 1 alone, of more at each second, and so on. */
static void put_ticks(struct pxt_out *out, const struct axis *axis)
{
	static const double steps[] = { 1, 2, 5 };
	double decades = (axis->to - axis->from) / log(10);
	int every = (int)ceil(decades / TICKS);
	int power = (int)floor(axis->from / log(10));

	for (; power <= (int)(axis->to / log(10)); power++) {
		if (power < 0 || power % (every > 0 ? every : 1) != 0)
			continue;
		for (unsigned i = 0; i < (decades * 3 < TICKS ? 3u : 1u); i++) {
			double ns = steps[i] * pow(10, power);

			if (log(ns) >= axis->from && log(ns) <= axis->to)
				put_tick(out, axis, ns);
		}
	}
	/* Less than a step: its ends say where it lies. */
	if (decades < 0.4) {
		put_tick(out, axis, exp(axis->from));
		put_tick(out, axis, exp(axis->to));
	}
}

static void put_curve(struct pxt_out *out, const struct pxt_compared *compared, unsigned side,
    const struct axis *axis)
{
	bool was = false;

	if (compared->found[side] == 0)
		return;
	pxt_out_format(out, "<path class=\"%s\" d=\"", side == PXT_BEFORE ? "b" : "a");
	for (unsigned i = 0; i < PXT_COMPARE_CELLS; i++) {
		bool is = compared->shares[side][i] > 0;
		double y = FLOOR - (FLOOR - TOP) * density(compared, side, i) / axis->highest;
		double x = x_of(axis, (double)pxt_compare_cell_low(i));

		if (is && !was)
			pxt_out_format(out, "M%.1f %g", x, FLOOR);
		if (is)
			pxt_out_format(
			    out, "V%.1fH%.1f", y, x_of(axis, (double)pxt_compare_cell_low(i + 1)));
		else if (was)
			pxt_out_format(out, "V%gZ", FLOOR);
		was = is;
	}
	pxt_out_format(out, "%s\"/>\n", was ? "V104Z" : "");
}

/* Of each log the median as a dot, the p99 as a ring, the worst as a line. */
static void put_logs(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared, unsigned side, const struct axis *axis)
{
	const char *class = side == PXT_BEFORE ? "b" : "a";
	double y = FLOOR + 12 + 18 * side;

	pxt_out_format(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
	    y + 4, side == PXT_BEFORE ? "before" : "after");
	for (unsigned i = 0; i < comparison->logs[side]; i++) {
		const struct pxt_measured *log = &compared->logs[side][i];
		double worst = x_of(axis, (double)log->ns[PXT_FIGURE_WORST]);

		if (log->count == 0)
			continue;
		pxt_out_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%g\" r=\"3\"/>", class,
		    x_of(axis, (double)log->ns[PXT_FIGURE_MEDIAN]), y);
		pxt_out_format(out, "<circle class=\"%s ring\" cx=\"%.1f\" cy=\"%g\" r=\"4\"/>",
		    class, x_of(axis, (double)log->ns[PXT_FIGURE_P99]), y);
		pxt_out_format(out,
		    "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"/>\n", class,
		    worst, worst, y - 6, y + 6);
	}
}

static void put_drawing(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared)
{
	const struct axis axis = axis_of(compared);

	pxt_out_format(out,
	    "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"how often which duration, before "
	    "and "
	    "after\">\n",
	    WIDTH, HEIGHT);
	put_ticks(out, &axis);
	pxt_out_format(out, "<line class=\"grid\" x1=\"%g\" x2=\"%g\" y1=\"%g\" y2=\"%g\"/>\n",
	    LEFT, RIGHT, FLOOR, FLOOR);
	for (unsigned side = 0; side < PXT_SIDES; side++) {
		put_curve(out, compared, side, &axis);
		put_logs(out, comparison, compared, side, &axis);
	}
	pxt_out_text(out, "</svg>\n");
}

/* ---- The page ---- */

static void put_figures(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared)
{
	pxt_out_format(out,
	    "<table><tr><th></th><th>before</th><th>after</th><th>change</th>%s</tr>\n",
	    comparison->level > 0 ? "<th>interval</th>" : "");
	for (unsigned k = 0; k < PXT_FIGURES; k++) {
		const struct pxt_change *change = &compared->changes[k];

		pxt_out_format(out, "<tr class=\"%s\"><th>%s</th>",
		    pxt_compare_verdicts[change->verdict], pxt_compare_figures[k]);
		for (unsigned side = 0; side < PXT_SIDES; side++) {
			char text[24] = "-";

			if (compared->found[side] > 0)
				pxt_duration(text, compared->shown[side][k]);
			pxt_out_format(out, "<td>%s</td>", text);
		}
		if (compared->found[PXT_BEFORE] == 0 || compared->found[PXT_AFTER] == 0)
			pxt_out_text(out, "<td></td>");
		else
			pxt_out_format(
			    out, "<td>%+.1f %%</td>", (pxt_compare_ratio(compared, k) - 1) * 100);
		if (change->verdict != PXT_VERDICT_UNJUDGED)
			pxt_out_format(out, "<td>%+.1f .. %+.1f %%</td>", (change->low - 1) * 100,
			    (change->high - 1) * 100);
		else if (comparison->level > 0)
			pxt_out_text(out, "<td>not judged</td>");
		pxt_out_text(out, "</tr>\n");
	}
	pxt_out_text(out, "</table>\n");
}

static void put_compared(struct pxt_out *out, const struct pxt_comparison *comparison,
    const struct pxt_compared *compared)
{
	pxt_out_format(out, "<section>\n<h2>%s%s ",
	    compared->found[PXT_BEFORE] == 0  ? "<b>new:</b> "
	    : compared->found[PXT_AFTER] == 0 ? "<b>gone:</b> "
	                                      : "",
	    pxt_compare_kinds[compared->kind]);
	pxt_compare_put_html(out, compared->name);
	pxt_out_format(out, "</h2>\n<p class=\"quiet\">%" PRIu64 " before, %" PRIu64 " after</p>\n",
	    compared->counts[PXT_BEFORE], compared->counts[PXT_AFTER]);
	pxt_compare_held(out, &compared->held, true);
	pxt_out_text(out, "<div class=\"sides\">\n<div>\n");
	put_figures(out, comparison, compared);
	pxt_out_text(out, "</div>\n");
	put_drawing(out, comparison, compared);
	pxt_out_text(out, "</div>\n</section>\n");
}

void pxt_compare_page(struct pxt_out *out, const struct pxt_comparison *comparison)
{
	pxt_out_text(out, pxt_compare_page_mark);
	for (size_t i = 0; i < sizeof head / sizeof *head; i++)
		pxt_out_text(out, head[i]);
	pxt_out_text(out, "<h1>pxtrace compare</h1>\n<p class=\"sentence\">");
	pxt_compare_answer(out, comparison);
	pxt_out_text(out, "</p>\n");
	pxt_compare_sentences(out, comparison, true);
	pxt_out_text(out,
	    "<p class=\"quiet\"><span class=\"key b\"></span>before <span class=\"key "
	    "a\"></span>after: "
	    "how large a share of the durations is how long, each log as much as another; the axis "
	    "is "
	    "logarithmic. Below, of each log the median (dot), the p99 (ring) and the worst "
	    "(line).");
	if (comparison->level > 0)
		pxt_out_format(out, " Intervals of %.1f %%.", comparison->level * 100);
	pxt_out_text(out, "</p>\n");
	for (unsigned i = 0; i < comparison->count; i++)
		if (pxt_compare_is_changed(comparison->list[i]))
			put_compared(out, comparison, comparison->list[i]);
	for (unsigned i = 0; i < comparison->count; i++)
		if (!pxt_compare_is_changed(comparison->list[i]))
			put_compared(out, comparison, comparison->list[i]);
	pxt_out_text(out, "</body>\n</html>\n");
}
