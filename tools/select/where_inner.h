/* SPDX-License-Identifier: MIT */
/*
 * where_inner.h - a condition taken apart.  where_words.c finds words in the text, where.c makes
 * steps of them, where_eval.c follows the steps.
 */
#ifndef PXT_WHERE_INNER_H
#define PXT_WHERE_INNER_H

#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/select/select.h"

/* ---- Words ---- */

enum pxt_word_kind {
	PXT_WORD_END,
	PXT_WORD_NAME,  /* @begin, @bytes; a dot before it is not part of it */
	PXT_WORD_VALUE, /* a number or a text */
	PXT_WORD_OPEN,
	PXT_WORD_CLOSE,
	PXT_WORD_RELATION,
	PXT_WORD_AND,
	PXT_WORD_OR,
	PXT_WORD_NOT,
	PXT_WORD_HAS
};

enum pxt_relation {
	PXT_EQUAL,
	PXT_NOT_EQUAL,
	PXT_LESS,
	PXT_LESS_EQUAL,
	PXT_GREATER,
	PXT_GREATER_EQUAL,
	PXT_LIKE,
	PXT_NOT_LIKE
};

struct pxt_word {
	enum pxt_word_kind kind;
	enum pxt_relation relation;
	bool dotted;
	bool plain; /* a number without unit */
	size_t at;  /* in the condition */
	const char *begin;
	size_t bytes;
	struct pxt_value value; /* a text's is in the pool */
};

struct pxt_words {
	const char *text;
	const char *next;
	char *pool; /* where texts are put without their escapes: as long as the condition */
	size_t pool_used;
	struct pxt_text_error *error;
};

/* The next word; false: it is none, and the error says why. */
bool pxt_next_word(struct pxt_words *words, struct pxt_word *word);

/* Makes nanoseconds of a plain number of seconds, which is at @at of the condition. */
bool pxt_word_seconds(struct pxt_words *words, size_t at, struct pxt_value *value);

/* ---- The condition ---- */

enum pxt_built_in {
	PXT_IN_TIME,
	PXT_IN_EVENT,
	PXT_IN_THREAD,
	PXT_IN_PID,
	PXT_IN_TID,
	PXT_IN_CPU,
	PXT_IN_LOST,
	PXT_IN_BYTES,
	PXT_IN_CUT
};

enum pxt_operand_kind {
	PXT_OPERAND_VALUE,
	PXT_OPERAND_BUILT_IN,
	PXT_OPERAND_FIELD
};

/* Where a field is in a type's data, remembered for the types that came last. */
#define PXT_WHERE_PLACES 32u
struct pxt_where_place {
	const struct pxt_type *type;
	const struct pxt_layout *layout;
	unsigned field_count; /* a growing log may describe a type late */
};

struct pxt_operand {
	enum pxt_operand_kind kind;
	enum pxt_built_in built_in;
	bool plain; /* a number without unit */
	size_t at;
	size_t end;
	struct pxt_value value;
	char name[64];
	struct pxt_where_place *places;
};

struct pxt_test {
	struct pxt_operand left;
	struct pxt_operand right;
	enum pxt_relation relation;
};

enum pxt_step_kind {
	PXT_STEP_TEST,  /* relation of test @test */
	PXT_STEP_TRUTH, /* whether its left operand is neither 0 nor empty */
	PXT_STEP_HAS,   /* whether the event has its left operand */
	PXT_STEP_NOT,
	PXT_STEP_AND,
	PXT_STEP_OR
};

struct pxt_step {
	uint8_t kind;
	uint8_t test;
};

/* Postfix: tests put an answer on a stack, the other steps work on what is on top of it. */
struct pxt_where {
	struct pxt_step steps[4 * PXT_WHERE_TESTS];
	unsigned step_count;
	unsigned test_count;
	struct pxt_test tests[PXT_WHERE_TESTS];
	char pool[PXT_WHERE_BYTES + 1];
};

#endif
