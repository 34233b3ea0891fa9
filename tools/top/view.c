/* SPDX-License-Identifier: MIT */
/* view.c - tables of numbers as lines of text; see top.h. */
#include "tools/top/top.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <string.h>

#define LINE_BYTES   4096u
#define LINE_COLUMNS ((LINE_BYTES - 1) / 4) /* a character has four bytes at most */
#define LEAST_LABEL  8u                     /* columns */
#define USUAL_LABEL  16u
#define STREAM_WIDTH 12u
#define COLUMNS_MOST 8u

enum form {
	FORM_NUMBER,
	FORM_RATE,
	FORM_PER_CENT,
	FORM_DURATION,
	FORM_PID,
	FORM_STATE,
	FORM_STREAM,
	FORM_LOST_ALL,
	FORM_SEEN
};

struct column {
	const char *head;
	unsigned width;
	enum form form;
	enum pxt_numbers_column value;
};

/* What is behind the label, what may be missed first last. */
static const struct table {
	const char *head;
	unsigned count;
	struct column columns[COLUMNS_MOST];
} tables[PXT_NUMBERS_TABLES] = {
	[PXT_NUMBERS_STREAMS] = { "STREAM", 7,
	    { { "PID", 8, FORM_PID, 0 }, { "STATE", 9, FORM_STATE, 0 },
	        { "EVENTS/S", 9, FORM_RATE, PXT_NUMBERS_EVENTS },
	        { "LOST/S", 9, FORM_RATE, PXT_NUMBERS_LOST },
	        { "FILL", 4, FORM_PER_CENT, PXT_NUMBERS_FILL }, { "LOST", 10, FORM_LOST_ALL, 0 },
	        { "READ", 4, FORM_SEEN, 0 } } },
	[PXT_NUMBERS_THREADS] = { "THREAD", 3,
	    { { "STREAM", STREAM_WIDTH, FORM_STREAM, 0 },
	        { "EVENTS/S", 9, FORM_RATE, PXT_NUMBERS_EVENTS },
	        { "SHARE", 5, FORM_PER_CENT, PXT_NUMBERS_SHARE } } },
	[PXT_NUMBERS_PAIRS] = { "PAIR", 5,
	    { { "STREAM", STREAM_WIDTH, FORM_STREAM, 0 },
	        { "COUNT", 8, FORM_NUMBER, PXT_NUMBERS_COUNT },
	        { "P50", 8, FORM_DURATION, PXT_NUMBERS_P50 },
	        { "P99", 8, FORM_DURATION, PXT_NUMBERS_P99 },
	        { "MAX", 8, FORM_DURATION, PXT_NUMBERS_MAX } } },
	[PXT_NUMBERS_ROUNDS] = { "LATE ROUNDS OF", 4,
	    { { "STREAM", STREAM_WIDTH, FORM_STREAM, 0 },
	        { "LATE BY", 8, FORM_DURATION, PXT_NUMBERS_LATE },
	        { "LONGEST", 8, FORM_DURATION, PXT_NUMBERS_LONGEST },
	        { "COUNT", 8, FORM_NUMBER, PXT_NUMBERS_COUNT } } },
	[PXT_NUMBERS_LOCKS] = { "LOCK", 5,
	    { { "STREAM", STREAM_WIDTH, FORM_STREAM, 0 },
	        { "WAITED", 8, FORM_DURATION, PXT_NUMBERS_WAITED },
	        { "LONGEST", 8, FORM_DURATION, PXT_NUMBERS_LONGEST },
	        { "WAITS", 8, FORM_NUMBER, PXT_NUMBERS_WAITS },
	        { "WAITING", 7, FORM_NUMBER, PXT_NUMBERS_WAITING } } },
};

/* ---- A line ---- */

struct line {
	size_t most; /* columns */
	size_t columns;
	size_t bytes;
	char text[LINE_BYTES];
};

static void begin_line(struct line *line, const struct pxt_view *view)
{
	line->most = view->width > 0 && view->width < LINE_COLUMNS ? view->width : LINE_COLUMNS;
	line->columns = line->bytes = 0;
	line->text[0] = '\0';
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t columns_of(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += begins_character(*text);
	return columns;
}

/* As much of @text as @most columns hold, and no more than the line does; what is cut ends in "+". */
static void put(struct line *line, const char *text, size_t most)
{
	size_t columns = columns_of(text);
	size_t room = line->most - line->columns;
	bool cut = columns > most || columns > room;

	most = most < room ? most : room;
	columns = cut && most > 0 ? most - 1 : cut ? 0 : columns;
	for (size_t count = 0; *text; text++) {
		count += begins_character(*text);
		if (count > columns)
			break;
		line->text[line->bytes++] = *text;
	}
	if (cut && most > 0)
		line->text[line->bytes++] = '+';
	line->columns += columns + (cut && most > 0);
	line->text[line->bytes] = '\0';
}

/* The same of a path: it ends in the program's name, so what is cut is the front. */
static void put_path(struct line *line, const char *path)
{
	size_t columns = columns_of(path);
	size_t room = line->most - line->columns;

	if (columns > room && room > 0) {
		put(line, "+", 1);
		for (size_t left_out = columns - (room - 1); *path; path++)
			if (begins_character(*path) && left_out-- == 0)
				break;
	}
	put(line, path, line->most);
}

static void put_spaces(struct line *line, size_t count)
{
	for (; count > 0 && line->columns < line->most; count--, line->columns++)
		line->text[line->bytes++] = ' ';
	line->text[line->bytes] = '\0';
}

static void put_left(struct line *line, const char *text, size_t column)
{
	size_t before = line->columns;

	put(line, text, column);
	put_spaces(line, column - (line->columns - before));
}

static void put_right(struct line *line, const char *text, size_t column)
{
	size_t columns = columns_of(text);

	put_spaces(line, columns < column ? column - columns : 0);
	put(line, text, column);
}

static void end_line(struct line *line, const struct pxt_view *view, enum pxt_view_style style)
{
	while (line->bytes > 0 && line->text[line->bytes - 1] == ' ')
		line->text[--line->bytes] = '\0';
	view->line(view->context, style, line->text, line->bytes);
}

void pxt_view_text(const struct pxt_view *view, enum pxt_view_style style, const char *text)
{
	struct line line;

	begin_line(&line, view);
	put(&line, text, line.most);
	end_line(&line, view, style);
}

/* ---- A value ---- */

/* In no more than @width columns. */
static void say_number(char *text, size_t room, double value, size_t width)
{
	static const char units[] = "kMGTPE";
	unsigned unit = 0;

	if (snprintf(text, room, "%.0f", value) <= (int)width)
		return;
	for (value /= 1000; value >= 999.95 && unit + 2 < sizeof units; unit++)
		value /= 1000;
	(void)snprintf(text, room, "%.1f%c", value, units[unit]);
}

static void say_rate(char *text, size_t room, double value, size_t width)
{
	if (value > 0 && value < 9.95)
		(void)snprintf(text, room, "%.1f", value);
	else
		say_number(text, room, value, width);
}

static void say_per_cent(char *text, size_t room, double value)
{
	(void)snprintf(text, room, "%.0f%%", value < 0 ? 0 : value > 100 ? 100 : value);
}

static void say_value(char *text, size_t room, const struct column *column,
    const struct pxt_numbers_row *row, const struct pxt_numbers *numbers)
{
	double value = row->values[column->value];

	switch (column->form) {
	case FORM_NUMBER:
		say_number(text, room, value, column->width);
		break;
	case FORM_RATE:
		say_rate(text, room, value, column->width);
		break;
	case FORM_PER_CENT:
		say_per_cent(text, room, value);
		break;
	case FORM_DURATION:
		pxt_duration(text, value > 0 ? (uint64_t)value : 0);
		break;
	case FORM_PID:
		(void)snprintf(text, room, "%ld", row->pid);
		break;
	case FORM_STATE:
		(void)snprintf(text, room, "%s", row->state ? row->state : "");
		break;
	case FORM_STREAM:
		(void)snprintf(text, room, "%s", pxt_numbers_stream(numbers, row->stream));
		break;
	case FORM_LOST_ALL:
		say_number(text, room, row->lost_all, column->width);
		break;
	case FORM_SEEN:
	default:
		if (row->seen < 0)
			(void)snprintf(text, room, "-");
		else
			say_per_cent(text, room, row->seen);
		break;
	}
}

/* ---- A table ---- */

struct layout {
	size_t label;
	unsigned count;
	const struct column *columns[COLUMNS_MOST];
	bool program; /* there is room for it */
};

static bool is_text(const struct column *column)
{
	return column->form == FORM_STATE || column->form == FORM_STREAM;
}

static size_t longest_label(const struct pxt_numbers *numbers, enum pxt_numbers_table table)
{
	size_t longest = USUAL_LABEL;

	for (uint32_t i = 0; i < numbers->tables[table].count; i++) {
		size_t columns = columns_of(numbers->tables[table].rows[i].label);

		longest = columns > longest ? columns : longest;
	}
	return longest;
}

/* Which columns there is room for. */
static void lay_out(const struct pxt_view *view, const struct pxt_numbers *numbers,
    enum pxt_numbers_table table, struct layout *layout)
{
	const struct table *of = &tables[table];
	size_t width = view->width > 0 ? view->width : LINE_COLUMNS;
	size_t used = LEAST_LABEL;
	size_t longest = longest_label(numbers, table);

	layout->count = 0;
	for (unsigned i = 0; i < of->count; i++) {
		const struct column *column = &of->columns[i];

		/* Whose it is goes without saying where there is one. */
		if (column->form == FORM_STREAM && numbers->tables[PXT_NUMBERS_STREAMS].count < 2)
			continue;
		if (used + 2 + column->width > width)
			break;
		used += 2 + column->width;
		layout->columns[layout->count++] = column;
	}
	used -= LEAST_LABEL;
	layout->label = width > used + longest ? longest : width > used ? width - used : 1;
	layout->program = table == PXT_NUMBERS_STREAMS && used + layout->label + 10 < width;
}

static void put_head(
    const struct pxt_view *view, const struct layout *layout, enum pxt_numbers_table table)
{
	struct line line;

	begin_line(&line, view);
	put_left(&line, tables[table].head, layout->label);
	for (unsigned i = 0; i < layout->count; i++) {
		put_spaces(&line, 2);
		(is_text(layout->columns[i]) ? put_left : put_right)(
		    &line, layout->columns[i]->head, layout->columns[i]->width);
	}
	if (layout->program)
		put(&line, "  PROGRAM", line.most);
	end_line(&line, view, PXT_VIEW_HEAD);
}

static void put_row(const struct pxt_view *view, const struct layout *layout,
    const struct pxt_numbers *numbers, enum pxt_numbers_table table,
    const struct pxt_numbers_row *row)
{
	bool chosen = table == PXT_NUMBERS_STREAMS && row->stream == view->chosen;
	char text[PXT_NUMBERS_LABEL];
	struct line line;

	begin_line(&line, view);
	put_left(&line, row->label, layout->label);
	for (unsigned i = 0; i < layout->count; i++) {
		put_spaces(&line, 2);
		say_value(text, sizeof text, layout->columns[i], row, numbers);
		(is_text(layout->columns[i]) ? put_left : put_right)(
		    &line, text, layout->columns[i]->width);
	}
	if (layout->program) {
		put_spaces(&line, 2);
		put_path(&line, row->program);
	}
	end_line(&line, view, chosen ? PXT_VIEW_CHOSEN : PXT_VIEW_PLAIN);
}

/* @count rows; the one that is chosen is among them. */
static void put_table(const struct pxt_view *view, const struct pxt_numbers *numbers,
    enum pxt_numbers_table table, uint32_t count)
{
	const struct pxt_numbers_row *rows = numbers->tables[table].rows;
	struct layout layout;
	uint32_t first = 0;

	for (uint32_t i = count; table == PXT_NUMBERS_STREAMS && i < numbers->tables[table].count;
	     i++)
		if (rows[i].stream == view->chosen)
			first = i + 1 - count;
	lay_out(view, numbers, table, &layout);
	put_head(view, &layout, table);
	for (uint32_t i = first; i < first + count; i++)
		put_row(view, &layout, numbers, table, &rows[i]);
}

/* ---- All of them ---- */

static uint32_t wanted(
    const struct pxt_view *view, const struct pxt_numbers *numbers, unsigned table)
{
	uint32_t count = numbers->tables[table].count;

	return table == PXT_NUMBERS_STREAMS || count < view->rows ? count : view->rows;
}

/*
 * How many rows each table gets: in turns, one at a time, as long as there are lines.  A table that gets
 * one takes two lines more.
 */
static void share(const struct pxt_view *view, const struct pxt_numbers *numbers,
    uint32_t counts[PXT_NUMBERS_TABLES])
{
	size_t left = view->height > 0 ? view->height : SIZE_MAX;
	bool more = true;

	memset(counts, 0, PXT_NUMBERS_TABLES * sizeof *counts);
	while (more) {
		more = false;
		for (unsigned i = 0; i < PXT_NUMBERS_TABLES; i++) {
			/* The first one has no empty line before it. */
			size_t lines = counts[i] > 0 ? 1 : i == 0 ? 2 : 3;

			if (counts[i] >= wanted(view, numbers, i) || lines > left)
				continue;
			counts[i]++;
			left -= lines;
			more = true;
		}
	}
}

void pxt_view_put(const struct pxt_view *view, const struct pxt_numbers *numbers)
{
	uint32_t counts[PXT_NUMBERS_TABLES];

	share(view, numbers, counts);
	for (unsigned i = 0; i < PXT_NUMBERS_TABLES; i++) {
		if (counts[i] == 0)
			continue;
		if (i > 0)
			view->line(view->context, PXT_VIEW_PLAIN, "", 0);
		put_table(view, numbers, (enum pxt_numbers_table)i, counts[i]);
	}
}
