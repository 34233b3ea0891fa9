/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the rate of the counter that stamps are read from.
 *
 *   concurrency: written by the start of the process, before there are streams.
 */
#ifndef PXT_CLOCK_H
#define PXT_CLOCK_H

#include "port/port.h"

extern struct pxt_clock_rate pxt_clock;

#endif
