/* SPDX-License-Identifier: MIT */
/* exit.c - the end of a process by exit(), or by main()'s, after all that the program has for its end. */
#define _GNU_SOURCE
#include "sysevents/wrap/exit.h"

#include "sysevents/wrap/images.h"
#include "sysevents/wrap/process.h"

#include <stdlib.h>

static void leave(int status, void *argument)
{
	(void)argument;
	pxt_images_catch_up();
	pxt_process_tell_exit(status, NULL);
}

void pxt_exit_start(void)
{
	(void)on_exit(leave, NULL);
}
