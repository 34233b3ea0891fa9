/* SPDX-License-Identifier: MIT */
/*
 * start.c - entry, traps, and the switch of tasks of a RISC-V hart of 32 bits.
 *
 * A trap saves all registers on the stack of who ran.  Two lines, which a program raises by software, run
 * with interrupts on: the second one comes between the first one's instructions.
 */
#include "kernel.h"

#define MSIP        (*(volatile uint32_t *)0x02000000)
#define MTIMECMP    ((volatile uint32_t *)0x02004000)
#define MTIME       ((volatile uint32_t *)0x0200bff8)
#define TICK        10000u /* of 10 MHz: a millisecond */
#define MIE         8u     /* of mstatus */
#define BY_SOFTWARE 0x80000003u
#define BY_TIMER    0x80000007u
#define FRAME       128u
#define FRAME_MEPC  0u
#define FRAME_MODE  1u
#define LINE        16u

extern uint32_t board_bss;
int main(void);

void (*volatile board_interrupt[2])(void);
void (*volatile board_fault)(uint32_t pc, uint32_t cause);
static volatile uint32_t raised;  /* a bit for each line */
static volatile uint32_t level;   /* traps that are inside one another */
static volatile uint32_t urgency; /* of the line that runs: 0 none */
static volatile bool switch_asked;
static uint64_t next_tick = UINT64_MAX;
static uint64_t next_once = UINT64_MAX;

static uint32_t how_it_was(void)
{
	uint32_t how;

	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(how) : : "memory");
	return how & MIE;
}

uint32_t kernel_port_away(void)
{
	return how_it_was();
}

void kernel_port_back(uint32_t how)
{
	__asm__ volatile("csrs mstatus, %0" : : "r"(how) : "memory");
}

void kernel_port_ask_switch(void)
{
	switch_asked = true;
	if (level == 0)
		MSIP = 1;
}

void board_raise(unsigned which)
{
	uint32_t how = how_it_was();

	raised |= 1u << which;
	MSIP = 1;
	kernel_port_back(how);
}

static void set_timer(void)
{
	uint64_t next = next_once < next_tick ? next_once : next_tick;

	MTIMECMP[1] = UINT32_MAX;
	MTIMECMP[0] = (uint32_t)next;
	MTIMECMP[1] = (uint32_t)(next >> 32);
}

/* Its upper half changes between two readings at most once. */
static uint64_t now(void)
{
	uint32_t high, low;

	do {
		high = MTIME[1];
		low = MTIME[0];
	} while (MTIME[1] != high);
	return (uint64_t)high << 32 | low;
}

void board_raise_after(uint32_t ticks)
{
	uint32_t how = how_it_was();

	next_once = now() + ticks;
	set_timer();
	kernel_port_back(how);
}

static void tick(void)
{
	void *interrupted = posix_trace_interrupt_begin_np(7);

	next_tick += TICK;
	kernel_tick();
	posix_trace_interrupt_end_np(interrupted);
}

static void lines(void)
{
	MSIP = 0;
	while (raised >> urgency) {
		uint32_t before = urgency;
		unsigned which = raised & 2u ? 1 : 0;
		void *interrupted = posix_trace_interrupt_begin_np(LINE + which);

		raised &= ~(1u << which);
		urgency = which + 1u;
		kernel_port_back(MIE);
		board_interrupt[which]();
		(void)how_it_was();
		urgency = before;
		posix_trace_interrupt_end_np(interrupted);
	}
}

static void timer(void)
{
	if (next_once <= now()) {
		next_once = UINT64_MAX;
		raised |= 1u;
		lines();
	}
	if (next_tick <= now())
		tick();
	set_timer();
}

__attribute__((used)) uint32_t *board_trap(uint32_t *stack, uint32_t cause);
uint32_t *board_trap(uint32_t *stack, uint32_t cause)
{
	level++;
	if (cause == BY_TIMER) {
		timer();
	} else if (cause == BY_SOFTWARE) {
		lines();
	} else {
		(void)posix_trace_interrupt_begin_np(cause);
		if (board_fault)
			board_fault(stack[FRAME_MEPC], cause);
		board_text("fault\n");
		board_exit(99);
	}
	level--;
	if (level == 0 && switch_asked) {
		switch_asked = false;
		stack = kernel_switch(stack);
	}
	return stack;
}

#define REGISTERS(op)                                                                              \
	op " ra, 8(sp)\n\t" op " t0, 12(sp)\n\t" op " t1, 16(sp)\n\t" op " t2, 20(sp)\n\t" op      \
	   " s0, 24(sp)\n\t" op " s1, 28(sp)\n\t" op " a0, 32(sp)\n\t" op " a1, 36(sp)\n\t" op     \
	   " a2, 40(sp)\n\t" op " a3, 44(sp)\n\t" op " a4, 48(sp)\n\t" op " a5, 52(sp)\n\t" op     \
	   " a6, 56(sp)\n\t" op " a7, 60(sp)\n\t" op " s2, 64(sp)\n\t" op " s3, 68(sp)\n\t" op     \
	   " s4, 72(sp)\n\t" op " s5, 76(sp)\n\t" op " s6, 80(sp)\n\t" op " s7, 84(sp)\n\t" op     \
	   " s8, 88(sp)\n\t" op " s9, 92(sp)\n\t" op " s10, 96(sp)\n\t" op " s11, 100(sp)\n\t" op  \
	   " t3, 104(sp)\n\t" op " t4, 108(sp)\n\t" op " t5, 112(sp)\n\t" op " t6, 116(sp)\n\t"

__attribute__((naked, aligned(4))) static void trap(void)
{
	__asm__ volatile("addi sp, sp, -128\n\t" REGISTERS("sw") "csrr t0, mepc\n\t"
	                                                         "sw t0, 0(sp)\n\t"
	                                                         "csrr t0, mstatus\n\t"
	                                                         "sw t0, 4(sp)\n\t"
	                                                         "mv a0, sp\n\t"
	                                                         "csrr a1, mcause\n\t"
	                                                         "call board_trap\n\t"
	                                                         "mv sp, a0\n\t"
	                                                         "lw t0, 0(sp)\n\t"
	                                                         "csrw mepc, t0\n\t"
	                                                         "lw t0, 4(sp)\n\t"
	                                                         "csrw mstatus, t0\n\t" REGISTERS(
	                                                             "lw") "addi sp, sp, 128\n\t"
	                                                                   "mret");
}

uint32_t *kernel_port_stack(uint32_t *end, void (*run)(void))
{
	uint32_t *stack = (uint32_t *)((uintptr_t)end & ~(uintptr_t)15) - FRAME / 4;

	for (unsigned i = 0; i < FRAME / 4; i++)
		stack[i] = 0;
	stack[FRAME_MEPC] = (uint32_t)(uintptr_t)run;
	stack[FRAME_MODE] = 0x1880; /* back to machine mode, with interrupts */
	return stack;
}

void kernel_port_begin(void)
{
	(void)how_it_was();
	next_tick = now() + TICK;
	set_timer();
	kernel_port_ask_switch();
	kernel_port_back(MIE);
	for (;;)
		;
}

void kernel_port_idle(void)
{
	__asm__ volatile("wfi");
}

__attribute__((used, noreturn)) void board_begin(void);
void board_begin(void)
{
	for (uint32_t *to = &board_bss; to < &board_bss_end; to++)
		*to = 0;
	set_timer();
	__asm__ volatile("csrw mtvec, %0\n\tcsrw mie, %1" : : "r"(trap), "r"(0x88));
	kernel_port_back(MIE);
	board_exit(main());
	for (;;)
		;
}

/* Of the C library, which has errno there: all tasks have the same one. */
__attribute__((used)) static uint64_t thread_storage[8];

__attribute__((naked, section(".vectors"), used)) void board_entry(void);
void board_entry(void)
{
	__asm__ volatile("la sp, board_stack_end\n\tla tp, thread_storage\n\tj board_begin");
}
