// SPDX-License-Identifier: MIT
// timeline.js - the tracks of threads: where they stand, and how they are drawn.

const stage = $("stage");
const canvas = $("tracks");
const scroller = $("scroller");
const overview = $("overview");
const tip = $("tip");

let LABELS = 168; // pixels for names, at the left: as many as the widest wants, within reason
const BESIDE = 74; // of them for the number behind a name, and what is around both
const AXIS = 26;
const RULER = losses.length ? AXIS + 19 : AXIS; // below the axis a line for the flags of losses
const POINTS = 13;  // of single events, above the lanes
const GAP = 5;
const FOLD = 22;    // the line above other processes
const layout = { width: 0, height: 0, total: 0, lane: 19, ruler: RULER };

const plot = {
	x: (t) => LABELS + (t - view.from) / (view.to - view.from) * (layout.width - LABELS),
	time: (x) => view.from + (x - LABELS) / (layout.width - LABELS) * (view.to - view.from),
};

function placeLabels() {
	const g = canvas.getContext("2d");
	g.font = FONT;
	const widest = Math.max(0, ...tracks.map((track) => track.hidden ? 0 : widthOf(g, track.name)));
	LABELS = Math.round(Math.min(Math.max(168, widest + BESIDE + 1), Math.max(168, stage.clientWidth * 0.3)));
}

// Lanes are as high as is pleasant where there are few of them.
function placeTracks() {
	for (layout.lane = 27; layout.lane > 19; layout.lane -= 2) {
		placeAll();
		if (layout.total + RULER < 400) return;
	}
	placeAll();
}

function placeAll() {
	let y = 0;
	for (const [g, group] of groups.entries()) {
		if (groups.length > 1) { group.y = y; y += 22; }
		for (let t = group.first; t < group.end; t++) {
			const track = tracks[t];
			if (t === group.others) { group.foldY = y; y += FOLD; }
			track.y = y;
			track.hidden = t >= group.others && !group.unfolded;
			if (track.hidden) { track.height = track.pointsHeight = 0; continue; }
			track.pointsHeight = track.points.length > 0 || track.lanes.length === 0 && !track.runs && !track.curve ? POINTS : 0;
			const lanes = track.curve ? 2 : track.lanes.length + (track.flushes && track.flushes.size > 0 || track.runs ? 1 : 0);
			track.height = Math.max(track.pointsHeight + lanes * layout.lane, 20) + (track.states ? STRIP : 0) + GAP + 3;
			y += track.height;
		}
		if (g + 1 < groups.length) y += 6;
	}
	layout.total = y;
}

// Few threads: no more room than they need; many: what a screen has.
function sizeStage() {
	const wanted = layout.total + RULER + 6;
	const height = Math.round(Math.min(Math.max(wanted, window.innerWidth > 900 ? 400 : 120), Math.max(320, window.innerHeight * 0.62)));
	stage.style.height = height + "px";
	$("details").style.height = window.innerWidth > 900 ? height + "px" : "";
	layout.width = stage.clientWidth - (wanted > height ? 12 : 0);
	layout.height = height;
	scroller.hidden = wanted <= height;
	$("scroll-height").style.height = layout.total + "px";
	placeLabels();
}

function maxTop() { return Math.max(0, layout.total + RULER + 6 - layout.height); }
function scrollTo(top) {
	view.top = Math.min(Math.max(top, 0), maxTop());
	scroller.scrollTop = view.top;
	redraw();
}
scroller.addEventListener("scroll", () => {
	const top = Math.min(scroller.scrollTop, maxTop());
	if (Math.abs(top - view.top) >= 1) { view.top = top; redraw(); }
});

function trackAt(y) {
	const at = y - RULER + view.top;
	if (y < RULER) return -1;
	return tracks.findIndex((track) => at >= track.y && at < track.y + track.height);
}

// ---- Other processes: folded until somebody wants them ----

function unfold(group, unfolded) {
	group.unfolded = unfolded;
	placeTracks();
	resize();
}
function switchFolds() {
	const any = groups.some((group) => group.unfolded);
	for (const group of groups) group.unfolded = !any;
	placeTracks();
	resize();
}
// The group whose fold is there; undefined: none.
function foldAt(y) {
	const at = y - RULER + view.top;
	return y < RULER ? undefined : groups.find((group) => group.others < group.end && at >= group.foldY && at < group.foldY + FOLD);
}
function showTrack(track) {
	if (track.hidden) unfold(groups[track.log], true);
	scrollTo(track.y - 4);
}

// ---- What is marked: hits of a search, a part of the histogram ----

const marks = { spans: null, points: null, kind: "" };

// @spanMask: one byte a span, or null; @eventMask: one byte an event, or null.
function mark(spanMask, eventMask, kind) {
	marks.spans = spanMask;
	marks.points = eventMask;
	marks.kind = kind;
	for (const track of tracks) {
		track.marked = !spanMask ? null : track.lanes.map((lane) => {
			let size = 0;
			for (let i = 0; i < lane.size; i++) size += spanMask[lane.id[i]];
			const chosen = newLane(size);
			for (let i = 0; i < lane.size; i++) {
				if (spanMask[lane.id[i]]) putInLane(chosen, lane.id[i], lane.start[i], lane.end[i]);
			}
			return chosen;
		});
		track.markedTimes = !eventMask ? null : track.pointTimes.filter((_, k) => eventMask[track.points[k]]);
	}
	redraw();
}

// ---- Drawing ----

function drawSpans(g, lane, y, dim) {
	const height = layout.lane - 3;
	const right = layout.width;
	const spanColour = (i) => colourOf(spans.kind[lane.id[i]]);
	walkLane(lane, view.from, view.to, plot.x, plot.time, (i, x0, x1) => {
		const left = Math.max(x0, LABELS);
		const width = Math.min(x1, right) - left;
		g.globalAlpha = dim ? 0.22 : 1;
		g.fillStyle = spanColour(i);
		g.fillRect(left, y, Math.max(width - (width > 4 ? 1 : 0), 1), height);
		if (width > 26 && !dim) {
			const kind = kinds[spans.kind[lane.id[i]]];
			const time = duration(lane.end[i] - lane.start[i]);
			const name = fitting(g, kind.name, width - 8);
			g.fillStyle = ink.label;
			g.fillText(name, left + 4, y + height / 2 + 0.5);
			const used = widthOf(g, name) + 4;
			if (name === kind.name && width - used - 12 > widthOf(g, time)) {
				g.globalAlpha = 0.62;
				g.fillText(time, left + used + 7, y + height / 2 + 0.5);
			}
		}
	}, (i, j, pixel, share) => {
		g.globalAlpha = (dim ? 0.22 : 1) * (0.3 + 0.7 * Math.min(1, share));
		g.fillStyle = spanColour(leading(lane, i, j));
		g.fillRect(Math.max(pixel, LABELS), y, 1, height);
	});
	g.globalAlpha = 1;
}

// Marked spans on top of the dim others: at least two pixels each, so that none is overlooked.
function drawMarked(g, lane, y) {
	const height = layout.lane - 3;
	const put = (i, x0, x1) => {
		const left = Math.max(x0, LABELS);
		g.fillStyle = colourOf(spans.kind[lane.id[i]]);
		g.fillRect(left, y, Math.max(Math.min(x1, layout.width) - left, 2), height);
		g.fillStyle = ink.hit;
		g.fillRect(left, y + height - 3, Math.max(Math.min(x1, layout.width) - left, 2), 3);
		if (x1 - x0 > 40) {
			g.fillStyle = ink.label;
			g.fillText(fitting(g, kinds[spans.kind[lane.id[i]]].name, Math.min(x1, layout.width) - left - 8), left + 4, y + height / 2 - 1);
		}
	};
	walkLane(lane, view.from, view.to, plot.x, plot.time, put, (i, j, pixel) => put(leading(lane, i, j), pixel, pixel + 2));
}

function diamond(g, x, y, size) {
	g.beginPath();
	g.moveTo(x, y - size - 0.5);
	g.lineTo(x + size, y);
	g.lineTo(x, y + size + 0.5);
	g.lineTo(x - size, y);
	g.fill();
}

// An event with room around it is a diamond; others are bars that grow with the number in a pixel.
function drawPoints(g, track, y) {
	const middle = y + POINTS / 2;
	const dim = marks.spans || marks.points;
	const list = [];
	walkPoints(track.pointTimes, view.from, view.to, plot.x, plot.time, (i, j, pixel) => {
		if (pixel >= LABELS) list.push([i, j - i, pixel]);
	});
	list.forEach(([i, many, pixel], k) => {
		const near = (other) => other !== undefined && Math.abs(other[2] - pixel) < 8;
		g.globalAlpha = dim ? 0.3 : many > 1 ? 0.55 : 0.85;
		g.fillStyle = meta.types[events.type[track.points[i]]].role ? ink.accent : ink.mark;
		if (many === 1 && !near(list[k - 1]) && !near(list[k + 1])) return diamond(g, pixel + 0.5, middle, 3.4);
		const height = Math.min(POINTS - 2, 5 + 2 * Math.log2(many));
		g.fillRect(pixel, middle - height / 2, 1.4, height);
	});
	g.globalAlpha = dim ? 0.4 : 1;
	g.fillStyle = ink.bad;
	walkPoints(track.alarms, view.from, view.to, plot.x, plot.time, (i, j, pixel) => {
		if (pixel >= LABELS) diamond(g, pixel + 0.5, middle, 4.4);
	});
	g.globalAlpha = 1;
	if (!track.markedTimes) return;
	g.fillStyle = ink.hit;
	walkPoints(track.markedTimes, view.from, view.to, plot.x, plot.time, (i, j, pixel) => {
		if (pixel >= LABELS) g.fillRect(pixel - 1, y + 1, 3, POINTS - 2);
	});
}

function drawFlushes(g, track, y) {
	g.fillStyle = ink.accent;
	walkLane(track.flushes, view.from, view.to, plot.x, plot.time, (i, x0, x1) => {
		const left = Math.max(x0, LABELS);
		g.globalAlpha = 0.45;
		g.fillRect(left, y + 3, Math.max(Math.min(x1, layout.width) - left, 1), layout.lane - 9);
		g.globalAlpha = 1;
		if (x1 - x0 > 40) g.fillText("flush", left + 4, y + layout.lane / 2 - 1);
		g.fillStyle = ink.accent;
	}, (i, j, pixel) => {
		g.globalAlpha = 0.6;
		if (pixel >= LABELS) g.fillRect(pixel, y + 3, 1, layout.lane - 9);
	});
	g.globalAlpha = 1;
}

function drawTrack(g, track, top) {
	let y = top + 3;
	if (track.runs) return drawRuns(g, track, y);
	if (track.curve) return drawCurve(g, track, y);
	if (track.states) drawStates(g, track, top + track.height - GAP - STRIP);
	const dim = marks.spans !== null || marks.points !== null;
	drawPoints(g, track, y);
	y += track.pointsHeight;
	if (track.flushes && track.flushes.size > 0) {
		drawFlushes(g, track, y);
		y += layout.lane;
	}
	track.lanes.forEach((lane, l) => {
		if (y + layout.lane > RULER && y < layout.height) {
			drawSpans(g, lane, y, dim);
			if (track.marked) drawMarked(g, track.marked[l], y);
		}
		y += layout.lane;
	});
}

function drawLabel(g, track, top, index) {
	g.fillStyle = index % 2 ? ink.stripe : ink.sheet;
	g.fillRect(0, top, LABELS, track.height);
	g.fillStyle = track.kind === "thread" ? ink.ink : ink.soft;
	const middle = top + Math.min(track.height / 2, 40);
	g.fillText(fitting(g, track.name, LABELS - BESIDE), 14, middle);
	g.font = SMALL;
	g.fillStyle = ink.faint;
	g.textAlign = "right";
	g.fillText(compact(track.runs ? track.switches : track.events), LABELS - 10, middle);
	g.textAlign = "left";
	g.font = FONT;
}

function compact(value) {
	return value < 1000 ? String(value) : value < 999500 ? (value / 1000).toPrecision(3) + " k" : (value / 1e6).toPrecision(3) + " M";
}

// Over all tracks of a log: times without tracing in grey, lost events in red.
function drawBands(g, group, top, bottom) {
	const log = group.log;
	const paint = (from, to, colour, gap, least) => {
		const left = Math.max(plot.x(from), LABELS);
		const right = Math.min(plot.x(to), layout.width);
		if (plot.x(to) < LABELS - least || plot.x(from) > layout.width + least) return;
		g.fillStyle = hatch(g, colour, gap);
		g.fillRect(left, top, Math.max(right - left, least), bottom - top);
	};
	for (const [from, to] of log.stops) if (to >= view.from && from <= view.to) paint(from, Math.min(to, whole.to), ink.stop, 7, 1);
	let last = -Infinity;
	for (const loss of losses) {
		if (meta.logs[loss.log] !== log || loss.to < view.from || loss.from > view.to) continue;
		const left = Math.max(plot.x(loss.from), LABELS);
		const right = Math.max(Math.min(plot.x(loss.to), layout.width), left + 2);
		if (right < last + 1) continue;
		last = right;
		g.globalAlpha = 0.13;
		g.fillStyle = ink.bad;
		g.fillRect(left, top, right - left, bottom - top);
		g.globalAlpha = 0.5;
		paint(loss.from, loss.to, ink.bad, 6, 2);
		g.globalAlpha = 0.9;
		g.fillStyle = ink.bad;
		g.fillRect(left, top, 1, bottom - top);
		g.fillRect(right - 1, top, 1, bottom - top);
		g.globalAlpha = 1;
	}
}

// A flag with the number of lost events, in the ruler, where there is room for it.
function drawLossFlags(g) {
	let free = LABELS;
	g.font = SMALL;
	if (losses.length) {
		g.fillStyle = ink.bad;
		g.fillText("events lost", 14, RULER - 10);
	}
	for (const loss of losses) {
		if (loss.to < view.from || loss.from > view.to) continue;
		const middle = Math.min(Math.max((plot.x(loss.from) + plot.x(loss.to)) / 2, LABELS), layout.width);
		const text = "−" + count(loss.count);
		const width = widthOf(g, text) + 10;
		if (middle < free) continue;
		g.fillStyle = ink.bad;
		if (middle - width / 2 >= free - 1 || middle === LABELS) {
			const left = Math.min(Math.max(middle - width / 2, LABELS), layout.width - width);
			g.beginPath();
			g.roundRect(left, RULER - 18, width, 15, 3);
			g.fill();
			g.fillStyle = ink.sheet;
			g.fillText(text, left + 5, RULER - 10);
			free = left + width + 3;
		} else {
			g.beginPath();
			g.moveTo(middle - 4, RULER - 8);
			g.lineTo(middle + 4, RULER - 8);
			g.lineTo(middle, RULER - 1);
			g.fill();
			free = middle + 5;
		}
	}
	g.font = FONT;
}

// What the page does not hold, behind its last event.
function drawUnshown(g) {
	if (meta.shown >= meta.events) return;
	const left = Math.max(plot.x(Number(meta.shownTo)), LABELS);
	if (left > layout.width) return;
	g.fillStyle = hatch(g, ink.faint, 9);
	g.globalAlpha = 0.5;
	g.fillRect(left, RULER, layout.width - left, layout.height - RULER);
	g.globalAlpha = 1;
	if (layout.width - left > 230) {
		g.fillStyle = ink.soft;
		g.fillText(fitting(g, plural(Number(meta.events) - meta.shown, "event") + " behind here are not on this page", layout.width - left - 16), left + 8, layout.height - 14);
	}
}

function drawSelection(g) {
	const extent = extentOf(view.selected);
	if (!extent || view.selected.loss !== undefined) return;
	const i = view.selected.span !== undefined ? spans.begin[view.selected.span] : view.selected.event;
	const track = tracks[trackOfEvent(i)];
	if (track.hidden) return;
	const x0 = plot.x(extent[0]);
	const x1 = plot.x(extent[1]);
	if (x1 < LABELS || x0 > layout.width) return;
	let y = RULER - view.top + track.y + 3;
	let height = POINTS;
	g.strokeStyle = ink.ink;
	g.lineWidth = 2;
	if (view.selected.span !== undefined) {
		y += track.pointsHeight + (track.flushes && track.flushes.size > 0 ? layout.lane : 0) + spans.lane[view.selected.span] * layout.lane;
		height = layout.lane - 3;
	}
	const left = Math.max(x0, LABELS - 4);
	g.strokeRect(left - 1, y - 1, Math.max(Math.min(x1, layout.width + 4) - left, 3) + 2, height + 2);
	g.globalAlpha = 0.35;
	g.fillStyle = ink.ink;
	for (const x of [x0, x1]) if (x >= LABELS) g.fillRect(Math.round(x), RULER, 1, layout.height);
	g.globalAlpha = 1;
}

const pointer = { x: -1, y: -1, drag: null };

function drawMeasure(g) {
	if (!view.measure) {
		if (pointer.x > LABELS && pointer.y >= 0 && !pointer.drag) {
			g.fillStyle = ink.faint;
			g.globalAlpha = 0.6;
			g.fillRect(Math.round(pointer.x), RULER, 1, layout.height);
			g.globalAlpha = 1;
		}
		return;
	}
	const [from, to] = view.measure;
	const left = Math.max(plot.x(Math.min(from, to)), LABELS);
	const right = Math.min(plot.x(Math.max(from, to)), layout.width);
	if (right < left) return;
	g.globalAlpha = 0.12;
	g.fillStyle = ink.accent;
	g.fillRect(left, RULER, right - left, layout.height);
	g.globalAlpha = 1;
	const text = duration(Math.abs(to - from));
	const width = widthOf(g, text) + 14;
	const at = Math.min(Math.max((left + right) / 2 - width / 2, LABELS), layout.width - width);
	g.fillRect(left, RULER, 1, layout.height);
	g.fillRect(right, RULER, 1, layout.height);
	g.beginPath();
	g.roundRect(at, layout.height - 26, width, 20, 5);
	g.fill();
	g.fillStyle = ink.sheet;
	g.fillText(text, at + 7, layout.height - 16);
}

function drawTracks() {
	canvas.style.width = layout.width + "px";
	canvas.style.height = layout.height + "px";
	const g = open(canvas, layout.width, layout.height);
	if (!g) return;
	g.fillStyle = ink.sheet;
	g.fillRect(0, 0, layout.width, layout.height);
	const offset = RULER - view.top;
	tracks.forEach((track, index) => {
		if (index % 2 === 0 || track.y + offset > layout.height || track.y + track.height + offset < RULER) return;
		g.fillStyle = ink.stripe;
		g.fillRect(0, track.y + offset, layout.width, track.height);
	});
	axis(g, LABELS, layout.width, view.from, view.to, 0, AXIS, layout.height);
	g.save();
	g.beginPath();
	g.rect(0, RULER, layout.width, layout.height - RULER);
	g.clip();
	for (const group of groups) {
		const last = tracks[group.end - 1];
		const top = Math.max((group.y === undefined ? tracks[group.first].y : group.y) + offset, RULER);
		drawBands(g, group, top, Math.min(last.y + last.height + offset, layout.height));
	}
	tracks.forEach((track, index) => {
		const top = track.y + offset;
		if (track.hidden || top > layout.height || top + track.height < RULER) return;
		drawTrack(g, track, top);
		drawLabel(g, track, top, index);
	});
	for (const group of groups) { drawGroup(g, group, offset); drawFold(g, group, offset); }
	drawUnshown(g);
	drawChain(g);
	drawSelection(g);
	drawMeasure(g);
	g.restore();
	g.fillStyle = ink.line;
	g.fillRect(LABELS - 1, 0, 1, layout.height);
	g.fillRect(0, RULER - 1, layout.width, 1);
	drawLossFlags(g);
	describeTracks();
}

// With several logs: a line above each one's tracks, with its name.
function drawGroup(g, group, offset) {
	if (group.y === undefined || group.y + offset > layout.height || group.y + offset + 22 < RULER) return;
	g.fillStyle = ink.paper;
	g.fillRect(0, group.y + offset, layout.width, 22);
	g.fillStyle = ink.ink;
	g.font = "600 " + FONT;
	g.fillText(fitting(g, group.log.name + (group.log.pid > 0 ? "  pid " + group.log.pid : "") + (group.log.host ? "  on " + group.log.host : ""), layout.width - 20), 10, group.y + offset + 11);
	g.font = FONT;
}

function drawFold(g, group, offset) {
	const top = group.foldY + offset;
	if (group.others === group.end || top > layout.height || top + FOLD < RULER) return;
	g.fillStyle = ink.paper;
	g.fillRect(0, top, layout.width, FOLD);
	g.fillStyle = ink.soft;
	g.fillText(fitting(g, (group.unfolded ? "▾ " : "▸ ") + plural(group.processes, "other process", "other processes"), layout.width - 24), 14, top + FOLD / 2);
}

// For those who do not see it: what the window holds, in a sentence.
function describeTracks() {
	const from = lowerBound(events.time, view.from);
	const to = upperBound(events.time, view.to);
	canvas.setAttribute("aria-label", "Time line by thread, " + moment(view.from, (view.to - view.from) / 100) + " to " + moment(view.to, (view.to - view.from) / 100)
		+ ": " + plural(to - from, "event") + ", " + plural(losses.filter((loss) => loss.to >= view.from && loss.from <= view.to).length, "loss", "losses")
		+ ". Arrow keys move, plus and minus zoom, question mark shows all keys.");
}

const redraw = soon(drawTracks);
