/* SPDX-License-Identifier: MIT */
/* where_eval.c - the answer to a condition for one event. */
#include "tools/event/event.h"
#include "tools/select/where_inner.h"

#include <fnmatch.h>
#include <string.h>

/* In this order "and" is the smaller one, "or" the larger one, "not" its distance from the end. */
enum answer {
	NO,
	UNKNOWN,
	YES
};

/* How two values lie to each other; APART: unlike each other without order (nan). */
enum order {
	BELOW,
	SAME,
	ABOVE,
	APART,
	NEVER_COMPARED
};

/* ---- Operands ---- */

static const struct pxt_layout *find_field(struct pxt_operand *operand, const struct pxt_type *type)
{
	struct pxt_where_place *place = &operand->places[type->id % PXT_WHERE_PLACES];

	/* Types that share an entry change after it. */
	if (type->index == PXT_INDEX_NONE)
		return pxt_field_named(type, operand->name);
	if (place->type != type || place->field_count != type->field_count)
		*place = (struct pxt_where_place){ .type = type,
			.field_count = type->field_count,
			.layout = pxt_field_named(type, operand->name) };
	return place->layout;
}

static bool take_number(struct pxt_value *value, int64_t number)
{
	*value = (struct pxt_value){ .kind = POSIX_TRACE_FIELD_SIGNED_NP, .i = number };
	return true;
}

static bool take_text(struct pxt_value *value, const char *text)
{
	*value = (struct pxt_value){
		.kind = POSIX_TRACE_FIELD_TEXT_NP, .bytes = (uint32_t)strlen(text), .text = text
	};
	return true;
}

/* False: it was not recorded. */
static bool ask_built_in(const struct pxt_operand *operand, const struct pxt_event *event,
    int64_t start_ns, struct pxt_value *value)
{
	switch (operand->built_in) {
	case PXT_IN_TIME:
		return take_number(value, event->ns - start_ns);
	case PXT_IN_EVENT:
		return take_text(value, event->type->name);
	case PXT_IN_THREAD:
		return *event->thread->name && take_text(value, event->thread->name);
	case PXT_IN_PID:
		return event->info.posix_pid > 0 && take_number(value, event->info.posix_pid);
	case PXT_IN_TID:
		return event->thread->tid > 0 && take_number(value, event->thread->tid);
	case PXT_IN_CPU:
		return event->extra.posix_cpu_np >= 0 &&
		       take_number(value, event->extra.posix_cpu_np);
	case PXT_IN_LOST:
		*value = (struct pxt_value){ .kind = POSIX_TRACE_FIELD_UNSIGNED_NP,
			.u = event->extra.posix_lost_before_np };
		return true;
	case PXT_IN_BYTES:
		return take_number(value, (int64_t)event->bytes);
	case PXT_IN_CUT:
	default:
		return take_number(
		    value, event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED);
	}
}

static bool ask(struct pxt_operand *operand, const struct pxt_event *event, int64_t start_ns,
    struct pxt_value *value)
{
	const struct pxt_layout *field;

	switch (operand->kind) {
	case PXT_OPERAND_VALUE:
		*value = operand->value;
		return true;
	case PXT_OPERAND_BUILT_IN:
		return ask_built_in(operand, event, start_ns, value);
	case PXT_OPERAND_FIELD:
	default:
		field = find_field(operand, event->type);
		return field && pxt_field_value(event, field, value);
	}
}

/* A number of a system event that is compared with a text is the word that it stands for. */
static void take_word(const struct pxt_operand *operand, const struct pxt_event *event,
    struct pxt_value *value, const struct pxt_value *other)
{
	const char *word;

	if (operand->kind != PXT_OPERAND_FIELD || other->kind != POSIX_TRACE_FIELD_TEXT_NP ||
	    (value->kind != POSIX_TRACE_FIELD_UNSIGNED_NP &&
	        value->kind != POSIX_TRACE_FIELD_SIGNED_NP))
		return;
	word = pxt_sysnames_word(event->type->id, operand->name, value->u);
	if (word)
		(void)take_text(value, word);
}

/* ---- Comparisons ---- */

static bool is_negative(const struct pxt_value *value)
{
	return value->kind == POSIX_TRACE_FIELD_SIGNED_NP && value->i < 0;
}

static enum order order_integers(const struct pxt_value *a, const struct pxt_value *b)
{
	if (is_negative(a) != is_negative(b))
		return is_negative(a) ? BELOW : ABOVE;
	/* Of one sign, two's complement orders them as it does numbers without sign. */
	return a->u < b->u ? BELOW : a->u > b->u ? ABOVE : SAME;
}

static long double real(const struct pxt_value *value)
{
	if (value->kind == POSIX_TRACE_FIELD_FLOAT_NP)
		return (long double)value->f;
	return is_negative(value) ? (long double)value->i : (long double)value->u;
}

static enum order order_reals(long double a, long double b)
{
	return a < b ? BELOW : a > b ? ABOVE : a >= b ? SAME : APART;
}

static enum order order_texts(const struct pxt_value *a, const struct pxt_value *b)
{
	size_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
	int order = bytes > 0 ? memcmp(a->text, b->text, bytes) : 0;

	if (order == 0)
		order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
	return order < 0 ? BELOW : order > 0 ? ABOVE : SAME;
}

static enum order order_of(const struct pxt_value *a, const struct pxt_value *b)
{
	bool a_text = a->kind == POSIX_TRACE_FIELD_TEXT_NP;
	bool b_text = b->kind == POSIX_TRACE_FIELD_TEXT_NP;

	if (a_text != b_text)
		return NEVER_COMPARED;
	if (a_text)
		return order_texts(a, b);
	if (a->kind == POSIX_TRACE_FIELD_FLOAT_NP || b->kind == POSIX_TRACE_FIELD_FLOAT_NP)
		return order_reals(real(a), real(b));
	return order_integers(a, b);
}

static enum answer matches(const struct pxt_value *text, const struct pxt_value *pattern)
{
	char copy[PXT_WHERE_BYTES + 1];

	if (text->kind != POSIX_TRACE_FIELD_TEXT_NP || text->bytes >= sizeof copy)
		return UNKNOWN;
	/* fnmatch() wants an end; a text with a NUL in it is looked at up to there. */
	memcpy(copy, text->text, text->bytes);
	copy[text->bytes] = '\0';
	return fnmatch(pattern->text, copy, 0) == 0 ? YES : NO;
}

static enum answer compare(
    const struct pxt_value *a, enum pxt_relation relation, const struct pxt_value *b)
{
	static const bool fits[][4] = {
		[PXT_EQUAL] = { [SAME] = true },
		[PXT_NOT_EQUAL] = { [BELOW] = true, [ABOVE] = true, [APART] = true },
		[PXT_LESS] = { [BELOW] = true },
		[PXT_LESS_EQUAL] = { [BELOW] = true, [SAME] = true },
		[PXT_GREATER] = { [ABOVE] = true },
		[PXT_GREATER_EQUAL] = { [ABOVE] = true, [SAME] = true },
	};
	enum answer answer;

	if (relation == PXT_LIKE || relation == PXT_NOT_LIKE) {
		answer = matches(a, b);
		return relation == PXT_LIKE ? answer : (enum answer)(YES - answer);
	}
	enum order order = order_of(a, b);
	if (order == NEVER_COMPARED)
		return UNKNOWN;
	return fits[relation][order] ? YES : NO;
}

static enum answer truth(const struct pxt_value *value)
{
	if (value->kind == POSIX_TRACE_FIELD_TEXT_NP)
		return value->bytes > 0 ? YES : NO;
	if (value->kind == POSIX_TRACE_FIELD_FLOAT_NP)
		return value->f < 0 || value->f > 0 ? YES : NO;
	return value->u != 0 ? YES : NO;
}

static enum answer answer_test(
    struct pxt_test *test, enum pxt_step_kind kind, const struct pxt_event *event, int64_t start_ns)
{
	struct pxt_value left;
	struct pxt_value right;

	if (!ask(&test->left, event, start_ns, &left))
		return kind == PXT_STEP_HAS ? NO : UNKNOWN;
	if (kind == PXT_STEP_HAS)
		return YES;
	if (kind == PXT_STEP_TRUTH)
		return truth(&left);
	if (!ask(&test->right, event, start_ns, &right))
		return UNKNOWN;
	take_word(&test->left, event, &left, &right);
	take_word(&test->right, event, &right, &left);
	return compare(&left, test->relation, &right);
}

bool pxt_where_true(struct pxt_where *where, const struct pxt_event *event, int64_t start_ns)
{
	enum answer stack[PXT_WHERE_TESTS + 1];
	unsigned height = 0;

	for (unsigned i = 0; i < where->step_count; i++) {
		const struct pxt_step *step = &where->steps[i];
		enum pxt_step_kind kind = (enum pxt_step_kind)step->kind;
		enum answer top = height > 0 ? stack[height - 1] : NO;

		switch (kind) {
		case PXT_STEP_NOT:
			stack[height - 1] = (enum answer)(YES - top);
			break;
		case PXT_STEP_AND:
			height--;
			if (top < stack[height - 1])
				stack[height - 1] = top;
			break;
		case PXT_STEP_OR:
			height--;
			if (top > stack[height - 1])
				stack[height - 1] = top;
			break;
		case PXT_STEP_TEST:
		case PXT_STEP_TRUTH:
		case PXT_STEP_HAS:
		default:
			stack[height++] =
			    answer_test(&where->tests[step->test], kind, event, start_ns);
		}
	}
	return height > 0 && stack[height - 1] == YES;
}
