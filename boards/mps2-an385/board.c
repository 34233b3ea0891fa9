/* SPDX-License-Identifier: MIT */
/* board.c - what libptrace asks of an MPS2 board: counter and output; see port/bare/board.h. */
#include "port/bare/board.h"

#include "kernel.h"

#define UART_DATA    (*(volatile uint32_t *)0x40004000)
#define UART_STATE   (*(volatile uint32_t *)0x40004004)
#define UART_CTRL    (*(volatile uint32_t *)0x40004008)
#define UART_DIVIDER (*(volatile uint32_t *)0x40004010)
#define RESET_CTRL   (*(volatile uint32_t *)0xe000ed0c)
#define TIMER_CTRL   (*(volatile uint32_t *)0x40000000)
#define TIMER_VALUE  (*(volatile uint32_t *)0x40000004)
#define TIMER_RELOAD (*(volatile uint32_t *)0x40000008)

/* Timer 0 counts down through all 32 bits. */
void board_start_counter(void)
{
	TIMER_RELOAD = UINT32_MAX;
	TIMER_VALUE = UINT32_MAX;
	TIMER_CTRL = 1;
}

uint64_t pxt_board_ticks(void)
{
	static uint64_t last;
	uint64_t ticks;
	uint32_t how;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(how) : : "memory");
	ticks = last = pxt_board_widen(last, UINT32_MAX - TIMER_VALUE);
	__asm__ volatile("msr primask, %0" : : "r"(how) : "memory");
	return ticks;
}

uint64_t pxt_board_hz(void)
{
	return 25000000;
}

static int put(unsigned char byte)
{
	if (UART_STATE & 1u)
		return 0;
	UART_DATA = byte;
	return 1;
}

static void begin(void)
{
	if (!(UART_CTRL & 1u)) {
		UART_DIVIDER = 16;
		UART_CTRL = 3;
	}
}

uint32_t board_sent;

long pxt_board_output(int fd, const void *data, size_t bytes)
{
	const unsigned char *at = data;
	size_t sent = 0;

	(void)fd;
	begin();
	while (sent < bytes && put(at[sent]))
		sent++;
	board_sent += sent;
	return (long)sent;
}

void board_text(const char *text)
{
	begin();
	for (; *text; text++) {
		while (!put((unsigned char)*text))
			;
	}
}

int board_byte(void)
{
	begin();
	return UART_STATE & 2u ? (int)(UART_DATA & 0xffu) : -1;
}

/* By the debugger's call SYS_EXIT_EXTENDED. */
void board_restart(void)
{
	RESET_CTRL = 0x05fa0004;
	for (;;)
		;
}

void board_exit(int status)
{
	const uint32_t block[2] = { 0x20026, (uint32_t)status };
	register uint32_t call __asm__("r0") = 0x20;
	register const uint32_t *with __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : : "r"(call), "r"(with) : "memory");
	for (;;)
		;
}
