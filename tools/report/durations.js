// SPDX-License-Identifier: MIT
// durations.js - how long spans took: a row for each pair, below it one for each thread, exact
// percentiles (nearest rank, as pxtrace stat has them), a histogram whose bars lead to the spans.

const QUANTILES = [500, 900, 990, 999];

// The smallest value that @perMille thousandths of the sorted values do not exceed.
function quantile(sorted, perMille) {
	const rankOf = Math.floor(sorted.length / 1000) * perMille + Math.ceil(sorted.length % 1000 * perMille / 1000);
	return sorted[Math.max(rankOf, 1) - 1];
}

// The spans that count: all, or those that the time line shows a part of.
function inScope(s) {
	return view.scope === "all" || (spanEnd(s) >= view.from && spanStart(s) <= view.to);
}

function measure(values) {
	let sum = 0;
	for (const value of values) sum += value;
	values.sort();
	return { n: values.length, values, sum, least: values[0], most: values[values.length - 1], quantiles: QUANTILES.map((q) => quantile(values, q)) };
}

// Durations by kind, and by kind and thread.
let rows = [];
function measureAll() {
	const byKind = kinds.map(() => 0);
	const byThread = new Map();
	const chosen = new Uint8Array(spans.n);
	for (let s = 0; s < spans.n; s++) {
		if (!inScope(s)) continue;
		chosen[s] = 1;
		byKind[spans.kind[s]]++;
		const key = spans.kind[s] * tracks.length + trackOfSpan(s);
		byThread.set(key, (byThread.get(key) || 0) + 1);
	}
	const ofKind = byKind.map((size) => ({ values: new Float64Array(size), fill: 0 }));
	const ofThread = new Map([...byThread].map(([key, size]) => [key, { values: new Float64Array(size), fill: 0 }]));
	for (let s = 0; s < spans.n; s++) {
		if (!chosen[s]) continue;
		for (const part of [ofKind[spans.kind[s]], ofThread.get(spans.kind[s] * tracks.length + trackOfSpan(s))]) part.values[part.fill++] = spans.time[s];
	}
	rows = kinds.map((kind) => ({ kind: kind.index, track: -1, name: kind.name, ...measure(ofKind[kind.index].values), inner: [] }));
	for (const [key, part] of ofThread) {
		const track = key % tracks.length;
		const kind = (key - track) / tracks.length;
		rows[kind].inner.push({ kind, track, name: tracks[track].name, ...measure(part.values) });
	}
	for (const row of rows) row.inner.sort((a, b) => b.sum - a.sum);
}

// ---- The table ----

const columns = [
	["pair, thread", (row) => row.name],
	["count", (row) => row.n], ["min", (row) => row.least], ["median", (row) => row.quantiles[0]], ["p90", (row) => row.quantiles[1]],
	["p99", (row) => row.quantiles[2]], ["p99.9", (row) => row.quantiles[3]], ["max", (row) => row.most], ["sum", (row) => row.sum],
];
const unfolded = new Set();
let order = { column: 8, up: false };
const INNER_MAX = 100;

function sorted(list) {
	const value = columns[order.column][1];
	return [...list].sort((a, b) => {
		const x = value(a);
		const y = value(b);
		const by = x === y || (x === undefined && y === undefined) ? 0 : x === undefined ? 1 : y === undefined ? -1 : x < y ? -1 : 1;
		return order.up ? by : -by;
	});
}

// From a duration to its place between 0 and 1 and back: by its logarithm where the durations span
// more than half a power of ten, else evenly.
function scaleOf(low, high) {
	const least = Math.max(low, 1);
	const most = Math.max(high, least + 1);
	const log = most / least > 3;
	const [from, to] = log ? [Math.log(least), Math.log(most)] : [low, Math.max(high, low + 1)];
	return {
		log, low, high: most,
		place: (value) => ((log ? Math.log(Math.max(value, 1)) : value) - from) / (to - from),
		value: (place) => log ? Math.exp(from + place * (to - from)) : from + place * (to - from),
	};
}

// How many of the sorted values lie in each of @size parts of a scale.
function histogram(values, scale, size) {
	const bars = new Float64Array(size);
	for (let k = 0, at = 0; k < size; k++) {
		const end = k === size - 1 ? values.length : lowerBound(values, scale.value((k + 1) / size), at);
		bars[k] = end - at;
		at = end;
	}
	return bars;
}

function spark(row) {
	const node = element("canvas", { role: "img", "aria-label": "distribution of " + row.name, width: 90, height: 20 });
	node.row = row;
	return node;
}
function paintSpark(node) {
	const { row } = node;
	node.style.width = "90px";
	node.style.height = "20px";
	const g = open(node, 90, 20);
	if (!row.n) return;
	const base = rows[row.kind];
	const bars = histogram(row.values, scaleOf(base.least, base.most), 45);
	const most = Math.max(...bars);
	g.fillStyle = colourOf(row.kind);
	bars.forEach((value, k) => { if (value) { const h = Math.max(1.5, Math.sqrt(value / most) * 18); g.fillRect(k * 2, 20 - h, 1.6, h); } });
}

// Begins and ends that found no counterpart: how many, and why.
function unmatched(kind) { return kind.open + kind.unopened + kind.cut; }
function unmatchedText(kind) {
	const parts = [];
	if (kind.open) parts.push(count(kind.open) + " begun");
	if (kind.unopened) parts.push(count(kind.unopened) + " ended");
	if (kind.cut) parts.push(count(kind.cut) + " cut by a loss" + (kind.by_clock ? " or the clock" : ""));
	return parts.join(", ");
}

function rowOf(row, inner) {
	const chosen = view.kind === row.kind && view.track === row.track;
	const fold = inner ? "" : element("button", { type: "button", className: "fold", "aria-expanded": String(unfolded.has(row.kind)), "aria-label": "threads of " + row.name,
		onclick: (event) => { event.stopPropagation(); unfolded.has(row.kind) ? unfolded.delete(row.kind) : unfolded.add(row.kind); fillTable(); } }, unfolded.has(row.kind) ? "▾" : "▸");
	const tr = element("tr", { className: inner ? "pick inner" : "pick", tabindex: "0", "aria-selected": String(chosen),
		onclick: () => pick(row.kind, row.track),
		onkeydown: (event) => { if (event.target === tr && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); pick(row.kind, row.track); } } },
	element("td", { className: "left name", title: inner ? "" : kinds[row.kind].begin + " … " + kinds[row.kind].end }, fold, inner ? "" : swatch(row.kind), foreign(row.name)),
	element("td", {}, spark(row)),
	element("td", {}, count(row.n)),
	columns.slice(2).map(([, value]) => element("td", {}, row.n ? duration(value(row)) : "–")),
	element("td", { className: "quiet", title: inner ? undefined : unmatchedText(kinds[row.kind]) }, inner || !unmatched(kinds[row.kind]) ? "" : count(unmatched(kinds[row.kind]))));
	return tr;
}

function sortHeader(title, at, className) {
	const sort = order.column === at ? (order.up ? "ascending" : "descending") : "none";
	return element("th", { className, scope: "col", "aria-sort": sort }, element("button", { type: "button", onclick: () => {
		order = { column: at, up: order.column === at ? !order.up : at === 0 };
		fillTable();
	} }, title));
}

function fillTable() {
	const body = element("tbody");
	for (const row of sorted(rows)) {
		body.append(rowOf(row, false));
		if (!unfolded.has(row.kind)) continue;
		for (const inner of sorted(row.inner).slice(0, INNER_MAX)) body.append(rowOf(inner, true));
		if (row.inner.length > INNER_MAX) body.append(element("tr", { className: "inner" }, element("td", { className: "left name", colspan: "11" }, "and " + count(row.inner.length - INNER_MAX) + " more threads")));
	}
	if (rows.length === 0) body.append(element("tr", {}, element("td", { className: "left", colspan: "11" }, "No two event types of this log make a pair by their names (X_begin and X_end, X_lock and X_unlock, …). pxtrace report --pair A,B names others.")));
	$("pairs").replaceChildren(element("thead", {}, element("tr", {}, sortHeader(...columns[0].slice(0, 1), 0, "left"), element("th", { scope: "col", className: "left" }, "distribution"),
		columns.slice(1).map(([title], at) => sortHeader(title, at + 1)), element("th", { scope: "col", title: "begins without an end, ends without a begin, and what a loss cut" }, kinds.some(unmatched) ? "unmatched" : ""))), body);
	body.querySelectorAll("canvas").forEach(paintSpark);
}

// ---- The histogram ----

const BARS = 64;
const shape = { scale: null, bars: null, drag: null, row: null, seen: false };

function rowShown() {
	const row = rows[view.kind];
	return !row ? null : view.track < 0 ? row : row.inner.find((inner) => inner.track === view.track) || null;
}

function edge(k) { return shape.scale.value(k / BARS); }
function barAt(x, width) { return Math.min(Math.max(Math.floor((x - 8) / (width - 16) * BARS), 0), BARS - 1); }

// Values with a line, and whether they are named.
function ticksOf(scale) {
	const list = [];
	if (!scale.log) {
		const step = niceStep((scale.high - scale.low) / 5);
		for (let value = Math.ceil(scale.low / step) * step; value <= scale.high; value += step) list.push([value, true]);
		return list;
	}
	const decades = Math.log10(scale.high / Math.max(scale.low, 1));
	for (let decade = 10 ** Math.floor(Math.log10(Math.max(scale.low, 1))); decade <= scale.high * 1.001; decade *= 10) {
		for (const factor of [1, 2, 5]) list.push([decade * factor, factor === 1 || decades < 3]);
	}
	return list;
}

function paintHistogram(node) {
	const row = shape.row;
	const width = node.clientWidth;
	const g = open(node, width, 190);
	if (!g || !row) return;
	const bottom = 166;
	const top = 30;
	const x = (value) => 8 + shape.scale.place(value) * (width - 16);
	const most = Math.max(...shape.bars, 1);
	g.font = SMALL;
	g.textAlign = "center";
	for (const [value, named] of ticksOf(shape.scale)) {
		const at = x(value);
		if (at < 8 || at > width - 8) continue;
		g.fillStyle = ink.grid;
		g.fillRect(Math.round(at), top, 1, bottom - top);
		g.fillStyle = ink.soft;
		if (named && at > 24 && at < width - 24) g.fillText(duration(value).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "), at, bottom + 13);
	}
	shape.bars.forEach((value, k) => {
		if (!value) return;
		const chosen = view.low === 0 && view.high === Infinity ? true : edge(k) < view.high && edge(k + 1) > view.low;
		const height = Math.max(2, value / most * (bottom - top));
		g.globalAlpha = chosen ? 1 : 0.3;
		g.fillStyle = colourOf(row.kind);
		g.fillRect(8 + k * (width - 16) / BARS, bottom - height, (width - 16) / BARS - 1, height);
	});
	g.globalAlpha = 1;
	g.fillStyle = ink.line;
	g.fillRect(8, bottom, width - 16, 1);
	let free = -Infinity;
	let line = 0;
	[["median", row.quantiles[0]], ["p99", row.quantiles[2]], ["max", row.most]].forEach(([name, value]) => {
		const at = Math.round(x(value));
		line = at < free ? line + 1 : 0;
		free = at + 46;
		g.fillStyle = ink.ink;
		g.globalAlpha = 0.55;
		g.fillRect(at, 8 + line * 11, 1, bottom - 8 - line * 11);
		g.globalAlpha = 1;
		g.textAlign = at > width - 60 ? "right" : "left";
		g.fillText(name, at + (at > width - 60 ? -4 : 4), 12 + line * 11);
	});
	g.textAlign = "left";
}

// A mark for each span of the part that was chosen, and the list of the longest of them.
function markChosen() {
	const narrowed = view.low > 0 || view.high < Infinity;
	if (view.kind < 0 || !narrowed) {
		if (marks.kind === "bars") mark(null, null, "");
		return;
	}
	const mask = new Uint8Array(spans.n);
	for (let s = 0; s < spans.n; s++) if (isChosen(s)) mask[s] = 1;
	mark(mask, null, "bars");
}
function isChosen(s) {
	return spans.kind[s] === view.kind && spans.time[s] >= view.low && spans.time[s] < view.high
		&& (view.track < 0 || trackOfSpan(s) === view.track) && inScope(s);
}

const LONGEST = 30;
function longest() {
	const row = shape.row;
	// Only what is not below the last one wanted need be looked at.
	const end = view.high < Infinity ? lowerBound(row.values, view.high) : row.values.length;
	const least = row.values[Math.max(end - LONGEST, 0)];
	const list = [];
	for (let s = 0; s < spans.n; s++) if (spans.time[s] >= least && isChosen(s)) list.push(s);
	return list.sort((a, b) => spans.time[b] - spans.time[a] || a - b).slice(0, LONGEST);
}

function longestTable() {
	const list = longest();
	const most = list.length ? spans.time[list[0]] : 1;
	return element("div", { className: "scroll" }, element("table", {}, element("thead", {}, element("tr", {},
		element("th", { className: "left", scope: "col" }, "longest"), element("th", { className: "left", scope: "col" }, "thread"), element("th", { scope: "col" }, "at"), element("th", { className: "left", scope: "col" }, "fields"))),
	element("tbody", {}, list.map((s) => {
		const meter = element("span", { className: "meter", "aria-hidden": "true" });
		meter.style.width = Math.max(2, 60 * spans.time[s] / most) + "px";
		meter.style.background = colourOf(view.kind);
		return element("tr", { className: "pick", onclick: () => { select({ span: s }, "zoom"); $("timeline").scrollIntoView({ block: "nearest" }); } },
			element("td", { className: "left" }, meter, linkTo({ span: s }, "zoom", duration(spans.time[s]))),
			element("td", { className: "left" }, foreign(tracks[trackOfSpan(s)].name)),
			element("td", {}, moment(spanStart(s), 1000)),
			element("td", { className: "left quiet" }, foreign(fieldsOf(spans.begin[s]).slice(0, 3).map(([name, value]) => name + "=" + value).join("  ").slice(0, 60))));
	}))));
}

function chooseBars(from, to) {
	const [first, last] = from < to ? [from, to] : [to, from];
	pick(view.kind, view.track, first === 0 ? 0 : edge(first), last === BARS - 1 ? Infinity : edge(last + 1));
	announce(plural(longest().length, "span") + " marked on the time line");
}

function histogramCanvas(row) {
	const node = element("canvas", { id: "histogram", height: 190, role: "img",
		"aria-label": "Histogram of " + row.name + ": median " + duration(row.quantiles[0]) + ", 99 percent within " + duration(row.quantiles[2]) + ", longest " + duration(row.most) });
	node.addEventListener("pointerdown", (event) => { node.setPointerCapture(event.pointerId); shape.drag = barAt(event.offsetX, node.clientWidth); });
	node.addEventListener("pointermove", (event) => {
		const k = barAt(event.offsetX, node.clientWidth);
		node.title = duration(edge(k)) + " to " + duration(edge(k + 1)) + ": " + plural(shape.bars[k], "span");
	});
	node.addEventListener("pointerup", (event) => {
		const from = shape.drag;
		shape.drag = null;
		if (from !== null) chooseBars(from, barAt(event.offsetX, node.clientWidth));
	});
	return node;
}

function showDistribution() {
	const row = rowShown();
	const place = $("distribution");
	shape.row = row;
	if (!row || !row.n) {
		place.replaceChildren(element("p", { className: "quiet" }, rows.length ? "Choose a row for its histogram and its longest spans." : ""));
		return markChosen();
	}
	shape.scale = scaleOf(row.least, row.most + 1);
	shape.bars = histogram(row.values, shape.scale, BARS);
	const narrowed = view.low > 0 || view.high < Infinity;
	const node = histogramCanvas(row);
	place.replaceChildren(element("div", { className: "caption" }, element("h3", {}, swatch(row.kind), foreign(kinds[row.kind].name + (row.track >= 0 ? " in " + row.name : ""))),
		element("span", { className: "quiet" }, narrowed ? duration(Math.max(view.low, row.least)) + " to " + duration(Math.min(view.high, row.most)) : [plural(row.n, "span") + ", at most " + count(Math.max(...shape.bars)) + " in a bar", element("span", { className: "hint" }, "; click one, or drag over several")]),
		narrowed ? element("button", { type: "button", onclick: () => pick(view.kind, view.track) }, "All bars") : ""), node, longestTable());
	paintHistogram(node);
	markChosen();
}

// What one would ask about first: the pair whose longest is furthest from its median.
function mostUneven() {
	const spread = (row) => row.n >= 10 ? row.most / Math.max(row.quantiles[0], 1) : 0;
	const list = sorted(rows).filter((row) => row.n > 0);
	return list.length ? list.reduce((best, row) => spread(row) > spread(best) ? row : best).kind : -1;
}

function showDurations() {
	measureAll();
	$("scope-all").setAttribute("aria-pressed", String(view.scope === "all"));
	$("scope-view").setAttribute("aria-pressed", String(view.scope === "view"));
	$("durations-note").textContent = meta.shown < meta.events ? "of the " + count(meta.shown) + " events on this page" : "";
	// Where all of it fits, threads are shown at once.
	if (!shape.seen && rows.reduce((sum, row) => sum + 1 + row.inner.length, 0) <= 16) for (const row of rows) if (row.inner.length > 1) unfolded.add(row.kind);
	shape.seen = true;
	if (view.kind < 0 && rows.length) view.kind = mostUneven();
	fillTable();
	showDistribution();
}

function setScope(scope) {
	view.scope = scope;
	keepAddress();
	showDurations();
}
$("scope-all").addEventListener("click", () => setScope("all"));
$("scope-view").addEventListener("click", () => setScope("view"));

let scopeTimer = 0;
on("view", () => {
	if (view.scope !== "view") return;
	clearTimeout(scopeTimer);
	scopeTimer = setTimeout(showDurations, 200);
});
on("picked", () => { fillTable(); showDistribution(); keepAddress(); });
