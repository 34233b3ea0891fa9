/* SPDX-License-Identifier: MIT */
/* rotate.c - a log that goes from file to file in a folder: what --rotate says of it, and the folder. */
#include "tools/run/recorder.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A part of --rotate: bytes, or a time with its unit. */
static bool take_turn(struct pxt_rotate *rotate, const char *part)
{
	struct pxt_when age = { 0 };

	if (part[strspn(part, "0123456789")] == '\0' || !pxt_when_parse(part, &age))
		return pxt_option_bytes(&rotate->rotation.posix_bytes_np, part, "--rotate",
		    POSIX_TRACE_ROTATION_MIN_NP, UINT64_MAX);
	if (age.absolute || age.ns < 1000000000 || age.ns / 1000000000 > UINT32_MAX) {
		pxt_complain("--rotate wants a second at least, not \"%s\"", part);
		return false;
	}
	rotate->rotation.posix_seconds_np = (uint32_t)(age.ns / 1000000000);
	return true;
}

bool pxt_rotate_take(struct pxt_rotate *rotate, char *value)
{
	uint64_t files = 8;
	bool turns = false;

	for (bool more = true; more; value++) {
		size_t length = strcspn(value, ",");
		char part[32];

		(void)snprintf(part, sizeof part, "%.*s",
		    (int)(length < sizeof part ? length : sizeof part - 1), value);
		value += length;
		more = *value == ',';
		/* What comes last, after another one, and is a number alone. */
		if (!more && turns && part[strspn(part, "0123456789")] == '\0') {
			if (!pxt_option_number(&files, part, "--rotate", 1, 9999))
				return false;
		} else if (!take_turn(rotate, part)) {
			return false;
		}
		turns = true;
	}
	rotate->rotation.posix_files_np = (uint32_t)files;
	rotate->is_set = true;
	return true;
}

/* Whether a file has a name of this log's: others' are nobody's to remove. */
static bool is_called_so(const struct pxt_rotate *rotate, const char *file)
{
	size_t bytes = strlen(rotate->rotation.posix_name_np);
	const char *name = pxt_path_name(file);

	return strncmp(name, rotate->rotation.posix_name_np, bytes) == 0 && name[bytes] == '.' &&
	       name[bytes + 1 + strspn(name + bytes + 1, "0123456789")] == '\0';
}

bool pxt_rotate_remove_older(struct pxt_rotate *rotate)
{
	char *paths[] = { rotate->folder };
	bool removed = false;
	unsigned count;
	struct pxt_logset *sets = pxt_sets_find(paths, 1, &count);

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < sets[i].count; j++)
			removed |=
			    is_called_so(rotate, sets[i].files[j]) && unlink(sets[i].files[j]) == 0;
	pxt_sets_free(sets, count);
	return removed;
}

int pxt_rotate_open(struct pxt_rotate *rotate, const char *output)
{
	size_t bytes = strlen(output);
	const char *slash;
	int fd;

	/* Without slashes at its end, the name's last part is what the files are called by. */
	while (bytes > 1 && output[bytes - 1] == '/')
		bytes--;
	(void)snprintf(rotate->folder, sizeof rotate->folder, "%.*s", (int)bytes, output);
	slash = strrchr(rotate->folder, '/');
	rotate->rotation.posix_name_np = slash ? slash + 1 : rotate->folder;
	if (mkdir(rotate->folder, 0777) != 0 && errno != EEXIST)
		fd = -1;
	else
		fd = open(rotate->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOTDIR)
		pxt_complain("run: %s: is a file; --rotate wants a folder, or a name that is free",
		    rotate->folder);
	else
		pxt_complain("run: %s: %s", rotate->folder, strerror(errno));
	return -1;
}
