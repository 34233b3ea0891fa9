/* SPDX-License-Identifier: MIT */
/* clock.c - see clock.h. */
#include "core/process/clock.h"

struct pxt_clock_rate pxt_clock;
