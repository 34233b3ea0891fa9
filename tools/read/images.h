/* SPDX-License-Identifier: MIT */
/*
 * images.h - what is mapped where in each process, as system events tell it (posix_trace_process):
 * one log may hold several processes, of which each has addresses of its own.
 *
 * Bounded: PXT_IMAGES_MAX images; those beyond are not known.
 */
#ifndef PXT_IMAGES_H
#define PXT_IMAGES_H

#include "tools/event/event.h"

#define PXT_IMAGES_MAX 65536u

struct pxt_image {
	pid_t pid;
	struct posix_trace_logmodule_np module; /* without a build's number */
};

struct pxt_images {
	struct pxt_image *list;
	uint32_t count;
	uint32_t room;
};

/* Any event: those that tell of images are noted. */
void pxt_images_take(struct pxt_images *images, const struct pxt_event *event);
void pxt_images_free(struct pxt_images *images);

#endif
