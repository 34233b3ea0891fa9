/* SPDX-License-Identifier: MIT */
/* shared.h - trace points that two files of a program have in common. */
#ifndef PXT_TEST_POINTS_SHARED_H
#define PXT_TEST_POINTS_SHARED_H

#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_USEREVENTS
POSIX_TRACE_DECLARE_NP(shared, u32, number);
POSIX_TRACE_DECLARE_TEXT_NP(shared_text, "number %u of both", u32, number);

/* The other file traces, and says what it takes for the point's identifier. */
trace_event_id_t points_other(uint32_t number);
#endif

#endif
