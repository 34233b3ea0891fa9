/* SPDX-License-Identifier: MIT */
/*
 * kit.h - snapshots as tests take them: into an unlinked file, looked through, opened, read.
 */
#ifndef SNAPSHOT_KIT_H
#define SNAPSHOT_KIT_H

#include "conformance/story.h"

/* A snapshot of @trid in a file that is a sound log, opened. */
struct sn_shot {
	int fd;
	trace_id_t log;
};
struct sn_shot sn_take(trace_id_t trid);
/* Opens the log that a call wrote to @fd. */
struct sn_shot sn_open(int fd);
void sn_close(struct sn_shot *shot);
/* Takes a snapshot that tells this story. */
#define sn_expect(trid, story)                                                                     \
	do {                                                                                       \
		struct sn_shot sn_shot_ = sn_take(trid);                                           \
		st_expect(sn_shot_.log, story);                                                    \
		sn_close(&sn_shot_);                                                               \
	} while (0)

/* What a caller can ask of a stream, by calls that change nothing of it. */
bool sn_same_counts(trace_id_t trid, const struct posix_trace_counts_np *before);

#endif
