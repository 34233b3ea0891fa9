/* SPDX-License-Identifier: MIT */
/* start.c - vectors, reset, and the switch of tasks of a Cortex-M3. */
#include "kernel.h"

#define ICSR       (*(volatile uint32_t *)0xe000ed04)
#define SHPR3      (*(volatile uint32_t *)0xe000ed20)
#define CFSR       (*(volatile uint32_t *)0xe000ed28)
#define SYST_CSR   (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR   (*(volatile uint32_t *)0xe000e014)
#define ISER       (*(volatile uint32_t *)0xe000e100)
#define ISPR       (*(volatile uint32_t *)0xe000e200)
#define IPR        ((volatile uint8_t *)0xe000e400)
#define PENDSV     (1u << 28)
#define HZ         25000000u
#define ONCE_CTRL  (*(volatile uint32_t *)0x40001000) /* timer 1 */
#define ONCE_VALUE (*(volatile uint32_t *)0x40001004)
#define ONCE_CLEAR (*(volatile uint32_t *)0x4000100c)
/* Timer 1, and a line that nothing of this board uses. */
#define LINE       9u
#define LINE_2     30u

extern uint32_t board_data_from, board_data_end, board_bss, board_stack_end;
void board_start_counter(void);
int main(void);

void (*volatile board_interrupt[2])(void);
void (*volatile board_fault)(uint32_t pc, uint32_t cause);

static void reset(void)
{
	uint32_t *from = &board_data_from;

	for (uint32_t *to = &board_data; to < &board_data_end; to++)
		*to = *from++;
	for (uint32_t *to = &board_bss; to < &board_bss_end; to++)
		*to = 0;
	IPR[LINE] = 0x40;
	IPR[LINE_2] = 0x20; /* comes between that one's instructions */
	ISER = 1u << LINE | 1u << LINE_2;
	board_start_counter();
	board_exit(main());
}

__attribute__((used)) void board_reset(void);
void board_reset(void)
{
	reset();
}

/* @stack: what the processor saved there, r0 to r3, r12, lr, pc and psr. */
__attribute__((used)) void board_faulted(const uint32_t *stack);
void board_faulted(const uint32_t *stack)
{
	if (board_fault)
		board_fault(stack[6], CFSR);
	board_text("fault\n");
	board_exit(99);
}

__attribute__((naked)) static void fault(void)
{
	__asm__ volatile("tst lr, #4\n\t"
	                 "ite eq\n\t"
	                 "mrseq r0, msp\n\t"
	                 "mrsne r0, psp\n\t"
	                 "b board_faulted");
}

static void first_line(void)
{
	ONCE_CTRL = 0;
	ONCE_CLEAR = 1;
	board_interrupt[0]();
}

static void second_line(void)
{
	board_interrupt[1]();
}

/* The least urgent exception: the registers that the processor does not save go to the task's stack. */
__attribute__((naked)) static void pendsv(void)
{
	__asm__ volatile("mrs r0, psp\n\t"
	                 "stmdb r0!, {r4-r11}\n\t"
	                 "cpsid i\n\t"
	                 "bl kernel_switch\n\t"
	                 "cpsie i\n\t"
	                 "ldmia r0!, {r4-r11}\n\t"
	                 "msr psp, r0\n\t"
	                 "mvn lr, #2\n\t" /* 0xfffffffd: to a task, by its own stack */
	                 "bx lr");
}

__attribute__((section(".vectors"), used)) static void *const vectors[16 + 32] = { &board_stack_end,
	(void *)board_reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
	(void *)fault, [11] = (void *)fault, [14] = (void *)pendsv, [15] = (void *)kernel_tick,
	[16 + LINE] = (void *)first_line, [16 + LINE_2] = (void *)second_line };

void board_raise(unsigned which)
{
	ISPR = 1u << (which ? LINE_2 : LINE);
	__asm__ volatile("dsb\n\tisb" : : : "memory");
}

void board_raise_after(uint32_t ticks)
{
	ONCE_VALUE = ticks;
	ONCE_CTRL = 9;
}

uint32_t kernel_port_away(void)
{
	uint32_t how;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(how) : : "memory");
	return how;
}

void kernel_port_back(uint32_t how)
{
	__asm__ volatile("msr primask, %0\n\tisb" : : "r"(how) : "memory");
}

void kernel_port_ask_switch(void)
{
	ICSR = PENDSV;
	__asm__ volatile("dsb" : : : "memory");
}

uint32_t *kernel_port_stack(uint32_t *end, void (*run)(void))
{
	uint32_t *stack = (uint32_t *)((uintptr_t)end & ~(uintptr_t)7) - 16;

	/* r4 to r11; r0 to r3, r12, lr, pc, psr */
	for (unsigned i = 0; i < 16; i++)
		stack[i] = 0;
	stack[14] = (uint32_t)(uintptr_t)run & ~1u;
	stack[15] = 1u << 24;
	return stack;
}

void kernel_port_begin(void)
{
	static uint32_t nobody[16]; /* the registers of who asks first */

	__asm__ volatile("msr psp, %0" : : "r"(nobody + 16));
	SHPR3 = 0xc0ff0000u; /* the tick, and below all the switch */
	SYST_RVR = HZ / 1000 - 1;
	SYST_CSR = 7;
	kernel_port_ask_switch();
	for (;;)
		;
}

void kernel_port_idle(void)
{
	__asm__ volatile("wfi");
}
