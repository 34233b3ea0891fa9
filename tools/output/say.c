/* SPDX-License-Identifier: MIT */
/* say.c - what all commands say when something fails. */
#include "tools/output/out.h"

#include "format/imageheader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void (*listening)(const char *line);

void pxt_say_to(void (*listener)(const char *line))
{
	listening = listener;
}

__attribute__((format(printf, 2, 0))) static void say(
    const char *prefix, const char *format, va_list args)
{
	char raw[1024];
	char text[4 * sizeof raw + 64];
	size_t begins = strlen(prefix);
	size_t used = begins;

	memcpy(text, prefix, used + 1);
	(void)vsnprintf(raw, sizeof raw, format, args);
	used += pxt_escape(raw, strlen(raw), text + used, sizeof text - used - 1, NULL);
	if (listening) {
		listening(text + begins);
		return;
	}
	text[used++] = '\n';
	pxt_progress_hide();
	/* One write, so that lines of several processes do not mix. */
	(void)!write(STDERR_FILENO, text, used);
}

void pxt_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("pxtrace: ", format, args);
	va_end(args);
}

void pxt_explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("         ", format, args);
	va_end(args);
}

void *pxt_must(void *memory)
{
	if (!memory) {
		pxt_complain("out of memory");
		exit(PXT_EXIT_LOG);
	}
	return memory;
}

int pxt_finish(struct pxt_out *out)
{
	pxt_out_flush(out);
	if (out->error == 0)
		return PXT_EXIT_OK;
	pxt_complain("standard output: %s", strerror(out->error));
	return PXT_EXIT_OUTPUT;
}

void pxt_say_box(const char *path)
{
	char box[4096];
	int length = snprintf(box, sizeof box, "%s" PXT_BOX_ENDING, path);
	struct stat st;

	if (length > 0 && (size_t)length < sizeof box && stat(box, &st) == 0 && S_ISREG(st.st_mode))
		pxt_explain("what was not in it yet is in its black box: `pxtrace recover %s -o "
		            "REST.ptl`",
		    box);
}
