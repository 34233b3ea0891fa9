/* SPDX-License-Identifier: MIT */
/* procinfo.c - lines of process information; see blackbox.h. */
#include "blackbox/blackbox.h"

#include "format/compiler.h"
#include "port/port.h"
#include "port/port_sysinfo.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
	char *to; /* NULL: bytes are only counted */
	size_t room;
	size_t used;
	size_t whole; /* up to the end of the last line that fits */
};

static void put(struct text *text, char byte)
{
	if (text->to && text->used < text->room)
		text->to[text->used] = byte;
	text->used++;
}

static void put_word(struct text *text, const char *word)
{
	while (*word != '\0')
		put(text, *word++);
}

/* Paths may hold anything; a line is one line. */
static void put_foreign(struct text *text, const char *from)
{
	for (; *from != '\0'; from++) {
		if ((unsigned char)*from < ' ' || *from == 0x7f)
			put(text, '?');
		else
			put(text, *from);
	}
}

static void put_number(struct text *text, uint64_t value, unsigned base, unsigned digits)
{
	char reversed[20];
	unsigned count = 0;

	do {
		reversed[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || count < digits);
	while (count)
		put(text, reversed[--count]);
}

static void end_line(struct text *text)
{
	put(text, '\n');
	if (!text->to || text->used <= text->room)
		text->whole = text->used;
}

static void put_digits(struct text *text, const unsigned char *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_number(text, bytes[i], 16, 2);
}

static void put_buildid(struct text *text, const struct pxt_port_module *module)
{
	if (!module->buildid_bytes)
		put(text, '-');
	put_digits(text, module->buildid, module->buildid_bytes);
}

static void put_module(void *context, const struct pxt_port_module *module)
{
	struct text *text = context;

	put_word(text, "module ");
	put_number(text, module->base, 16, 1);
	put(text, ' ');
	put_number(text, module->low, 16, 1);
	put(text, ' ');
	put_number(text, module->high, 16, 1);
	put(text, ' ');
	put_buildid(text, module);
	put(text, ' ');
	put_foreign(text, module->path);
	end_line(text);
}

static void put_known(struct text *text, const char *word, const char *what)
{
	if (*what == '\0')
		return;
	put_word(text, word);
	put_foreign(text, what);
	end_line(text);
}

static void put_start(struct text *text)
{
	struct timespec start;

	pxt_port_process_start(&start);
	if (!start.tv_sec)
		return;
	put_word(text, "started ");
	put_number(text, (uint64_t)start.tv_sec, 10, 1);
	put(text, '.');
	put_number(text, (uint64_t)start.tv_nsec, 10, 9);
	end_line(text);
}

static void put_boot(struct text *text)
{
	static const unsigned char none[16];
	unsigned char id[16];

	pxt_port_boot_id(id);
	if (!memcmp(id, none, sizeof(id)))
		return;
	put_word(text, "boot ");
	put_digits(text, id, sizeof(id));
	end_line(text);
}

static void put_cpus(struct text *text)
{
	put_word(text, "cpus ");
	put_number(text, pxt_port_cpus(), 10, 1);
	end_line(text);
}

static void put_all(struct text *text)
{
	char known[256];

	pxt_port_executable(known, sizeof(known));
	put_known(text, "executable ", known);
	pxt_port_host(known, sizeof(known));
	put_known(text, "host ", known);
	pxt_port_system(known, sizeof(known));
	put_known(text, "system ", known);
	put_cpus(text);
	put_start(text);
	put_boot(text);
	pxt_port_modules(put_module, text);
}

size_t pxt_procinfo_bytes(void)
{
	struct text text = { .to = NULL };

	put_all(&text);
	return text.used;
}

size_t pxt_procinfo_write(char *to, size_t room)
{
	struct text text = { .to = to, .room = room };

	put_all(&text);
	return text.whole;
}
