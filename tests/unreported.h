/* SPDX-License-Identifier: MIT */
/*
 * unreported.h - records that are passed over make no POSIX_TRACE_ERROR events: for tests that count what
 * they write themselves.
 */
#ifndef PXT_TEST_UNREPORTED_H
#define PXT_TEST_UNREPORTED_H

#include "core/read/passed.h"

#if CONFIG_PTRACE_SYSEV_ERROR
#define UNREPORTED() (pxt_passed_hook = NULL)
#else
#define UNREPORTED() ((void)0)
#endif

#endif
