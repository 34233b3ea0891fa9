/* SPDX-License-Identifier: MIT */
/* logkit.h - streams with a log in a file of their own, for the tests of logs. */
#ifndef PXT_TESTS_LOGKIT_H
#define PXT_TESTS_LOGKIT_H

#include "story.h"

/* What no function writes. */
#define NEVER ((trace_id_t)0x5a5a5a5a)

/* A started stream with a log in a new file, which @spec has then; the policies as given (0: default). */
trace_id_t lk_logging(struct st_spec *spec);
trace_id_t lk_open_log(int fd);
/* Shuts the stream down and opens its log. */
trace_id_t lk_finish(trace_id_t trid, const struct st_spec *spec);
void lk_close_log(trace_id_t log, int fd);
/* The events @first to @last, in this order. */
void lk_say_many(int first, int last);
/* A log file on which bytes were written by somebody else. */
int lk_foreign_file(const void *bytes, size_t len);

#endif
