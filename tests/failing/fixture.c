/* SPDX-License-Identifier: MIT */
/*
 * fixture.c - the streams, the log and the arguments that cases are about; what a process has, read from /proc and
 * from the fakes.
 */
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

struct fixture env;
struct out out;
int gone;
static bool changed_errno;

int fixture_tried(int error)
{
	changed_errno |= errno != MARK;
	return error;
}

bool fixture_changed_errno(void)
{
	bool changed = changed_errno;

	changed_errno = false;
	return changed;
}

/* Of several blocks, so that a reader does not have all of it in memory. */
static void make_log(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	char data[200] = "";

	env.log_file = pxt_temp_file();
	pxt_attr(&attr, 65536, sizeof(data), POSIX_TRACE_UNTIL_FULL);
	trid = pxt_log_stream(&attr, env.log_file);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	for (int i = 0; i < 4000; i++) {
		posix_trace_event(env.id, data, sizeof(data));
		if (i % 100 == 99)
			PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ_FATAL(posix_trace_shutdown(trid), 0);
	env.log = pxt_open_log(env.log_file);
}

void fixture_open(void)
{
	trace_attr_t attr;

	CU_ASSERT_FATAL(env.stream == 0);
	env.id = pxt_open_event("failing_known");
	PXT_EQ_FATAL(posix_trace_eventid_setformat_np(env.id, "u32 number"), 0);
	make_log();
	env.stream = pxt_running_stream(16384, 64, POSIX_TRACE_LOOP);
	env.file = pxt_temp_file();
	pxt_attr(&attr, 16384, 64, POSIX_TRACE_UNTIL_FULL);
	env.logged = pxt_log_stream(&attr, env.file);
	PXT_EQ_FATAL(posix_trace_start(env.logged), 0);
	close(env.file);
	env.file = pxt_temp_file();
	CU_ASSERT_FATAL(pipe(env.pipe) == 0);
	PXT_EQ_FATAL(posix_trace_attr_init(&env.good), 0);
	PXT_EQ_FATAL(posix_trace_attr_init(&env.bad), 0);
	PXT_EQ_FATAL(posix_trace_attr_destroy(&env.bad), 0);
	PXT_EQ_FATAL(posix_trace_eventset_empty(&env.set), 0);
	clock_gettime(CLOCK_REALTIME, &env.far);
	env.far.tv_sec += 3600;
	env.past.tv_sec = 1;
	env.wrong_time = (struct timespec){ 1, -1 };
}

void fixture_close(void)
{
	PXT_EQ(posix_trace_shutdown(env.stream), 0);
	PXT_EQ(posix_trace_shutdown(env.logged), 0);
	PXT_EQ(posix_trace_close(env.log), 0);
	close(env.log_file);
	close(env.file);
	close(env.pipe[0]);
	close(env.pipe[1]);
	memset(&env, 0, sizeof(env));
}

bool fixture_serves(void)
{
	struct posix_trace_status_info status;
	struct posix_trace_loginfo_np info;
	trace_event_id_t id;
	trace_id_t trid;
	bool served = posix_trace_get_status(env.stream, &status) == 0 &&
	              posix_trace_get_status(env.logged, &status) == 0 &&
	              posix_trace_log_getinfo_np(env.log, &info, sizeof(info)) == 0 &&
	              posix_trace_rewind(env.log) == 0 &&
	              posix_trace_trid_eventid_open(env.stream, "failing_known", &id) == 0 &&
	              posix_trace_flush(env.logged) == 0;
	int error = posix_trace_create(0, &env.good, &trid);

	return served && error == 0 && posix_trace_shutdown(trid) == 0;
}

/* ---- What a process has ---- */

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
