/* SPDX-License-Identifier: MIT */
/*
 * unreported.h - records that are passed over make no POSIX_TRACE_ERROR events: for tests that count what
 * they write themselves.
 */
#ifndef PXT_TEST_UNREPORTED_H
#define PXT_TEST_UNREPORTED_H

#include "core/read/lane.h"

#if CONFIG_PTRACE_SYSEV_ERROR
/* Once, before there are readers. */
#define UNREPORTED()                                                                               \
	do {                                                                                       \
		if (pxt_lane_passed_hook)                                                          \
			pxt_lane_passed_hook = NULL;                                               \
	} while (0)
#else
#define UNREPORTED() ((void)0)
#endif

#endif
