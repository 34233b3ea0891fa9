/* SPDX-License-Identifier: MIT */
/*
 * header.c - the beginning of a log: reading it, and saying in words why format/logfmt_get.c refuses it, also for
 * its version.
 */
#include "logretrieval/log.h"

#include <errno.h>
#include <stdio.h>

int pxt_log_read_header(struct pxt_log *log)
{
	const unsigned char *at;
	const char *wrong;

	if (pxt_log_need(log, 0, PXT_LOG_HEADER_BYTES, "the file is too short to be a log", &at))
		return EINVAL;
	wrong = pxt_logfmt_get_header(at, &log->header);
	if (!wrong)
		return 0;
	(void)pxt_log_fail(log, 0, wrong);
	if (wrong == pxt_log_newer)
		(void)snprintf(log->error.posix_reason_np, sizeof(log->error.posix_reason_np),
		    "the log needs a reader of format %u.%u or newer; this one reads %u.%u",
		    (unsigned)log->header.min_major, (unsigned)log->header.min_minor, PXT_LOG_MAJOR,
		    PXT_LOG_MINOR);
	return EINVAL;
}
