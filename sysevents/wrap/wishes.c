/* SPDX-License-Identifier: MIT */
/* wishes.c - what is asked for, and whose code is whose; filled before main() (start.c, door_preload.c). */
#include "sysevents/wrap/wrap.h"

struct pxt_wrap_wishes pxt_wrap_wishes = {
	.stack_ns = UINT64_MAX, .calls = UINT64_MAX, .kinds = UINT64_MAX
};
