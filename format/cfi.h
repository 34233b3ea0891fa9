/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - call frame information, as the section .eh_frame of a binary has it: which record is a function's, and
 * where it says that the caller's registers are.  cfi_walk.h goes from caller to caller by it.
 *
 * What it reads may be anything: nothing is read beyond the ends that are given.  What is not understood is an error:
 * of what is computed, all but a register and a number, which is what compilers write for a stack that they align, and
 * C libraries for a signal's frame.
 */
#ifndef PXT_CFI_H
#define PXT_CFI_H

#include "format/compiler.h"

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

#endif
