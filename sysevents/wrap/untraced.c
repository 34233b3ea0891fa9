/* SPDX-License-Identifier: MIT */
/*
 * untraced.c - programs that are executed and cannot be traced: they are started as they would be without us, and the log
 * says why they are not in it.
 *
 * A loader of another C library, or of another word size, meets our library in LD_PRELOAD and complains or
 * ends the program.  So that name is taken out of the environment which such a program gets.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include "format/ctlsock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD="
#define LIBRARY  "/libptrace-preload.so"
/* As the kernel, which goes no deeper. */
#define SCRIPTS  5

/* The variable that names us; NULL: none, and nothing would be loaded. */
static char *const *preload_in(char *const *env)
{
	for (; env && *env; env++)
		if (strncmp(*env, VARIABLE, sizeof(VARIABLE) - 1) == 0 && strstr(*env, LIBRARY))
			return env;
	return NULL;
}

/* ---- What it is ---- */

/* A file's head, its table of what it wants and the names in it lie apart, and are read by a few bytes. */
#define PIECES      3u
#define PIECE_BYTES 1024u

struct file {
	int fd;
	bool gives;    /* rights, to some who execute it */
	unsigned next; /* piece to be read anew */
	struct {
		uint64_t at;
		size_t bytes;
		unsigned char data[PIECE_BYTES];
	} piece[PIECES];
};

static bool read_at(void *context, uint64_t at, void *to, size_t bytes)
{
	struct file *file = context;
	ssize_t got;

	for (unsigned i = 0; i < PIECES; i++) {
		uint64_t inside = at - file->piece[i].at;

		if (at >= file->piece[i].at && inside <= file->piece[i].bytes &&
		    bytes <= file->piece[i].bytes - inside) {
			memcpy(to, file->piece[i].data + inside, bytes);
			return true;
		}
	}
	if (bytes > PIECE_BYTES)
		return pread(file->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
	got = pread(file->fd, file->piece[file->next].data, PIECE_BYTES, (off_t)at);
	file->piece[file->next].at = at;
	file->piece[file->next].bytes = got > 0 ? (size_t)got : 0;
	if (got < (ssize_t)bytes)
		return false;
	memcpy(to, file->piece[file->next].data, bytes);
	file->next = (file->next + 1) % PIECES;
	return true;
}

/* A FIFO is not waited for. */
static int open_plain(int folder, const char *path)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;

	if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Where the kernel gives no rights with a file, it has none. */
static bool has_rights(struct file *file)
{
	struct stat about;
	struct statvfs where;
	char value[64];

	if (fstat(file->fd, &about) != 0)
		return false;
	if (!((about.st_mode & S_ISUID) && about.st_uid != geteuid()) &&
	    !((about.st_mode & S_ISGID) && about.st_gid != getegid()) &&
	    !(geteuid() != 0 &&
	        fgetxattr(file->fd, "security.capability", value, sizeof value) > 0))
		return false;
	file->gives = true;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
	       (fstatvfs(file->fd, &where) != 0 || !(where.f_flag & ST_NOSUID));
}

static const char *refuses(struct file *file)
{
	struct pxt_programkind kind;
	const struct pxt_programkind *mine = &pxt_wrap_wishes.kind;

	pxt_programkind_get(&kind, read_at, file);
	if (!kind.is_elf)
		return NULL;
	if (kind.machine != mine->machine || kind.wordsize != mine->wordsize ||
	    kind.order != mine->order)
		return "it is for another processor";
	if (!*kind.loader)
		return "it is linked statically";
	if (*mine->loader &&
	    strcmp(pxt_programkind_last(kind.loader), pxt_programkind_last(mine->loader)) != 0)
		return "it uses another C library";
	if (kind.wants_first)
		return "it has a sanitizer that wants to be loaded first";
	return has_rights(file) ? "it has more rights than its user" : NULL;
}

/* *path becomes the interpreter of a script. */
static bool is_script(struct file *file, char path[PATH_MAX])
{
	char line[256] = "";
	char *from = line + 2;

	/* A short one is read in part. */
	if (!read_at(file, 0, line, 3) || line[0] != '#' || line[1] != '!')
		return false;
	memcpy(line, file->piece[0].data,
	    file->piece[0].bytes < sizeof line ? file->piece[0].bytes : sizeof line - 1);
	from += strspn(from, " \t");
	from[strcspn(from, " \t\n")] = '\0';
	(void)snprintf(path, PATH_MAX, "%s", from);
	return *from != '\0';
}

/* *simple: that depends on the file itself alone, for any process of this user. */
static const char *look(int folder, const char *path, bool *simple)
{
	char next[PATH_MAX];
	struct file file = { .gives = false };
	const char *why = NULL;
	bool again = true;

	for (int deep = 0; again && deep <= SCRIPTS; deep++) {
		*simple = deep == 0;
		file.fd = open_plain(folder, path);
		file.next = 0;
		for (unsigned i = 0; i < PIECES; i++)
			file.piece[i].at = file.piece[i].bytes = 0;
		if (file.fd < 0)
			return NULL;
		again = is_script(&file, next);
		if (!again)
			why = refuses(&file);
		(void)close(file.fd);
		folder = AT_FDCWD;
		path = next;
	}
	*simple = *simple && !file.gives;
	return why;
}

/*
 * The file as it is, as one number: a program that was looked at is known by it, also in a forked child.  0: it
 * gives rights, or may change again without another number.
 */
#define SETTLED_S 2

static uint64_t number_of(int folder, const char *path)
{
	struct timespec now = { 0 };
	struct stat about;
	uint64_t number = 0;

	(void)pxt_real_gettime(CLOCK_REALTIME, &now);
	if (fstatat(folder, path, &about, 0) != 0 || (about.st_mode & (S_ISUID | S_ISGID)) ||
	    now.tv_sec - about.st_ctim.tv_sec < SETTLED_S)
		return 0;
	const uint64_t parts[] = { (uint64_t)about.st_dev, (uint64_t)about.st_ino,
		(uint64_t)about.st_size, (uint64_t)about.st_ctim.tv_sec,
		(uint64_t)about.st_ctim.tv_nsec, geteuid() };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		number = ((number << 23 | number >> 41) ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return number;
}

/*
 * The recorder's folder is for its user alone, who may have another number in a namespace: there it is the folder that
 * the environment names.
 */
static bool is_other_user(void)
{
	unsigned user = geteuid();
	const char *folder;
	struct stat about;
	int saved = errno;

	if (user == pxt_wrap_wishes.user)
		return false;
	folder = secure_getenv(PXT_CTLSOCK_RUNTIME);
	if (folder && stat(folder, &about) == 0 && about.st_uid == user)
		return false;
	errno = saved;
	return true;
}

const char *pxt_process_refuses(int folder, const char *path, char *const *env)
{
	int saved = errno;
	const char *why = NULL;

	/* Of a program that is traced, all that it starts should be. */
	if (!preload_in(env))
		return pxt_start_asked() ? "its LD_PRELOAD is another" : NULL;
	if (pxt_start_asked() && is_other_user())
		return "it runs as another user";
	if (path && !pxt_process_confined) {
		uint64_t number = number_of(folder, path);
		bool simple = true;

		if (!number || !pxt_start_knows(number)) {
			why = look(folder, path, &simple);
			if (number && simple && !why)
				pxt_start_learns(number);
		}
	}
	errno = saved;
	return why;
}

/* As the C library looks for it; "": not found. */
void pxt_process_find(const char *file, char path[PATH_MAX])
{
	/* As any exec reads it.  NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *folders = getenv("PATH");
	int saved = errno;

	(void)snprintf(path, PATH_MAX, "%s", file);
	if (!strchr(file, '/') && *file) {
		path[0] = '\0';
		for (folders = folders ? folders : "/bin:/usr/bin"; folders;) {
			size_t bytes = strcspn(folders, ":");

			(void)snprintf(path, PATH_MAX, "%.*s%s%s", (int)bytes, folders,
			    bytes ? "/" : "", file);
			if (access(path, X_OK) == 0)
				break;
			path[0] = '\0';
			folders = folders[bytes] ? folders + bytes + 1 : NULL;
		}
	}
	errno = saved;
}

/* ---- The environment without us ---- */

size_t pxt_process_room(char *const *env)
{
	char *const *ours = preload_in(env);
	size_t count = 0;

	if (!ours)
		return 1;
	while (env[count])
		count++;
	return (count + 1) * sizeof *env + strlen(*ours) + 1;
}

static bool is_ours(const char *name, size_t bytes)
{
	size_t library = sizeof(LIBRARY) - 1;

	return bytes >= library && memcmp(name + bytes - library, LIBRARY, library) == 0;
}

/* Names end at a colon or a space; those that are not ours stay. */
static bool copy_others(char *to, const char *names)
{
	char *begin = to;

	for (; *names; names += strspn(names, ": ")) {
		size_t bytes = strcspn(names, ": ");

		if (!is_ours(names, bytes)) {
			if (to != begin)
				*to++ = ':';
			memcpy(to, names, bytes);
			to += bytes;
		}
		names += bytes;
	}
	*to = '\0';
	return to != begin;
}

char **pxt_process_without(char *const *env, void *room)
{
	char *const *ours = preload_in(env);
	char **made = room;
	size_t count = 0;
	size_t all = 0;
	char *text;

	/* It has it not. */
	if (!ours)
		return (char **)(uintptr_t)env;
	while (env[all])
		all++;
	text = (char *)(made + all + 1);
	memcpy(text, VARIABLE, sizeof(VARIABLE) - 1);
	for (size_t i = 0; i < all; i++) {
		if (&env[i] != ours)
			made[count++] = env[i];
		else if (copy_others(text + sizeof(VARIABLE) - 1, *ours + sizeof(VARIABLE) - 1))
			made[count++] = text;
	}
	made[count] = NULL;
	return made;
}
