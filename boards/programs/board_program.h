/* SPDX-License-Identifier: MIT */
/* board_program.h - what the programs for boards have in common. */
#ifndef BOARD_PROGRAM_H
#define BOARD_PROGRAM_H

#include "kernel.h"
#include "kernel_port.h"

#include <string.h>

/* Ends the emulator with the number of the line where something is not so. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			board_text("not so: " #condition "\n");                                    \
			board_exit(1);                                                             \
		}                                                                                  \
	} while (0)

#endif
