/* SPDX-License-Identifier: MIT */
/*
 * images.h - libraries that come while the program runs.
 *
 * dlopen() looks at where it is called, to find the folders in which its caller's libraries are.  So its
 * wrapper jumps there and does not come back; what is new is told by the thread's next event of a wait or a
 * call.  Readers take an image for all of a process' events, whenever it is told.
 *
 *   concurrency: a thread's own.
 */
#ifndef PXT_WRAP_IMAGES_H
#define PXT_WRAP_IMAGES_H

#include "sysevents/wrap/wrap.h"

/* The calling thread has called dlopen() and told nothing since. */
extern __thread bool pxt_images_new
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

void pxt_images_tell(void) __attribute__((visibility("hidden")));

PXT_WRAP_INLINE void pxt_images_catch_up(void)
{
	if (!PXT_WRAP_LIKELY(!pxt_images_new))
		pxt_images_tell();
}

#endif
