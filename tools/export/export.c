/* SPDX-License-Identifier: MIT */
/*
 * export.c - the options and the way through the events that all formats share, and files in an archive (ustar); see
 * export.h.
 */
#include "tools/export/export.h"

#include "format/mul64.h"
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/unknown/unknown.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

const char *pxt_export_target(const struct pxt_export *export, const struct pxt_source *source)
{
	if (export->target)
		return export->target;
	return *source->info.posix_host_np ? source->info.posix_host_np : "-";
}

void pxt_export_process(const struct pxt_export *export, const struct pxt_source *source,
    char name[PXT_EXPORT_PROCESS_ROOM])
{
	(void)snprintf(name, PXT_EXPORT_PROCESS_ROOM, "%s:%.200s/%ld",
	    pxt_export_target(export, source), pxt_path_name(source->info.posix_executable_np),
	    (long)source->info.posix_pid_np);
}

void pxt_export_uuid(char *text, const struct pxt_source *source)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*text++ = '-';
		*text++ = digits[source->info.posix_uuid_np[i] >> 4];
		*text++ = digits[source->info.posix_uuid_np[i] & 15];
	}
	*text = '\0';
}

/* ---- The events one after the other ---- */

/* What was lost of a log since its last exported event, also before events left out. */
static uint64_t take_lost(struct pxt_source *source)
{
	struct pxt_export_log *log = source->user;
	uint64_t lost = log->lost;

	log->lost = 0;
	return lost;
}

/* Every selected event of @reader goes to @take. */
static void read_events(struct pxt_export *export, struct pxt_reader *reader, const char *label,
    void (*before)(struct pxt_export *export, const struct pxt_event *event),
    void (*take)(struct pxt_export *export, const struct pxt_event *event, uint64_t lost))
{
	struct pxt_progress progress;
	struct pxt_event *event;

	pxt_progress_reader(&progress, label, reader, export->file.fd == STDOUT_FILENO);
	while (export->out.error == 0 && (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		if (before)
			before(export, event);
		if (pxt_select_time(&export->select, event->ns, export->reader.start_ns) != 0)
			continue;
		struct pxt_export_log *log = event->source->user;
		pxt_sum_add(&log->lost, event->extra.posix_lost_before_np);
		if (!pxt_select_event(&export->select, event, export->reader.start_ns))
			continue;
		log->events++;
		take(export, event, take_lost(event->source));
	}
	pxt_progress_end(&progress);
}

/* Back to the beginning, for the reading that counts. */
static void read_again(struct pxt_reader *reader)
{
	pxt_reader_rewind(reader);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_export_log *log = reader->sources[i]->user;

		log->lost = log->events = 0;
	}
}

/*
 * What was lost after the last event.  A log that still grows will tell it before its next one,
 * and must not tell it twice.
 */
static void export_rests(
    struct pxt_export *export, const struct pxt_export_format *format, struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count && !export->select.to.set; i++) {
		struct pxt_source *source = reader->sources[i];
		uint64_t lost = take_lost(source) + pxt_source_lost_rest(source);

		if (lost > 0 && source->info.posix_complete_np)
			format->lost(export, source, lost);
	}
}

/* What was written since @at is taken back. */
static void take_back(struct pxt_export *export, off_t at)
{
	export->out.used = 0;
	if (export->out.error == 0 &&
	    (ftruncate(export->out.fd, at) != 0 || lseek(export->out.fd, at, SEEK_SET) != at))
		export->out.error = errno;
}

/* With one reading, if that is enough; false: all was seen, and nothing is written. */
static bool export_at_once(
    struct pxt_export *export, const struct pxt_export_format *format, struct pxt_reader *reader)
{
	off_t at = 0;

	pxt_out_flush(&export->out);
	if (!format->late)
		at = lseek(export->out.fd, 0, SEEK_CUR);
	format->begin(export, reader);
	read_events(export, reader, "export", format->look_before, format->event);
	if (format->stands(export, reader))
		return true;
	if (!format->late)
		take_back(export, at);
	read_again(reader);
	return false;
}

static void export_events(
    struct pxt_export *export, const struct pxt_export_format *format, struct pxt_reader *reader)
{
	const bool at_once = format->stands && (export->file.final || format->late);

	if (at_once && export_at_once(export, format, reader)) {
		export_rests(export, format, reader);
		format->end(export, reader);
		return;
	}
	if (!at_once)
		format->begin(export, reader);
	if (!at_once && format->look) {
		read_events(export, reader, "looking", format->look_before, format->look);
		read_again(reader);
	}
	if (format->look)
		format->looked(export, reader);
	read_events(export, reader, "export", NULL, format->event);
	export_rests(export, format, reader);
	format->end(export, reader);
}

/* Logs one after the other, for a format that does not mix them. */
static void export_apart(struct pxt_export *export, const struct pxt_export_format *format)
{
	for (unsigned i = 0; i < export->reader.count; i++) {
		struct pxt_reader one = { .sources = &export->reader.sources[i],
			.count = 1,
			.start_ns = export->reader.start_ns,
			.part = export->reader.part,
			.part_ends = export->reader.part_ends };

		export_events(export, format, &one);
	}
}

static int export_all(struct pxt_export *export, const struct pxt_export_format *format)
{
	struct pxt_export_log *logs = pxt_must(calloc(export->reader.count, sizeof *logs));

	for (unsigned i = 0; i < export->reader.count; i++)
		export->reader.sources[i]->user = &logs[i];
	pxt_reader_read_part(&export->reader, &export->select, true);
	if (format->apart)
		export_apart(export, format);
	else
		export_events(export, format, &export->reader);
	pxt_out_flush(&export->out);
	free(logs);
	if (export->out.error != 0) {
		pxt_complain(
		    "%s: cannot be written: %s", export->file.name, strerror(export->out.error));
		return PXT_EXIT_OUTPUT;
	}
	pxt_unknown_select(&export->select, &export->reader, NULL);
	if (format->review)
		format->review(&export->reader);
	return pxt_reader_conclude(&export->reader, true, export->strict);
}

static int open_output(struct pxt_export *export, const struct pxt_export_format *format)
{
	bool is_stdout = !export->output || strcmp(export->output, "-") == 0;

	if (format->binary && is_stdout && isatty(STDOUT_FILENO)) {
		pxt_complain(
		    "export %s: this is no text for a terminal; say -o FILE", format->name);
		return PXT_EXIT_USAGE;
	}
	if (!pxt_outfile_open(&export->file, export->output))
		return PXT_EXIT_OUTPUT;
	if (format->apart && export->reader.count > 1 && !export->file.final) {
		pxt_complain("export %s: several logs make an archive, which is no stream; say -o "
		             "FILE",
		    format->name);
		pxt_outfile_discard(&export->file);
		return PXT_EXIT_USAGE;
	}
	export->out.fd = export->file.fd;
	for (unsigned i = 0; i < export->reader.count; i++) {
		const struct pxt_source *source = export->reader.sources[i];

		if (!export->file.final || !pxt_source_has_file(source, export->file.final))
			continue;
		pxt_complain("%s: is the log itself; -o wants another name", source->path);
		pxt_outfile_discard(&export->file);
		return PXT_EXIT_USAGE;
	}
	return PXT_EXIT_OK;
}

static int export_logs(struct pxt_export *export, const struct pxt_export_format *format)
{
	int status = open_output(export, format);

	if (status != PXT_EXIT_OK)
		return status;
	status = export_all(export, format);
	if (status == PXT_EXIT_OUTPUT || status == PXT_EXIT_LOG) {
		bool named = export->file.final != NULL;

		pxt_outfile_discard(&export->file);
		if (named)
			pxt_explain("%s was not written", export->output);
	} else if (!pxt_outfile_commit(&export->file)) {
		status = PXT_EXIT_OUTPUT;
	}
	return pxt_unknown_status(&export->reader, status);
}

/* ---- The command line ---- */

static bool take_target(void *self, char *value)
{
	((struct pxt_export *)self)->target = value;
	if (*value == '\0')
		pxt_complain("--target wants a name");
	return *value != '\0';
}

static const struct pxt_option common[] = {
	PXT_OPT_MORE(pxt_select_options, struct pxt_export, select),
	PXT_OPT_TEXT('o', "output", struct pxt_export, output),
	PXT_OPT_TAKE(0, "target", take_target),
	PXT_OPT_FLAG(0, "incomplete", struct pxt_export, incomplete),
	PXT_OPT_FLAG(0, "strict", struct pxt_export, strict),
	PXT_OPT_END,
};

int pxt_export_run(const struct pxt_export_format *format, int argc, char **argv)
{
	static struct pxt_export export;
	const struct pxt_option options[] = {
		{ PXT_OPTION_MORE, .more = common },
		{ format->options ? PXT_OPTION_MORE : PXT_OPTION_END, .more = format->options,
		    .to = format->self },
		PXT_OPT_END,
	};
	char command[32];
	const struct pxt_command line = {
		.name = command, .help = format->help, .options = options, .wants = "which log?"
	};
	int status;

	export.out.fd = STDOUT_FILENO;
	(void)snprintf(command, sizeof command, "export %s", format->name);
	status = pxt_options_read(&line, &export, argc, argv);
	if (status >= 0)
		return status;
	if (!pxt_select_check(&export.select))
		return pxt_usage(command);
	status = pxt_reader_open(&export.reader, argv + optind, (unsigned)(argc - optind),
	    export.incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, &export.select);
	if (status == PXT_EXIT_OK)
		status = export_logs(&export, format);
	pxt_reader_close(&export.reader);
	return status;
}

/* ---- Files in an archive ---- */

#define BLOCK 512u

static const char zeros[2 * BLOCK];

/* The head's fields, by their places. */
enum {
	AT_NAME = 0,
	AT_MODE = 100,
	AT_OWNER = 108,
	AT_GROUP = 116,
	AT_SIZE = 124,
	AT_TIME = 136,
	AT_SUM = 148,
	AT_KIND = 156,
	AT_MAGIC = 257
};

static uint64_t place(struct pxt_out *out)
{
	off_t at;

	pxt_out_flush(out);
	at = lseek(out->fd, 0, SEEK_CUR);
	if (at < 0 && out->error == 0)
		out->error = errno;
	return at < 0 ? 0 : (uint64_t)at;
}

void pxt_export_tar_begin(
    struct pxt_export_tar *tar, struct pxt_out *out, const char *name, int64_t time)
{
	(void)snprintf(tar->name, sizeof tar->name, "%s", name);
	tar->time = time < 0 ? 0 : time;
	tar->at = place(out);
	pxt_out_bytes(out, zeros, BLOCK);
}

/* @digits octal digits; what does not fit them, as a number of big-endian bytes. */
static void put_octal(unsigned char *to, unsigned digits, uint64_t value)
{
	if (value >> (3 * digits) == 0) {
		for (unsigned i = digits; i-- > 0; value >>= 3)
			to[i] = (unsigned char)('0' + (value & 7));
		return;
	}
	for (unsigned i = digits + 1; i-- > 0; value >>= 8)
		to[i] = (unsigned char)value;
	to[0] |= 0x80;
}

static void fill_head(unsigned char *head, const struct pxt_export_tar *tar, uint64_t bytes)
{
	uint64_t sum = 0;

	memset(head, 0, BLOCK);
	memcpy(head + AT_NAME, tar->name, strlen(tar->name));
	put_octal(head + AT_MODE, 7, 0644);
	put_octal(head + AT_OWNER, 7, 0);
	put_octal(head + AT_GROUP, 7, 0);
	put_octal(head + AT_SIZE, 11, bytes);
	put_octal(head + AT_TIME, 11, (uint64_t)tar->time);
	head[AT_KIND] = '0';
	memcpy(head + AT_MAGIC, "ustar\00000", 8);
	memset(head + AT_SUM, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += head[i];
	put_octal(head + AT_SUM, 6, sum);
	head[AT_SUM + 6] = 0;
}

void pxt_export_tar_end(struct pxt_export_tar *tar, struct pxt_out *out)
{
	unsigned char head[BLOCK];
	uint64_t bytes = place(out) - tar->at - BLOCK;

	pxt_out_bytes(out, zeros, (BLOCK - bytes % BLOCK) % BLOCK);
	fill_head(head, tar, bytes);
	if (out->error == 0 && pwrite(out->fd, head, BLOCK, (off_t)tar->at) != (ssize_t)BLOCK)
		out->error = errno ? errno : EIO;
}

void pxt_export_tar_close(struct pxt_out *out)
{
	pxt_out_bytes(out, zeros, sizeof zeros);
}
