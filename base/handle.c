/* SPDX-License-Identifier: MIT */
/*
 * handle.c - trace identifiers without a lock; at the end, what a stream and a log answer alike: attributes, status,
 * clock, names and list of event types.
 *
 * A fork may happen at any moment, so nothing here may be found half done in the child: each change is
 * one compare-exchange of one cell's state word, and everything else in the cell is written while the
 * state keeps readers away.
 *
 *   state   FREE -> CLAIMED (add, by exchange) -> LIVE (release) -> FREE (remove, by exchange)
 *
 * A word holds the generation above the two state bits.  The generation rises with each claim and
 * is part of the identifier, so that an identifier which outlived its object finds nothing.
 *
 * The first chunk of cells is static and lies beside the root: whichever library's root the
 * linker keeps, its own chunk stays with it, and unloading the other library leaves no hole.
 */
#include "base/handle.h"
#include "base/attr.h"

#include <errno.h>
#include <stdatomic.h>

/* "PXT4": the digit rises when the layout of root or cell changes, or the arguments of an operation. */
#define HANDLES_VERSION 0x50585434u

#define STATE_FREE      0u
#define STATE_CLAIMED   1u
#define STATE_LIVE      2u
#define STATE_MASK      3u
#define GENERATION_STEP 4u
#define GENERATION_MASK 0xffffu

/* 16 bits of cell number, 16 of generation: the same on every machine, so that 0 stays free. */
#define CELLS_MAX 0xfffeu

struct cell {
	_Atomic uint32_t state;
	const struct pxt_ops *_Atomic ops;
	void *_Atomic object;
};

/* After the header follow @count cells. */
struct chunk {
	struct cell *cells;
	uint32_t count;
	uint32_t first; /* number of the first cell */
	struct chunk *_Atomic next;
};

struct pxt_handles {
	uint32_t version;
	uint32_t reserved;
	struct chunk *first;
};

static struct cell first_cells[PXT_HANDLES];
static struct chunk first_chunk = { first_cells, PXT_HANDLES, 0, NULL };

/* The one name that both libraries export under the same symbol version. */
extern struct pxt_handles _pxt_handles;
PXT_API struct pxt_handles _pxt_handles = { HANDLES_VERSION, 0, &first_chunk };

/*
 * The root may belong to another library: one of another layout is left alone, and this library
 * then knows no identifiers at all.
 */
static struct chunk *chunks(void)
{
	return _pxt_handles.version == HANDLES_VERSION ? _pxt_handles.first : NULL;
}

static trace_id_t make_id(uint32_t cell, uint32_t state)
{
	return (trace_id_t)((state / GENERATION_STEP & GENERATION_MASK) << 16 | (cell + 1u));
}

PXT_INLINE struct cell *cell_of(trace_id_t trid)
{
	uint32_t number = (uint32_t)(trid & 0xffffu) - 1u;

	if (trid > 0xffffffffu)
		return NULL;
	for (struct chunk *chunk = chunks(); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
		/* Number 0 became the largest of all, and is in no chunk. */
		if (number - chunk->first < chunk->count)
			return &chunk->cells[number - chunk->first];
	}
	return NULL;
}

/* Another library's pointer may still be in a free cell; it is not read before LIVE. */
static bool claim(struct cell *cell, uint32_t *state)
{
	uint32_t old = atomic_load_explicit(&cell->state, memory_order_relaxed);

	if ((old & STATE_MASK) != STATE_FREE)
		return false;
	*state = ((old & ~STATE_MASK) + GENERATION_STEP) | STATE_CLAIMED;
	/* Acquire: what the last owner's finders read from the cell was read before. */
	return atomic_compare_exchange_strong_explicit(
	    &cell->state, &old, *state, memory_order_acquire, memory_order_relaxed);
}

static uint32_t usable(const struct chunk *chunk, const struct pxt_ops *ops)
{
	uint32_t kept = PXT_HANDLES_KEPT;

	if (!ops->log || chunk->first)
		kept = 0;
	return chunk->count > kept ? chunk->count - kept : 0u;
}

/* Logs go up from the bottom; streams go down from the top, where the cells are that logs leave them. */
static struct cell *candidate(const struct chunk *chunk, const struct pxt_ops *ops, uint32_t i)
{
	return &chunk->cells[!PXT_HANDLES_KEPT || ops->log ? i : chunk->count - 1u - i];
}

int pxt_handle_add(const struct pxt_ops *ops, void *object, trace_id_t *trid)
{
	for (struct chunk *chunk = chunks(); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
		for (uint32_t i = 0, count = usable(chunk, ops); i < count; i++) {
			struct cell *cell = candidate(chunk, ops, i);
			uint32_t state;

			if (!claim(cell, &state))
				continue;
			/* Release: a finder that sees one of these sees the claim, and gives up. */
			atomic_store_explicit(&cell->ops, ops, memory_order_release);
			atomic_store_explicit(&cell->object, object, memory_order_release);
			state = (state & ~STATE_MASK) | STATE_LIVE;
			*trid = make_id(chunk->first + (uint32_t)(cell - chunk->cells), state);
			/* From here on find() sees ops and object. */
			atomic_store_explicit(&cell->state, state, memory_order_release);
			return 0;
		}
	}
	return ENOMEM;
}

/* An identifier has the generation of its cell: one of a stream that is gone is refused. */
static bool lives(uint32_t state, trace_id_t trid)
{
	const uint32_t generation = (uint32_t)(trid >> 16) * GENERATION_STEP;

	return (state & (GENERATION_MASK * GENERATION_STEP | STATE_MASK)) ==
	       (generation | STATE_LIVE);
}

void *pxt_handle_find(trace_id_t trid, const struct pxt_ops **ops)
{
	struct cell *cell = cell_of(trid);
	uint32_t state;
	void *object;

	if (!cell)
		return NULL;
	state = atomic_load_explicit(&cell->state, memory_order_acquire);
	if (!lives(state, trid))
		return NULL;
	/*
	 * The cell may be given to another thread between these loads.  Acquire keeps the second
	 * look at the state after them, and the state then has changed.
	 */
	*ops = atomic_load_explicit(&cell->ops, memory_order_acquire);
	object = atomic_load_explicit(&cell->object, memory_order_acquire);
	if (atomic_load_explicit(&cell->state, memory_order_relaxed) != state)
		return NULL;
	return object;
}

void *pxt_handle_find_kind(trace_id_t trid, const void *kind)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	return object && ops->kind == kind ? object : NULL;
}

void pxt_handle_remove(trace_id_t trid)
{
	struct cell *cell = cell_of(trid);
	uint32_t state;

	if (!cell)
		return;
	state = atomic_load_explicit(&cell->state, memory_order_relaxed);
	if (!lives(state, trid))
		return;
	/* An exchange, so that of two removers one at most frees the cell, and only this use of it. */
	(void)atomic_compare_exchange_strong_explicit(&cell->state, &state,
	    (state & ~STATE_MASK) | STATE_FREE, memory_order_release, memory_order_relaxed);
}

int pxt_handle_grow(void *memory, size_t bytes)
{
	struct chunk *chunk = memory;
	struct chunk *last = chunks();
	size_t count = bytes < sizeof(*chunk) ? 0 : (bytes - sizeof(*chunk)) / sizeof(struct cell);

	if (!last || count == 0)
		return ENOMEM;
	chunk->cells = (struct cell *)(void *)(chunk + 1);
	for (;;) {
		struct chunk *next = NULL;

		chunk->first = last->first + last->count;
		if (chunk->first >= CELLS_MAX)
			return ENOMEM;
		chunk->count =
		    (uint32_t)(count < CELLS_MAX - chunk->first ? count : CELLS_MAX - chunk->first);
		/* Release: a thread that finds the chunk finds it filled in. */
		if (atomic_compare_exchange_strong_explicit(
		        &last->next, &next, chunk, memory_order_release, memory_order_acquire))
			return 0;
		last = next;
	}
}

/* By exchange: other threads of the child may be making identifiers of their own. */
static void forget(struct cell *cell, const void *kind)
{
	uint32_t state = atomic_load_explicit(&cell->state, memory_order_acquire);

	if ((state & STATE_MASK) == STATE_LIVE &&
	    atomic_load_explicit(&cell->ops, memory_order_relaxed)->kind == kind)
		(void)atomic_compare_exchange_strong_explicit(&cell->state, &state,
		    (state & ~STATE_MASK) | STATE_FREE, memory_order_relaxed, memory_order_relaxed);
}

void pxt_handle_forget_kind(const void *kind)
{
	for (struct chunk *chunk = chunks(); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
		for (uint32_t i = 0; i < chunk->count; i++)
			forget(&chunk->cells[i], kind);
	}
}

/* No thread finishes them here: the thread that had begun is not in this process. */
static void forget_claim(struct cell *cell)
{
	uint32_t state = atomic_load_explicit(&cell->state, memory_order_relaxed);

	if ((state & STATE_MASK) == STATE_CLAIMED)
		atomic_store_explicit(
		    &cell->state, (state & ~STATE_MASK) | STATE_FREE, memory_order_relaxed);
}

void pxt_handle_forget_claims(void)
{
	for (struct chunk *chunk = chunks(); chunk;
	     chunk = atomic_load_explicit(&chunk->next, memory_order_relaxed)) {
		for (uint32_t i = 0; i < chunk->count; i++)
			forget_claim(&chunk->cells[i]);
	}
}

/* ---- Questions about attributes, status, clock, event types and descriptions ---- */

/*
 * The arguments are checked here; a stream answers in core/control/status.c, a log in
 * logretrieval/open.c.
 */

PXT_API int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct _pxt_attr own;
	int error = PXT_HANDLE_ASK(trid, pxt_arg_given(attr), ops->get_attr(object, &own));

	if (error)
		return error;
	memset(attr, 0, sizeof(*attr));
	attr->_pxt_kept = own;
	return 0;
}

PXT_API int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	return PXT_HANDLE_ASK(trid, pxt_arg_given(statusinfo), ops->get_status(object, statusinfo));
}

PXT_API int posix_trace_getclock_np(
    trace_id_t trid, struct posix_trace_clock_np *clock, size_t bytes)
{
	struct posix_trace_clock_np own;
	int error = PXT_HANDLE_ASK(trid, pxt_arg_given(clock), ops->get_clock(object, &own));

	if (!error)
		pxt_give(clock, bytes, &own, sizeof(own));
	return error;
}

PXT_API int posix_trace_eventid_getformat_np(
    trace_id_t trid, trace_event_id_t event_id, char *format, size_t room)
{
	char whole[POSIX_TRACE_FORMAT_MAX_NP + 1];
	const char *end;
	int error =
	    PXT_HANDLE_ASK(trid, pxt_arg_given(format), ops->type_format(object, event_id, whole));

	if (error)
		return error;
	/* A board has no strlen(). */
	end = memchr(whole, '\0', sizeof(whole));
	if (!end || (size_t)(end - whole) >= room)
		return ERANGE;
	memcpy(format, whole, (size_t)(end - whole) + 1);
	return 0;
}

/* ---- Names of event types, and the list of them ---- */

/* Plain comparison: identifiers of one stream are numbers of one list (DEC-31). */
PXT_API int posix_trace_eventid_equal(
    PXT_UNUSED trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2)
{
	return event1 == event2;
}

PXT_API int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name)
{
	return PXT_HANDLE_ASK(
	    trid, pxt_arg_given(event_name), ops->type_name(object, event, event_name));
}
PXT_PLAIN_NAME(posix_trace_eventid_get_name, _PXT_NAMES_NAME);

/*
 * The next type of the list.  How far the stream or the log has been asked is kept there: core/control/status.c,
 * logretrieval/open.c.
 */
PXT_API int posix_trace_eventtypelist_getnext_id(
    trace_id_t trid, trace_event_id_t *restrict event, int *restrict unavailable)
{
	trace_event_id_t next = 0;
	int error = PXT_HANDLE_ASK(trid, pxt_arg_given(event) && pxt_arg_given(unavailable),
	    ops->type_next(object, &next));

	if (error)
		return error;
	*unavailable = next == 0;
	if (next != 0)
		*event = next;
	return 0;
}

PXT_API int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	return PXT_HANDLE_ASK(trid, true, ops->type_rewind(object));
}
