/* SPDX-License-Identifier: MIT */
/* perfrec.c - sizes and places of the fields of perf_event_open(2)'s records; see sched.h. */
#include "tools/sched/perfrec.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_BYTES   24u /* sample_id: pid, tid, time, cpu, and 4 bytes of nothing */
/* The instruction's address and the tail. */
#define FAULTS_BYTES 32u
#define MAJOR_BYTES  40u /* the same, and the address that was missing, in front of the CPU */
#define RUNS_BYTES   48u /* the same, and the time that it ran, behind the CPU */
/* The same, the registers' form, they themselves, and the stack with its bytes before and those of it behind. */
#define STACK_BYTES  (RUNS_BYTES + 8u + 8u * PXT_PERFREC_REGISTERS + 8u + PXT_PERFREC_STACK + 8u)

#define CPU_MOST 65535u

/* A header of an older kernel may not have them; the numbers are the system's and stay. */
enum {
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_SWITCH_CPU_WIDE = 15,
	MISC_COMM_EXEC = 1 << 13,
	MISC_SWITCH_OUT = 1 << 13,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14
};

_Static_assert(PXT_PERFREC_SAMPLE_TYPE == (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU),
    "the sample type of perf_event_open(2)");

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint64_t get64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static void take_place(struct pxt_perfrec *rec, const unsigned char *at)
{
	rec->pid = (int32_t)get32(at);
	rec->tid = (int32_t)get32(at + 4);
	rec->ns = get64(at + 8);
	rec->cpu = (int)get32(at + 16);
}

/* pid, ppid, tid, ptid, time: those whom it is about, not who recorded it. */
static void take_task(struct pxt_perfrec *rec, const unsigned char *body)
{
	rec->pid = (int32_t)get32(body);
	rec->other_pid = (int32_t)get32(body + 4);
	rec->tid = (int32_t)get32(body + 8);
	rec->other_tid = (int32_t)get32(body + 12);
}

static bool take_name(struct pxt_perfrec *rec, const unsigned char *body, size_t bytes)
{
	if (bytes < 8)
		return false;
	rec->pid = (int32_t)get32(body);
	rec->tid = (int32_t)get32(body + 4);
	size_t length = bytes - 8 < sizeof rec->name - 1 ? bytes - 8 : sizeof rec->name - 1;
	memcpy(rec->name, body + 8, length);
	return true;
}

static bool take_switch(
    struct pxt_perfrec *rec, const unsigned char *body, size_t bytes, unsigned misc, bool wide)
{
	if (bytes != (wide ? 8u : 0u))
		return false;
	rec->kind = misc & MISC_SWITCH_OUT ? PXT_PERFREC_OUT : PXT_PERFREC_IN;
	rec->preempted = (misc & MISC_SWITCH_OUT) && (misc & MISC_SWITCH_OUT_PREEMPT);
	rec->told_other = wide;
	if (wide) {
		rec->other_pid = (int32_t)get32(body);
		rec->other_tid = (int32_t)get32(body + 4);
	}
	return true;
}

static bool take_lost(struct pxt_perfrec *rec, const unsigned char *body, size_t bytes, size_t at)
{
	if (bytes != at + 8)
		return false;
	rec->kind = PXT_PERFREC_LOST;
	rec->lost = get64(body + at);
	return true;
}

/* Behind the CPU the kernel leaves four bytes empty. */
static bool take_address(struct pxt_perfrec *rec, const unsigned char *body, size_t bytes)
{
	const unsigned char *cpu = body + (bytes == FAULTS_BYTES ? 24 : 32);

	if (get32(cpu) > CPU_MOST || get32(cpu + 4) != 0)
		return false;
	rec->kind = bytes >= RUNS_BYTES ? PXT_PERFREC_RUNS : PXT_PERFREC_FAULTS;
	rec->major = bytes == MAJOR_BYTES;
	rec->address = get64(body);
	take_place(rec, body + 8);
	rec->cpu = (int)get32(cpu);
	return true;
}

/* The frame's register, where there is one the link's, and the stack's. */
static bool take_stack(struct pxt_perfrec *rec, const unsigned char *body)
{
	const unsigned char *at = body + RUNS_BYTES;
	const unsigned char *last = at + (size_t)8 * PXT_PERFREC_REGISTERS;
	uint64_t bytes = get64(body + STACK_BYTES - 8);

	if (get64(last + 8) != PXT_PERFREC_STACK || bytes > PXT_PERFREC_STACK)
		return false;
	/* Another form is that of a program of another word size. */
	rec->has_stack = get64(at) == PERF_SAMPLE_REGS_ABI_64;
	rec->frame = get64(at + 8);
	rec->link = PXT_PERFREC_REGISTERS > 2 ? get64(at + 16) : 0;
	rec->stack = get64(last);
	rec->data = last + 16;
	rec->bytes = (size_t)bytes;
	return true;
}

/*
 * Some tracepoints have as few bytes as an address.  That has its time where they have their CPU, and a time is never
 * that small: the system has run for longer.
 */
static bool is_tracepoint(const unsigned char *body, size_t bytes)
{
	return bytes > TAIL_BYTES + 4 && get64(body + 16) <= CPU_MOST &&
	       get32(body + TAIL_BYTES) == bytes - TAIL_BYTES - 4;
}

/* pid, tid, time, cpu, nothing, and the bytes of the tracepoint after their number. */
static bool take_sample(struct pxt_perfrec *rec, const unsigned char *body, size_t bytes)
{
	if (bytes < TAIL_BYTES)
		return false;
	bool is_address = !is_tracepoint(body, bytes);

	if (is_address && (bytes == FAULTS_BYTES || bytes == MAJOR_BYTES || bytes == RUNS_BYTES))
		return take_address(rec, body, bytes);
	if (is_address && bytes == STACK_BYTES)
		return take_address(rec, body, bytes) && take_stack(rec, body);
	take_place(rec, body);
	if (bytes == TAIL_BYTES)
		return true;
	if (bytes < TAIL_BYTES + 4 || get32(body + TAIL_BYTES) > bytes - TAIL_BYTES - 4)
		return false;
	rec->kind = PXT_PERFREC_SAMPLE;
	rec->data = body + TAIL_BYTES + 4;
	rec->bytes = get32(body + TAIL_BYTES);
	return true;
}

/* @body and @bytes: between head and tail. */
static bool take_body(struct pxt_perfrec *rec, const struct perf_event_header *head,
    const unsigned char *body, size_t bytes)
{
	switch (head->type) {
	case PERF_RECORD_COMM:
		rec->kind = PXT_PERFREC_NAME;
		rec->exec = (head->misc & MISC_COMM_EXEC) != 0;
		return take_name(rec, body, bytes);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		rec->kind = head->type == PERF_RECORD_FORK ? PXT_PERFREC_FORK : PXT_PERFREC_EXIT;
		if (bytes != 24)
			return false;
		take_task(rec, body);
		return true;
	case PERF_RECORD_LOST:
		return take_lost(rec, body, bytes, 8);
	case RECORD_LOST_SAMPLES:
		return take_lost(rec, body, bytes, 0);
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		return take_switch(
		    rec, body, bytes, head->misc, head->type == RECORD_SWITCH_CPU_WIDE);
	default:
		return true;
	}
}

bool pxt_perfrec_parse(struct pxt_perfrec *rec, const unsigned char *bytes, size_t size)
{
	struct perf_event_header head;

	*rec = (struct pxt_perfrec){ .kind = PXT_PERFREC_OTHER, .cpu = -1 };
	if (size < sizeof head)
		return false;
	memcpy(&head, bytes, sizeof head);
	if (head.size != size)
		return false;
	bytes += sizeof head;
	size -= sizeof head;
	if (head.type == PERF_RECORD_SAMPLE)
		return take_sample(rec, bytes, size);
	if (size < TAIL_BYTES)
		return false;
	size -= TAIL_BYTES;
	take_place(rec, bytes + size);
	return take_body(rec, &head, bytes, size);
}

/* ---- Whole records out of a ring of bytes ---- */

#define RECORD_MAX 65536u /* its size has 16 bits */

bool pxt_perfring_init(struct pxt_perfring *ring, struct perf_event_mmap_page *page,
    const unsigned char *data, uint64_t size)
{
	*ring = (struct pxt_perfring){ .page = page, .data = data, .size = size };
	ring->straight = malloc(RECORD_MAX);
	return ring->straight != NULL;
}

void pxt_perfring_destroy(struct pxt_perfring *ring)
{
	free(ring->straight);
	ring->straight = NULL;
}

uint64_t pxt_perfring_look(struct pxt_perfring *ring)
{
	/* The partner of the kernel's barrier before it writes data_head: the bytes are there. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	return ring->head - ring->tail;
}

/* Whatever is there is no record, so nobody knows where the next one begins. */
static const unsigned char *give_up(struct pxt_perfring *ring)
{
	ring->broken += ring->head - ring->tail;
	ring->tail = ring->head;
	return NULL;
}

const unsigned char *pxt_perfring_next(struct pxt_perfring *ring, size_t *size)
{
	uint64_t there = ring->head - ring->tail;
	uint64_t at = ring->tail & (ring->size - 1);
	struct perf_event_header head;

	if (there == 0)
		return NULL;
	/* Records begin at multiples of 8, so that no head lies on both ends. */
	if (there > ring->size || there < sizeof head || ring->size - at < sizeof head)
		return give_up(ring);
	memcpy(&head, ring->data + at, sizeof head);
	if (head.size < sizeof head || head.size > there)
		return give_up(ring);
	*size = head.size;
	if (head.size <= ring->size - at)
		return ring->data + at;
	memcpy(ring->straight, ring->data + at, (size_t)(ring->size - at));
	memcpy(
	    ring->straight + (ring->size - at), ring->data, head.size - (size_t)(ring->size - at));
	return ring->straight;
}

void pxt_perfring_skip(struct pxt_perfring *ring, size_t size)
{
	ring->tail += size;
}

void pxt_perfring_free(struct pxt_perfring *ring)
{
	/* All bytes were looked at before: the kernel may write there when it sees this. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
