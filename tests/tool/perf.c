/* SPDX-License-Identifier: MIT */
/* perf.c - records of perf_event_open(2): taken as they are, refused where they cannot be, out of a ring. */
#include "tools/sched/sched.h"

#include "perfbytes.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const struct pb_place here = { .ns = 5000, .cpu = 3, .pid = 40, .tid = 41 };

static bool parse(struct pxt_perfrec *rec, const struct perfbytes *from)
{
	return pxt_perfrec_parse(rec, from->bytes, from->used);
}

/* ---- Records ---- */

/* LPT-30, ZEP-06: which thread leaves the CPU, and whether it had to. */
PXT_TEST(a_switch_tells_thread_time_cpu_and_whether_it_was_preempted)
{
	struct pxt_perfrec rec;
	struct perfbytes out = { 0 };
	struct perfbytes preempted = { 0 };
	struct perfbytes in = { 0 };

	pb_out(&out, here, 0);
	CU_ASSERT(parse(&rec, &out));
	PXT_EQ(rec.kind, PXT_PERFREC_OUT);
	PXT_EQ(rec.ns, 5000);
	PXT_EQ(rec.cpu, 3);
	PXT_EQ(rec.pid, 40);
	PXT_EQ(rec.tid, 41);
	CU_ASSERT(!rec.preempted && !rec.told_other);
	pb_out(&preempted, here, PB_PREEMPTED);
	CU_ASSERT(parse(&rec, &preempted) && rec.preempted);
	pb_in(&in, here);
	CU_ASSERT(parse(&rec, &in) && rec.kind == PXT_PERFREC_IN);
}

PXT_TEST(a_switch_of_the_whole_machine_tells_both_threads)
{
	struct pxt_perfrec rec;
	struct perfbytes out = { 0 };

	pb_wide_out(&out, here, 0, 77);
	CU_ASSERT(parse(&rec, &out));
	PXT_EQ(rec.kind, PXT_PERFREC_OUT);
	CU_ASSERT(rec.told_other);
	PXT_EQ(rec.tid, 41);
	PXT_EQ(rec.other_tid, 77);
}

/* QNX-24 */
PXT_TEST(names_forks_and_ends_tell_whom_they_are_about)
{
	struct pxt_perfrec rec;
	struct perfbytes name = { 0 };
	struct perfbytes fork = { 0 };

	pb_name(&name, here, "fifteen letters", 1);
	CU_ASSERT(parse(&rec, &name));
	PXT_EQ(rec.kind, PXT_PERFREC_NAME);
	CU_ASSERT(rec.exec);
	CU_ASSERT_STRING_EQUAL(rec.name, "fifteen letters");
	pb_task(&fork, 7, here, 40, 43, 41);
	CU_ASSERT(parse(&rec, &fork));
	PXT_EQ(rec.kind, PXT_PERFREC_FORK);
	PXT_EQ(rec.tid, 43);
	PXT_EQ(rec.other_tid, 41);
	PXT_EQ(rec.ns, 5000);
}

/* Page faults, major ones, and where a thread runs: each kind has a size of its own. */
PXT_TEST(an_address_tells_by_its_size_what_it_is_of)
{
	struct pxt_perfrec rec;
	struct perfbytes faults = { 0 };
	struct perfbytes major = { 0 };
	struct perfbytes runs = { 0 };

	pb_address(&faults, here, 0x401234, 0);
	CU_ASSERT(parse(&rec, &faults));
	PXT_EQ(rec.kind, PXT_PERFREC_FAULTS);
	PXT_EQ(rec.address, 0x401234);
	PXT_EQ(rec.tid, 41);
	PXT_EQ(rec.ns, 5000);
	PXT_EQ(rec.cpu, 3);
	CU_ASSERT(!rec.major);
	pb_address(&major, here, 0x401234, 1);
	CU_ASSERT(parse(&rec, &major));
	PXT_EQ(rec.kind, PXT_PERFREC_FAULTS);
	PXT_EQ(rec.cpu, 3);
	CU_ASSERT(rec.major);
	pb_address(&runs, here, 0x401234, 2);
	CU_ASSERT(parse(&rec, &runs));
	PXT_EQ(rec.kind, PXT_PERFREC_RUNS);
	PXT_EQ(rec.address, 0x401234);
	PXT_EQ(rec.cpu, 3);
}

#if defined(__x86_64__)
PXT_TEST(where_a_thread_runs_is_told_with_its_stack)
{
	struct pxt_perfrec rec;
	struct perfbytes runs = { 0 };

	pb_stack(&runs, here, 0x401234, 2, 64);
	CU_ASSERT(parse(&rec, &runs));
	PXT_EQ(rec.kind, PXT_PERFREC_RUNS);
	PXT_EQ(rec.address, 0x401234);
	CU_ASSERT(rec.has_stack);
	PXT_EQ(rec.frame, 0x7000);
	PXT_EQ(rec.stack, 0x6000);
	PXT_EQ(rec.bytes, 64);
	PXT_EQ(rec.data[0], 0x5a);
	/* Of a program of another word size there are other registers. */
	runs.used = 0;
	pb_stack(&runs, here, 0x401234, 1, 64);
	CU_ASSERT(parse(&rec, &runs) && !rec.has_stack);
	/* More than was asked for. */
	runs.used = 0;
	pb_stack(&runs, here, 0x401234, 2, PXT_PERFREC_STACK + 1u);
	CU_ASSERT(!parse(&rec, &runs));
}
#endif

PXT_TEST(losses_are_told_with_their_number)
{
	struct pxt_perfrec rec;
	struct perfbytes lost = { 0 };
	struct perfbytes samples = { 0 };
	const uint64_t count = 12;

	pb_lost(&lost, here, 1234);
	CU_ASSERT(parse(&rec, &lost) && rec.kind == PXT_PERFREC_LOST);
	PXT_EQ(rec.lost, 1234);
	pb_record(&samples, 13, 0, &count, sizeof count, here);
	CU_ASSERT(parse(&rec, &samples) && rec.kind == PXT_PERFREC_LOST);
	PXT_EQ(rec.lost, 12);
}

PXT_TEST(what_is_not_known_is_passed_over)
{
	struct pxt_perfrec rec;
	struct perfbytes other = { 0 };
	const unsigned char body[32] = { 0 };

	pb_record(&other, 4711, 0xffff, body, sizeof body, here);
	CU_ASSERT(parse(&rec, &other));
	PXT_EQ(rec.kind, PXT_PERFREC_OTHER);
	PXT_EQ(rec.ns, 5000);
}

/* Of each type all sizes but its own: none of them is read beyond its end (AddressSanitizer sees it). */
PXT_TEST(a_record_of_a_wrong_size_is_none)
{
	static const struct {
		uint32_t type;
		size_t right;
	} types[] = { { 2, 16 }, { 4, 24 }, { 7, 24 }, { 13, 8 }, { 14, 0 }, { 15, 8 } };
	struct pxt_perfrec rec;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		for (size_t size = 0; size < 40; size += 4) {
			struct perfbytes made = { 0 };
			const unsigned char body[40] = { 0 };

			pb_record(&made, types[i].type, 0, body, size, here);
			unsigned char *exact = malloc(made.used);
			memcpy(exact, made.bytes, made.used);
			PXT_CHECK(
			    pxt_perfrec_parse(&rec, exact, made.used) == (size == types[i].right),
			    "type %u with %zu bytes", types[i].type, size);
			free(exact);
		}
	}
}

PXT_TEST(a_cut_record_is_none)
{
	struct pxt_perfrec rec;
	struct perfbytes made = { 0 };

	pb_said_waking(&made, here, 5, 1);
	for (size_t size = 0; size < made.used; size++) {
		struct perf_event_header head;
		unsigned char *exact = malloc(size + 1);

		memcpy(exact, made.bytes, size);
		/* As the ring has it: a size, whatever was meant. */
		if (size >= sizeof head) {
			memcpy(&head, exact, sizeof head);
			head.size = (uint16_t)size;
			memcpy(exact, &head, sizeof head);
		}
		bool whole = pxt_perfrec_parse(&rec, exact, size);
		/* The kernel cuts none; a cut one may have the size of a record with an address. */
		bool address = rec.kind == PXT_PERFREC_FAULTS || rec.kind == PXT_PERFREC_RUNS;
		PXT_CHECK(!whole || rec.kind == PXT_PERFREC_OTHER || (address && size <= 56),
		    "%zu bytes", size);
		free(exact);
	}
}

/* ---- The ring ---- */

#define RING 4096u

struct made_ring {
	struct perf_event_mmap_page page;
	unsigned char data[RING];
	struct pxt_perfring ring;
};

static void ring_begin(struct made_ring *made, uint64_t at)
{
	memset(made, 0, sizeof *made);
	CU_ASSERT_FATAL(pxt_perfring_init(&made->ring, &made->page, made->data, RING));
	made->page.data_head = made->page.data_tail = made->ring.tail = at;
}

static void ring_put(struct made_ring *made, const struct perfbytes *from)
{
	for (size_t i = 0; i < from->used; i++)
		made->data[(made->page.data_head + i) % RING] = from->bytes[i];
	made->page.data_head += from->used;
}

PXT_TEST(a_record_on_both_ends_of_the_ring_is_whole)
{
	static struct made_ring made;
	struct pxt_perfrec rec;
	size_t size;

	for (uint64_t before = 8; before < 56; before += 8) {
		struct perfbytes name = { 0 };

		ring_begin(&made, 3 * RING - before);
		pb_name(&name, here, "on both ends", 0);
		ring_put(&made, &name);
		PXT_EQ(pxt_perfring_look(&made.ring), name.used);
		const unsigned char *bytes = pxt_perfring_next(&made.ring, &size);
		CU_ASSERT_FATAL(bytes != NULL);
		CU_ASSERT(pxt_perfrec_parse(&rec, bytes, size));
		CU_ASSERT_STRING_EQUAL(rec.name, "on both ends");
		pxt_perfring_skip(&made.ring, size);
		CU_ASSERT(pxt_perfring_next(&made.ring, &size) == NULL);
		pxt_perfring_free(&made.ring);
		PXT_EQ(made.page.data_tail, made.page.data_head);
		pxt_perfring_destroy(&made.ring);
	}
}

/* The kernel may write over what was freed: nothing is freed before it was read. */
PXT_TEST(room_is_given_back_only_when_it_was_read)
{
	static struct made_ring made;
	struct perfbytes two = { 0 };
	size_t size;

	ring_begin(&made, 0);
	pb_out(&two, here, 0);
	size_t first = two.used;
	pb_in(&two, here);
	ring_put(&made, &two);
	(void)pxt_perfring_look(&made.ring);
	CU_ASSERT(pxt_perfring_next(&made.ring, &size) != NULL);
	pxt_perfring_free(&made.ring);
	PXT_EQ(made.page.data_tail, 0);
	pxt_perfring_skip(&made.ring, size);
	pxt_perfring_free(&made.ring);
	PXT_EQ(made.page.data_tail, first);
	pxt_perfring_destroy(&made.ring);
}

PXT_TEST(what_comes_after_the_look_waits_for_the_next)
{
	static struct made_ring made;
	struct perfbytes one = { 0 };
	size_t size;

	ring_begin(&made, 0);
	pb_in(&one, here);
	(void)pxt_perfring_look(&made.ring);
	ring_put(&made, &one);
	CU_ASSERT(pxt_perfring_next(&made.ring, &size) == NULL);
	(void)pxt_perfring_look(&made.ring);
	CU_ASSERT(pxt_perfring_next(&made.ring, &size) != NULL);
	pxt_perfring_destroy(&made.ring);
}

PXT_TEST(a_size_that_cannot_be_ends_the_reading_and_is_counted)
{
	static const uint16_t sizes[] = { 0, 7, 4000 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		static struct made_ring made;
		struct perfbytes one = { 0 };
		size_t size;

		ring_begin(&made, 0);
		pb_in(&one, here);
		memcpy(one.bytes + 6, &sizes[i], 2);
		ring_put(&made, &one);
		(void)pxt_perfring_look(&made.ring);
		CU_ASSERT(pxt_perfring_next(&made.ring, &size) == NULL);
		PXT_EQ(made.ring.broken, one.used);
		/* What comes afterwards is read again. */
		one.used = 0;
		pb_in(&one, here);
		ring_put(&made, &one);
		(void)pxt_perfring_look(&made.ring);
		CU_ASSERT(pxt_perfring_next(&made.ring, &size) != NULL);
		pxt_perfring_destroy(&made.ring);
	}
}

/* ---- Tracepoints ---- */

/* SHARK-36: priorities of both, by the kernel's own layout. */
PXT_TEST(a_tracepoint_is_read_by_its_format)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];
	struct pxt_tracepoint_said said;
	struct perfbytes made = { 0 };
	struct pxt_perfrec rec;

	pb_points(points);
	pb_said_switch(&made, here, 41, 2, 43);
	CU_ASSERT_FATAL(parse(&rec, &made));
	PXT_EQ(pxt_tracepoint_read(points, rec.data, rec.bytes, &said), PXT_TRACEPOINT_SWITCH);
	PXT_EQ(said.tid, 41);
	PXT_EQ(said.prio, 141);
	PXT_EQ(said.state, 2);
	PXT_EQ(said.next_tid, 43);
	PXT_EQ(said.next_prio, 143);
	CU_ASSERT_STRING_EQUAL(said.name, "t1");
	CU_ASSERT_STRING_EQUAL(said.next_name, "t3");
}

/* Softirqs and frequencies have as many bytes as a page fault and a place have. */
PXT_TEST(a_short_tracepoint_is_not_taken_for_an_address)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];
	struct pxt_tracepoint_said said;
	struct pxt_perfrec rec;

	pb_points(points);
	for (unsigned kind = PXT_TRACEPOINT_IRQ; kind <= PXT_TRACEPOINT_SOFTIRQ_END; kind++) {
		struct perfbytes out = { 0 };

		pb_irq(&out, here, kind, 3);
		CU_ASSERT_FATAL(parse(&rec, &out));
		PXT_EQ(rec.kind, PXT_PERFREC_SAMPLE);
		PXT_EQ(rec.tid, 41);
		PXT_EQ(pxt_tracepoint_read(points, rec.data, rec.bytes, &said), kind);
		PXT_EQ(said.numbers[0], 3);
		CU_ASSERT_STRING_EQUAL(said.name, kind == PXT_TRACEPOINT_IRQ ? "disk0" : "");
	}
}

PXT_TEST(a_sample_that_is_too_short_for_its_fields_says_nothing)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];
	struct pxt_tracepoint_said said;
	unsigned char data[64] = { PB_ID_SWITCH & 0xff, PB_ID_SWITCH >> 8 };

	pb_points(points);
	for (size_t bytes = 0; bytes < sizeof data; bytes++) {
		unsigned char *exact = malloc(bytes + 1);

		memcpy(exact, data, bytes);
		PXT_CHECK(pxt_tracepoint_read(points, exact, bytes, &said) == PXT_TRACEPOINTS,
		    "%zu bytes", bytes);
		free(exact);
	}
	PXT_EQ(pxt_tracepoint_read(points, data, sizeof data, &said), PXT_TRACEPOINT_SWITCH);
}

PXT_TEST(a_format_without_a_field_is_refused)
{
	static const char *const missing[] = { "prev_comm[16]", "prev_pid", "prev_prio",
		"prev_state", "next_comm[16]", "next_pid", "next_prio", "ID:" };
	struct pxt_tracepoint point;

	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
		char text[sizeof pb_switch_format];

		memcpy(text, pb_switch_format, sizeof text);
		*strstr(text, missing[i]) = 'X';
		PXT_CHECK(
		    !pxt_tracepoint_parse(&point, PXT_TRACEPOINT_SWITCH, text) && !point.known,
		    "without %s", missing[i]);
	}
	/* The name of one field may be the end of another's. */
	CU_ASSERT(!pxt_tracepoint_parse(&point, PXT_TRACEPOINT_WAKING,
	    "ID: 5\n\tfield:char xcomm[16];\toffset:8;\tsize:16;\n\tfield:int pid;\toffset:24;\t"
	    "size:4;\n\tfield:int prio;\toffset:28;\tsize:4;\n\tfield:int "
	    "target_cpu;\toffset:32;\tsize:4;\n"));
	CU_ASSERT(!pxt_tracepoint_parse(&point, PXT_TRACEPOINT_WAKING, ""));
}

PXT_TEST(a_field_of_a_size_that_nobody_knows_is_refused)
{
	char text[sizeof pb_waking_format];
	struct pxt_tracepoint point;

	memcpy(text, pb_waking_format, sizeof text);
	char *size = strstr(strstr(text, "target_cpu"), "size:4");
	size[5] = '2';
	CU_ASSERT(!pxt_tracepoint_parse(&point, PXT_TRACEPOINT_WAKING, text));
}

/* ---- What is said where the kernel does not allow all ---- */

static struct pxt_schedsay say;

static bool says(const struct pxt_schedtold *told, const char *what, const char *how)
{
	return pxt_schedsay_missing(&say, told) && strstr(say.what, what) && strstr(say.how, how) &&
	       strlen(say.what) < sizeof say.what - 1 && strlen(say.how) < sizeof say.how - 1;
}

PXT_TEST(where_all_is_recorded_there_is_nothing_to_say)
{
	const struct pxt_schedtold told = { .level = PXT_SCHEDLEVEL_POINTS, .paranoid = 2 };

	CU_ASSERT(!pxt_schedsay_missing(&say, &told));
}

/* Who asked for less is not told that there is more. */
PXT_TEST(what_was_not_asked_for_is_not_missed)
{
	const struct pxt_schedtold own = { .level = PXT_SCHEDLEVEL_OWN, .paranoid = 2 };
	const struct pxt_schedtold all = { .level = PXT_SCHEDLEVEL_ALL, .paranoid = 2 };

	CU_ASSERT(!pxt_schedsay_missing(&say, &own));
	CU_ASSERT(!pxt_schedsay_missing(&say, &all));
}

PXT_TEST(a_refusal_names_the_line_that_would_allow_it)
{
	struct pxt_schedtold told = { .error = EACCES, .paranoid = 3 };

	CU_ASSERT(says(&told, "not recorded: perf_event_open: Permission denied",
	    "sysctl kernel.perf_event_paranoid=2"));
	told.error = EPERM;
	told.paranoid = 2;
	CU_ASSERT(says(&told, "Operation not permitted", "--cap-add PERFMON"));
	told.error = ENOSYS;
	CU_ASSERT(says(&told, "not recorded", "no perf events"));
	told.error = EMFILE;
	CU_ASSERT(says(&told, "not recorded", "ulimit -n"));
}

PXT_TEST(own_threads_alone_name_the_line_that_allows_all)
{
	struct pxt_schedtold told = {
		.level = PXT_SCHEDLEVEL_OWN, .all_error = EACCES, .paranoid = 2
	};

	CU_ASSERT(says(&told, "not who runs instead", "sysctl kernel.perf_event_paranoid=-1"));
	told.all_error = EMFILE;
	CU_ASSERT(says(&told, "not who runs instead", "ulimit -n"));
}

PXT_TEST(missing_tracepoints_name_the_mount)
{
	struct pxt_schedtold told = {
		.level = PXT_SCHEDLEVEL_ALL, .points_error = ENOENT, .paranoid = 0
	};

	CU_ASSERT(says(&told, "not who wakes whom", "mount -t tracefs"));
	told.points_error = EACCES;
	CU_ASSERT(
	    says(&told, "not who wakes whom", "perf_event_paranoid=-1, and mount -o remount"));
	told.paranoid = -1;
	CU_ASSERT(says(&told, "not who wakes whom", "mount -o remount"));
	told.points_error = EXDEV;
	told.other_space = true;
	CU_ASSERT(says(&told, "not who wakes whom", "--pid=host"));
}
