/* SPDX-License-Identifier: MIT */
/* btrun.c - runs the command babeltrace2 with our plugin, which stands beside pxtrace; see command.h. */
#include "tools/command/command.h"

#include "tools/output/out.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLUGIN_FILE "babeltrace-plugin-ptrace.so"
#define PATH_BYTES  4096u

extern char **environ;

/* ---- The plugin ---- */

static bool holds_plugin(const char *folder)
{
	char path[PATH_BYTES + sizeof PLUGIN_FILE + 1];

	(void)snprintf(path, sizeof path, "%s/%s", folder, PLUGIN_FILE);
	return access(path, R_OK) == 0;
}

/* Beside this program, as it was built or installed; false: babeltrace2 may know better. */
static bool find_plugin(char folder[PATH_BYTES])
{
	static const char *const places[] = { "babeltrace", PXTRACE_PLUGIN_DIR };
	char program[PATH_BYTES];
	ssize_t bytes = readlink("/proc/self/exe", program, sizeof program - 1);

	program[bytes > 0 ? bytes : 0] = '\0';
	char *slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (*places[i] == '/')
			(void)snprintf(folder, PATH_BYTES, "%s", places[i]);
		else
			(void)snprintf(folder, PATH_BYTES, "%.*s/%s", (int)(PATH_BYTES / 2),
			    program, places[i]);
		if (holds_plugin(folder))
			return true;
	}
	return false;
}

/* ---- The command line ---- */

void pxt_btrun_put(char **text, const char *piece)
{
	size_t used = *text ? strlen(*text) : 0;

	*text = pxt_must(realloc(*text, used + strlen(piece) + 1));
	memcpy(*text + used, piece, strlen(piece) + 1);
}

void pxt_btrun_put_string(char **text, const char *string)
{
	pxt_btrun_put(text, "\"");
	for (; *string; string++) {
		char piece[3] = { *string };

		if (*string == '"' || *string == '\\') {
			piece[0] = '\\';
			piece[1] = *string;
		}
		pxt_btrun_put(text, piece);
	}
	pxt_btrun_put(text, "\"");
}

/* ---- Running it ---- */

pid_t pxt_btrun_start(const char *command, char *const *words)
{
	/* As the standard wants it: nobody writes to it. */
	static char name[] = "babeltrace2";
	char plugin[PATH_BYTES];
	char option[PATH_BYTES + 32];
	unsigned count = 0;
	unsigned used = 0;
	pid_t child;

	while (words[count])
		count++;
	char **all = pxt_must(calloc(count + 3u, sizeof *all));
	all[used++] = name;
	if (find_plugin(plugin)) {
		(void)snprintf(option, sizeof option, "--plugin-path=%s", plugin);
		all[used++] = option;
	}
	memcpy(&all[used], words, count * sizeof *all);
	int failed = posix_spawnp(&child, name, NULL, NULL, all, environ);
	free(all);
	if (failed == 0)
		return child;
	if (failed == ENOENT) {
		pxt_complain(
		    "%s: babeltrace2, which reads and writes CTF, is not installed", command);
		pxt_explain("Debian: apt-get install babeltrace2");
	} else {
		pxt_complain("%s: babeltrace2: %s", command, strerror(failed));
	}
	return -1;
}

bool pxt_btrun_wait(const char *command, pid_t child)
{
	char plugin[PATH_BYTES];
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	pxt_complain("%s: babeltrace2 failed", command);
	if (!find_plugin(plugin))
		pxt_explain("no " PLUGIN_FILE " stands beside pxtrace: build it (it wants "
		            "libbabeltrace2-dev), or say in BABELTRACE_PLUGIN_PATH where it is");
	return false;
}
