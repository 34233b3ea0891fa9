/* SPDX-License-Identifier: MIT */
/* top.h - what the files of `pxtrace top` share: the model, what is shown of it, the screen. */
#ifndef PXT_TOP_H
#define PXT_TOP_H

#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/why/rounds.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- What happened in one stream in the last seconds: events by thread, durations of pairs, waits
 * for locks, late rounds.  Knows neither where events come from nor where numbers go to ----
 *
 * Time is cut in slots; the numbers are those of the present slot and of the ones before it, of
 * PXT_MODEL_SLOTS in all.  A slot that becomes too old is forgotten at once.  Time is told from
 * outside, so that a test can tell any.
 *
 * Bounded: PXT_THREADS_MAX threads, what pairs.h and state.h say, the memory of series for durations.
 */

/*
 * What `pxtrace top` shows at one moment: five tables of numbers, which know neither logs
 * nor the screen, so that they can stand still while all goes on.
 *
 * Bounded: PXT_NUMBERS_ROWS rows of a table.  Where there are more, those stay that are first in the
 * table's usual order.
 */

#define PXT_NUMBERS_ROWS  256u
#define PXT_NUMBERS_LABEL 160u

enum pxt_numbers_table {
	PXT_NUMBERS_STREAMS,
	PXT_NUMBERS_THREADS,
	PXT_NUMBERS_PAIRS,
	PXT_NUMBERS_ROUNDS, /* late ones, by thread */
	PXT_NUMBERS_LOCKS,
	PXT_NUMBERS_TABLES
};

enum pxt_numbers_column {
	PXT_NUMBERS_USUAL, /* each table by its own most telling column */
	PXT_NUMBERS_NAME,
	PXT_NUMBERS_EVENTS, /* a second */
	PXT_NUMBERS_LOST,   /* a second */
	PXT_NUMBERS_FILL,   /* per cent */
	PXT_NUMBERS_SHARE,  /* of its stream's events, per cent */
	PXT_NUMBERS_COUNT,
	PXT_NUMBERS_P50, /* nanoseconds, as all that follow but the last two */
	PXT_NUMBERS_P99,
	PXT_NUMBERS_MAX,
	PXT_NUMBERS_LATE,
	PXT_NUMBERS_WAITED,
	PXT_NUMBERS_LONGEST,
	PXT_NUMBERS_WAITS,
	PXT_NUMBERS_WAITING, /* threads, now */
	PXT_NUMBERS_COLUMNS
};

struct pxt_numbers_row {
	char label[PXT_NUMBERS_LABEL]; /* escaped, as all texts here */
	uint32_t stream;               /* whose it is: a number that the stream keeps */
	double values[PXT_NUMBERS_COLUMNS];
	/* Of streams alone. */
	char program[PXT_NUMBERS_LABEL];
	const char *state;
	long pid;
	double lost_all;
	double seen; /* per cent of its events that were read here; below 0: none are read */
};

struct pxt_numbers {
	double seconds; /* of which they are */
	struct {
		uint32_t count;
		struct pxt_numbers_row rows[PXT_NUMBERS_ROWS];
	} tables[PXT_NUMBERS_TABLES];
};

void pxt_numbers_clear(struct pxt_numbers *numbers);
/*
 * An empty row; @value is that of the table's usual column.  NULL where the table is full of rows that come
 * before it.
 */
struct pxt_numbers_row *pxt_numbers_add(
    struct pxt_numbers *numbers, enum pxt_numbers_table table, double value);
/* By a column, largest first, names by the alphabet; a table that lacks it in its usual order. */
void pxt_numbers_sort(struct pxt_numbers *numbers, enum pxt_numbers_column column);
/* The name of the stream of that number, "" where there is none. */
const char *pxt_numbers_stream(const struct pxt_numbers *numbers, uint32_t stream);

/* What a column is called by --by. */
const char *pxt_numbers_word(enum pxt_numbers_column column);
/* PXT_NUMBERS_COLUMNS: none is called so. */
enum pxt_numbers_column pxt_numbers_called(const char *word);

#define PXT_MODEL_SLOTS 5u /* as many as PXT_LATENESS_SLOTS */

struct pxt_model;

/* Begins at @now_ns, a time that never steps back. */
struct pxt_model *pxt_model_new(int64_t slot_ns, int64_t now_ns);
void pxt_model_free(struct pxt_model *model);
/* The stream's events come from @reader, which has this one source and outlives the model. */
void pxt_model_open(struct pxt_model *model, const struct pxt_reader *reader);

/* It is @now_ns by now: slots end. */
void pxt_model_tick(struct pxt_model *model, int64_t now_ns);
/* How many events the stream had and lost so far, as its owner says. */
void pxt_model_status(struct pxt_model *model, uint64_t written, uint64_t lost);
/* @counts: else it is older than the model, and tells only what is under way. */
void pxt_model_take(struct pxt_model *model, const struct pxt_event *event, bool counts);

/* Adds rows of threads, pairs and locks. */
void pxt_model_rows(struct pxt_model *model, uint32_t stream, struct pxt_numbers *numbers);
/* Fills a stream's own row in: events and losses a second, and how much of it was read. */
void pxt_model_rates(const struct pxt_model *model, struct pxt_numbers_row *row);
/* Events a second, for a row that is yet to be made. */
double pxt_model_rate(const struct pxt_model *model);

/*
 * The streams of running programs that have a name, as they come and go, each with its model.
 *
 * A stream has two connections: one is asked over and over how it is, by the other its owner hands
 * out what happens (pxtrace attach).  No answer is waited for.  A program that is stopped, or answers
 * nonsense, is shown as such; who looks on too often already is refused, and then only the numbers that
 * the owner says are known.
 *
 * Bounded: PXT_LIVE_STREAMS streams, of PXT_LIVE_FOLLOWED of which the events are read, each through 16 MiB
 * of memory at most (format/ctlsock.h).
 */

#define PXT_LIVE_STREAMS  64u
#define PXT_LIVE_FOLLOWED 16u

struct pxt_live;

/* @names: these alone, or, where there are none, those that there are in the user's folders. */
struct pxt_live *pxt_live_new(char *const *names, size_t count, int64_t slot_ns, int64_t now_ns);
void pxt_live_free(struct pxt_live *live);
/*
 * The first look.  PXT_EXIT_OK, or what it is worth that a stream which was named cannot be reached, or that
 * the folders of names cannot be looked into; after a word to the user.
 */
int pxt_live_begin(struct pxt_live *live);
/* Asks, takes what has come, looks who is there.  True where there is more to be taken at once. */
bool pxt_live_step(struct pxt_live *live, int64_t now_ns);
/* How many streams there are, those that have just ended among them. */
uint32_t pxt_live_count(const struct pxt_live *live);
/* Whether all streams that were named have ended. */
bool pxt_live_over(const struct pxt_live *live);
void pxt_live_numbers(struct pxt_live *live, struct pxt_numbers *numbers);
/* The name of the stream with that number, as it is reached; NULL: it is not there. */
const char *pxt_live_name(const struct pxt_live *live, uint32_t stream);

/*
 * Which threads of one stream had late rounds in the last seconds: what is late, and by how much,
 * is said as in `pxtrace why` (tools/why/rounds.h).
 */

#define PXT_LATENESS_SLOTS 5u

struct pxt_lateness {
	struct pxt_rounds rounds;
	const struct pxt_home *
	    *homes; /* by thread, as far as they are known by now; NULL: ask again */
	uint32_t home_count;
	struct pxt_lateness_thread *threads; /* by index */
	uint32_t thread_room;
	unsigned slot;
	bool counts;
};

void pxt_lateness_open(struct pxt_lateness *lateness, const struct pxt_state *state);
void pxt_lateness_free(struct pxt_lateness *lateness);
/* After the state has taken the event, which is one of @slot, if it @counts. */
void pxt_lateness_take(
    struct pxt_lateness *lateness, const struct pxt_event *event, unsigned slot, bool counts);
/* What was in a slot is forgotten. */
void pxt_lateness_forget(struct pxt_lateness *lateness, unsigned slot);
/* Adds a row for each thread that had late rounds. */
void pxt_lateness_rows(
    const struct pxt_lateness *lateness, uint32_t stream, struct pxt_numbers *numbers);

/*
 * ---- The numbers of `pxtrace top` as lines of text, for a screen of any size and for a file alike;
 * the screen and its keys ----
 *
 * No line is wider than the view; columns that find no room are left out from the right, and a name
 * that is cut ends in "+".  Where lines are few, the tables share them.
 */

#define PXT_VIEW_NOBODY UINT32_MAX

enum pxt_view_style {
	PXT_VIEW_PLAIN,
	PXT_VIEW_HEAD,
	PXT_VIEW_CHOSEN
};

struct pxt_view {
	size_t width;    /* columns; 0: any number */
	size_t height;   /* lines; 0: any number */
	uint32_t rows;   /* of each table but that of streams, at most */
	uint32_t chosen; /* number of the stream that is marked, or PXT_VIEW_NOBODY */
	/* A line without its end; @text has a NUL after it. */
	void (*line)(void *context, enum pxt_view_style style, const char *text, size_t bytes);
	void *context;
};

/* @numbers are in the order in which they shall be shown. */
void pxt_view_put(const struct pxt_view *view, const struct pxt_numbers *numbers);
/* One line of @text, cut where the view ends. */
void pxt_view_text(const struct pxt_view *view, enum pxt_view_style style, const char *text);

/* `pxtrace top`: numbers over and over, on the screen with keys, or as tables one after another. */

#define PXT_PANEL_ROWS 10u

struct pxt_panel_options {
	int64_t interval_ns; /* from one table to the next */
	uint64_t times;      /* so many tables; 0: no end */
	enum pxt_numbers_column column;
	uint32_t rows; /* of each table but that of streams; 0: as many as there is room for */
};

/* Until a key, a signal (*@stop), or the last of them; return the exit status. */
int pxt_panel_screen(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);
int pxt_panel_batch(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);

/*
 * ---- The whole screen of a terminal, and its keys.  Whatever ends the program, the terminal is as it
 * was before; a stop (Ctrl-Z) gives it back meanwhile ----
 */

enum pxt_screen_key {
	PXT_KEY_NONE, /* nothing came in time */
	PXT_KEY_OTHER,
	PXT_KEY_QUIT,
	PXT_KEY_FREEZE,
	PXT_KEY_NEXT,
	PXT_KEY_PREVIOUS,
	PXT_KEY_UP,
	PXT_KEY_DOWN,
	PXT_KEY_SAVE,
	PXT_KEY_HELP,
	PXT_KEY_RESIZED,
	PXT_KEY_GONE /* there is no terminal any more */
};

#ifdef PXTRACE_HAS_CURSES

/* False, after a word to the user: there is no terminal, or none that can be drawn on. */
bool pxt_screen_begin(void);
void pxt_screen_end(void);
void pxt_screen_size(size_t *width, size_t *height);
/* What follows is a new picture; it is seen when it is shown. */
void pxt_screen_erase(void);
void pxt_screen_line(size_t line, enum pxt_view_style style, const char *text, size_t bytes);
void pxt_screen_show(void);
/* Waits so long for a key. */
enum pxt_screen_key pxt_screen_key(int wait_ms);

#else

/* Without ncurses `pxtrace top` writes tables one after another alone. */

static inline bool pxt_screen_begin(void)
{
	pxt_complain("top: this pxtrace was built without ncurses, so it has no full screen: use "
	             "--batch");
	pxt_explain("Debian has it in libncurses-dev");
	return false;
}

static inline void pxt_screen_end(void)
{
}

static inline void pxt_screen_size(size_t *width, size_t *height)
{
	*width = *height = 0;
}

static inline void pxt_screen_erase(void)
{
}

static inline void pxt_screen_line(
    size_t line, enum pxt_view_style style, const char *text, size_t bytes)
{
	(void)line;
	(void)style;
	(void)text;
	(void)bytes;
}

static inline void pxt_screen_show(void)
{
}

static inline enum pxt_screen_key pxt_screen_key(int wait_ms)
{
	(void)wait_ms;
	return PXT_KEY_GONE;
}

#endif

#endif
