/* SPDX-License-Identifier: MIT */
/* open.c - opens logs, and says what is wrong with a file and what can be done about it. */
#include "command.h"
#include "select.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file that is no log seems to be instead, from its first bytes; NULL: no idea. */
static const char *looks_like(const unsigned char *head, size_t bytes)
{
	static const struct {
		const char *magic;
		size_t bytes;
		const char *advice;
	} known[] = {
		{ "\x7f"
		  "ELF",
		    4, "it is a program or library; a log is what the program wrote" },
		{ "\x1f\x8b", 2, "it is compressed: gunzip it first" },
		{ "\x28\xb5\x2f\xfd", 4, "it is compressed: unzstd it first" },
		{ "\xfd"
		  "7zXZ",
		    5, "it is compressed: unxz it first" },
		{ "BZh", 3, "it is compressed: bunzip2 it first" },
		{ "PK\x03\x04", 4, "it is a zip archive: unpack it first" },
		{ "\xc1\x1f\xfc\xc1", 4, "it is a CTF trace of LTTng: babeltrace2 reads it" },
	};
	size_t printable = 0;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (bytes >= known[i].bytes && memcmp(head, known[i].magic, known[i].bytes) == 0)
			return known[i].advice;
	while (printable < bytes && ((head[printable] >= 0x20 && head[printable] < 0x7f) ||
	                                (head[printable] >= '\t' && head[printable] <= '\r')))
		printable++;
	if (bytes >= 8 && printable == bytes)
		return "it looks like a text file; a log is what posix_trace_create_withlog() "
		       "writes";
	return NULL;
}

bool pxt_explain_content(int fd)
{
	unsigned char head[64];
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
		pxt_explain("the file is empty: nothing was flushed to it yet, or the copy failed");
		return true;
	}
	ssize_t bytes = pread(fd, head, sizeof head, 0);
	const char *advice = bytes > 0 ? looks_like(head, (size_t)bytes) : NULL;
	if (advice)
		pxt_explain("%s", advice);
	return advice != NULL;
}

/* The reason that the library gave, and the remedy that a person may need. */
static void explain(const struct pxt_source *source, const struct posix_trace_logerror_np *error)
{
	trace_id_t trid;

	pxt_complain("%s: byte %llu: %s", source->path, (unsigned long long)error->posix_offset_np,
	    *error->posix_reason_np ? error->posix_reason_np : "not a trace log");
	if (pxt_explain_content(source->fd))
		return;
	if (posix_trace_open_growing_np(source->fd, &trid, NULL) == 0) {
		(void)posix_trace_close(trid);
		pxt_explain(
		    "the log is incomplete: the traced program still runs, or it died before"
		    " posix_trace_shutdown()");
		pxt_explain("--incomplete reads what is there; print --follow waits for the rest");
		return;
	}
}

/* Logs are read in place; what comes through a pipe is copied to a file that has no name. */
static int spool(const char *path, int from, int *fd)
{
	static char buffer[65536];
	FILE *file = tmpfile();
	ssize_t bytes = -1;

	while (file &&
	       ((bytes = read(from, buffer, sizeof buffer)) > 0 || (bytes < 0 && errno == EINTR)))
		if (bytes > 0 && fwrite(buffer, 1, (size_t)bytes, file) != (size_t)bytes)
			break;
	if (bytes == 0 && fflush(file) == 0)
		*fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
	if (*fd < 0)
		pxt_complain("%s: cannot be copied to a temporary file: %s", path, strerror(errno));
	if (file)
		(void)fclose(file);
	return *fd < 0 ? PXT_EXIT_LOG : PXT_EXIT_OK;
}

int pxt_open_file(const char *path, int *fd)
{
	struct stat st;

	*fd = -1;
	if (strcmp(path, "-") == 0)
		return spool(path, STDIN_FILENO, fd);
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st) != 0) {
		pxt_complain("%s: %s", path, strerror(errno));
		return PXT_EXIT_LOG;
	}
	if (S_ISDIR(st.st_mode)) {
		pxt_complain("%s: is a directory", path);
		pxt_explain("name the log file itself");
		return PXT_EXIT_LOG;
	}
	if (S_ISREG(st.st_mode))
		return PXT_EXIT_OK;
	int from = *fd;
	*fd = -1;
	int status = spool(path, from, fd);
	(void)close(from);
	return status;
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

static int open_source(struct pxt_source *source, enum pxt_open_mode mode)
{
	struct posix_trace_logerror_np error = { 0 };
	int status = pxt_open_file(source->path, &source->fd);

	if (status != PXT_EXIT_OK)
		return status;
	int failed = posix_trace_open_explained_np(source->fd, &source->trid, &error);
	if (failed != 0 && mode == PXT_OPEN_INCOMPLETE)
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
	return PXT_EXIT_OK;
}

int pxt_reader_open(struct pxt_reader *reader, char *const *paths, unsigned count,
    enum pxt_open_mode mode, const struct pxt_select *select)
{
	int status = PXT_EXIT_OK;

	reader->sources = pxt_must(calloc(count, sizeof(struct pxt_source *)));
	reader->heap = pxt_must(calloc(count, sizeof(struct pxt_source *)));
	reader->count = count;
	for (unsigned i = 0; i < count; i++) {
		struct pxt_source *source = pxt_must(calloc(1, sizeof *source));

		source->path = paths[i];
		source->place = i;
		source->fd = -1;
		source->select = select;
		reader->sources[i] = source;
		if (open_source(source, mode) != PXT_EXIT_OK)
			status = PXT_EXIT_LOG;
		if (i == 0 || source->start_ns < reader->start_ns)
			reader->start_ns = source->start_ns;
	}
	return status;
}

static void close_source(struct pxt_source *source)
{
	if (source->is_open)
		(void)posix_trace_close(source->trid);
	if (source->fd >= 0)
		(void)close(source->fd);
	for (unsigned i = 0; i < PXT_TYPES_MAX; i++) {
		if (source->types[i])
			free(source->types[i]->fields);
		free(source->types[i]);
	}
	free(source->odd_type.fields);
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
