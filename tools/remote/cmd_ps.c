/* SPDX-License-Identifier: MIT */
/* cmd_ps.c - pxtrace ps: the streams with names, and how they are. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/remote/ctlsock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace ps - shows the streams of running programs that have a name\n"
	"\n"
	"usage: pxtrace ps [OPTION]... [NAME...]\n"
	"\n"
	"A program gives its stream a name by posix_trace_attr_setsharename_np(). Shown are those\n"
	"in this user's folders, or the given ones. NAME with a slash is the path of a socket; "
	"such\n"
	"a stream is shown only when it is named.\n"
	"\n"
	"  STATE     running, stopped, full (stopped by itself); dead: its process is gone\n"
	"  POLICY    loop (overwrites), until-full, or flush\n"
	"  LOG       whether it has one\n"
	"  FILL      how much of the stream's memory is in use\n"
	"  WRITTEN   events so far\n"
	"  LOST      of these, overwritten or without room\n"
	"  ATTACHED  other processes that trace into it\n"
	"\n"
	"options:\n"
	"      --clean  removes the names that dead processes have left, and says which\n"
	"      --json   an object of JSON a line\n"
	"  -h, --help   this\n"
	"\n"
	"example: which program loses events?\n"
	"\n"
	"  $ pxtrace ps\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a stream did not answer, one that was named\n"
	"is not there, or the folder of names is somebody else's; 4 the output could not be "
	"written.\n",
	NULL,
};

struct row {
	struct pxt_remote remote;
	enum pxt_reach reach;
	bool removed;
};

struct ps {
	struct pxt_out out;
	bool clean;
	bool json;
	size_t width; /* of the names */
	bool narrow;  /* the terminal is: what says most alone */
	struct row *rows;
	size_t count;
};

/* ---- Asking ---- */

static void ask(const struct ps *ps, struct row *row, const char *name)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	row->reach = pxt_remote_open(&row->remote, name);
	/* A stream that is just being created does not listen yet. */
	if (row->reach == PXT_REACH_DEAD && nanosleep(&pause, NULL) == 0)
		row->reach = pxt_remote_open(&row->remote, name);
	if (row->reach == PXT_REACH_OK)
		row->reach = pxt_remote_tell(&row->remote, PXT_CTLSOCK_STATUS);
	pxt_remote_close(&row->remote);
	if (row->reach != PXT_REACH_DEAD || !ps->clean)
		return;
	int error = pxt_remote_remove(name);
	row->removed = error == 0;
	if (error != 0)
		pxt_complain("ps: %s: cannot be removed: %s", name, strerror(error));
}

/* Ended meanwhile, in the course of things: it is not there any more. */
static bool vanished(const struct row *row, bool named)
{
	return !named && (row->reach == PXT_REACH_NONE || row->reach == PXT_REACH_GONE);
}

/* What it says of the command's success, and to the user. */
static int judge(const struct ps *ps, const struct row *row, bool named)
{
	if (row->reach == PXT_REACH_OK || row->removed)
		return PXT_EXIT_OK;
	if (row->reach == PXT_REACH_DEAD && !named)
		return ps->clean ? PXT_EXIT_LOG : PXT_EXIT_OK;
	if (row->reach == PXT_REACH_DEAD)
		return PXT_EXIT_LOG;
	return pxt_remote_complain("ps", &row->remote, row->reach);
}

/* ---- Words ---- */

static const char *state_of(const struct row *row)
{
	if (row->removed)
		return "removed";
	if (row->reach == PXT_REACH_DEAD)
		return "dead";
	return row->reach == PXT_REACH_OK ? pxt_status_state(&row->remote.status) : "unknown";
}

/* ---- For people ---- */

static size_t put_name(struct pxt_out *out, const char *name, size_t column)
{
	char text[4 * PXT_CTLSOCK_PATH + 1];
	size_t width;
	size_t bytes = pxt_escape(name, strlen(name), text, sizeof text, &width);

	if (out)
		pxt_out_column(out, text, bytes, width, column);
	return width;
}

/* After the name, with a program's name of some length. */
#define ALL_COLUMNS 99u

static void put_row(struct ps *ps, const struct row *row)
{
	const struct pxt_ctlsock_status *status = &row->remote.status;
	struct pxt_out *out = &ps->out;

	(void)put_name(out, row->remote.name, ps->width);
	if (row->reach != PXT_REACH_OK) {
		pxt_out_format(out, "  %8s  %s\n", "-", state_of(row));
		return;
	}
	if (ps->narrow) {
		pxt_out_format(out, "  %8ld  %-8s  %3u%%  %12llu\n", (long)status->pid,
		    state_of(row), pxt_status_fill(status), (unsigned long long)status->lost);
		return;
	}
	pxt_out_format(out, "  %8ld  %-8s  %-10s  %-3s  %3u%%  %12llu  %12llu  %8lu",
	    (long)status->pid, state_of(row), pxt_status_policy(status),
	    status->with_log ? "yes" : "no", pxt_status_fill(status),
	    (unsigned long long)status->written, (unsigned long long)status->lost,
	    (unsigned long)status->producers);
	if (status->executable[0]) {
		pxt_out_text(out, "  ");
		pxt_out_escaped(out, status->executable,
		    pxt_remote_bytes(status->executable, sizeof status->executable));
	}
	pxt_out_char(out, '\n');
}

static void put_table(struct ps *ps)
{
	size_t terminal;

	ps->width = 4;
	for (size_t i = 0; i < ps->count; i++) {
		size_t width = put_name(NULL, ps->rows[i].remote.name, 0);

		if (width > ps->width && width <= 40)
			ps->width = width;
	}
	if (ps->count == 0)
		return;
	terminal = pxt_width(ps->out.fd);
	ps->narrow = terminal && ps->width + ALL_COLUMNS > terminal;
	pxt_out_column(&ps->out, "NAME", 4, 4, ps->width);
	if (ps->narrow)
		pxt_out_format(
		    &ps->out, "  %8s  %-8s  %4s  %12s\n", "PID", "STATE", "FILL", "LOST");
	else
		pxt_out_format(&ps->out, "  %8s  %-8s  %-10s  %-3s  %4s  %12s  %12s  %8s  %s\n",
		    "PID", "STATE", "POLICY", "LOG", "FILL", "WRITTEN", "LOST", "ATTACHED",
		    "PROGRAM");
	for (size_t i = 0; i < ps->count; i++)
		put_row(ps, &ps->rows[i]);
}

/* ---- For programs ---- */

static void put_status(struct pxt_out *out, const struct pxt_ctlsock_status *status)
{
	pxt_json_signed(out, "pid", status->pid);
	/* Of another process: they may have no end. */
	pxt_json_part(out, "program", status->executable,
	    pxt_remote_bytes(status->executable, sizeof status->executable));
	pxt_json_part(
	    out, "trace", status->name, pxt_remote_bytes(status->name, sizeof status->name));
	pxt_json_text(out, "policy", pxt_status_policy(status));
	pxt_json_bool(out, "log", status->with_log);
	pxt_json_name(out, "created");
	pxt_out_format(out, "%lld.%09lu", (long long)status->created_sec,
	    (unsigned long)(status->created_nsec % 1000000000u));
	pxt_json_number(out, "attached", status->producers);
	pxt_json_number(out, "filtered", status->filtered);
	pxt_json_number(out, "slots", status->slot_count);
	pxt_json_number(out, "used", status->slots_used);
	pxt_json_number(out, "written", status->written);
	pxt_json_number(out, "retrieved", status->retrieved);
	pxt_json_number(out, "lost", status->lost);
	pxt_json_number(out, "cleared", status->cleared);
	pxt_json_number(out, "held", status->held);
}

static void put_json(struct ps *ps)
{
	struct pxt_out *out = &ps->out;

	for (size_t i = 0; i < ps->count; i++) {
		const struct row *row = &ps->rows[i];

		pxt_json_begin(out);
		pxt_json_text(out, "name", row->remote.name);
		pxt_json_text(out, "path", row->remote.path);
		pxt_json_text(out, "state", state_of(row));
		if (row->reach == PXT_REACH_OK)
			put_status(out, &row->remote.status);
		pxt_json_end(out);
	}
}

/* ---- The command ---- */

static int ps_of(struct ps *ps, char *const *names, size_t count, bool named)
{
	int status = PXT_EXIT_OK;

	ps->rows = pxt_must(calloc(count + 1, sizeof *ps->rows));
	for (size_t i = 0; i < count; i++) {
		struct row *row = &ps->rows[ps->count];

		ask(ps, row, names[i]);
		if (vanished(row, named))
			continue;
		int mine = judge(ps, row, named);
		status = mine > status ? mine : status;
		if (row->reach != PXT_REACH_NONE && row->reach != PXT_REACH_NAME)
			ps->count++;
	}
	if (ps->json)
		put_json(ps);
	else
		put_table(ps);
	free(ps->rows);
	int written = pxt_finish(&ps->out);
	return written != PXT_EXIT_OK ? written : status;
}

static const struct pxt_option options[] = {
	PXT_OPT_FLAG(0, "clean", struct ps, clean),
	PXT_OPT_FLAG(0, "json", struct ps, json),
	PXT_OPT_END,
};

static int run(int argc, char **argv)
{
	static struct ps ps;
	struct pxt_remote_names names;
	int status;

	ps.out.fd = STDOUT_FILENO;
	status = pxt_options_read(&pxt_cmd_ps, &ps, argc, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		return ps_of(&ps, argv + optind, (size_t)(argc - optind), true);
	bool looked = pxt_remote_look("ps");
	pxt_remote_list(&names);
	status = ps_of(&ps, names.names, names.count, false);
	pxt_remote_list_free(&names);
	if (ps.count == 0 && looked && !ps.json) {
		pxt_complain("ps: no running program of yours has a stream with a name");
		pxt_explain("posix_trace_attr_setsharename_np() gives one");
	}
	return status == PXT_EXIT_OK && !looked ? PXT_EXIT_LOG : status;
}

const struct pxt_command pxt_cmd_ps = {
	.name = "ps",
	.summary = "shows the streams of running programs that have a name",
	.help = help,
	.options = options,
	.run = run,
};
