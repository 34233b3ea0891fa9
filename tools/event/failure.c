/* SPDX-License-Identifier: MIT */
/* failure.c - the causes of POSIX_TRACE_ERROR events, in words; see failure.h. */
#include "tools/event/failure.h"

#include <trace_np.h>

static const struct {
	const char *what;
	const char *word;
} causes[] = {
	{ "failed", "" },
	[POSIX_TRACE_ERROR_LOG_NP] = { "flush failed", "log" },
	[POSIX_TRACE_ERROR_RECORD_NP] = { "record never completed, passed over", "record" },
	[POSIX_TRACE_ERROR_TYPES_NP] = { "no more event types", "types" },
	[POSIX_TRACE_ERROR_ATTACH_NP] = { "attach refused", "attach" },
	[POSIX_TRACE_ERROR_POINT_NP] = { "a point is defined twice with other fields", "point" },
};

static int cause_of(int32_t data)
{
	int cause = POSIX_TRACE_ERROR_CAUSE_NP(data);

	return cause < (int)(sizeof causes / sizeof causes[0]) ? cause : 0;
}

const char *pxt_failure_what(int32_t data)
{
	return causes[cause_of(data)].what;
}

const char *pxt_failure_word(int32_t data)
{
	return causes[cause_of(data)].word;
}
