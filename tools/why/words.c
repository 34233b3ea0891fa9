/* SPDX-License-Identifier: MIT */
/* words.c - texts for names, times and places; see words.h. */
#include "tools/why/words.h"

#include "tools/output/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pxt_say(struct pxt_words *words, const char *format, ...)
{
	size_t room = sizeof words->text - words->used;
	va_list args;

	va_start(args, format);
	int bytes = vsnprintf(words->text + words->used, room, format, args);
	va_end(args);
	if (bytes <= 0)
		return;
	if ((size_t)bytes < room) {
		words->used += (size_t)bytes;
		return;
	}
	/* Cut, but not within a character. */
	words->used = sizeof words->text - 1;
	while (words->used > 0 && ((unsigned char)words->text[words->used - 1] & 0xc0) == 0x80)
		words->used--;
	if (words->used > 0 && ((unsigned char)words->text[words->used - 1] & 0xc0) == 0xc0)
		words->used--;
	words->text[words->used] = '\0';
}

/* ---- Names ---- */

void pxt_say_name(struct pxt_words *words, const struct pxt_roles_book *book, uint32_t name,
    const struct pxt_key *key)
{
	char text[4 * TRACE_EVENT_NAME_MAX + 1] = "span";

	if (name != PXT_NO_NAME)
		(void)pxt_escape(
		    book->names[name], strlen(book->names[name]), text, sizeof text, NULL);
	pxt_say(words, "%s%s%s", text, key && key->is_set ? " " : "",
	    key && key->is_set ? key->label : "");
}

/* A lock of which system events tell is the variable that it lies in, or what was first done with it. */
static void say_system_lock(struct pxt_words *words, const struct pxt_roles_book *book,
    uint32_t name, const struct pxt_key *key, const struct pxt_log_address *self,
    const struct pxt_log_address *first)
{
	const char *text = pxt_places_variable(book->places, self);

	if (text) {
		pxt_say(words, "%s", text);
		return;
	}
	pxt_say_name(words, book, name, key);
	if (words->brief < PXT_BRIEF_WAKERS &&
	    pxt_say_place(words, book, " (first used in ", first))
		pxt_say(words, ")");
}

void pxt_say_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock)
{
	if (lock->of_system && lock->key.is_set) {
		say_system_lock(words, book, lock->name, &lock->key, &lock->self, &lock->first);
		return;
	}
	if (!lock->key.is_set)
		pxt_say(words, "the lock ");
	pxt_say_name(words, book, lock->name, &lock->key);
}

const char *pxt_word_had(const struct pxt_state_lock *lock)
{
	if (!lock->is_given)
		return "had";
	return lock->is_futex ? "woke" : "posted";
}

bool pxt_say_lock_short(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock)
{
	const char *text = lock->of_system ? pxt_places_variable(book->places, &lock->self) : NULL;

	if (text)
		pxt_say(words, "%s", text);
	else if (lock->of_system)
		pxt_say_name(words, book, lock->name, &lock->key);
	else
		pxt_say_lock(words, book, lock);
	return text || !lock->of_system;
}

void pxt_say_late_lock(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	if (late->of_system && late->key.is_set)
		say_system_lock(words, book, late->name, &late->key, &late->self, &late->first);
	else
		pxt_say_name(words, book, late->name, &late->key);
}

void pxt_say_mode(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	if (late->mode != PXT_NO_NAME)
		pxt_say(words, " (to %s)", book->names[late->mode]);
}

static void say_late_lock_short(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_late *late)
{
	const char *text = late->of_system ? pxt_places_variable(book->places, &late->self) : NULL;

	if (text)
		pxt_say(words, "%s", text);
	else
		pxt_say_name(words, book, late->name, &late->key);
	pxt_say_mode(words, book, late);
}

void pxt_say_span(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_blame *blame)
{
	const struct pxt_actor *actor = blame->actor;
	const char *name = blame->late.name != PXT_NO_NAME ? book->names[blame->late.name] : NULL;

	if (blame->late.kind != PXT_LATE_SPAN) {
		pxt_say(words, "%s, ", actor ? actor->name : "?");
		if (blame->late.kind == PXT_LATE_OFF)
			pxt_say(words, "off the CPU");
		else if (pxt_late_is_round(&blame->late))
			pxt_say(words, blame->late.kind == PXT_LATE_ROUND ? "a round" : "its wait");
		else
			say_late_lock_short(words, book, &blame->late);
		return;
	}
	/* Where a thread's jobs are called as the thread is, or the miss alone tells of the job. */
	if (!name || (actor && strcmp(actor->raw, name) == 0 && blame->late.key.is_set))
		pxt_say(words, "job %s", blame->late.key.is_set ? blame->late.key.label : "?");
	else
		pxt_say_name(words, book, blame->late.name, &blame->late.key);
	if (actor)
		pxt_say(words, " of %s", actor->name);
}

void pxt_say_ns(struct pxt_words *words, int64_t ns)
{
	char text[24];

	pxt_duration(text, ns < 0 ? 0 : (uint64_t)ns);
	pxt_say(words, "%s", text);
}

/* ---- Places ---- */

/* The name of the function alone: without its file, and without what stands in <>. */
static void say_function(struct pxt_words *words, const char *place)
{
	bool has_types = !strstr(place, "operator");
	unsigned depth = 0;

	for (const char *at = place; *at && (depth > 0 || strncmp(at, " (", 2) != 0); at++) {
		depth += *at == '<' && has_types;
		if (depth == 0)
			pxt_say(words, "%c", *at);
		depth -= *at == '>' && depth > 0;
	}
}

bool pxt_say_place(struct pxt_words *words, const struct pxt_roles_book *book, const char *before,
    const struct pxt_log_address *at)
{
	const char *place = at->address.value ? pxt_places_code(book->places, at) : NULL;

	if (!place)
		return false;
	pxt_say(words, "%s", before);
	if (words->brief >= PXT_BRIEF_PLACES)
		say_function(words, place);
	else
		pxt_say(words, "%s", place);
	return true;
}

/* Of C++ code, addr2line calls what was put into a function as that function. */
static bool is_same_function(const char *a, const char *b)
{
	size_t bytes = strcspn(a, "(");

	while (bytes > 0 && a[bytes - 1] == ' ')
		bytes--;
	return strncmp(a, b, bytes) == 0 && strchr(" (", b[bytes]);
}

void pxt_say_caller(struct pxt_words *words, const struct pxt_roles_book *book,
    const struct pxt_log_address *at, const uint64_t *above)
{
	const char *caller = at->address.value ? pxt_places_caller(book->places, at, above) : NULL;

	if (!caller || words->brief >= PXT_BRIEF_CALLERS ||
	    is_same_function(pxt_places_code(book->places, at), caller))
		return;
	pxt_say(words, ", called by ");
	say_function(words, caller);
}
