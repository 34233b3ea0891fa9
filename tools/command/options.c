/* SPDX-License-Identifier: MIT */
/* options.c - what all commands say of their options. */
#include "tools/command/command.h"

#include "tools/output/out.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pxt_help(const char *const *pieces)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	for (; *pieces; pieces++)
		pxt_out_text(&out, *pieces);
	return pxt_finish(&out);
}

/* Printable ASCII as it is, so that what is below each other stays there. */
static void show(const char *text)
{
	char line[128];
	int bytes = snprintf(line, sizeof line, "         %s\n", text);

	(void)!write(
	    STDERR_FILENO, line, (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line - 1);
}

int pxt_usage(const char *command)
{
	if (command)
		pxt_explain("`pxtrace %s --help` shows the options and an example", command);
	else
		pxt_explain("`pxtrace --help` shows the commands and an example");
	return PXT_EXIT_USAGE;
}

bool pxt_option_number(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most)
{
	char *end;

	errno = 0;
	uintmax_t number = strtoumax(value, &end, 10);
	/* strtoumax() takes blanks and signs, too. */
	if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0 && number >= least &&
	    number <= most) {
		*to = number;
		return true;
	}
	if (least == 0 && most == UINT64_MAX)
		pxt_complain("%s wants a number, not \"%s\"", option, value);
	else
		pxt_complain("%s wants a number from %llu to %llu, not \"%s\"", option,
		    (unsigned long long)least, (unsigned long long)most, value);
	return false;
}

/* What stands behind a number of bytes, as a shift; -1: nothing that means one. */
static int shift_of(const char *unit)
{
	static const char letters[] = "KMG";
	const char *letter = *unit ? strchr(letters, *unit) : NULL;

	if (*unit == '\0' || strcmp(unit, "B") == 0)
		return 0;
	if (!letter || (unit[1] && strcmp(unit + 1, "iB") != 0))
		return -1;
	return 10 * (int)(letter - letters + 1);
}

bool pxt_option_bytes(
    uint64_t *to, const char *value, const char *option, uint64_t least, uint64_t most)
{
	char *end = NULL;
	uintmax_t number;
	int shift;

	errno = 0;
	number = *value >= '0' && *value <= '9' ? strtoumax(value, &end, 10) : 0;
	shift = end ? shift_of(end) : -1;
	if (shift < 0 || errno != 0 || number > UINT64_MAX >> shift) {
		pxt_complain(
		    "%s wants a number of bytes (65536, 64K, 10MiB), not \"%s\"", option, value);
		return false;
	}
	*to = (uint64_t)number << shift;
	if (*to >= least && *to <= most)
		return true;
	if (*to < least)
		pxt_complain("%s: %s is too little; at least %llu bytes", option, value,
		    (unsigned long long)least);
	else
		pxt_complain("%s: %s is too much; at most %llu bytes", option, value,
		    (unsigned long long)most);
	return false;
}

bool pxt_text_wrong(struct pxt_text_error *error, size_t at, const char *format, ...)
{
	va_list args;

	error->at = at;
	va_start(args, format);
	(void)vsnprintf(error->reason, sizeof error->reason, format, args);
	va_end(args);
	return false;
}

void pxt_text_complain(const char *option, const char *text, const struct pxt_text_error *error)
{
	enum {
		BEFORE = 50,
		BEHIND = 20
	};
	size_t length = strlen(text);
	size_t at = error->at < length ? error->at : length;
	size_t from = at > BEFORE ? at - BEFORE : 0;
	size_t to = length - at > BEHIND ? at + BEHIND : length;
	char shown[BEFORE + BEHIND + 1];
	char caret[BEFORE + 2];

	/* One column a byte, so that the caret is below what it means. */
	for (size_t i = from; i < to; i++)
		shown[i - from] = (char)(text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?');
	shown[to - from] = '\0';
	memset(caret, ' ', at - from);
	caret[at - from] = '^';
	caret[at - from + 1] = '\0';
	pxt_complain("%s: %s", option, error->reason);
	show(shown);
	show(caret);
}

int pxt_option_error(const char *command, int code, char **argv, const struct option *options)
{
	const char *names[64] = { NULL };
	const char *word = argv[optind - 1];
	const char *meant;

	if (code == ':') {
		pxt_complain("%s: %s wants a value behind it", command, word);
		return pxt_usage(command);
	}
	if (strncmp(word, "--", 2) != 0) {
		pxt_complain("%s: there is no option -%c", command, optopt);
		return pxt_usage(command);
	}
	for (size_t i = 0; i + 1 < sizeof names / sizeof *names && options[i].name; i++)
		names[i] = options[i].name;
	meant = pxt_suggest(word + 2, names);
	if (optopt != 0)
		pxt_complain("%s: %s takes no value", command, word);
	else if (meant)
		pxt_complain("%s: there is no option %s; did you mean --%s?", command, word, meant);
	else
		pxt_complain("%s: there is no option %s", command, word);
	return pxt_usage(command);
}

/* ---- The distance of two words ---- */

/* Insertions, deletions and replacements that lead from @a to @b; words beyond 63 bytes: many. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t length = strlen(b);

	if (length >= sizeof row / sizeof *row || strlen(a) >= sizeof row / sizeof *row)
		return 99;
	for (unsigned k = 0; k <= length; k++)
		row[k] = k;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			unsigned replaced = diagonal + (*a != b[k - 1]);
			unsigned other = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;

			diagonal = row[k];
			row[k] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

bool pxt_suggest_nearer(const char *word, const char *name, unsigned *least)
{
	unsigned d = distance(word, name);

	/* A beginning of two letters is as good as a word with few mistakes. */
	if (strlen(word) >= 2 && strncmp(word, name, strlen(word)) == 0)
		d = 0;
	if (d >= *least || d + 1 >= strlen(name))
		return false;
	*least = d;
	return true;
}

const char *pxt_suggest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = PXT_SUGGEST_FAR;

	for (; *names; names++)
		if (pxt_suggest_nearer(word, *names, &least))
			best = *names;
	return best;
}
