/* SPDX-License-Identifier: MIT */
/* program.c - the program that `pxtrace run` starts: finding it, whether it can be traced, its life, signals. */
#define _GNU_SOURCE
#include "tools/run/program.h"

#include "tools/output/say.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- Where it is ---- */

static bool is_program(const char *path, int *error)
{
	struct stat about;

	if (stat(path, &about) != 0) {
		if (*error != EACCES)
			*error = errno;
		return false;
	}
	if (!S_ISREG(about.st_mode) || access(path, X_OK) != 0) {
		*error = EACCES;
		return false;
	}
	return true;
}

static bool find_in_path(struct pxt_program *program, const char *name, int *error)
{
	const char *path = getenv("PATH");

	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin";; path++) {
		size_t bytes = strcspn(path, ":");

		(void)snprintf(program->path, sizeof program->path, "%.*s%s%s", (int)bytes, path,
		    bytes ? "/" : "", name);
		if (is_program(program->path, error))
			return true;
		path += bytes;
		if (*path == '\0')
			return false;
	}
}

int pxt_program_find(struct pxt_program *program, char **argv)
{
	const char *name = argv[0];
	int error = ENOENT;

	program->argv = argv;
	program->pid = -1;
	if (!strchr(name, '/') && *name && find_in_path(program, name, &error))
		return 0;
	if (strchr(name, '/') && strlen(name) < sizeof program->path) {
		(void)strcpy(program->path, name);
		if (is_program(name, &error))
			return 0;
	}
	if (error == EACCES) {
		pxt_complain("run: %s: is no program that may be started", name);
		return PXT_PROGRAM_NOT_STARTED;
	}
	pxt_complain("run: %s: %s", name,
	    strchr(name, '/') ? strerror(error) : "no program of that name in PATH");
	return PXT_PROGRAM_NOT_FOUND;
}

/* ---- Whether it can be traced ---- */

struct kind {
	bool is_elf;
	bool has_loader;
	unsigned char wordsize;
	uint16_t machine;
};

static bool has_loader(int fd, const Elf64_Ehdr *head)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;

		if (pread(fd, &part, sizeof part,
		        (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize)) != sizeof part)
			return false;
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static struct kind kind_of(const char *path)
{
	struct kind kind = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;

	if (fd < 0)
		return kind;
	if (pread(fd, &head, sizeof head, 0) == sizeof head &&
	    memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
		kind.is_elf = true;
		kind.wordsize = head.e_ident[EI_CLASS];
		kind.machine = head.e_machine;
		kind.has_loader = kind.wordsize != ELFCLASS64 || has_loader(fd, &head);
	}
	(void)close(fd);
	return kind;
}

/* The interpreter of a script, or the program itself. */
static void interpreter(const char *path, char of[PATH_MAX])
{
	char line[PATH_MAX] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	const char *from = line + 2;

	if (fd >= 0)
		(void)close(fd);
	(void)snprintf(of, PATH_MAX, "%s", path);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return;
	line[got] = '\0';
	from += strspn(from, " \t");
	(void)snprintf(of, PATH_MAX, "%.*s", (int)strcspn(from, " \t\n"), from);
}

static bool has_rights(const char *path)
{
	struct stat about;
	char value[64];

	if (stat(path, &about) == 0 &&
	    (((about.st_mode & S_ISUID) && about.st_uid != geteuid()) ||
	        ((about.st_mode & S_ISGID) && about.st_gid != getegid())))
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0;
}

bool pxt_program_traceable(const struct pxt_program *program, const char *library)
{
	char path[PATH_MAX];
	struct kind kind;
	struct kind own = kind_of(library);

	interpreter(program->path, path);
	kind = kind_of(path);
	if (has_rights(path)) {
		pxt_complain(
		    "run: %s: has more rights than you, so nothing may be loaded into it: it runs "
		    "without being traced",
		    path);
		pxt_explain("run it as the user whose rights it takes");
		return false;
	}
	if (kind.is_elf && !kind.has_loader) {
		pxt_complain("run: %s: is linked statically: it runs without being traced", path);
		pxt_explain("link it with libptrace-wrap: `pkg-config --libs libptrace-wrap`");
		return false;
	}
	if (kind.is_elf && (kind.machine != own.machine || kind.wordsize != own.wordsize)) {
		pxt_complain(
		    "run: %s: is for another processor than %s: it runs without being traced", path,
		    library);
		return false;
	}
	return true;
}

/* ---- Its life ---- */

static void put_variable(char **environment, const char *variable)
{
	size_t bytes = strcspn(variable, "=") + 1;
	size_t i = 0;

	while (environment[i] && strncmp(environment[i], variable, bytes) != 0)
		i++;
	environment[i] = (char *)(uintptr_t)variable;
}

static char **environment_with(char *const *variables)
{
	size_t count = 0;
	size_t more = 0;
	char **made;

	while (environ[count])
		count++;
	while (variables[more])
		more++;
	made = pxt_must(calloc(count + more + 1, sizeof *made));
	memcpy(made, environ, count * sizeof *made);
	for (size_t i = 0; i < more; i++)
		put_variable(made, variables[i]);
	return made;
}

/* In the child. */
static void become(const struct pxt_program *program, int start, int failed, char **environment)
{
	char word;
	int error;

	/* The other side is gone: so is this one. */
	if (read(start, &word, 1) != 1)
		_exit(PXT_PROGRAM_NOT_STARTED);
	(void)execve(program->path, program->argv, environment);
	error = errno;
	/* A script without its first line, as shells run them. */
	if (error == ENOEXEC) {
		size_t count = 0;
		char **argv;

		while (program->argv[count])
			count++;
		argv = calloc(count + 2, sizeof *argv);
		if (argv) {
			argv[0] = (char *)(uintptr_t) "sh";
			argv[1] = (char *)(uintptr_t)program->path;
			memcpy(argv + 2, program->argv + 1, count * sizeof *argv);
			(void)execve("/bin/sh", argv, environment);
		}
	}
	(void)!write(failed, &error, sizeof error);
	_exit(PXT_PROGRAM_NOT_STARTED);
}

bool pxt_program_prepare(struct pxt_program *program, char *const *variables)
{
	char **environment = environment_with(variables);
	int start[2];
	int failed[2];

	if (pipe2(start, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0) {
		pxt_complain("run: no pipe: %s", strerror(errno));
		return false;
	}
	program->pid = fork();
	if (program->pid == 0) {
		(void)close(start[1]);
		(void)close(failed[0]);
		become(program, start[0], failed[1], environment);
	}
	(void)close(start[0]);
	(void)close(failed[1]);
	free(environment);
	program->start = start[1];
	program->failed = failed[0];
	if (program->pid < 0)
		pxt_complain("run: no process: %s", strerror(errno));
	return program->pid > 0;
}

int pxt_program_begin(struct pxt_program *program)
{
	int error = 0;
	ssize_t got;

	(void)!write(program->start, "", 1);
	(void)close(program->start);
	do
		got = read(program->failed, &error, sizeof error);
	while (got < 0 && errno == EINTR);
	(void)close(program->failed);
	if (got != sizeof error)
		return 0;
	(void)waitpid(program->pid, NULL, 0);
	program->pid = -1;
	pxt_complain("run: %s: cannot be started: %s", program->path, strerror(error));
	return error == ENOENT ? PXT_PROGRAM_NOT_FOUND : PXT_PROGRAM_NOT_STARTED;
}

bool pxt_program_ended(struct pxt_program *program, int *status)
{
	int how;
	pid_t got;

	got = waitpid(program->pid, &how, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return false;
	program->pid = -1;
	if (got > 0)
		*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return true;
}

/* ---- Signals ---- */

static volatile pid_t forwards_to;

static void forward(int signo)
{
	int saved = errno;

	if (forwards_to > 0)
		(void)kill(forwards_to, signo);
	errno = saved;
}

void pxt_program_forward(const struct pxt_program *program)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT,
		SIGWINCH };
	struct sigaction passes = { .sa_handler = forward, .sa_flags = SA_RESTART };
	struct sigaction ignores = { .sa_handler = SIG_IGN };

	forwards_to = program->pid;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		(void)sigaction(signals[i], &passes, NULL);
	/* The terminal sends them to the program as well; what it does of them is its affair. */
	(void)sigaction(SIGINT, &ignores, NULL);
	(void)sigaction(SIGQUIT, &ignores, NULL);
}
