/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - what a trace point does not do: no system call (the system would kill it), no
 * allocation, no page fault, over a million events of each kind.
 */
#include "kit.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define EVENTS 1000000u

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
static unsigned long mallocs;

void *__wrap_malloc(size_t bytes)
{
	mallocs++;
	return __real_malloc(bytes);
}

struct kind {
	int policy;
	unsigned lanes;
	size_t len;
	bool filtered;
	unsigned streams;
};

/* Everything but the end of the process and what the test itself asks for kills. */
static bool forbid_system_calls(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(rules) / sizeof(rules[0]), .filter = rules };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static void write_many(const struct kind *kind, uint32_t count)
{
	static const unsigned char data[256];
	trace_event_id_t type = kit_type();

	for (uint32_t i = 0; i < count; i++) {
		kit_lane(i / 64u % kind->lanes);
		posix_trace_event(type, data, kind->len);
	}
}

static void filter_out(trace_id_t trid)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static int trace_quietly(void *argument)
{
	const struct kind *kind = argument;
	const struct kit_spec spec = { .policy = kind->policy,
		.lanes = kind->lanes,
		.bytes = 65536,
		.data = 256,
		.polling = false };
	struct rusage before;
	struct rusage after;
	unsigned long allocated;

	for (unsigned i = 0; i < kind->streams; i++) {
		trace_id_t trid = kit_open(&spec);

		kit_start(trid);
		if (kind->filtered)
			filter_out(trid);
	}
	/* The code itself is paged in by the first events, not the streams' memory. */
	write_many(kind, 1);
	(void)getrusage(RUSAGE_SELF, &before);
	allocated = mallocs;
	PXT_CHILD_CHECK(forbid_system_calls());
	(void)getrusage(RUSAGE_SELF, &before);
	write_many(kind, EVENTS);
	(void)getrusage(RUSAGE_SELF, &after);
	PXT_CHILD_CHECK(mallocs == allocated);
	PXT_CHILD_CHECK(after.ru_majflt == before.ru_majflt);
	PXT_CHILD_CHECK(after.ru_minflt == before.ru_minflt);
	return 0;
}

static const struct kind kinds[] = {
	{ POSIX_TRACE_LOOP, 1, 4, false, 1 },
	{ POSIX_TRACE_LOOP, 2, 100, false, 1 },
	{ POSIX_TRACE_LOOP, 2, 256, false, 3 },
	{ POSIX_TRACE_LOOP, 1, 4, true, 1 },
	{ POSIX_TRACE_UNTIL_FULL, 1, 30, false, 1 },
	{ POSIX_TRACE_UNTIL_FULL, 2, 4, false, 2 },
};

/* DEC-38, EVENT-07, SAFE-01 */
static void a_trace_point_makes_no_system_call_no_allocation_and_no_page_fault(void)
{
	if (SANITIZED) {
		pxt_skip("sanitizers do all of it");
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct kind kind = kinds[i];
		int line = pxt_in_child(trace_quietly, &kind);

		PXT_CHECK(line == 0, "kind %zu: %d (negative: a signal; else a line)", i, line);
	}
}

static const struct pxt_case cases[] = {
	PXT_CASE(a_trace_point_makes_no_system_call_no_allocation_and_no_page_fault),
};
PXT_SUITE("core: a quiet trace point", cases)
