/* SPDX-License-Identifier: MIT */
/* port_since.h - ticks as time, where there is no room for a compiler library's long division. */
#ifndef PXT_PORT_SINCE_H
#define PXT_PORT_SINCE_H

#include <stdint.h>
#include <time.h>

/* @ticks of the stamp clock as seconds and nanoseconds, cut.  Bound: 128 rounds. */
void pxt_port_since(uint64_t ticks, struct timespec *time);

#endif
