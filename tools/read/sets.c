/* SPDX-License-Identifier: MIT */
/*
 * sets.c - which of the files that a command was given are one rotated log, which went from file to file, and which
 * of its files are missing; see source.h.
 */
#define _GNU_SOURCE /* asprintf() */
#include "tools/read/source.h"

#include "format/logfmt.h"
#include "tools/output/out.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sets {
	struct pxt_logset *sets;
	unsigned count;
	unsigned room;
};

/* ---- One file ---- */

enum kind {
	NO_PART, /* whatever else it is */
	PART,
	EMPTY,
};

static enum kind look_at(const char *path, uint32_t *number, unsigned char uuid[16])
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header;
	int fd = pxt_open_plain(path);
	ssize_t got;

	if (fd < 0)
		return NO_PART;
	got = pread(fd, head, sizeof head, 0);
	(void)close(fd);
	if (got == 0)
		return EMPTY;
	if (got != (ssize_t)sizeof head || pxt_logfmt_get_header(head, &header) || !header.number)
		return NO_PART;
	*number = header.number;
	memcpy(uuid, header.uuid, sizeof header.uuid);
	return PART;
}

/* Where the four digits or more at the end of a file's name begin, with their point; NULL: it has none. */
static const char *ending(const char *name)
{
	const char *point = strrchr(name, '.');

	return point && point != name && strlen(point) > 4 &&
	               strspn(point + 1, "0123456789") == strlen(point + 1)
	           ? point
	           : NULL;
}

/* ---- Logs ---- */

static struct pxt_logset *add(struct sets *sets, const char *path, size_t bytes)
{
	sets->sets = pxt_must_grow(sets->sets, &sets->room, sets->count, sizeof *sets->sets);
	struct pxt_logset *set = &sets->sets[sets->count++];
	*set = (struct pxt_logset){ .path = pxt_must(strndup(path, bytes)) };
	return set;
}

static struct pxt_logset *find(const struct sets *sets, const unsigned char uuid[16])
{
	for (unsigned i = 0; i < sets->count; i++)
		if (sets->sets[i].files && memcmp(sets->sets[i].uuid, uuid, 16) == 0)
			return &sets->sets[i];
	return NULL;
}

/* In its place; one that was named twice is there once. */
static void put(struct pxt_logset *set, const char *path, uint32_t number)
{
	unsigned at = set->count;

	for (unsigned i = 0; i < set->count; i++)
		if (set->numbers[i] == number)
			return;
	set->files = pxt_must(realloc(set->files, (set->count + 1) * sizeof *set->files));
	set->numbers = pxt_must(realloc(set->numbers, (set->count + 1) * sizeof *set->numbers));
	for (; at > 0 && set->numbers[at - 1] > number; at--) {
		set->files[at] = set->files[at - 1];
		set->numbers[at] = set->numbers[at - 1];
	}
	set->files[at] = pxt_must(strdup(path));
	set->numbers[at] = number;
	set->count++;
}

void pxt_sets_add(struct pxt_logset *set, const char *path, uint32_t number)
{
	put(set, path, number);
}

static int is_file_of_log(const struct dirent *entry)
{
	return ending(entry->d_name) != NULL;
}

/* A file of the log, newer than all that are known; one without a head: PXT_SETS_SOON. */
static enum pxt_sets_next look_at_next(
    const struct pxt_logset *set, const char *path, int *fd, uint32_t *number)
{
	unsigned char uuid[16];
	enum kind kind = look_at(path, number, uuid);

	if (kind == EMPTY)
		return PXT_SETS_SOON;
	if (kind == NO_PART || memcmp(uuid, set->uuid, sizeof uuid) != 0 ||
	    *number <= set->numbers[set->count - 1])
		return PXT_SETS_OVER;
	*fd = pxt_open_plain(path);
	return *fd < 0 ? PXT_SETS_SOON : PXT_SETS_NEXT;
}

/* By their names, for files that somebody else has made, or that are gone, are passed over. */
enum pxt_sets_next pxt_sets_next(
    const struct pxt_logset *set, int *fd, char **path, uint32_t *number)
{
	const char *last = set->count > 0 ? set->files[set->count - 1] : "";
	const char *end = ending(pxt_path_name(last));
	size_t bytes = (size_t)(pxt_path_name(last) - last);
	unsigned long named = end ? strtoul(end + 1, NULL, 10) : 0;
	char *folder = pxt_must(bytes ? strndup(last, bytes) : strdup("."));
	struct dirent **entries = NULL;
	int count = end ? scandir(folder, &entries, is_file_of_log, versionsort) : 0;
	enum pxt_sets_next next = PXT_SETS_OVER;

	*fd = -1;
	*path = NULL;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		const char *digits = ending(name);

		if (next == PXT_SETS_OVER && digits - name == end - (last + bytes) &&
		    strncmp(name, last + bytes, (size_t)(digits - name)) == 0 &&
		    strtoul(digits + 1, NULL, 10) > named) {
			free(*path);
			*path = NULL;
			if (asprintf(path, "%.*s%s", (int)bytes, last, name) < 0)
				*path = NULL;
			else
				next = look_at_next(set, *path, fd, number);
		}
		free(entries[i]);
	}
	free(entries);
	free(folder);
	if (*fd < 0) {
		free(*path);
		*path = NULL;
	}
	return next;
}

bool pxt_sets_lacks_end(const struct pxt_logset *set)
{
	uint32_t number;
	char *path;
	int fd;
	enum pxt_sets_next next = pxt_sets_next(set, &fd, &path, &number);

	if (fd >= 0)
		(void)close(fd);
	free(path);
	return next == PXT_SETS_SOON;
}

/* @called: what the log is called; NULL: as its first file, without the number. */
static bool take(struct sets *sets, const char *path, const char *called)
{
	unsigned char uuid[16];
	uint32_t number;
	enum kind kind = look_at(path, &number, uuid);

	if (kind == PART) {
		struct pxt_logset *set = find(sets, uuid);
		const char *end = ending(path);

		if (!set && called)
			set = add(sets, called, strlen(called));
		else if (!set)
			set = add(sets, path, end ? (size_t)(end - path) : strlen(path));
		memcpy(set->uuid, uuid, sizeof uuid);
		put(set, path, number);
	} else if (kind == EMPTY && ending(path)) {
		pxt_complain("%s: empty: nothing was written after this file was made", path);
		return true;
	}
	return kind == PART;
}

/* ---- Folders ---- */

/* Files of logs in @folder whose names begin with @begin; false: there are none. */
static bool take_folder(
    struct sets *sets, const char *folder, const char *begin, const char *called)
{
	struct dirent **entries = NULL;
	size_t bytes = strlen(begin);
	int count = scandir(folder, &entries, is_file_of_log, alphasort);
	bool any = false;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		bool wanted =
		    !*begin || (strncmp(name, begin, bytes) == 0 && ending(name) == name + bytes);
		char *path = NULL;

		if (wanted && asprintf(&path, "%s/%s", folder, name) > 0)
			any |= take(sets, path, called);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return any;
}

/* A name that is not a file's, but that names of files begin with. */
static bool take_beginning(struct sets *sets, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t bytes = slash > path ? (size_t)(slash - path) : 1;
	char *folder = slash ? pxt_must(strndup(path, bytes)) : NULL;
	bool any = *name && take_folder(sets, folder ? folder : ".", name, path);

	free(folder);
	return any;
}

static void take_named(struct sets *sets, const char *path)
{
	struct stat st;
	bool taken;

	if (strcmp(path, "-") == 0)
		taken = false;
	else if (stat(path, &st) != 0)
		taken = errno == ENOENT && take_beginning(sets, path);
	else if (S_ISDIR(st.st_mode))
		taken = take_folder(sets, path, "", path);
	else
		taken = S_ISREG(st.st_mode) && take(sets, path, NULL);
	if (!taken)
		(void)add(sets, path, strlen(path));
}

struct pxt_logset *pxt_sets_find(char *const *paths, unsigned count, unsigned *found)
{
	struct sets sets = { 0 };

	for (unsigned i = 0; i < count; i++)
		take_named(&sets, paths[i]);
	/* Where all files are empty, who opens the first one says that there is no log. */
	if (sets.count == 0 && count > 0)
		(void)add(&sets, paths[0], strlen(paths[0]));
	/* Each file takes two descriptors while its log is opened. */
	for (unsigned i = 0; i < sets.count; i++)
		if (sets.sets[i].count > 1)
			(void)pxt_more_descriptors();
	*found = sets.count;
	return sets.sets;
}

void pxt_sets_free(struct pxt_logset *sets, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < sets[i].count; j++)
			free(sets[i].files[j]);
		free(sets[i].files);
		free(sets[i].numbers);
		free(sets[i].path);
	}
	free(sets);
}

uint32_t pxt_sets_missing(const struct pxt_logset *set, unsigned file)
{
	return file > 0 ? set->numbers[file] - set->numbers[file - 1] - 1 : 0;
}

void pxt_sets_say_missing(const struct pxt_logset *set)
{
	for (unsigned i = 1; i < set->count; i++) {
		uint32_t from = set->numbers[i - 1] + 1;
		uint32_t to = set->numbers[i] - 1;

		if (pxt_sets_missing(set, i) == 1)
			pxt_complain("%s: file %lu is MISSING", set->path, (unsigned long)from);
		else if (pxt_sets_missing(set, i) > 1)
			pxt_complain("%s: files %lu to %lu are MISSING", set->path,
			    (unsigned long)from, (unsigned long)to);
	}
}
