/* SPDX-License-Identifier: MIT */
/* binutil.c - see binutil.h. */
#include "tools/read/binutil.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool pxt_binutil_new(struct pxt_binutil *tool)
{
	*tool = (struct pxt_binutil){ .in = tmpfile(), .pid = -1 };
	return tool->in != NULL;
}

static int start(struct pxt_binutil *tool, char *const *argv, int ends[2])
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	(void)posix_spawn_file_actions_adddup2(&actions, fileno(tool->in), STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	(void)posix_spawn_file_actions_addclose(&actions, ends[0]);
	(void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&tool->pid, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

bool pxt_binutil_run(struct pxt_binutil *tool, char *const *argv, bool *missing)
{
	int ends[2];
	int error;

	(void)fflush(tool->in);
	rewind(tool->in);
	if (pipe(ends) != 0)
		return false;
	error = start(tool, argv, ends);
	(void)close(ends[1]);
	*missing = error == ENOENT;
	if (error != 0)
		tool->pid = -1;
	tool->out = error == 0 ? fdopen(ends[0], "r") : NULL;
	if (!tool->out)
		(void)close(ends[0]);
	return tool->out != NULL;
}

void pxt_binutil_end(struct pxt_binutil *tool)
{
	if (tool->out)
		(void)fclose(tool->out);
	while (tool->pid > 0 && waitpid(tool->pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)fclose(tool->in);
}

void pxt_binutil_demangle(const char *name, char *text, size_t room)
{
	char word[] = "c++filt";
	char *argv[] = { word, NULL };
	struct pxt_binutil tool;
	bool missing;

	(void)snprintf(text, room, "%s", name);
	if ((strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) || !pxt_binutil_new(&tool))
		return;
	(void)fprintf(tool.in, "%s\n", name);
	if (pxt_binutil_run(&tool, argv, &missing) && !fgets(text, (int)room, tool.out))
		(void)snprintf(text, room, "%s", name);
	text[strcspn(text, "\n")] = '\0';
	pxt_binutil_end(&tool);
}
