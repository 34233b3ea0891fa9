/* SPDX-License-Identifier: MIT */
/* door_link.c - the archive's start: the linker has done all that there is to do. */
#include "sysevents/wrap/start.h"

void pxt_start_door(void)
{
}
