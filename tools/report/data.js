// SPDX-License-Identifier: MIT
// data.js - the page's data: metadata as JSON, events and spans from their chunks (report.h tells how
// they are written), and what drawing needs: tracks of lanes, sorted, so that it can search them.

const meta = JSON.parse($("meta").textContent);

// Events by number, in the order of time; spans by number, in the order of their ends.
const events = { n: meta.shown };
const spans = { n: meta.spans };
// One for each log's stream, each CPU, each thread, and each process of others, in the order of the page.
const tracks = [];
const groups = [];

// ---- Chunks ----

function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const raw = atob(text);
	const result = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++) result[i] = raw.charCodeAt(i);
	return result;
}

// Numbers of 7 bits a byte into @to from @at on; products, where shifts would lose bits 32 and up.
function numbers(column, amount, to, at) {
	const { data, same } = column;
	let p = 0;
	for (let i = 0; i < amount; i++) {
		if (same) p = 0;
		let byte = data[p++];
		let value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = data[p++];
			value += (byte & 127) * scale;
		}
		to[at + i] = value;
		if (same) return void to.fill(value, at, at + amount);
	}
}

// The data of a chunk's events: see report.h, column 6.
function payloads(column, amount, at, to, before) {
	const { data } = column;
	let p = 0;
	let start = to;
	for (let i = at; i < at + amount; i++) {
		const last = before[events.type[i]];
		const kept = Math.min(events.bytes[i], meta.keep);
		for (let k = 0; k < kept; k += 8) {
			let mask = data[p++];
			for (let j = k; mask; j++, mask >>= 1) {
				if (mask & 1) last[j] ^= data[p++];
			}
		}
		for (let k = 0; k < kept; k++) events.data[start + k] = last[k];
		last.fill(0, kept);
		start += kept;
		events.offset[i + 1] = start;
	}
	return start;
}

function readChunks() {
	const n = events.n;
	const wide = (many) => many > 65535 ? Uint32Array : Uint16Array;
	events.time = new Float64Array(n);
	events.type = new (wide(meta.types.length))(n);
	events.thread = new (wide(meta.threads.length))(n);
	events.cpu = new Uint16Array(n);
	events.cut = new Uint8Array(n);
	events.bytes = new Uint16Array(n);
	events.offset = new Uint32Array(n + 1);
	events.data = new Uint8Array(meta.dataBytes);
	spans.end = new Uint32Array(spans.n);
	spans.begin = new Uint32Array(spans.n);
	spans.pair = new (wide(meta.pairs.length))(spans.n);
	const before = meta.types.map(() => new Uint8Array(meta.keep));
	let at = 0;
	let spanAt = 0;
	let dataAt = 0;
	let time = Number(meta.base);
	let lastEnd = 0;
	for (const node of document.querySelectorAll("script.chunk")) {
		const raw = fromBase64(node.textContent);
		node.remove();
		const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
		const amount = view.getUint32(0, true);
		const spanAmount = view.getUint32(4, true);
		const columns = [];
		for (let p = 16; columns.length < 10;) {
			const length = view.getUint32(p, true);
			columns.push({ data: raw.subarray(p + 4, p + 4 + (length & 0x7fffffff)), same: length > 0x7fffffff });
			p += 4 + (length & 0x7fffffff);
		}
		[events.time, events.type, events.thread, events.cpu, events.cut, events.bytes].forEach((to, i) => numbers(columns[i], amount, to, at));
		for (let i = at; i < at + amount; i++) time = events.time[i] += time;
		dataAt = payloads(columns[6], amount, at, dataAt, before);
		[spans.end, spans.begin, spans.pair].forEach((to, i) => numbers(columns[7 + i], spanAmount, to, spanAt));
		for (let i = spanAt; i < spanAt + spanAmount; i++) {
			lastEnd = spans.end[i] += lastEnd;
			spans.begin[i] = lastEnd - spans.begin[i];
		}
		at += amount;
		spanAt += spanAmount;
	}
	events.view = new DataView(events.data.buffer);
}

// ---- Names ----

// Pairs of several logs that have the same names are one kind; spans.kind says which.
const kinds = [];

function nameKinds() {
	const byName = new Map();
	const ofNumber = new Uint32Array(meta.pairs.length);
	for (const pair of meta.pairs) {
		const name = pair.family === 99 ? pair.begin + " → " + pair.end
			: pair.family === 2 ? pair.base + " held" : pair.base;
		const key = JSON.stringify([name, pair.begin, pair.end, pair.family]);
		let kind = byName.get(key);
		if (kind === undefined) {
			kind = kinds.length;
			byName.set(key, kind);
			kinds.push({ index: kind, name, begin: pair.begin, end: pair.end, count: 0, open: 0, unopened: 0, cut: 0 });
		}
		for (const part of ["count", "open", "unopened", "cut"]) kinds[kind][part] += Number(pair[part]);
		if (pair.number >= 0) ofNumber[pair.number] = kind;
	}
	// The colour of a kind follows its name's place in the alphabet, not what came first in the log.
	[...kinds].sort((a, b) => a.name < b.name ? -1 : 1).forEach((kind, place) => { kind.colour = place; });
	spans.kind = spans.pair;
	for (let s = 0; s < spans.n; s++) spans.kind[s] = ofNumber[spans.pair[s]];
}

// Names that speak of trouble: such events are drawn in red.
const ALARM = /(^|_)(miss|missed|late|error|fail|failed|failure|overrun|underrun|abort|panic|timeout|drop|dropped)(_|$)/i;
for (const type of meta.types) type.alarm = !type.role && ALARM.test(type.name);

// ---- Tracks ----

// A lane holds spans that do not overlap: sorted by start and, with it, by end.
function newLane(size) {
	return { size, fill: 0, id: new Uint32Array(size), start: new Float64Array(size), end: new Float64Array(size), busy: new Float64Array(size + 1) };
}
function putInLane(lane, id, start, end) {
	const at = lane.fill++;
	lane.id[at] = id;
	lane.start[at] = start;
	lane.end[at] = end;
	lane.busy[at + 1] = lane.busy[at] + (end - start);
}

const LANES_MAX = 60;

// Spans of all threads in the order of their begins go into the first lane that is free.
function layOut() {
	const { time } = events;
	const next = new Int32Array(spans.n);
	events.opens = new Int32Array(events.n).fill(-1);
	events.closes = new Int32Array(events.n).fill(-1);
	spans.lane = new Uint8Array(spans.n);
	spans.time = new Float64Array(spans.n);
	for (let s = spans.n; s-- > 0;) {
		next[s] = events.opens[spans.begin[s]];
		events.opens[spans.begin[s]] = s;
		events.closes[spans.end[s]] = s;
		spans.time[s] = time[spans.end[s]] - time[spans.begin[s]];
	}
	const free = tracks.map(() => []);
	const sizes = tracks.map(() => []);
	const points = new Uint32Array(tracks.length);
	for (let i = 0; i < events.n; i++) {
		const track = trackOfEvent(i);
		if (events.opens[i] < 0 && events.closes[i] < 0) points[track]++;
		for (let s = events.opens[i]; s >= 0; s = next[s]) {
			let lane = 0;
			while (lane < LANES_MAX - 1 && free[track][lane] > time[i]) lane++;
			free[track][lane] = Math.max(time[spans.end[s]], free[track][lane] || 0);
			sizes[track][lane] = (sizes[track][lane] || 0) + 1;
			spans.lane[s] = lane;
		}
	}
	tracks.forEach((track, t) => {
		track.lanes = sizes[t].map(newLane);
		track.points = new Uint32Array(points[t]);
		track.fill = 0;
	});
	for (let i = 0; i < events.n; i++) {
		const track = tracks[trackOfEvent(i)];
		if (events.opens[i] < 0 && events.closes[i] < 0) track.points[track.fill++] = i;
		for (let s = events.opens[i]; s >= 0; s = next[s])
			putInLane(track.lanes[spans.lane[s]], s, time[i], time[spans.end[s]]);
	}
	for (const track of tracks) {
		track.pointTimes = Float64Array.from(track.points, (i) => time[i]);
		track.alarmPoints = track.points.filter((i) => meta.types[events.type[i]].alarm);
		track.alarms = Float64Array.from(track.alarmPoints, (i) => time[i]);
	}
}

// What a stream says of itself is no deed of the thread that caused it.
function trackOfEvent(i) {
	const thread = meta.threads[events.thread[i]];
	return meta.types[events.type[i]].role ? groups[thread.log].first : thread.track;
}

function baseName(path) {
	return path.replace(/^.*\//, "") || path;
}

// Whether a thread is the program's. Where nothing says which processes were traced, all are; the
// library's own thread in a traced process is none of it.
function isOwn(thread) {
	const { own } = meta.logs[thread.log];
	return own.size === 0 || own.has(thread.pid) && !thread.name.startsWith("pxt-helper/");
}

// Whom the scheduler told of beside the program: a track for each process.
function makeOthers(threads) {
	const processes = new Map();
	for (const thread of threads) {
		const key = thread.pid > 0 ? thread.pid : thread.name;
		if (!processes.has(key)) processes.set(key, []);
		processes.get(key).push(thread);
	}
	for (const list of processes.values()) {
		const lead = list.find((thread) => thread.tid === thread.pid) || list[0];
		for (const thread of list) thread.track = tracks.length;
		tracks.push({ kind: "process", log: lead.log, name: lead.name + (list.length > 1 ? " and " + (list.length - 1) + " more" : ""), hint: "process " + lead.pid, events: 0 });
	}
	return processes.size;
}

// Whom the first answer is about, and whom these waited for, by their places in it; -1: others.
function placeInAnswer(thread) {
	const [answer] = meta.why.list;
	return answer ? [answer, ...answer.chain].findIndex((actor) => isActor(thread, actor)) : -1;
}

// The stream of each log comes first, then CPUs that the scheduler told of (sched.js), curves, then the
// program's threads, those of the answer first, in the order of their first events, then other processes.
function makeTracks() {
	const cpus = findCpus();
	for (const log of meta.logs) log.own = new Set(log.programs.map(([pid]) => pid));
	const own = new Uint32Array(meta.threads.length);
	for (let i = 0; i < events.n; i++) if (!meta.types[events.type[i]].role) own[events.thread[i]]++;
	meta.logs.forEach((log, index) => {
		const stream = { kind: "stream", log: index, name: "stream", hint: "starts, stops, flushes, and events without a thread", events: 0 };
		const group = { log, first: tracks.length, unfolded: false };
		tracks.push(stream);
		groups.push(group);
		log.name = baseName(log.path);
		for (const [cpu, switches] of cpus[index])
			tracks.push({ kind: "cpu", log: index, cpu, name: "CPU " + cpu, hint: "who ran, as the scheduler says", switches, events: 0 });
		makeCurves(index);
		const others = [];
		const mine = [];
		for (const [number, thread] of meta.threads.entries()) {
			if (thread.log !== index) continue;
			// A thread that did no more than start or stop the stream needs no track.
			if (thread.known === false || own[number] === 0) {
				thread.track = group.first;
				continue;
			}
			if (!isOwn(thread)) {
				others.push(thread);
				continue;
			}
			mine.push([placeInAnswer(thread), thread]);
		}
		mine.sort(([a], [b]) => (a < 0 ? Infinity : a) - (b < 0 ? Infinity : b) || 0);
		for (const [, thread] of mine) {
			thread.track = tracks.length;
			tracks.push({ kind: "thread", log: index, name: thread.name, hint: "thread " + (thread.id || ""), events: 0 });
		}
		group.others = tracks.length;
		group.processes = makeOthers(others);
		group.end = tracks.length;
	});
	for (let i = 0; i < events.n; i++) tracks[trackOfEvent(i)].events++;
	readCurves();
}

// ---- What happened to the streams ----

// Stops (times without tracing), flushes (as a lane), and all single moments, by log.
function readMoments() {
	const roleOf = meta.types.map((type) => type.role);
	for (const log of meta.logs) { log.moments = []; log.stops = []; log.flushes = []; }
	for (const track of tracks.filter((each) => each.kind === "stream")) {
		const log = meta.logs[track.log];
		let flush = -1;
		let stop = -1;
		for (const i of track.points) {
			const role = roleOf[events.type[i]];
			const t = events.time[i];
			if (role === "start") {
				if (stop >= 0) log.stops.push([stop, t]);
				else if (log.moments.length === 0 && t > log.startAt) log.stops.push([log.startAt, t]);
				stop = -1;
			}
			if (role === "stop") stop = t;
			if (role === "flush_start") flush = t;
			if (role === "flush_stop" && flush >= 0) { log.flushes.push([flush, t]); flush = -1; }
			if (role !== "") log.moments.push(i);
		}
		if (stop >= 0) log.stops.push([stop, Infinity]);
		track.flushes = newLane(log.flushes.length);
		log.flushes.forEach(([from, to], i) => putInLane(track.flushes, i, from, to));
	}
	losses.sort((a, b) => a.from - b.from || a.to - b.to);
}

const losses = meta.logs.flatMap((log, index) => log.losses.map(([from, to, amount, times], i) => ({
	log: index, from: Number(from), to: Number(to), count: amount, times: Number(times),
	// The rest that no event told of stands last, at the log's last event.
	untold: i === log.losses.length - 1 && log.lostUntold !== 0 && from === to,
})));

// ---- Fields of an event ----

const FIELD = { UNSIGNED: 1, SIGNED: 2, HEX: 3, FLOAT: 4, TEXT: 5 };
const utf8 = new TextDecoder("utf-8");

function textAt(from, length) {
	while (length > 0 && events.data[from + length - 1] === 0) length--;
	return utf8.decode(events.data.subarray(from, from + length));
}

// A field of event @i as a number, a BigInt or a text; undefined where the data ends before it.
function fieldValue(i, [, kind, offset, size, trailing]) {
	const from = events.offset[i] + offset;
	const end = events.offset[i + 1];
	if (from + size > end) return undefined;
	const { view } = events;
	if (kind === FIELD.TEXT) return textAt(from, trailing ? end - from : size);
	if (kind === FIELD.FLOAT) return size === 4 ? view.getFloat32(from, meta.little) : view.getFloat64(from, meta.little);
	if (kind === FIELD.SIGNED) {
		return size === 1 ? view.getInt8(from) : size === 2 ? view.getInt16(from, meta.little)
			: size === 4 ? view.getInt32(from, meta.little) : view.getBigInt64(from, meta.little);
	}
	return size === 1 ? view.getUint8(from) : size === 2 ? view.getUint16(from, meta.little)
		: size === 4 ? view.getUint32(from, meta.little) : view.getBigUint64(from, meta.little);
}

function fieldText(value, kind, size) {
	if (value === undefined) return "–";
	if (kind === FIELD.TEXT) return "\"" + visible(value) + "\"";
	if (kind === FIELD.HEX) return "0x" + value.toString(16);
	if (kind === FIELD.FLOAT && size === 4) {
		for (let digits = 6; digits < 9; digits++) {
			if (Math.fround(Number(value.toPrecision(digits))) === value) return String(Number(value.toPrecision(digits)));
		}
		return String(Number(value.toPrecision(9)));
	}
	if (kind === FIELD.FLOAT) return String(value);
	return String(value);
}

// A number whose name ends in a unit also as a duration.
function fieldHint(name, value, kind) {
	const unit = kind === FIELD.TEXT || kind === FIELD.HEX ? null : /_(ns|us|ms)$/.exec(name);
	const ns = unit && Math.abs(Number(value) * units[unit[1]]);
	return unit && ns >= 1000 ? duration(Number(value) * units[unit[1]]) : "";
}

function hexDump(i) {
	const part = events.data.subarray(events.offset[i], events.offset[i + 1]);
	return [...part].map((b) => b.toString(16).padStart(2, "0")).join(" ") + "  |"
		+ [...part].map((b) => b >= 32 && b < 127 ? String.fromCharCode(b) : ".").join("") + "|";
}

// By the upper half of a POSIX_TRACE_ERROR's data; the lower one is an error number.
const FAILURES = ["", "flush failed", "record never completed, passed over", "no more event types", "attach refused"];

// The data that the standard prescribes for its own events, as a few words; "": nothing to say.
function standardText(i) {
	const from = events.offset[i];
	const size = events.offset[i + 1] - from;
	const role = meta.types[events.type[i]].role;
	if (role === "stop" && size === 4) return events.view.getUint32(from, meta.little) === 0 ? "by call" : "by itself: the stream was full";
	if (role === "error" && size === 4) {
		const data = events.view.getUint32(from, meta.little);
		return (FAILURES[data >>> 16] || "failed") + ": error " + (data & 0xffff);
	}
	return "";
}

// [name, text, hint] of each field of event @i; without description what else can be said.
function fieldsOf(i) {
	const type = meta.types[events.type[i]];
	const list = [];
	for (const field of type.fields || []) {
		const value = fieldValue(i, field);
		if (value === undefined) break;
		list.push([field[0], (field[5] && field[5][value]) || fieldText(value, field[1], field[3]), fieldHint(field[0], value, field[1])]);
	}
	if (list.length === 0 && events.bytes[i] > 0) {
		const standard = standardText(i);
		if (standard) list.push(["what", standard, ""]);
		else if (!type.role) list.push(["data", hexDump(i), ""]);
	}
	if (events.bytes[i] > meta.keep) list.push(["", plural(events.bytes[i] - meta.keep, "byte") + " more in the log", ""]);
	if (events.cut[i]) list.push(["", "cut when it was recorded", ""]);
	return list;
}

function load() {
	readChunks();
	makeTracks();
	nameKinds();
	layOut();
	readMoments();
	readStates();
}
