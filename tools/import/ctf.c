/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - babeltrace2 reads a trace, and our plugin's sink.ptrace.log (tools/babeltrace/) writes the log.
 *
 * So a program that reads no CTF needs no library that does.
 */
#include "tools/import/ctf.h"

#include "tools/command/btrun.h"
#include "tools/output/outfile.h"
#include "tools/output/say.h"

#include <stdlib.h>

int pxt_ctf_import(char *const *inputs, int count, const char *output)
{
	/* As the standard wants them: nobody writes to them. */
	static char sink_class[] = "--component=log:sink.ptrace.log";
	static char params[] = "--params";
	char **words = pxt_must(calloc((size_t)count + 4, sizeof *words));
	char *path = NULL;
	bool good = false;
	int used = 0;
	pid_t child;

	if (!pxt_outfile_check(output)) {
		free(words);
		return PXT_EXIT_OUTPUT;
	}
	for (; used < count; used++) {
		/* Whatever its first letter is, it is no option. */
		if (*inputs[used] != '/')
			pxt_btrun_put(&words[used], "./");
		pxt_btrun_put(&words[used], inputs[used]);
	}
	pxt_btrun_put(&path, "path=");
	pxt_btrun_put_string(&path, output);
	words[used++] = sink_class;
	words[used++] = params;
	words[used++] = path;
	child = pxt_btrun_start("import ctf", words);
	if (child >= 0)
		good = pxt_btrun_wait("import ctf", child);
	while (count-- > 0)
		free(words[count]);
	free(words);
	free(path);
	return good ? PXT_EXIT_OK : PXT_EXIT_LOG;
}
