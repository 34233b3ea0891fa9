/* SPDX-License-Identifier: MIT */
/* out.h - what commands write: text and values, files, lines on standard error, progress, times. */
#ifndef PXT_OUT_H
#define PXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>

/*
 * ---- Output of many short pieces: one buffer, one write() when it is full.  stdio would parse a
 * format for every field of every event.  And text from a log on its way to a terminal ----
 */

#define PXT_OUT_BYTES 65536u

struct pxt_out {
	int fd;
	int error; /* the first error number of write(); later output is dropped */
	bool colour;
	size_t pad;   /* columns that are to be filled before the next gap, see pxt_out_gap() */
	bool more;    /* JSON: a comma comes before what is next */
	bool in_page; /* JSON inside of HTML */
	size_t used;
	char buffer[PXT_OUT_BYTES];
};

/* What a colour is used for. */
enum pxt_colour {
	PXT_COLOUR_TIME,
	PXT_COLOUR_THREAD,
	PXT_COLOUR_EVENT,
	PXT_COLOUR_LOSS,
	PXT_COLOUR_SYSTEM,
	PXT_COLOUR_OFF
};

void pxt_out_flush(struct pxt_out *out);
void pxt_out_long(struct pxt_out *out, const char *text, size_t bytes);

/* At least @bytes (up to PXT_OUT_BYTES) of room, to be written at the returned place. */
static inline char *pxt_out_room(struct pxt_out *out, size_t bytes)
{
	if (PXT_OUT_BYTES - out->used < bytes)
		pxt_out_flush(out);
	return out->buffer + out->used;
}

static inline void pxt_out_bytes(struct pxt_out *out, const char *text, size_t bytes)
{
	if (bytes > PXT_OUT_BYTES / 2) {
		pxt_out_long(out, text, bytes);
		return;
	}
	memcpy(pxt_out_room(out, bytes), text, bytes);
	out->used += bytes;
}

static inline void pxt_out_char(struct pxt_out *out, char c)
{
	*pxt_out_room(out, 1) = c;
	out->used++;
}

static inline void pxt_out_text(struct pxt_out *out, const char *text)
{
	pxt_out_bytes(out, text, strlen(text));
}

void pxt_out_spaces(struct pxt_out *out, size_t count);
/* Text of @bytes that takes @width columns of its own, and spaces up to @column. */
void pxt_out_column(
    struct pxt_out *out, const char *text, size_t bytes, size_t width, size_t column);
/*
 * Between columns: what pxt_out_pad() asked for and two spaces.  A line's end forgets the padding,
 * so that no line ends in spaces.
 */
static inline void pxt_out_pad(struct pxt_out *out, size_t width, size_t column)
{
	out->pad = width < column ? column - width : 0;
}
static inline void pxt_out_gap(struct pxt_out *out)
{
	pxt_out_spaces(out, out->pad + 2);
	out->pad = 0;
}
/* The next gap is left out: nothing comes before the first item of a line. */
static inline void pxt_out_no_gap(struct pxt_out *out)
{
	out->pad = (size_t)-2;
}
static inline void pxt_out_end(struct pxt_out *out)
{
	out->pad = 0;
	pxt_out_char(out, '\n');
}
void pxt_out_unsigned(struct pxt_out *out, uint64_t value);
void pxt_out_signed(struct pxt_out *out, int64_t value);
void pxt_out_hex(struct pxt_out *out, uint64_t value);
/* The same without 0x. */
void pxt_out_hexdigits(struct pxt_out *out, uint64_t value);
/* Decimal digits up to @end, 20 at most; where they begin. */
char *pxt_out_digits_before(char *end, uint64_t value);
/* Exactly @digits decimal digits (up to 20), with leading zeros. */
void pxt_out_digits(struct pxt_out *out, uint64_t value, unsigned digits);
/* Decimal, right-aligned in @column columns. */
void pxt_out_right(struct pxt_out *out, uint64_t value, size_t column);
void pxt_out_float(struct pxt_out *out, double value, unsigned bytes);
/* Text from outside, see below. */
void pxt_out_escaped(struct pxt_out *out, const char *text, size_t bytes);
/* The same as a string of JSON, in quotes. */
void pxt_out_json(struct pxt_out *out, const char *text, size_t bytes);
/* Bytes as "48656c". */
void pxt_out_hexbytes(struct pxt_out *out, const unsigned char *data, size_t bytes);
/* Bytes as "48 65 6c |Hel|"; at most @limit of them (0: all), then how many more there are. */
void pxt_out_dump(struct pxt_out *out, const unsigned char *data, size_t bytes, size_t limit);
void pxt_out_colour(struct pxt_out *out, enum pxt_colour colour);
__attribute__((format(printf, 2, 3))) void pxt_out_format(
    struct pxt_out *out, const char *format, ...);

/* Whether @fd wants colour: @choice is NULL, "auto", "always" or "never". */
bool pxt_colour_wanted(const char *choice, int fd);
/* False, with a word to the user, when it is none of these. */
bool pxt_colour_valid(const char *choice);

/*
 * ---- JSON: members of objects, elements of lists; commas come by themselves ----
 *
 * @name is a member's; NULL: an element of a list.  In a page (pxt_out.in_page) what means something to
 * HTML (<, >, &) is written as \u00NN, so that no text ends the element that the JSON is in, and numbers beyond 2^53,
 * which JavaScript would round, become strings.
 */

/* An object that is in no other one begins, and ends with its line. */
void pxt_json_begin(struct pxt_out *out);
void pxt_json_end(struct pxt_out *out);
void pxt_json_open(struct pxt_out *out, const char *name, char bracket);
/* One or several: "]}". */
void pxt_json_close(struct pxt_out *out, const char *brackets);
/* What is next begins a line. */
void pxt_json_line(struct pxt_out *out);
/* The value is to follow. */
void pxt_json_name(struct pxt_out *out, const char *name);
/* Text that is escaped as for a terminal already (a label); NULL: null. */
void pxt_json_label(struct pxt_out *out, const char *name, const char *label);
/* Any text, and @bytes of one. */
void pxt_json_text(struct pxt_out *out, const char *name, const char *text);
void pxt_json_part(struct pxt_out *out, const char *name, const char *text, size_t bytes);
/* Bytes as the text "48656c". */
void pxt_json_hex(struct pxt_out *out, const char *name, const unsigned char *data, size_t bytes);
void pxt_json_number(struct pxt_out *out, const char *name, uint64_t number);
void pxt_json_signed(struct pxt_out *out, const char *name, int64_t number);
void pxt_json_bool(struct pxt_out *out, const char *name, bool value);

/*
 * ---- Text in a cell of CSV ----
 *
 * Quotes as RFC 4180 has them, and what a spreadsheet would take for a formula.
 */

/*
 * A cell that begins with = + - @, a tab or a return has an apostrophe in front.  In quotes, where a comma, a
 * quote or the end of a line is in it.
 */
void pxt_csvtext_put(struct pxt_out *out, const char *text, size_t bytes);
/* As it is, in quotes in any case. */
void pxt_csvtext_quote(struct pxt_out *out, const char *text, size_t bytes);

/*
 * Text from a log on its way to a terminal.
 *
 * A log comes from somewhere else, and its names and texts may hold anything.  Printable ASCII and
 * well-formed UTF-8 pass; control characters (C0, DEL, C1), a backslash, bytes that are no UTF-8,
 * and the characters that turn or hide text around them become \n, \t, \\ or \xNN.
 */

/* Most bytes that one input byte can become. */
#define PXT_ESCAPE_GROWTH 4u

/*
 * Escapes the character at @from (of @bytes > 0 bytes) to @to, which has room for 16 bytes.
 * Returns the number of bytes written, and how many were read in *@taken.
 */
size_t pxt_escape_one(const char *from, size_t bytes, char *to, size_t *taken);

/*
 * Escapes a whole text to @to of @room bytes, NUL included; cut at a character's end when it does
 * not fit.  Returns the bytes written; *@width (may be NULL) is the number of columns.
 */
size_t pxt_escape(const char *from, size_t bytes, char *to, size_t room, size_t *width);

/*
 * The same for a string of JSON: invalid UTF-8 becomes U+FFFD, what could command a terminal \uNNNN.
 * @to has room for 32 bytes.
 */
size_t pxt_escape_json(const char *from, size_t bytes, char *to, size_t *taken);

/* How many bytes at @from stand for themselves in either: printable ASCII without \ and ". */
size_t pxt_escape_plain(const char *from, size_t bytes);

/* ---- What all commands say when something fails, or events were lost; what pxtrace ends with ---- */

/*
 * "pxtrace: " and a line on standard error.  What comes from outside (paths, names, reasons) is
 * escaped, so that no log and no file name reaches the terminal as a command.
 */
void pxt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, indented as the explanation of the line before. */
void pxt_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Explains how to get at the black box beside the log @path, if there is one. */
void pxt_say_box(const char *path);

/*
 * From now on a line goes to @listener, without its end and without what it begins with; NULL: to
 * standard error again.  For who draws on the whole screen.
 */
void pxt_say_to(void (*listener)(const char *line));

/* Writes what is left in @out; PXT_EXIT_OK, or PXT_EXIT_OUTPUT with a word to the user. */
struct pxt_out;
int pxt_finish(struct pxt_out *out);

/* Memory for a small thing, or the end of the program with a word about it. */
void *pxt_must(void *memory);
/* @list, with room for one more than @count things of @bytes each; *@room: for how many it has room. */
void *pxt_must_grow(void *list, uint32_t *room, uint32_t count, size_t bytes);
/* The same up to the @index-th; what is new is 0. */
void *pxt_must_reach(void *list, uint32_t *room, uint32_t index, size_t bytes);

/* ---- What pxtrace ends with ---- */

/* Exit status; the worst that happened wins. */
enum pxt_exit {
	PXT_EXIT_OK = 0,
	PXT_EXIT_USAGE = 1, /* the command line makes no sense; nothing was read */
	/* A log could not be opened, or not be read to its end; a stream could not be reached. */
	PXT_EXIT_LOG = 2,
	PXT_EXIT_LOST = 3,   /* events were lost: check always, others by --strict */
	PXT_EXIT_OUTPUT = 4, /* the output could not be written */
	PXT_EXIT_DAMAGE = 5, /* check: a log is damaged, or lacks its end */
	PXT_EXIT_SLOWER = 6, /* compare: by more than --fail-above says */
};

/*
 * Notes in which pxtrace says where events of a log were lost that it wrote itself: such a loss
 * wants another remedy than one in the stream or the log.
 */

#define PXT_LOSSNOTE_LINK  "lost_on_link"      /* receive: frames that did not arrive */
#define PXT_LOSSNOTE_SCHED "lost_by_scheduler" /* run: the kernel had no room for its records */

/* ---- Times: from the command line, to the screen, and durations in readable units ---- */

/* A moment on the command line. */
struct pxt_when {
	bool set;
	bool absolute; /* @ns counts from 1970, else from the start of the log */
	int64_t ns;
};

/*
 * "1.5", "1500us", "2min": since the start of the log, "-1.5" before it (a plain number is seconds);
 * "2026-01-31T12:00:00.25Z": absolute, in UTC with Z, else local.  False: it is none of these.
 */
bool pxt_when_parse(const char *text, struct pxt_when *when);

/* Times stay within this of 1970 (146 years), so that any two may be subtracted. */
#define PXT_NS_MAX (INT64_MAX / 2)

/* Nanoseconds since 1970; a hostile time stamp ends at the edge of the range. */
int64_t pxt_when_ns(const struct timespec *time);

/* Now, by a clock that never steps back: for limits and pauses of the command itself. */
static inline int64_t pxt_when_monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t pxt_within_range(int64_t ns)
{
	if (ns > PXT_NS_MAX)
		return PXT_NS_MAX;
	return ns < -PXT_NS_MAX ? -PXT_NS_MAX : ns;
}

/* A hostile log's times stay at the edge of the range: each within half of what fits, so that the sum is a number. */
static inline int64_t pxt_when_sum(int64_t ns, int64_t more)
{
	return pxt_within_range(pxt_within_range(ns) + pxt_within_range(more));
}

/* The nearest whole number, as far as it is within the range. */
int64_t pxt_when_whole(double ns);

/* How event times are shown. */
enum pxt_face {
	PXT_FACE_RELATIVE,
	PXT_FACE_UTC,
	PXT_FACE_LOCAL,
	PXT_FACE_RAW
};

/* An absolute time, whose date and hour are worked out once a second. */
struct pxt_calendar {
	bool local;
	bool filled;
	int64_t second;
	char head[64]; /* "2026-01-31T12:00:00" */
	char tail[16]; /* "Z", "+01:00" */
};
void pxt_out_calendar(struct pxt_out *out, struct pxt_calendar *calendar, int64_t ns);

/* "   12.345678901", of at least 15 columns. */
void pxt_out_seconds(struct pxt_out *out, int64_t ns);

/* The same without spaces in front: "12.345678901". */
void pxt_out_seconds_plain(struct pxt_out *out, int64_t ns);

/* "999 ns", "1.23 us", "147 ms": three digits, to @text of 16 bytes. */
void pxt_duration(char *text, uint64_t ns);

/*
 * ---- Opening files that may not be what they should be: a FIFO waits for somebody at its other end,
 * a device may do things when it is opened ----
 *
 * Every file that is opened by name goes through here or through out.h.
 */

/* How long a FIFO is waited for that nobody has opened at the other end. */
#define PXT_OPEN_WAIT_MS 3000

/*
 * For reading, what a person named: it may be a pipe or a device.  A FIFO without a writer is waited
 * for so many milliseconds (below 0: for ever).  -1: errno says why, ETIMEDOUT nobody came.
 */
int pxt_open_named(const char *path, int wait_ms);
/* The same for writing; nothing is made or cut. */
int pxt_open_sink(const char *path, int wait_ms);

/*
 * For reading, what nobody named (a usual name, a name out of a log): a regular file, or -1 and
 * errno EINVAL.  Never waits.
 */
int pxt_open_plain(const char *path);
/* A program may begin with room for fewer descriptors than it may have; false: it has that room already. */
bool pxt_more_descriptors(void);

/* Closes @fd, if it is open; -1, with that errno. */
int pxt_close_with(int fd, int error);

/* strerror() for the two above: says what a FIFO lacks, and that a name is no file's. */
const char *pxt_open_error(int error);

/* ---- All bytes into a descriptor, however many writes that takes ---- */

/* Everything, also where the system takes it in pieces.  0 or an error number. */
int pxt_write_all(int fd, const void *bytes, size_t count);

/*
 * ---- A result that is there whole or not at all: written beside its name, and renamed when it is
 * finished. A failure, Ctrl-C or SIGTERM leaves what was there before ----
 *
 * One at a time, because a signal handler must find it.
 */

struct pxt_outfile {
	int fd;
	const char *name; /* as the user gave it, or "standard output" */
	char *final;      /* where it goes; NULL: it is written in place (a pipe, a device) */
	char *temporary;
};

/*
 * @name NULL or "-": standard output.  What exists and is no regular file is written in place.
 * False, with a word to the user, when it cannot be opened.
 */
bool pxt_outfile_open(struct pxt_outfile *file, const char *name);
/* Whether @path names the file after @fd.  A device is none: what several write to it destroys nothing. */
bool pxt_outfile_is(const char *path, int fd);
/*
 * Whether @path is there and is no file of ours, which begins with @mark, nor an empty one: then nobody
 * replaces it who was not told to.
 */
bool pxt_outfile_is_others(const char *path, const void *mark, size_t bytes);
/* The last part of a path, after its folder. */
static inline const char *pxt_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
/* Whether both names mean one file, or one that would be made under both. */
bool pxt_outfile_same(const char *one, const char *other);
/* False, with a word to the user of @command: the log @path is the log @other, which was named before. */
bool pxt_outfile_is_another(const char *command, const char *path, const char *other);
/*
 * For a file that is made beside @name and renamed later: false, with a word to the user, when that
 * cannot end well.
 */
bool pxt_outfile_check(const char *name);
/* Gives it its name.  False, with a word to the user, when that fails. */
bool pxt_outfile_commit(struct pxt_outfile *file);
void pxt_outfile_discard(struct pxt_outfile *file);

/*
 * Where a result goes that has another name until it is finished, and who may read
 * it.
 */

/*
 * Where a file that is made beside @path is renamed to: a link is followed, so that its target is
 * replaced and not the link; but none that somebody else has planted where everybody may make files
 * (/tmp).  free() it; NULL: errno says why, EACCES such a link.
 */
char *pxt_final_name(const char *path);

/*
 * Whether the file that is made beside @name may take its place: not if somebody else's file is
 * there, in a folder where only owners may remove (/tmp).  errno says why not.
 */
bool pxt_final_may_replace(const char *name);

/*
 * A new file beside @name, under a name that nobody can guess (so none can be planted), to be renamed
 * to @name: it has that one's mode.  free() @temporary.  -1: errno says why.
 */
int pxt_final_beside(const char *name, char **temporary);

/*
 * Opens for writing what has no other name meanwhile, and makes it where it is not there: follows
 * the same links, and writes to no file that somebody else has planted there.  Waits for the reader
 * of a FIFO as out.h says.  -1: errno says why.
 */
int pxt_final_open(const char *path);

/*
 * The new file after @fd, which nobody else can open yet, will replace @name: it gets the mode of
 * what is there, or what is usual.  Of somebody else's file the mode takes rights away and gives
 * none.
 */
void pxt_final_mode(const char *name, int fd);

/*
 * ---- How far long work has come, as one line on standard error ----
 *
 * Only where standard error is a terminal, only once the work has taken half a second (or as many
 * milliseconds as the environment's PXTRACE_PROGRESS says), and gone without trace at its end: neither
 * a file nor a pipe ever sees it.  pxt_complain() takes the line away before it says something.
 *
 * 	struct pxt_progress progress;
 * 	pxt_progress_reader(&progress, "stat", &reader, false);
 * 	while ((event = pxt_reader_next(&reader)) != NULL) {
 * 		pxt_progress_step(&progress);
 * 		...
 * 	}
 * 	pxt_progress_end(&progress);
 */

/* The clock is looked at once in so many steps. */
#define PXT_PROGRESS_STEPS 8192u

struct pxt_progress {
	const char *label; /* a word of ours: what is done */
	const char *unit;  /* "events", "bytes" */
	uint64_t total;    /* 0: unknown, only the number done is shown */
	uint64_t done;
	/* When @done is that much, the clock is looked at; never where nobody looks. */
	uint64_t next;
	uint64_t pace; /* from one such look to the next */
	int64_t began_ms;
	int64_t show_ms; /* nothing is shown before */
	bool shown;
};

/*
 * @beside_output: the command writes to standard output meanwhile; where that is a terminal, too,
 * nothing is shown.
 */
void pxt_progress_begin(struct pxt_progress *progress, const char *label, const char *unit,
    uint64_t total, bool beside_output);
/* Looks at the clock, and draws when it is time. */
void pxt_progress_look(struct pxt_progress *progress);
/* Whether a terminal shows it: a caller that would only wait may update it now and then instead. */
bool pxt_progress_watched(const struct pxt_progress *progress);
/* Erases the line, until it is drawn again. */
void pxt_progress_hide(void);
void pxt_progress_end(struct pxt_progress *progress);

/* So much of the work is done; @done never steps back. */
static inline void pxt_progress_at(struct pxt_progress *progress, uint64_t done)
{
	progress->done = done;
	if (done >= progress->next)
		pxt_progress_look(progress);
}

static inline void pxt_progress_step(struct pxt_progress *progress)
{
	pxt_progress_at(progress, progress->done + 1);
}

/* ---- The width of the terminal ---- */

/* The environment's COLUMNS, or those of the terminal @fd; 0: any number. */
size_t pxt_width(int fd);

#endif
