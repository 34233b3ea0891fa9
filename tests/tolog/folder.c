/* SPDX-License-Identifier: MIT */
/* folder.c - see logs.h. */
#define _GNU_SOURCE /* mkdtemp() */
#include "logs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void folder_make(struct folder *folder)
{
	(void)strcpy(folder->path, "/tmp/ptrace-test-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder->path) != NULL);
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(folder->fd >= 0);
}

static unsigned each(const struct folder *folder, bool removes)
{
	DIR *dir = opendir(folder->path);
	const struct dirent *entry;
	unsigned count = 0;

	CU_ASSERT_FATAL(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (removes)
			(void)unlinkat(folder->fd, entry->d_name, 0);
	}
	(void)closedir(dir);
	return count;
}

unsigned folder_count(const struct folder *folder)
{
	return each(folder, false);
}

void folder_remove(struct folder *folder)
{
	(void)each(folder, true);
	(void)close(folder->fd);
	PXT_EQ(rmdir(folder->path), 0);
}

bool folder_has(const struct folder *folder, const char *name)
{
	struct stat state;

	return fstatat(folder->fd, name, &state, AT_SYMLINK_NOFOLLOW) == 0;
}

trace_id_t folder_stream(
    const struct folder *folder, trace_attr_t *attr, const struct posix_trace_rotation_np *rotation)
{
	trace_attr_t own;
	trace_id_t trid;

	if (!attr) {
		pxt_attr(&own, 1 << 18, 64, POSIX_TRACE_LOOP);
		attr = &own;
	}
	PXT_EQ_FATAL(posix_trace_attr_setrotation_np(attr, rotation, sizeof(*rotation)), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, attr, folder->fd, &trid), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	return trid;
}

void folder_record(trace_event_id_t event, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		uint32_t data[8] = { i };
		uint32_t mixed = i;

		for (size_t k = 1; k < 8; k++) {
			mixed = mixed * 2654435761u + 12345u;
			data[k] = mixed ^ mixed >> 15;
		}
		posix_trace_event(event, data, sizeof(data));
	}
}

static bool is_whole(int fd)
{
	struct posix_trace_logcheck_np sum;

	return posix_trace_log_check_np(fd, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL) == 0 &&
	       sum.posix_findings_np == 0 && sum.posix_complete_np;
}

static void take(struct folder_log *log, const struct pxt_got *event)
{
	uint32_t number = 0;

	memcpy(&number, event->data, sizeof(number));
	log->gap |= log->last && number != log->last + 1;
	log->first = log->first ? log->first : number;
	log->last = number;
	log->events++;
}

bool folder_read(
    const struct folder *folder, unsigned number, const char *type, struct folder_log *log)
{
	struct pxt_got event;
	char name[64];
	trace_id_t trid;
	int fd;

	memset(log, 0, sizeof(*log));
	(void)snprintf(name, sizeof(name), "run.ptl.%04u", number);
	fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	log->whole = is_whole(fd);
	if (posix_trace_open(fd, &trid) != 0 &&
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) != 0) {
		(void)close(fd);
		return false;
	}
	PXT_EQ(posix_trace_log_getinfo_np(trid, &log->info, sizeof(log->info)), 0);
	while (pxt_log_next(trid, &event)) {
		char of[TRACE_EVENT_NAME_MAX + 1] = "";

		log->records++;
		(void)posix_trace_eventid_get_name(trid, event.info.posix_event_id, of);
		if (strcmp(of, type) == 0)
			take(log, &event);
	}
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
	return true;
}
