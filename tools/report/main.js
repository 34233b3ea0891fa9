// SPDX-License-Identifier: MIT
// main.js - keys, help, theme, and the order in which the page comes to life.

// ---- Help ----

const KEYS = [
	["wheel, + −, W S", "zoom at the pointer, or in the middle"],
	["drag, ← →, A D", "move in time"],
	["↑ ↓, wheel on names", "move through the threads"],
	["drag on the ruler", "zoom to a time"],
	["Shift + drag", "measure a time; Enter zooms to it"],
	["click, double click", "details; zoom to it"],
	["Z", "zoom to what is selected"],
	["[ ]", "the one before, the next one, of its kind"],
	["0, B", "the whole run; the view before"],
	["/, N, Shift + N", "search; next and previous hit"],
	["L, Shift + L", "next and previous loss"],
	["O", "other processes: unfold or fold them"],
	["T, Esc, ?", "light or dark; let go; this help"],
];
const SEARCHES = [
	["job", "in the name of the event or thread, or in a text field"],
	["thread=control event=job_begin", "these names exactly (thread also by number); ~ instead of = for a part"],
	["job=17", "a field of that value; also != < > <= >="],
	["late_ns>1ms dur>2ms", "all must hold; dur is the length of a span, time (or t) when it was, both in seconds if no ns us ms s stands behind the number; cpu the CPU"],
];

function showHelp() {
	$("help-body").replaceChildren(
		element("div", { className: "keys" }, KEYS.map(([keys, what]) => element("div", {}, element("span", {}, element("kbd", {}, keys)), element("span", {}, what)))),
		element("h3", {}, "Search"),
		element("table", {}, element("tbody", {}, SEARCHES.map(([text, what]) => element("tr", {}, element("td", { className: "mono" }, text), element("td", {}, what))))),
		element("p", { className: "quiet" }, "The address in the browser's bar keeps the view: copy it to come back to it."));
	$("help").showModal();
}

// ---- Theme ----

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = "";

function setTheme(name) {
	document.documentElement.dataset.theme = name;
	readTheme();
	repaintSwatches();
	paintAll();
}
function paintAll() {
	drawTracks();
	drawOverview();
	document.querySelectorAll("#pairs canvas").forEach(paintSpark);
	document.querySelectorAll("#types-table canvas, #threads-table canvas").forEach(paintCourse);
	if ($("histogram")) paintHistogram($("histogram"));
}
function systemTheme() { return prefersDark.matches ? "dark" : "light"; }
prefersDark.addEventListener("change", () => { if (!chosenTheme) setTheme(systemTheme()); });
function switchTheme() {
	chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
	setTheme(chosenTheme);
}

// Paper is white.
addEventListener("beforeprint", () => setTheme("light"));
addEventListener("afterprint", () => setTheme(chosenTheme || systemTheme()));

// ---- Keys ----

const keys = {
	"+": () => zoom(0.6), "=": () => zoom(0.6), w: () => zoom(0.6), "-": () => zoom(1 / 0.6), s: () => zoom(1 / 0.6),
	ArrowLeft: () => pan(-0.15), a: () => pan(-0.15), ArrowRight: () => pan(0.15), d: () => pan(0.15),
	ArrowUp: () => scrollTo(view.top - 60), ArrowDown: () => scrollTo(view.top + 60),
	PageUp: () => scrollTo(view.top - layout.height * 0.8), PageDown: () => scrollTo(view.top + layout.height * 0.8),
	Home: () => show(whole.from, whole.from + view.to - view.from), End: () => show(whole.to - view.to + view.from, whole.to),
	0: showAll, f: showAll, b: goBack, z: () => view.selected && select(view.selected, "zoom"), Enter: zoomToMeasure,
	"[": () => step(-1), "]": () => step(1), n: () => goToHit(1), N: () => goToHit(-1), l: () => goToLoss(1), L: () => goToLoss(-1),
	o: switchFolds, t: switchTheme, "?": showHelp,
	"/": () => { $("query").focus(); $("query").select(); },
	Escape: () => { if (view.measure) { view.measure = null; redraw(); } else if (view.selected) select(null); else if (view.query) search(""); },
};
// These move the page itself unless the time line has the focus.
const OURS_ONLY = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Enter", "ArrowLeft", "ArrowRight"]);

addEventListener("keydown", (event) => {
	const inCanvas = document.activeElement === canvas;
	if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
	if (event.target.closest("input, textarea, select") || (OURS_ONLY.has(event.key) && !inCanvas)) return;
	if (event.key === " " || !Object.hasOwn(keys, event.key)) return;
	event.preventDefault();
	keys[event.key]();
});

$("fit").addEventListener("click", showAll);
$("zoom-in").addEventListener("click", () => zoom(0.5));
$("zoom-out").addEventListener("click", () => zoom(2));
$("back").addEventListener("click", goBack);
$("loss-next").addEventListener("click", () => goToLoss(1));
$("theme").addEventListener("click", switchTheme);
$("help-open").addEventListener("click", showHelp);

// ---- Life ----

function resize() {
	sizeStage();
	scrollTo(view.top);
	drawTracks();
	drawOverview();
	if ($("histogram")) paintHistogram($("histogram"));
}

function followAddress() {
	readAddress();
	search(view.query);
	tell("selected");
	showDurations();
}

function begin() {
	const started = performance.now();
	load();
	setWhole();
	setTheme(systemTheme());
	placeTracks();
	sizeStage();
	showHead();
	showNotices();
	readAddress();
	tell("selected");
	drawTracks();
	drawOverview();
	document.documentElement.dataset.drawn = String(Math.round(performance.now() - started));
	if (view.query) search(view.query);
	showHits();
	// What is below the window may come a moment later.
	setTimeout(() => {
		showAnswers();
		showDurations();
		showTypes();
		showThreads();
		showMoments();
		showAbout();
		document.documentElement.dataset.ready = String(Math.round(performance.now() - started));
	});
	addEventListener("resize", soon(resize));
	addEventListener("hashchange", followAddress);
}

// For the browser's console, and for tests.
window.pxtrace = { meta, events, spans, tracks, kinds, losses, view, found, plot, layout, runners, fieldsOf, select, show, pick, search, draw: drawTracks, rows: () => rows };

begin();
