/* SPDX-License-Identifier: MIT */
/* open.c - opens logs, of one file or several. */
#include "tools/read/source.h"

#include "format/mul64.h"
#include "tools/output/out.h"
#include "tools/packed/packed.h"
#include "tools/select/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace_hooks_np.h>
#include <unistd.h>

/* A log's head is at most so long (FORMAT.md): a file without one in these bytes is not a log. */
#define HEAD_BYTES_MAX 65536

/* @log: it should be one, and no memory of a process.  @wait_ms: as pxt_open_named() says. */
static int open_path(const char *path, bool log, int wait_ms)
{
	struct stat st;
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : pxt_open_named(path, wait_ms);

	if (fd < 0 || fstat(fd, &st) != 0) {
		int error = errno;

		pxt_complain("%s: %s", path, pxt_open_error(error));
		if (error == ENOENT && log)
			pxt_explain(
			    "a log is the file that the program gave to "
			    "posix_trace_create_withlog(); is its name right, and its folder?");
		else if (error == EACCES && log)
			pxt_explain(
			    "the user who ran the program may read it, or make it readable: "
			    "chmod +r");
		if (fd > STDIN_FILENO)
			(void)close(fd);
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		pxt_complain("%s: is a directory", path);
		pxt_explain("name the log file itself");
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Standard input may be a file, and still be read from where it is. */
static bool in_place(int fd)
{
	struct stat st;

	return fd != STDIN_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int pxt_open_file(const char *path, bool log, int *fd)
{
	struct pxt_spool spool;

	*fd = open_path(path, log, PXT_OPEN_WAIT_MS);
	if (*fd < 0)
		return PXT_EXIT_LOG;
	if (!in_place(*fd)) {
		bool copied = pxt_spool_begin(&spool, path, *fd) && pxt_spool_all(&spool, log);

		pxt_spool_end(&spool);
		*fd = spool.to;
		if (!copied)
			return PXT_EXIT_LOG;
	}
	return pxt_spool_unpack(path, fd, log) ? PXT_EXIT_OK : PXT_EXIT_LOG;
}

/* A program that has just made the file writes a log's head next. */
static void await_head(const char *path, int fd)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t since = pxt_when_monotonic();
	bool told = false;
	struct stat st;

	while (fstat(fd, &st) == 0 && st.st_size == 0) {
		if (!told && pxt_when_monotonic() - since > 1000000000) {
			pxt_complain("%s: is empty: waiting for a log in it", path);
			told = true;
		}
		(void)nanosleep(&pause, NULL);
	}
}

/* The same, but a pipe is copied as far as a log can be told from it, and further as it is read. */
static int open_live(struct pxt_source *source)
{
	struct stat st = { 0 };
	bool copied;

	source->fd = open_path(source->path, true, -1);
	if (source->fd < 0)
		return PXT_EXIT_LOG;
	if (in_place(source->fd)) {
		await_head(source->path, source->fd);
		return pxt_spool_unpack(source->path, &source->fd, true) ? PXT_EXIT_OK
		                                                         : PXT_EXIT_LOG;
	}
	copied = pxt_spool_begin(&source->spool, source->path, source->fd);
	source->fd = source->spool.to;
	while (copied && !source->spool.ended && st.st_size <= HEAD_BYTES_MAX &&
	       !pxt_explain_is_growing(source->fd))
		copied = pxt_spool_take(&source->spool, -1) && fstat(source->fd, &st) == 0;
	/* What is compressed is read to its end; a log inside it cannot be followed. */
	if (copied && pxt_packed_is(source->fd))
		copied = pxt_spool_all(&source->spool, true) &&
		         pxt_spool_unpack(source->path, &source->fd, true);
	return copied ? PXT_EXIT_OK : PXT_EXIT_LOG;
}

/* The widest name decides where the fields begin: within reason. */
static void measure_names(struct pxt_source *source)
{
	trace_event_id_t id;
	int unavailable = 0;

	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		source->may_rename |= id == POSIX_TRACE_PROCESS_NP;
		if (id <= POSIX_TRACE_UNNAMED_USEREVENT ||
		    posix_trace_eventid_get_name(source->trid, id, name) != 0)
			continue;
		size_t width = strlen(name);
		source->may_rename |= strcmp(name, "task_rename") == 0;
		if (width > source->name_width && width <= 28)
			source->name_width = width;
	}
}

/* ---- Logs of several files ---- */

/* An offset in all files, as one of the file in which it is. */
static void explain_place(
    const struct pxt_source *source, const int *fds, const struct posix_trace_logerror_np *error)
{
	uint64_t offset = error->posix_offset_np;
	struct stat st;
	unsigned i = 0;

	for (; i + 1 < source->set->count && fstat(fds[i], &st) == 0 &&
	       offset >= (uint64_t)st.st_size;
	     i++)
		offset -= (uint64_t)st.st_size;
	pxt_complain("%s: byte %llu", source->set->files[i], (unsigned long long)offset);
}

static int open_set(
    struct pxt_source *source, enum pxt_open_mode mode, struct posix_trace_logerror_np *error)
{
	const struct pxt_logset *set = source->set;
	int *fds = pxt_must(calloc(set->count, sizeof *fds));
	unsigned opened = 0;
	int failed = 0;

	for (; opened < set->count && !failed; opened++) {
		fds[opened] = pxt_open_plain(set->files[opened]);
		failed = fds[opened] < 0 ? errno : 0;
	}
	if (!failed)
		failed = posix_trace_log_open_np(
		    fds, set->count, 0, &source->trid, error, sizeof *error);
	if (failed == EINVAL && mode != PXT_OPEN_COMPLETE)
		failed = posix_trace_log_open_np(fds, set->count, POSIX_TRACE_OPEN_GROWING_NP,
		    &source->trid, error, sizeof *error);
	if (failed == EINVAL)
		explain_place(source, fds, error);
	for (unsigned i = 0; i < opened; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	free(fds);
	return failed;
}

/* What is gone was not wanted any more, and is no loss; but nobody is to think that it never was. */
static void say_earlier(const struct pxt_source *source)
{
	const struct posix_trace_loginfo_np *info = &source->info;
	unsigned long before = info->posix_file_np - 1;

	if (source->set)
		pxt_sets_say_missing(source->set);
	if (!info->posix_file_np || !before || !info->posix_earlier_np)
		return;
	if (before == 1)
		pxt_complain("%s: begins with file 2; file 1 is not here, with %llu events",
		    source->path, (unsigned long long)info->posix_earlier_np);
	else
		pxt_complain(
		    "%s: begins with file %lu; files 1 to %lu are not here, with %llu events",
		    source->path, before + 1, before, (unsigned long long)info->posix_earlier_np);
}

/* Records and losses in all files in front of those that are open. */
static uint64_t records_before(const struct pxt_source *source)
{
	uint64_t before = source->info.posix_earlier_np;

	pxt_sum_add(&before, source->info.posix_earlier_lost_np);
	return before;
}

/* What the opened log says of itself. */
static int learn(struct pxt_source *source)
{
	int failed;

	source->is_open = true;
	failed = posix_trace_log_getinfo_np(source->trid, &source->info, sizeof source->info);
	if (failed != 0) {
		pxt_complain("%s: no information in the log: %s", source->path, strerror(failed));
		return PXT_EXIT_LOG;
	}
	say_earlier(source);
	source->before = records_before(source);
	source->start_ns = pxt_when_ns(&source->info.posix_start_np);
	source->name_width = sizeof "posix_trace_start" - 1;
	measure_names(source);
	pxt_source_learn_pids(source);
	pxt_source_learn_crash(source);
	return PXT_EXIT_OK;
}

/* The log in the files of source->set; source->fd is the last one. */
static int open_files(struct pxt_source *source, enum pxt_open_mode mode)
{
	struct posix_trace_logerror_np error = { 0 };
	int failed = open_set(source, mode, &error);

	if (failed == 0)
		return learn(source);
	if (failed == EINVAL)
		pxt_explain_log(source, &error);
	else
		pxt_complain("%s: %s", source->path, strerror(failed));
	return PXT_EXIT_LOG;
}

/* The log after source->fd. */
static int open_log(struct pxt_source *source, enum pxt_open_mode mode)
{
	struct posix_trace_logerror_np error = { 0 };
	int failed = 0;

	/* The whole file is read for an explanation, which nobody wants if it may be incomplete. */
	if (mode == PXT_OPEN_COMPLETE)
		failed =
		    posix_trace_log_open_np(&source->fd, 1, 0, &source->trid, &error, sizeof error);
	else if (posix_trace_open(source->fd, &source->trid) != 0)
		failed = posix_trace_log_open_np(&source->fd, 1, POSIX_TRACE_OPEN_GROWING_NP,
		    &source->trid, &error, sizeof error);
	if (failed == ENOMEM) {
		pxt_complain("%s: not enough memory", source->path);
		return PXT_EXIT_LOG;
	}
	if (failed != 0) {
		pxt_explain_log(source, &error);
		return PXT_EXIT_LOG;
	}
	return learn(source);
}

/* Files that went before they were read, and what no event told: the next event tells it. */
static void note_between(struct pxt_source *source)
{
	uint64_t due = records_before(source);
	uint64_t have = source->before;

	pxt_sum_add(&have, source->events);
	pxt_sum_add(&have, source->lost);
	source->lost_between = due > have ? due - have : 0;
	source->lost_former = source->lost;
	pxt_sum_add(&source->lost_former, source->lost_between);
	pxt_sum_add(&source->info.posix_lost_np, source->lost_former);
}

/* The next file is a log that can be read alone: its names are those of the whole. */
static void take_over(struct pxt_source *source, trace_id_t trid, int fd)
{
	(void)posix_trace_close(source->trid);
	(void)close(source->fd);
	source->trid = trid;
	source->fd = fd;
	(void)posix_trace_log_getinfo_np(trid, &source->info, sizeof source->info);
	note_between(source);
	source->names_asked = 0;
	source->last_thread = NULL;
	pxt_source_learn_pids(source);
	source->at_end = source->read_all = false;
	source->view = source->view_end = 0;
}

bool pxt_source_go_on(struct pxt_reader *reader, struct pxt_source *source)
{
	struct posix_trace_logerror_np error;
	enum pxt_sets_next next;
	uint32_t number;
	trace_id_t trid;
	char *path;
	int fd;

	if (source->place >= reader->set_count)
		return false;
	next = pxt_sets_next(&reader->sets[source->place], &fd, &path, &number);
	if (next == PXT_SETS_NEXT) {
		/* Before its head is whole it is no log. */
		if (posix_trace_open(fd, &trid) == 0 ||
		    posix_trace_log_open_np(
		        &fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, &error, sizeof error) == 0) {
			pxt_sets_add(&reader->sets[source->place], path, number);
			take_over(source, trid, fd);
		} else {
			(void)close(fd);
		}
	}
	free(path);
	return next != PXT_SETS_OVER;
}

bool pxt_source_has_file(const struct pxt_source *source, const char *path)
{
	const struct pxt_logset *set = source->set;

	if (access(path, F_OK) != 0)
		return false;
	for (unsigned i = 0; set && i < set->count; i++)
		if (pxt_outfile_same(path, set->files[i]))
			return true;
	/* What was compressed is in memory. */
	return pxt_outfile_is(path, source->fd) || pxt_outfile_same(path, source->path);
}

static int open_source(struct pxt_source *source, enum pxt_open_mode mode)
{
	int status;

	source->goes_on = mode != PXT_OPEN_COMPLETE;
	if (source->set) {
		/* Who is asked what is wrong, if anything is. */
		source->fd = open_path(source->set->files[source->set->count - 1], true, 0);
		return source->fd < 0 ? PXT_EXIT_LOG : open_files(source, mode);
	}
	status = mode == PXT_OPEN_LIVE ? open_live(source)
	                               : pxt_open_file(source->path, true, &source->fd);
	return status == PXT_EXIT_OK ? open_log(source, mode) : status;
}

static struct pxt_source *new_source(
    const char *path, unsigned place, const struct pxt_select *select)
{
	struct pxt_source *source = pxt_must(calloc(1, sizeof *source));

	source->path = path;
	source->place = place;
	source->fd = -1;
	source->spool.from = -1;
	source->select = select;
	return source;
}

static void make_room(struct pxt_reader *reader, unsigned count)
{
	reader->sources = pxt_must(calloc(count, sizeof(struct pxt_source *)));
	reader->heap = pxt_must(calloc(count, sizeof(struct pxt_source *)));
	reader->count = count;
}

int pxt_reader_open(struct pxt_reader *reader, char *const *paths, unsigned count,
    enum pxt_open_mode mode, const struct pxt_select *select)
{
	int status = PXT_EXIT_OK;

	reader->sets = pxt_sets_find(paths, count, &count);
	reader->set_count = count;
	make_room(reader, count);
	for (unsigned i = 0; i < count; i++) {
		struct pxt_source *source = new_source(reader->sets[i].path, i, select);

		source->set = reader->sets[i].count > 1 ? &reader->sets[i] : NULL;
		if (reader->sets[i].count == 1)
			source->path = reader->sets[i].files[0];
		reader->sources[i] = source;
		source->lacks_end = mode != PXT_OPEN_LIVE && pxt_sets_lacks_end(&reader->sets[i]);
		if (open_source(source, mode) != PXT_EXIT_OK)
			status = PXT_EXIT_LOG;
	}
	if (count > 1)
		pxt_align(reader);
	for (unsigned i = 0; i < count; i++)
		if (i == 0 || reader->sources[i]->start_ns < reader->start_ns)
			reader->start_ns = reader->sources[i]->start_ns;
	return status;
}

int pxt_reader_open_growing(
    struct pxt_reader *reader, const char *name, int fd, const struct pxt_select *select)
{
	struct pxt_source *source = new_source(name, 0, select);

	make_room(reader, 1);
	reader->sources[0] = source;
	source->fd = fd;
	source->goes_on = true;
	int status = open_log(source, PXT_OPEN_LIVE);
	reader->start_ns = source->start_ns;
	return status;
}

static void close_source(struct pxt_source *source)
{
	if (source->is_open)
		(void)posix_trace_close(source->trid);
	if (source->fd >= 0)
		(void)close(source->fd);
	pxt_spool_end(&source->spool);
	for (unsigned i = 0; i < PXT_TYPES_MAX; i++) {
		if (source->types[i]) {
			free(source->types[i]->fields);
			free(source->types[i]->message);
		}
		free(source->types[i]);
	}
	free(source->odd_type.fields);
	free(source->odd_type.message);
	for (uint32_t i = 0; source->threads && i <= source->thread_mask; i++)
		free(source->threads[i]);
	free(source->threads);
	free(source->names);
	free(source->stretches);
	free(source);
}

void pxt_reader_close(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count; i++)
		close_source(reader->sources[i]);
	free(reader->sources);
	free(reader->heap);
	pxt_sets_free(reader->sets, reader->set_count);
	*reader = (struct pxt_reader){ 0 };
}
