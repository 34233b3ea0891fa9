// SPDX-License-Identifier: MIT
// tables.js - the answers of pxtrace why, event types, threads, losses and other moments, and what the logs say of
// themselves.

const ROWS_MAX = 500;

function head(...titles) {
	return element("thead", {}, element("tr", {}, titles.map((title, at) => element("th", { scope: "col", className: at === 0 || title.endsWith(" ") ? "left" : "" }, title.trim()))));
}

// How often, in each of @size parts of the run: by number of @of, for all events.
function overTime(of, amount, size) {
	const bars = Array.from({ length: amount }, () => new Uint32Array(size));
	const scale = size / (whole.to - whole.from);
	for (let i = 0; i < events.n; i++) bars[of(i)][Math.min(size - 1, Math.max(0, Math.floor((events.time[i] - whole.from) * scale)))]++;
	return bars;
}

function course(bars, name) {
	const node = element("canvas", { role: "img", "aria-label": "events over time of " + name });
	node.bars = bars;
	return node;
}
function paintCourse(node) {
	const { bars } = node;
	node.style.width = "160px";
	node.style.height = "18px";
	const g = open(node, 160, 18);
	const most = Math.max(...bars, 1);
	g.fillStyle = ink.accent;
	g.globalAlpha = 0.7;
	bars.forEach((value, k) => { if (value) { const h = Math.max(1.5, value / most * 17); g.fillRect(k * 2, 18 - h, 1.6, h); } });
}

function more(list, columnsWide) {
	return list.length > ROWS_MAX ? element("tr", {}, element("td", { className: "left quiet", colspan: String(columnsWide) }, "and " + count(list.length - ROWS_MAX) + " more")) : null;
}

// ---- Types and threads ----

function showTypes() {
	const seconds = (Number(meta.last) - Number(meta.first)) / 1e9;
	const bars = overTime((i) => events.type[i], meta.types.length, 80);
	const list = meta.types.map((type, number) => ({ type, number })).sort((a, b) => Number(b.type.count) - Number(a.type.count));
	$("types-note").textContent = meta.shown < meta.events ? "counts of the whole run; the course of the " + count(meta.shown) + " events on this page" : "";
	$("types-table").replaceChildren(head("event", "count", "share", "per second", "data", "over time ", "fields "),
		element("tbody", {}, list.slice(0, ROWS_MAX).map(({ type, number }) => element("tr", {},
			element("td", { className: "left name" }, element("button", { type: "button", className: "link", title: "find these events", onclick: () => search("event=\"" + type.name + "\"") }, foreign(type.name)), groups.length > 1 ? [" ", element("span", { className: "quiet" }, foreign(meta.logs[type.log].name))] : ""),
			element("td", {}, count(type.count)),
			element("td", {}, percent(Number(type.count) / Number(meta.events))),
			element("td", {}, seconds > 0 ? rate(Number(type.count) / seconds) : "–"),
			element("td", {}, bytes(Number(type.bytes))),
			element("td", { className: "left" }, course(bars[number], type.name)),
			element("td", { className: "left quiet" }, foreign((type.fields || []).map((field) => field[0]).join(", "))))), more(list, 7)));
	$("types-table").querySelectorAll("canvas").forEach(paintCourse);
}

function showThreads() {
	const seconds = (Number(meta.last) - Number(meta.first)) / 1e9;
	const bars = overTime((i) => events.thread[i], meta.threads.length, 80);
	const list = meta.threads.map((thread, number) => ({ thread, number, track: tracks[thread.track] })).sort((a, b) => isOwn(b.thread) - isOwn(a.thread) || Number(b.thread.count) - Number(a.thread.count));
	$("threads-table").replaceChildren(head("thread", "events", "per second", "spans", "in spans", "share of the run", "over time ", "log "),
		element("tbody", {}, list.slice(0, ROWS_MAX).map(({ thread, number, track }) => {
			const busy = track.kind === "thread" && track.lanes.length ? track.lanes[0].busy[track.lanes[0].size] : 0;
			return element("tr", {},
				element("td", { className: "left name", title: thread.id || "" }, element("button", { type: "button", className: "link", title: "show its track", onclick: () => { showTrack(track); $("timeline").scrollIntoView({ block: "nearest" }); } }, foreign(thread.known === false ? "(no thread)" : thread.name))),
				element("td", {}, count(thread.count)),
				element("td", {}, seconds > 0 ? rate(Number(thread.count) / seconds) : "–"),
				element("td", {}, track.kind === "thread" ? count(track.lanes.reduce((sum, lane) => sum + lane.size, 0)) : "–"),
				element("td", {}, busy > 0 ? duration(busy) : "–"),
				element("td", {}, busy > 0 ? percent(busy / (Number(meta.last) - Number(meta.first))) : "–"),
				element("td", { className: "left" }, course(bars[number], thread.name)),
				element("td", { className: "left quiet" }, foreign(meta.logs[thread.log].name)));
		}), more(list, 8)));
	$("threads-table").querySelectorAll("canvas").forEach(paintCourse);
}

// ---- Losses, stops, flushes ----

function showMoments() {
	const others = meta.logs.flatMap((log, index) => log.moments.map((i) => ({ t: events.time[i], log: index, event: i }))).sort((a, b) => a.t - b.t);
	const list = [...losses.map((loss, l) => ({ t: loss.to, log: loss.log, loss: l })), ...others];
	$("moments-note").textContent = plural(losses.length, "loss", "losses") + ", " + plural(others.length, "other moment");
	$("moments-table").replaceChildren(head("time", "what ", "detail ", "log "),
		element("tbody", {}, list.slice(0, ROWS_MAX).map((each) => element("tr", { className: each.loss !== undefined ? "lost" : "" },
			element("td", { className: "left" }, linkTo(each.loss !== undefined ? { loss: each.loss } : { event: each.event }, "bring", moment(each.t))),
			each.loss !== undefined ? element("td", { className: "left" }, element("span", { className: "swatch hatch" }), element("b", {}, plural(losses[each.loss].count, "event") + " lost"))
				: element("td", { className: "left" }, foreign(meta.types[events.type[each.event]].name)),
			element("td", { className: "left quiet" }, each.loss !== undefined ? (losses[each.loss].untold ? "no event tells where" : losses[each.loss].to > losses[each.loss].from ? "within " + duration(losses[each.loss].to - losses[each.loss].from) : "")
				: foreign(fieldsOf(each.event).map(([, value]) => value).join("  "))),
			element("td", { className: "left quiet" }, foreign(meta.logs[each.log].name)))), more(list, 4)));
	if (list.length === 0) $("moments-table").replaceChildren(element("tbody", {}, element("tr", {}, element("td", { className: "left quiet" }, "None: nothing was lost, and the page holds no start, stop or flush."))));
}

// ---- The logs ----

function law(log) {
	if (!log.complete) return element("p", { className: "law quiet" }, "The log is incomplete: its counts were never written.");
	if (log.note) return element("p", { className: "law no" }, log.note);
	const holds = BigInt(log.written) === BigInt(log.retrieved) + BigInt(log.lost) + BigInt(log.cleared) + BigInt(log.held);
	return element("p", { className: "law" }, element("b", {}, count(log.written)), " written = ", element("b", {}, count(log.retrieved)), " to the log + ", element("b", {}, count(log.lost)), " lost + ",
		element("b", {}, count(log.cleared)), " cleared + ", element("b", {}, count(log.held)), " held  ", element("span", { className: holds ? "ok" : "no" }, holds ? "✓ they add up" : "✗ these numbers do not add up"),
		BigInt(log.lostAll) > 0n ? element("b", { className: "no" }, "  " + plural(BigInt(log.lostAll), "event") + " lost") : "");
}

function aboutLog(log) {
	const start = Number(BigInt(log.start) - BigInt(meta.start));
	return element("article", {}, element("h3", {}, foreign(log.path)), law(log), element("div", { className: "facts-columns" },
		facts([
			["program", foreign([...new Set(programsOf(log))].join(", ") || "not known")], ["pid", log.programs.length ? log.programs.slice(0, 20).map(([pid]) => pid).join(", ") : String(log.pid)], ["host", foreign(log.host || "not known")],
			["system", foreign(log.system || "not known")], ["CPUs", log.cpus ? count(log.cpus) : "not known"],
			["word size", log.bits + " bits" + (log.swapped ? ", other byte order" : "")], ["threads", count(log.threads)],
		]),
		facts([
			["started", calendar(start)], ["lasted", log.complete ? duration(Number(log.lasted)) : "not shut down"],
			["clock", log.clock], ["its rate", (Number(log.hz) / 1e6).toFixed(6) + " MHz" + (log.ppm ? " within " + log.ppm + " ppm" : "")],
			["resolution", duration(Number(log.resolution || 0))],
		]),
		facts([
			["stream", foreign((log.stream ? "\"" + log.stream + "\", " : "") + log.policy + ", " + bytes(Number(log.streamBytes)))],
			["data of an event", "up to " + count(log.maxData) + " bytes"],
			["log", log.logPolicy + ", " + plural(log.blocks, "block") + ", format " + log.format], ["written by", foreign(log.by)],
			["UUID", element("span", { className: "mono" }, log.uuid)],
		]),
		facts([
			["events read", count(log.read)], ["chosen", count(log.selected)], ["lost in all", count(log.lostAll)],
			log.lostUntold ? ["of these untold", count(log.lostUntold)] : null,
			log.unwritten ? ["could not be written", log.unwritten] : null,
			log.taken.length ? ["locks taken, as the program counted", log.taken.map(([kind, times]) => foreign(kind) + " " + count(times) + " times").join(", ")] : null,
		])),
	log.modules.length ? element("details", {}, element("summary", {}, plural(log.modules.length, "module")), element("table", {}, head("path", "build-id "),
		element("tbody", {}, log.modules.slice(0, ROWS_MAX).map((module) => element("tr", {}, element("td", { className: "left" }, foreign(module.path)), element("td", { className: "left mono" }, module.id)))))) : null);
}

function showAbout() {
	$("logs").replaceChildren(...meta.logs.map(aboutLog));
}

// ---- Head and notices ----

function chip(text, bad, work, title) {
	return work ? element("li", { className: "wrap" }, element("button", { type: "button", className: bad ? "bad" : "", title, onclick: work }, text)) : element("li", { className: bad ? "bad" : "" }, text);
}

// What was run, not the tool that recorded it.
function programsOf(log) {
	return log.programs.length ? log.programs.map(([, path]) => path) : log.program ? [log.program] : [];
}

function showHead() {
	const lost = meta.logs.reduce((sum, log) => sum + BigInt(log.lostAll), 0n);
	const logs = meta.logs;
	const programs = [...new Set(logs.flatMap(programsOf).map(baseName))];
	const one = logs.length === 1 ? logs[0] : null;
	const title = programs.length === 1 || one && programs.length ? programs[0] : one ? one.name : plural(logs.length, "log");
	const pid = !one ? 0 : one.programs.length ? one.programs[0][0] : one.pid;
	$("title").replaceChildren(foreign(title));
	$("subtitle").replaceChildren(foreign([...programs.filter((name) => name !== title), one ? one.name : "", pid > 0 ? "pid " + pid : "", one ? one.host : ""].filter(Boolean).join(" · ")));
	document.title = title + " – pxtrace report";
	$("chips").replaceChildren(
		chip(plural(meta.events, "event")), chip(duration(Number(meta.last) - Number(meta.first))), chip(plural(meta.threads.filter((thread) => thread.known !== false && isOwn(thread)).length, "thread")),
		chip(plural(spans.n, "span")),
		lost > 0 ? chip(plural(lost, "event") + " lost", true, () => goToLoss(1), "Go to the next loss (L)") : meta.logs.some((log) => log.endUnknown) ? "" : chip("nothing lost"),
		meta.logs.some((log) => log.endUnknown) ? chip("events after the last flush: number unknown", true) : "");
	$("loss-tools").hidden = losses.length === 0;
	$("footer").replaceChildren("Made by pxtrace " + meta.tool + " (report). Times count from ", calendar(0), ", the start of the " + (logs.length > 1 ? "earliest " : "") + "log. All of the page is in this file.");
}

function notice(bad, ...content) {
	$("notices").append(element("p", { className: bad ? "notice bad" : "notice" }, ...content));
}

function showNotices() {
	if (meta.shown < meta.events) {
		notice(false, element("b", {}, "This page holds the first " + count(meta.shown) + " of " + count(meta.events) + " events, up to " + moment(Number(meta.shownTo), 1000) + ". "),
			"Counts, rates and losses are those of the whole run; time line, search and durations are of the events on the page. pxtrace report --from and --to choose other ones, --max-events takes more; pxtrace stat measures all.");
	}
	if (meta.chosen) notice(false, "Only chosen events are on this page: pxtrace report was given a choice (--event, --thread, --from, --to, ...).");
	for (const log of meta.logs) {
		if (log.failed) notice(true, foreign(log.name), element("b", {}, " is damaged: "), "what came before the damage is shown.");
		else if (!log.complete) notice(false, foreign(log.name), element("b", {}, " is incomplete: "), "the program still ran, or it died; the page has what was there.");
	}
	if (meta.events === 0) notice(false, "There are no events in this log.");
}

// What pxtrace why says of the worst spans: a sentence, and its causes as a bar.

// The span on the page that begins and ends at these times in a thread of that log; -1: it is not there.
function spanOfAnswer(answer) {
	for (let i = lowerBound(events.time, answer.begin); i < events.n && events.time[i] === answer.begin; i++) {
		const thread = meta.threads[events.thread[i]];
		if (thread.log !== answer.log || events.opens[i] < 0) continue;
		for (let s = 0; s < spans.n; s++) if (spans.begin[s] === i && spanEnd(s) === answer.end) return s;
	}
	return -1;
}

function bringAnswer(answer) {
	const room = Math.max((answer.end - answer.release) * 0.25, NARROWEST);
	const track = trackOfActor(answer);
	shownAnswer = meta.why.list.indexOf(answer);
	show(answer.release - room, answer.end + room, true);
	if (track) bringTrack(track);
}

// The page opens where its first answer is.
function showFirst() {
	if (meta.why.list.length) bringAnswer(meta.why.list[0]);
}

function showAnswer(answer) {
	const span = spanOfAnswer(answer);
	select(span >= 0 ? { span } : null);
	bringAnswer(answer);
	$("timeline").scrollIntoView({ block: "start" });
}

function causeStyle(cause) {
	return cause.kind === "lost" ? "hatch" : "cause-" + cause.kind;
}
function causeSwatch(cause) {
	return element("span", { className: "swatch " + causeStyle(cause), "aria-hidden": "true" });
}

function causeBar(answer) {
	const bar = element("div", { className: "causes", role: "img",
		"aria-label": answer.causes.map((cause) => percent(cause.ns / answer.length) + " " + cause.text).join(", ") });
	for (const cause of answer.causes) {
		const part = element("span", { className: causeStyle(cause), title: duration(cause.ns) + ": " + cause.text });
		part.style.width = 100 * cause.ns / answer.length + "%";
		bar.append(part);
	}
	return bar;
}

function causeTable(answer, causes) {
	return element("table", { className: "wrap" }, element("tbody", {}, causes.map((cause) => element("tr", {},
		element("td", {}, duration(cause.ns)),
		element("td", {}, percent(cause.ns / answer.length)),
		element("td", { className: "left" }, causeSwatch(cause), foreign(cause.text),
			cause.concluded ? element("span", { className: "quiet", title: "concluded from the order of events on one CPU: no scheduler event says it" }, " *") : null)))));
}

// The longest first; of those that hardly count, how many they are.
function causeRows(answer) {
	const many = Math.max(3, answer.causes.filter((cause) => cause.ns * 100 >= answer.length).length);
	const small = answer.causes.slice(many);
	if (small.length < 3) return causeTable(answer, answer.causes);
	const sum = small.reduce((ns, cause) => ns + Number(cause.ns), 0);
	return [causeTable(answer, answer.causes.slice(0, many)),
		element("details", {}, element("summary", {}, small.length + " more, " + percent(sum / answer.length)), causeTable(answer, small))];
}

function answerMeanwhile(answer) {
	if (answer.meanwhile.length === 0) return null;
	return element("p", { className: "quiet" }, "Meanwhile: ", answer.meanwhile.map((other, k) => [k ? "; " : "",
		foreign(other.thread + ": " + other.span), (other.count > 1 ? ", " + count(other.count) + " times" : "") + ", " + duration(other.ns)]),
	answer.meanwhileMore > 0 ? "; and " + count(answer.meanwhileMore) + " more" : "");
}

function answerCard(answer) {
	return element("article", { className: "answer" },
		element("div", { className: "caption" },
			element("h3", {}, foreign(answer.span)),
			element("span", { className: "quiet" }, duration(answer.length) + " from " + moment(answer.release)),
			action("Show it on the time line", "", () => showAnswer(answer))),
		element("p", { className: "sentence" }, foreign(answer.answer)),
		chainRows(answer),
		answer.help ? element("p", {}, foreign(answer.help)) : null,
		answer.length > 0 ? [causeBar(answer), causeRows(answer)] : null,
		answer.causes.some((cause) => cause.concluded) ? element("p", { className: "quiet" }, "* concluded from the order of events on one CPU, as no scheduler event says it") : null,
		answer.gaps > 0 ? element("p", { className: "bad" }, plural(answer.lost, "event") + " are missing inside: what is not known is not guessed") : null,
		answerMeanwhile(answer));
}

function answersNote(why) {
	if (why.by === "misses") return plural(why.misses, "deadline was missed", "deadlines were missed") + (Number(why.misses) > why.list.length ? "; the worst " + count(why.list.length) + " are explained (pxtrace report --worst)" : "");
	if (why.by === "rounds") return "No event says when a job begins or ends; this is the thread whose rounds, from wait to wait, were longer than usual by most";
	if (why.by === "waits") return "No event says when a job begins or ends; these are the longest waits for locks";
	if (why.by === "off-cpu") return "No event says when a job begins or ends; these are the longest times that a thread was off the CPU";
	return "No deadline was missed; of " + plural(why.spans, "span") + " these are the farthest above what is usual for their names";
}

function showAnswers() {
	const { why } = meta;
	$("answers").hidden = why.list.length === 0;
	if (why.list.length === 0) return;
	$("answers-title").textContent = why.by === "misses" ? "Why was it late?" : "Why did it take so long?";
	$("answers-note").textContent = answersNote(why);
	$("answers-list").replaceChildren(...why.list.map(answerCard));
}
