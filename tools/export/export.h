/* SPDX-License-Identifier: MIT */
/*
 * export.h - what the formats of `pxtrace export` have in common: the options, the logs, the output,
 * the way through the events.
 *
 * A format is a struct pxt_command in the table of cmd_export.c, reached by `pxtrace export NAME`.
 * One that takes event after event hands a struct pxt_export_format to pxt_export_run(), which does
 * the rest.
 *
 * Memory does not grow with the logs: nothing is kept of an event once it was written.
 */
#ifndef PXT_EXPORT_H
#define PXT_EXPORT_H

#include "tools/command/command.h"
#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/select/select.h"

#include <stdint.h>

extern const struct pxt_command pxt_export_chrome;
extern const struct pxt_command pxt_export_ctf;
extern const struct pxt_command pxt_export_csv;
extern const struct pxt_command pxt_export_folded;
extern const struct pxt_command pxt_export_perfetto;
extern const struct pxt_command pxt_export_speedscope;

struct pxt_export {
	struct pxt_out out;
	struct pxt_select select;
	struct pxt_reader reader;
	struct pxt_outfile file;
	const char *output; /* -o */
	const char *target; /* --target, or NULL */
	bool incomplete;
	bool strict;
};

/* What is kept for each log: struct pxt_source.user points to it. */
struct pxt_export_log {
	uint64_t lost;   /* since its last exported event */
	uint64_t events; /* exported so far */
	void *format;    /* the format's own */
};

/* What the format keeps of @source. */
static inline void *pxt_export_of(const struct pxt_source *source)
{
	struct pxt_export_log *log = source->user;

	return log->format;
}

struct pxt_export_format {
	const char *name; /* "csv" */
	const char *const *help;
	const struct pxt_option *options; /* its own, of what is at @self; NULL: none */
	void *self;
	bool binary; /* not for a terminal */
	bool apart;  /* several logs come one after the other, not mixed by time */
	bool late;   /* nothing is written before @end */
	/* @reader's logs are open: all of them, or with @apart one. */
	void (*begin)(struct pxt_export *export, struct pxt_reader *reader);
	/*
	 * Sees each event once before the reading that counts, and is told that that one begins; may
	 * both be NULL.  Before that, if it is not NULL: also events that are not selected.
	 */
	void (*look_before)(struct pxt_export *export, const struct pxt_event *event);
	void (*look)(struct pxt_export *export, const struct pxt_event *event, uint64_t lost);
	void (*looked)(struct pxt_export *export, struct pxt_reader *reader);
	/*
	 * May be NULL.  Where a file is written, or with @late anything, @event then sees the events of the first
	 * reading, too, with all that was seen before; if this says so after it, that is what is written, and
	 * there is no second reading.
	 */
	bool (*stands)(struct pxt_export *export, struct pxt_reader *reader);
	/* A selected event; @lost records were lost between the one before of its log and this one. */
	void (*event)(struct pxt_export *export, const struct pxt_event *event, uint64_t lost);
	/* Records were lost after the last event of a complete log. */
	void (*lost)(struct pxt_export *export, const struct pxt_source *source, uint64_t lost);
	/* Writes what belongs after the events and frees what the format kept. */
	void (*end)(struct pxt_export *export, struct pxt_reader *reader);
	/* Tells which names of its own options no log has (tools/unknown/unknown.h); may be NULL. */
	void (*review)(struct pxt_reader *reader);
};

/* Text for the help of every format that goes this way. */
#define PXT_EXPORT_COMMON_HELP                                                                     \
	PXT_SELECT_HELP                                                                            \
	"output:\n"                                                                                \
	"  -o, --output FILE     to FILE, which appears when it is finished, never half-written\n" \
	"      --target NAME     which machine this was; by default the host that the log names\n" \
	"logs:\n"                                                                                  \
	"      --incomplete      also a log whose program still runs or has died\n"                \
	"      --strict          exit status 3 when events were lost\n"                            \
	"  -h, --help            this\n"

int pxt_export_run(const struct pxt_export_format *format, int argc, char **argv);
/* Ends the file of such a format, which has `format` and `help`. */
#define PXT_EXPORT_COMMAND(format_name, format_summary)                                            \
	static int run(int argc, char **argv)                                                      \
	{                                                                                          \
		return pxt_export_run(&format, argc, argv);                                        \
	}                                                                                          \
	const struct pxt_command pxt_export_##format_name = {                                      \
		.name = #format_name, .summary = (format_summary), .help = help, .run = run        \
	};

/* Every log as a CTF 2 trace in @folder, which is made; an exit status, what is wrong was told (ctf2.c). */
int pxt_ctf2_write(struct pxt_reader *reader, const char *folder);

/* The target's name for @source: --target, the log's host, or "-". */
const char *pxt_export_target(const struct pxt_export *export, const struct pxt_source *source);
/* "HOST:PROGRAM/PID", by which logs of several processes are told apart. */
#define PXT_EXPORT_PROCESS_ROOM 512u
void pxt_export_process(const struct pxt_export *export, const struct pxt_source *source,
    char name[PXT_EXPORT_PROCESS_ROOM]);
/* "01020304-0506-0708-090a-0b0c0d0e0f10" to @text of 37 bytes. */
void pxt_export_uuid(char *text, const struct pxt_source *source);

/* ---- Files put together in an archive (ustar), written to a regular file as they come ---- */

struct pxt_export_tar {
	char name[100]; /* of the file at hand */
	uint64_t at;    /* where its head is */
	int64_t time;   /* seconds since 1970 */
};

/* Leaves room for the head; what is written to @out from now on is the file. */
void pxt_export_tar_begin(
    struct pxt_export_tar *tar, struct pxt_out *out, const char *name, int64_t time);
/* Now its length is known. */
void pxt_export_tar_end(struct pxt_export_tar *tar, struct pxt_out *out);
/* After the last file. */
void pxt_export_tar_close(struct pxt_out *out);

/*
 * What scheduler events say, by the names and fields that Linux and LTTng gave them:
 *
 * 	sched_switch    prev_tid|prev_pid, next_tid|next_pid [prev_state, prev_prio, next_prio,
 * 	                prev_comm, next_comm, cpu|cpu_id]
 * 	sched_wakeup, sched_waking    tid|pid [comm, prio]
 *
 * Thread 0, which is every processor's idle thread at once, is left out.
 */

enum pxt_task_state {
	PXT_TASK_READY,
	PXT_TASK_RUNS,
	PXT_TASK_SLEEPS,
	PXT_TASK_WAITS, /* cannot be interrupted */
	PXT_TASK_STOPPED,
	PXT_TASK_DEAD
};

struct pxt_task {
	int64_t tid;
	enum pxt_task_state state;
	int cpu; /* -1: unknown */
	bool has_prio;
	int64_t prio;
	char comm[64]; /* escaped; "": unknown */
};

/* Which role each type of a log has, asked once. */
struct pxt_sched {
	unsigned char roles[PXT_TYPES_MAX];
};

/* The states that @event changes, in their order: 0 for an event of another kind. */
unsigned pxt_sched_take(
    struct pxt_sched *sched, const struct pxt_event *event, struct pxt_task tasks[2]);

#endif
