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

// Quoted as pxtrace print shows it, with what is no letter by its number.
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
