/* SPDX-License-Identifier: MIT */
/* dpdk_register.c - makes the three trace points known to DPDK before main(). */
#include <rte_trace_point_register.h>

#include "dpdk_points.h"

RTE_TRACE_POINT_REGISTER(pxt_bench_4, pxt.bench .4)
RTE_TRACE_POINT_REGISTER(pxt_bench_32, pxt.bench .32)
RTE_TRACE_POINT_REGISTER(pxt_bench_256, pxt.bench .256)
