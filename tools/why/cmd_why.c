/* SPDX-License-Identifier: MIT */
/* cmd_why.c - pxtrace why: why was it late? */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/unknown/unknown.h"
#include "tools/why/tell.h"

#include <string.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace why - answers: why was it late?\n"
	"\n"
	"usage: pxtrace why [OPTION]... LOG...\n"
	"\n"
	"Explains what missed its deadline by most; where no deadline was missed,\n"
	"the span that is longest beyond what is usual for its name; where there are no spans,\n"
	"the thread whose rounds were late by most. First the answer, in one\n"
	"sentence; then the time line of the span, from its release to its end; then where its\n"
	"time went, in parts that add up to its length; then the spans of other threads "
	"meanwhile.\n"
	"\n"
	"which spans:\n"
	"  -e, --event GLOB      spans with such a name, or events that begin, end or blame them\n"
	"  -t, --thread NAME|TID of threads with such a name (a GLOB) or number\n"
	"      --at TIME         what was going on then\n"
	"      --from TIME       that ended not before: 1.5 (seconds), 7us (since the start), or\n"
	"      --to TIME         not after:  2026-01-31T12:00:00.25Z (local without Z)\n"
	"      --pid PID         of this process; several times\n"
	"      --where CONDITION whose begin, end or miss fulfils it: 'late_ns > 1ms'\n"
	"      --longer-than D   spans longer than: 5ms, 250us, 1.5 (seconds)\n"
	"      --deadline [NAME=]D\n"
	"                        spans, or rounds of threads, with such a name (a GLOB) are late\n"
	"                        when they take longer; several times\n"
	"      --period [NAME=]D the same; rounds also when the next one begins later\n"
	"  -n, --worst N         explains the worst N in full (1; at most 16)\n"
	"instead of spans:\n"
	"      --waits           waits for locks, the longest first; so without this where a log\n"
	"                        has no spans and no thread works in rounds\n"
	"      --off-cpu         how long a thread did not run, between two sched_switch\n"
	"      --locks           all locks: how often and how long they were waited for and held, "
	"by\n"
	"                        whom; and locks that are taken in orders that could deadlock\n"
	"\n",
	"what events mean:\n"
	"  -r, --roles FILE      events that are called otherwise, a line each:\n"
	"                          job-start  frame_in   span=frame key=number\n"
	"                          lock-wait  mtx_ask    lock=addr\n"
	"                        (all words: man pxtrace-why)\n"
	"By their names mean: X_begin, X_start .. X_end, X_stop and X_enter .. X_exit a span X;\n"
	"X_release, that X may begin; X_wait, X_lock, X_unlock, that a thread asks for, gets and\n"
	"gives back a lock; X_block, X_unblock, X_wake, that it sleeps and goes on; "
	"deadline_miss,\n"
	"that its latest job was late; sched_switch (pxtrace merge), who runs on a CPU. The first\n"
	"field is the number of the job, and of the lock where none is called lock or mutex;\n"
	"start_ns or delay_ns of a begin is the time since its release.\n"
	"\n"
	"output:\n"
	"      --json            one JSON object\n"
	"      --lines N         lines of a time line (40; 0: all that are kept)\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"      --colour WHEN     the same\n"
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n",
	"example: why was the worst job of the thread \"control\" late, and who had its lock?\n"
	"\n"
	"  $ pxtrace why --thread control run.ptl\n"
	"\n"
	"What is not known is not guessed: where events were lost, the answer says how much of "
	"the\n"
	"time they hide. Without scheduler events it is concluded from the order of events on "
	"each\n"
	"CPU who ran; such a part is marked *.\n"
	"\n"
	"exit status: 0 done, also when nothing was late; 1 wrong command line or roles file;\n"
	"2 a log could not be read, or no log has a name that was asked for; 3 events were lost\n"
	"(--strict); 4 the output could not be written.\n",
	NULL,
};

struct why {
	struct pxt_out out;
	struct pxt_select select;
	struct pxt_late_search search;
	struct pxt_blames blames;
	struct pxt_roles_book *book;
	const char *colour;
	unsigned worst;
	unsigned lines;
	bool locks;
	bool json;
	bool incomplete;
	bool strict;
};

/* ---- Nothing to explain ---- */

/* Who waits for a client is not late. */
static void say_idle(struct pxt_words *words, const struct why *w)
{
	const struct pxt_rounds *rounds = &w->search.rounds;
	char longest[24];

	if (rounds->idle_waits == 0)
		return;
	pxt_duration(longest, (uint64_t)rounds->idle_ns);
	pxt_say(words, " Long waits %s: %llu, the longest of %s (%s).",
	    rounds->has_wakes ? "for somebody outside of the program, who delays nobody"
	                      : "that nobody of the program seems to have ended",
	    (unsigned long long)rounds->idle_waits, w->search.idle, longest);
}

/* What was looked at, and what asks for the rest. */
static void say_no_round(struct why *w)
{
	const struct pxt_rounds *rounds = &w->search.rounds;
	struct pxt_words words = { 0 };

	pxt_say(&words,
	    "Nothing was late: %llu round%s of %llu thread%s %s read, from wait to wait; none is "
	    "far "
	    "beyond what is usual for its thread.",
	    (unsigned long long)rounds->rounds_read, rounds->rounds_read == 1 ? "" : "s",
	    (unsigned long long)rounds->threads_with_rounds,
	    rounds->threads_with_rounds == 1 ? "" : "s", rounds->rounds_read == 1 ? "was" : "were");
	say_idle(&words, w);
	pxt_tell_unmeasured(&words, &w->search);
	if (w->search.off_cpu.count > 0)
		pxt_say(&words, " --off-cpu tells the longest times off the CPU.");
	pxt_tell_paragraph(&w->out, &words);
}

static void say_nothing(struct why *w)
{
	if (w->search.spans == 0 && w->search.unjudged > 0) {
		pxt_out_text(&w->out, "No span whose length is known ended in this log.\n");
	} else if (w->search.mode == PXT_LATE_WAITS) {
		pxt_out_text(&w->out, "No wait for a lock like that in this log.\n");
	} else if (w->search.mode == PXT_LATE_OFF_CPU) {
		pxt_out_text(&w->out, "No time off the CPU like that in this log.\n");
	} else if (w->search.mode == PXT_LATE_ROUNDS) {
		say_no_round(w);
	} else if (w->search.spans == 0 &&
	           (w->select.event_count + w->select.thread_count + w->select.pid_count > 0 ||
	               w->select.where || w->select.from.set || w->select.to.set)) {
		pxt_out_text(&w->out, "No span like that ended in this log.\n");
	} else if (w->search.spans == 0) {
		pxt_out_text(&w->out, "No spans and no waits in this log: nothing can be late.\n");
		pxt_out_flush(&w->out);
		pxt_explain(
		    "a span is what lies between X_begin and X_end; --roles says which events of"
		    " other names begin and end one");
	} else if (w->search.mode == PXT_LATE_AT) {
		pxt_out_text(&w->out, "No span was open at that time.\n");
	} else {
		pxt_out_format(&w->out, "Nothing was that long: %llu spans were read.\n",
		    (unsigned long long)w->search.spans);
	}
}

static void tell(struct why *w, const struct pxt_reader *reader)
{
	struct pxt_tell tell = { .out = &w->out,
		.blames = &w->blames,
		.search = &w->search,
		.book = w->book,
		.explain = w->worst,
		.lines = w->lines };
	uint64_t beyond = pxt_blames_beyond(&w->blames, &w->search);

	if (w->json)
		pxt_tell_json(&tell);
	else if (w->blames.count == 0)
		say_nothing(w);
	else
		pxt_tell_text(&tell);
	pxt_out_flush(&w->out);
	pxt_roles_review(w->book, reader);
	if (beyond > 0)
		pxt_complain("%llu threads, spans, waits or locks found no place in memory and are "
		             "left out",
		    (unsigned long long)beyond);
}

/* Times that the clock, or the program, did not say. */
static void say_unjudged(const struct pxt_late_search *search)
{
	if (search->unjudged > 0)
		pxt_complain(
		    "%llu spans are not judged: the clock stepped back while they were open",
		    (unsigned long long)search->unjudged);
	if (search->impossible > 0)
		pxt_complain(
		    "%s cannot be %lld ns (negative, or longer than the log): %llu such times "
		    "are left out",
		    search->impossible_field, (long long)search->impossible_ns,
		    (unsigned long long)search->impossible);
}

/* Names of --deadline and --period that nothing has. */
static void review_demands(const struct why *w, struct pxt_reader *reader)
{
	for (unsigned i = 0; i < w->search.limits.count; i++) {
		const struct pxt_limit *limit = &w->search.limits.list[i];

		if (limit->matched)
			continue;
		pxt_complain("%s: no span and no thread that works in rounds is called \"%s\"",
		    limit->is_period ? "--period" : "--deadline", limit->name ? limit->name : "*");
		reader->misnamed = true;
	}
}

static int explain_spans(struct why *w, struct pxt_reader *reader)
{
	const struct pxt_late_list *list;
	int status = PXT_EXIT_USAGE;

	w->search.select = &w->select;
	w->blames.reader = reader;
	if (pxt_late_search(&w->search, reader, w->book)) {
		list = pxt_late_result(&w->search);
		pxt_unknown_select(&w->select, reader, (const char *const *)w->book->names);
		review_demands(w, reader);
		status = pxt_unknown_status(reader, pxt_reader_conclude(reader, true, w->strict));
		if (list->count > 0) {
			pxt_reader_rewind(reader);
			pxt_blames_read(&w->blames, reader, w->book, &w->search, list->count);
		}
		tell(w, reader);
		say_unjudged(&w->search);
	}
	pxt_blames_free(&w->blames);
	pxt_late_free(&w->search);
	return status;
}

static int explain_locks(struct why *w, struct pxt_reader *reader)
{
	struct pxt_lockuse use = { 0 };
	const struct pxt_tell_locks tell = {
		.out = &w->out, .reader = reader, .book = w->book, .use = &use
	};
	int status = PXT_EXIT_USAGE;

	if (pxt_lockuse_read(&use, reader, w->book)) {
		status = pxt_reader_conclude(reader, true, w->strict);
		if (w->json)
			pxt_tell_locks_json(&tell);
		else
			pxt_tell_locks_text(&tell);
		pxt_out_flush(&w->out);
		pxt_roles_review(w->book, reader);
		if (use.beyond + use.state->beyond > 0)
			pxt_complain("%llu threads, locks or orders of locks found no place in "
			             "memory and are left out",
			    (unsigned long long)use.beyond + (unsigned long long)use.state->beyond);
	}
	pxt_lockuse_free(&use);
	return status;
}

static int explain(struct why *w, char *const *paths, unsigned count)
{
	struct pxt_reader reader = { 0 };
	int status = pxt_reader_open(&reader, paths, count,
	    w->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, &w->select);

	if (status == PXT_EXIT_OK) {
		pxt_roles_bind(w->book, &reader);
		status = w->locks ? explain_locks(w, &reader) : explain_spans(w, &reader);
	}
	pxt_reader_close(&reader);
	return status;
}

/* ---- The command line ---- */

static bool take_demand(struct why *w, char *value, bool is_period)
{
	const char *option = is_period ? "--period" : "--deadline";
	struct pxt_limits *limits = &w->search.limits;
	struct pxt_limit limit = { .is_period = is_period };
	char *equals = strrchr(value, '=');

	if (limits->count == PXT_LIMITS_MAX) {
		pxt_complain("--deadline and --period: at most %u", PXT_LIMITS_MAX);
		return false;
	}
	if (!pxt_option_time(&limit.ns, equals ? equals + 1 : value, option, 0))
		return false;
	if (limit.ns == 0) {
		pxt_complain("%s wants more than 0", option);
		return false;
	}
	if (equals) {
		*equals = '\0';
		limit.name = value;
	}
	limits->list[limits->count++] = limit;
	return true;
}

static bool take_deadline(void *self, char *value)
{
	return take_demand(self, value, false);
}

static bool take_period(void *self, char *value)
{
	return take_demand(self, value, true);
}

static bool take_limit(void *self, char *value)
{
	struct why *w = self;

	return w->search.has_limit =
	           pxt_option_time(&w->search.limit_ns, value, "--longer-than", 0);
}

static bool take_roles(void *self, char *value)
{
	return pxt_roles_read(((struct why *)self)->book, value);
}

static bool take_at(void *self, char *value)
{
	struct why *w = self;

	if (pxt_when_parse(value, &w->search.at))
		return true;
	pxt_complain("--at does not understand the time \"%s\"", value);
	pxt_explain(
	    "say 1.5 (seconds), 1500ms (since the start of the log) or 2026-01-31T12:00:00.25Z");
	return false;
}

static const struct pxt_option options[] = {
	PXT_OPT_MORE(pxt_select_options, struct why, select),
	PXT_OPT_TAKE(0, "at", take_at),
	PXT_OPT_TAKE(0, "longer-than", take_limit),
	PXT_OPT_TAKE(0, "deadline", take_deadline),
	PXT_OPT_TAKE(0, "period", take_period),
	PXT_OPT_NUMBER('n', "worst", struct why, worst, 1, PXT_LATE_MAX),
	PXT_OPT_TAKE('r', "roles", take_roles),
	PXT_OPT_FLAG(0, "json", struct why, json),
	PXT_OPT_NUMBER(0, "lines", struct why, lines, 0, PXT_LINES_MAX),
	PXT_OPT_FLAG(0, "locks", struct why, locks),
	PXT_OPT_FLAG(0, "waits", struct why, search.asks_waits),
	PXT_OPT_FLAG(0, "off-cpu", struct why, search.asks_off_cpu),
	PXT_OPT_FLAG(0, "incomplete", struct why, incomplete),
	PXT_OPT_FLAG(0, "strict", struct why, strict),
	PXT_OPT_COLOUR(struct why, colour),
	PXT_OPT_END,
};

static bool chooses_spans(const struct why *w)
{
	const struct pxt_select *select = &w->select;

	return select->event_count + select->thread_count + select->pid_count > 0 ||
	       select->where || select->from.set || select->to.set || w->search.at.set ||
	       w->search.has_limit || w->search.limits.count > 0 || w->search.asks_waits ||
	       w->search.asks_off_cpu || w->worst != 1;
}

static int take_line(struct why *w, int argc, char **argv)
{
	int status = pxt_options_read(&pxt_cmd_why, w, argc, argv);

	if (status >= 0)
		return status;
	if (!pxt_select_check(&w->select))
		return pxt_usage("why");
	if (w->lines == 0)
		w->lines = PXT_LINES_MAX;
	if (w->locks && chooses_spans(w)) {
		pxt_complain("why: --locks is of all locks: no choice of spans beside it");
		return pxt_usage("why");
	}
	if (w->search.asks_waits && w->search.asks_off_cpu) {
		pxt_complain("why: --waits and --off-cpu are two questions: one at a time");
		return pxt_usage("why");
	}
	w->out.colour = pxt_colour_wanted(w->colour, STDOUT_FILENO);
	return explain(w, argv + optind, (unsigned)(argc - optind));
}

static int run(int argc, char **argv)
{
	static struct why w;

	w.out.fd = STDOUT_FILENO;
	w.worst = 1;
	w.lines = 40;
	w.book = pxt_roles_new();
	int status = take_line(&w, argc, argv);
	int written = pxt_finish(&w.out);
	pxt_roles_free(w.book);
	return written == PXT_EXIT_OK ? status : written;
}

const struct pxt_command pxt_cmd_why = {
	.name = "why",
	.summary = "why was it late? who ran, who had the lock, what is not known",
	.help = help,
	.options = options,
	.wants = "which log?",
	.run = run,
};
