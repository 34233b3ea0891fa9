/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - call frame information, as the section .eh_frame of a binary has it: how a function at a place is left
 * again.  So who called it is found without frame pointers, which programs mostly do not keep.
 *
 * What it reads may be anything: of the information nothing is read beyond the ends that are given, of a stack
 * nothing but what is given, and of a thread's own one nothing but what is mapped: code that changes the stack itself
 * may have information that is not true of it.  What is not understood ends the walk: of what is computed, all but a
 * register and a number, which is what compilers write for a stack that they align, and C libraries for a signal's
 * frame.
 *
 * Used by trace points and wrappers, in the program itself, and by pxtrace run.
 */
#ifndef PXT_CFI_H
#define PXT_CFI_H

#include "format/compiler.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Its numbers for registers; those further on a call does not leave alone, or they lead nowhere. */
#if defined(__x86_64__)
#define PXT_CFI_FRAME   6u
#define PXT_CFI_STACK   7u
#define PXT_CFI_RETURN  16u
#define PXT_CFI_COLUMNS 17u
#define PXT_CFI_KNOWN   1
#elif defined(__aarch64__)
#define PXT_CFI_FRAME   29u
#define PXT_CFI_STACK   31u
#define PXT_CFI_RETURN  30u
#define PXT_CFI_COLUMNS 32u
#define PXT_CFI_KNOWN   1
#elif defined(__i386__)
#define PXT_CFI_FRAME   5u
#define PXT_CFI_STACK   4u
#define PXT_CFI_RETURN  8u
#define PXT_CFI_COLUMNS 9u
#define PXT_CFI_KNOWN   1
#else
#define PXT_CFI_FRAME   0u
#define PXT_CFI_STACK   1u
#define PXT_CFI_RETURN  2u
#define PXT_CFI_COLUMNS 3u
#define PXT_CFI_KNOWN   0
#endif
#define PXT_CFI_NESTED 4u
#define PXT_CFI_WINDOW (8ul << 20) /* that are looked at of a thread's own stack */
#define PXT_CFI_PAGE   4096u       /* the smallest there are */

#define PXT_CFI_INLINE static inline __attribute__((unused))

/* Bytes at @at, which the program has at @address. */
struct pxt_cfi_bytes {
	const unsigned char *at;
	const unsigned char *end;
	uint64_t address;
	bool short_of; /* more was read than there is */
};

PXT_CFI_INLINE uint64_t pxt_cfi_number(struct pxt_cfi_bytes *from, unsigned bytes, bool is_signed)
{
	uint64_t value = 0;

	if ((size_t)(from->end - from->at) < bytes) {
		from->short_of = true;
		from->at = from->end;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)from->at[i] << 8 * i;
	if (is_signed && bytes < 8 && value >> (8 * bytes - 1) & 1)
		value |= UINT64_MAX << 8 * bytes;
	from->at += bytes;
	from->address += bytes;
	return value;
}

PXT_CFI_INLINE uint64_t pxt_cfi_leb(struct pxt_cfi_bytes *from, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint64_t byte;

	do {
		byte = pxt_cfi_number(from, 1, false);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !from->short_of);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return value;
}

/* A pointer; of one that is relative to anything but itself nothing is known. */
PXT_CFI_INLINE uint64_t pxt_cfi_pointer(struct pxt_cfi_bytes *from, unsigned encoding)
{
	static const unsigned char sizes[16] = {
		[0] = sizeof(uintptr_t), [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8
	};
	uint64_t here = from->address;
	unsigned bytes = sizes[encoding & 15];

	if (bytes == 0 || encoding >> 4 > 1)
		from->short_of = true;
	return pxt_cfi_number(from, bytes, (encoding & 8) != 0) + (encoding >> 4 == 1 ? here : 0);
}

/* One function's. */
struct pxt_cfi_function {
	struct pxt_cfi_bytes first; /* instructions that all functions of its kind have */
	struct pxt_cfi_bytes own;
	uint64_t low;
	uint64_t bytes;
	uint64_t code_step;
	int64_t data_step;
	uint64_t return_column;
	unsigned encoding;
	bool has_data;
	bool is_signal; /* it was not called: a signal came, before the instruction that is told */
};

PXT_CFI_INLINE bool pxt_cfi_read_kind(struct pxt_cfi_function *function, struct pxt_cfi_bytes from)
{
	const char *letters = (const char *)from.at + 1;
	struct pxt_cfi_bytes data;
	unsigned version = (unsigned)pxt_cfi_number(&from, 1, false);

	while (pxt_cfi_number(&from, 1, false) != 0)
		continue;
	function->code_step = pxt_cfi_leb(&from, false);
	function->data_step = (int64_t)pxt_cfi_leb(&from, true);
	function->return_column =
	    version == 1 ? pxt_cfi_number(&from, 1, false) : pxt_cfi_leb(&from, false);
	function->encoding = 0;
	function->is_signal = false;
	if (from.short_of || (version != 1 && version != 3))
		return false;
	function->has_data = *letters == 'z';
	data = from;
	if (function->has_data) {
		uint64_t bytes = pxt_cfi_leb(&from, false);

		data = from;
		if (bytes > (uint64_t)(from.end - from.at))
			return false;
		from.at += bytes;
		from.address += bytes;
	} else if (*letters) {
		return false;
	}
	for (letters += function->has_data; *letters; letters++) {
		if (*letters == 'R')
			function->encoding = (unsigned)pxt_cfi_number(&data, 1, false);
		else if (*letters == 'P')
			(void)pxt_cfi_pointer(
			    &data, (unsigned)pxt_cfi_number(&data, 1, false) & 0x0f);
		else if (*letters == 'L')
			(void)pxt_cfi_number(&data, 1, false);
		else if (*letters == 'S')
			function->is_signal = true;
		else if (*letters != 'B') /* with which key return addresses are signed */
			return false;
	}
	function->first = from;
	return !data.short_of;
}

/* @from: at a record; up to the end of all of them.  @begin: of all of them.  False: it is no function's. */
PXT_CFI_INLINE bool pxt_cfi_read(
    struct pxt_cfi_function *function, struct pxt_cfi_bytes from, const unsigned char *begin)
{
	uint64_t bytes = pxt_cfi_number(&from, 4, false);
	struct pxt_cfi_bytes kind = from;
	uint64_t back;

	if (bytes < 4 || bytes > (uint64_t)(from.end - from.at))
		return false;
	from.end = from.at + bytes;
	back = pxt_cfi_number(&from, 4, false);
	if (back == 0 || back > (uint64_t)((uintptr_t)kind.at - (uintptr_t)begin))
		return false;
	kind.at -= back;
	kind.address -= back;
	bytes = pxt_cfi_number(&kind, 4, false);
	if (bytes < 4 || bytes > (uint64_t)(kind.end - kind.at))
		return false;
	kind.end = kind.at + bytes;
	if (pxt_cfi_number(&kind, 4, false) != 0 || !pxt_cfi_read_kind(function, kind))
		return false;
	function->low = pxt_cfi_pointer(&from, function->encoding);
	function->bytes = pxt_cfi_pointer(&from, function->encoding & 0x0f);
	if (function->has_data) {
		bytes = pxt_cfi_leb(&from, false);
		if (bytes > (uint64_t)(from.end - from.at))
			return false;
		from.at += bytes;
	}
	function->own = from;
	return !from.short_of;
}

/*
 * A binary's table of functions, in the only form that linkers make: this head, which ends with their number, and a
 * pair of 32 bits for each, in their order: where it begins and where its record is, both from the head on.
 */
#define PXT_CFI_TABLE_HEAD 12u
#define PXT_CFI_TABLE_PAIR 8u

/* False: it has another form. */
PXT_CFI_INLINE bool pxt_cfi_table(const unsigned char head[PXT_CFI_TABLE_HEAD], uint32_t *count)
{
	static const unsigned char usual[] = { 1, 0x1b, 0x03, 0x3b };

	memcpy(count, head + 8, sizeof *count);
	return memcmp(head, usual, sizeof usual) == 0;
}

/* Where the record of the function is that begins last before @at.  False: none does. */
PXT_CFI_INLINE bool pxt_cfi_table_find(
    const unsigned char *pairs, uint32_t count, int64_t at, int32_t *record)
{
	uint32_t low = 0;
	uint32_t high = count;

	/* Bound: half of them each round. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int32_t begin;

		memcpy(&begin, pairs + (size_t)middle * PXT_CFI_TABLE_PAIR, sizeof begin);
		if (begin > at)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return false;
	memcpy(record, pairs + (size_t)low * PXT_CFI_TABLE_PAIR - sizeof *record, sizeof *record);
	return true;
}

/* Where the caller's registers are: at so many bytes from the frame's end, or ... */
#define PXT_CFI_SAME  INT32_MIN       /* ... unchanged, or ... */
#define PXT_CFI_OTHER (INT32_MIN + 1) /* ... elsewhere, or nowhere */
struct pxt_cfi_row {
	/* The frame's end is this register and @offset; PXT_CFI_COLUMNS: not known. */
	uint64_t column;
	int64_t offset;
	bool is_kept; /* ... or lies there */
	int32_t at[PXT_CFI_COLUMNS];
	uint32_t from_base; /* bit by bit: at so many bytes from what this register has, instead */
	uint64_t base;
	bool is_signed; /* the return address */
};

struct pxt_cfi_rows {
	struct pxt_cfi_row now;
	struct pxt_cfi_row first;
	struct pxt_cfi_row kept[PXT_CFI_NESTED];
	unsigned nested;
	uint64_t place;
};

/* What is kept of rows stays as it is: a thousand bytes in all. */
PXT_CFI_INLINE void pxt_cfi_begin(struct pxt_cfi_rows *rows)
{
	rows->nested = 0;
	rows->place = 0;
	rows->now = (struct pxt_cfi_row){ .column = PXT_CFI_COLUMNS };
	for (unsigned i = 0; i < PXT_CFI_COLUMNS; i++)
		rows->now.at[i] = PXT_CFI_SAME;
}

PXT_CFI_INLINE void pxt_cfi_set(struct pxt_cfi_rows *rows, uint64_t column, int64_t at)
{
	if (column >= PXT_CFI_COLUMNS)
		return;
	rows->now.at[column] = (at > PXT_CFI_OTHER && at <= INT32_MAX) || at == PXT_CFI_SAME
	                           ? (int32_t)at
	                           : PXT_CFI_OTHER;
	rows->now.from_base &= ~(UINT32_C(1) << column);
}

/* As all functions of its kind have it. */
PXT_CFI_INLINE void pxt_cfi_restore(struct pxt_cfi_rows *rows, uint64_t column)
{
	if (column >= PXT_CFI_COLUMNS)
		return;
	pxt_cfi_set(rows, column, rows->first.at[column]);
	rows->now.from_base |= rows->first.from_base & UINT32_C(1) << column;
}

/* An offset in steps, whatever the two numbers are. */
PXT_CFI_INLINE int64_t pxt_cfi_steps(const struct pxt_cfi_function *function, uint64_t steps)
{
	return (int64_t)(steps * (uint64_t)function->data_step);
}

/* What is computed as @column and @offset, or lies there.  False: it is computed in another way. */
PXT_CFI_INLINE bool pxt_cfi_expression(
    struct pxt_cfi_bytes *from, uint64_t *column, int64_t *offset, bool *is_kept)
{
	uint64_t bytes = pxt_cfi_leb(from, false);
	struct pxt_cfi_bytes own = *from;

	if (bytes > (uint64_t)(from->end - from->at)) {
		from->short_of = true;
		return false;
	}
	from->at += bytes;
	own.end = from->at;
	*column = pxt_cfi_number(&own, 1, false) - 0x70; /* breg0 */
	*offset = (int64_t)pxt_cfi_leb(&own, true);
	*is_kept = own.at < own.end && *own.at == 0x06; /* deref */
	return !own.short_of && *column < PXT_CFI_COLUMNS && own.at + *is_kept == own.end;
}

/* Where the frame ends.  False: it is another instruction. */
PXT_CFI_INLINE bool pxt_cfi_do_end(const struct pxt_cfi_function *function, struct pxt_cfi_row *now,
    struct pxt_cfi_bytes *from, unsigned code)
{
	switch (code) {
	case 0x0c: /* def_cfa */
		now->is_kept = false;
		now->column = pxt_cfi_leb(from, false);
		now->offset = (int64_t)pxt_cfi_leb(from, false);
		return true;
	case 0x0d: /* def_cfa_register */
		now->column = pxt_cfi_leb(from, false);
		return true;
	case 0x0e: /* def_cfa_offset */
		now->offset = (int64_t)pxt_cfi_leb(from, false);
		return true;
	case 0x0f: /* def_cfa_expression */
		if (!pxt_cfi_expression(from, &now->column, &now->offset, &now->is_kept))
			now->column = PXT_CFI_COLUMNS;
		return true;
	case 0x12: /* def_cfa_sf */
		now->is_kept = false;
		now->column = pxt_cfi_leb(from, false);
		now->offset = pxt_cfi_steps(function, pxt_cfi_leb(from, true));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		now->offset = pxt_cfi_steps(function, pxt_cfi_leb(from, true));
		return true;
	default:
		return false;
	}
}

/* A register that is, with @lies, where an expression says: of one row all count from one register. */
PXT_CFI_INLINE void pxt_cfi_do_expression(
    struct pxt_cfi_rows *rows, struct pxt_cfi_bytes *from, bool lies)
{
	struct pxt_cfi_row *now = &rows->now;
	uint64_t column = pxt_cfi_leb(from, false);
	uint64_t base;
	int64_t at;
	bool is_kept;
	bool known = pxt_cfi_expression(from, &base, &at, &is_kept) && lies && !is_kept &&
	             (now->from_base == 0 || now->base == base);

	pxt_cfi_set(rows, column, known ? at : PXT_CFI_OTHER);
	if (!known || column >= PXT_CFI_COLUMNS)
		return;
	now->base = base;
	now->from_base |= UINT32_C(1) << column;
}

/* Where a register is.  False: it is another instruction. */
PXT_CFI_INLINE bool pxt_cfi_do_register(const struct pxt_cfi_function *function,
    struct pxt_cfi_rows *rows, struct pxt_cfi_bytes *from, unsigned code)
{
	uint64_t column;

	switch (code) {
	case 0x05: /* offset_extended, and its _sf */
	case 0x11:
		column = pxt_cfi_leb(from, false);
		pxt_cfi_set(rows, column, pxt_cfi_steps(function, pxt_cfi_leb(from, code == 0x11)));
		return true;
	case 0x06: /* restore_extended */
		pxt_cfi_restore(rows, pxt_cfi_leb(from, false));
		return true;
	case 0x07: /* undefined */
		pxt_cfi_set(rows, pxt_cfi_leb(from, false), PXT_CFI_OTHER);
		return true;
	case 0x08: /* same_value */
		pxt_cfi_set(rows, pxt_cfi_leb(from, false), PXT_CFI_SAME);
		return true;
	case 0x10: /* expression, val_expression */
	case 0x16:
		pxt_cfi_do_expression(rows, from, code == 0x10);
		return true;
	default:
		return false;
	}
}

/* Those with a number of their own.  False: it is not understood. */
PXT_CFI_INLINE bool pxt_cfi_do_other(const struct pxt_cfi_function *function,
    struct pxt_cfi_rows *rows, struct pxt_cfi_bytes *from, unsigned code)
{
	switch (code) {
	case 0x00: /* nop */
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		rows->place += pxt_cfi_number(from, 1u << (code - 2), false) * function->code_step;
		return true;
	case 0x0a: /* remember_state */
		if (rows->nested == PXT_CFI_NESTED)
			return false;
		rows->kept[rows->nested++] = rows->now;
		return true;
	case 0x0b: /* restore_state */
		if (rows->nested == 0)
			return false;
		rows->now = rows->kept[--rows->nested];
		return true;
	case 0x2d: /* AARCH64_negate_ra_state */
		rows->now.is_signed = !rows->now.is_signed;
		return true;
	case 0x2e: /* GNU_args_size */
		(void)pxt_cfi_leb(from, false);
		return true;
	default:
		return pxt_cfi_do_end(function, &rows->now, from, code) ||
		       pxt_cfi_do_register(function, rows, from, code);
	}
}

/* Up to @place. */
PXT_CFI_INLINE bool pxt_cfi_do(const struct pxt_cfi_function *function, struct pxt_cfi_rows *rows,
    struct pxt_cfi_bytes from, uint64_t place)
{
	while (from.at < from.end && rows->place <= place) {
		unsigned code = (unsigned)pxt_cfi_number(&from, 1, false);
		uint64_t low = code & 0x3f;

		if (code >> 6 == 1) /* advance_loc */
			rows->place += low * function->code_step;
		else if (code >> 6 == 2) /* offset */
			pxt_cfi_set(rows, low, pxt_cfi_steps(function, pxt_cfi_leb(&from, false)));
		else if (code >> 6 == 3) /* restore */
			pxt_cfi_restore(rows, low);
		else if (code >> 6 == 0 && !pxt_cfi_do_other(function, rows, &from, code))
			return false;
	}
	return !from.short_of;
}

/* A thread's registers, as far as they are known, and its stack from @low on. */
struct pxt_cfi_state {
	uint64_t place;
	uint64_t value[PXT_CFI_COLUMNS];
	uint32_t known; /* bit by bit */
	const unsigned char *stack;
	uint64_t low;
	size_t bytes;
	uint64_t page; /* of a thread's own stack, that is known to be mapped; 0: all of it is */
	bool quiet;    /* no system call is made */
	bool by_frame; /* where a function has no record, by frame pointers */
	bool exact;    /* @place is no place behind a call: a signal came there */
};

/* Where <sys/syscall.h> and <unistd.h> were included before. */
#if PXT_CFI_KNOWN && defined(SYS_rt_sigprocmask)
/*
 * The kernel reads a set of signals from there, and refuses it, as nothing is to be done with it.  So no page that is
 * not mapped, or is mapped against reading, is read here.
 */
PXT_CFI_INLINE bool pxt_cfi_is_mapped(struct pxt_cfi_state *state, uint64_t at)
{
	uint64_t page = at / PXT_CFI_PAGE;
	int saved = errno;
	bool there = page == state->page && at % PXT_CFI_PAGE <= PXT_CFI_PAGE - sizeof(uintptr_t);

	if (!there && !state->quiet) {
		there = syscall(SYS_rt_sigprocmask, -1, (uintptr_t)at, NULL, sizeof at) != 0 &&
		        errno == EINVAL;
		errno = saved;
	}
	if (there)
		state->page = page;
	return there;
}
#else
PXT_CFI_INLINE bool pxt_cfi_is_mapped(struct pxt_cfi_state *state, uint64_t at)
{
	(void)state, (void)at;
	return false;
}
#endif

PXT_CFI_INLINE bool pxt_cfi_load(struct pxt_cfi_state *state, uint64_t at, uint64_t *value)
{
	uintptr_t word;

	if (at < state->low || at - state->low > state->bytes ||
	    state->bytes - (at - state->low) < sizeof word ||
	    (state->page && !pxt_cfi_is_mapped(state, at)))
		return false;
	memcpy(&word, state->stack + (at - state->low), sizeof word);
	*value = word;
	return true;
}

/* Without the signature that a program of this machine may put into a return address (aarch64: PAC). */
PXT_CFI_INLINE uint64_t pxt_cfi_unsigned(uint64_t address)
{
#if defined(__aarch64__)
	register uint64_t link __asm__("x30") = address;

	__asm__("hint 7" : "+r"(link)); /* xpaclri; before Armv8.3 it does nothing */
	return link;
#else
	return address;
#endif
}

/* The registers of the caller, whose frame begins at @end, as far as they are known. */
PXT_CFI_INLINE void pxt_cfi_load_all(
    struct pxt_cfi_state *state, const struct pxt_cfi_row *row, uint64_t end)
{
	const struct pxt_cfi_state own = *state;

	state->known = 0;
	for (unsigned i = 0; i < PXT_CFI_COLUMNS; i++) {
		bool by_base = row->from_base >> i & 1;
		uint64_t from = by_base ? own.value[row->base] : end;
		bool has = row->at[i] == PXT_CFI_SAME
		               ? own.known >> i & 1
		               : row->at[i] != PXT_CFI_OTHER &&
		                     (!by_base || own.known >> row->base & 1) &&
		                     pxt_cfi_load(state, from + (uint64_t)(int64_t)row->at[i],
		                         &state->value[i]);

		state->known |= (uint32_t)has << i;
	}
}

/* The frame ends at @end.  False: that is below it, or the place is none. */
PXT_CFI_INLINE bool pxt_cfi_leave(
    struct pxt_cfi_state *state, uint64_t low, uint64_t end, bool is_signal)
{
	/* A handler may have a stack of its own, and return to another one. */
	if (is_signal && state->page && end - state->low >= state->bytes) {
		state->low = end;
		state->stack = (const unsigned char *)(uintptr_t)end;
		state->page = UINT64_MAX;
	}
	state->value[PXT_CFI_STACK] = end;
	state->known |= UINT32_C(1) << PXT_CFI_STACK;
	state->exact = is_signal;
	return (end >= low || is_signal) && state->place != 0;
}

/* Goes to the caller.  @place: within the function, as linked.  False: who called is not known, and the walk is over. */
PXT_CFI_INLINE bool pxt_cfi_step(
    const struct pxt_cfi_function *function, uint64_t place, struct pxt_cfi_state *state)
{
	uint64_t low = state->value[PXT_CFI_STACK];
	struct pxt_cfi_rows rows;
	uint64_t end;

	pxt_cfi_begin(&rows);
	if (!pxt_cfi_do(function, &rows, function->first, UINT64_MAX))
		return false;
	rows.first = rows.now;
	rows.place = function->low;
	if (!pxt_cfi_do(function, &rows, function->own, place) ||
	    rows.now.column >= PXT_CFI_COLUMNS || function->return_column >= PXT_CFI_COLUMNS ||
	    !(state->known >> rows.now.column & 1))
		return false;
	end = state->value[rows.now.column] + (uint64_t)rows.now.offset;
	if (rows.now.is_kept && !pxt_cfi_load(state, end, &end))
		return false;
	pxt_cfi_load_all(state, &rows.now, end);
	if (!(state->known >> function->return_column & 1))
		return false;
	state->place = state->value[function->return_column];
	if (rows.now.is_signed)
		state->place = pxt_cfi_unsigned(state->place);
	/* That was this call's; the caller was called as well. */
	if (!function->is_signal)
		state->known &= ~(UINT32_C(1) << function->return_column);
	return pxt_cfi_leave(state, low, end, function->is_signal);
}

/* The same by the frame pointer, beside whose value for the caller is the place to return to. */
PXT_CFI_INLINE bool pxt_cfi_step_frame(struct pxt_cfi_state *state)
{
	uint64_t low = state->value[PXT_CFI_STACK];
	uint64_t frame = state->value[PXT_CFI_FRAME];

	if (!(state->known >> PXT_CFI_FRAME & 1) || frame % sizeof(uintptr_t) != 0 ||
	    !pxt_cfi_load(state, frame, &state->value[PXT_CFI_FRAME]) ||
	    !pxt_cfi_load(state, frame + sizeof(uintptr_t), &state->place))
		return false;
	state->place = pxt_cfi_unsigned(state->place);
	state->known = UINT32_C(1) << PXT_CFI_FRAME;
	return pxt_cfi_leave(state, low, frame + 2 * sizeof(uintptr_t), false);
}

#if PXT_CFI_KNOWN
/*
 * The registers that a call leaves alone, of the function that asks, the place, and the stack from there on.
 * @main_top: what the kernel put above main()'s frames; all is mapped up to there.
 */
static inline __attribute__((always_inline, unused)) void pxt_cfi_here(
    struct pxt_cfi_state *state, uint64_t main_top)
{
#if defined(__x86_64__)
	static const unsigned char columns[] = { 3, 6, 7, 12, 13, 14, 15 };
	uint64_t value[sizeof columns];

	__asm__ volatile("movq %%rbx, 0(%1)\n\tmovq %%rbp, 8(%1)\n\tmovq %%rsp, 16(%1)\n\t"
	                 "movq %%r12, 24(%1)\n\tmovq %%r13, 32(%1)\n\tmovq %%r14, 40(%1)\n\t"
	                 "movq %%r15, 48(%1)\n\tleaq 0f(%%rip), %0\n0:"
	                 : "=&r"(state->place)
	                 : "r"(value)
	                 : "memory");
#elif defined(__i386__)
	static const unsigned char columns[] = { 3, 5, 4, 6, 7 };
	uintptr_t value[sizeof columns];
	uintptr_t place;

	__asm__ volatile("movl %%ebx, 0(%1)\n\tmovl %%ebp, 4(%1)\n\tmovl %%esp, 8(%1)\n\t"
	                 "movl %%esi, 12(%1)\n\tmovl %%edi, 16(%1)\n\tcall 0f\n0:\tpopl %0"
	                 : "=&r"(place)
	                 : "r"(value)
	                 : "memory");
	state->place = place;
#else
	static const unsigned char columns[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31 };
	uint64_t value[sizeof columns];

	__asm__ volatile(
	    "stp x19, x20, [%1]\n\tstp x21, x22, [%1, 16]\n\tstp x23, x24, [%1, 32]\n\t"
	    "stp x25, x26, [%1, 48]\n\tstp x27, x28, [%1, 64]\n\tmov %0, sp\n\t"
	    "stp x29, %0, [%1, 80]\n\tadr %0, 0f\n0:"
	    : "=&r"(state->place)
	    : "r"(value)
	    : "memory");
#endif
	for (unsigned i = 0; i < sizeof columns; i++) {
		state->value[columns[i]] = value[i];
		state->known |= UINT32_C(1) << columns[i];
	}
	state->low = state->value[PXT_CFI_STACK];
	state->stack = (const unsigned char *)(uintptr_t)state->low;
	state->bytes = PXT_CFI_WINDOW;
	if (main_top - state->low >= PXT_CFI_WINDOW)
		state->page = state->low / PXT_CFI_PAGE;
	else
		state->bytes = (size_t)(main_top - state->low);
}

/* Of a function in this process, and the memory that it lies in. */
struct pxt_cfi_record {
	const unsigned char *begin;
	const unsigned char *at;
	const unsigned char *end;
};

/* Since glibc 2.35, where _GNU_SOURCE was defined and <dlfcn.h> included before. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
/*
 * The last record of a function that begins before @at, as its binary's table says.  False: none, or the table leads out
 * of the binary.  Takes no lock, and loads no library for it.
 */
PXT_CFI_INLINE bool pxt_cfi_own(void *at, struct pxt_cfi_record *record)
{
	struct dl_find_object object;
	const unsigned char *head;
	uint32_t count;
	int32_t offset;

	if (_dl_find_object(at, &object) != 0)
		return false;
	head = object.dlfo_eh_frame;
	record->begin = object.dlfo_map_start;
	record->end = object.dlfo_map_end;
	if (head < record->begin || head >= record->end ||
	    (size_t)(record->end - head) < PXT_CFI_TABLE_HEAD || !pxt_cfi_table(head, &count) ||
	    count > ((size_t)(record->end - head) - PXT_CFI_TABLE_HEAD) / PXT_CFI_TABLE_PAIR ||
	    !pxt_cfi_table_find(head + PXT_CFI_TABLE_HEAD, count,
	        (int64_t)(uintptr_t)at - (int64_t)(uintptr_t)head, &offset) ||
	    offset < record->begin - head || offset >= record->end - head)
		return false;
	record->at = head + offset;
	return true;
}
#endif

/* Goes from a place in this process to the caller, by @record; NULL: there is none. */
PXT_CFI_INLINE bool pxt_cfi_up(const struct pxt_cfi_record *record, struct pxt_cfi_state *state)
{
	struct pxt_cfi_function function;
	uint64_t place = state->place - !state->exact;

	if (record) {
		struct pxt_cfi_bytes from = { record->at, record->end,
			(uint64_t)(uintptr_t)record->at, false };

		if (pxt_cfi_read(&function, from, record->begin) &&
		    place - function.low < function.bytes)
			return pxt_cfi_step(&function, place, state);
	}
	return state->by_frame && pxt_cfi_step_frame(state);
}

/*
 * The functions that called what called at @caller, innermost first: @most of them, among the nearest @frames.
 * @find: the record of the function at a place; false: there is none.
 */
static inline __attribute__((always_inline, unused)) unsigned pxt_cfi_callers(
    struct pxt_cfi_state *state, const void *caller, uint64_t *callers, unsigned most,
    unsigned frames, bool (*find)(void *at, struct pxt_cfi_record *record))
{
	struct pxt_cfi_record record;
	unsigned count = 0;
	bool found = false;

	for (unsigned i = 0; i < frames && count < most; i++) {
		union {
			uint64_t number;
			void *at;
		} place = { state->place - !state->exact };

		if (!pxt_cfi_up(find(place.at, &record) ? &record : NULL, state))
			break;
		if (found)
			callers[count++] = state->place;
		found = found || state->place == (uint64_t)(uintptr_t)caller;
	}
	return count;
}

#endif

#endif
