/* SPDX-License-Identifier: MIT */
/* unwritten.h - why a log could not be written, in words, and what else its writer did not get into it. */
#ifndef PXT_UNWRITTEN_H
#define PXT_UNWRITTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

struct pxt_unwritten {
	char text[64];      /* "no space left on the device (ENOSPC)" */
	const char *advice; /* what loses less */
};

/* The first flush that failed, as the log's end says; false: none did. */
bool pxt_unwritten(trace_id_t trid, struct pxt_unwritten *why);
/* Records that the log was given and does not hold: overwritten, without room, or in a damaged place. */
uint64_t pxt_unwritten_records(const struct posix_trace_loginfo_np *info);

#endif
