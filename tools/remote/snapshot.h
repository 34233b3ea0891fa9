/* SPDX-License-Identifier: MIT */
/* snapshot.h - what a stream of another process holds, as a complete log in a file. */
#ifndef PXT_REMOTE_SNAPSHOT_H
#define PXT_REMOTE_SNAPSHOT_H

#include <stdbool.h>

struct pxt_snapshot {
	const char *name;   /* of the stream */
	const char *output; /* the file; "-": standard output */
	bool quiet;         /* says nothing where all went well */
};

/* Returns the exit status, after a word to the user. */
int pxt_snapshot_save(const struct pxt_snapshot *snapshot);

#endif
