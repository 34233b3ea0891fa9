/* SPDX-License-Identifier: MIT */
/*
 * folded.c - pxtrace export folded: a line for each stack of bars, and how long it was on top.
 *
 *	worker/4711;job;read 1204500
 *
 * flamegraph.pl, speedscope and inferno read it.  The bars are those of slices.h that lie inside each other:
 * spans, functions, calls, waits.
 *
 * Bounded: NODES_MAX stacks; what has no place counts for the stack below it, which is told.
 */
#include "tools/command/command.h"
#include "tools/export/export.h"
#include "tools/export/slices.h"
#include "tools/output/out.h"

#include <stdio.h>
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
	"\n",
	PXT_EXPORT_COMMON_HELP
	"\n"
	"example: a flame graph of the jobs\n"
	"\n"
	"  $ pxtrace export folded run.ptl | flamegraph.pl --countname ns > run.svg\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read, or no log has a\n"
	"name that was asked for; 3 events were lost (--strict); 4 the output could not be\n"
	"written.\n",
	NULL,
};

#define NODES_MAX 65536u
#define DEEP_MAX  (PXT_OPEN_DEPTH + 3u)

/* A stack: what is on top, above its parent.  Node 0 is below all threads, and nobody's child. */
struct node {
	uint32_t parent;
	uint32_t child;
	uint32_t sibling;
	uint64_t ns;
	char *name;
};

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

static struct {
	struct node *nodes;
	uint32_t count;
	uint64_t missing;
} tree;

static struct folded *of_source(const struct pxt_source *source)
{
	struct pxt_export_log *log = source->user;

	return log->format;
}

/* ---- Stacks ---- */

/* A name is one part of a line, which has no ";" and no end of line. */
static char *part_of(const char *text, size_t bytes)
{
	size_t room = PXT_ESCAPE_GROWTH * bytes + 1;
	char *part = pxt_must(malloc(room));
	size_t used = pxt_escape(text, bytes, part, room, NULL);

	for (size_t i = 0; i < used; i++)
		if (part[i] == ';')
			part[i] = ':';
	return part;
}

/* The stack of @parent with that on top, the same one each time; 0: there is no place. */
static uint32_t above(uint32_t parent, const char *text, size_t bytes)
{
	char *name = part_of(text, bytes);
	uint32_t found = tree.nodes[parent].child;

	while (found != 0 && strcmp(tree.nodes[found].name, name) != 0)
		found = tree.nodes[found].sibling;
	if (found != 0 || tree.count == NODES_MAX) {
		free(name);
		return found;
	}
	found = tree.count++;
	tree.nodes[found] =
	    (struct node){ .parent = parent, .sibling = tree.nodes[parent].child, .name = name };
	tree.nodes[parent].child = found;
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
	stack->missing++;
	tree.missing++;
}

static void pop(struct stack *stack)
{
	if (stack->missing > 0)
		stack->missing--;
	else
		stack->top = tree.nodes[stack->top].parent;
}

/* Up to @ns what was on top was. */
static void pass(struct stack *stack, int64_t ns)
{
	if (stack->is_known && ns > stack->ns)
		tree.nodes[stack->top].ns += (uint64_t)(ns - stack->ns);
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

		while (stack->top != 0 && tree.nodes[stack->top].parent != log->process)
			stack->top = tree.nodes[stack->top].parent;
		stack->missing = 0;
		stack->is_known = false;
	}
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct folded *log = of_source(event->source);
	const struct pxt_thread *thread = event->thread;
	struct pxt_slice slice;
	struct stack *stack;

	if (pxt_bars_spoilt(&log->bars)) {
		pxt_bars_look(export, event, lost);
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
	const char *path = source->info.posix_executable_np;
	const char *slash = strrchr(path, '/');
	char name[512];

	(void)snprintf(name, sizeof name, "%s:%.200s/%ld", pxt_export_target(export, source),
	    slash ? slash + 1 : path, (long)source->info.posix_pid_np);
	return above(0, name, strlen(name));
}

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	tree.nodes = pxt_must(calloc(NODES_MAX, sizeof *tree.nodes));
	tree.count = 1;
	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];
		struct pxt_export_log *of = source->user;
		struct folded *log = pxt_must(calloc(1, sizeof *log));

		pxt_bars_begin(&log->bars, source);
		log->process = reader->count > 1 ? process_of(export, source) : 0;
		log->stacks = pxt_must(calloc(PXT_THREADS_MAX, sizeof *log->stacks));
		of->format = log;
	}
}

static void forget_nodes(void)
{
	for (uint32_t i = 1; i < tree.count; i++)
		free(tree.nodes[i].name);
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_bars_looked(export, reader);
	if (!pxt_bars_tried())
		return;
	forget_nodes();
	memset(tree.nodes, 0, NODES_MAX * sizeof *tree.nodes);
	tree.count = 1;
	tree.missing = 0;
	for (unsigned i = 0; i < reader->count; i++) {
		struct folded *log = of_source(reader->sources[i]);

		log->process = reader->count > 1 ? process_of(export, reader->sources[i]) : 0;
		memset(log->stacks, 0, PXT_THREADS_MAX * sizeof *log->stacks);
	}
}

static void put_line(struct pxt_out *out, uint32_t index)
{
	uint32_t path[DEEP_MAX];
	uint32_t deep = 0;

	for (uint32_t at = index; at != 0 && deep < DEEP_MAX; at = tree.nodes[at].parent)
		path[deep++] = at;
	while (deep-- > 0)
		pxt_out_format(out, "%s%s", tree.nodes[path[deep]].name, deep > 0 ? ";" : "");
	pxt_out_format(out, " %llu\n", (unsigned long long)tree.nodes[index].ns);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	for (uint32_t i = 1; i < tree.count; i++)
		if (tree.nodes[i].ns > 0)
			put_line(&export->out, i);
	if (tree.missing > 0)
		pxt_complain("%llu times there was no place for another stack: the time is that "
		             "of the one below",
		    (unsigned long long)tree.missing);
	for (unsigned i = 0; i < reader->count; i++) {
		struct folded *log = of_source(reader->sources[i]);

		pxt_bars_end(&log->bars);
		free(log->stacks);
		free(log);
	}
	forget_nodes();
	free(tree.nodes);
}

static const struct pxt_export_format format = {
	.name = "folded",
	.letters = "",
	.help = help,
	.late = true,
	.begin = begin,
	.look_before = pxt_bars_look_before,
	.look = pxt_bars_look,
	.looked = looked,
	.stands = pxt_bars_stand,
	.event = put_event,
	.lost = put_lost,
	.end = end,
};

PXT_EXPORT_COMMAND(folded, "stacks and how long each was on top, for flamegraph.pl")
