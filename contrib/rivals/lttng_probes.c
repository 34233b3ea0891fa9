/* SPDX-License-Identifier: MIT */
/* lttng_probes.c - what LTTng-UST makes of lttng_points.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"
