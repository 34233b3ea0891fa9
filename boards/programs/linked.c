/* SPDX-License-Identifier: MIT */
/*
 * linked.c - a worker records what it does, and a task hands what the line brings to libptrace: the host starts,
 * stops, filters and flushes (`pxtrace link`).  What is left is the console's: "end" ends the program, "reset" begins
 * it anew, and each line is an event.
 */
#include "kernel.h"

#include "port/bare/board.h"

#include <string.h>

static struct kernel_task worker, console;
static uint32_t stacks[2][KERNEL_STACK_WORDS];
static trace_id_t trid;
static trace_event_id_t turn, step, heard;

static void worker_run(void)
{
	for (uint32_t i = 0;; i++) {
		posix_trace_event(turn, &i, sizeof(i));
		posix_trace_event(step, &i, sizeof(i));
		kernel_sleep_until(kernel_ms + 1);
	}
}

/* Lines of text. */
static void hear(char byte)
{
	static char line[16];
	static unsigned used;
	static uint32_t lines;

	if (byte != '\n') {
		line[used++ % sizeof line] = byte;
		return;
	}
	line[used % sizeof line] = '\0';
	used = 0;
	lines++;
	posix_trace_event(heard, &lines, sizeof(lines));
	board_text("heard ");
	board_text(line);
	board_text("\n");
	/* A delimiter behind text: the frame that comes next is whole. */
	while (pxt_board_output(1, "", 1) != 1)
		;
	if (strcmp(line, "end") == 0) {
		MUST(posix_trace_shutdown(trid) == 0);
		board_exit(0);
	}
	if (strcmp(line, "reset") == 0)
		board_restart();
}

static void console_run(void)
{
	static struct posix_trace_linkstate_np link;

	for (;;) {
		unsigned char bytes[32];
		size_t count = 0;
		int byte;

		while (count < sizeof bytes && (byte = board_byte()) >= 0)
			bytes[count++] = (unsigned char)byte;
		count = posix_trace_link_np(trid, &link, bytes, count);
		for (size_t i = 0; i < count; i++)
			hear((char)bytes[i]);
		kernel_sleep_until(kernel_ms + 1);
	}
}

int main(void)
{
	trace_attr_t attr;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0);
	MUST(posix_trace_create_withlog(0, &attr, 1, &trid) == 0);
	MUST(posix_trace_eventid_open("turn", &turn) == 0);
	MUST(posix_trace_eventid_open("step", &step) == 0);
	MUST(posix_trace_eventid_open("heard", &heard) == 0);
	MUST(posix_trace_eventid_setformat_np(heard, "u32 number") == 0);
	kernel_task(&worker, "worker", 9, worker_run, stacks[0], KERNEL_STACK_WORDS);
	kernel_task(&console, "console", 1, console_run, stacks[1], KERNEL_STACK_WORDS);
	kernel_run();
	return 1;
}
