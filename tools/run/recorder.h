/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - the stream into which all traced processes record, and its log.
 *
 * This process owns the stream; the others attach to it.  So all are in one log, what a killed process
 * recorded is still taken from its memory, and no process but this one has the log's file.
 */
#ifndef PXT_RECORDER_H
#define PXT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

struct pxt_recorder {
	trace_id_t trid;
	char name[32]; /* of the stream */
	int fd;
	const char *path;
	const struct posix_trace_rotation_np *rotation; /* NULL: the log is one file */
};

#define PXT_RECORDER_REASONS 8u

/* What came of it. */
struct pxt_recorder_sum {
	struct posix_trace_counts_np counts; /* of the stream, at its end */
	uint64_t
	    log_lost; /* what the log was given and does not hold: overwritten, or without room */
	uint64_t refused; /* so often a process found no place among those that are attached */
	struct {
		char why[64];
		uint64_t count;
	} untraced
	    [PXT_RECORDER_REASONS]; /* processes that are not in the log, the rest, by the reason */
	int error;                  /* the log has no end; what was recorded before is in it */
};

/* Whether the file at @path is a log. */
bool pxt_recorder_is_log(const char *path);
/* The name that its stream will have. */
void pxt_recorder_name(struct pxt_recorder *recorder);
/*
 * @size 0: no limit; @ring: the newest @size bytes.  Where @recorder->rotation is set, @fd is a folder's.  False with
 * a word to the user.
 */
bool pxt_recorder_open(
    struct pxt_recorder *recorder, int fd, const char *path, uint64_t size, bool ring);
/* What was taken goes into the log. */
void pxt_recorder_flush(const struct pxt_recorder *recorder);
/* Takes what all processes have recorded so far, and ends the log. */
void pxt_recorder_close(struct pxt_recorder *recorder, struct pxt_recorder_sum *sum);

#endif
