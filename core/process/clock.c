/* SPDX-License-Identifier: MIT */
/* clock.c - where the counter's rate is kept; see clock.h. */
#include "core/process/clock.h"

struct pxt_clock_rate pxt_clock;
