/* SPDX-License-Identifier: MIT */
/*
 * throttle.c - how often and how long the kernel kept the processes of this one's cgroup from running, as that
 * has used up its share of CPU time (cpu.max, cpu.cfs_quota_us); see recorder.h.  Of cgroups in both forms:
 * one tree, or one a controller.
 */
#include "tools/run/recorder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 1024u

/* Whether "cpu" is one of them: "rw,cpu,cpuacct". */
static bool has_cpu(const char *list)
{
	for (const char *at = strstr(list, "cpu"); at; at = strstr(at + 1, "cpu"))
		if ((at == list || at[-1] == ',') && (at[3] == ',' || at[3] == '\0'))
			return true;
	return false;
}

/* Where the tree lies of which CPU time is a part. */
static bool find_tree(char tree[PATH_BYTES], bool *single)
{
	char line[PATH_BYTES];
	char type[32];
	char where[PATH_BYTES];
	char options[PATH_BYTES];
	FILE *file = fopen("/proc/self/mounts", "re");
	bool found = false;

	while (file && !(found && !*single) && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%*s %1023s %31s %1023s", where, type, options) != 3)
			continue;
		bool own = strcmp(type, "cgroup") == 0 && has_cpu(options);

		if (!own && strcmp(type, "cgroup2") != 0)
			continue;
		(void)snprintf(tree, PATH_BYTES, "%s", where);
		*single = !own;
		found = true;
	}
	if (file)
		(void)fclose(file);
	return found;
}

/* This process' place in it: "4:cpu,cpuacct:/a/b", "0::/a/b". */
static bool find_place(char place[PATH_BYTES], bool single)
{
	char line[PATH_BYTES];
	FILE *file = fopen("/proc/self/cgroup", "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof line, file)) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		found = single ? list[1] == '\0' : has_cpu(list + 1);
		(void)snprintf(place, PATH_BYTES, "%s", path);
	}
	if (file)
		(void)fclose(file);
	return found;
}

static struct pxt_throttle read_stat(FILE *file)
{
	struct pxt_throttle now = { 0, 0 };
	char line[PATH_BYTES];
	char *number;

	while (fgets(line, sizeof line, file) && (number = strchr(line, ' '))) {
		uint64_t value = strtoull(number, NULL, 10);
		const char *name = line;

		*number = '\0';
		if (strcmp(name, "nr_throttled") == 0)
			now.times = value;
		else if (strcmp(name, "throttled_time") == 0)
			now.ns = value;
		else if (strcmp(name, "throttled_usec") == 0)
			now.ns = value * 1000u;
	}
	return now;
}

struct pxt_throttle pxt_throttle_read(void)
{
	struct pxt_throttle now = { 0, 0 };
	char tree[PATH_BYTES];
	char place[PATH_BYTES];
	char path[2 * PATH_BYTES + 16];
	bool single = false;
	FILE *file;

	if (!find_tree(tree, &single) || !find_place(place, single))
		return now;
	(void)snprintf(path, sizeof path, "%s%s/cpu.stat", tree, place);
	file = fopen(path, "re");
	if (!file) {
		/* A container's own tree begins at its place. */
		(void)snprintf(path, sizeof path, "%s/cpu.stat", tree);
		file = fopen(path, "re");
	}
	if (!file)
		return now;
	now = read_stat(file);
	(void)fclose(file);
	return now;
}

struct pxt_throttle pxt_throttle_since(const struct pxt_throttle *before)
{
	struct pxt_throttle now = pxt_throttle_read();

	if (now.times < before->times || now.ns < before->ns)
		return (struct pxt_throttle){ 0, 0 };
	return (struct pxt_throttle){ now.times - before->times, now.ns - before->ns };
}
