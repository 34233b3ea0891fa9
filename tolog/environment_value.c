/* SPDX-License-Identifier: MIT */
/* environment_value.c - reading the value of PXTRACE_OUT; see environment_value.h. */
#include "tolog/environment_value.h"

/* That are kept of a log that goes from file to file. */
#define FILES 8u

/* What is wrong, for the complaint. */
static char wrong[PXT_ASKED_OPTIONS];

/* Digits of @base up to the end, or to one letter for a multiple; false: it is no such number. */
static bool read_number(const char *text, unsigned base, bool multiples, uint64_t *number)
{
	static const char letters[] = "KMG";
	const char *letter;

	*number = 0;
	if (!*text)
		return false;
	for (; *text >= '0' && *text < (char)('0' + base); text++) {
		if (*number > (UINT64_MAX >> 8) / base)
			return false;
		*number = *number * base + (unsigned)(*text - '0');
	}
	if (!*text)
		return true;
	letter = multiples ? strchr(letters, *text) : NULL;
	if (!letter || text[1])
		return false;
	for (unsigned i = 0; i <= (unsigned)(letter - letters); i++) {
		if (*number > UINT64_MAX >> 10)
			return false;
		*number <<= 10;
	}
	return true;
}

static const char *set_size(struct pxt_asked *asked, const char *value)
{
	uint64_t number;

	return read_number(value, 10, true, &number) && number <= SIZE_MAX &&
	               posix_trace_attr_setstreamsize(&asked->attr, (size_t)number) == 0
	           ? NULL
	           : "a number of bytes is wanted, as 65536, 512K, 64M";
}

static const char *set_lanes(struct pxt_asked *asked, const char *value)
{
	uint64_t number;

	return read_number(value, 10, false, &number) && number <= UINT32_MAX && number != 0 &&
	               posix_trace_attr_setlanes_np(&asked->attr, (unsigned)number) == 0
	           ? NULL
	           : "a power of two is wanted, 16 at most";
}

static const char *set_policy(struct pxt_asked *asked, const char *value)
{
	static const struct {
		const char *name;
		int policy;
	} policies[] = { { "flush", POSIX_TRACE_FLUSH }, { "loop", POSIX_TRACE_LOOP },
		{ "until-full", POSIX_TRACE_UNTIL_FULL }, { "discard", POSIX_TRACE_DISCARD_NP } };

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(value, policies[i].name) == 0)
			return posix_trace_attr_setstreamfullpolicy(
			           &asked->attr, policies[i].policy) == 0
			           ? NULL
			           : "the library was built without it";
	}
	return "flush, loop, until-full or discard is wanted";
}

static const char *set_mode(struct pxt_asked *asked, const char *value)
{
	uint64_t number;

	if (!read_number(value, 8, false, &number) || number > 0777 || (number & 0600) != 0600)
		return "an octal number is wanted by which the user may read and write, as 600";
	asked->mode = (uint32_t)number;
	return NULL;
}

static const char *set_box(struct pxt_asked *asked, const char *value)
{
	if (strcmp(value, "no") != 0)
		return "only \"no\" can be said";
	asked->box = false;
	return NULL;
}

/* A time, "90s", "10min", "1h" or "7d"; false: it is none. */
static bool read_seconds(const char *text, uint32_t *seconds)
{
	static const struct {
		const char *name;
		uint32_t seconds;
	} units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 } };
	size_t digits = strspn(text, "0123456789");
	char number[16];
	uint64_t count;

	if (digits == 0 || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text + digits, units[i].name) != 0)
			continue;
		if (!read_number(number, 10, false, &count) || count == 0 ||
		    count > UINT32_MAX / units[i].seconds)
			return false;
		*seconds = (uint32_t)count * units[i].seconds;
		return true;
	}
	return false;
}

static const char *set_rotation(struct pxt_asked *asked, const char *value)
{
	if (!CONFIG_PTRACE_LOG_ROTATE)
		return "the library was built without it";
	asked->rotates = true;
	if (read_seconds(value, &asked->seconds))
		return NULL;
	return read_number(value, 10, true, &asked->rotate) && asked->rotate >= 65536
	           ? NULL
	           : "a number of bytes is wanted, 65536 at least, as 512K, 64M; or a time, as "
	             "10min, 1h";
}

static const char *set_files(struct pxt_asked *asked, const char *value)
{
	uint64_t number;

	if (!read_number(value, 10, false, &number) || number == 0 || number > 9999)
		return "a number of files is wanted, 9999 at most";
	asked->files = (uint32_t)number;
	return NULL;
}

static const char *set(struct pxt_asked *asked, const char *option)
{
	static const struct {
		const char *name;
		const char *(*set)(struct pxt_asked *asked, const char *value);
	} options[] = { { "size=", set_size }, { "policy=", set_policy }, { "lanes=", set_lanes },
		{ "mode=", set_mode }, { "box=", set_box }, { "rotate=", set_rotation },
		{ "files=", set_files } };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t bytes = strlen(options[i].name);

		if (strncmp(option, options[i].name, bytes) == 0)
			return options[i].set(asked, option + bytes);
	}
	return "size=, policy=, lanes=, mode=, box=, rotate= or files= is wanted";
}

/* Up to the next comma, or the end; false: there is no room for it. */
static bool cut(char *to, size_t room, const char **text)
{
	size_t bytes = strcspn(*text, ",");

	if (bytes >= room)
		return false;
	memcpy(to, *text, bytes);
	to[bytes] = '\0';
	*text += bytes;
	return true;
}

const char *pxt_environment_value_read(struct pxt_asked *asked, const char *text, const char **why)
{
	static const char too_long[] = "File name too long";

	*why = too_long;
	asked->mode = 0666;
	asked->box = CONFIG_PTRACE_FILE_STREAMS;
	asked->files = FILES;
	(void)posix_trace_attr_init(&asked->attr);
	if (strlen(text) >= sizeof(asked->text) ||
	    strcspn(text, ",") + strlen(asked->folder) >= sizeof(asked->pattern))
		return "";
	memcpy(asked->text, text, strlen(text) + 1);
	if (!cut(asked->pattern, sizeof(asked->pattern), &text))
		return "";
	while (*text++ == ',') {
		if (!cut(wrong, sizeof(wrong), &text))
			return "";
		*why = set(asked, wrong);
		if (*why)
			return wrong;
	}
	/* Files are called as their folder is, which may be named with a slash. */
	for (size_t end = strlen(asked->pattern);
	     asked->rotates && end > 1 && asked->pattern[end - 1] == '/'; end--)
		asked->pattern[end - 1] = '\0';
	*why = NULL;
	return NULL;
}
