/* SPDX-License-Identifier: MIT */
/*
 * rolesfile.c - reads a roles file.
 *
 *	file   = { line }                          '#' begins a comment; empty lines mean nothing
 *	line   = word event { option "=" value }   separated by blanks
 *
 *	word            options, and what their values are
 *	job-release     span=NAME key=FIELD
 *	job-start       span=NAME key=FIELD delay=FIELD         delay: ns since the release
 *	job-end         span=NAME key=FIELD
 *	deadline-miss   span=NAME key=FIELD late=FIELD thread=FIELD
 *	lock-wait       class=NAME lock=FIELD
 *	lock-acquire    class=NAME lock=FIELD
 *	lock-release    class=NAME lock=FIELD
 *	block           class=NAME on=FIELD
 *	wake            thread=FIELD               without it the thread wakes by itself
 *	switch          from=FIELD to=FIELD cpu=FIELD state=FIELD from-prio=FIELD to-prio=FIELD
 *	                from-name=FIELD to-name=FIELD
 *	thread-state    thread=FIELD prio=FIELD name=FIELD
 */
#include "tools/why/roles.h"

#include "tools/command/command.h"
#include "tools/output/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX 65536u
#define BLANKS         " \t\r"

static const struct word {
	const char *word;
	const char *name; /* the option that gives a name instead of a field */
	struct {
		const char *option;
		enum pxt_use use;
	} options[9];
} words[PXT_DEEDS] = {
	[PXT_JOB_RELEASE] = { "job-release", "span", { { "key", PXT_USE_KEY } } },
	[PXT_JOB_START] = { "job-start", "span",
	    { { "key", PXT_USE_KEY }, { "delay", PXT_USE_TIME }, { "ran", PXT_USE_RAN } } },
	[PXT_JOB_END] = { "job-end", "span", { { "key", PXT_USE_KEY }, { "ran", PXT_USE_RAN } } },
	[PXT_DEADLINE_MISS] = { "deadline-miss", "span",
	    { { "key", PXT_USE_KEY }, { "late", PXT_USE_TIME }, { "thread", PXT_USE_THREAD } } },
	[PXT_LOCK_WAIT] = { "lock-wait", "class", { { "lock", PXT_USE_KEY } } },
	[PXT_LOCK_ACQUIRE] = { "lock-acquire", "class", { { "lock", PXT_USE_KEY } } },
	[PXT_LOCK_RELEASE] = { "lock-release", "class", { { "lock", PXT_USE_KEY } } },
	[PXT_BLOCK] = { "block", "class", { { "on", PXT_USE_KEY } } },
	[PXT_WAKE] = { "wake", "class", { { "thread", PXT_USE_THREAD } } },
	[PXT_SWITCH] = { "switch", "class",
	    { { "from", PXT_USE_FROM }, { "to", PXT_USE_TO }, { "cpu", PXT_USE_CPU },
	        { "state", PXT_USE_STATE }, { "from-prio", PXT_USE_FROM_PRIO },
	        { "to-prio", PXT_USE_TO_PRIO }, { "from-name", PXT_USE_FROM_NAME },
	        { "to-name", PXT_USE_TO_NAME } } },
	[PXT_THREAD] = { "thread-state", "class",
	    { { "thread", PXT_USE_THREAD }, { "prio", PXT_USE_TO_PRIO },
	        { "name", PXT_USE_TO_NAME } } },
};

/* The options of a word, for people: "span=, key=". */
static void list_options(const struct word *word)
{
	char text[128];
	size_t used = (size_t)snprintf(text, sizeof text, "%s=NAME", word->name);

	for (unsigned i = 0; word->options[i].option; i++)
		used += (size_t)snprintf(
		    text + used, sizeof text - used, " %s=FIELD", word->options[i].option);
	pxt_explain("%s EVENT takes: %s", word->word, text);
}

static bool take_option(struct pxt_roles_book *book, struct pxt_role_line *line, char *option)
{
	const struct word *word = &words[line->deed];
	char *value = strchr(option, '=');

	if (!value || value == option || value[1] == '\0') {
		pxt_complain("%s:%u: \"%s\" is no option: an option is NAME=VALUE, without blanks",
		    book->path, line->number, option);
		list_options(word);
		return false;
	}
	*value++ = '\0';
	if (strcmp(option, word->name) == 0) {
		line->name = value;
		return true;
	}
	for (unsigned i = 0; word->options[i].option; i++) {
		if (strcmp(option, word->options[i].option) == 0) {
			line->fields[word->options[i].use] = value;
			return true;
		}
	}
	pxt_complain(
	    "%s:%u: %s has no option \"%s\"", book->path, line->number, word->word, option);
	list_options(word);
	return false;
}

/* What a line must say beside its event. */
static bool complete(const struct pxt_roles_book *book, const struct pxt_role_line *line)
{
	bool is_job = line->deed <= PXT_JOB_END;

	if (line->deed == PXT_SWITCH &&
	    (!line->fields[PXT_USE_FROM] || !line->fields[PXT_USE_TO])) {
		pxt_complain("%s:%u: a switch needs from=FIELD and to=FIELD: the threads that ran "
		             "and that runs now",
		    book->path, line->number);
		return false;
	}
	if (line->deed == PXT_THREAD && !line->fields[PXT_USE_THREAD]) {
		pxt_complain("%s:%u: a thread-state needs thread=FIELD: the system's number",
		    book->path, line->number);
		return false;
	}
	if (is_job && !line->name && pxt_roles_stem(line->event) == strlen(line->event)) {
		pxt_complain("%s:%u: of which span is \"%s\" the %s? Say span=NAME", book->path,
		    line->number, line->event, words[line->deed].word + 4);
		return false;
	}
	return true;
}

static bool find_word(
    const struct pxt_roles_book *book, struct pxt_role_line *line, const char *text)
{
	const char *names[PXT_DEEDS + 1] = { NULL };

	for (unsigned i = 0; i < PXT_DEEDS; i++) {
		names[i] = words[i].word;
		if (strcmp(text, words[i].word) == 0) {
			line->deed = (enum pxt_deed)i;
			return true;
		}
	}
	const char *meant = pxt_suggest(text, names);
	if (meant)
		pxt_complain("%s:%u: there is no role \"%s\"; did you mean \"%s\"?", book->path,
		    line->number, text, meant);
	else
		pxt_complain("%s:%u: there is no role \"%s\"", book->path, line->number, text);
	pxt_explain("roles: job-release, job-start, job-end, deadline-miss, lock-wait, "
	            "lock-acquire, lock-release, block, wake, switch");
	return false;
}

static bool take_line(struct pxt_roles_book *book, unsigned number, char *text)
{
	char *rest = NULL;

	text[strcspn(text, "#")] = '\0';
	char *word = strtok_r(text, BLANKS, &rest);
	if (!word)
		return true;
	if (book->line_count == PXT_ROLE_LINES_MAX) {
		pxt_complain("%s:%u: more than %u roles", book->path, number, PXT_ROLE_LINES_MAX);
		return false;
	}
	struct pxt_role_line *line = &book->lines[book->line_count++];
	line->number = number;
	if (!find_word(book, line, word))
		return false;
	line->event = strtok_r(NULL, BLANKS, &rest);
	if (!line->event || strchr(line->event, '=')) {
		pxt_complain("%s:%u: %s wants the name of an event behind it", book->path, number,
		    line->event ? word : words[line->deed].word);
		list_options(&words[line->deed]);
		return false;
	}
	for (char *option = strtok_r(NULL, BLANKS, &rest); option;
	     option = strtok_r(NULL, BLANKS, &rest))
		if (!take_option(book, line, option))
			return false;
	return complete(book, line);
}

/* The whole file as a text; NULL, with a word to the user. */
static char *read_text(const char *path)
{
	char *text = pxt_must(malloc(FILE_BYTES_MAX + 1));
	int fd = pxt_open_named(path, PXT_OPEN_WAIT_MS);
	size_t used = 0;
	ssize_t bytes = -1;

	while (fd >= 0 && used <= FILE_BYTES_MAX &&
	       (bytes = read(fd, text + used, FILE_BYTES_MAX + 1 - used)) > 0)
		used += (size_t)bytes;
	int error = errno;
	if (fd >= 0)
		(void)close(fd);
	if (fd < 0 || bytes < 0) {
		pxt_complain("--roles: %s: %s", path, pxt_open_error(error));
		pxt_explain("it is a file of yours, with a line for each event that is called "
		            "otherwise: job-start frame_in span=frame");
	} else if (used > FILE_BYTES_MAX)
		pxt_complain("--roles: %s: longer than %u bytes", path, FILE_BYTES_MAX);
	else if (memchr(text, 0, used))
		pxt_complain("--roles: %s: is no text file", path);
	else {
		text[used] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

bool pxt_roles_read(struct pxt_roles_book *book, const char *path)
{
	unsigned number = 1;

	if (book->path) {
		pxt_complain("--roles was given twice: one file holds all roles");
		return false;
	}
	book->path = path;
	book->text = read_text(path);
	if (!book->text)
		return false;
	for (char *at = book->text; at; number++) {
		char *end = strchr(at, '\n');

		if (end)
			*end++ = '\0';
		if (!take_line(book, number, at))
			return false;
		at = end;
	}
	if (book->line_count > 0)
		return true;
	pxt_complain("--roles: %s: says nothing", path);
	return false;
}
