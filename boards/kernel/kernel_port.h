/* SPDX-License-Identifier: MIT */
/* kernel_port.h - what the kernel and the programs need of a board. */
#ifndef KERNEL_PORT_H
#define KERNEL_PORT_H

#include <stdint.h>

uint32_t kernel_port_away(void); /* interrupts; returns how they were */
void kernel_port_back(uint32_t how);
/* kernel_switch() runs as soon as no interrupt does and none is kept away. */
void kernel_port_ask_switch(void);
/* A stack below @end from which a switch enters @run; @run never returns. */
uint32_t *kernel_port_stack(uint32_t *end, void (*run)(void));
/* The tick begins, and the first switch is made. */
void kernel_port_begin(void);
void kernel_port_idle(void); /* until an interrupt */

/* Ends the emulator with this status. */
void board_exit(int status);
/* The processor begins anew. */
void board_restart(void);
/* Interrupts of which the one is more urgent than the other: they run the program's functions. */
extern void (*volatile board_interrupt[2])(void);
/* Raises one; the handler has run before the next instruction, where it is not kept away. */
void board_raise(unsigned which);
/* What a program does about a fault of the processor, in its handler; NULL: a line of text, and the end. */
extern void (*volatile board_fault)(uint32_t pc, uint32_t cause);
/* Raises the first one after so many ticks of the board's counter; before that nothing else is asked for. */
void board_raise_after(uint32_t ticks);
void board_text(const char *text);
/* A byte that the line brought; -1: none. */
int board_byte(void);
/* What was initialized or zero at the beginning: all of a program's memory but the stack of main(). */
extern uint32_t board_data, board_bss_end;
/* Bytes of logs that the line took so far. */
extern uint32_t board_sent;

/* Ends a program with status 1, and tells what is not so. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			board_text("not so: " #condition "\n");                                    \
			board_exit(1);                                                             \
		}                                                                                  \
	} while (0)

#endif
