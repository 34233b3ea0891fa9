/* SPDX-License-Identifier: MIT */
/* box.c - see logs.h. */
#define _GNU_SOURCE
#include "logs.h"

#include "core/control/control.h"
#include "core/process/directory.h"
#include "core/read/consumer.h"
#include "core/read/merge.h"
#include "core/read/take.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct box_reader {
	struct pxt_stream stream;
	struct pxt_block *block;
	struct pxt_directory *directory;
	struct pxt_thread_table *own_threads;
};

static void *at(const struct box *box, uint64_t offset, size_t bytes)
{
	CU_ASSERT_FATAL(offset % 64 == 0 && offset < box->size && bytes <= box->size - offset);
	return box->bytes + offset;
}

static void find_parts(struct box *box)
{
	const struct pxt_stream_header *header = box->header;

	CU_ASSERT_FATAL(header->header.bytes <= header->directory_at);
	box->reader->directory = at(box, header->directory_at, sizeof(struct pxt_directory));
	box->directory = &box->reader->directory->header;
	CU_ASSERT_FATAL(!memcmp(box->directory->header.magic, PXT_DIRECTORY_MAGIC, 16));
	PXT_EQ(box->directory->header.key, header->header.key);
	PXT_EQ(box->directory->header.pid, header->header.pid);
	CU_ASSERT_FATAL(header->procinfo_bytes > 0);
	box->procinfo = at(box, header->procinfo_at, header->procinfo_bytes);
	CU_ASSERT(box->procinfo[header->procinfo_bytes - 1] == '\n');
}

/* A reader of the process may have been killed while it made them. */
static void forget_notes(struct pxt_block *block)
{
	pxt_block_end_turn(block);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->front_state = PXT_FRONT_UNKNOWN;
		lane->stuck_since = 0;
	}
}

static void take_over(struct box *box)
{
	struct box_reader *reader = calloc(1, sizeof(*reader));

	CU_ASSERT_FATAL(reader != NULL);
	reader->block = (struct pxt_block *)(void *)box->bytes;
	reader->stream.block = reader->block;
	forget_notes(reader->block);
	box->reader = reader;
	find_parts(box);
	reader->own_threads = pxt_threads;
	pxt_threads = &reader->directory->threads;
}

bool box_open(struct box *box, int fd)
{
	struct stat state;

	memset(box, 0, sizeof(*box));
	PXT_EQ_FATAL(fstat(fd, &state), 0);
	box->size = (size_t)state.st_size;
	if (!box->size)
		return false;
	/* Private: what the reader changes is the copy's. */
	box->bytes = mmap(NULL, box->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CU_ASSERT_FATAL(box->bytes != MAP_FAILED);
	box->header = (const struct pxt_stream_header *)(const void *)box->bytes;
	if (memcmp(box->header->header.magic, PXT_STREAM_MAGIC, 16) != 0) {
		(void)munmap(box->bytes, box->size);
		return false;
	}
	take_over(box);
	return true;
}

/* ---- By pxtrace recover ---- */

#ifdef PXT_PXTRACE

/* Makes @path the log of what is in @fd; how it ended. */
static int run_recover(int fd, const char *path, bool all)
{
	char from[32];
	int status = -1;
	pid_t child;

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		(void)execl(PXT_PXTRACE, "pxtrace", "recover", from, "-o", path, "--quiet",
		    all ? "--all" : NULL, (char *)NULL);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int box_salvage(int fd, bool all, trace_id_t *salvaged)
{
	char path[] = "/tmp/pxt-box-XXXXXX";
	int made = mkstemp(path);
	int status;
	int log;

	CU_ASSERT_FATAL(made >= 0);
	(void)close(made);
	status = run_recover(fd, path, all);
	log = open(path, O_RDONLY | O_CLOEXEC);
	(void)unlink(path);
	CU_ASSERT_FATAL(WIFEXITED(status));
	if (status == 0) {
		CU_ASSERT_FATAL(log >= 0);
		PXT_EQ_FATAL(posix_trace_open(log, salvaged), 0);
	}
	if (log >= 0)
		(void)close(log);
	return WEXITSTATUS(status);
}

bool box_recover(struct box *box, int fd)
{
	PXT_EQ_FATAL(box_salvage(fd, false, &box->log), 0);
	return true;
}
#else
int box_salvage(int fd, bool all, trace_id_t *salvaged)
{
	return -1;
}

bool box_recover(struct box *box, int fd)
{
	return false;
}
#endif

static bool next_of_log(struct box *box, struct box_event *event)
{
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	size_t bytes = 0;
	int unavailable = 1;

	PXT_EQ_FATAL(posix_trace_getnext_event(
	                 box->log, &info, event->data, sizeof(event->data), &bytes, &unavailable),
	    0);
	if (unavailable)
		return false;
	PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
	event->id = info.posix_event_id;
	event->bytes = (uint32_t)bytes;
	event->thread = (uint64_t)(uintptr_t)info.posix_thread_id;
	event->pid = info.posix_pid;
	event->lost_before = extra.posix_lost_before_np;
	return true;
}

static void counts_of_log(struct box *box, struct posix_trace_counts_np *counts)
{
	struct posix_trace_loginfo_np info;

	PXT_EQ_FATAL(posix_trace_log_getinfo_np(box->log, &info, sizeof(info)), 0);
	*counts = info.posix_counts_np;
}

/* ---- Either way ---- */

void box_close(struct box *box)
{
	if (box->log)
		PXT_EQ(posix_trace_close(box->log), 0);
	pxt_threads = box->reader->own_threads;
	/* What the consumer made, it made as a thread of the box's table, which is gone now. */
	pxt_self.epoch = PXT_EPOCH_NONE;
	free(box->reader);
	(void)munmap(box->bytes, box->size);
}

static enum pxt_next look(struct box *box, struct pxt_item *item)
{
	const struct timespec slice = { .tv_sec = 0, .tv_nsec = 50000 };
	enum pxt_next next = pxt_consumer_next(&box->reader->stream, item);

	for (int i = 0; i < 20000 && next == PXT_NEXT_HELD; i++) {
		(void)nanosleep(&slice, NULL);
		next = pxt_consumer_next(&box->reader->stream, item);
	}
	return next;
}

/* A begin slot may stand for a record whose rest was overwritten: then the next look says so. */
static bool take(struct box *box, struct box_event *event)
{
	struct pxt_stream *stream = &box->reader->stream;
	struct pxt_origin origin;
	struct pxt_item item;
	bool got = false;

	while (!got && look(box, &item) == PXT_NEXT_READY)
		got = pxt_take_data(stream, &item, event->data, sizeof(event->data), &origin);
	if (!got)
		return false;
	event->id = pxt_info_id(item.info);
	event->bytes = pxt_info_bytes(item.info);
	event->thread = origin.thread;
	event->pid = origin.pid;
	pxt_consumer_done(stream, &item);
	return true;
}

bool box_next(struct box *box, struct box_event *event)
{
	memset(event, 0, sizeof(*event));
	return box->log ? next_of_log(box, event) : take(box, event);
}

void box_counts(struct box *box, struct posix_trace_counts_np *counts)
{
	if (box->log)
		counts_of_log(box, counts);
	else
		pxt_status_counts(&box->reader->stream, counts);
}

static uint32_t index_of(const struct box *box, uint32_t id)
{
	uint32_t first = box->directory->first_user_id;
	uint32_t count = atomic_load(&box->reader->directory->names.count);

	return id >= first && id - first < count ? id - first : UINT32_MAX;
}

const char *box_name(struct box *box, uint32_t id)
{
	uint32_t index;

	if (box->log)
		return posix_trace_eventid_get_name(box->log, id, box->type_name) ? NULL
		                                                                  : box->type_name;
	index = index_of(box, id);
	return index == UINT32_MAX ? NULL : box->reader->directory->names.names[index];
}

const char *box_format(struct box *box, uint32_t id)
{
	uint32_t index = index_of(box, id);
	uint32_t place;

	if (box->log)
		return posix_trace_eventid_getformat_np(
		           box->log, id, box->type_format, sizeof(box->type_format))
		           ? NULL
		           : box->type_format;
	if (index == UINT32_MAX)
		return NULL;
	place = atomic_load(&box->reader->directory->names.format_at[index]);
	return place ? &box->reader->directory->names.pool[place - 1] : "";
}

bool box_runs(const struct box *box)
{
	return pxt_block_state(box->reader->block) == PXT_GATE_RUNNING;
}

uint32_t box_threads(const struct box *box)
{
	return atomic_load(&box->reader->directory->threads.count);
}

const struct pxt_thread *box_thread(const struct box *box, uint32_t index)
{
	return &box->reader->directory->threads.entry[index];
}

void *box_memory(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_handle_find_kind(trid, &pxt_stream_kind);

	CU_ASSERT_FATAL(stream != NULL);
	return stream->block;
}
