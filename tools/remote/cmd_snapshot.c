/* SPDX-License-Identifier: MIT */
/* cmd_snapshot.c - pxtrace snapshot: what a stream of another process holds, as a complete log. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/remote/ctlsock.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/packed/packed.h"

#include <errno.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace snapshot - saves what a stream of a running program holds\n"
	"\n"
	"usage: pxtrace snapshot NAME -o LOG\n"
	"\n"
	"The newest events of a flight recorder (a stream that overwrites), or what waits in any\n"
	"other stream, as a complete log, which every other command reads. The program goes on\n"
	"recording meanwhile, at no cost to its trace points, and the stream keeps what it has.\n"
	"NAME is a name that `pxtrace ps` shows, or, with a slash, the path of a socket.\n"
	"\n"
	"options:\n"
	"  -o, --output LOG  the log to write (-: standard output); it appears when it is whole\n"
	"  -q, --quiet       says nothing where all went well\n"
	"  -h, --help        this\n"
	"\n"
	"example: what happened in the last moments?\n"
	"\n"
	"  $ pxtrace snapshot machine -o now.ptl\n"
	"  $ pxtrace why now.ptl\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 the stream could not be reached, or "
	"refused;\n"
	"4 the log could not be written.\n",
	NULL,
};

static const struct pxt_option options[] = {
	PXT_OPT_TEXT('o', "output", struct pxt_snapshot, output),
	PXT_OPT_FLAG('q', "quiet", struct pxt_snapshot, quiet),
	PXT_OPT_END,
};

static int wrong(const char *text)
{
	pxt_complain("snapshot: %s", text);
	return pxt_usage("snapshot");
}

static int run(int argc, char **argv)
{
	struct pxt_snapshot s = { 0 };
	int status = pxt_options_read(&pxt_cmd_snapshot, &s, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind > 1)
		return wrong("one stream at a time");
	if (!s.output)
		return wrong("into which log? e.g. -o now.ptl");
	s.name = argv[optind];
	return pxt_snapshot_save(&s);
}

const struct pxt_command pxt_cmd_snapshot = {
	.name = "snapshot",
	.summary = "saves what such a stream holds as a log",
	.help = help,
	.options = options,
	.wants = "of which stream? (`pxtrace ps` shows them)",
	.run = run,
};

/* ---- What a stream of another process holds, saved ---- */

struct taking {
	const struct pxt_snapshot *wanted;
	struct pxt_outfile file;
	int memory; /* what the owner writes to; -1: none yet */
	bool lossy;
	struct pxt_remote remote;
};

/*
 * The owner may be another user, and keep what it was given: it never gets the file itself, but
 * memory, which nobody can change once it has answered.
 */
static int take(struct taking *s)
{
	enum pxt_reach reach = pxt_remote_open(&s->remote, s->wanted->name);
	int error;

	if (reach == PXT_REACH_OK)
		reach = pxt_remote_tell(&s->remote, PXT_CTLSOCK_STATUS);
	if (reach == PXT_REACH_OK)
		reach = pxt_remote_types_snapshot(&s->remote, &s->memory);
	error = s->remote.error;
	if (reach == PXT_REACH_REFUSED && (error == ENOSPC || error == EFBIG || error == EDQUOT)) {
		pxt_complain("%s: cannot be written: %s", s->file.name, strerror(error));
		return PXT_EXIT_OUTPUT;
	}
	if (reach != PXT_REACH_OK)
		return pxt_remote_complain("snapshot", &s->remote, reach);
	if (pxt_remote_types_settle(s->memory))
		return PXT_EXIT_OK;
	pxt_complain("snapshot: %s: its process does not let go of what it wrote: %s",
	    s->wanted->name, strerror(errno));
	return PXT_EXIT_LOG;
}

/* A process that answered has said that it is there: is it a log, and a whole one? */
static int verify(struct taking *s)
{
	struct posix_trace_logerror_np error = { 0 };
	struct posix_trace_loginfo_np info;
	trace_id_t trid;
	int failed = posix_trace_log_open_np(&s->memory, 1, 0, &trid, &error, sizeof error);

	if (failed != 0) {
		pxt_complain(
		    "snapshot: %s: what its process wrote is no complete log: byte %llu: %s",
		    s->wanted->name, (unsigned long long)error.posix_offset_np,
		    *error.posix_reason_np ? error.posix_reason_np : strerror(failed));
		return PXT_EXIT_LOG;
	}
	s->lossy =
	    posix_trace_log_getinfo_np(trid, &info, sizeof info) == 0 && info.posix_lost_np > 0;
	(void)posix_trace_close(trid);
	return PXT_EXIT_OK;
}

/* @packer: NULL, or it compresses. */
static int copy_all(const struct taking *s, struct pxt_packer *packer)
{
	static char buffer[65536];
	ssize_t bytes;
	off_t at = 0;
	int error = 0;

	while (error == 0 && (bytes = pread(s->memory, buffer, sizeof buffer, at)) != 0) {
		if (bytes < 0)
			error = errno;
		else if (packer)
			error = pxt_packer_put(packer, s->file.fd, buffer, (size_t)bytes);
		else
			error = pxt_write_all(s->file.fd, buffer, (size_t)bytes);
		at += bytes;
	}
	return error || !packer ? error : pxt_packer_end(packer, s->file.fd);
}

static int copy(const struct taking *s)
{
	struct pxt_packer *packer = NULL;
	int error = 0;

	if (pxt_packed_named(s->wanted->output))
		packer = pxt_packer_begin(&error);
	if (error == 0)
		error = copy_all(s, packer);
	pxt_packer_free(packer);
	if (error == 0)
		return PXT_EXIT_OK;
	pxt_complain("%s: cannot be written: %s", s->file.name, strerror(error));
	return PXT_EXIT_OUTPUT;
}

static int save(struct taking *s)
{
	const char *name;
	int status;

	if (!pxt_outfile_open(&s->file, s->wanted->output))
		return PXT_EXIT_OUTPUT;
	name = s->file.name;
	status = take(s);
	if (status == PXT_EXIT_OK)
		status = verify(s);
	if (status == PXT_EXIT_OK)
		status = copy(s);
	if (status != PXT_EXIT_OK)
		pxt_outfile_discard(&s->file);
	else if (!pxt_outfile_commit(&s->file))
		status = PXT_EXIT_OUTPUT;
	if (status == PXT_EXIT_OK && !s->wanted->quiet)
		pxt_complain("%s: %s", name,
		    s->lossy ? "saved; older events were overwritten or lost"
		             : "saved; no event was lost");
	if (s->memory >= 0)
		(void)close(s->memory);
	pxt_remote_close(&s->remote);
	return status;
}

int pxt_snapshot_save(const struct pxt_snapshot *snapshot)
{
	struct taking taking = { .wanted = snapshot, .memory = -1, .remote = { .fd = -1 } };

	return save(&taking);
}
