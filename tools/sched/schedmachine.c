/* SPDX-License-Identifier: MIT */
/* schedmachine.c - what the machine did meanwhile: interrupts, requests to disks, frequencies; see sched.h. */
#include "tools/sched/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What is kept ---- */

/* Interrupts in one thread, until it leaves the CPU or this time is over: one event tells of all. */
#define TOGETHER_NS UINT64_C(1000000)
#define REQUESTS    256u

struct irq {
	uint64_t hard_ns; /* since when one is handled; 0: none */
	uint64_t soft_ns;
	uint64_t inside_ns; /* of hard ones within the soft one */
	uint64_t first_ns;
	uint64_t ns;
	uint64_t longest_ns;
	uint32_t count;
	int32_t tid; /* of the thread that was interrupted; 0: nothing is to be told */
	char name[16];
	char longest[16];
};

struct pxt_schedmachine {
	struct irq irqs[PXT_SCHEDLOG_CPUS];
	uint32_t khz[PXT_SCHEDLOG_CPUS];
	uint32_t told_khz[PXT_SCHEDLOG_CPUS];
	unsigned next;
	struct request {
		uint64_t ns; /* 0: none */
		uint64_t sector;
		uint32_t device;
		uint32_t bytes;
		int32_t tid; /* who gave it to the disk */
		bool own;    /* ... a thread of the program */
		char what[16];
	} requests[REQUESTS];
};

static void read_frequencies(struct pxt_schedmachine *machine)
{
	char path[80];
	char khz[24];
	FILE *file;

	for (unsigned cpu = 0; cpu < PXT_SCHEDLOG_CPUS; cpu++) {
		(void)snprintf(path, sizeof path,
		    "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
		file = fopen(path, "re");
		if (!file)
			return;
		if (fgets(khz, sizeof khz, file))
			machine->khz[cpu] = (uint32_t)strtoul(khz, NULL, 10);
		(void)fclose(file);
	}
}

bool pxt_schedmachine_begin(struct pxt_schedlog *log)
{
	const struct pxt_tracepoint *points = log->wish.points;
	bool any = false;

	for (unsigned kind = PXT_TRACEPOINT_IRQ; points && kind < PXT_TRACEPOINTS; kind++)
		any |= points[kind].known;
	/* Pages that are not used are none. */
	log->machine = any ? calloc(1, sizeof *log->machine) : NULL;
	if (log->machine && log->wish.ask && points[PXT_TRACEPOINT_FREQUENCY].known)
		read_frequencies(log->machine);
	return !any || log->machine;
}

bool pxt_schedmachine_has_frequency(void)
{
	return access("/sys/devices/system/cpu/cpu0/cpufreq", F_OK) == 0;
}

static const struct pxt_schedthread *watched(const struct pxt_schedlog *log, int32_t tid)
{
	const struct pxt_schedthread *thread = pxt_schedthreads_find(&log->threads, tid);

	return thread && thread->watched ? thread : NULL;
}

/* ---- Interrupts ---- */

static void tell_irqs(struct pxt_schedlog *log, const struct pxt_perfrec *rec, struct irq *irq)
{
	struct pxt_scheddata data = { .count = 0 };

	if (irq->tid == 0)
		return;
	pxt_scheddata_add(&data, &irq->ns, sizeof irq->ns);
	pxt_scheddata_add(&data, &irq->count, sizeof irq->count);
	pxt_scheddata_add(&data, irq->longest, sizeof irq->longest);
	pxt_schedlog_put(log, rec, PXT_SCHEDLOG_INTERRUPTS, irq->tid, &data);
	irq->tid = 0;
	irq->ns = irq->longest_ns = 0;
	irq->count = 0;
}

/* One is over, and took so long of the thread in which it came. */
static void add_irq(struct pxt_schedlog *log, const struct pxt_perfrec *rec, struct irq *irq,
    uint64_t ns, const char name[16])
{
	if (irq->tid != rec->tid)
		tell_irqs(log, rec, irq);
	if (!watched(log, rec->tid))
		return;
	if (irq->tid == 0)
		irq->first_ns = rec->ns - ns;
	irq->tid = rec->tid;
	irq->ns += ns;
	irq->count++;
	if (ns >= irq->longest_ns) {
		irq->longest_ns = ns;
		memcpy(irq->longest, name, sizeof irq->longest);
	}
	if (rec->ns - irq->first_ns >= TOGETHER_NS)
		tell_irqs(log, rec, irq);
}

static void end_hard(struct pxt_schedlog *log, const struct pxt_perfrec *rec, struct irq *irq)
{
	uint64_t ns = rec->ns - irq->hard_ns;

	if (irq->hard_ns == 0 || irq->hard_ns > rec->ns)
		return;
	irq->hard_ns = 0;
	irq->inside_ns += ns;
	add_irq(log, rec, irq, ns, irq->name);
}

/* As the kernel names them. */
static void end_soft(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, struct irq *irq, int64_t vector)
{
	static const char names[][16] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
		"TASKLET", "SCHED", "HRTIMER", "RCU", "softirq" };
	const size_t others = sizeof names / sizeof *names - 1;
	uint64_t begin = irq->soft_ns;

	irq->soft_ns = 0;
	if (begin == 0 || begin > rec->ns || rec->ns - begin < irq->inside_ns)
		return;
	add_irq(log, rec, irq, rec->ns - begin - irq->inside_ns,
	    names[vector >= 0 && vector < (int64_t)others ? (size_t)vector : others]);
}

/* ---- Disks ---- */

/* Of one of the program's the kernel told no end so far, and what is kept of it goes. */
static void drop_request(struct pxt_schedlog *log, struct request *request)
{
	log->unended += request->ns != 0 && request->own;
	request->ns = 0;
}

static void begin_request(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedmachine *machine = log->machine;
	struct request *request = &machine->requests[machine->next++ % REQUESTS];

	drop_request(log, request);
	*request = (struct request){ .ns = rec->ns,
		.device = (uint32_t)said->numbers[0],
		.sector = (uint64_t)said->numbers[1],
		.bytes = (uint32_t)said->numbers[2],
		.tid = rec->tid,
		.own = watched(log, rec->tid) };
	memcpy(request->what, said->name, sizeof request->what);
}

/*
 * A request of another program's is none of this one's, but the kernel's own threads write for all: such a one is told
 * while a thread of the program waits for something that no signal ends.
 */
static void end_request(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedmachine *machine = log->machine;
	struct pxt_scheddata data = { .count = 0 };
	struct pxt_perfrec there = *rec;
	const int32_t error = (int32_t)said->numbers[2];
	struct request *request = machine->requests;
	struct request *end = machine->requests + REQUESTS;

	while (request < end && !(request->ns != 0 && request->ns <= rec->ns &&
	                            request->device == (uint32_t)said->numbers[0] &&
	                            request->sector == (uint64_t)said->numbers[1]))
		request++;
	if (request == end)
		return;
	const uint64_t ns = rec->ns - request->ns;
	request->ns = 0;
	if (!request->own && log->stuck == 0)
		return;
	pxt_scheddata_add(&data, &ns, sizeof ns);
	pxt_scheddata_add(&data, &request->bytes, sizeof request->bytes);
	pxt_scheddata_add(&data, &error, sizeof error);
	pxt_scheddata_add(&data, &request->device, sizeof request->device);
	pxt_scheddata_add(&data, &request->sector, sizeof request->sector);
	pxt_scheddata_add(&data, request->what, sizeof request->what);
	/* Its end is told by whatever thread it interrupts. */
	there.cpu = -1;
	pxt_schedlog_put(log, &there, PXT_SCHEDLOG_BLOCK, request->tid, &data);
}

/* ---- Frequencies ---- */

/* While a thread of the program has the CPU. */
static void tell_frequency(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, int cpu, int32_t tid)
{
	struct pxt_schedmachine *machine = log->machine;
	struct pxt_scheddata data = { .count = 0 };
	struct pxt_perfrec there = *rec;

	if (machine->khz[cpu] == machine->told_khz[cpu] || !watched(log, tid))
		return;
	machine->told_khz[cpu] = machine->khz[cpu];
	there.cpu = cpu;
	pxt_scheddata_add(&data, &machine->khz[cpu], sizeof machine->khz[cpu]);
	pxt_schedlog_put(log, &there, PXT_SCHEDLOG_FREQUENCY, tid, &data);
}

/* ---- From records ---- */

void pxt_schedmachine_take(struct pxt_schedlog *log, const struct pxt_perfrec *rec,
    enum pxt_tracepoint_kind kind, const struct pxt_tracepoint_said *said)
{
	struct pxt_schedmachine *machine = log->machine;
	int64_t cpu = kind == PXT_TRACEPOINT_FREQUENCY ? said->numbers[0] : rec->cpu;

	if (!machine || cpu < 0 || cpu >= (int64_t)PXT_SCHEDLOG_CPUS)
		return;
	struct irq *irq = &machine->irqs[cpu];
	switch ((int)kind) {
	case PXT_TRACEPOINT_IRQ:
		irq->hard_ns = rec->ns;
		memcpy(irq->name, said->name, sizeof irq->name);
		break;
	case PXT_TRACEPOINT_IRQ_END:
		end_hard(log, rec, irq);
		break;
	case PXT_TRACEPOINT_SOFTIRQ:
		irq->soft_ns = rec->ns;
		irq->inside_ns = 0;
		break;
	case PXT_TRACEPOINT_SOFTIRQ_END:
		end_soft(log, rec, irq, said->numbers[0]);
		break;
	case PXT_TRACEPOINT_BLOCK:
		begin_request(log, rec, said);
		break;
	case PXT_TRACEPOINT_BLOCK_END:
		end_request(log, rec, said);
		break;
	case PXT_TRACEPOINT_FREQUENCY:
		machine->khz[cpu] = (uint32_t)said->numbers[1];
		tell_frequency(log, rec, (int)cpu, log->cpus[cpu].runs);
		break;
	default:
		break;
	}
}

void pxt_schedmachine_switch(
    struct pxt_schedlog *log, const struct pxt_perfrec *rec, int32_t to, bool entered)
{
	if (!log->machine)
		return;
	if (entered)
		tell_frequency(log, rec, rec->cpu, to);
	else
		tell_irqs(log, rec, &log->machine->irqs[rec->cpu]);
}

void pxt_schedmachine_forget(struct pxt_schedlog *log)
{
	log->stuck = 0;
	if (!log->machine)
		return;
	memset(log->machine->irqs, 0, sizeof log->machine->irqs);
	for (unsigned i = 0; i < REQUESTS; i++)
		drop_request(log, &log->machine->requests[i]);
}
