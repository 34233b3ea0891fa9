/* SPDX-License-Identifier: MIT */
/* lttng_points.h - LTTng-UST's description of the three events; it reads this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pxt_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_points.h"

#if !defined(BENCH_LTTNG_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_POINTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(pxt_bench, bytes_4,
	LTTNG_UST_TP_ARGS(uint32_t, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(pxt_bench, bytes_32,
	LTTNG_UST_TP_ARGS(const uint8_t *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, data, data, 32)))

LTTNG_UST_TRACEPOINT_EVENT(pxt_bench, bytes_256,
	LTTNG_UST_TP_ARGS(const uint8_t *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, data, data, 256)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
