// SPDX-License-Identifier: MIT
// sched.js - tracks that are no thread's own: by the scheduler's events a lane for each CPU with who ran on it, and
// for each thread whether it ran, could have run, or slept; curves of fields. What is not known is left empty:
// before the first switch on a CPU, and from a loss or a stop of that log up to the next event that tells.

const STATE = { RUNS: 0, READY: 1, SLEEPS: 2 };
const STATE_NAMES = ["runs", "could run, but does not", "sleeps"];

// Threads that the scheduler named: { name, tid, host, known: whether the program's own }.
const runners = [];
const hosts = new Map();

function hostOf(log) {
	const name = meta.logs[log].host;
	if (!hosts.has(name)) hosts.set(name, { byTid: new Map(), cpus: new Map() });
	return hosts.get(name);
}

// The field of event @i that says @what, as a number; NaN: it does not.
function told(i, what) {
	const type = meta.types[events.type[i]];
	const place = type.scheduler[what];
	const value = place === undefined ? undefined : fieldValue(i, type.fields[place]);
	return value === undefined || typeof value === "string" ? NaN : Number(value);
}
function toldText(i, what) {
	const type = meta.types[events.type[i]];
	const place = type.scheduler[what];
	const value = place === undefined ? undefined : fieldValue(i, type.fields[place]);
	return typeof value === "string" ? visible(value) : "";
}
function cpuOf(i) {
	const cpu = told(i, "cpu");
	return isNaN(cpu) ? events.cpu[i] - 1 : cpu;
}

const CPUS_MAX = 1024;

// The CPUs of each log that has switches, by number: they get a track each.
function findCpus() {
	const found = meta.logs.map(() => new Map());
	if (!meta.types.some((type) => type.scheduler)) return found;
	for (let i = 0; i < events.n; i++) {
		const type = meta.types[events.type[i]];
		if (!type.scheduler || type.scheduler.deed !== "switch") continue;
		const cpu = cpuOf(i);
		if (cpu >= 0 && cpu < CPUS_MAX) found[type.log].set(cpu, (found[type.log].get(cpu) || 0) + 1);
	}
	return found.map((cpus) => [...cpus].sort((a, b) => a[0] - b[0]));
}

// ---- Reading ----

function runnerOf(log, tid, name) {
	const { byTid } = hostOf(log);
	if (!(tid > 0)) return null;
	let runner = byTid.get(tid);
	if (!runner) {
		runner = { index: runners.length, tid, name: (name || "thread") + "/" + tid, known: false, tracks: [], state: -1, since: 0, log, spent: [] };
		byTid.set(tid, runner);
		runners.push(runner);
	}
	return runner;
}

// All threads have the names that the log has for them. Of those of others it does not say all: they
// get no states.
function knowThreads() {
	for (const thread of meta.threads) {
		if (!thread.tid || thread.known === false) continue;
		const runner = runnerOf(thread.log, thread.tid, "");
		runner.known = isOwn(thread);
		runner.name = thread.name;
		if (tracks[thread.track].kind === "thread") runner.tracks.push(tracks[thread.track]);
	}
}

function enter(runner, state, t, log) {
	if (!runner) return;
	leave(runner, t);
	runner.state = state;
	runner.since = t;
	runner.log = log;
}
function leave(runner, t) {
	if (runner.state >= 0 && t > runner.since && runner.tracks.length) runner.spent.push(runner.state, runner.since, t);
	runner.state = -1;
}
function leaveCpu(cpu, t) {
	if (cpu.runs && t > cpu.since) cpu.spent.push(cpu.runs.index, cpu.since, t);
	cpu.runs = null;
}

// At a loss or a stop nobody knows any more what that log's events have told.
function forget(log, t) {
	const host = hostOf(log);
	for (const cpu of host.cpus.values()) if (cpu.log === log) leaveCpu(cpu, t);
	for (const runner of host.byTid.values()) if (runner.log === log) leave(runner, t);
}

// Linux says of who leaves a CPU whether it could go on: R..., or no bit of the state is set.
function couldRun(i) {
	const text = toldText(i, "state");
	if (text) return text[0] === "R";
	const bits = told(i, "state");
	return !isNaN(bits) && (bits & 0xff) === 0;
}

// Dead, or a zombie: by a letter, or by a bit.
function hasEnded(i) {
	const text = toldText(i, "state");
	return text ? /^[XZ]/.test(text) : (told(i, "state") & 0x30) !== 0;
}

function takeSwitch(i, log) {
	const t = events.time[i];
	const cpu = hostOf(log).cpus.get(cpuOf(i));
	if (!cpu) return;
	const to = runnerOf(log, told(i, "to"), toldText(i, "toName"));
	const from = runnerOf(log, told(i, "from"), toldText(i, "fromName"));
	if (from && hasEnded(i)) leave(from, t);
	else enter(from, couldRun(i) ? STATE.READY : STATE.SLEEPS, t, log);
	enter(to, STATE.RUNS, t, log);
	leaveCpu(cpu, t);
	cpu.runs = to;
	cpu.since = t;
	cpu.log = log;
}

function takeWake(i, log) {
	const place = meta.types[events.type[i]].scheduler.thread;
	const tid = place === undefined ? meta.threads[events.thread[i]].tid : told(i, "thread");
	const runner = runnerOf(log, tid, "");
	if (runner && runner.state === STATE.SLEEPS) enter(runner, STATE.READY, events.time[i], log);
}

function laneOf(spent) {
	const lane = newLane(spent.length / 3);
	for (let k = 0; k < spent.length; k += 3) putInLane(lane, spent[k], spent[k + 1], spent[k + 2]);
	return lane;
}

// Once tracks, losses and stops are known.
function readStates() {
	const cpuTracks = tracks.filter((track) => track.kind === "cpu");
	if (cpuTracks.length === 0) return;
	for (const track of cpuTracks) hostOf(track.log).cpus.set(track.cpu, { track, runs: null, since: 0, log: track.log, spent: [] });
	knowThreads();
	const cuts = [...losses.map((loss) => ({ log: loss.log, at: loss.from })),
		...meta.logs.flatMap((log, index) => log.stops.map(([from]) => ({ log: index, at: from })))].sort((a, b) => a.at - b.at);
	let next = 0;
	for (let i = 0; i < events.n; i++) {
		const type = meta.types[events.type[i]];
		if (!type.scheduler) continue;
		for (; next < cuts.length && cuts[next].at < events.time[i]; next++) forget(cuts[next].log, cuts[next].at);
		if (type.scheduler.deed === "switch") takeSwitch(i, type.log);
		else takeWake(i, type.log);
	}
	const end = Number(meta.shownTo);
	for (; next < cuts.length && cuts[next].at <= end; next++) forget(cuts[next].log, cuts[next].at);
	meta.logs.forEach((_, log) => forget(log, end));
	[...runners].sort((a, b) => a.name < b.name ? -1 : 1).filter((runner) => runner.known).forEach((runner, place) => { runner.colour = place; });
	for (const host of hosts.values()) for (const cpu of host.cpus.values()) cpu.track.runs = laneOf(cpu.spent);
	for (const runner of runners) {
		if (runner.spent.length) for (const track of runner.tracks) track.states = laneOf(runner.spent);
		runner.spent = null;
	}
}

// ---- What a time holds ----

// How long a thread was in each state between two times: [runs, ready, sleeps].
function statesBetween(track, from, to) {
	const sums = [0, 0, 0];
	const { states } = track;
	for (let k = states ? upperBound(states.end, from) : 0; states && k < states.size && states.start[k] < to; k++)
		sums[states.id[k]] += Math.min(to, states.end[k]) - Math.max(from, states.start[k]);
	return sums;
}

function stateColour(state) {
	return [ink.good, ink.hit, ink.stop][state];
}
// The program's threads have colours, which are no kind's of spans; all others are grey.
function runnerColour(runner) {
	return runner.known ? seriesColour(kinds.length + runner.colour) : ink.stop;
}

// ---- Drawing ----

const STRIP = 5; // pixels, below the lanes of a thread

function drawRuns(g, track, y) {
	const height = layout.lane - 3;
	const { runs } = track;
	walkLane(runs, view.from, view.to, plot.x, plot.time, (i, x0, x1) => {
		const left = Math.max(x0, LABELS);
		const width = Math.min(x1, layout.width) - left;
		g.globalAlpha = 1;
		g.fillStyle = runnerColour(runners[runs.id[i]]);
		g.fillRect(left, y, Math.max(width - (width > 4 ? 1 : 0), 1), height);
		if (width <= 26) return;
		g.fillStyle = ink.label;
		g.fillText(fitting(g, runners[runs.id[i]].name, width - 8), left + 4, y + height / 2 + 0.5);
	}, (i, j, pixel, share) => {
		g.globalAlpha = 0.3 + 0.7 * Math.min(1, share);
		g.fillStyle = runnerColour(runners[runs.id[leading(runs, i, j)]]);
		if (pixel >= LABELS) g.fillRect(pixel, y, 1, height);
	});
	g.globalAlpha = 1;
}

function drawStates(g, track, y) {
	const { states } = track;
	walkLane(states, view.from, view.to, plot.x, plot.time, (i, x0, x1) => {
		const left = Math.max(x0, LABELS);
		g.fillStyle = stateColour(states.id[i]);
		g.fillRect(left, y, Math.max(Math.min(x1, layout.width) - left, 1), STRIP - 1);
	}, (i, j, pixel) => {
		g.fillStyle = stateColour(states.id[leading(states, i, j)]);
		if (pixel >= LABELS) g.fillRect(pixel, y, 1, STRIP - 1);
	});
}

// ---- Under the pointer ----

// The element of a lane at @x; -1: none.
function elementAt(lane, x) {
	const t = plot.time(x);
	const k = upperBound(lane.end, t);
	return k < lane.size && lane.start[k] <= t ? k : -1;
}

function schedulerTip(track, x, at) {
	if (track.curve) return curveTip(track, x);
	if (track.runs && at >= 0) {
		const k = elementAt(track.runs, x);
		return k < 0 ? null : [element("b", {}, foreign(runners[track.runs.id[k]].name)), " runs on " + track.name + "  " + duration(track.runs.end[k] - track.runs.start[k]),
			element("div", { className: "quiet" }, "from " + moment(track.runs.start[k]))];
	}
	if (!track.states || at < track.height - GAP - 3 - STRIP) return null;
	const k = elementAt(track.states, x);
	return k < 0 ? null : [element("b", {}, foreign(track.name)), " " + STATE_NAMES[track.states.id[k]] + "  " + duration(track.states.end[k] - track.states.start[k]),
		element("div", { className: "quiet" }, "from " + moment(track.states.start[k]))];
}

// ---- The chain of an answer on the time line: what each thread did is framed and numbered, and
// an arrow leads to it from the thread that it waited for.

// The answer whose chain is drawn; -1: none.
let shownAnswer = meta.why.list.length ? 0 : -1;

function isActor(thread, actor) {
	return thread.log === actor.log && (actor.tid > 0 ? thread.tid === actor.tid : thread.id === actor.id);
}

// The track of a thread that why speaks of; undefined: it has none.
function trackOfActor(actor) {
	const thread = meta.threads.find((each) => isActor(each, actor));
	return thread && tracks[thread.track].kind !== "stream" ? tracks[thread.track] : undefined;
}

// Where it stands in the window; a folded one: at the fold.
function placeOfTrack(track) {
	const offset = RULER - view.top;
	return track.hidden ? { top: groups[track.log].foldY + offset, height: FOLD } : { top: track.y + offset, height: track.height - GAP };
}

function drawBadge(g, text, x, y) {
	g.fillStyle = ink.bad;
	g.beginPath();
	g.arc(x, y, 7.5, 0, 2 * Math.PI);
	g.fill();
	g.fillStyle = ink.sheet;
	g.font = "600 " + SMALL;
	g.textAlign = "center";
	g.fillText(text, x, y + 0.5);
	g.textAlign = "left";
	g.font = FONT;
}

function drawFrame(g, link, number) {
	const track = trackOfActor(link);
	if (!track || link.end < view.from || link.begin > view.to) return;
	const { top, height } = placeOfTrack(track);
	const left = Math.round(Math.max(plot.x(link.begin), LABELS + 1));
	const right = Math.round(Math.min(plot.x(link.end), layout.width - 1));
	g.strokeStyle = ink.bad;
	g.lineWidth = 2;
	g.strokeRect(left, top + 1, Math.max(right - left, 2), height - 2);
	drawBadge(g, String(number), Math.max(left, LABELS + 8), top + 8);
}

// From who ended or held up the wait, beside the end of it: there is where it was over.
function drawArrow(g, link, place) {
	const to = trackOfActor(link);
	const from = link.by && trackOfActor(link.by);
	const x = plot.x(link.end);
	if (!to || !from || to === from || x < LABELS || x > layout.width) return;
	const [a, b] = [from, to].map(placeOfTrack);
	const start = a.top + a.height / 2;
	const end = b.top + (a.top > b.top ? b.height - 1 : 1);
	const bow = Math.min(x + 14 + 8 * place, layout.width - 6);
	const way = end > start ? 1 : -1;
	g.strokeStyle = g.fillStyle = ink.bad;
	g.lineWidth = 2;
	g.beginPath();
	g.moveTo(x, start);
	g.bezierCurveTo(bow, start, bow, end - way * 16, x + 3, end);
	g.stroke();
	g.beginPath();
	g.arc(x, start, 3, 0, 2 * Math.PI);
	g.fill();
	g.beginPath();
	g.moveTo(x, end + way);
	g.lineTo(x + 9, end - way * 5);
	g.lineTo(x + 3, end - way * 9);
	g.fill();
}

function drawChain(g) {
	if (shownAnswer < 0) return;
	const { chain } = meta.why.list[shownAnswer];
	chain.forEach((link, k) => drawFrame(g, link, k + 1));
	chain.forEach((link, k) => drawArrow(g, link, k));
}

// The same in words, below the sentence; of one link the sentence says all.
function chainRows(answer) {
	if (answer.chain.length < 2) return null;
	return element("ol", { className: "chain" }, answer.chain.map((link) => element("li", {}, element("b", {}, foreign(link.thread)), " ", foreign(link.text))));
}

// ---- Curves: numeric fields that were asked for (--counter), each in a track of its own ----
//
// A field keeps its value until the next event of that type.

// The tracks of a log's curves, below its CPUs.
function makeCurves(index) {
	meta.types.forEach((type, number) => {
		if (type.log !== index) return;
		for (const place of type.counters || []) {
			const field = type.fields[place];
			tracks.push({ kind: "curve", log: index, type: number, field, name: field[0] + " of " + type.name, hint: "a field of an event", events: 0 });
		}
	});
}

// Once events are there: the values of each curve, in the order of time.
function readCurves() {
	for (const track of tracks.filter((each) => each.kind === "curve")) {
		const times = [];
		const values = [];
		for (let i = 0; i < events.n; i++) {
			if (events.type[i] !== track.type) continue;
			const value = Number(fieldValue(i, track.field));
			if (!Number.isFinite(value)) continue;
			times.push(events.time[i]);
			values.push(value);
		}
		track.curve = { times: Float64Array.from(times), values: Float64Array.from(values), low: 0, high: 0 };
		for (const value of values) {
			track.curve.low = Math.min(track.curve.low, value);
			track.curve.high = Math.max(track.curve.high, value);
		}
		track.events = values.length;
	}
}

function curveText(track, value) {
	return fieldHint(track.field[0], value, track.field[1]) || String(value);
}

// As many points as there are pixels: where several events share one, all that lies between their values.
function drawCurve(g, track, top) {
	const { times, values, low, high } = track.curve;
	const height = track.height - GAP - 6;
	const level = (value) => top + height - (value - low) / (high - low || 1) * (height - 1);
	const first = upperBound(times, view.from) - 1;
	let last = first >= 0 ? values[first] : NaN;
	let x = LABELS;
	const hold = (to) => {
		if (isNaN(last) || to <= x) return;
		g.globalAlpha = 0.18;
		g.fillRect(x, Math.min(level(last), level(0)), to - x, Math.abs(level(0) - level(last)));
		g.globalAlpha = 1;
		g.fillRect(x, level(last) - 1, to - x, 2);
	};
	g.fillStyle = ink.accent;
	walkPoints(times, view.from, view.to, plot.x, plot.time, (i, j, pixel) => {
		if (pixel < LABELS) return void (last = values[j - 1]);
		hold(pixel);
		let least = isNaN(last) ? values[i] : last;
		let most = least;
		for (let k = i; k < j; k++) { least = Math.min(least, values[k]); most = Math.max(most, values[k]); }
		g.fillRect(pixel, level(most) - 1, 1.5, level(least) - level(most) + 2);
		last = values[j - 1];
		x = pixel;
	});
	hold(Math.min(plot.x(Number(meta.shownTo)), layout.width));
	g.font = SMALL;
	g.fillStyle = ink.soft;
	g.fillText(curveText(track, high), LABELS + 4, top + 5);
	if (low < 0) g.fillText(curveText(track, low), LABELS + 4, top + height - 5);
	g.font = FONT;
}

// What it is at @x.
function curveTip(track, x) {
	const k = upperBound(track.curve.times, plot.time(x)) - 1;
	return k < 0 ? null : [element("b", {}, foreign(track.name)), "  " + curveText(track, track.curve.values[k]),
		element("div", { className: "quiet" }, "since " + moment(track.curve.times[k]))];
}
