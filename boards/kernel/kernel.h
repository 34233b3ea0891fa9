/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - a small preemptive kernel: tasks with priorities, mutexes, queues and a tick.  It stands for
 * the kernel of a user's board, and shows where such a kernel calls libptrace.
 *
 * A larger priority is more urgent.  The kernel runs on one processor; what it shares is changed with
 * interrupts away.  What kernel and programs need of a
 * board is at the end.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

struct kernel_mutex;

struct kernel_task {
	uint32_t *stack; /* where its registers are saved while it does not run */
	struct kernel_task *next;
	uint32_t number;
	uint8_t base;     /* its own priority */
	uint8_t priority; /* with what it inherited */
	uint8_t state;    /* POSIX_TRACE_TASK_..._NP */
	uint32_t wake_ms; /* while it sleeps */
	const void *waits_for;
	struct posix_trace_task_np trace;
};

/* @words: of the stack, at least KERNEL_STACK_WORDS.  The task is ready at once. */
#define KERNEL_STACK_WORDS 512u
void kernel_task(struct kernel_task *task, const char *name, uint8_t priority, void (*run)(void),
    uint32_t *stack, size_t words);
/* Another task: it never runs again, wherever it stands, and its memory is the caller's. */
void kernel_delete(struct kernel_task *task);
/* Begins with the most urgent task; does not return. */
void kernel_run(void);
/* The timer's interrupt, once a millisecond. */
void kernel_tick(void);
extern volatile uint32_t kernel_ms; /* ticks so far */
void kernel_sleep_until(uint32_t ms);

struct kernel_mutex {
	struct kernel_task *owner;
	bool inherits; /* the owner runs as urgently as who waits for it */
	bool untraced;
};
/* False: somebody has it, and the caller does not @wait. */
bool kernel_lock(struct kernel_mutex *mutex, bool wait);
void kernel_unlock(struct kernel_mutex *mutex);

#define KERNEL_QUEUE_ITEMS 8u
struct kernel_queue {
	uint32_t item[KERNEL_QUEUE_ITEMS];
	uint32_t put;
	uint32_t taken;
};
/* False: it is full.  In interrupts, too. */
bool kernel_queue_put(struct kernel_queue *queue, uint32_t item);
uint32_t kernel_queue_take(struct kernel_queue *queue);

/* Called by the board's switch with interrupts away: the stack of who ran; returns that of who runs now. */
__attribute__((used)) uint32_t *kernel_switch(uint32_t *stack);

/* ---- What the kernel and the programs need of a board ---- */

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
