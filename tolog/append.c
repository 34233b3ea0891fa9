/* SPDX-License-Identifier: MIT */
/* append.c - the log policy APPEND: grows without end, on any kind of file (LOGP-03). */
#include "tolog/policies.h"

#include <errno.h>

/* What somebody else wrote is never appended to (DEC-21). */
static int check(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	(void)attr;
	return out->kind == PXT_LOG_APPEND && out->size ? EINVAL : 0;
}

const struct pxt_tolog_policy pxt_tolog_append = {
	.policy = POSIX_TRACE_APPEND,
	.check = check,
	.lay_out = pxt_tolog_sequential,
	.memory = pxt_tolog_no_memory,
	.place = pxt_tolog_sequential_place,
	.placed = pxt_tolog_sequential_placed,
};
