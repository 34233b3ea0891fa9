/* SPDX-License-Identifier: MIT */
/* condition.c - what the recorder is asked for: --when 'control late > 20ms', and how much it keeps; see flight.h. */
#include "tools/flight/flight.h"

#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>

#define SPACES " \t"
#define WORD   64

#define KEEP_NS   INT64_C(5000000000)
#define KEEP_MOST (720 * KEEP_NS)
#define MOST      10u

struct part {
	const char *begin;
	size_t bytes;
};

static struct part part_of(const char *begin, const char *end)
{
	while (begin < end && strchr(SPACES, *begin))
		begin++;
	while (end > begin && strchr(SPACES, end[-1]))
		end--;
	return (struct part){ begin, (size_t)(end - begin) };
}

static bool is_word(struct part part, const char *word)
{
	return part.bytes == strlen(word) && memcmp(part.begin, word, part.bytes) == 0;
}

/* Takes the first word, or the last one, off @part. */
static struct part first_word(struct part *part)
{
	size_t bytes = 0;

	while (bytes < part->bytes && !strchr(SPACES, part->begin[bytes]))
		bytes++;
	struct part word = { part->begin, bytes };
	*part = part_of(part->begin + bytes, part->begin + part->bytes);
	return word;
}

static struct part last_word(struct part *part)
{
	size_t at = part->bytes;

	while (at > 0 && !strchr(SPACES, part->begin[at - 1]))
		at--;
	struct part word = { part->begin + at, part->bytes - at };
	*part = part_of(part->begin, part->begin + at);
	return word;
}

static bool wrong(
    const struct pxt_condition *condition, const struct pxt_text_error *error, bool list)
{
	pxt_text_complain("--when", condition->text, error);
	if (!list)
		return false;
	pxt_explain("possible are: 'THREAD late > 20ms', 'span NAME > 5ms', 'wait > 5ms',");
	pxt_explain("'wait LOCK > 5ms', 'wait CALL > 5ms', 'wakeup > 2ms', 'wakeup THREAD > 2ms',");
	pxt_explain("'event NAME', 'event NAME.FIELD > 7' (as --where has it)");
	return false;
}

static bool wrong_word(
    const struct pxt_condition *condition, struct part word, const char *what, bool list)
{
	struct pxt_text_error error;

	(void)pxt_text_wrong(&error, (size_t)(word.begin - condition->text), "\"%.*s\" %s",
	    word.bytes > WORD ? WORD : (int)word.bytes, word.begin, what);
	return wrong(condition, &error, list);
}

static bool missing(const struct pxt_condition *condition, const char *at, const char *what)
{
	struct pxt_text_error error;

	(void)pxt_text_wrong(&error, (size_t)(at - condition->text), "%s", what);
	return wrong(condition, &error, true);
}

static bool take_name(struct pxt_condition *condition, struct part name)
{
	if (name.bytes >= sizeof condition->name)
		return wrong_word(condition, name, "is too long", false);
	memcpy(condition->name, name.begin, name.bytes);
	condition->name[name.bytes] = '\0';
	return true;
}

/* The rest is in the language of --where. */
static bool take_event(struct pxt_condition *condition, struct part rest)
{
	const char *dot = memchr(rest.begin, '.', rest.bytes);
	const char *end = rest.begin + rest.bytes;
	struct pxt_text_error error;

	condition->kind = PXT_CONDITION_EVENT;
	if (rest.bytes == 0)
		return missing(condition, end, "\"event\" wants the name of a type behind it");
	if (!take_name(condition, part_of(rest.begin, dot ? dot : end)))
		return false;
	if (!dot) {
		struct part after = rest;

		(void)first_word(&after);
		return after.bytes == 0 ||
		       wrong_word(condition, after, "stands where a . and a field could", true);
	}
	condition->where = pxt_where_parse(dot + 1, &error);
	if (condition->where)
		return true;
	error.at += (size_t)(dot + 1 - condition->text);
	return wrong(condition, &error, false);
}

static bool take_wait(struct pxt_condition *condition, struct part name)
{
	size_t calls = pxt_sysnames_count(POSIX_TRACE_CALL_ENTER_NP, "call");

	condition->kind = PXT_CONDITION_LOCK;
	for (uint64_t call = 1; call < calls; call++) {
		const char *word = pxt_sysnames_word(POSIX_TRACE_CALL_ENTER_NP, "call", call);

		if (!word || !is_word(name, word))
			continue;
		condition->kind = PXT_CONDITION_CALL;
		condition->call = call;
	}
	if (is_word(name, "cond")) {
		condition->kind = PXT_CONDITION_CALL;
		condition->call = PXT_CONDITION_COND;
	}
	return take_name(condition, name);
}

/* What is before the >. */
static bool take_subject(struct pxt_condition *condition, struct part left)
{
	struct part rest = left;
	struct part word = first_word(&rest);

	if (is_word(word, "span")) {
		condition->kind = PXT_CONDITION_SPAN;
		return rest.bytes > 0 ? take_name(condition, rest)
		                      : missing(condition, left.begin + left.bytes,
		                            "\"span\" wants the name of one behind it");
	}
	if (is_word(word, "wait"))
		return take_wait(condition, rest);
	if (is_word(word, "wakeup")) {
		condition->kind = PXT_CONDITION_WAKEUP;
		return take_name(condition, rest);
	}
	rest = left;
	word = last_word(&rest);
	condition->kind = PXT_CONDITION_LATE;
	if (!is_word(word, "late"))
		return wrong_word(condition, word, "says nothing that could be met", true);
	return take_name(condition, rest);
}

bool pxt_condition_parse(struct pxt_condition *condition, const char *text)
{
	const char *end = text + strlen(text);
	const char *above = strrchr(text, '>');
	struct part all = part_of(text, end);
	struct part left;
	struct part limit;
	char value[WORD];
	struct pxt_when when = { 0 };

	*condition = (struct pxt_condition){ .text = text };
	left = all;
	if (is_word(first_word(&left), "event"))
		return take_event(condition, left);
	if (!above)
		return missing(condition, end, "here \"> T\" is missing, as in > 20ms");
	left = part_of(text, above);
	limit = part_of(above + 1, end);
	if (left.bytes == 0)
		return missing(condition, above, "before the > something is missing");
	if (!take_subject(condition, left))
		return false;
	(void)snprintf(value, sizeof value, "%.*s",
	    (int)(limit.bytes < sizeof value ? limit.bytes : 0), limit.begin);
	if (limit.bytes == 0 || !pxt_when_parse(value, &when) || when.absolute || when.ns <= 0)
		return wrong_word(
		    condition, limit, "is no duration: 20ms, 250us, 1.5 (seconds)", false);
	condition->limit_ns = when.ns;
	return true;
}

/* ---- Options ---- */

static bool take_keep(void *self, char *value)
{
	struct pxt_flight_wish *wish = self;
	struct pxt_when when = { 0 };

	if (!pxt_when_parse(value, &when) || when.absolute || when.ns <= 0 || when.ns > KEEP_MOST) {
		pxt_complain(
		    "--keep wants a duration up to an hour (5s, 500ms), not \"%s\"", value);
		return false;
	}
	wish->keep_ns = when.ns;
	return true;
}

static bool take_when(void *self, char *value)
{
	struct pxt_flight_wish *wish = self;

	if (wish->condition.text) {
		pxt_complain("--when stands twice: it is one condition");
		return false;
	}
	return pxt_condition_parse(&wish->condition, value);
}

const struct pxt_option pxt_flight_options[] = {
	PXT_OPT_TAKE(0, "when", take_when),
	PXT_OPT_TAKE(0, "keep", take_keep),
	PXT_OPT_NUMBER(0, "most", struct pxt_flight_wish, most, 1, PXT_FLIGHT_LOGS_MAX),
	PXT_OPT_END,
};

bool pxt_flight_check(struct pxt_flight_wish *wish)
{
	if (!wish->condition.text && (wish->keep_ns != 0 || wish->most != 0)) {
		pxt_complain("--keep and --most are of --when: when is something to be kept?");
		return false;
	}
	wish->keep_ns = wish->keep_ns ? wish->keep_ns : KEEP_NS;
	wish->most = wish->most ? wish->most : MOST;
	return true;
}
