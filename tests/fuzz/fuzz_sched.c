/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sched.c - whatever a ring of perf_event_open(2) holds, it is read to its end and not beyond, and
 * the log that is made of it is sound.
 *
 *	byte 0   MODES: which records are expected; where in the ring they begin; RAW
 *	RAW      the bytes of the ring
 *	else     records of 6 bytes: type and flags; CPU; thread; another one; time since the one before;
 *	         a number
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"
#include "tests/tool/perfbytes.h"

#include "tools/sched/sched.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDE   1u
#define POINTS 2u
#define HIDDEN 4u
#define RAW    8u

#define RING         16384u
#define RECORD_BYTES 6u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-sched-XXXXXX";
static unsigned char bytes[RING];
static struct perfbytes made;

static void make_task(const uint8_t *at, struct pb_place place)
{
	switch (at[0] & 15u) {
	case 4:
		pb_name(&made, place, (at[5] & 1u) ? "name" : "\x1b[2Jname", at[5] & 2u);
		break;
	case 5:
		pb_task(&made, 7, place, at[5], at[3], place.tid);
		break;
	case 6:
		pb_task(&made, 4, place, place.pid, place.tid, at[3]);
		break;
	case 7:
		pb_lost(&made, place, at[5]);
		break;
	case 8:
		pb_said_switch(&made, place, place.tid, at[5], at[3]);
		break;
	case 9:
		pb_said_waking(&made, place, at[3], (int8_t)at[5]);
		break;
	case 10:
		pb_said_migration(&made, place, at[3], (int8_t)at[1], (int8_t)at[5]);
		break;
	case 11:
		pb_irq(&made, place, PXT_TRACEPOINT_IRQ + at[5] % 4u, at[3]);
		break;
	case 12:
		pb_block(&made, place, at[5] & 1u, at[3]);
		break;
	case 13:
		pb_frequency(&made, place, at[5]);
		break;
	default:
		pb_record(&made, at[5], at[3], at, RECORD_BYTES, place);
	}
}

static void make(const uint8_t *data, size_t size)
{
	uint64_t ns = UINT64_C(1000000000);

	for (; size >= RECORD_BYTES && made.used < sizeof made.bytes - 256;
	     data += RECORD_BYTES, size -= RECORD_BYTES) {
		const struct pb_place place = { .ns = ns += (uint64_t)(int8_t)data[4],
			.cpu = (uint32_t)(int8_t)data[1],
			.pid = data[2] & 0xf0,
			.tid = (int8_t)data[2] };
		unsigned preempted = data[0] & 16u ? PB_PREEMPTED : 0;

		switch (data[0] & 15u) {
		case 0:
			pb_out(&made, place, preempted);
			break;
		case 1:
			pb_in(&made, place);
			break;
		case 2:
			pb_wide_out(&made, place, preempted, (int8_t)data[3]);
			break;
		case 3:
			pb_wide_in(&made, place, (int8_t)data[3]);
			break;
		default:
			make_task(data, place);
		}
	}
}

static void take(struct pxt_schedlog *log, struct pxt_perfring *ring)
{
	const unsigned char *at;
	struct pxt_perfrec rec;
	size_t size;

	(void)pxt_perfring_look(ring);
	while ((at = pxt_perfring_next(ring, &size)) != NULL) {
		/* Of its own, so that nothing behind it can be read unnoticed. */
		unsigned char *exact = malloc(size);

		if (!exact)
			abort();
		memcpy(exact, at, size);
		if (pxt_perfrec_parse(&rec, exact, size))
			pxt_schedlog_take(log, &rec);
		free(exact);
		pxt_perfring_skip(ring, size);
	}
	pxt_perfring_free(ring);
	if (ring->tail != ring->head)
		abort();
}

static void remove_folder(void)
{
	(void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perf_event_mmap_page page;
	static struct pxt_tracepoint points[PXT_TRACEPOINTS];
	static struct pxt_schedlog log;
	struct pxt_perfring ring;
	static bool ready;
	char path[64];

	if (!ready && (!mkdtemp(folder) || atexit(remove_folder)))
		abort();
	ready = true;
	if (size < 1)
		return 0;
	unsigned mode = data[0];
	(void)snprintf(path, sizeof path, "%s/sched.ptl", folder);
	pb_points(points);
	const struct pxt_schedlog_wish wish = { .path = path,
		.child = 10,
		.wide = (mode & WIDE) != 0,
		.hidden = (mode & HIDDEN) != 0,
		.points = mode & POINTS ? points : NULL };
	made.used = 0;
	if (mode & RAW)
		pb_add(
		    &made, data + 1, size - 1 < sizeof made.bytes ? size - 1 : sizeof made.bytes);
	else
		make(data + 1, size - 1);
	if (!pxt_schedlog_begin(&log, &wish) || !pxt_perfring_init(&ring, &page, bytes, RING))
		abort();
	ring.tail = 3u * RING - (mode >> 4) * 8u;
	for (size_t i = 0; i < made.used; i++)
		bytes[(ring.tail + i) % RING] = made.bytes[i];
	page.data_head = ring.tail + made.used;
	take(&log, &ring);
	if (page.data_tail != page.data_head)
		abort();
	pxt_perfring_destroy(&ring);
	if (pxt_schedlog_end(&log))
		abort();
	check_log(path);
	return 0;
}
