// SPDX-License-Identifier: MIT
// curves.js - numeric fields that were asked for (--counter), each as a curve in a track of its own: it keeps
// its value until the next event of that type.

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
