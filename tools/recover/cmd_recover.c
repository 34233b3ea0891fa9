/* SPDX-License-Identifier: MIT */
/* cmd_recover.c - pxtrace recover: what is left of a trace whose program is gone. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include "tools/recover/recover.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_use[] =
    "pxtrace recover - makes a log of a dead program's memory, file or damaged log\n"
    "\n"
    "usage: pxtrace recover FILE... -o LOG [OPTION]...\n"
    "       pxtrace recover gdb:HOST:PORT,ADDRESS,BYTES -o LOG [--follow]\n"
    "       pxtrace recover FILE... --list\n"
    "\n"
    "However the program ended: what it had recorded is still there, in the file of a black\n"
    "box, in its core file, in a dump of the machine's memory, or in a log that was never\n"
    "completed. This writes a complete log of it, which every other command reads: all\n"
    "events that are whole, with names, threads and times, and every loss where it happened.\n"
    "\n"
    "files:\n"
    "  a black box     a stream that lives in a file\n"
    "  a core file     of any machine (ELF); also what gcore writes\n"
    "  a memory dump   any bytes; streams are found by search. Several dumps of one\n"
    "                  machine may be given together\n"
    "  a log           without its end, or damaged: every sound block is taken; of a\n"
    "                  log in several files: the folder, or all of them\n"
    "  gdb:HOST:PORT,ADDRESS,BYTES\n"
    "                  so much of a target's memory, from a debugger's server (QEMU, OpenOCD);\n"
    "                  the target stands still while it is read\n"
    "  -               standard input\n";
static const char help_options[] =
    "\n"
    "options:\n"
    "  -o, --output LOG      the log to write; it appears when it is whole\n"
    "  -l, --list            shows the streams that were found, writes nothing\n"
    "  -s, --stream N|NAME   which one, where there are several: its number in the list, or\n"
    "                        the name of the trace\n"
    "      --all             also events that the program had read or flushed itself, as\n"
    "                        far as they are still whole\n"
    "      --follow          reads the memory of a target (gdb:) again and again, until Ctrl-C;\n"
    "                        the log grows meanwhile\n"
    "      --strict          exit status 3 when events were lost, or nobody knows how many\n"
    "  -q, --quiet           says nothing where all went well\n"
    "  -h, --help            this\n"
    "\n"
    "example: what did the program do before it was killed?\n"
    "\n"
    "  $ pxtrace recover flight.box -o flight.ptl\n"
    "  $ pxtrace print flight.ptl\n"
    "\n"
    "example: several streams in a core file, of which one is wanted\n"
    "\n"
    "  $ pxtrace recover core.4711 --list\n"
    "  $ pxtrace recover core.4711 --stream control -o control.ptl\n"
    "\n"
    "exit status: 0 done, 1 wrong command line, or which stream?, 2 a file could not be\n"
    "read, or nothing is in it, 3 --strict and events were lost, 4 the log could not be\n"
    "written\n";
static const char *const help[] = { help_use, help_options, NULL };

struct recover {
	const char *output;
	const char *stream;
	bool list;
	bool all;
	bool strict;
	bool quiet;
	bool follow;
	struct pxt_target target; /* one of the images */
	struct pxt_image *images;
	unsigned count;
	struct pxt_logset *sets; /* what was named */
	unsigned set_count;
	struct pxt_finds finds;
};

static int list(const struct recover *recover)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	pxt_recover_list(&out, &recover->finds, recover->all);
	return pxt_finish(&out);
}

/* ---- Which one ---- */

static bool name_is(const struct recover *recover, size_t index, const char *name)
{
	const struct pxt_found *found = &recover->finds.streams[index];
	struct pxt_recovered recovered;
	struct pxt_small small;
	bool same;

	if (found->small) {
		same = !pxt_small_load(&small, found) && strcmp(small.name, name) == 0;
		pxt_small_free(&small);
		return same;
	}
	if (pxt_recover_load(&recovered, &recover->finds, found, false, NULL))
		return false;
	same = strcmp(recovered.streamimage.name, name) == 0;
	pxt_recover_free(&recovered);
	return same;
}

static int which(const struct recover *recover, const char *why)
{
	static struct pxt_out out;

	out.fd = STDERR_FILENO;
	pxt_complain("recover: %s", why);
	pxt_recover_list(&out, &recover->finds, recover->all);
	pxt_out_flush(&out);
	return PXT_EXIT_USAGE;
}

static int choose_named(const struct recover *recover, size_t *chosen)
{
	char *end;
	unsigned long number = strtoul(recover->stream, &end, 10);
	size_t hits = 0;

	for (size_t i = 0; i < recover->finds.stream_count; i++) {
		if (!name_is(recover, i, recover->stream))
			continue;
		*chosen = i;
		hits++;
	}
	if (hits == 1)
		return PXT_EXIT_OK;
	if (hits > 1)
		return which(recover, "several streams have this name; choose by number:");
	if (*recover->stream < '1' || *recover->stream > '9' || *end ||
	    number > recover->finds.stream_count)
		return which(recover, "there is no such stream; these are there:");
	*chosen = number - 1;
	return PXT_EXIT_OK;
}

static int choose(const struct recover *recover, size_t *chosen)
{
	size_t sound = 0;

	if (recover->stream)
		return choose_named(recover, chosen);
	for (size_t i = recover->finds.stream_count; i-- > 0;) {
		if (recover->finds.streams[i].wrong && sound)
			continue;
		*chosen = i;
		sound += !recover->finds.streams[i].wrong;
	}
	return sound > 1 ? which(recover, "several streams are there; which one? (--stream)")
	                 : PXT_EXIT_OK;
}

/* ---- A stream ---- */

static int output_failed(const struct recover *recover, int error)
{
	pxt_complain("recover: %s: %s", recover->output, strerror(error));
	return PXT_EXIT_OUTPUT;
}

static int follow_stream(struct recover *recover, size_t index)
{
	const struct pxt_found found = recover->finds.streams[index];
	struct pxt_written written = { 0 };
	int error = 0;
	const char *wrong =
	    found.small
	        ? "a stream of the smallest Core cannot be followed; without --follow it is read"
	        : pxt_follow(
	              &recover->target, found.image, found.at, recover->output, &written, &error);

	if (error)
		return output_failed(recover, error);
	if (wrong) {
		pxt_complain("%s: %s", found.image->path, wrong);
		return PXT_EXIT_LOG;
	}
	if (!recover->quiet)
		pxt_complain("%s: %llu events, %llu lost", recover->output,
		    (unsigned long long)written.events, (unsigned long long)written.lost);
	return recover->strict && written.lost ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

static int unreadable(const struct pxt_found *found, const char *wrong)
{
	pxt_complain("%s: byte %llu: a stream that cannot be read: %s", found->image->path,
	    (unsigned long long)found->at, wrong);
	return PXT_EXIT_LOG;
}

static int write_small(const struct recover *recover, const struct pxt_found *found)
{
	struct pxt_small small;
	const char *wrong = pxt_small_load(&small, found);
	int error;

	if (wrong)
		return unreadable(found, wrong);
	error = pxt_small_write(&small, recover->output);
	if (!error && !recover->quiet)
		pxt_recover_tell_small(recover->output, &small);
	pxt_small_free(&small);
	if (error)
		return output_failed(recover, error);
	return recover->strict && (small.lost || small.torn) ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

static int write_stream(const struct recover *recover, size_t index)
{
	const struct pxt_found *found = &recover->finds.streams[index];
	struct pxt_written written = { 0 };
	struct pxt_recovered recovered;
	bool unknown = false;
	int error = 0;
	const char *wrong;

	if (found->small)
		return write_small(recover, found);
	wrong = pxt_recover_load(&recovered, &recover->finds, found, recover->all, NULL);
	if (!wrong) {
		wrong = pxt_recover_write(&recovered, recover->output, &written, &error);
		if (!wrong && !error && !recover->quiet)
			pxt_recover_tell(
			    recover->output, found, &recovered, &written, recover->all);
		unknown = recovered.streamimage.lanes_missing > 0;
		pxt_recover_free(&recovered);
	}
	if (error)
		return output_failed(recover, error);
	if (wrong)
		return unreadable(found, wrong);
	return recover->strict && (written.lost || unknown) ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

/* ---- A log ---- */

static int salvage(const struct recover *recover)
{
	struct pxt_salvaged salvaged;
	int error;
	const char *wrong;

	if (recover->set_count > 1) {
		pxt_complain("recover: %s is a log: one log at a time", recover->images[0].path);
		return PXT_EXIT_USAGE;
	}
	if (recover->list) {
		pxt_complain("recover: %s is a log, not memory; `pxtrace check` looks at it",
		    recover->images[0].path);
		return PXT_EXIT_USAGE;
	}
	wrong = pxt_salvage(recover->images, recover->count, recover->output, &salvaged, &error);
	if (error)
		return output_failed(recover, error);
	if (wrong) {
		pxt_complain("%s: %s", recover->images[0].path, wrong);
		return PXT_EXIT_LOG;
	}
	if (!recover->quiet)
		pxt_recover_tell_salvaged(recover->output, &salvaged, recover->images[0].path);
	return recover->strict && (salvaged.missing || salvaged.lost || salvaged.held ||
	                              salvaged.unsure || salvaged.end_unknown || salvaged.others)
	           ? PXT_EXIT_LOST
	           : PXT_EXIT_OK;
}

/* ---- Files ---- */

/* All of the target's memory, as a file. */
static int open_target(struct recover *recover, const char *text, int *fd)
{
	if (!pxt_gdbserver_open(&recover->target, text))
		return PXT_EXIT_LOG;
	if (pxt_gdbserver_read(&recover->target, 0, recover->target.bytes)) {
		*fd = dup(recover->target.fd);
		if (!recover->follow)
			pxt_gdbserver_close(&recover->target);
		return PXT_EXIT_OK;
	}
	pxt_complain("recover: %s: its memory cannot be read there", text);
	pxt_gdbserver_close(&recover->target);
	return PXT_EXIT_LOG;
}

static int open_image(struct recover *recover, const char *path)
{
	struct pxt_image *image = &recover->images[recover->count];
	const char *wrong;
	int fd;
	int status = pxt_gdbserver_is(path) ? open_target(recover, path, &fd)
	                                    : pxt_open_file(path, false, &fd);

	if (status != PXT_EXIT_OK)
		return status;
	wrong = pxt_image_open(image, path, fd);
	recover->count++;
	if (!wrong)
		return PXT_EXIT_OK;
	pxt_complain("%s: %s", path, wrong);
	return PXT_EXIT_LOG;
}

/* Each that was named, and all files of a log that went from file to file. */
static int open_images(struct recover *recover, char *const *paths, unsigned count)
{
	int status = PXT_EXIT_OK;
	unsigned files = 0;

	recover->sets = pxt_sets_find(paths, count, &recover->set_count);
	for (unsigned i = 0; i < recover->set_count; i++)
		files += recover->sets[i].files ? recover->sets[i].count : 1;
	recover->images = pxt_must(calloc(files + 1, sizeof *recover->images));
	for (unsigned i = 0; i < recover->set_count; i++) {
		const struct pxt_logset *set = &recover->sets[i];

		pxt_sets_say_missing(set);
		for (unsigned j = 0; status == PXT_EXIT_OK && (j == 0 || j < set->count); j++)
			status = open_image(recover, set->files ? set->files[j] : set->path);
	}
	return status;
}

/* Nobody means to write over what they want to read. */
static bool would_overwrite(const struct recover *recover)
{
	for (unsigned i = 0; recover->output && i < recover->count; i++)
		if (pxt_outfile_is(recover->output, recover->images[i].fd))
			return true;
	return false;
}

static int nothing(const struct recover *recover)
{
	for (unsigned i = 0; i < recover->count; i++) {
		const struct pxt_image *image = &recover->images[i];

		pxt_complain("%s: no stream is in it", image->path);
		if (image->core)
			pxt_explain("it is a core file, but of a program that did not trace, or "
			            "without its memory; streams that live in files are not in "
			            "core files: recover the file itself");
		else if (!pxt_explain_content(image->path, image->fd))
			pxt_explain("in a board's memory streams are found by their labels "
			            "(PTRACE_LABELS), which profiles small and tiny leave out");
	}
	return PXT_EXIT_LOG;
}

/* A log whose beginning is gone, more of it than its head. */
static bool is_headless(const struct recover *recover)
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header;

	return recover->count == 1 && !recover->images[0].core &&
	       pxt_filehead_repeated(&recover->images[0], head, &header);
}

static int work(struct recover *recover)
{
	size_t chosen = 0;
	int status;

	if (would_overwrite(recover)) {
		pxt_complain("recover: %s is what is to be read; give the log another name",
		    recover->output);
		return PXT_EXIT_USAGE;
	}
	if (recover->output && !pxt_outfile_check(recover->output))
		return PXT_EXIT_OUTPUT;
	if (recover->follow && !pxt_follow_appear(&recover->target, recover->images))
		return nothing(recover);
	for (unsigned i = 0; i < recover->count; i++) {
		if (pxt_salvage_is_log(&recover->images[i]))
			return salvage(recover);
		if (!pxt_find(&recover->finds, &recover->images[i])) {
			pxt_complain("out of memory");
			return PXT_EXIT_LOG;
		}
	}
	if (recover->finds.full)
		pxt_complain("recover: too many places look like streams; some were not looked at");
	if (!recover->finds.stream_count && is_headless(recover))
		return salvage(recover);
	if (!recover->finds.stream_count)
		return nothing(recover);
	if (recover->list)
		return list(recover);
	status = choose(recover, &chosen);
	if (status != PXT_EXIT_OK)
		return status;
	return recover->follow ? follow_stream(recover, chosen) : write_stream(recover, chosen);
}

/* ---- The command ---- */

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct recover, output),
	PXT_OPT_FLAG('l', "list", struct recover, list),
	PXT_OPT_TEXT('s', "stream", struct recover, stream),
	PXT_OPT_FLAG(0, "all", struct recover, all),
	PXT_OPT_FLAG(0, "follow", struct recover, follow),
	PXT_OPT_FLAG(0, "strict", struct recover, strict),
	PXT_OPT_FLAG('q', "quiet", struct recover, quiet),
	PXT_OPT_END,
};

static int run(int argc, char **argv)
{
	static struct recover recover;
	int status = pxt_options_read(&pxt_cmd_recover, &recover, argc, argv);

	if (status >= 0)
		return status;
	if (!recover.output && !recover.list) {
		pxt_complain("recover: into which log? e.g. -o run.ptl (or --list)");
		return pxt_usage("recover");
	}
	if (recover.follow && (recover.list || recover.all || argc - optind != 1 ||
	                          !pxt_gdbserver_is(argv[optind]))) {
		pxt_complain("recover: --follow is for one target (gdb:HOST:PORT,ADDRESS,BYTES), "
		             "without --list and --all");
		return pxt_usage("recover");
	}
	status = open_images(&recover, argv + optind, (unsigned)(argc - optind));
	if (status == PXT_EXIT_OK)
		status = work(&recover);
	for (unsigned i = 0; i < recover.count; i++)
		pxt_image_close(&recover.images[i]);
	free(recover.images);
	pxt_sets_free(recover.sets, recover.set_count);
	if (recover.follow && recover.target.link.text)
		pxt_gdbserver_close(&recover.target);
	pxt_find_free(&recover.finds);
	return status;
}

const struct pxt_command pxt_cmd_recover = {
	.name = "recover",
	.summary = "makes a log of a black box, a core file, memory, or a damaged log",
	.help = help,
	.options = options,
	.wants = "out of which file?",
	.run = run,
};
