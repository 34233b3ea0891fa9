// SPDX-License-Identifier: MIT
// view.js - what is shown and what is selected, who is told when that changes, and the address that
// keeps it (the part behind #): a copied link shows the same.

const whole = { from: 0, to: 1 };
const view = {
	from: 0, to: 1,     // ns, of the time line
	top: 0,             // pixels scrolled down
	selected: null,     // { span } or { event } or { loss }
	query: "",
	kind: -1, track: -1, // of the durations shown
	low: 0, high: Infinity, // ... and which of them
	scope: "all",
	measure: null,      // [from, to]
};
const NARROWEST = 20; // ns across the window

const listeners = { view: [], selected: [], picked: [] };
function on(what, listener) { listeners[what].push(listener); }
function tell(what) { for (const listener of listeners[what]) listener(); }

function setWhole() {
	let from = Infinity;
	let to = -Infinity;
	for (const log of meta.logs) {
		from = Math.min(from, log.startAt);
		to = Math.max(to, Number(log.startAt) + Number(log.lasted));
	}
	for (const loss of losses) to = Math.max(to, loss.to);
	// A run that is much shorter than its log (a window was chosen) is the whole.
	if (meta.chosen && meta.events > 0) { from = Number(meta.first); to = Number(meta.last); }
	to = Math.max(to, Number(meta.last));
	from = Math.min(from, meta.events > 0 ? Number(meta.first) : from);
	const rim = Math.max((to - from) * 0.004, NARROWEST / 2);
	whole.rim = rim;
	whole.from = from - rim;
	whole.to = to + rim;
}

// ---- Moving ----

const before = [];

function show(from, to, keep) {
	const span = Math.min(Math.max(to - from, NARROWEST), whole.to - whole.from);
	const middle = (from + to) / 2;
	from = Math.min(Math.max(middle - span / 2, whole.from), whole.to - span);
	if (keep && (before.length === 0 || before[before.length - 1].from !== view.from || before[before.length - 1].to !== view.to)) {
		before.push({ from: view.from, to: view.to });
		if (before.length > 50) before.shift();
	}
	view.from = from;
	view.to = from + span;
	tell("view");
}
function showAll() { show(whole.from, whole.to, true); }
function goBack() {
	const last = before.pop();
	if (last) show(last.from, last.to);
}
function zoom(factor, at) {
	at = at === undefined ? (view.from + view.to) / 2 : at;
	const span = Math.max((view.to - view.from) * factor, NARROWEST);
	const share = (at - view.from) / (view.to - view.from);
	show(at - span * share, at - span * share + span);
}
function pan(share) {
	const by = (view.to - view.from) * share;
	show(view.from + by, view.to + by);
}

// ---- Selecting ----

function spanStart(s) { return events.time[spans.begin[s]]; }
function spanEnd(s) { return events.time[spans.end[s]]; }
function trackOfSpan(s) { return trackOfEvent(spans.begin[s]); }

function extentOf(selected) {
	if (!selected) return null;
	if (selected.span !== undefined) return [spanStart(selected.span), spanEnd(selected.span)];
	if (selected.loss !== undefined) return [losses[selected.loss].from, losses[selected.loss].to];
	return [events.time[selected.event], events.time[selected.event]];
}

// @reveal: "bring" moves the window if the thing is not in it, "zoom" makes the thing fill it.
function select(selected, reveal) {
	view.selected = selected;
	const extent = extentOf(selected);
	if (extent && reveal) {
		const [from, to] = extent;
		const span = view.to - view.from;
		if (reveal === "zoom") {
			const room = to > from ? (to - from) * 0.75 : Math.min(span, 20000) / 2;
			show(from - room, to + room, true);
		} else if (to < view.from || from > view.to || (from < view.from && to > view.to) || to - from < span / 2000 && to > from) {
			const wide = to - from > span ? (to - from) * 1.5 : to > from && to - from < span / 400 ? (to - from) * 40 : span;
			show((from + to) / 2 - wide / 2, (from + to) / 2 + wide / 2, true);
		}
	}
	tell("selected");
}
// An event that begins or ends a span stands for the span.
function selectEvent(i, reveal) {
	const s = events.opens[i] >= 0 ? events.opens[i] : events.closes[i];
	select(s >= 0 ? { span: s } : { event: i }, reveal);
}

// Which durations are shown: of a kind, of one of its threads, of a part of the histogram.
function pick(kind, track, low, high) {
	view.kind = kind;
	view.track = track;
	view.low = low === undefined ? 0 : low;
	view.high = high === undefined ? Infinity : high;
	tell("picked");
}

// ---- The address ----

function writeAddress() {
	const parts = [];
	if (view.from <= whole.from && view.to >= whole.to) { if (meta.why.list.length) parts.push("t=all"); }
	else parts.push("t=" + Math.round(view.from) + "," + Math.round(view.to));
	if (view.selected) for (const [what, index] of Object.entries(view.selected)) parts.push(what + "=" + index);
	if (view.query) parts.push("q=" + encodeURIComponent(view.query));
	if (view.kind >= 0) parts.push("d=" + view.kind + (view.track >= 0 ? "." + view.track : ""));
	if (view.low > 0 || view.high < Infinity) parts.push("b=" + view.low + "," + view.high);
	if (view.scope !== "all") parts.push("scope=" + view.scope);
	history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
}
let addressTimer = 0;
function keepAddress() {
	clearTimeout(addressTimer);
	addressTimer = setTimeout(writeAddress, 250);
}

function index(text, bound) {
	const value = Number(text);
	return Number.isInteger(value) && value >= 0 && value < bound ? value : -1;
}

// What the address asks for; nonsense in it is passed over.
function readAddress() {
	const wanted = Object.fromEntries(location.hash.slice(1).split("&").map((part) => part.split("=")).filter((part) => part.length === 2));
	const [from, to] = (wanted.t || "").split(",").map(Number);
	show(whole.from, whole.to);
	if (from < to) show(from, to);
	else if (location.hash.length < 2) showFirst();
	try { view.query = decodeURIComponent(wanted.q || ""); } catch { view.query = ""; }
	const [kind, track] = (wanted.d || "").split(".");
	view.kind = kind ? index(kind, kinds.length) : -1;
	view.track = track ? index(track, tracks.length) : -1;
	const [low, high] = (wanted.b || "").split(",").map(Number);
	view.low = low > 0 ? low : 0;
	view.high = high > 0 ? high : Infinity;
	view.scope = wanted.scope === "view" ? "view" : "all";
	view.selected = null;
	for (const [what, bound] of [["span", spans.n], ["event", events.n], ["loss", losses.length]]) {
		if (what in wanted && index(wanted[what], bound) >= 0) view.selected = { [what]: index(wanted[what], bound) };
	}
}

// ---- Colours, canvases, and the two ways in which things in sorted arrays are drawn: one by
// one where they are wider than a pixel, as the share of a pixel that they fill where they are not.
// The work follows the pixels of the window, not the events of the log.

const SERIES = {
	light: ["#7fb2f0", "#f5b26b", "#8fcf9b", "#e79ac0", "#b9a3ea", "#6cc7c9", "#e8d06a", "#f09a8c", "#a9b8c9", "#b6d36a", "#cfa27e", "#88a0d8"],
	dark: ["#5b93d8", "#d99448", "#62ab72", "#c9719c", "#9580d0", "#45a3a6", "#c2a93e", "#d67667", "#8493a6", "#93b244", "#ab7f5a", "#6a83c0"],
};
let theme = "light";
let ink = {}; // the style sheet's variables, by name

function readTheme() {
	theme = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
	const style = getComputedStyle(document.documentElement);
	ink = {};
	for (const name of ["paper", "sheet", "raised", "ink", "soft", "faint", "line", "stripe", "grid", "accent", "bad", "hit", "stop", "mark", "label", "good"])
		ink[name] = style.getPropertyValue("--" + name).trim();
	hatches.clear();
}

// One colour for each, however many there are: behind the list, hues that are far from the one before.
function seriesColour(place) {
	const list = SERIES[theme];
	return place < list.length ? list[place] : `hsl(${Math.round(place * 137.5) % 360} ${38 + place % 3 * 16}% ${theme === "dark" ? 46 + place % 5 * 5 : 60 + place % 5 * 5}%)`;
}
function colourOf(kind) {
	return seriesColour(kinds[kind].colour);
}
function swatch(kind) {
	const node = element("span", { className: "swatch", "aria-hidden": "true" });
	node.style.background = colourOf(kind);
	node.dataset.kind = kind;
	return node;
}
function repaintSwatches() {
	for (const node of document.querySelectorAll(".swatch[data-kind]")) node.style.background = colourOf(Number(node.dataset.kind));
}

const FONT = "12px system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif";
const SMALL = "11px system-ui, -apple-system, \"Segoe UI\", \"DejaVu Sans\", sans-serif";

// A context of the canvas' size on the page, in its pixels; null where it is not shown.
function open(canvas, width, height) {
	const scale = window.devicePixelRatio || 1;
	if (width <= 0 || height <= 0) return null;
	if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
	}
	const g = canvas.getContext("2d");
	g.setTransform(scale, 0, 0, scale, 0, 0);
	g.clearRect(0, 0, width, height);
	g.font = FONT;
	g.textBaseline = "middle";
	return g;
}

// Slanting lines, as a pattern.
const hatches = new Map();
function hatch(g, colour, gap) {
	const key = colour + gap;
	if (!hatches.has(key)) {
		const tile = document.createElement("canvas");
		tile.width = tile.height = gap;
		const t = tile.getContext("2d");
		t.strokeStyle = colour;
		t.lineWidth = 1.2;
		t.beginPath();
		for (const shift of [-gap, 0, gap]) { t.moveTo(shift - 1, gap + 1); t.lineTo(shift + gap + 1, -1); }
		t.stroke();
		hatches.set(key, g.createPattern(tile, "repeat"));
	}
	return hatches.get(key);
}

// ---- Text that fits ----

const widths = new Map();
function widthOf(g, text) {
	const key = g.font + text;
	let width = widths.get(key);
	if (width === undefined) {
		if (widths.size > 5000) widths.clear();
		width = g.measureText(text).width;
		widths.set(key, width);
	}
	return width;
}
function fitting(g, text, room) {
	if (widthOf(g, text) <= room) return text;
	let length = Math.floor(text.length * room / widthOf(g, text));
	while (length > 1 && widthOf(g, text.slice(0, length) + "…") > room) length--;
	return length > 1 ? text.slice(0, length) + "…" : "";
}

// ---- Spans ----

// The kind that takes the most time of lane[i..j): of a few of them, where they are many.
function leading(lane, i, j) {
	let best = i;
	const step = Math.max(1, Math.floor((j - i) / 6));
	for (let k = i; k < j; k += step) {
		if (lane.end[k] - lane.start[k] > lane.end[best] - lane.start[best]) best = k;
	}
	return best;
}

/*
 * Calls @wide(index, x0, x1) for each span of a lane that is at least a pixel and a half, and
 * @narrow(first, last, x, share) for those between that lie in one pixel at @x and fill @share of it.
 */
function walkLane(lane, from, to, x, time, wide, narrow) {
	const { start, end, busy, size } = lane;
	let i = upperBound(end, from);
	// A span without length at the window's edge belongs to it.
	while (i > 0 && end[i - 1] >= from) i--;
	while (i < size && start[i] <= to) {
		const x0 = x(start[i]);
		const x1 = x(end[i]);
		if (x1 - x0 >= 1.5) {
			wide(i, x0, x1);
			i++;
			continue;
		}
		const pixel = Math.floor(x0);
		const limit = time(pixel + 1);
		let j = gallop(start, limit, i + 1, size);
		// The last one may be wide: it is drawn by itself.
		if (j > i + 1 && x(end[j - 1]) - x(start[j - 1]) >= 1.5) j--;
		narrow(i, j, pixel, (busy[j] - busy[i]) / Math.max(limit - time(pixel), 1e-9));
		i = j;
	}
}

/* Calls @each(first, last, x) for the times that share a pixel. */
function walkPoints(times, from, to, x, time, each) {
	let i = lowerBound(times, from);
	while (i < times.length && times[i] <= to) {
		const pixel = Math.floor(x(times[i]));
		const j = gallop(times, time(pixel + 1), i + 1);
		each(i, j, pixel);
		i = j;
	}
}

// ---- The axis of time ----

function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	for (const factor of [1, 2, 5, 10]) if (power * factor >= least) return Math.max(1, power * factor);
	return power * 10;
}

// Early in a run milliseconds and microseconds are read more easily than parts of a second.
function tickText(t, step, most) {
	if (most >= 1e9) return moment(t, step);
	const [unit, name] = most >= 1e6 ? [1e6, " ms"] : most >= 1e3 ? [1e3, " µs"] : [1, " ns"];
	return (t / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))).replace("-", "−") + name;
}

function axis(g, left, right, from, to, y, height, lines) {
	const perPixel = (to - from) / (right - left);
	const step = niceStep(perPixel * 110);
	g.font = SMALL;
	for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
		const at = left + (t - from) / perPixel;
		g.fillStyle = ink.grid;
		if (lines) g.fillRect(Math.round(at), y + height, 1, lines);
		g.fillStyle = ink.line;
		g.fillRect(Math.round(at), y + height - 6, 1, 6);
		const text = tickText(t, step, Math.max(Math.abs(from), Math.abs(to)));
		if (at + widthOf(g, text) / 2 < right && at - widthOf(g, text) / 2 > left) {
			g.fillStyle = ink.soft;
			g.textAlign = "center";
			g.fillText(text, at, y + height / 2 - 2);
		}
	}
	g.textAlign = "left";
	g.font = FONT;
}
