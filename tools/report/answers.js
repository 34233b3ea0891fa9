// SPDX-License-Identifier: MIT
// answers.js - what pxtrace why says of the worst spans: a sentence, and its causes as a bar.

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
