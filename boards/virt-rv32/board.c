/* SPDX-License-Identifier: MIT */
/* board.c - what libptrace asks of QEMU's board virt: counter and output; see port/bare/board.h. */
#include "port/bare/board.h"

#include "kernel.h"

#define UART_DATA  (*(volatile uint8_t *)0x10000000)
#define UART_STATE (*(volatile uint8_t *)0x10000005)
#define MTIME      ((volatile uint32_t *)0x0200bff8)
#define FINISH     (*(volatile uint32_t *)0x00100000)

/* Its upper half changes between two readings at most once. */
uint64_t pxt_board_ticks(void)
{
	uint32_t high, low;

	do {
		high = MTIME[1];
		low = MTIME[0];
	} while (MTIME[1] != high);
	return (uint64_t)high << 32 | low;
}

uint64_t pxt_board_hz(void)
{
	return 10000000;
}

static int put(unsigned char byte)
{
	if (!(UART_STATE & 0x20u))
		return 0;
	UART_DATA = byte;
	return 1;
}

uint32_t board_sent;

long pxt_board_output(int fd, const void *data, size_t bytes)
{
	const unsigned char *at = data;
	size_t sent = 0;

	(void)fd;
	while (sent < bytes && put(at[sent]))
		sent++;
	board_sent += sent;
	return (long)sent;
}

void board_text(const char *text)
{
	for (; *text; text++) {
		while (!put((unsigned char)*text))
			;
	}
}

int board_byte(void)
{
	return UART_STATE & 1u ? UART_DATA : -1;
}

void board_restart(void)
{
	FINISH = 0x7777u;
	for (;;)
		;
}

void board_exit(int status)
{
	FINISH = status ? (uint32_t)status << 16 | 0x3333u : 0x5555u;
	for (;;)
		;
}
