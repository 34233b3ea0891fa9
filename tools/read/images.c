/* SPDX-License-Identifier: MIT */
/* images.c - see images.h. */
#include "tools/read/images.h"

#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

/* The packed data of such an event, before its name; in this machine's order. */
#define NAME_AT 21u

static uint64_t number_at(const struct pxt_event *event, size_t at, size_t bytes)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (bytes == sizeof narrow) {
		memcpy(&narrow, event->data + at, sizeof narrow);
		return narrow;
	}
	memcpy(&wide, event->data + at, sizeof wide);
	return wide;
}

/* Told again: the same; a process that became another program has none of the former's. */
static bool known(const struct pxt_images *images, const struct pxt_image *image)
{
	for (uint32_t i = images->count; i > 0; i--) {
		const struct pxt_image *other = &images->list[i - 1];

		if (other->pid == image->pid &&
		    other->module.posix_low_np == image->module.posix_low_np &&
		    strcmp(other->module.posix_path_np, image->module.posix_path_np) == 0)
			return true;
	}
	return false;
}

static void add(struct pxt_images *images, const struct pxt_image *image)
{
	if (images->count == images->room) {
		images->room = images->room ? 2 * images->room : 64;
		images->list = pxt_must(realloc(images->list, images->room * sizeof *images->list));
	}
	images->list[images->count++] = *image;
}

void pxt_images_take(struct pxt_images *images, const struct pxt_event *event)
{
	struct pxt_image image = { .pid = event->info.posix_pid };
	size_t length;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes <= NAME_AT ||
	    event->data[0] != POSIX_TRACE_PROCESS_IMAGE_NP || images->count == PXT_IMAGES_MAX)
		return;
	length = event->bytes - NAME_AT;
	if (length >= sizeof image.module.posix_path_np)
		return;
	image.module.posix_base_np = number_at(event, 5, 8);
	image.module.posix_low_np = image.module.posix_base_np + number_at(event, 1, 4);
	image.module.posix_high_np = image.module.posix_low_np + number_at(event, 13, 8);
	memcpy(image.module.posix_path_np, event->data + NAME_AT, length);
	if (!known(images, &image))
		add(images, &image);
}

void pxt_images_free(struct pxt_images *images)
{
	free(images->list);
}
