/* SPDX-License-Identifier: MIT */
/* folder.h - logs that go from file to file, in a folder of their own, and what all files say together. */
#ifndef PXT_TESTS_FOLDER_H
#define PXT_TESTS_FOLDER_H

#include "../suite_trace.h"

#include <trace_np.h>

#define FOLDER_FILES 64u

/* An empty folder; gone with all that is in it. */
struct folder {
	char path[64];
	int fd;
};
void folder_make(struct folder *folder);
void folder_remove(struct folder *folder);

/* Number of files; those of them that can be opened as a complete log. */
unsigned folder_count(const struct folder *folder);
bool folder_has(const struct folder *folder, const char *name);

/* A running stream of @rotation in the folder.  @attr may be NULL. */
trace_id_t folder_stream(const struct folder *folder, trace_attr_t *attr,
    const struct posix_trace_rotation_np *rotation);

/* Events that hold numbers, and behind them what no two have in common: no log has them in fewer bytes. */
void folder_record(trace_event_id_t event, uint32_t first, uint32_t last);

/* What a file holds. */
struct folder_log {
	struct posix_trace_loginfo_np info;
	uint32_t events; /* of the type that is asked for */
	uint32_t first;  /* 0: none */
	uint32_t last;
	uint64_t records;
	bool gap;   /* not one number after another */
	bool whole; /* has its end, and `pxtrace check` would find nothing */
};
/* File "NAME.number"; false: it is not there, or no log. */
bool folder_read(
    const struct folder *folder, unsigned number, const char *type, struct folder_log *log);

#endif
