/* SPDX-License-Identifier: MIT */
/* left.c - what a process has, read from /proc and from the fakes. */
#include "fixture.h"

#include "fakes/fakes.h"
#include "format/owndescriptors.h"
#include "suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Thread stacks, which C libraries keep for the next thread, are anonymous; so is their heap. */
static bool is_the_librarys(const char *line)
{
	return strchr(line, '/') != NULL && !strstr(line, ".so");
}

static void read_maps(struct left *left)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from;
		unsigned long to;

		if (!is_the_librarys(line) || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		left->maps++;
		left->map_bytes += to - from;
	}
	if (maps)
		(void)fclose(maps);
}

static unsigned long hash(const char *text, unsigned long seed)
{
	for (; *text; text++)
		seed = seed * 31u + (unsigned char)*text;
	return seed;
}

/* The folder's own descriptor is the same one each time: the lowest that is free. */
static void read_descriptors(struct left *left)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		char path[300];
		char to[300];
		ssize_t length;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		length = readlink(path, to, sizeof(to) - 1);
		if (length < 0 || atoi(entry->d_name) == dirfd(folder))
			continue;
		to[length] = '\0';
		left->descriptors++;
		left->which += hash(to, hash(entry->d_name, 7));
	}
	if (folder)
		(void)closedir(folder);
}

struct left left_now(void)
{
	struct left left = { .threads = pxt_threads_running() };

	read_descriptors(&left);
	read_maps(&left);
	for (int fd = 0; fd < (int)PXT_OWN_DESCRIPTORS; fd++)
		left.stale += pxt_own_descriptor(fd) && fcntl(fd, F_GETFD) < 0;
	left.blocks = pxt_live_blocks;
	left.bytes = pxt_live_bytes;
	left.heap = pxt_live_heap;
	left.locks = pxt_locks_held;
	return left;
}

bool left_same(const struct left *one, const struct left *two)
{
	return one->descriptors == two->descriptors && one->which == two->which && !one->stale &&
	       !two->stale && one->threads == two->threads && one->maps == two->maps &&
	       one->map_bytes == two->map_bytes && one->blocks == two->blocks &&
	       one->bytes == two->bytes && one->heap == two->heap && one->locks == two->locks;
}

bool left_again(const struct left *before, char *what, size_t room)
{
	struct left now;

	for (int i = 0; i < 6000; i++) {
		now = left_now();
		if (left_same(&now, before))
			return true;
		(void)nanosleep(&(const struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
	(void)snprintf(what, room,
	    "descriptors %u, then %u%s; stale %u, %u; threads %u, %u; maps %u, %u (%zu, %zu "
	    "bytes); "
	    "blocks %ld, %ld (%ld, %ld bytes); heap %ld, %ld; locks %d, %d",
	    before->descriptors, now.descriptors, before->which != now.which ? ", others" : "",
	    before->stale, now.stale, before->threads, now.threads, before->maps, now.maps,
	    before->map_bytes, now.map_bytes, before->blocks, now.blocks, before->bytes, now.bytes,
	    before->heap, now.heap, before->locks, now.locks);
	return false;
}
