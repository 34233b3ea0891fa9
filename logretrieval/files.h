/* SPDX-License-Identifier: MIT */
/*
 * files.h - several files of a set as one log (files.c).
 *
 *   concurrency: with the log's lock.
 *
 * Offsets go on from one file to the next, for the port reads several files as one (port_file.h).  Scanning goes from
 * the end of one to the blocks of the next, and keeps a gap between them, which reading passes over: so nothing
 * else knows that there are several files.
 */
#ifndef PXT_LOG_FILES_H
#define PXT_LOG_FILES_H

#include "logretrieval/log.h"

/* What the trailers of all files but the last one count. */
struct pxt_log_former {
	uint64_t written;
	uint64_t retrieved;
	uint64_t lost;
	uint64_t cleared;
	uint64_t log_lost;
};

/* Takes the files, of which @log has the first one; their heads say in which order they are. */
int pxt_log_open_files(struct pxt_log *log, const int *fds, size_t count);
void pxt_log_close_files(struct pxt_log *log);
/* Scanning begins again. */
void pxt_log_first_file(struct pxt_log *log);
/*
 * Before a block is read at log->scanned: goes to the next file where this one ends.  @cut: a growing log's
 * file has no more blocks; then 0 says that there is a next one, else ENODATA.
 */
int pxt_log_enter_file(struct pxt_log *log, bool cut);
/* Of a file that has its trailer: whether there is another one. */
bool pxt_log_more_files(struct pxt_log *log);
/* What the file says about those before it: what is missing between them was lost. */
int pxt_log_take_set(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
/* Offset of the end of the file that @offset is in. */
int pxt_log_end_of_file(const struct pxt_log *log, uint64_t offset, uint64_t *end);
/* Offset of the file that @offset is in; blocks' sums count from there on. */
uint64_t pxt_log_begin_of_file(const struct pxt_log *log, uint64_t offset);
const struct pxt_log_former *pxt_log_former(const struct pxt_log *log);
/* Records in the files before the one that @offset is in. */
uint64_t pxt_log_records_before(const struct pxt_log *log, uint64_t offset);

#endif
