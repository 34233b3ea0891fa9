// SPDX-License-Identifier: MIT
// moving.js - the overview above the tracks, what is under the pointer, and how it and the wheel move the time line.

// ---- The overview ----

const OVERVIEW = 44;
let density = null; // events by pixel, of the whole run

function countDensity(width) {
	density = new Float64Array(width);
	const perPixel = (whole.to - whole.from) / width;
	let low = 0;
	for (let x = 0; x < width; x++) {
		const high = lowerBound(events.time, whole.from + (x + 1) * perPixel, low);
		density[x] = high - low;
		low = high;
	}
}

function drawOverview() {
	const width = Math.floor(overview.clientWidth);
	const g = open(overview, width, OVERVIEW);
	if (!g) return;
	if (!density || density.length !== width) countDensity(width);
	const x = (t) => (t - whole.from) / (whole.to - whole.from) * width;
	let most = 1;
	for (const value of density) most = Math.max(most, value);
	g.fillStyle = ink.stripe;
	g.fillRect(0, 0, width, OVERVIEW);
	g.fillStyle = ink.mark;
	g.globalAlpha = 0.75;
	density.forEach((value, at) => {
		const height = value ? Math.max(2, Math.sqrt(value / most) * (OVERVIEW - 10)) : 0;
		g.fillRect(at, OVERVIEW - height, 1, height);
	});
	g.globalAlpha = 1;
	if (meta.shown < meta.events) {
		g.fillStyle = hatch(g, ink.faint, 9);
		g.fillRect(x(Number(meta.shownTo)), 0, width, OVERVIEW);
	}
	g.fillStyle = ink.hit;
	if (marks.times) walkPoints(marks.times, whole.from, whole.to, x, (at) => whole.from + at / width * (whole.to - whole.from), (i, j, at) => g.fillRect(at, 0, 2, 7));
	let last = -1;
	for (const loss of losses) {
		const at = Math.round(x(loss.from));
		if (at === last) continue;
		last = at;
		g.fillStyle = ink.bad;
		g.fillRect(at, 0, Math.max(2, x(loss.to) - at), OVERVIEW);
	}
	const left = x(view.from);
	const right = Math.max(x(view.to), left + 3);
	g.globalAlpha = 0.62;
	g.fillStyle = ink.paper;
	g.fillRect(0, 0, left, OVERVIEW);
	g.fillRect(right, 0, width - right, OVERVIEW);
	g.globalAlpha = 1;
	g.strokeStyle = ink.accent;
	g.lineWidth = 2;
	g.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), OVERVIEW - 2);
	if (overviewDrag && overviewDrag.to !== undefined) {
		g.globalAlpha = 0.25;
		g.fillStyle = ink.accent;
		g.fillRect(Math.min(overviewDrag.from, overviewDrag.to), 0, Math.abs(overviewDrag.to - overviewDrag.from), OVERVIEW);
		g.globalAlpha = 1;
	}
}
const redrawOverview = soon(drawOverview);

// Dragging chooses a part, a click goes there.
let overviewDrag = null;
overview.addEventListener("pointerdown", (event) => {
	overview.setPointerCapture(event.pointerId);
	overviewDrag = { from: event.offsetX };
});
overview.addEventListener("pointermove", (event) => {
	if (!overviewDrag) return;
	overviewDrag.to = event.offsetX;
	redrawOverview();
});
overview.addEventListener("pointerup", (event) => {
	const drag = overviewDrag;
	overviewDrag = null;
	if (!drag) return;
	const at = (x) => whole.from + x / overview.clientWidth * (whole.to - whole.from);
	if (Math.abs(event.offsetX - drag.from) > 4) {
		show(at(Math.min(drag.from, event.offsetX)), at(Math.max(drag.from, event.offsetX)), true);
	} else {
		const half = (view.to - view.from) / 2;
		show(at(event.offsetX) - half, at(event.offsetX) + half, true);
	}
});
overview.addEventListener("pointercancel", () => { overviewDrag = null; redrawOverview(); });

// ---- What is under the pointer ----

// The nearest of @times that is not farther than @distance; -1: none.
function nearestTime(times, x, distance) {
	let best = -1;
	const k = lowerBound(times, plot.time(x));
	for (const each of [k - 1, k]) {
		if (each < 0 || each >= times.length) continue;
		const gap = Math.abs(plot.x(times[each]) - x);
		if (gap < distance) { distance = gap; best = each; }
	}
	return best;
}

// What speaks of trouble is drawn larger, and over its neighbours.
function nearestPoint(track, x) {
	const alarm = nearestTime(track.alarms, x, 5);
	if (alarm >= 0) return track.alarmPoints[alarm];
	const point = nearestTime(track.pointTimes, x, 6);
	return point >= 0 ? track.points[point] : -1;
}

function nearestSpan(lane, x) {
	let best = -1;
	let distance = 3;
	const k = lowerBound(lane.start, plot.time(x));
	for (const each of [k - 1, k]) {
		if (each < 0 || each >= lane.size) continue;
		const gap = Math.max(plot.x(lane.start[each]) - x, x - plot.x(lane.end[each]), 0);
		if (gap < distance) { distance = gap; best = lane.id[each]; }
	}
	return best;
}

// Where two marks are close together, the one that the pointer is on, not the first of them.
function nearestLoss(x) {
	let best = -1;
	let distance = 4.5;
	losses.forEach((each, i) => {
		const gap = Math.max(plot.x(each.from) - x, x - plot.x(each.to), 0);
		if (gap < distance) { distance = gap; best = i; }
	});
	return best;
}

function thingAt(x, y) {
	const t = trackAt(y);
	if (x < LABELS) return null;
	if (t >= 0) {
		const track = tracks[t];
		const at = y - RULER + view.top - track.y - 3;
		if (at < track.pointsHeight) {
			const event = nearestPoint(track, x);
			if (event >= 0) return { event };
		}
		const flushLane = track.flushes && track.flushes.size > 0 ? 1 : 0;
		const lane = Math.floor((at - track.pointsHeight) / layout.lane) - flushLane;
		if (lane >= 0 && lane < track.lanes.length) {
			const span = nearestSpan(track.lanes[lane], x);
			if (span >= 0) return { span };
		}
	}
	const loss = nearestLoss(x);
	return loss >= 0 ? { loss } : null;
}

function tipText(thing) {
	if (thing.loss !== undefined) {
		const loss = losses[thing.loss];
		return [element("b", {}, plural(loss.count, "event") + " lost"), element("div", { className: "quiet" }, loss.untold ? "somewhere in the log, or behind its last event" : "between " + moment(loss.from) + " and " + moment(loss.to))];
	}
	const i = thing.span !== undefined ? spans.begin[thing.span] : thing.event;
	const name = thing.span !== undefined ? kinds[spans.kind[thing.span]].name : meta.types[events.type[i]].name;
	const lines = [element("b", {}, foreign(name)), thing.span !== undefined ? "  " + duration(spans.time[thing.span]) : ""];
	const fields = fieldsOf(i).slice(0, 4).map(([field, value]) => (field ? field + "=" : "") + value).join("  ");
	return [...lines, fields && element("div", {}, foreign(fields.slice(0, 160))), element("div", { className: "quiet" }, foreign(tracks[trackOfEvent(i)].name), " at " + moment(events.time[i]))];
}

// CPUs, curves and states of threads are shown, but there is nothing to select.
function schedulerAt(x, y) {
	const t = x < LABELS ? -1 : trackAt(y);
	return t < 0 ? null : schedulerTip(tracks[t], x, y - RULER + view.top - tracks[t].y - 3);
}

function showTip() {
	const off = pointer.drag || pointer.x < 0;
	const thing = off ? null : thingAt(pointer.x, pointer.y);
	const lines = thing ? tipText(thing) : off ? null : schedulerAt(pointer.x, pointer.y);
	tip.hidden = !lines;
	canvas.style.cursor = thing || !off && foldAt(pointer.y) ? "pointer" : pointer.y < RULER && pointer.y >= 0 ? "crosshair" : "default";
	if (!lines) return;
	tip.replaceChildren(...lines.filter(Boolean));
	const left = pointer.x + 14 + tip.offsetWidth > layout.width ? pointer.x - tip.offsetWidth - 10 : pointer.x + 14;
	const top = pointer.y + 18 + tip.offsetHeight > layout.height ? pointer.y - tip.offsetHeight - 8 : pointer.y + 18;
	tip.style.left = Math.max(left, 4) + "px";
	tip.style.top = Math.max(top, 4) + "px";
}

// ---- Pointer and wheel ----

// On the ruler or with Shift a drag chooses a part of the time, elsewhere it moves the window.
canvas.addEventListener("pointerdown", (event) => {
	if (event.button !== 0) return;
	canvas.focus({ preventScroll: true });
	canvas.setPointerCapture(event.pointerId);
	const choosing = event.shiftKey || event.offsetY < RULER;
	pointer.drag = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, top: view.top, choosing, ruler: event.offsetY < RULER, moved: false };
	tip.hidden = true;
});
canvas.addEventListener("pointermove", (event) => {
	pointer.x = event.offsetX;
	pointer.y = event.offsetY;
	const { drag } = pointer;
	if (!drag) { showTip(); return redraw(); }
	if (Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 3) drag.moved = true;
	if (!drag.moved) return;
	if (drag.choosing) {
		view.measure = [plot.time(Math.max(drag.x, LABELS)), plot.time(Math.min(Math.max(event.offsetX, LABELS), layout.width))];
		return redraw();
	}
	canvas.style.cursor = "grabbing";
	const by = (drag.x - event.offsetX) / (layout.width - LABELS) * (drag.to - drag.from);
	view.top = Math.min(Math.max(drag.top + drag.y - event.offsetY, 0), maxTop());
	scroller.scrollTop = view.top;
	show(drag.from + by, drag.to + by);
});
canvas.addEventListener("pointerup", (event) => {
	const { drag } = pointer;
	pointer.drag = null;
	canvas.style.cursor = "default";
	if (!drag) return;
	if (!drag.moved) {
		view.measure = null;
		const group = foldAt(event.offsetY);
		if (group) return unfold(group, !group.unfolded);
		const thing = thingAt(event.offsetX, event.offsetY);
		if (thing || view.selected) select(thing);
		return redraw();
	}
	// A part that was chosen on the ruler is what one wants to see; with Shift it is measured.
	if (drag.ruler) zoomToMeasure();
});
canvas.addEventListener("pointercancel", () => { pointer.drag = null; });
canvas.addEventListener("pointerleave", () => { pointer.x = -1; tip.hidden = true; redraw(); });
canvas.addEventListener("dblclick", (event) => {
	const thing = thingAt(event.offsetX, event.offsetY);
	if (thing) select(thing, "zoom");
	else zoom(0.4, plot.time(event.offsetX));
});

function zoomToMeasure() {
	if (!view.measure) return;
	const [from, to] = view.measure;
	view.measure = null;
	show(Math.min(from, to), Math.max(from, to), true);
}

canvas.addEventListener("wheel", (event) => {
	const lines = event.deltaMode === 1 ? 33 : 1;
	event.preventDefault();
	tip.hidden = true;
	if (event.offsetX < LABELS && !event.ctrlKey) return scrollTo(view.top + event.deltaY * lines);
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		return pan((event.deltaX || event.deltaY) * lines / (layout.width - LABELS));
	zoom(Math.exp(Math.min(Math.max(event.deltaY * lines, -400), 400) * 0.0016), plot.time(event.offsetX));
}, { passive: false });

// ---- Showing where one is ----

function showRange() {
	const step = (view.to - view.from) / 1000;
	// The margins around the whole are no part of it.
	const from = Math.max(view.from, whole.from + whole.rim);
	const to = Math.max(from, Math.min(view.to, whole.to - whole.rim));
	$("range").replaceChildren(moment(from, step), " to ", moment(to, step), ": ", element("b", {}, duration(to - from)));
	$("back").disabled = before.length === 0;
	$("fit").disabled = view.from <= whole.from && view.to >= whole.to;
}

// Scrolls so that a track is in the window: the selected thing's.
function revealTrack() {
	if (!view.selected || view.selected.loss !== undefined) return;
	bringTrack(tracks[trackOfEvent(view.selected.span !== undefined ? spans.begin[view.selected.span] : view.selected.event)]);
}
function bringTrack(track) {
	if (track.hidden) unfold(groups[track.log], true);
	const room = layout.height - RULER;
	if (track.y < view.top) scrollTo(track.y - 4);
	else if (track.y + Math.min(track.height, room) > view.top + room) scrollTo(track.y + Math.min(track.height, room) - room + 8);
}

on("view", () => { redraw(); redrawOverview(); showRange(); keepAddress(); });
on("selected", () => { revealTrack(); redraw(); keepAddress(); });
