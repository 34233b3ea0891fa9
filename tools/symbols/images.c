/* SPDX-License-Identifier: MIT */
/* images.c - see images.h. */
#include "tools/symbols/images.h"

#include "format/hexdigit.h"
#include "tools/output/out.h"

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

static uint32_t mix(uint64_t value)
{
	return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* A process' place, or the free one where it would be. */
static struct pxt_image_process *place_of(const struct pxt_images *images, pid_t pid)
{
	uint32_t at = mix((uint32_t)pid);

	for (;; at++) {
		struct pxt_image_process *process = &images->processes[at & (images->size - 1)];

		if (process->newest == 0 || process->pid == pid)
			return process;
	}
}

static void grow_processes(struct pxt_images *images)
{
	struct pxt_image_process *old = images->processes;
	uint32_t size = images->size;

	images->size = size ? 2 * size : 64;
	images->processes = pxt_must(calloc(images->size, sizeof *images->processes));
	for (uint32_t i = 0; i < size; i++)
		if (old[i].newest != 0)
			*place_of(images, old[i].pid) = old[i];
	free(old);
}

/* NULL: no event told of it. */
static struct pxt_image_process *process_of(const struct pxt_images *images, pid_t pid)
{
	struct pxt_image_process *process = images->size ? place_of(images, pid) : NULL;

	return process && process->newest != 0 ? process : NULL;
}

/* ---- What is there now: of a process, by address, none upon another ---- */

/* How many of them end at or below @address. */
static uint32_t live_below(
    const struct pxt_images *images, const struct pxt_image_process *process, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = process->live_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (images->list[process->live[middle]].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_live(struct pxt_image_process *process, uint32_t at, uint32_t count)
{
	process->live_count -= count;
	memmove(process->live + at, process->live + at + count,
	    (process->live_count - at) * sizeof *process->live);
}

static void insert_live(struct pxt_image_process *process, uint32_t at, uint32_t image)
{
	process->live = pxt_must_grow(
	    process->live, &process->live_room, process->live_count, sizeof *process->live);
	memmove(process->live + at + 1, process->live + at,
	    (process->live_count++ - at) * sizeof *process->live);
	process->live[at] = image;
}

/* ---- Files: paths and builds ---- */

static bool same_build(const struct pxt_build *a, const struct pxt_build *b)
{
	return a->told == b->told && a->bytes == b->bytes && memcmp(a->id, b->id, a->bytes) == 0;
}

static uint64_t add_to_sum(uint64_t sum, const void *data, size_t bytes)
{
	const unsigned char *from = data;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ from[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* The place of a file among the names, or the free one where it would be. */
static uint32_t *name_at(
    const struct pxt_images *images, const char *path, size_t bytes, const struct pxt_build *build)
{
	uint64_t sum = add_to_sum(UINT64_C(0xcbf29ce484222325), path, bytes);

	for (uint32_t at = mix(add_to_sum(sum, build->id, build->bytes));; at++) {
		uint32_t *name = &images->names[at & (images->names_size - 1)];

		if (*name == 0)
			return name;
		const struct pxt_image_file *known = &images->files[*name - 1];
		if (strncmp(known->path, path, bytes) == 0 && known->path[bytes] == '\0' &&
		    same_build(&known->build, build))
			return name;
	}
}

static void grow_files(struct pxt_images *images)
{
	images->names_size = images->names_size ? 2 * images->names_size : 64;
	images->files =
	    pxt_must(realloc(images->files, images->names_size / 2 * sizeof *images->files));
	free(images->names);
	images->names = pxt_must(calloc(images->names_size, sizeof *images->names));
	for (uint32_t i = 0; i < images->file_count; i++) {
		const struct pxt_image_file *file = &images->files[i];

		*name_at(images, file->path, strlen(file->path), &file->build) = i + 1;
	}
}

static uint32_t file_of(
    struct pxt_images *images, const char *path, size_t bytes, const struct pxt_build *build)
{
	if (2 * images->file_count >= images->names_size)
		grow_files(images);
	uint32_t *name = name_at(images, path, bytes, build);
	if (*name == 0) {
		char *copy = pxt_must(malloc(bytes + 1));

		memcpy(copy, path, bytes);
		copy[bytes] = '\0';
		images->files[images->file_count++] =
		    (struct pxt_image_file){ .path = copy, .told_ns = INT64_MIN, .build = *build };
		*name = images->file_count;
	}
	return *name - 1;
}

/* ---- Events ---- */

/* Told again: the same.  What it lies upon is not there any more. */
static bool known(struct pxt_images *images, const struct pxt_image *image)
{
	struct pxt_image_process *process = process_of(images, image->pid);
	uint32_t first = process ? live_below(images, process, image->low) : 0;
	uint32_t end = first;

	for (; process && end < process->live_count; end++) {
		struct pxt_image *other = &images->list[process->live[end]];

		if (other->low >= image->high)
			break;
		if (other->low == image->low && other->high == image->high &&
		    other->file == image->file)
			return true;
		other->to_ns = image->from_ns;
	}
	if (process)
		remove_live(process, first, end - first);
	return false;
}

/* The newest image of that base, or where it would be noted. */
static uint32_t *base_at(const struct pxt_images *images, pid_t pid, uint64_t base)
{
	uint32_t at = mix(base ^ (uint64_t)(uint32_t)pid << 40);

	for (;; at++) {
		uint32_t *newest = &images->bases[at & (images->bases_size - 1)];

		if (*newest == 0 || (images->list[*newest - 1].pid == pid &&
		                        images->list[*newest - 1].base == base))
			return newest;
	}
}

static void grow_list(struct pxt_images *images)
{
	images->room = images->room ? 2 * images->room : 64;
	images->list = pxt_must(realloc(images->list, images->room * sizeof *images->list));
	free(images->bases);
	images->bases_size = 2 * images->room;
	images->bases = pxt_must(calloc(images->bases_size, sizeof *images->bases));
	/* In their order: the newest one stands for those of its base. */
	for (uint32_t i = 0; i < images->count; i++)
		*base_at(images, images->list[i].pid, images->list[i].base) = i + 1;
}

static void add(struct pxt_images *images, struct pxt_image image)
{
	if (images->count == images->room)
		grow_list(images);
	if (2 * images->process_count >= images->size)
		grow_processes(images);
	struct pxt_image_process *process = place_of(images, image.pid);
	uint32_t *base = base_at(images, image.pid, image.base);
	images->process_count += process->newest == 0;
	process->pid = image.pid;
	image.older = process->newest - 1;
	image.same_base = *base - 1;
	images->list[images->count] = image;
	insert_live(process, live_below(images, process, image.low), images->count);
	process->newest = *base = ++images->count;
	process->changes++;
}

static struct pxt_image_expected *expected_at(
    struct pxt_images *images, const struct pxt_event *event)
{
	uint64_t base = number_at(event, ADDRESS_AT, 8);

	return &images->expected[mix(base ^ (uint64_t)(uint32_t)event->info.posix_pid << 40) %
	                         PXT_IMAGES_EXPECTED];
}

/* Of the image that comes next.  A text that no recorder made is ignored. */
static void expect(struct pxt_images *images, const struct pxt_event *event)
{
	struct pxt_image_expected *expected = expected_at(images, event);
	const unsigned char *text = event->data + NAME_AT;
	size_t length = strnlen((const char *)text, event->bytes - NAME_AT);
	struct pxt_build build = { .told = true, .bytes = (uint8_t)(length / 2) };

	*expected = (struct pxt_image_expected){ .pid = event->info.posix_pid,
		.base = number_at(event, ADDRESS_AT, 8) };
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED || length % 2 != 0 ||
	    length > 2 * sizeof build.id)
		return;
	for (size_t i = 0; i < length; i++) {
		/* In small letters, as wrappers write it. */
		bool capital = text[i] >= 'A' && text[i] <= 'F';
		int value = capital ? -1 : pxt_hexdigit((char)text[i]);

		if (value < 0)
			return;
		build.id[i / 2] = (unsigned char)(build.id[i / 2] << 4 | value);
	}
	expected->build = build;
}

/* What was told of it, once. */
static struct pxt_build build_of(struct pxt_images *images, const struct pxt_event *event)
{
	struct pxt_image_expected *expected = expected_at(images, event);
	struct pxt_build build = { 0 };

	if (expected->pid != event->info.posix_pid ||
	    expected->base != number_at(event, ADDRESS_AT, 8))
		return build;
	build = expected->build;
	*expected = (struct pxt_image_expected){ 0 };
	return build;
}

static void loaded(struct pxt_images *images, const struct pxt_event *event)
{
	const struct pxt_build build = build_of(images, event);
	struct pxt_image image = {
		.pid = event->info.posix_pid, .from_ns = event->ns, .to_ns = INT64_MAX
	};
	const char *path = (const char *)event->data + NAME_AT;
	size_t bytes = event->bytes > NAME_AT ? strnlen(path, event->bytes - NAME_AT) : 0;

	if (images->count == PXT_IMAGES_MAX || images->file_count == PXT_IMAGES_MAX || bytes == 0 ||
	    bytes >= PATH_MAX_BYTES)
		return;
	image.base = number_at(event, ADDRESS_AT, 8);
	image.low = image.base + number_at(event, NUMBER_AT, 4);
	image.high = image.low + number_at(event, SIZE_AT, 8);
	if (image.high <= image.low)
		return;
	image.file = file_of(images, path, bytes, &build);
	if (known(images, &image))
		return;
	add(images, image);
	if (images->files[image.file].told_ns < event->ns)
		images->files[image.file].told_ns = event->ns;
}

/* Those of one base, of which none is there afterwards: the older ones are not looked at again. */
static void unloaded(struct pxt_images *images, const struct pxt_event *event)
{
	pid_t pid = event->info.posix_pid;
	struct pxt_image_process *process = process_of(images, pid);
	uint32_t i =
	    process ? *base_at(images, pid, number_at(event, ADDRESS_AT, 8)) - 1 : PXT_IMAGE_NONE;

	while (i != PXT_IMAGE_NONE) {
		struct pxt_image *image = &images->list[i];

		process->changes++;
		if (image->to_ns == INT64_MAX) {
			remove_live(process, live_below(images, process, image->low), 1);
			image->to_ns = event->ns;
		}
		i = image->same_base;
		image->same_base = PXT_IMAGE_NONE;
	}
}

/* All of a process that is another program from now on. */
static void unloaded_all(struct pxt_images *images, const struct pxt_event *event)
{
	struct pxt_image_process *process = process_of(images, event->info.posix_pid);

	for (uint32_t i = 0; process && i < process->live_count; i++)
		images->list[process->live[i]].to_ns = event->ns;
	if (!process)
		return;
	process->live_count = 0;
	process->changes++;
}

void pxt_images_take(struct pxt_images *images, const struct pxt_event *event)
{
	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes < NAME_AT)
		return;
	switch (event->data[0]) {
	case POSIX_TRACE_PROCESS_IMAGE_NP:
		loaded(images, event);
		break;
	case POSIX_TRACE_PROCESS_IMAGE_BUILD_NP:
		expect(images, event);
		break;
	case POSIX_TRACE_PROCESS_IMAGE_GONE_NP:
		unloaded(images, event);
		break;
	case POSIX_TRACE_PROCESS_TRACED_NP:
		unloaded_all(images, event);
		break;
	default:
		break;
	}
}

/* ---- Questions ---- */

static bool covers(const struct pxt_image *image, uint64_t address)
{
	return image->low <= address && address < image->high;
}

/* What is there still, if it was there at @ns already. */
static const struct pxt_image *find_live(const struct pxt_images *images,
    const struct pxt_image_process *process, uint64_t address, int64_t ns)
{
	uint32_t at = live_below(images, process, address);
	const struct pxt_image *image =
	    at < process->live_count ? &images->list[process->live[at]] : NULL;

	return image && covers(image, address) && image->from_ns <= ns ? image : NULL;
}

const struct pxt_image *pxt_images_find(
    const struct pxt_images *images, pid_t pid, uint64_t address, int64_t ns)
{
	const struct pxt_image_process *process = process_of(images, pid);
	const struct pxt_image *later = process ? find_live(images, process, address, ns) : NULL;
	uint32_t i = process && !later ? process->newest - 1 : PXT_IMAGE_NONE;

	for (unsigned steps = 0; i != PXT_IMAGE_NONE; i = images->list[i].older) {
		const struct pxt_image *image = &images->list[i];

		if (steps++ == PXT_IMAGES_BACK)
			return NULL;
		if (!covers(image, address))
			continue;
		if (image->from_ns <= ns)
			return ns < image->to_ns ? image : NULL;
		/* The list goes back in time: the last one found is the next one after @ns. */
		later = image;
	}
	return later;
}

uint32_t pxt_images_changes(const struct pxt_images *images, pid_t pid)
{
	const struct pxt_image_process *process = process_of(images, pid);

	return process ? process->changes : 0;
}

bool pxt_images_knows(const struct pxt_images *images, pid_t pid)
{
	return process_of(images, pid) != NULL;
}

void pxt_images_free(struct pxt_images *images)
{
	for (uint32_t i = 0; i < images->file_count; i++)
		free(images->files[i].path);
	for (uint32_t i = 0; i < images->size; i++)
		free(images->processes[i].live);
	free(images->files);
	free(images->names);
	free(images->list);
	free(images->bases);
	free(images->processes);
}
