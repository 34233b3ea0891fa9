/* SPDX-License-Identifier: MIT */
/*
 * dpdk_points.h - DPDK's description of the three events.  Its fields are words: 4 and 32 of them
 * make 32 and 256 bytes.  rte_trace_point_register.h, included before, makes registration of it.
 */
#ifndef BENCH_DPDK_POINTS_H
#define BENCH_DPDK_POINTS_H

#include <rte_trace_point.h>

#define WORD(n) rte_trace_point_emit_u64(words[n])
#define FOUR(n)                                                                                    \
	WORD(n);                                                                                   \
	WORD(n + 1);                                                                               \
	WORD(n + 2);                                                                               \
	WORD(n + 3)

RTE_TRACE_POINT(pxt_bench_4, RTE_TRACE_POINT_ARGS(uint32_t value), rte_trace_point_emit_u32(value);)
RTE_TRACE_POINT(pxt_bench_32, RTE_TRACE_POINT_ARGS(const uint64_t *words), FOUR(0);)
RTE_TRACE_POINT(pxt_bench_256, RTE_TRACE_POINT_ARGS(const uint64_t *words), FOUR(0); FOUR(4);
                FOUR(8); FOUR(12); FOUR(16); FOUR(20); FOUR(24); FOUR(28);)

#endif
