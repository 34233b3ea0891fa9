// SPDX-License-Identifier: MIT
// base.js - small things that all other files use: elements, numbers and times as text.

const $ = (id) => document.getElementById(id);

// Children are elements or text; text becomes a text node and can be nothing else.
function element(tag, properties, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(properties || {})) {
		if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
		else if (name === "className" || name === "textContent" || name === "hidden") node[name] = value;
		else if (value !== undefined && value !== false) node.setAttribute(name, value);
	}
	for (const child of children.flat(Infinity)) {
		if (child !== null && child !== undefined && child !== "")
			node.append(typeof child === "object" ? child : document.createTextNode(String(child)));
	}
	return node;
}

// What moves, hides or turns the text around it is shown by its number; the writer does the same
// with names, in C, before they come here.
const harmful = /[\\\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{10ffff}]/gu;
function visible(text) {
	return text.replace(harmful, (c) => c === "\\" ? "\\\\" : c === "\n" ? "\\n" : c === "\t" ? "\\t" : c === "\r" ? "\\r"
		: c.codePointAt(0) < 256 ? "\\x" + c.codePointAt(0).toString(16).padStart(2, "0")
		: "\\u{" + c.codePointAt(0).toString(16) + "}");
}

// Text from a log, kept apart from its surroundings also where it runs from right to left.
function foreign(text) {
	return element("bdi", { className: "text" }, text);
}

// ---- Numbers ----

const grouped = new Intl.NumberFormat("en-US");
function count(value) {
	return typeof value === "string" ? BigInt(value).toLocaleString("en-US") : grouped.format(value);
}

function plural(value, one, many) {
	return count(value) + " " + (Number(value) === 1 ? one : many || one + "s");
}

function rate(value) {
	if (!isFinite(value)) return "–";
	return value >= 100 ? count(Math.round(value)) : value >= 1 ? value.toFixed(1) : value.toPrecision(2);
}

function percent(share) {
	if (!isFinite(share)) return "–";
	return share > 0 && share < 0.0005 ? "< 0.1 %" : (100 * share).toFixed(1) + " %";
}

function bytes(value) {
	if (value < 10000) return count(value) + " B";
	const units = ["KiB", "MiB", "GiB", "TiB"];
	let unit = -1;
	while (value >= 1024 && unit < 3) { value /= 1024; unit++; }
	return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0) + " " + units[unit];
}

// ---- Times: all in nanoseconds since the start of the earliest log ----

function duration(ns) {
	const size = Math.abs(ns);
	const sign = ns < 0 ? "−" : "";
	if (size < 1000) return sign + (Number.isInteger(size) ? size : size.toPrecision(3)) + " ns";
	let value = size / 1000;
	let unit = 0;
	// 999.5 would be rounded to 1000: on to the next unit before that.
	while (value >= 999.5 && unit < 2) { value /= 1000; unit++; }
	if (unit === 2 && value >= 9999.5) return sign + count(Math.round(value)) + " s";
	return sign + value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + " " + ["µs", "ms", "s"][unit];
}

// Seconds with as many places as a step of @step needs, in groups of three.
function moment(ns, step) {
	const places = step === undefined ? 9 : Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)) - 1e-9)));
	const rounded = places === 9 ? Math.round(ns) : Math.round(ns / 10 ** (9 - places)) * 10 ** (9 - places);
	const sign = rounded < 0 ? "−" : "";
	const size = Math.abs(rounded);
	const whole = Math.floor(size / 1e9);
	if (places === 0) return sign + count(whole) + " s";
	const digits = String(size - whole * 1e9).padStart(9, "0").slice(0, places);
	return sign + count(whole) + "." + digits.replace(/(\d{3})(?=\d)/g, "$1\u2009") + " s";
}

function calendar(ns) {
	const all = BigInt(meta.start) + BigInt(Math.round(ns));
	const second = all / 1000000000n;
	const date = new Date(Number(second) * 1000);
	if (isNaN(date)) return "";
	return date.toISOString().slice(0, 19).replace("T", " ") + "." + String(all - second * 1000000000n).padStart(9, "0") + " UTC";
}

const units = { ns: 1, us: 1e3, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9, min: 6e10 };

// "12", "-0.5", "0x1f", "2ms": a number; NaN: it is none.
function number(text) {
	const match = /^(-?(?:0x[0-9a-f]+|\d+\.?\d*(?:e-?\d+)?|\.\d+))(ns|us|µs|μs|ms|s|min)?$/i.exec(text);
	if (!match) return NaN;
	const value = /^-?0x/i.test(match[1]) ? (match[1][0] === "-" ? -1 : 1) * parseInt(match[1].replace("-", ""), 16) : Number(match[1]);
	return value * (match[2] ? units[match[2].toLowerCase()] : 1);
}

// ---- Sorted arrays ----

// The first index in [low, high) whose value is not below (strict: is above) @wanted.
function lowerBound(array, wanted, low = 0, high = array.length) {
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (array[middle] < wanted) low = middle + 1;
		else high = middle;
	}
	return low;
}
function upperBound(array, wanted, low = 0, high = array.length) {
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (array[middle] <= wanted) low = middle + 1;
		else high = middle;
	}
	return low;
}

// The same from a near start: steps double until the answer is passed.
function gallop(array, wanted, low, high = array.length) {
	let step = 1;
	let end = low;
	while (end < high && array[end] < wanted) { low = end + 1; end += step; step *= 2; }
	return lowerBound(array, wanted, low, Math.min(end, high));
}

function announce(text) {
	$("announce").textContent = text;
}

// Calls @work once, after the events at hand, however often it is asked for.
function soon(work) {
	let asked = false;
	return () => {
		if (asked) return;
		asked = true;
		requestAnimationFrame(() => { asked = false; work(); });
	};
}
