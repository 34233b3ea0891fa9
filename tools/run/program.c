/* SPDX-License-Identifier: MIT */
/* program.c - the program that `pxtrace run` starts: finding it, whether it can be traced, its life, signals. */
#define _GNU_SOURCE
#include "tools/run/recorder.h"

#include "format/programkind.h"
#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Where signals go; 0: nowhere. */
static volatile pid_t forwards_to;

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
		(void)snprintf(program->path, sizeof program->path, "%s", name);
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

static bool read_at(void *context, uint64_t at, void *to, size_t bytes)
{
	return pread(*(const int *)context, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static struct pxt_programkind kind_of(const char *path)
{
	struct pxt_programkind kind = { 0 };
	int fd = pxt_open_plain(path);

	if (fd < 0)
		return kind;
	pxt_programkind_get(&kind, read_at, &fd);
	(void)close(fd);
	return kind;
}

bool pxt_program_is_go(const char *path)
{
	return kind_of(path).is_go;
}

/* The interpreter of a script, or the program itself. */
static bool interpreter(const char *path, char of[PATH_MAX])
{
	char line[PATH_MAX] = "";
	int fd = pxt_open_plain(path);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	const char *from = line + 2;

	if (fd >= 0)
		(void)close(fd);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[got] = '\0';
	from += strspn(from, " \t");
	(void)snprintf(of, PATH_MAX, "%.*s", (int)strcspn(from, " \t\n"), from);
	return *of != '\0';
}

/* Where the kernel gives no rights with a file, it has none. */
static bool gives_rights(const char *path)
{
	struct statvfs where;

	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
	       (statvfs(path, &where) != 0 || !(where.f_flag & ST_NOSUID));
}

static bool has_rights(const char *path)
{
	struct stat about;
	char value[64];

	if (!gives_rights(path))
		return false;
	if (stat(path, &about) == 0 &&
	    (((about.st_mode & S_ISUID) && about.st_uid != geteuid()) ||
	        ((about.st_mode & S_ISGID) && about.st_gid != getegid())))
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0;
}

/* Another C library cannot be given what was linked with this one: the program would not even begin. */
static bool has_other_library(
    const struct pxt_programkind *kind, const struct pxt_programkind *mine)
{
	return *mine->loader &&
	       strcmp(pxt_programkind_last(kind->loader), pxt_programkind_last(mine->loader)) != 0;
}

static bool untraced(const char *path, const char *why, const char *instead)
{
	pxt_complain("run: %s: %s: it runs without being traced", path, why);
	if (instead)
		pxt_explain("%s", instead);
	return false;
}

bool pxt_program_traceable(const struct pxt_program *program, const char *library)
{
	char path[PATH_MAX];
	char next[PATH_MAX];
	struct pxt_programkind kind;
	struct pxt_programkind own = kind_of(library);
	struct pxt_programkind mine = kind_of("/proc/self/exe");

	(void)snprintf(path, sizeof path, "%s", program->path);
	/* As the kernel, which goes no deeper. */
	for (unsigned deep = 0; deep < 5 && interpreter(path, next); deep++)
		(void)snprintf(path, sizeof path, "%s", next);
	kind = kind_of(path);
	if (has_rights(path))
		return untraced(path, "has more rights than you, so nothing may be loaded into it",
		    "run it as the user whose rights it takes");
	if (!kind.is_elf)
		return true;
	if (kind.machine != own.machine || kind.wordsize != own.wordsize || kind.order != own.order)
		return untraced(path, "is for another processor than libptrace-preload.so", NULL);
	if (!*kind.loader)
		return untraced(path, "is linked statically",
		    "link it with libptrace-wrap: `pkg-config --libs libptrace-wrap`");
	if (has_other_library(&kind, &mine))
		return untraced(path, "uses another C library than libptrace-preload.so",
		    "a libptrace that was built with that one traces it");
	if (kind.wants_first)
		return untraced(path, "has a sanitizer that wants to be loaded first", NULL);
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
	/* A script without its first line, as shells run them; no program of another processor. */
	if (error == ENOEXEC && !kind_of(program->path).is_elf) {
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
	forwards_to = 0;
	if (got > 0)
		*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return true;
}

void pxt_program_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

bool pxt_program_has_children(void)
{
	pid_t got;

	do
		got = waitpid(-1, NULL, WNOHANG);
	while (got > 0);
	return got == 0 || errno == EINTR;
}

/* When the process of that number began, in the system's ticks; 0: there is none, or it has ended. */
static unsigned long long begin_of(const char *pid)
{
	unsigned long long begin = 0;
	char path[40];
	char text[512] = "";
	const char *state;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof text - 1);
	(void)close(fd);
	/* Behind the name, which may have brackets itself: Z, nobody has asked for its status yet. */
	state = strrchr(text, ')');
	if (!state || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X' ||
	    sscanf(state + 2,
	        "%*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
	        &begin) != 1)
		return 0;
	return begin;
}

bool pxt_program_is_alive(pid_t pid)
{
	char number[16];
	unsigned long long begin;

	(void)snprintf(number, sizeof number, "%ld", (long)pid);
	begin = begin_of(number);
	return begin && begin >= begin_of("self");
}

/* ---- Signals ---- */

static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT,
	SIGWINCH };
#define SIGNALS (sizeof signals / sizeof *signals)

static struct sigaction former[SIGNALS];

/* What the terminal sends goes to the program as well, in its group: what a process sends does not. */
static void forward(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	pid_t to = forwards_to;

	(void)context;
	if (to > 0 && info->si_code != SI_KERNEL)
		(void)kill(to, signo);
	errno = saved;
}

static void pass(int signo)
{
	struct sigaction passes = { .sa_sigaction = forward, .sa_flags = SA_RESTART | SA_SIGINFO };

	/*
	 * Also what was ignored when this command began (nohup, a shell's background): so it is in the program,
	 * which may have set a handler of its own since.
	 */
	(void)sigaction(signo, &passes, NULL);
}

void pxt_program_forward(const struct pxt_program *program)
{
	struct sigaction ignores = { .sa_handler = SIG_IGN };

	forwards_to = program->pid;
	for (size_t i = 0; i < SIGNALS; i++) {
		(void)sigaction(signals[i], NULL, &former[i]);
		pass(signals[i]);
	}
	for (int signo = SIGRTMIN; signo <= SIGRTMAX; signo++)
		pass(signo);
	/* A file that may not grow further is an error of writing it, and no end of this command. */
	(void)sigaction(SIGXFSZ, &ignores, NULL);
}

void pxt_program_forward_no_more(void)
{
	forwards_to = 0;
	for (size_t i = 0; i < SIGNALS; i++)
		(void)sigaction(signals[i], &former[i], NULL);
}
