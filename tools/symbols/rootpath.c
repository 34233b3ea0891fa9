/* SPDX-License-Identifier: MIT */
/*
 * rootpath.c - files below the folder of --root, as RESOLVE_IN_ROOT of openat2() does it, on any system; and which
 * of them is the build that was traced.  See images.h.
 */
#define _GNU_SOURCE /* O_PATH */
#include "tools/symbols/images.h"

#include "tools/output/out.h"
#include "tools/symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX   40u
#define FOLDERS_MAX 256u

struct walk {
	int folders[FOLDERS_MAX]; /* from the root on */
	unsigned depth;
	unsigned links;
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	char name[PATH_MAX];     /* where the walk is */
};

/* The next part of the path, cut off from the rest; "": there is none. */
static void take_part(struct walk *walk, char part[NAME_MAX + 1])
{
	size_t skipped = strspn(walk->rest, "/");
	size_t bytes = strcspn(walk->rest + skipped, "/");
	size_t copied = bytes <= NAME_MAX ? bytes : 0; /* no folder has such a name */

	memcpy(part, walk->rest + skipped, copied);
	part[copied] = '\0';
	memmove(walk->rest, walk->rest + skipped + bytes, strlen(walk->rest + skipped + bytes) + 1);
}

static void leave(struct walk *walk, unsigned depth)
{
	while (walk->depth > depth) {
		char *slash = strrchr(walk->name, '/');

		(void)close(walk->folders[--walk->depth]);
		if (walk->depth > 0 && slash)
			*slash = '\0';
	}
}

static bool enter(struct walk *walk, int fd, const char *part)
{
	if (walk->depth == FOLDERS_MAX ||
	    strlen(walk->name) + strlen(part) + 2 > sizeof walk->name) {
		(void)close(fd);
		errno = ENAMETOOLONG;
		return false;
	}
	(void)strcat(strcat(walk->name, "/"), part);
	walk->folders[walk->depth++] = fd;
	return true;
}

/* What the link @fd says comes before the rest. */
static bool follow(struct walk *walk, int fd)
{
	char target[PATH_MAX];
	ssize_t bytes = readlinkat(fd, "", target, sizeof target - 1);
	size_t rest = strlen(walk->rest);

	(void)close(fd);
	if (bytes <= 0 || ++walk->links > LINKS_MAX ||
	    (size_t)bytes + 1 + rest >= sizeof walk->rest) {
		errno = bytes < 0 ? errno : ELOOP;
		return false;
	}
	memmove(walk->rest + bytes + 1, walk->rest, rest + 1);
	memcpy(walk->rest, target, (size_t)bytes);
	walk->rest[bytes] = '/';
	if (target[0] == '/')
		leave(walk, 1);
	return true;
}

/* The file itself, once it is known to be a regular one; -1. */
static int open_last(struct walk *walk, int fd, const char *part)
{
	struct stat seen;
	struct stat st;
	int file = -1;

	if (fstat(fd, &seen) != 0 || !S_ISREG(seen.st_mode) ||
	    walk->rest[strspn(walk->rest, "/")] != '\0')
		errno = EINVAL;
	else
		file = openat(walk->folders[walk->depth - 1], part,
		    O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (!enter(walk, fd, part) || file < 0)
		return file;
	if (fstat(file, &st) == 0 && st.st_dev == seen.st_dev && st.st_ino == seen.st_ino)
		return file;
	(void)close(file);
	errno = EINVAL;
	return -1;
}

static int walk_on(struct walk *walk)
{
	for (;;) {
		char part[NAME_MAX + 1];
		struct stat st;
		int fd;

		take_part(walk, part);
		if (part[0] == '\0') {
			errno = EINVAL;
			return -1;
		}
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			leave(walk, walk->depth > 1 ? walk->depth - 1 : 1);
			continue;
		}
		fd = openat(walk->folders[walk->depth - 1], part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) != 0)
			return -1;
		if (S_ISLNK(st.st_mode)) {
			if (!follow(walk, fd))
				return -1;
		} else if (!S_ISDIR(st.st_mode)) {
			return open_last(walk, fd, part);
		} else if (!enter(walk, fd, part)) {
			return -1;
		}
	}
}

static int open_in_root(const char *root, const char *path, char **file)
{
	struct walk *walk = pxt_must(calloc(1, sizeof *walk));
	int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;
	int error;

	if (top >= 0 && strlen(root) < sizeof walk->name && strlen(path) < sizeof walk->rest) {
		(void)strcpy(walk->name, root);
		(void)strcpy(walk->rest, path);
		walk->folders[walk->depth++] = top;
		fd = walk_on(walk);
		error = errno;
		if (fd >= 0)
			*file = pxt_must(strdup(walk->name));
		leave(walk, 0);
		errno = error;
	}
	error = errno;
	free(walk);
	errno = error;
	return fd;
}

int pxt_open_below(const char *root, const char *path, char **file)
{
	int fd;

	*file = NULL;
	if (*root)
		return open_in_root(root, path, file);
	fd = pxt_open_plain(path);
	if (fd >= 0)
		*file = pxt_must(strdup(path));
	return fd;
}

/* ---- Builds ---- */

#define OTHER_BUILDS_TOLD 20u

/* A file that is asked for its build. */
struct candidate {
	struct stat st;
	unsigned char id[PXT_BUILDID_MAX];
	size_t bytes;
};

static bool has_build(const struct candidate *candidate, const struct pxt_build *build)
{
	return candidate->bytes == build->bytes &&
	       memcmp(candidate->id, build->id, build->bytes) == 0;
}

/* Without a build-id the date has to do: a file that was written later is another build. */
static bool same_build(
    const struct pxt_build *build, int64_t told_ns, const struct candidate *candidate)
{
	if (build->bytes > 0 || (build->told && candidate->bytes > 0))
		return has_build(candidate, build);
	return told_ns / 1000000000 >= (int64_t)candidate->st.st_mtime;
}

static void say_other_build(uint32_t *others, const char *file, const struct pxt_build *build,
    const struct candidate *candidate)
{
	char is[2 * PXT_BUILDID_MAX + 1];
	char was[2 * PXT_BUILDID_MAX + 1];

	pxt_build_text(candidate->id, candidate->bytes, is);
	pxt_build_text(build->id, build->bytes, was);
	if ((*others)++ >= OTHER_BUILDS_TOLD)
		return;
	if (*was || (build->told && *is))
		pxt_complain("%s: is another build than the one that was traced (%s%s, not %s%s); "
		             "its addresses stay numbers",
		    file, *is ? "build-id " : "without a build-id", is,
		    *was ? "" : "one without a build-id", was);
	else
		pxt_complain("%s: by its date is another build than the one that was traced, of "
		             "which the log has no build-id; its addresses stay numbers",
		    file);
	if (*others == OTHER_BUILDS_TOLD)
		pxt_explain("and so may be others");
}

/* -1: it is not there. */
static int open_candidate(
    const char *root, const char *path, char **file, struct candidate *candidate)
{
	int fd = *path == '/' ? pxt_open_below(root, path, file) : -1;

	*candidate = (struct candidate){ 0 };
	if (fd < 0)
		return -1;
	candidate->bytes = pxt_build_id(fd, candidate->id);
	if (fstat(fd, &candidate->st) != 0)
		candidate->st.st_mtime = INT32_MAX;
	(void)close(fd);
	return 0;
}

/* What was stripped from it, as its build-id leads to: it has all names, whatever became of the file. */
static bool look_for_debug_file(const struct pxt_build *build, const char *root, char **file)
{
	struct candidate candidate;
	char path[PXT_BUILD_DEBUG_ROOM];

	if (build->bytes < 2)
		return false;
	pxt_build_debug_path(build->id, build->bytes, path);
	if (open_candidate(root, path, file, &candidate) != 0)
		return false;
	if (has_build(&candidate, build))
		return true;
	free(*file);
	*file = NULL;
	return false;
}

bool pxt_build_find(const struct pxt_build *build, const char *root, const char *path,
    int64_t told_ns, uint32_t *others, char **file)
{
	struct candidate candidate;
	bool is_same;

	if (look_for_debug_file(build, root, file) ||
	    (*root && look_for_debug_file(build, "", file)))
		return true;
	if (open_candidate(root, path, file, &candidate) != 0)
		return false;
	is_same = same_build(build, told_ns, &candidate);
	if (!is_same)
		say_other_build(others, *file, build, &candidate);
	return is_same;
}
