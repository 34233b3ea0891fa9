/* SPDX-License-Identifier: MIT */
/* logkit.c - streams with a log in a file of their own, and snapshots; see story.h. */
#include "story.h"

#include "../suite.h"

#include <unistd.h>

/* A stream with a log in a new file; the policies as given (0: default). */
trace_id_t lk_logging(struct st_spec *spec)
{
	spec->with_log = true;
	spec->fd = pxt_temp_file();
	return st_started(spec);
}

/* Shuts the stream down and opens its log. */
trace_id_t lk_finish(trace_id_t trid, const struct st_spec *spec)
{
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return pxt_open_log(spec->fd);
}

void lk_close_log(trace_id_t log, int fd)
{
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(fd), 0);
}

/* A log file on which bytes were written by somebody else. */
int lk_foreign_file(const void *bytes, size_t len)
{
	int fd = pxt_temp_file();

	PXT_EQ(write(fd, bytes, len), len);
	return fd;
}

#if _PXT_UNIT_SNAPSHOT
/* ---- Snapshots as tests take them ---- */

struct sn_shot sn_open(int fd)
{
	struct sn_shot shot = { .fd = fd };
	struct posix_trace_logcheck_np sum;
	struct posix_trace_logfinding_np finding = { 0 };

	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), &finding, sizeof(finding), 1, NULL, NULL),
	    0);
	PXT_CHECK(sum.posix_findings_np == 0, "%s", finding.posix_reason_np);
	PXT_EQ(sum.posix_complete_np, 1);
	PXT_EQ_FATAL(posix_trace_open(fd, &shot.log), 0);
	return shot;
}

struct sn_shot sn_take(trace_id_t trid)
{
	int fd = pxt_temp_file();

	PXT_EQ_FATAL(posix_trace_snapshot_np(trid, fd), 0);
	return sn_open(fd);
}

void sn_close(struct sn_shot *shot)
{
	PXT_EQ(posix_trace_close(shot->log), 0);
	PXT_EQ(close(shot->fd), 0);
}

bool sn_same_counts(trace_id_t trid, const struct posix_trace_counts_np *before)
{
	struct posix_trace_counts_np now;

	return st_law(trid, &now) && now.posix_written_np == before->posix_written_np &&
	       now.posix_retrieved_np == before->posix_retrieved_np &&
	       now.posix_lost_np == before->posix_lost_np &&
	       now.posix_cleared_np == before->posix_cleared_np &&
	       now.posix_held_np == before->posix_held_np;
}
#endif
