/* SPDX-License-Identifier: MIT */
/*
 * steps.c - a write that is interrupted after each of its machine instructions, as by a signal
 * handler.  What the test points are too few for is found here, and the compiler's order of things
 * is tried, not the source's.
 *
 * The processor traps after every instruction of one write (the trap flag), which tells where
 * they are; then, one write after the other, a breakpoint is in the place of one of them.
 */
#define _GNU_SOURCE
#include "kit.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG  0x100
#define BREAKPOINT 0xcc
#define STEPS      4096u

/* The program's own code; what lies in the C library is not the library's business. */
extern const char __executable_start[];
extern const char etext[];

static unsigned char *steps[STEPS];
static volatile uint32_t step_count;

static struct {
	void (*run)(void *);
	unsigned char *at;
	uint32_t left; /* passes of the same place before the one that is meant */
	unsigned char old;
	bool over; /* one step without the breakpoint, then it is there again */
	volatile bool hit;
} stop;

static void note_step(unsigned char *at)
{
	if ((char *)at >= __executable_start && (char *)at < etext && step_count < STEPS)
		steps[step_count++] = at;
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (!stop.run) {
		note_step((unsigned char *)regs[REG_RIP]);
		return;
	}
	if (stop.over) {
		stop.over = false;
		*stop.at = BREAKPOINT;
		regs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	*stop.at = stop.old;
	regs[REG_RIP] = (greg_t)stop.at;
	if (stop.left--) {
		stop.over = true;
		regs[REG_EFL] |= TRAP_FLAG;
		return;
	}
	stop.hit = true;
	stop.run(NULL);
}

static void allow_breakpoints(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)__executable_start & ~(page - 1);

	PXT_EQ_FATAL(mprotect((void *)from, ((uintptr_t)etext - from + page - 1) & ~(page - 1),
	                 PROT_READ | PROT_WRITE | PROT_EXEC),
	    0);
}

/* ---- The write ---- */

static bool first_of_thread;

static void write_outer(bool trapping)
{
	const struct pxt_who self = pxt_self;
	uint32_t threads = atomic_load(&pxt_threads->count);
	unsigned char data[64];
	trace_event_id_t type = kit_type();

	kit_data(data, OUTER, ++kit_seen.sent[OUTER], action_setting->len);
	if (first_of_thread)
		memset(&pxt_self, 0, sizeof(pxt_self));
	if (sigsetjmp(kit_way_out, 1) == 0) {
		if (trapping)
			trap(true);
		posix_trace_event(type, data, action_setting->len);
		if (trapping)
			trap(false);
	}
	/* A thread that it registered as meanwhile left no trace in the table. */
	for (uint32_t i = threads + 1; i <= atomic_load(&pxt_threads->count); i++)
		atomic_store(&pxt_threads->entry[i].passes, 0u);
	atomic_store(&pxt_threads->count, threads);
	pxt_self = self;
	kit_lane(0);
}

static void look_at_the_steps(void)
{
	step_count = 0;
	stop.run = NULL;
	action_begin(action_setting);
	write_outer(true);
	action_end();
	CU_ASSERT(step_count > 30 && step_count < STEPS);
}

static void one_case(const struct action *action, uint32_t nth)
{
	/* It may have was between a look and the store after it. */
	const struct action_case what = {
		.action = action, .point = (int)nth, .inner = -1, .spoil = 1
	};

	action_begin(action_setting);
	stop.left = 0;
	for (uint32_t i = 0; i < nth; i++)
		stop.left += steps[i] == steps[nth];
	stop.run = action->run;
	stop.at = steps[nth];
	stop.old = *stop.at;
	stop.hit = false;
	*stop.at = BREAKPOINT;
	write_outer(false);
	/* Not passed this time (a loop was shorter). */
	*stop.at = stop.old;
	if (stop.hit)
		action_verdict(&what);
	action_end();
}

/* In short: each instruction meets some actions in each setting. */
static void on(const struct setting *setting)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction before;
	uint32_t by = pxt_in_full() ? 1 : 4;

	allow_breakpoints();
	PXT_EQ_FATAL(sigaction(SIGTRAP, &action, &before), 0);
	action_setting = setting;
	look_at_the_steps();
	for (size_t i = 0; i < ACTIONS; i++) {
		if (!action_fits(&actions[i], setting))
			continue;
		for (uint32_t nth = pxt_in_full() ? 0 : (uint32_t)i % by; nth < step_count;
		     nth += by)
			one_case(&actions[i], nth);
	}
	(void)sigaction(SIGTRAP, &before, NULL);
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
PXT_TEST(a_write_that_overwrites_may_be_interrupted_behind_each_instruction)
{
	on(&(const struct setting){ LOOP, 1, 1024, 4, SOME, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 1024, 30, LAPPED, 0, 0 });
	on(&(const struct setting){ LOOP, 1, 1024, 4, EDGE, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
PXT_TEST(a_write_that_fills_may_be_interrupted_behind_each_instruction)
{
	on(&(const struct setting){ FULL, 1, 1024, 4, SOME, 0, 0 });
	on(&(const struct setting){ FULL, 2, 1024, 30, FREE, 0, 0 });
}

/* SAFE-01, EVENT-07, DEC-42 */
PXT_TEST(the_first_write_of_a_thread_may_be_interrupted_behind_each_instruction)
{
	first_of_thread = true;
	on(&(const struct setting){ LOOP, 1, 1024, 4, SOME, 0, 0 });
	first_of_thread = false;
}

/* ---- The last place of the table of threads ---- */

static void register_another(void *unused)
{
	const struct pxt_who self = pxt_self;

	memset(&pxt_self, 0, sizeof(pxt_self));
	(void)pxt_threads_register();
	pxt_self = self;
}

/* As a new thread, while there is one place.  @at: where another one registers meanwhile; NULL: all are noted. */
static void take_the_last_place(unsigned char *at)
{
	const struct pxt_who self = pxt_self;
	uint32_t threads = atomic_load(&pxt_threads->count);

	memset(&pxt_self, 0, sizeof(pxt_self));
	atomic_store(&pxt_threads->count, CONFIG_PTRACE_MAX_THREADS - 2u);
	if (at) {
		stop.run = register_another;
		stop.at = at;
		stop.left = 0;
		stop.old = *at;
		*at = BREAKPOINT;
	} else {
		trap(true);
	}
	(void)pxt_threads_register();
	if (at)
		*at = stop.old;
	else
		trap(false);
	CU_ASSERT(pxt_self.index < CONFIG_PTRACE_MAX_THREADS || pxt_self.index == PXT_THREAD_EXTRA);
	CU_ASSERT(pxt_self.entry == &pxt_no_entry ||
	          pxt_self.entry == &pxt_threads->entry[pxt_self.index]);
	atomic_store(&pxt_threads->entry[CONFIG_PTRACE_MAX_THREADS - 1u].passes, 0u);
	atomic_store(&pxt_threads->count, threads);
	pxt_self = self;
}

/* EVENT-07, DEC-42: two threads have seen that there is one, and one of them gets it. */
PXT_TEST_FRESH(the_last_place_is_given_to_one_thread)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction before;

	/* There is a table from the first one on. */
	PXT_EQ_FATAL(posix_trace_thread_register_np(), 0);
	allow_breakpoints();
	PXT_EQ_FATAL(sigaction(SIGTRAP, &action, &before), 0);
	step_count = 0;
	stop.run = NULL;
	take_the_last_place(NULL);
	CU_ASSERT(step_count > 10);
	for (uint32_t nth = 0; nth < step_count; nth++)
		take_the_last_place(steps[nth]);
	(void)sigaction(SIGTRAP, &before, NULL);
}
