/* SPDX-License-Identifier: MIT */
/*
 * box.h - looks into a stream's file as it is at this moment, in two ways that share no code: by the
 * library's own reader (a copy of the file is taken for a stream of this process, whoever wrote it and
 * whatever became of them), and by `pxtrace recover`, whose log is read.
 */
#ifndef PXT_BLACKBOX_BOX_H
#define PXT_BLACKBOX_BOX_H

#include "format/imageheader.h"

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>
#include <trace_np.h>

struct box_reader;

struct box {
	unsigned char *bytes;
	size_t size;
	const struct pxt_stream_header *header;
	const struct pxt_directory_header *directory;
	const char *procinfo;
	struct box_reader *reader;
	trace_id_t log; /* not 0: what pxtrace recover made of it */
	char type_name[TRACE_EVENT_NAME_MAX + 1];
	char type_format[POSIX_TRACE_FORMAT_MAX_NP + 1];
};

struct box_event {
	uint32_t id;
	uint32_t bytes;
	unsigned char data[4096];
	uint64_t thread;
	int32_t pid;
	uint64_t lost_before; /* as a log says it */
};

/* False: the file is no stream's.  What it claims to be beyond that is asserted. */
bool box_open(struct box *box, int fd);
/* From now on @box says what the log says that pxtrace recover makes of @fd; false: there is no pxtrace. */
bool box_recover(struct box *box, int fd);
/*
 * The log that pxtrace recover makes of @fd, a black box or a log; @all: with what the program had taken
 * itself.  Returns its exit status, and sets *salvaged if that is 0; -1: there is no pxtrace.
 */
int box_salvage(int fd, bool all, trace_id_t *salvaged);
void box_close(struct box *box);
/* The next event; false: there is none, and what is unfinished was given up. */
bool box_next(struct box *box, struct box_event *event);
void box_counts(struct box *box, struct posix_trace_counts_np *counts);
/* Whether the stream runs, as its gate says. */
bool box_runs(const struct box *box);
/* Threads that the file knows, by the library's reader alone. */
uint32_t box_threads(const struct box *box);
struct pxt_thread;
const struct pxt_thread *box_thread(const struct box *box, uint32_t index);

/* Name and description of a type, good until the next call; NULL: the file has no such type. */
const char *box_name(struct box *box, uint32_t id);
const char *box_format(struct box *box, uint32_t id);

/* Where a living stream of this process has its block. */
void *box_memory(trace_id_t trid);

#endif
