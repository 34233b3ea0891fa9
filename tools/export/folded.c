/* SPDX-License-Identifier: MIT */
/*
 * folded.c - pxtrace export folded: a line for each stack of bars, and how long it was on top; with --stacks a line
 * for each stack of functions that an event told, and how many events did.
 *
 *	worker/4711;job;read 1204500
 *	worker/4711;main;serve;refill;refilled 12
 *
 * flamegraph.pl, speedscope and inferno read it.  The bars are those of slices.h that lie inside each other:
 * spans, functions, calls, waits.
 *
 * Bounded: PXT_FRAMES_MAX frames; what has no place counts for the stack below it, or not, which is told.
 */
#include "tools/command/command.h"
#include "tools/export/bars.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
	"pxtrace export folded - writes how long each stack of spans, functions and calls was on "
	"top\n"
	"\n"
	"usage: pxtrace export folded [OPTION]... LOG...\n"
	"\n"
	"A line for each stack: the thread and what was open, outermost first, with \";\" between\n"
	"them, and the nanoseconds for which nothing else was open inside. What is open is told\n"
	"by pairs of events, as for perfetto: job_begin and job_end, a function's enter and exit,\n"
	"calls and waits of `pxtrace run`. Time with nothing open is the thread's own line.\n"
	"flamegraph.pl, speedscope.app and inferno draw it.\n"
	"\n"
	"Pairs that overlap without being inside each other are left out. The time around a loss\n"
	"belongs to no stack: nobody knows what was open.\n"
	"\n"
	"what of them:\n"
	"      --stacks          instead: a line for each stack of functions that events tell\n"
	"                        (POSIX_TRACE_DEFINE_STACK_NP, long waits, samples), outermost\n"
	"                        first, with the event on top, and how many such events there "
	"are\n",
	PXT_EXPORT_COMMON_HELP
	"\n"
	"example: a flame graph of the jobs\n"
	"\n"
	"  $ pxtrace export folded run.ptl | flamegraph.pl --countname ns > run.svg\n"
	"\n"
	"and one of who called refill()\n"
	"\n"
	"  $ pxtrace export folded --stacks --event refilled run.ptl | flamegraph.pl > run.svg\n"
	"\n" PXT_HELP_STATUS,
	NULL,
};

#define DEEP_MAX (PXT_OPEN_DEPTH + 3u)

/* Of a thread. */
struct stack {
	uint32_t top;     /* 0: it has said nothing yet */
	uint32_t missing; /* bars above it that found no place */
	bool is_known;    /* what is on top since @ns; not after a loss, up to the next event */
	int64_t ns;
};

/* What is kept of each log. */
struct folded {
	struct pxt_bars bars;
	uint32_t process; /* where its threads' stacks begin */
	struct stack *stacks;
};

static struct pxt_frames tree;
static bool of_functions; /* --stacks */

/* ---- Stacks ---- */

/* The frame of that name, of whatever bytes, above @parent. */
static uint32_t above(uint32_t parent, const char *text, size_t bytes)
{
	size_t room = PXT_ESCAPE_GROWTH * bytes + 1;
	char *name = pxt_must(malloc(room));
	uint32_t found =
	    pxt_bars_above(&tree, parent, name, pxt_escape(text, bytes, name, room, NULL));

	free(name);
	return found;
}

static void push(struct folded *log, struct stack *stack, const struct pxt_event *event,
    const struct pxt_slice *slice)
{
	size_t bytes;
	const char *own = pxt_bars_own_name(&log->bars, slice, event);
	const char *name = pxt_slices_name(log->bars.slices, slice->pair, &bytes);
	uint32_t top = 0;

	if (stack->missing == 0)
		top = above(stack->top, own ? own : name, own ? strlen(own) : bytes);
	if (top != 0) {
		stack->top = top;
		return;
	}
	tree.missing += stack->missing > 0;
	stack->missing++;
}

static void pop(struct stack *stack)
{
	if (stack->missing > 0)
		stack->missing--;
	else
		stack->top = tree.list[stack->top].parent;
}

/* Up to @ns what was on top was. */
static void pass(struct stack *stack, int64_t ns)
{
	if (stack->is_known && ns > stack->ns)
		tree.list[stack->top].sum += (uint64_t)(ns - stack->ns);
	stack->is_known = true;
	stack->ns = ns;
}

/* ---- Events ---- */

/* Whatever is open may have ended among the lost events. */
static void forget(struct folded *log)
{
	pxt_slices_cut(log->bars.slices, NULL, NULL);
	for (uint32_t i = 0; i < PXT_THREADS_MAX; i++) {
		struct stack *stack = &log->stacks[i];

		while (stack->top != 0 && tree.list[stack->top].parent != log->process)
			stack->top = tree.list[stack->top].parent;
		stack->missing = 0;
		stack->is_known = false;
	}
}

/* With --stacks. */
static void count_functions(struct folded *log, const struct pxt_event *event)
{
	const char *label = event->thread->label;
	uint64_t callers[PXT_CALLERS_MAX];
	uint32_t top = 0;

	if (pxt_callers_of(event, callers) > 0)
		top = above(log->process, label, strlen(label));
	if (top != 0)
		top = pxt_bars_stack(&log->bars, event, &tree, top, false);
	if (top != 0)
		top = above(top, event->type->label, strlen(event->type->label));
	if (top != 0)
		tree.list[top].sum++;
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct folded *log = pxt_export_of(event->source);
	const struct pxt_thread *thread = event->thread;
	struct pxt_slice slice;
	struct stack *stack;

	if (pxt_bars_spoilt(&log->bars)) {
		pxt_bars_look(export, event, lost);
		return;
	}
	if (of_functions) {
		count_functions(log, event);
		return;
	}
	if (lost > 0)
		forget(log);
	slice = pxt_slices_take(log->bars.slices, event);
	if (thread->index == PXT_INDEX_NONE || !thread->recorded)
		return;
	stack = &log->stacks[thread->index];
	if (stack->top == 0)
		stack->top = above(log->process, thread->label, strlen(thread->label));
	if (stack->top == 0)
		return;
	pass(stack, event->ns);
	if (slice.lane == 0 && slice.bar == PXT_BAR_BEGIN)
		push(log, stack, event, &slice);
	else if (slice.lane == 0 && slice.bar == PXT_BAR_END)
		pop(stack);
}

static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	(void)export;
	(void)source;
	(void)lost;
}

/* ---- The whole ---- */

/* Of several logs each has its process below its threads. */
static uint32_t process_of(const struct pxt_export *export, const struct pxt_source *source)
{
	char name[PXT_EXPORT_PROCESS_ROOM];

	pxt_export_process(export, source, name);
	return above(0, name, strlen(name));
}

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	tree.late = true;
	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];
		struct pxt_export_log *of = source->user;
		struct folded *log = pxt_must(calloc(1, sizeof *log));

		pxt_bars_begin(&log->bars, source, of_functions);
		log->process = reader->count > 1 ? process_of(export, source) : 0;
		log->stacks = pxt_must(calloc(PXT_THREADS_MAX, sizeof *log->stacks));
		of->format = log;
	}
}

static bool stands(struct pxt_export *export, struct pxt_reader *reader)
{
	uint32_t *now = NULL;

	if (pxt_bars_stand(export, reader))
		now = pxt_bars_name_frames(&tree, reader, false);
	free(now);
	return now != NULL;
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_bars_looked(export, reader);
	if (!pxt_bars_tried())
		return;
	pxt_bars_frames_free(&tree);
	for (unsigned i = 0; i < reader->count; i++) {
		struct folded *log = pxt_export_of(reader->sources[i]);

		log->process = reader->count > 1 ? process_of(export, reader->sources[i]) : 0;
		memset(log->stacks, 0, PXT_THREADS_MAX * sizeof *log->stacks);
	}
}

/* One part of a line, which has no ";": types of Rust have. */
static void put_part(struct pxt_out *out, const char *name)
{
	for (; *name; name++)
		pxt_out_char(out, (char)(*name == ';' ? ':' : *name));
}

static void put_line(struct pxt_out *out, uint32_t index)
{
	uint32_t path[DEEP_MAX];
	uint32_t deep = pxt_bars_path(&tree, index, path, DEEP_MAX);

	for (uint32_t i = 0; i < deep; i++) {
		pxt_out_text(out, i > 0 ? ";" : "");
		put_part(out, tree.list[path[i]].name);
	}
	pxt_out_format(out, " %llu\n", (unsigned long long)tree.list[index].sum);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	bool any = false;

	for (uint32_t i = 1; i < tree.count; i++) {
		if (tree.list[i].sum == 0)
			continue;
		put_line(&export->out, i);
		any = true;
	}
	if (tree.missing > 0)
		pxt_complain("%llu times there was no place for another stack: %s",
		    (unsigned long long)tree.missing,
		    of_functions ? "these events are left out"
		                 : "the time is that of the one below");
	if (of_functions && !any)
		pxt_complain("export folded: no event tells who called");
	for (unsigned i = 0; i < reader->count; i++) {
		struct folded *log = pxt_export_of(reader->sources[i]);

		pxt_bars_end(&log->bars);
		free(log->stacks);
		free(log);
	}
	pxt_bars_frames_free(&tree);
}

static const struct pxt_option options[] = {
	{ PXT_OPTION_FLAG, .name = "stacks" },
	PXT_OPT_END,
};

static const struct pxt_export_format format = {
	.name = "folded",
	.help = help,
	.options = options,
	.self = &of_functions,
	.late = true,
	.begin = begin,
	PXT_BARS_CALLS(stands),
	.looked = looked,
	.event = put_event,
	.lost = put_lost,
	.end = end,
};

PXT_EXPORT_COMMAND(folded, "stacks and how long each was on top, for flamegraph.pl")
