/* SPDX-License-Identifier: MIT */
/* perfbytes.h - records as the kernel would write them, made up. */
#ifndef PXT_TESTS_PERFBYTES_H
#define PXT_TESTS_PERFBYTES_H

#include "tools/sched/sched.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PB_PREEMPTED 0x4000u

struct perfbytes {
	size_t used;
	unsigned char bytes[16384];
};

/* Who recorded it, when and where. */
struct pb_place {
	uint64_t ns;
	uint32_t cpu;
	int32_t pid;
	int32_t tid;
};

static inline void pb_add(struct perfbytes *to, const void *from, size_t count)
{
	if (to->used + count > sizeof to->bytes)
		abort();
	memcpy(to->bytes + to->used, from, count);
	to->used += count;
}

static inline void pb_place(struct perfbytes *to, struct pb_place place)
{
	const uint32_t nothing = 0;

	pb_add(to, &place.pid, 4);
	pb_add(to, &place.tid, 4);
	pb_add(to, &place.ns, 8);
	pb_add(to, &place.cpu, 4);
	pb_add(to, &nothing, 4);
}

/* Head, @count bytes, tail. */
static inline void pb_record(struct perfbytes *to, uint32_t type, uint16_t misc, const void *body,
    size_t count, struct pb_place place)
{
	const struct perf_event_header head = {
		.type = type, .misc = misc, .size = (uint16_t)(sizeof head + count + 24)
	};

	pb_add(to, &head, sizeof head);
	if (count)
		pb_add(to, body, count);
	pb_place(to, place);
}

static inline void pb_out(struct perfbytes *to, struct pb_place place, unsigned preempted)
{
	pb_record(to, 14, (uint16_t)(0x2000u | preempted), NULL, 0, place);
}

static inline void pb_in(struct perfbytes *to, struct pb_place place)
{
	pb_record(to, 14, 0, NULL, 0, place);
}

static inline void pb_wide_out(
    struct perfbytes *to, struct pb_place place, unsigned preempted, int32_t next)
{
	const int32_t body[2] = { next, next };

	pb_record(to, 15, (uint16_t)(0x2000u | preempted), body, sizeof body, place);
}

static inline void pb_wide_in(struct perfbytes *to, struct pb_place place, int32_t before)
{
	const int32_t body[2] = { before, before };

	pb_record(to, 15, 0, body, sizeof body, place);
}

/* 3: a name, of @place's thread. */
static inline void pb_name(
    struct perfbytes *to, struct pb_place place, const char *name, unsigned exec)
{
	unsigned char body[24] = { 0 };

	memcpy(body, &place.pid, 4);
	memcpy(body + 4, &place.tid, 4);
	memcpy(body + 8, name, strlen(name));
	pb_record(to, 3, exec ? 0x2000 : 0, body, sizeof body, place);
}

/* 7: fork; 4: exit. */
static inline void pb_task(struct perfbytes *to, uint32_t type, struct pb_place place, int32_t pid,
    int32_t tid, int32_t parent)
{
	int32_t body[6] = { pid, parent, tid, parent };

	memcpy(&body[4], &place.ns, 8);
	pb_record(to, type, 0, body, sizeof body, place);
}

static inline void pb_lost(struct perfbytes *to, struct pb_place place, uint64_t count)
{
	const uint64_t body[2] = { 1, count };

	pb_record(to, 2, 0, body, sizeof body, place);
}

/* 9: a sample with an address; @more: also what was missing (1), and how long the thread ran (2). */
static inline void pb_address(
    struct perfbytes *to, struct pb_place place, uint64_t address, unsigned more)
{
	const struct perf_event_header head = { .type = 9,
		.size = (uint16_t)(sizeof head + 32 + 8 * more) };
	const uint64_t number = 0x7f0000001000;
	const uint32_t nothing = 0;

	pb_add(to, &head, sizeof head);
	pb_add(to, &address, 8);
	pb_add(to, &place.pid, 4);
	pb_add(to, &place.tid, 4);
	pb_add(to, &place.ns, 8);
	if (more > 0)
		pb_add(to, &number, 8);
	pb_add(to, &place.cpu, 4);
	pb_add(to, &nothing, 4);
	if (more > 1)
		pb_add(to, &number, 8);
}

/* The last of them with registers and a piece of stack of which @count bytes are some. */
static inline void pb_stack(
    struct perfbytes *to, struct pb_place place, uint64_t address, uint64_t form, uint64_t count)
{
	const uint64_t registers[] = { form, 0x7000, 0x6000, PXT_PERFREC_STACK };
	unsigned char stack[PXT_PERFREC_STACK];
	struct perf_event_header head;

	memset(stack, 0x5a, sizeof stack);
	pb_address(to, place, address, 2);
	pb_add(to, registers, sizeof registers);
	pb_add(to, stack, sizeof stack);
	pb_add(to, &count, sizeof count);
	memcpy(&head, to->bytes, sizeof head);
	head.size = (uint16_t)to->used;
	memcpy(to->bytes, &head, sizeof head);
}

/* 9: a sample of @count bytes, filled up as the kernel fills up. */
static inline void pb_sample(
    struct perfbytes *to, struct pb_place place, const void *data, uint32_t count)
{
	const uint32_t room = (count + 4 + 7) / 8 * 8 - 4;
	const struct perf_event_header head = { .type = 9, .size = (uint16_t)(8 + 24 + 4 + room) };
	const unsigned char nothing[8] = { 0 };

	pb_add(to, &head, sizeof head);
	pb_place(to, place);
	pb_add(to, &room, 4);
	pb_add(to, data, count);
	pb_add(to, nothing, room - count);
}

/* ---- Tracepoints, as a kernel of 64 bits describes them ---- */

#define PB_ID_SWITCH  314u
#define PB_ID_WAKING  318u
#define PB_ID_MIGRATE 312u
#define PB_ID_BOOST   306u

static const char pb_switch_format[] =
    "name: sched_switch\nID: 314\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"prev_comm=%s prev_pid=%d\"\n";

static const char pb_waking_format[] =
    "name: sched_waking\nID: 318\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n";

static const char pb_migrate_format[] =
    "name: sched_migrate_task\nID: 312\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:int orig_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
    "\tfield:int dest_cpu;\toffset:36;\tsize:4;\tsigned:1;\n\n";

static const char pb_boost_format[] =
    "name: sched_pi_setprio\nID: 306\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int oldprio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:int newprio;\toffset:32;\tsize:4;\tsigned:1;\n\n";

#define PB_COMMON "field:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"

/* Not of the scheduler: their numbers are 200 more than their kinds. */
static const char *const pb_other_formats[PXT_TRACEPOINTS] = {
	[PXT_TRACEPOINT_IRQ] = "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	                       "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n",
	[PXT_TRACEPOINT_IRQ_END] = "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	                           "\tfield:int ret;\toffset:12;\tsize:4;\tsigned:1;\n",
	[PXT_TRACEPOINT_SOFTIRQ] = "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n",
	[PXT_TRACEPOINT_SOFTIRQ_END] = "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n",
	[PXT_TRACEPOINT_BLOCK] = "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	                         "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	                         "\tfield:unsigned int bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
	                         "\tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n",
	[PXT_TRACEPOINT_BLOCK_END] = "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	                             "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	                             "\tfield:int error;\toffset:24;\tsize:4;\tsigned:1;\n",
	[PXT_TRACEPOINT_FREQUENCY] = "\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n"
	                             "\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n",
};

static inline void pb_points(struct pxt_tracepoint points[PXT_TRACEPOINTS])
{
	char format[1024];

	memset(points, 0, PXT_TRACEPOINTS * sizeof *points);
	for (unsigned kind = PXT_TRACEPOINT_IRQ; kind < PXT_TRACEPOINTS; kind++) {
		(void)snprintf(format, sizeof format, "ID: %u\nformat:\n\t" PB_COMMON "%s",
		    200 + kind, pb_other_formats[kind]);
		if (!pxt_tracepoint_parse(&points[kind], kind, format))
			abort();
	}
	if (!pxt_tracepoint_parse(
	        &points[PXT_TRACEPOINT_SWITCH], PXT_TRACEPOINT_SWITCH, pb_switch_format) ||
	    !pxt_tracepoint_parse(
	        &points[PXT_TRACEPOINT_WAKING], PXT_TRACEPOINT_WAKING, pb_waking_format) ||
	    !pxt_tracepoint_parse(
	        &points[PXT_TRACEPOINT_MIGRATE], PXT_TRACEPOINT_MIGRATE, pb_migrate_format) ||
	    !pxt_tracepoint_parse(
	        &points[PXT_TRACEPOINT_BOOST], PXT_TRACEPOINT_BOOST, pb_boost_format))
		abort();
}

static inline void pb_at(unsigned char *data, size_t at, int32_t number)
{
	memcpy(data + at, &number, sizeof number);
}

/* @from and @to: numbers; a thread's name is "t" and its number, its priority 100 more. */
static inline void pb_said_switch(
    struct perfbytes *to, struct pb_place place, int32_t from, int64_t state, int32_t next)
{
	unsigned char data[64] = { PB_ID_SWITCH & 0xff, PB_ID_SWITCH >> 8 };

	data[8] = data[40] = 't';
	data[9] = (unsigned char)('0' + from % 10);
	data[41] = (unsigned char)('0' + next % 10);
	pb_at(data, 24, from);
	pb_at(data, 28, from + 100);
	memcpy(data + 32, &state, sizeof state);
	pb_at(data, 56, next);
	pb_at(data, 60, next + 100);
	pb_sample(to, place, data, sizeof data);
}

static inline void pb_said_waking(
    struct perfbytes *to, struct pb_place place, int32_t woken, int32_t cpu)
{
	unsigned char data[36] = { PB_ID_WAKING & 0xff, PB_ID_WAKING >> 8 };

	data[8] = 't';
	data[9] = (unsigned char)('0' + woken % 10);
	pb_at(data, 24, woken);
	pb_at(data, 28, woken + 100);
	pb_at(data, 32, cpu);
	pb_sample(to, place, data, sizeof data);
}

static inline void pb_said_migration(
    struct perfbytes *to, struct pb_place place, int32_t tid, int32_t from, int32_t dest)
{
	unsigned char data[40] = { PB_ID_MIGRATE & 0xff, PB_ID_MIGRATE >> 8 };

	data[8] = 't';
	data[9] = (unsigned char)('0' + tid % 10);
	pb_at(data, 24, tid);
	pb_at(data, 28, tid + 100);
	pb_at(data, 32, from);
	pb_at(data, 36, dest);
	pb_sample(to, place, data, sizeof data);
}

static inline void pb_said_boost(
    struct perfbytes *to, struct pb_place place, int32_t tid, int32_t before, int32_t after)
{
	unsigned char data[36] = { PB_ID_BOOST & 0xff, PB_ID_BOOST >> 8 };

	data[8] = 't';
	data[9] = (unsigned char)('0' + tid % 10);
	pb_at(data, 24, tid);
	pb_at(data, 28, before);
	pb_at(data, 32, after);
	pb_sample(to, place, data, sizeof data);
}

/* Of a kind that is not the scheduler's: numbers from byte 8 on, and @text behind them. */
static inline void pb_said_other(struct perfbytes *to, struct pb_place place,
    enum pxt_tracepoint_kind kind, const int32_t *numbers, size_t count, const char *text)
{
	unsigned char data[64] = { (unsigned char)(200 + kind) };
	size_t bytes = 8 + 4 * count;

	memcpy(data + 8, numbers, 4 * count);
	memcpy(data + bytes, text, strlen(text));
	bytes += *text ? 12 : 0;
	pb_sample(to, place, data, (uint32_t)bytes);
}

static inline void pb_irq(
    struct perfbytes *to, struct pb_place place, enum pxt_tracepoint_kind kind, int32_t number)
{
	/* An interrupt's name has 6 bytes at byte 16; what has only a number is as short as an address. */
	const int32_t numbers[] = { number, kind == PXT_TRACEPOINT_IRQ ? 6 << 16 | 16 : 0 };

	pb_said_other(to, place, kind, numbers, kind <= PXT_TRACEPOINT_IRQ_END ? 2 : 1,
	    kind == PXT_TRACEPOINT_IRQ ? "disk0" : "");
}

static inline void pb_block(struct perfbytes *to, struct pb_place place, bool end, int32_t sector)
{
	const int32_t numbers[] = { 0x800001, 0, sector, 0, end ? 0 : 4096 };

	pb_said_other(to, place, end ? PXT_TRACEPOINT_BLOCK_END : PXT_TRACEPOINT_BLOCK, numbers, 5,
	    end ? "" : "WS");
}

static inline void pb_frequency(struct perfbytes *to, struct pb_place place, int32_t khz)
{
	const int32_t numbers[] = { khz, (int32_t)place.cpu };

	pb_said_other(to, place, PXT_TRACEPOINT_FREQUENCY, numbers, 2, "");
}

#endif
