/* SPDX-License-Identifier: MIT */
/* where.c - the grammar of conditions, and what is wrong with a text that is not one. */
#include "tools/select/select.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/select/where_inner.h"

#include <stdlib.h>
#include <string.h>

/* An operator that waits for its operands, or an open parenthesis. */
struct waiting {
	enum pxt_word_kind kind;
	size_t at;
};

struct parser {
	struct pxt_words words;
	struct pxt_word word; /* the one at hand */
	struct pxt_where *where;
	unsigned depth; /* parentheses and nots that wait */
	unsigned waiting_count;
	/* In each parenthesis at most one "and" inside one "or". */
	struct waiting waiting[3 * PXT_WHERE_DEPTH + 3];
};

static bool advance(struct parser *parser)
{
	return pxt_next_word(&parser->words, &parser->word);
}

static bool wrong_here(struct parser *parser, const char *reason)
{
	return pxt_text_wrong(parser->words.error, parser->word.at, "%s", reason);
}

static bool add_step(struct parser *parser, enum pxt_step_kind kind, unsigned test)
{
	struct pxt_where *where = parser->where;

	if (where->step_count == sizeof where->steps / sizeof *where->steps)
		return wrong_here(parser, "the condition is too long");
	where->steps[where->step_count++] =
	    (struct pxt_step){ .kind = (uint8_t)kind, .test = (uint8_t)test };
	return true;
}

/* ---- Operands ---- */

static const struct {
	const char *name;
	bool is_text;
} built_ins[] = {
	[PXT_IN_TIME] = { "time", false },
	[PXT_IN_EVENT] = { "event", true },
	[PXT_IN_THREAD] = { "thread", true },
	[PXT_IN_PID] = { "pid", false },
	[PXT_IN_TID] = { "tid", false },
	[PXT_IN_CPU] = { "cpu", false },
	[PXT_IN_LOST] = { "lost", false },
	[PXT_IN_BYTES] = { "bytes", false },
	[PXT_IN_CUT] = { "cut", false },
};

static void take_name(struct pxt_operand *operand, const struct pxt_word *word)
{
	operand->kind = PXT_OPERAND_FIELD;
	memcpy(operand->name, word->begin, word->bytes);
	for (size_t i = 0; !word->dotted && i < sizeof built_ins / sizeof *built_ins; i++) {
		if (strcmp(operand->name, built_ins[i].name) == 0) {
			operand->kind = PXT_OPERAND_BUILT_IN;
			operand->built_in = (enum pxt_built_in)i;
		}
	}
	if (operand->kind == PXT_OPERAND_FIELD)
		operand->places = pxt_must(calloc(PXT_WHERE_PLACES, sizeof *operand->places));
}

static bool parse_operand(struct parser *parser, struct pxt_operand *operand)
{
	const struct pxt_word *word = &parser->word;

	*operand = (struct pxt_operand){ .at = word->at, .plain = word->plain };
	if (word->kind == PXT_WORD_VALUE)
		operand->value = word->value;
	else if (word->kind == PXT_WORD_NAME)
		take_name(operand, word);
	else
		return wrong_here(
		    parser, "here a field, a number or a \"text\" was to be expected");
	operand->end = (size_t)(parser->words.next - parser->words.text);
	return advance(parser);
}

static bool is_text(const struct pxt_operand *operand)
{
	return operand->kind == PXT_OPERAND_VALUE
	           ? operand->value.kind == POSIX_TRACE_FIELD_TEXT_NP
	           : operand->kind == PXT_OPERAND_BUILT_IN && built_ins[operand->built_in].is_text;
}

static bool is_number(const struct pxt_operand *operand)
{
	return operand->kind != PXT_OPERAND_FIELD && !is_text(operand);
}

/* What can be said without any event: the one who wrote it did not mean it. */
static bool check_operands(struct parser *parser, const struct pxt_test *test)
{
	const struct pxt_operand *left = &test->left;
	const struct pxt_operand *right = &test->right;
	struct pxt_text_error *error = parser->words.error;

	if (test->relation == PXT_LIKE || test->relation == PXT_NOT_LIKE) {
		if (right->kind != PXT_OPERAND_VALUE || !is_text(right) ||
		    memchr(right->value.text, '\0', right->value.bytes))
			return pxt_text_wrong(error, right->at,
			    "~ wants a \"pattern\" behind it, as in thread ~ \"ctl*\"");
		if (is_number(left))
			return pxt_text_wrong(
			    error, left->at, "~ compares texts, and this is a number");
		return true;
	}
	/* event == job_end: the quotes were forgotten. */
	for (unsigned i = 0; i < 2; i++) {
		const struct pxt_operand *one = i ? right : left;
		const struct pxt_operand *other = i ? left : right;

		if (one->kind == PXT_OPERAND_BUILT_IN && is_text(one) &&
		    other->kind == PXT_OPERAND_FIELD && parser->words.text[other->at] != '.')
			return pxt_text_wrong(error, other->at,
			    "a name is a text and wants quotes: \"%s\" (a field: .%s)", other->name,
			    other->name);
	}
	if (is_text(left) && is_number(right))
		return pxt_text_wrong(
		    error, right->at, "this is a number, and what it is compared with a text");
	if (is_number(left) && is_text(right))
		return pxt_text_wrong(
		    error, right->at, "this is a text, and what it is compared with a number");
	return true;
}

/* Beside "time" a plain number is seconds, as with --from. */
static bool take_seconds(struct parser *parser, struct pxt_test *test)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct pxt_operand *time = i ? &test->right : &test->left;
		struct pxt_operand *other = i ? &test->left : &test->right;

		if (time->kind == PXT_OPERAND_BUILT_IN && time->built_in == PXT_IN_TIME &&
		    other->plain && !pxt_word_seconds(&parser->words, other->at, &other->value))
			return false;
	}
	return true;
}

/* ---- Conditions ---- */

static bool parse_has(struct parser *parser, unsigned number)
{
	struct pxt_test *test = &parser->where->tests[number];

	if (!advance(parser))
		return false;
	if (parser->word.kind != PXT_WORD_NAME)
		return wrong_here(parser, "behind \"has\" stands the name of a field");
	return parse_operand(parser, &test->left) && add_step(parser, PXT_STEP_HAS, number);
}

static bool parse_comparison(struct parser *parser)
{
	struct pxt_where *where = parser->where;
	unsigned number = where->test_count;
	struct pxt_test *test = &where->tests[number];

	if (number == PXT_WHERE_TESTS)
		return wrong_here(parser, "more than 64 comparisons");
	where->test_count++;
	if (parser->word.kind == PXT_WORD_HAS)
		return parse_has(parser, number);
	if (!parse_operand(parser, &test->left))
		return false;
	if (parser->word.kind != PXT_WORD_RELATION)
		return add_step(parser, PXT_STEP_TRUTH, number);
	test->relation = parser->word.relation;
	return advance(parser) && parse_operand(parser, &test->right) &&
	       check_operands(parser, test) && take_seconds(parser, test) &&
	       add_step(parser, PXT_STEP_TEST, number);
}

/* ---- What joins comparisons ---- */

/* What waits for its operands: "not", "and", "or", or a parenthesis for its end. */
static unsigned rank(enum pxt_word_kind kind)
{
	return kind == PXT_WORD_NOT ? 3 : kind == PXT_WORD_AND ? 2 : kind == PXT_WORD_OR ? 1 : 0;
}

/* What waits and binds at least as much as @least has its operands now. */
static bool settle(struct parser *parser, unsigned least)
{
	while (parser->waiting_count > 0) {
		enum pxt_word_kind kind = parser->waiting[parser->waiting_count - 1].kind;

		if (rank(kind) < least)
			break;
		parser->waiting_count--;
		parser->depth -= kind == PXT_WORD_NOT;
		if (!add_step(parser,
		        kind == PXT_WORD_NOT   ? PXT_STEP_NOT
		        : kind == PXT_WORD_AND ? PXT_STEP_AND
		                               : PXT_STEP_OR,
		        0))
			return false;
	}
	return true;
}

static bool let_wait(struct parser *parser)
{
	const enum pxt_word_kind kind = parser->word.kind;

	if (kind == PXT_WORD_NOT || kind == PXT_WORD_OPEN) {
		if (parser->depth == PXT_WHERE_DEPTH)
			return wrong_here(
			    parser, "too many parentheses inside each other (at most 32)");
		parser->depth++;
	}
	parser->waiting[parser->waiting_count++] =
	    (struct waiting){ .kind = kind, .at = parser->word.at };
	return advance(parser);
}

static bool close_parenthesis(struct parser *parser)
{
	if (!settle(parser, 1))
		return false;
	if (parser->waiting_count == 0)
		return wrong_here(parser, "this parenthesis was never opened");
	parser->waiting_count--;
	parser->depth--;
	if (!advance(parser))
		return false;
	if (parser->word.kind == PXT_WORD_RELATION)
		return wrong_here(parser, "what is in parentheses is true or false, and cannot be "
		                          "compared");
	return true;
}

/* A comparison, with what is before it. */
static bool parse_front(struct parser *parser)
{
	while (parser->word.kind == PXT_WORD_NOT || parser->word.kind == PXT_WORD_OPEN)
		if (!let_wait(parser))
			return false;
	return parse_comparison(parser);
}

/* What is after a comparison; *@more: "and" or "or", and another one follows. */
static bool parse_behind(struct parser *parser, bool *more)
{
	while (parser->word.kind == PXT_WORD_CLOSE)
		if (!close_parenthesis(parser))
			return false;
	*more = parser->word.kind == PXT_WORD_AND || parser->word.kind == PXT_WORD_OR;
	if (*more)
		return settle(parser, rank(parser->word.kind)) && let_wait(parser);
	if (parser->word.kind == PXT_WORD_RELATION)
		return wrong_here(parser, "only two things are compared: join comparisons by and");
	if (parser->word.kind != PXT_WORD_END)
		return wrong_here(
		    parser, "and, or, or a comparison (==, <, >, ~ ...) was to be expected");
	if (!settle(parser, 1))
		return false;
	if (parser->waiting_count > 0)
		return pxt_text_wrong(parser->words.error,
		    parser->waiting[parser->waiting_count - 1].at,
		    "this parenthesis is not closed");
	return true;
}

static bool parse_all(struct parser *parser)
{
	bool more = true;

	if (!advance(parser))
		return false;
	if (parser->word.kind == PXT_WORD_END)
		return wrong_here(parser, "an empty condition; one looks like: late_ns > 1ms");
	while (more)
		if (!parse_front(parser) || !parse_behind(parser, &more))
			return false;
	return true;
}

struct pxt_where *pxt_where_parse(const char *text, struct pxt_text_error *error)
{
	struct parser parser = { .words = { .text = text, .next = text, .error = error } };

	if (strlen(text) > PXT_WHERE_BYTES) {
		(void)pxt_text_wrong(error, PXT_WHERE_BYTES, "the condition is too long");
		return NULL;
	}
	parser.where = pxt_must(calloc(1, sizeof *parser.where));
	parser.words.pool = parser.where->pool;
	if (parse_all(&parser))
		return parser.where;
	pxt_where_free(parser.where);
	return NULL;
}

void pxt_where_free(struct pxt_where *where)
{
	for (unsigned i = 0; where && i < where->test_count; i++) {
		free(where->tests[i].left.places);
		free(where->tests[i].right.places);
	}
	free(where);
}

const char *pxt_where_field(const struct pxt_where *where, unsigned i)
{
	for (unsigned k = 0; k < where->test_count; k++) {
		const struct pxt_test *test = &where->tests[k];

		if (test->left.kind == PXT_OPERAND_FIELD && i-- == 0)
			return test->left.name;
		if (test->right.kind == PXT_OPERAND_FIELD && i-- == 0)
			return test->right.name;
	}
	return NULL;
}

static bool is_of(const struct pxt_operand *operand, enum pxt_where_of of)
{
	return operand->kind == PXT_OPERAND_BUILT_IN &&
	       operand->built_in == (of == PXT_WHERE_EVENT ? PXT_IN_EVENT : PXT_IN_THREAD);
}

const char *pxt_where_name(const struct pxt_where *where, enum pxt_where_of of, unsigned i)
{
	for (unsigned k = 0; k < where->test_count; k++) {
		const struct pxt_test *test = &where->tests[k];
		const struct pxt_operand *text =
		    is_of(&test->left, of) ? &test->right : &test->left;
		bool asked = is_of(&test->left, of) || is_of(&test->right, of);

		if (asked && (test->relation == PXT_EQUAL || test->relation == PXT_LIKE) &&
		    text->kind == PXT_OPERAND_VALUE && i-- == 0)
			return text->value.text;
	}
	return NULL;
}
