// SPDX-License-Identifier: MIT
// draw.js - colours, canvases, and the two ways in which things in sorted arrays are drawn: one by
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
