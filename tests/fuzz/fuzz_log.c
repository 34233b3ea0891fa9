/* SPDX-License-Identifier: MIT */
/*
 * fuzz_log.c - whatever the bytes are, Log Retrieval neither crashes nor hangs, reads the same events
 * one by one and many at once, and checks a log clean if and only if it opens it and reads it to its end.
 *
 *	make_corpus.py log corpus && clang -fsanitize=fuzzer,address,undefined ... fuzz_log.c
 *	./fuzz_log -max_len=65536 corpus
 *
 * Checksums would keep a fuzzer out of everything after them.  The first byte of an input says
 * whether they are made right before the log is opened, and how it is read; the rest is the log, or the files
 * of one.
 */
#define _GNU_SOURCE
#include "format/logfmt.h"
#include "tests/fuzz/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define SIGN    1u
#define GROWING 2u
#define SPOIL   4u
#define FILES   8u /* each head begins another file of a set, which is opened as one log */

#define FILES_MOST 4u

#define EVENTS_MAX 100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(trace_id_t trid, trace_event_id_t id, const unsigned char *data, size_t len)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_field_np field;
	size_t cursor = 0;

	if (posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)))
		return;
	for (unsigned i = 0; i < 2 * POSIX_TRACE_FIELDS_MAX_NP; i++) {
		if (posix_trace_field_next_np(format, data, len, 0, &cursor, &field, sizeof(field)))
			return;
	}
	abort();
}

/* What was read, in few bytes. */
struct sum {
	uint64_t events;
	uint64_t hash;
	bool damaged; /* the end was not reached */
};

static void add(struct sum *sum, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	while (count--)
		sum->hash = (sum->hash ^ *at++) * UINT64_C(0x100000001b3);
}

static void add_event(struct sum *sum, uint32_t id, int64_t ns, const void *data, size_t len)
{
	sum->events++;
	add(sum, &id, sizeof(id));
	add(sum, &ns, sizeof(ns));
	add(sum, data, len);
}

/* As views have it. */
static int64_t as_ns(const struct timespec *time)
{
	return time->tv_sec >= INT64_MAX / 1000000000
	           ? INT64_MAX
	           : (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static struct sum read_events(trace_id_t trid, size_t room)
{
	struct timespec last = { 0, 0 };
	struct posix_trace_event_info event;
	struct sum sum = { 0, 0, false };
	unsigned char data[4096];
	int unavailable;
	size_t len;

	while (sum.events < EVENTS_MAX) {
		int error = posix_trace_getnext_event(trid, &event, data, room, &len, &unavailable);

		if (error && error != EIO)
			abort();
		sum.damaged = error == EIO;
		if (unavailable)
			break;
		if (error || len > room || event.posix_timestamp.tv_nsec < 0 ||
		    event.posix_timestamp.tv_nsec > 999999999 ||
		    event.posix_timestamp.tv_sec < last.tv_sec)
			abort();
		last = event.posix_timestamp;
		read_fields(trid, event.posix_event_id, data, len);
		add_event(&sum, event.posix_event_id, as_ns(&last), data, len);
	}
	return sum;
}

static struct sum read_views(trace_id_t trid, size_t room)
{
	struct posix_trace_eventview_np views[64];
	struct sum sum = { 0, 0, false };
	int64_t last = 0;
	size_t count;

	while (sum.events < EVENTS_MAX) {
		int error =
		    posix_trace_getnext_events_np(trid, views, sizeof(*views), room, &count);

		if ((error && error != EIO) || (error && count) || count > room)
			abort();
		sum.damaged = error == EIO;
		if (count == 0)
			break;
		for (size_t i = 0; i < count && sum.events < EVENTS_MAX; i++) {
			const struct posix_trace_eventview_np *view = &views[i];

			if (view->posix_bytes_np > 4095 || view->posix_ns_np < last)
				abort();
			last = view->posix_ns_np;
			read_fields(trid, view->posix_event_id_np, view->posix_data_np,
			    view->posix_bytes_np);
			add_event(&sum, view->posix_event_id_np, last, view->posix_data_np,
			    view->posix_bytes_np);
		}
	}
	return sum;
}

/* Both ways, and back again; nothing tells the two apart unless the file is spoilt meanwhile. */
static struct sum read_both(trace_id_t trid, bool spoilt)
{
	struct sum one = read_events(trid, 4096);
	struct sum many;

	if (posix_trace_rewind(trid))
		abort();
	many = read_views(trid, 64);
	if (!spoilt &&
	    (one.events != many.events || one.hash != many.hash || one.damaged != many.damaged))
		abort();
	if (posix_trace_rewind(trid))
		abort();
	(void)read_views(trid, 3);
	(void)posix_trace_seek_np(trid, (int64_t)(one.hash >> 3), NULL, 0);
	(void)read_events(trid, 7);
	return one;
}

/* Whether a CLEAR may be somewhere, in either byte order. */
static bool is_cleared(const unsigned char *log, size_t size)
{
	for (size_t at = 0; at + 8 <= size; at += 16) {
		if (memcmp(log + at, "PTLB", 4) == 0 &&
		    (log[at + 4] == PXT_LOG_CLEAR || log[at + 5] == PXT_LOG_CLEAR))
			return true;
	}
	return false;
}

static uint64_t read_skipping(trace_id_t trid)
{
	struct posix_trace_logfinding_np finding;
	uint64_t events = 0;

	do {
		events += read_views(trid, 64).events;
		finding.posix_reason_np[0] = 'x';
	} while (posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)) == 0 &&
	         finding.posix_reason_np[0] != '\0');
	if (finding.posix_reason_np[0] == '\0')
		abort();
	return events;
}

/*
 * A log goes on after damage, and ends some time; a second reading has the same events, but for those that a
 * CLEAR takes away that was found after damage in a growing log only after they were read.
 */
static void read_behind_damage(trace_id_t trid, bool cleared)
{
	uint64_t all = read_skipping(trid);
	uint64_t once;

	if (posix_trace_rewind(trid))
		abort();
	once = read_skipping(trid);
	if (all < EVENTS_MAX && (cleared ? once > all : once != all))
		abort();
}

enum verdict {
	SOUND,
	DAMAGED,
	UNKNOWN
};

static enum verdict check(int fd)
{
	struct posix_trace_logfinding_np findings[8];
	struct posix_trace_logcheck_np sum;
	int error = posix_trace_log_check_np(
	    fd, &sum, sizeof(sum), findings, sizeof(*findings), 8, NULL, NULL);

	if (error != 0 && (error != EINVAL || sum.posix_findings_np == 0))
		abort();
	for (uint64_t i = 0; i < sum.posix_findings_np && i < 8; i++) {
		if (findings[i].posix_reason_np[0] == '\0')
			abort();
		if (findings[i].posix_kind_np == POSIX_TRACE_FINDING_DAMAGE_NP ||
		    findings[i].posix_kind_np == POSIX_TRACE_FINDING_END_NP)
			error = EINVAL;
	}
	/* What found no room may be either. */
	return error ? DAMAGED : sum.posix_findings_np > 8 ? UNKNOWN : SOUND;
}

static void ask(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_status_info status;
	struct posix_trace_logthread_np thread;
	struct posix_trace_logmodule_np module;
	struct posix_trace_lognote_np note;
	struct posix_trace_clock_np clock;
	struct posix_trace_loginfo_np info;
	trace_event_id_t id;
	trace_attr_t attr;
	int unavailable = 0;

	if (posix_trace_log_getinfo_np(trid, &info, sizeof(info)) ||
	    posix_trace_get_attr(trid, &attr) || posix_trace_get_status(trid, &status) ||
	    posix_trace_getclock_np(trid, &clock, sizeof(clock)))
		abort();
	for (uint32_t i = 0; i < info.posix_threads_np; i++) {
		if (posix_trace_log_getthread_np(trid, i, &thread, sizeof(thread)))
			abort();
	}
	for (uint32_t i = 0; i < info.posix_modules_np; i++) {
		if (posix_trace_log_getmodule_np(trid, i, &module, sizeof(module)) &&
		    posix_trace_log_getnote_np(trid, i, &note, sizeof(note)))
			abort();
	}
	for (unsigned i = 0; i <= 1024 && !unavailable; i++) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) ||
		    (!unavailable && posix_trace_eventid_get_name(trid, id, name)))
			abort();
	}
	if (!unavailable)
		abort();
}

/* ---- Files ---- */

struct files {
	int fd[FILES_MOST];
	unsigned count;
};

/* Where the next file's head is. */
static size_t end_of_file(const unsigned char *log, size_t from, size_t size)
{
	for (size_t at = from + 16; at + 8 <= size; at += 16)
		if (memcmp(log + at, "\x89PTL\r\n\x1a\n", 8) == 0)
			return at;
	return size;
}

static void add_file(struct files *files, unsigned char *log, size_t size, bool is_signed)
{
	int fd = memfd_create("log", 0);

	if (is_signed)
		sign(log, size);
	if (fd < 0 || write(fd, log, size) != (ssize_t)size)
		abort();
	files->fd[files->count++] = fd;
}

static void make_files(struct files *files, unsigned mode, unsigned char *log, size_t size)
{
	files->count = 0;
	for (size_t at = 0; at < size && files->count < FILES_MOST;) {
		size_t end = mode & FILES && files->count + 1 < FILES_MOST
		                 ? end_of_file(log, at, size)
		                 : size;

		add_file(files, log + at, end - at, mode & SIGN);
		at = end;
	}
}

static int open_log(const struct files *files, unsigned mode, trace_id_t *trid,
    struct posix_trace_logerror_np *error)
{
	if (mode & FILES)
		return posix_trace_log_open_np(files->fd, files->count,
		    mode & GROWING ? POSIX_TRACE_OPEN_GROWING_NP : 0, trid, error, sizeof(*error));
	return mode & GROWING
	           ? posix_trace_log_open_np(
	                 &files->fd[0], 1, POSIX_TRACE_OPEN_GROWING_NP, trid, error, sizeof(*error))
	           : posix_trace_log_open_np(&files->fd[0], 1, 0, trid, error, sizeof(*error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct posix_trace_logerror_np error;
	unsigned mode = size ? data[0] : 0;
	struct files files;
	unsigned char *log;
	trace_id_t trid;
	enum verdict verdict;
	int result;

	if (size < 2)
		return 0;
	log = malloc(size - 1);
	if (!log)
		abort();
	memcpy(log, data + 1, size - 1);
	make_files(&files, mode, log, size - 1);
	result = open_log(&files, mode, &trid, &error);
	if (result && (result != EINVAL || error.posix_reason_np[0] == '\0'))
		abort();
	verdict = mode & FILES ? UNKNOWN : check(files.fd[0]);
	if (result && verdict == SOUND && !(mode & GROWING))
		abort();
	if (!result) {
		bool spoilt = mode & SPOIL;
		struct sum sum;

		ask(trid);
		if (spoilt && ftruncate(files.fd[0], (off_t)(size / 2)))
			abort();
		sum = read_both(trid, spoilt);
		/* What a CLEAR took away is not read, whatever is wrong with it. */
		if (!(mode & GROWING) && !spoilt && verdict != UNKNOWN && sum.events < EVENTS_MAX &&
		    (verdict == SOUND) == sum.damaged && !is_cleared(log, size - 1))
			abort();
		if (!spoilt && posix_trace_rewind(trid) == 0)
			read_behind_damage(trid, is_cleared(log, size - 1));
		if (posix_trace_close(trid))
			abort();
	}
	while (files.count)
		(void)close(files.fd[--files.count]);
	free(log);
	return 0;
}
