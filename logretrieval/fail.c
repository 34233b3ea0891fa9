/* SPDX-License-Identifier: MIT */
/* fail.c - what is wrong with a log, and where: kept for a thread that asks why it does not open. */
#include "logretrieval/log.h"

#include <errno.h>
#include <string.h>

int pxt_log_fail(struct pxt_log *log, uint64_t offset, const char *reason)
{
	size_t length = strlen(reason);

	if (length >= sizeof(log->error.posix_reason_np))
		length = sizeof(log->error.posix_reason_np) - 1;
	log->error.posix_offset_np = offset;
	memcpy(log->error.posix_reason_np, reason, length);
	log->error.posix_reason_np[length] = '\0';
	return EINVAL;
}
