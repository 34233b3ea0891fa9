/* SPDX-License-Identifier: MIT */
/* images.c - libraries that come while the program runs; see images.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/images.h"

#include "sysevents/wrap/process.h"

__thread bool pxt_images_new;

/* All that is mapped is told again: what is known already is the same. */
void pxt_images_tell(void)
{
	int saved = errno;

	pxt_images_new = false;
	pxt_process_tell_images();
	errno = saved;
}
