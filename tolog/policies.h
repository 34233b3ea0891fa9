/* SPDX-License-Identifier: MIT */
/*
 * policies.h - what each log-full policy decides: which kinds of file it takes, the least size of its log
 * (else EINVAL), and what a full log does: sequential.c, loop.c.
 */
#ifndef PXT_TOLOG_POLICIES_H
#define PXT_TOLOG_POLICIES_H

#include "tolog/tolog.h"

#if CONFIG_PTRACE_LOG_LOOP
extern const struct pxt_tolog_policy pxt_tolog_loop;
#define PXT_TOLOG_LOOP &pxt_tolog_loop,
#else
#define PXT_TOLOG_LOOP
#endif
#if CONFIG_PTRACE_LOG_UNTIL_FULL
extern const struct pxt_tolog_policy pxt_tolog_until_full;
#define PXT_TOLOG_UNTIL_FULL &pxt_tolog_until_full,
#else
#define PXT_TOLOG_UNTIL_FULL
#endif
#if CONFIG_PTRACE_LOG_APPEND
extern const struct pxt_tolog_policy pxt_tolog_append;
#define PXT_TOLOG_APPEND &pxt_tolog_append,
#else
#define PXT_TOLOG_APPEND
#endif
#define PXT_TOLOG_POLICIES                                                                         \
	{                                                                                          \
		PXT_TOLOG_LOOP PXT_TOLOG_UNTIL_FULL PXT_TOLOG_APPEND NULL                          \
	}

#endif
