/* SPDX-License-Identifier: MIT */
/* options.c - the options of all commands, and what is said of them. */
#include "tools/command/command.h"

#include "tools/output/out.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

bool pxt_option_time(int64_t *to, const char *value, const char *option, int64_t least)
{
	struct pxt_when when = { 0 };

	if (!pxt_when_parse(value, &when) || when.absolute || when.ns < least) {
		pxt_complain("%s wants a duration (5ms, 250us, 1.5), not \"%s\"", option, value);
		return false;
	}
	*to = when.ns;
	return true;
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

/* ---- The command line ---- */

static bool take_colour(void *self, char *value)
{
	*(const char **)self = value;
	return pxt_colour_valid(value);
}

const struct pxt_option pxt_colour_options[] = {
	PXT_OPT_TAKE(0, "color", take_colour),
	{ PXT_OPTION_ALIAS, .name = "colour" },
	PXT_OPT_END,
};

#define OPTIONS_MAX 64u
#define NESTED      4u
#define FIRST_CODE  256 /* above all letters */

/* All options of a command, those of @more among them, as getopt_long() wants them. */
struct table {
	unsigned count;
	struct entry {
		const struct pxt_option *option;
		char *self;
		const struct pxt_option *group; /* that it is one of; NULL: none */
		char *self_of_group;
	} entries[OPTIONS_MAX];
	struct option list[OPTIONS_MAX + 2];
	char letters[2 * OPTIONS_MAX + 2];
	const struct pxt_option *word;
};

static void add_letter(char *letters, char letter, bool has_value)
{
	size_t used = strlen(letters);

	letters[used++] = letter;
	if (has_value)
		letters[used++] = ':';
	letters[used] = '\0';
}

static void add_option(struct table *table, struct entry entry)
{
	const struct pxt_option *option = entry.option;
	unsigned at = table->count;
	bool has_value = option->kind != PXT_OPTION_FLAG && option->kind != PXT_OPTION_DO;

	if (option->kind == PXT_OPTION_WORD) {
		table->word = option;
		return;
	}
	if (at == OPTIONS_MAX)
		abort();
	table->entries[at] = entry;
	table->list[at] = (struct option){ option->name, has_value, NULL, FIRST_CODE + (int)at };
	if (option->kind == PXT_OPTION_ALIAS)
		table->list[at].val--;
	if (option->letter)
		add_letter(table->letters, option->letter, has_value);
	table->count++;
}

/* Options that are in others are in place of them. */
static void add_options(struct table *table, const struct pxt_option *options, void *self)
{
	struct entry within[NESTED] = { { .option = options, .self = self } };
	struct entry *at = within;

	while (at >= within) {
		const struct pxt_option *option = at->option++;

		if (option->kind == PXT_OPTION_END) {
			at--;
		} else if (option->kind != PXT_OPTION_MORE) {
			add_option(table,
			    (struct entry){ option, at->self, at->group, at->self_of_group });
		} else if (at + 1 == within + NESTED) {
			abort();
		} else {
			at[1] = (struct entry){ .option = option->more,
				.self = option->to ? option->to : at->self + option->at,
				.group = option->take ? option : at->group,
				.self_of_group = option->take ? at->self : at->self_of_group };
			at++;
		}
	}
}

static bool take_value(const struct pxt_option *option, char *self, char *value)
{
	void *to = self + option->at;
	uint64_t number = 0;
	char name[64];
	bool good;

	(void)snprintf(name, sizeof name, "--%s", option->name);
	switch (option->kind) {
	case PXT_OPTION_FLAG:
		return *(bool *)to = true;
	case PXT_OPTION_TEXT:
		*(const char **)to = value;
		return true;
	case PXT_OPTION_TIME:
		return pxt_option_time(to, value, name, (int64_t)option->least);
	case PXT_OPTION_NUMBER:
		good = pxt_option_number(&number, value, name, option->least, option->most);
		break;
	case PXT_OPTION_BYTES:
		good = pxt_option_bytes(&number, value, name, option->least, option->most);
		break;
	case PXT_OPTION_END:
	case PXT_OPTION_TAKE:
	case PXT_OPTION_DO:
	case PXT_OPTION_ALIAS:
	case PXT_OPTION_MORE:
	case PXT_OPTION_WORD:
	default:
		return option->take(self, value);
	}
	if (good && option->bytes == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)number;
	else if (good)
		*(uint64_t *)to = number;
	return good;
}

static bool take_entry(const struct entry *entry, char *value)
{
	return take_value(entry->option, entry->self, value) &&
	       (!entry->group || entry->group->take(entry->self_of_group, value));
}

/* @code: '?' (no such option) or ':' (an option without its value). */
static int tell_error(const char *command, int code, char **argv, const struct table *table)
{
	const char *names[OPTIONS_MAX + 2] = { NULL };
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
	for (unsigned i = 0; table->list[i].name; i++)
		names[i] = table->list[i].name;
	meant = pxt_suggest(word + 2, names);
	if (optopt != 0)
		pxt_complain("%s: %s takes no value", command, word);
	else if (meant)
		pxt_complain("%s: there is no option %s; did you mean --%s?", command, word, meant);
	else
		pxt_complain("%s: there is no option %s", command, word);
	return pxt_usage(command);
}

/* The entry of what getopt_long() found. */
static const struct entry *entry_of(const struct table *table, int code)
{
	for (unsigned i = 0; code < FIRST_CODE && i < table->count; i++)
		if (table->entries[i].option->letter == code)
			return &table->entries[i];
	return &table->entries[code - FIRST_CODE];
}

int pxt_options_read(const struct pxt_command *command, void *self, int argc, char **argv)
{
	struct table table = { .letters = "" };
	bool good = true;
	int code;

	add_options(&table, command->options, self);
	table.list[table.count] = (struct option){ "help", no_argument, NULL, 'h' };
	add_letter(table.letters, 'h', false);
	/* What comes first says what becomes of words, and that errors are told by us. */
	const char *order = command->stops ? "+:" : table.word ? "-:" : ":";
	char letters[sizeof table.letters + 2];
	(void)snprintf(letters, sizeof letters, "%s%s", order, table.letters);
	while (good && (code = getopt_long(argc, argv, letters, table.list, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(command->help);
		if (code == '?' || code == ':')
			return tell_error(command->name, code, argv, &table);
		good = code == 1 ? table.word->take(self, optarg)
		                 : take_entry(entry_of(&table, code), optarg);
	}
	/* Behind "--". */
	for (; good && table.word && optind < argc; optind++)
		good = table.word->take(self, argv[optind]);
	if (!good)
		return pxt_usage(command->name);
	if (!command->wants || optind < argc)
		return -1;
	pxt_complain("%s: %s", command->name, command->wants);
	return pxt_usage(command->name);
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

#define COMMANDS_MAX 32u

int pxt_command_unknown(const struct pxt_command_table *table, int argc, char **argv)
{
	const char *names[COMMANDS_MAX] = { NULL };
	const char *word = argv[1];
	const char *meant;

	for (size_t i = 0; table->list[i] && i + 1 < COMMANDS_MAX; i++)
		names[i] = table->list[i]->name;
	for (int i = 2; i < argc; i++) {
		for (size_t k = 0; names[k]; k++) {
			if (strcmp(argv[i], names[k]) != 0)
				continue;
			pxt_complain("the %s comes first: %s %s %s", table->what, table->before,
			    names[k], word);
			return PXT_EXIT_USAGE;
		}
	}
	meant = pxt_suggest(word, names);
	if (access(word, F_OK) == 0)
		pxt_complain("\"%s\" is a file, not a %s; perhaps: %s %s %s", word, table->what,
		    table->before, table->usual, word);
	else if (meant)
		pxt_complain(
		    "there is no %s \"%s\"; did you mean \"%s\"?", table->what, word, meant);
	else
		pxt_complain("there is no %s \"%s\"", table->what, word);
	return pxt_usage(table->usage);
}
