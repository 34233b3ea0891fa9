/* SPDX-License-Identifier: MIT */
/* images.c - see images.h. */
#include "tools/read/images.h"

#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

/* Where the packed data of such an event has what, in this machine's order. */
#define NUMBER_AT  1u
#define ADDRESS_AT 5u
#define SIZE_AT    13u
#define NAME_AT    21u

#define PATH_MAX_BYTES 4096u

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

/* ---- Processes ---- */

/* Where the newest image of a process is, or would be. */
static uint32_t *newest_of(const struct pxt_images *images, pid_t pid)
{
	uint32_t at = ((uint32_t)pid * UINT32_C(0x9e3779b1) >> 8) % images->size;

	while (images->newest[at] != 0 && images->list[images->newest[at] - 1].pid != pid)
		at = (at + 1) % images->size;
	return &images->newest[at];
}

static void grow(struct pxt_images *images)
{
	uint32_t *old = images->newest;
	uint32_t size = images->size;

	images->size = size ? 2 * size : 64;
	images->newest = pxt_must(calloc(images->size, sizeof *images->newest));
	for (uint32_t i = 0; i < size; i++)
		if (old[i] != 0)
			*newest_of(images, images->list[old[i] - 1].pid) = old[i];
	free(old);
}

static uint32_t first_of(const struct pxt_images *images, pid_t pid)
{
	return images->size == 0 ? PXT_IMAGE_NONE : *newest_of(images, pid) - 1;
}

/* ---- Paths ---- */

/* Few are different, and what is told last is mostly told again. */
static uint32_t file_of(struct pxt_images *images, const char *path, size_t bytes)
{
	for (uint32_t i = images->file_count; i > 0; i--)
		if (strncmp(images->files[i - 1], path, bytes) == 0 &&
		    images->files[i - 1][bytes] == '\0')
			return i - 1;
	if ((images->file_count & (images->file_count - 1)) == 0)
		images->files = pxt_must(realloc(images->files,
		    (images->file_count ? 2 * images->file_count : 1) * sizeof(char *)));
	char *copy = pxt_must(malloc(bytes + 1));
	memcpy(copy, path, bytes);
	copy[bytes] = '\0';
	images->files[images->file_count] = copy;
	return images->file_count++;
}

/* ---- Events ---- */

/* Told again: the same.  What it lies upon is not there any more. */
static bool known(struct pxt_images *images, const struct pxt_image *image)
{
	for (uint32_t i = first_of(images, image->pid); i != PXT_IMAGE_NONE;
	     i = images->list[i].older) {
		struct pxt_image *other = &images->list[i];

		if (other->to_ns <= image->from_ns)
			continue;
		if (other->low == image->low && other->high == image->high &&
		    other->file == image->file)
			return true;
		if (other->low < image->high && image->low < other->high)
			other->to_ns = image->from_ns;
	}
	return false;
}

static void add(struct pxt_images *images, struct pxt_image image)
{
	if (images->count == images->room) {
		images->room = images->room ? 2 * images->room : 64;
		images->list = pxt_must(realloc(images->list, images->room * sizeof *images->list));
	}
	if (2 * images->processes >= images->size)
		grow(images);
	uint32_t *newest = newest_of(images, image.pid);
	image.older = *newest - 1;
	images->processes += *newest == 0;
	images->list[images->count++] = image;
	*newest = images->count;
}

static void loaded(struct pxt_images *images, const struct pxt_event *event)
{
	struct pxt_image image = {
		.pid = event->info.posix_pid, .from_ns = event->ns, .to_ns = INT64_MAX
	};
	const char *path = (const char *)event->data + NAME_AT;
	size_t bytes = event->bytes > NAME_AT ? strnlen(path, event->bytes - NAME_AT) : 0;

	if (images->count == PXT_IMAGES_MAX || bytes == 0 || bytes >= PATH_MAX_BYTES)
		return;
	image.base = number_at(event, ADDRESS_AT, 8);
	image.low = image.base + number_at(event, NUMBER_AT, 4);
	image.high = image.low + number_at(event, SIZE_AT, 8);
	if (image.high < image.low)
		return;
	image.file = file_of(images, path, bytes);
	if (!known(images, &image))
		add(images, image);
}

/* One, by its base; or all of a process that is another program from now on. */
static void unloaded(struct pxt_images *images, const struct pxt_event *event, bool all)
{
	uint64_t base = number_at(event, ADDRESS_AT, 8);

	for (uint32_t i = first_of(images, event->info.posix_pid); i != PXT_IMAGE_NONE;
	     i = images->list[i].older) {
		struct pxt_image *image = &images->list[i];

		if ((all || image->base == base) && image->to_ns > event->ns)
			image->to_ns = event->ns;
	}
}

void pxt_images_take(struct pxt_images *images, const struct pxt_event *event)
{
	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes < NAME_AT)
		return;
	switch (event->data[0]) {
	case POSIX_TRACE_PROCESS_IMAGE_NP:
		loaded(images, event);
		break;
	case POSIX_TRACE_PROCESS_IMAGE_GONE_NP:
		unloaded(images, event, false);
		break;
	case POSIX_TRACE_PROCESS_TRACED_NP:
		unloaded(images, event, true);
		break;
	default:
		break;
	}
}

/* ---- Questions ---- */

const struct pxt_image *pxt_images_find(
    const struct pxt_images *images, pid_t pid, uint64_t address, int64_t ns)
{
	const struct pxt_image *later = NULL;
	bool gone = false;

	for (uint32_t i = first_of(images, pid); i != PXT_IMAGE_NONE; i = images->list[i].older) {
		const struct pxt_image *image = &images->list[i];

		if (address < image->low || address >= image->high)
			continue;
		if (image->from_ns <= ns && ns < image->to_ns)
			return image;
		/* The list goes back in time: the last one found is the next one after @ns. */
		if (image->from_ns > ns)
			later = image;
		else
			gone = true;
	}
	return gone ? NULL : later;
}

bool pxt_images_knows(const struct pxt_images *images, pid_t pid)
{
	return first_of(images, pid) != PXT_IMAGE_NONE;
}

void pxt_images_free(struct pxt_images *images)
{
	for (uint32_t i = 0; i < images->file_count; i++)
		free(images->files[i]);
	free(images->files);
	free(images->list);
	free(images->newest);
}
