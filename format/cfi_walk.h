/* SPDX-License-Identifier: MIT */
/*
 * cfi_walk.h - who called a function, and who that one, by the call frame information of their binaries (cfi.h): without
 * frame pointers, which programs mostly do not keep.
 *
 * The information need not be true of the code, as where that changes the stack itself.  So of a stack nothing is read
 * but what is given, and of a thread's own one nothing but what is mapped.  What is not understood ends the walk.
 *
 * Used by trace points and wrappers, in the program itself, and by pxtrace run.  A walk through one's own stack asks
 * the kernel, so <sys/syscall.h> and <unistd.h> have to be included before.
 */
#ifndef PXT_CFI_WALK_H
#define PXT_CFI_WALK_H

#include "format/cfi.h"

#include <errno.h>

#define PXT_CFI_WINDOW (8ul << 20) /* that are looked at of a thread's own stack */
#define PXT_CFI_PAGE   4096u       /* the smallest there are */

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

#if PXT_CFI_KNOWN && defined(DLFO_STRUCT_HAS_EH_DBASE) && !defined(SYS_rt_sigprocmask)
#error "<sys/syscall.h> is to be included before: else no stack is read"
#endif
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
