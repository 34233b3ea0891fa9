/* SPDX-License-Identifier: MIT */
/* open.c - opens logs, and says what is wrong with a file and what can be done about it. */
#include "tools/output/exit.h"
#include "tools/output/openfile.h"
#include "tools/output/say.h"
#include "tools/packed/packed.h"
#include "tools/read/align.h"
#include "tools/read/content.h"
#include "tools/read/source.h"
#include "tools/select/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is no log by then is none: a log's head is at most so long (FORMAT.md). */
#define HEAD_BYTES_MAX 65536

static bool is_growing_log(int fd)
{
	trace_id_t trid;

	if (posix_trace_open_growing_np(fd, &trid, NULL) != 0)
		return false;
	(void)posix_trace_close(trid);
	return true;
}

/* Whether the whole file says that bytes of it are not what was written: no program will mend it. */
static bool is_damaged(int fd)
{
	enum {
		ROOM = 64
	};
	struct posix_trace_logfinding_np findings[ROOM];
	struct posix_trace_logcheck_np sum;

	if (posix_trace_log_check_np(fd, &sum, findings, ROOM) != 0)
		return false;
	for (uint64_t i = 0; i < sum.posix_findings_np && i < ROOM; i++)
		if (findings[i].posix_kind_np == POSIX_TRACE_FINDING_DAMAGE_NP)
			return true;
	return sum.posix_findings_np > ROOM;
}

static void explain_damage(const char *path)
{
	pxt_explain("the log is damaged: bytes of it are not what was written; copy it again from "
	            "where it was written");
	pxt_explain("`pxtrace check %s` shows all that is wrong; --incomplete reads what stands in "
	            "front of it",
	    path);
	pxt_explain("`pxtrace recover %s -o NEW.ptl` makes a log of every sound block", path);
}

/* The reason that the library gave, and the remedy that a person may need. */
static void explain(const struct pxt_source *source, const struct posix_trace_logerror_np *error)
{
	pxt_complain("%s: byte %llu: %s", source->path, (unsigned long long)error->posix_offset_np,
	    *error->posix_reason_np ? error->posix_reason_np : "not a trace log");
	if (pxt_explain_content(source->path, source->fd))
		return;
	if (is_damaged(source->fd)) {
		explain_damage(source->path);
	} else if (is_growing_log(source->fd)) {
		pxt_explain(
		    "the log is incomplete: the traced program still runs, or it died before"
		    " posix_trace_shutdown()");
		pxt_explain("--incomplete reads what is there; print --follow waits for the rest");
		pxt_explain(
		    "`pxtrace recover %s -o NEW.ptl` makes a complete log of it", source->path);
		pxt_say_box(source->path);
	}
}

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
			pxt_explain("whoever ran the program may read it, or make it readable: "
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
		bool copied = pxt_spool_begin(&spool, path, *fd) && pxt_spool_all(&spool);

		pxt_spool_end(&spool);
		*fd = spool.to;
		if (!copied)
			return PXT_EXIT_LOG;
	}
	return pxt_spool_unpack(path, fd, log) ? PXT_EXIT_OK : PXT_EXIT_LOG;
}

/* The same, but a pipe is copied as far as a log can be told from it, and further as it is read. */
static int open_live(struct pxt_source *source)
{
	struct stat st = { 0 };
	bool copied;

	source->fd = open_path(source->path, true, -1);
	if (source->fd < 0)
		return PXT_EXIT_LOG;
	if (in_place(source->fd))
		return pxt_spool_unpack(source->path, &source->fd, true) ? PXT_EXIT_OK
		                                                         : PXT_EXIT_LOG;
	copied = pxt_spool_begin(&source->spool, source->path, source->fd);
	source->fd = source->spool.to;
	while (copied && !source->spool.ended && st.st_size <= HEAD_BYTES_MAX &&
	       !is_growing_log(source->fd))
		copied = pxt_spool_take(&source->spool, -1) && fstat(source->fd, &st) == 0;
	/* What is compressed is read to its end; a log inside it cannot be followed. */
	if (copied && pxt_packed_is(source->fd))
		copied = pxt_spool_all(&source->spool) &&
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

		if (id <= POSIX_TRACE_UNNAMED_USEREVENT ||
		    posix_trace_eventid_get_name(source->trid, id, name) != 0)
			continue;
		size_t width = strlen(name);
		if (width > source->name_width && width <= 28)
			source->name_width = width;
	}
}

/* The log after source->fd. */
static int open_log(struct pxt_source *source, enum pxt_open_mode mode)
{
	struct posix_trace_logerror_np error = { 0 };
	int failed = posix_trace_open_explained_np(source->fd, &source->trid, &error);
	if (failed != 0 && mode != PXT_OPEN_COMPLETE)
		failed = posix_trace_open_growing_np(source->fd, &source->trid, &error);
	if (failed == ENOMEM) {
		pxt_complain("%s: not enough memory", source->path);
		return PXT_EXIT_LOG;
	}
	if (failed != 0) {
		explain(source, &error);
		return PXT_EXIT_LOG;
	}
	source->is_open = true;
	failed = posix_trace_log_getinfo_np(source->trid, &source->info);
	if (failed != 0) {
		pxt_complain("%s: no information in the log: %s", source->path, strerror(failed));
		return PXT_EXIT_LOG;
	}
	source->start_ns = pxt_when_ns(&source->info.posix_start_np);
	source->name_width = sizeof "posix_trace_start" - 1;
	measure_names(source);
	pxt_source_learn_pids(source);
	pxt_source_learn_crash(source);
	return PXT_EXIT_OK;
}

static int open_source(struct pxt_source *source, enum pxt_open_mode mode)
{
	int status = mode == PXT_OPEN_LIVE ? open_live(source)
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

	make_room(reader, count);
	for (unsigned i = 0; i < count; i++) {
		struct pxt_source *source = new_source(paths[i], i, select);

		reader->sources[i] = source;
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
	free(source);
}

void pxt_reader_close(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count; i++)
		close_source(reader->sources[i]);
	free(reader->sources);
	free(reader->heap);
	*reader = (struct pxt_reader){ 0 };
}
