/* SPDX-License-Identifier: MIT */
/* tracefs.c - formats of tracepoints, from where tracefs is mounted or could be; see tracefs.h. */
#define _GNU_SOURCE
#include "tools/sched/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORMAT_BYTES 8192u

/* A C library or its headers may not know these calls; their numbers are the same everywhere. */
#ifndef SYS_fsopen
#define SYS_fsopen   430
#define SYS_fsconfig 431
#define SYS_fsmount  432
#endif

#define FLAG_CLOEXEC   1 /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */
#define COMMAND_CREATE 6 /* FSCONFIG_CMD_CREATE */

/* The first mount of it that this process sees; -1 with errno. */
static int open_mounted(void)
{
	char line[1024];
	char where[1024];
	char type[64];
	int folder = -1;
	int error = ENOENT;
	FILE *mounts = fopen("/proc/self/mounts", "re");

	while (mounts && folder < 0 && fgets(line, sizeof line, mounts)) {
		if (sscanf(line, "%*s %1023s %63s", where, type) != 2 ||
		    strcmp(type, "tracefs") != 0)
			continue;
		folder = open(where, O_PATH | O_DIRECTORY | O_CLOEXEC);
		error = errno;
	}
	if (mounts)
		(void)fclose(mounts);
	errno = error;
	return folder;
}

/* A mount without a place: the system gives it up with its descriptor. */
static int open_private(void)
{
	int mount = -1;
	int fs = (int)syscall(SYS_fsopen, "tracefs", FLAG_CLOEXEC);

	if (fs < 0)
		return -1;
	if (syscall(SYS_fsconfig, fs, COMMAND_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FLAG_CLOEXEC, 0);
	(void)close(fs);
	return mount;
}

static int read_format(int folder, enum pxt_tracepoint_kind kind, struct pxt_tracepoint *point)
{
	char path[80];
	char text[FORMAT_BYTES];
	size_t bytes = 0;
	ssize_t got = 1;

	point->known = false;
	(void)snprintf(path, sizeof path, "events/sched/%s/format", pxt_tracepoint_names[kind]);
	int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	while (got > 0 && bytes < sizeof text - 1) {
		got = read(file, text + bytes, sizeof text - 1 - bytes);
		bytes += got > 0 ? (size_t)got : 0;
	}
	int error = got < 0 ? errno : 0;
	(void)close(file);
	text[bytes] = '\0';
	if (error == 0 && !pxt_tracepoint_parse(point, kind, text))
		error = EPROTO;
	return error;
}

int pxt_tracefs_points(struct pxt_tracepoint points[PXT_TRACEPOINTS])
{
	int folder = open_mounted();
	int error = errno;

	if (folder < 0)
		folder = open_private();
	if (folder < 0)
		return error;
	error = read_format(folder, PXT_TRACEPOINT_SWITCH, &points[PXT_TRACEPOINT_SWITCH]);
	for (unsigned kind = PXT_TRACEPOINT_SWITCH + 1; kind < PXT_TRACEPOINTS; kind++)
		(void)read_format(folder, kind, &points[kind]);
	/* It says when who wakes; the other one says when the woken one's CPU heard of it. */
	if (points[PXT_TRACEPOINT_WAKING].known)
		points[PXT_TRACEPOINT_WAKEUP].known = false;
	(void)close(folder);
	return error;
}
