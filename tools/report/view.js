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
