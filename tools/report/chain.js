// SPDX-License-Identifier: MIT
// chain.js - the chain of an answer on the time line: what each thread did is framed and numbered, and
// an arrow leads to it from whoever it waited for.

// The answer whose chain is drawn; -1: none.
let shownAnswer = meta.why.list.length ? 0 : -1;

// The track of a thread that why speaks of; undefined: it has none.
function trackOfActor(actor) {
	const thread = meta.threads.find((each) => each.log === actor.log && (actor.tid > 0 ? each.tid === actor.tid : each.id === actor.id));
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
