// SPDX-License-Identifier: MIT
// search.js - words and comparisons; all of them must hold for an event.
//
//	word                    part of the event's or the thread's name, or of a text field
//	field=5  field>1ms      a field of the event; also event, thread, cpu, dur (of its span), time
//	who="a text"            as pxtrace print shows it
//
// Beside dur and time (or t) a plain number is seconds, as with --from of all commands.
//
// The log is looked through in slices, so that the page stays alive.

const OPERATORS = {
	"=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b,
	">": (a, b) => a > b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, "<=": (a, b) => a <= b,
	"~": (a, b) => a.includes(b),
};
const found = { list: [], at: -1, run: 0, done: true, problem: "" };
const BUILT_IN = ["event", "type", "thread", "cpu", "dur", "t", "time"];

function isTimed(term) {
	return term.field === "dur" || term.field === "t" || term.field === "time";
}

// What a term cannot mean in this log; "": it is well.
function problemOf(term) {
	if (term.word !== undefined) return "";
	const fields = meta.types.flatMap((type) => type.fields || []).filter((field) => field[0] === term.field);
	if (fields.length === 0 && !BUILT_IN.includes(term.field)) return "no event has a field " + term.field;
	if (term.text === "" && !term.quoted) return "what stands behind " + term.operator + " ?";
	const numeric = fields.length > 0 ? fields.every((field) => field[1] !== FIELD.TEXT) : isTimed(term) || term.field === "cpu";
	if (term.operator !== "~" && isNaN(term.number) && (numeric || /[<>]/.test(term.operator))) return term.text + " is no number";
	return "";
}

// The words of a query; null where one makes no sense: found.problem says why.
function parseQuery(text) {
	const terms = [];
	found.problem = "";
	for (const [, field, operator, quoted, plain] of text.matchAll(/(?:([A-Za-z_]\w*)(>=|<=|!=|==|=|>|<|~))?(?:"((?:[^"\\]|\\.)*)"|(\S*))\s*/g)) {
		const value = quoted === undefined ? plain : quoted;
		if (field === undefined && value === "") continue;
		const term = field === undefined ? { word: value.toLowerCase() }
			: { field, operator, text: value.toLowerCase(), quoted: quoted !== undefined, number: number(value) };
		if (field !== undefined && isTimed(term) && !/[a-zµμ]$/i.test(value)) term.number *= 1e9;
		found.problem = found.problem || problemOf(term);
		terms.push(term);
	}
	return found.problem ? null : terms;
}

// Quoted as pxtrace print shows it, with bytes that are no letters by their numbers.
function compareText(term, text) {
	const as = term.quoted ? visible(text).replaceAll("\"", "\\\"") : text;
	return OPERATORS[term.operator](as.toLowerCase(), term.text);
}
function compareNumber(term, value) {
	return term.operator === "~" ? String(value).includes(term.text) : OPERATORS[term.operator](Number(value), term.number);
}

// A test of event i for one term, made for one type: undefined: no event of this type passes.
function testFor(term, type, threadNames) {
	if (term.word !== undefined) {
		if (type.name.toLowerCase().includes(term.word)) return () => true;
		const texts = (type.fields || []).filter((field) => field[1] === FIELD.TEXT);
		const threadHas = threadNames.map((name) => name.toLowerCase().includes(term.word));
		if (texts.length === 0) return threadHas.includes(true) ? (i) => threadHas[events.thread[i]] : undefined;
		return (i) => threadHas[events.thread[i]] || texts.some((field) => {
			const value = fieldValue(i, field);
			return value !== undefined && value.toLowerCase().includes(term.word);
		});
	}
	if (term.field === "dur") return (i) => events.opens[i] >= 0 && compareNumber(term, spans.time[events.opens[i]]);
	const field = (type.fields || []).find((each) => each[0] === term.field);
	if (field) {
		return field[1] === FIELD.TEXT ? (i) => { const v = fieldValue(i, field); return v !== undefined && compareText(term, v); }
			: (i) => { const v = fieldValue(i, field); return v !== undefined && compareNumber(term, v); };
	}
	if (term.field === "event" || term.field === "type") return compareText(term, type.name) ? () => true : undefined;
	if (term.field === "thread") {
		// By name, or by the number behind it: "sensor/4712".
		const fits = threadNames.map((name) => compareText(term, name) || (term.operator === "=" && name.toLowerCase().split("/").includes(term.text)));
		return (i) => fits[events.thread[i]];
	}
	if (term.field === "cpu") return (i) => events.cpu[i] > 0 && compareNumber(term, events.cpu[i] - 1);
	if (term.field === "t" || term.field === "time") return (i) => compareNumber(term, events.time[i]);
	return undefined;
}

function testsOf(terms) {
	const threadNames = meta.threads.map((thread) => thread.name);
	return meta.types.map((type) => {
		const tests = terms.map((term) => testFor(term, type, threadNames));
		return tests.includes(undefined) ? null : tests;
	});
}

// Looks through everything; @done is called when that is over, and not if another search began.
function runSearch(text, done) {
	const run = ++found.run;
	const terms = parseQuery(text);
	found.list = [];
	found.at = -1;
	found.done = !terms || terms.length === 0;
	$("query").classList.toggle("wrong", terms === null);
	if (found.done) return done(terms);
	const tests = testsOf(terms);
	const spanMask = new Uint8Array(spans.n);
	const eventMask = new Uint8Array(events.n);
	let i = 0;
	const slice = () => {
		if (run !== found.run) return;
		const end = performance.now() + 30;
		for (; i < events.n; i++) {
			if (i % 1024 === 0 && performance.now() > end) break;
			const test = tests[events.type[i]];
			if (!test || !test.every((each) => each(i))) continue;
			// A span is one hit, at its begin, also where both of its events fit.
			const closes = events.closes[i];
			if (closes >= 0 && eventMask[spans.begin[closes]]) continue;
			eventMask[i] = 1;
			found.list.push(i);
			if (events.opens[i] >= 0) spanMask[events.opens[i]] = 1;
			if (closes >= 0) spanMask[closes] = 1;
		}
		showHits();
		if (i < events.n) return void setTimeout(slice);
		found.done = true;
		done(terms, spanMask, eventMask);
	};
	slice();
}

function showHits() {
	const size = found.list.length;
	$("hits").textContent = !view.query ? "" : found.problem ? found.problem
		: (found.at >= 0 ? count(found.at + 1) + " / " : "") + compact(size) + (found.done ? "" : "…");
	$("hit-next").disabled = $("hit-previous").disabled = size === 0;
}

let searchTimer = 0;
function search(text, then) {
	view.query = text.trim();
	if ($("query").value.trim() !== view.query) $("query").value = view.query;
	keepAddress();
	runSearch(view.query, (terms, spanMask, eventMask) => {
		marks.times = spanMask ? Float64Array.from(found.list, (i) => events.time[i]) : null;
		mark(spanMask || null, eventMask || null, spanMask ? "search" : "");
		redrawOverview();
		showHits();
		if (view.query) announce(terms === null ? "The search is not understood: " + found.problem : plural(found.list.length, "hit"));
		if (then) then();
	});
}

// The next hit behind (step 1) or before (step -1) what is selected, else the window's start.
function goToHit(step) {
	const { list } = found;
	if (list.length === 0) return;
	if (found.at < 0) {
		const extent = extentOf(view.selected);
		const from = extent && extent[0] >= view.from && extent[0] <= view.to ? extent[0] : view.from;
		let low = 0;
		while (low < list.length && events.time[list[low]] < from) low++;
		found.at = step > 0 ? low % list.length : (low + list.length - 1) % list.length;
	} else {
		found.at = (found.at + step + list.length) % list.length;
	}
	selectEvent(list[found.at], "bring");
	showHits();
}

$("search").addEventListener("submit", (event) => { event.preventDefault(); goToHit(1); });
$("query").addEventListener("input", () => {
	clearTimeout(searchTimer);
	searchTimer = setTimeout(() => search($("query").value), 120);
});
$("query").addEventListener("keydown", (event) => {
	if (event.key === "Escape") { $("query").value = ""; search(""); canvas.focus({ preventScroll: true }); }
	if (event.key === "Enter") {
		event.preventDefault();
		clearTimeout(searchTimer);
		const step = event.shiftKey ? -1 : 1;
		if ($("query").value.trim() !== view.query) search($("query").value, () => goToHit(step));
		else goToHit(step);
	}
});
$("hit-next").addEventListener("click", () => goToHit(1));
$("hit-previous").addEventListener("click", () => goToHit(-1));

// ---- All about what is selected; with nothing selected, what the colours mean ----

const details = $("details");

function facts(rows) {
	return element("dl", { className: "facts" }, rows.filter(Boolean).map(([name, ...value]) => [element("dt", {}, name), element("dd", {}, ...value)]));
}

function action(text, title, work, disabled) {
	return element("button", { type: "button", title, disabled: disabled ? "" : undefined, onclick: work }, text);
}

function linkTo(thing, reveal, ...content) {
	return element("button", { type: "button", className: "link", onclick: () => select(thing, reveal) }, ...content);
}

// ---- Spans ----

// Durations of all spans of a kind, ascending: made when they are first asked for.
const sortedOfKind = new Map();
function sortedDurations(kind) {
	if (!sortedOfKind.has(kind)) {
		let size = 0;
		for (let s = 0; s < spans.n; s++) if (spans.kind[s] === kind) size++;
		const values = new Float64Array(size);
		for (let s = 0, at = 0; s < spans.n; s++) if (spans.kind[s] === kind) values[at++] = spans.time[s];
		sortedOfKind.set(kind, values.sort());
	}
	return sortedOfKind.get(kind);
}

function rank(s) {
	const values = sortedDurations(spans.kind[s]);
	const longer = values.length - upperBound(values, spans.time[s]);
	const shorter = lowerBound(values, spans.time[s]);
	if (values.length === 1) return "the only one of its kind";
	if (longer === 0) return "the longest of " + count(values.length);
	return longer < 10 ? "number " + (longer + 1) + " of " + count(values.length) : "longer than " + percent(shorter / values.length) + " of " + count(values.length);
}

function fieldTable(s) {
	const begin = fieldsOf(spans.begin[s]);
	const end = fieldsOf(spans.end[s]);
	const names = [...new Set([...begin, ...end].map(([name]) => name))];
	if (names.length === 0) return null;
	const cell = (list, name) => {
		const field = list.find(([each]) => each === name);
		return element("td", { className: "left" }, field ? [foreign(field[1]), field[2] && element("div", { className: "quiet" }, field[2])] : "");
	};
	return [element("h3", {}, "Fields"), element("table", { className: "wrap" },
		element("thead", {}, element("tr", {}, element("th", { className: "left", scope: "col" }, "field"), element("th", { className: "left", scope: "col" }, "at begin"), element("th", { className: "left", scope: "col" }, "at end"))),
		element("tbody", {}, names.map((name) => element("tr", {}, element("th", { className: "left", scope: "row" }, foreign(name)), cell(begin, name), cell(end, name)))))];
}

// Spans of other threads at the same time, the longest overlap first: who was in the way?
function meanwhile(s) {
	const from = spanStart(s);
	const to = spanEnd(s);
	const list = [];
	tracks.forEach((track, t) => {
		if (t === trackOfSpan(s) || track.kind !== "thread") return;
		for (const lane of track.lanes) {
			let looked = 0;
			for (let i = lowerBound(lane.end, from); i < lane.size && lane.start[i] < to && looked < 200; i++, looked++) {
				const overlap = Math.min(to, lane.end[i]) - Math.max(from, lane.start[i]);
				if (overlap > 0) list.push({ span: lane.id[i], track, overlap });
			}
		}
	});
	list.sort((a, b) => b.overlap - a.overlap);
	if (list.length === 0) return null;
	return [element("h3", {}, "Meanwhile, in other threads"), element("ul", { className: "legend" }, list.slice(0, 8).map(({ span, track, overlap }) =>
		element("li", {}, element("button", { type: "button", className: "link", onclick: () => select({ span }, "bring") },
			swatch(spans.kind[span]), foreign(track.name + ": " + kinds[spans.kind[span]].name), element("span", { className: "quiet" }, duration(overlap)))))),
		list.length > 8 ? element("p", { className: "quiet" }, "and " + count(list.length - 8) + " more") : null];
}

// The one before or behind, of the same kind and thread.
function neighbour(s, step) {
	const track = tracks[trackOfSpan(s)];
	const wanted = spans.kind[s];
	let best = -1;
	for (const lane of track.lanes) {
		let i = lowerBound(lane.start, spanStart(s)) + (step < 0 ? -1 : 0);
		for (; i >= 0 && i < lane.size; i += step) {
			const other = lane.id[i];
			if (other === s || spans.kind[other] !== wanted) continue;
			if (step < 0 ? spans.begin[other] < spans.begin[s] : spans.begin[other] > spans.begin[s]) {
				if (best < 0 || (step < 0 ? spans.begin[other] > spans.begin[best] : spans.begin[other] < spans.begin[best])) best = other;
				break;
			}
		}
	}
	return best;
}

// Where the scheduler told it: how much of a span its thread ran.
function stateFacts(s) {
	const track = tracks[trackOfSpan(s)];
	if (!track.states) return [];
	const sums = statesBetween(track, spanStart(s), spanEnd(s));
	return sums.map((ns, state) => ns > 0 ? [["ran", "could run", "slept"][state], duration(ns) + ", " + percent(ns / spans.time[s])] : null);
}

function spanDetails(s) {
	const kind = kinds[spans.kind[s]];
	const begin = spans.begin[s];
	const end = spans.end[s];
	const cpu = (i) => events.cpu[i] > 0 ? String(events.cpu[i] - 1) : "?";
	const lost = losses.filter((loss) => loss.to > spanStart(s) && loss.from < spanEnd(s)).reduce((sum, loss) => sum + Number(loss.count), 0);
	return [
		element("p", { className: "head" }, swatch(kind.index), foreign(kind.name)),
		element("p", { className: "sub" }, "span in ", foreign(tracks[trackOfSpan(s)].name), groups.length > 1 ? [" of ", foreign(meta.logs[tracks[trackOfSpan(s)].log].name)] : null),
		element("p", { className: "big" }, duration(spans.time[s])),
		element("p", { className: "sub" }, rank(s)),
		element("div", { className: "actions" },
			action("Zoom to it", "Z", () => select({ span: s }, "zoom")),
			action("‹ before", "[", () => step(-1), neighbour(s, -1) < 0),
			action("next ›", "]", () => step(1), neighbour(s, 1) < 0),
			action("All of its kind", "durations of this pair", () => { pick(spans.kind[s], -1); $("durations").scrollIntoView({ block: "start" }); })),
		facts([
			["start", moment(spanStart(s))],
			["end", moment(spanEnd(s))],
			["date", calendar(spanStart(s))],
			["exactly", count(spans.time[s]) + " ns"],
			events.cpu[begin] || events.cpu[end] ? ["CPU", cpu(begin) === cpu(end) ? cpu(begin) : cpu(begin) + " at begin, " + cpu(end) + " at end"] : null,
			trackOfEvent(end) !== trackOfEvent(begin) ? ["ended in", foreign(tracks[trackOfEvent(end)].name)] : null,
			...stateFacts(s),
			lost > 0 ? ["losses", plural(lost, "event") + " lost meanwhile"] : null,
		]),
		meanwhile(s),
		fieldTable(s),
	];
}

// ---- Events and losses ----

function sameBefore(i) {
	for (let k = i - 1; k >= 0 && i - k < 200000; k--) if (events.type[k] === events.type[i] && events.thread[k] === events.thread[i]) return k;
	return -1;
}
function sameBehind(i) {
	for (let k = i + 1; k < events.n && k - i < 200000; k++) if (events.type[k] === events.type[i] && events.thread[k] === events.thread[i]) return k;
	return -1;
}

function eventDetails(i) {
	const fields = fieldsOf(i);
	const last = sameBefore(i);
	return [
		element("p", { className: "head" }, foreign(meta.types[events.type[i]].name)),
		element("p", { className: "sub" }, "event in ", foreign(tracks[trackOfEvent(i)].name)),
		facts([
			["time", moment(events.time[i])],
			["date", calendar(events.time[i])],
			events.cpu[i] ? ["CPU", String(events.cpu[i] - 1)] : null,
			last >= 0 ? ["since the last", duration(events.time[i] - events.time[last])] : null,
			["number", count(i + 1) + " of the page"],
		]),
		fields.length ? [element("h3", {}, "Fields"), facts(fields.map(([name, value, hint]) => [foreign(name), element("span", { className: name === "data" ? "mono" : "" }, foreign(value)), hint && element("span", { className: "quiet" }, "  " + hint)]))] : null,
		element("div", { className: "actions" },
			action("Zoom to it", "Z", () => select({ event: i }, "zoom")),
			action("‹ before", "[", () => step(-1), last < 0),
			action("next ›", "]", () => step(1), sameBehind(i) < 0)),
	];
}

function lossDetails(l) {
	const loss = losses[l];
	const wide = loss.to > loss.from;
	return [
		element("p", { className: "head" }, element("span", { className: "swatch hatch" }), plural(loss.count, "event") + " lost"),
		element("p", { className: "sub" }, "in the log ", foreign(meta.logs[loss.log].name)),
		element("p", {}, loss.untold ? "No event tells where: overwritten in the log, or lost behind its last event."
			: loss.times > 1 ? "The sum of " + count(loss.times) + " losses near each other; there were too many to mark each."
				: "They were lost directly before the event at the end of this time; no duration is measured across it."),
		facts([
			wide ? ["after", moment(loss.from)] : null,
			["before", moment(loss.to)],
			wide ? ["at most", duration(loss.to - loss.from)] : null,
			["date", calendar(loss.to)],
		]),
		element("div", { className: "actions" },
			action("Zoom to it", "Z", () => select({ loss: l }, "zoom")),
			action("‹ before", "Shift+L", () => goToLoss(-1), losses.length < 2),
			action("next ›", "L", () => goToLoss(1), losses.length < 2)),
	];
}

function goToLoss(by) {
	if (losses.length === 0) return;
	const now = view.selected && view.selected.loss !== undefined ? view.selected.loss : by > 0 ? losses.length - 1 : 0;
	select({ loss: (now + by + losses.length) % losses.length }, "bring");
}

// [ and ]: to the one before or behind of the same kind in the same thread.
function step(by) {
	const { selected } = view;
	if (!selected) return;
	if (selected.loss !== undefined) return goToLoss(by);
	if (selected.span !== undefined) {
		const other = neighbour(selected.span, by);
		if (other >= 0) select({ span: other }, "bring");
		return;
	}
	const other = by < 0 ? sameBefore(selected.event) : sameBehind(selected.event);
	if (other >= 0) select({ event: other }, "bring");
}

// ---- Nothing ----

function legend() {
	const shown = kinds.filter((kind) => kind.count > 0).sort((a, b) => b.count - a.count).slice(0, 14);
	return [
		element("p", { className: "quiet hint" }, "Click a span or an event for its details. The wheel zooms, dragging moves, dragging on the ruler chooses a time."),
		shown.length ? element("h3", {}, "Spans") : null,
		element("ul", { className: "legend" }, shown.map((kind) => element("li", {}, element("button", { type: "button", className: "link", title: kind.begin + " … " + kind.end, onclick: () => pick(kind.index, -1) },
			swatch(kind.index), foreign(kind.name), element("span", { className: "quiet" }, count(kind.count)))))),
		element("h3", {}, "Marks"),
		element("ul", { className: "legend" },
			element("li", {}, "◆ event, ❘ events close together"),
			meta.why.list.some((answer) => answer.chain.length) ? element("li", {}, element("span", { className: "alarm", "aria-hidden": "true" }, "① "), "the answer: who was held up, and by whom") : null,
			meta.types.some((type) => type.alarm) ? element("li", {}, element("span", { className: "alarm", "aria-hidden": "true" }, "◆ "), "its name speaks of trouble: ", foreign(meta.types.filter((type) => type.alarm).slice(0, 3).map((type) => type.name).join(", "))) : null,
			tracks.some((track) => track.states) ? STATE_NAMES.map((name, state) => element("li", {}, element("span", { className: "swatch state-" + state, "aria-hidden": "true" }), "below a thread: " + name)) : null,
			losses.length ? element("li", {}, element("span", { className: "swatch hatch" }), "events were lost") : null,
			meta.logs.some((log) => log.stops.length) ? element("li", {}, element("span", { className: "swatch hatch-stop" }), "not traced: stopped, or not started") : null),
	];
}

function showDetails() {
	const { selected } = view;
	const content = !selected ? legend() : selected.span !== undefined ? spanDetails(selected.span)
		: selected.loss !== undefined ? lossDetails(selected.loss) : eventDetails(selected.event);
	details.replaceChildren(...content.flat().filter(Boolean));
	details.scrollTop = 0;
	if (!selected) return;
	announce(selected.span !== undefined ? kinds[spans.kind[selected.span]].name + " in " + tracks[trackOfSpan(selected.span)].name + ", " + duration(spans.time[selected.span])
		: selected.loss !== undefined ? plural(losses[selected.loss].count, "event") + " lost"
			: meta.types[events.type[selected.event]].name + " in " + tracks[trackOfEvent(selected.event)].name);
}

on("selected", showDetails);
