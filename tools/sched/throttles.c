/* SPDX-License-Identifier: MIT */
/* throttles.c - CPU time that the cgroups of the program's processes had used up; see sched.h. */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 1024u
#define STAT_BYTES 4096u
#define GROUPS     32u   /* that are looked at */
#define MEMBERS    64u   /* processes whose cgroup is known; of more some are not */
#define ASKED      8u    /* of them, in one look */
#define WALKED     4096u /* places of the table of threads, in one look */

struct pxt_throttles {
	char tree[PATH_BYTES]; /* where the hierarchy is that divides CPU time, and ... */
	char root[PATH_BYTES]; /* ... which part of it: a container has its own */
	bool single;           /* of version 2 */
	size_t next;           /* place in the table of threads */
	struct pxt_throttle all;
	struct group {
		char *path; /* in the tree; NULL: a free place */
		int file;   /* its cpu.stat */
		struct pxt_throttle looked;
		struct pxt_throttle unreported;
	} groups[GROUPS];
	struct member {
		int32_t pid;
		const struct group *group; /* NULL: not known */
	} members[MEMBERS];
};

/* Whether "cpu" is one of them: "rw,cpu,cpuacct". */
static bool has_cpu(const char *list)
{
	for (const char *at = strstr(list, "cpu"); at; at = strstr(at + 1, "cpu"))
		if ((at == list || at[-1] == ',') && (at[3] == ',' || at[3] == '\0'))
			return true;
	return false;
}

/* "36 35 0:31 ROOT WHERE rw - cgroup none rw,cpu": a hierarchy of CPU time alone comes before that of version 2. */
static bool find_tree(struct pxt_throttles *throttles)
{
	char line[4 * PATH_BYTES];
	char type[32];
	char options[PATH_BYTES];
	FILE *file = fopen("/proc/self/mountinfo", "re");
	bool found = false;

	while (file && !(found && !throttles->single) && fgets(line, sizeof line, file)) {
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(rest, " - %31s %*s %1023s", type, options) != 2)
			continue;
		bool own = strcmp(type, "cgroup") == 0 && has_cpu(options);

		if ((!own && strcmp(type, "cgroup2") != 0) ||
		    sscanf(line, "%*s %*s %*s %1023s %1023s", throttles->root, throttles->tree) !=
		        2)
			continue;
		throttles->single = !own;
		found = true;
	}
	if (file)
		(void)fclose(file);
	return found;
}

/* The place of a process, of which "/proc/PID/cgroup" says "4:cpu,cpuacct:/a/b" or "0::/a/b". */
static bool find_place(const struct pxt_throttles *throttles, int32_t pid, char place[PATH_BYTES])
{
	const size_t above = strcmp(throttles->root, "/") == 0 ? 0 : strlen(throttles->root);
	char line[PATH_BYTES];
	FILE *file;
	bool found = false;

	(void)snprintf(line, sizeof line, "/proc/%d/cgroup", (int)pid);
	file = fopen(line, "re");
	while (file && !found && fgets(line, sizeof line, file)) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		/* Outside of the part that is here nothing can be read. */
		found = (throttles->single ? list[1] == '\0' : has_cpu(list + 1)) &&
		        strncmp(path, throttles->root, above) == 0 && !strstr(path, "/..");
		(void)snprintf(place, PATH_BYTES, "%s", found ? path + above : "");
	}
	if (file)
		(void)fclose(file);
	if (strcmp(place, "/") == 0)
		*place = '\0';
	return found && (*place == '/' || *place == '\0');
}

/* False: the cgroup is not there any more. */
static bool read_stat(int file, struct pxt_throttle *now)
{
	char stat[STAT_BYTES];
	ssize_t bytes = pread(file, stat, sizeof stat - 1, 0);

	*now = (struct pxt_throttle){ 0, 0 };
	stat[bytes > 0 ? bytes : 0] = '\0';
	for (const char *line = stat; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		uint64_t value = strtoull(line + strcspn(line, " "), NULL, 10);

		if (strncmp(line, "nr_throttled ", 13) == 0)
			now->times = value;
		else if (strncmp(line, "throttled_time ", 15) == 0)
			now->ns = value;
		else if (strncmp(line, "throttled_usec ", 15) == 0)
			now->ns = value * 1000u;
	}
	return bytes > 0;
}

/* From now on it is looked at.  NULL: there are too many, or it cannot be read. */
static struct group *add_group(struct pxt_throttles *throttles, const char *path)
{
	struct group *group = throttles->groups;
	char stat[2 * PATH_BYTES + 16];

	while (group < throttles->groups + GROUPS && group->path)
		group++;
	if (group == throttles->groups + GROUPS)
		return NULL;
	(void)snprintf(stat, sizeof stat, "%s%s/cpu.stat", throttles->tree, path);
	*group = (struct group){ .file = open(stat, O_RDONLY | O_CLOEXEC) };
	if (group->file < 0)
		return NULL;
	group->path = strdup(path);
	if (!group->path || !read_stat(group->file, &group->looked)) {
		(void)close(group->file);
		free(group->path);
		group->path = NULL;
		return NULL;
	}
	return group;
}

/* The cgroup at @path; those around it, whose limits are its own, are looked at, too. */
static const struct group *group_of(struct pxt_throttles *throttles, char path[PATH_BYTES])
{
	const struct group *first = NULL;

	/* Bound: the names in the path. */
	for (bool more = true; more;) {
		struct group *group = throttles->groups;
		char *last = strrchr(path, '/');

		while (group < throttles->groups + GROUPS &&
		       !(group->path && strcmp(group->path, path) == 0))
			group++;
		more = group == throttles->groups + GROUPS && last;
		if (group == throttles->groups + GROUPS)
			group = add_group(throttles, path);
		first = first ? first : group;
		if (last)
			*last = '\0';
	}
	return first;
}

static void ask_process(struct pxt_throttles *throttles, int32_t pid)
{
	struct member *member = &throttles->members[(uint32_t)pid % MEMBERS];
	char place[PATH_BYTES] = "";

	if (find_place(throttles, pid, place))
		*member = (struct member){ pid, group_of(throttles, place) };
}

static void forget_group(struct pxt_throttles *throttles, struct group *group)
{
	for (unsigned i = 0; i < MEMBERS; i++)
		if (throttles->members[i].group == group)
			throttles->members[i].group = NULL;
	(void)close(group->file);
	free(group->path);
	group->path = NULL;
}

struct pxt_throttles *pxt_throttles_new(void)
{
	struct pxt_throttles *throttles = calloc(1, sizeof *throttles);

	if (throttles && find_tree(throttles)) {
		ask_process(throttles, getpid());
		return throttles;
	}
	free(throttles);
	return NULL;
}

void pxt_throttles_free(struct pxt_throttles *throttles)
{
	for (unsigned i = 0; throttles && i < GROUPS; i++)
		if (throttles->groups[i].path)
			forget_group(throttles, &throttles->groups[i]);
	free(throttles);
}

void pxt_throttles_ask(struct pxt_throttles *throttles, const struct pxt_schedlog *log)
{
	const struct pxt_schedthreads *threads = &log->threads;
	const size_t most = threads->room < WALKED ? threads->room : WALKED;
	unsigned asked = 1;

	ask_process(throttles, log->wish.child);
	for (size_t i = 0; i < most && asked < ASKED; i++) {
		const struct pxt_schedthread *thread =
		    threads->table[throttles->next++ & (threads->room - 1)];

		if (!thread || !thread->watched || thread->ended || thread->tid != thread->pid ||
		    thread->tid == log->wish.child)
			continue;
		ask_process(throttles, thread->pid);
		asked++;
	}
}

bool pxt_throttles_look(struct pxt_throttles *throttles, struct pxt_throttle *all)
{
	uint64_t before = throttles->all.times + throttles->all.ns;

	for (unsigned i = 0; i < GROUPS; i++) {
		struct group *group = &throttles->groups[i];
		struct pxt_throttle now;

		if (!group->path)
			continue;
		if (!read_stat(group->file, &now)) {
			forget_group(throttles, group);
			continue;
		}
		if (now.times >= group->looked.times && now.ns >= group->looked.ns) {
			group->unreported.times += now.times - group->looked.times;
			group->unreported.ns += now.ns - group->looked.ns;
			throttles->all.times += now.times - group->looked.times;
			throttles->all.ns += now.ns - group->looked.ns;
		}
		group->looked = now;
	}
	*all = throttles->all;
	return throttles->all.times + throttles->all.ns != before;
}

void pxt_throttles_put(struct pxt_schedlog *log, int32_t pid, const struct pxt_throttle *meanwhile,
    uint64_t from_ns, uint64_t now_ns)
{
	const struct pxt_perfrec rec = { .ns = now_ns, .cpu = -1 };
	struct pxt_scheddata data = { .count = 0 };
	const uint64_t within_ns = now_ns - from_ns;

	pxt_scheddata_add(&data, &meanwhile->ns, sizeof meanwhile->ns);
	pxt_scheddata_add(&data, &within_ns, sizeof within_ns);
	pxt_scheddata_add(&data, &meanwhile->times, sizeof meanwhile->times);
	pxt_schedlog_put(log, &rec, PXT_SCHEDLOG_THROTTLED, pid, &data);
}

/* Of the processes in it, and in those within it. */
static void tell_group(const struct pxt_throttles *throttles, const struct group *group,
    struct pxt_schedlog *log, uint64_t from_ns, uint64_t now_ns)
{
	const size_t bytes = strlen(group->path);

	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct member *member = &throttles->members[i];

		if (!member->group || strncmp(member->group->path, group->path, bytes) != 0 ||
		    (member->group->path[bytes] != '/' && member->group->path[bytes] != '\0'))
			continue;
		const struct pxt_schedthread *thread =
		    pxt_schedthreads_find(&log->threads, member->pid);

		if (member->pid == log->wish.child || (thread && thread->watched))
			pxt_throttles_put(log, member->pid, &group->unreported, from_ns, now_ns);
	}
}

void pxt_throttles_tell(
    struct pxt_throttles *throttles, struct pxt_schedlog *log, uint64_t from_ns, uint64_t now_ns)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		struct group *group = &throttles->groups[i];

		if (group->path && (group->unreported.times > 0 || group->unreported.ns > 0))
			tell_group(throttles, group, log, from_ns, now_ns);
		group->unreported = (struct pxt_throttle){ 0, 0 };
	}
}
