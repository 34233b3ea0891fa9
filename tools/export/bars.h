/* SPDX-License-Identifier: MIT */
/*
 * bars.h - what the formats with bars and stacks have in common: a first reading that finds out which pairs there are
 * (slices.h) and which functions need names, and a tree of frames.
 */
#ifndef PXT_BARS_H
#define PXT_BARS_H

#include "tools/export/export.h"
#include "tools/export/slices.h"
#include "tools/symbols/symbols.h"

/*
 * What a format keeps of a log (struct pxt_export_log.format) begins with this one, and these are its calls for a
 * first reading, of which nothing is written.
 */
struct pxt_bars {
	struct pxt_slices *slices;
	struct pxt_symbols *symbols;
	bool stacks;  /* the format draws them */
	bool unnamed; /* in the first reading a function was asked for, whose name was not known */
};

#define PXT_BARS_CALLS(does)                                                                       \
	.look_before = pxt_bars_look_before, .look = pxt_bars_look, .stands = (does)

void pxt_bars_begin(struct pxt_bars *bars, const struct pxt_source *source, bool stacks);
void pxt_bars_end(struct pxt_bars *bars);
void pxt_bars_look_before(struct pxt_export *export, const struct pxt_event *event);
void pxt_bars_look(struct pxt_export *export, const struct pxt_event *event, uint64_t lost);
void pxt_bars_looked(struct pxt_export *export, struct pxt_reader *reader);

/*
 * ---- One reading in place of two: what is written in the first one, as if all was known ----
 *
 * Spoilt: what was written so far is not what the second reading would write; from there on the first one
 * looks.  Stand: the first reading is over, and the second one would write the same.
 */
bool pxt_bars_spoilt(const struct pxt_bars *bars);
bool pxt_bars_stand(struct pxt_export *export, struct pxt_reader *reader);
/* Whether what the first reading wrote, or made, was taken back. */
bool pxt_bars_tried(void);

/* "read", "refill": what a bar of system events is called, until the next call; NULL: as its pair is. */
const char *pxt_bars_own_name(
    struct pxt_bars *bars, const struct pxt_slice *slice, const struct pxt_event *event);
/* The same of a bar that is cut at @ns, of process @pid. */
const char *pxt_bars_cut_name(
    struct pxt_bars *bars, const struct pxt_slice *slice, pid_t pid, int64_t ns);

/*
 * ---- Stacks: each frame is above the one that it lies in, or that called it ----
 *
 * Bounded: PXT_FRAMES_MAX frames; what has no place is left out, and counted.
 */

#define PXT_FRAMES_MAX 65536u
/* Functions on the stack of an event: the one that recorded it, and those that called. */
#define PXT_STACK_MAX  (PXT_CALLERS_MAX + 1u)

struct pxt_frame {
	uint32_t parent;
	uint32_t child;
	uint32_t sibling;
	uint32_t frame_epoch;  /* of packets.h: when the frame, ... */
	uint32_t stack_epoch;  /* ... and the stack up to it, were written last; 0: never */
	uint64_t sum;          /* the format's own */
	char *name;            /* NULL: it is not known yet, but ... */
	struct pxt_bars *bars; /* ... what the log of that is ... */
	struct pxt_address at; /* ... has there; from then ... */
	int64_t last_ns;       /* ... up to this time */
	uint32_t changes;
};

/* Frame 0 is below all, and nobody's child. */
struct pxt_frames {
	struct pxt_frame *list; /* NULL: no other one is there yet */
	uint32_t count;
	bool
	    late; /* in the first reading functions have addresses, whose names the format wants at its end */
	uint64_t missing;
};

/* They are empty again. */
void pxt_bars_frames_free(struct pxt_frames *frames);
/* The frame of that name above @parent, the same one each time; 0: there is no place, which is counted. */
uint32_t pxt_bars_above(struct pxt_frames *frames, uint32_t parent, const char *name, size_t bytes);
/* The frames from the outermost one to @top; of more than @room the innermost.  Returns how many. */
uint32_t pxt_bars_path(
    const struct pxt_frames *frames, uint32_t top, uint32_t *path, uint32_t room);

/*
 * The function that recorded @event, above those that called it, above @parent; 0: the event does not tell them, or
 * there is no place.  The frames are called "function (file:line)" or, without @places, "function".
 */
uint32_t pxt_bars_stack(struct pxt_bars *bars, const struct pxt_event *event,
    struct pxt_frames *frames, uint32_t parent, bool places);

/*
 * At the end of a first reading that stands: all functions of @frames have names, as pxt_bars_stack() would have given
 * them.  Returns, for each frame from 1 on, the one that it is now; the caller frees it.  NULL: another image came to
 * an address at a time that does not tell which one is meant: a second reading will.
 */
uint32_t *pxt_bars_name_frames(
    struct pxt_frames *frames, const struct pxt_reader *reader, bool places);

/* The parts of "function (file:line)". */
struct pxt_place {
	size_t function; /* its bytes */
	const char *file;
	size_t file_bytes; /* 0: unknown */
	uint32_t line;     /* 0: unknown */
};

struct pxt_place pxt_bars_place(const char *name);

#endif
