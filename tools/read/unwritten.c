/* SPDX-License-Identifier: MIT */
/* unwritten.c - see unwritten.h. */
#include "tools/read/unwritten.h"

#include <stdio.h>

#define DEVICE                                                                                     \
	"a log on another device loses less, and so does one that stays small "                    \
	"(posix_trace_attr_setlogsize() with the policy LOOP)"
#define READER "whoever reads the log as it is written has to stay until the stream is shut down"

/* Linux' numbers, which a log carries, on all machines but Alpha, MIPS, PA-RISC and SPARC. */
static const struct {
	int number;
	const char *name;
	const char *text;
	const char *advice;
} causes[] = {
	{ 5, "EIO", "the device failed", DEVICE },
	{ 9, "EBADF", "its descriptor was closed, or became another file's",
	    "the log's descriptor belongs to the stream until shutdown: the program must not close "
	    "it" },
	{ 11, "EAGAIN", "the device took nothing for too long",
	    "a faster device, or fewer events on it (posix_trace_set_filter()), lose less" },
	{ 27, "EFBIG", "the file reached the largest size allowed",
	    "a higher limit (ulimit -f), or a log that stays below it "
	    "(posix_trace_attr_setlogsize() "
	    "with the policy LOOP), loses less" },
	{ 28, "ENOSPC", "no space left on the device", DEVICE },
	{ 30, "EROFS", "the file system is read-only", DEVICE },
	{ 32, "EPIPE", "the reader of the pipe was gone", READER },
	{ 104, "ECONNRESET", "the other end of the connection was gone", READER },
	{ 110, "ETIMEDOUT", "the other end of the connection did not answer", READER },
	{ 122, "EDQUOT", "the quota of the disk was used up", DEVICE },
};

bool pxt_unwritten(trace_id_t trid, struct pxt_unwritten *why)
{
	struct posix_trace_status_info status;

	if (posix_trace_get_status(trid, &status) != 0 || status.posix_stream_flush_error == 0)
		return false;
	(void)snprintf(
	    why->text, sizeof why->text, "error %d of write()", status.posix_stream_flush_error);
	why->advice = DEVICE;
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		if (causes[i].number != status.posix_stream_flush_error)
			continue;
		(void)snprintf(
		    why->text, sizeof why->text, "%s (%s)", causes[i].text, causes[i].name);
		why->advice = causes[i].advice;
	}
	return true;
}

uint64_t pxt_unwritten_records(const struct posix_trace_loginfo_np *info)
{
	uint64_t rest = info->posix_lost_np;
	const uint64_t others[] = { info->posix_counts_np.posix_lost_np,
		info->posix_counts_np.posix_held_np };

	/* The sum of a hostile log stays at the largest number. */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		rest -= others[i] < rest ? others[i] : rest;
	return rest;
}
