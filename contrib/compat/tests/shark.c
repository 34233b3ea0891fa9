/* SPDX-License-Identifier: MIT */
/* shark.c - S.Ha.R.K.'s tracer: chunks, filters, codes, what is sent, bad calls. */
#include "suite.h"

#include <FTrace.h>
#include <FTrace_chunk.h>
#include <FTrace_udp.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#define FREE FTRACE_CHUNK_FLAG_FREE
#define CYC  FTRACE_CHUNK_FLAG_CYC
#define JTN  FTRACE_CHUNK_FLAG_JTN
#define STOP FTRACE_CHUNK_FLAG_STOP

/* shark_off.c: logs an event whose parameters are @argument++ twice; returns @argument. */
int log_without_tracer(int argument);

struct event {
	WORD code;
	WORD par1;
	uint64_t tsc;
	DWORD par2;
};

/* The manual's own expression, on the manual's own machine: little endian. */
static struct event decode(const unsigned char *ptr)
{
	struct event event;
	DWORD high = 0;
	DWORD low = 0;

	event.code = (WORD)(ptr[0] | ptr[1] << 8);
	event.par1 = (WORD)(ptr[2] | ptr[3] << 8);
	event.par2 = 0;
	for (int i = 3; i >= 0; i--) {
		high = high << 8 | ptr[4 + i];
		low = low << 8 | ptr[8 + i];
		event.par2 = event.par2 << 8 | ptr[12 + i];
	}
	event.tsc = (uint64_t)high << 32;
	event.tsc += low;
	return event;
}

static const struct FTrace_Chunk *chunk(int number)
{
	return FTrace_get_chunk_table()[number];
}

/* The @index-th event of a chunk, from its oldest. */
static struct event at(int number, DWORD index)
{
	const struct FTrace_Chunk *c = chunk(number);

	return decode(&c->memory[(size_t)((c->oldest + index) % c->events) * FTRACE_EVENT_BYTES]);
}

/* A chunk for so many events. */
static int make(int events, FTrace_flags flags)
{
	return FTrace_chunk_create(events * FTRACE_EVENT_BYTES, 0, flags);
}

static void log_points(int from, int to)
{
	for (int i = from; i < to; i++)
		TRACER_LOGEVENT(FTrace_EVT_ipoint, i, i * 2);
}

static bool holds(int number, int from, int to)
{
	const struct FTrace_Chunk *c = chunk(number);
	uint64_t last = 0;

	if (c->events != (DWORD)(to - from))
		return false;
	for (int i = from; i < to; i++) {
		const struct event event = at(number, (DWORD)(i - from));

		if (event.code != FTrace_EVT_ipoint || event.par1 != i ||
		    event.par2 != (DWORD)i * 2 || event.tsc < last)
			return false;
		last = event.tsc;
	}
	return true;
}

/* SHARK-04, SHARK-05: order of calls. */
PXT_TEST_FRESH(events_are_logged_between_enable_and_disable)
{
	const int a = make(100, FREE | CYC);

	CU_ASSERT_EQUAL(FTrace_enable(), -1);
	log_points(0, 3);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	log_points(3, 6);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(6, 9);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	log_points(9, 12);
	CU_ASSERT(holds(a, 6, 9));
	/* Again, into the same chunk, after what it has. */
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(9, 12);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 6, 12));
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
}

/* SHARK-03: nothing is logged, and no parameter is evaluated. */
PXT_TEST_FRESH(a_file_without_the_tracer_logs_nothing)
{
	const int a = make(100, FREE | CYC);

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 1);
	CU_ASSERT_EQUAL(log_without_tracer(5), 5);
	log_points(1, 2);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 0, 2));
}

/* SHARK-06: 256 chunks, and sizes that make sense. */
PXT_TEST_FRESH(there_are_256_chunks)
{
	for (int i = 0; i < FTRACE_CHUNKS_MAX; i++)
		CU_ASSERT_EQUAL(make(4, FREE), i);
	CU_ASSERT_EQUAL(make(4, FREE), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_delete(7), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_create(15, 0, FREE), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_create(-16, 0, FREE), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_create(16, -1, FREE), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_create(16, 0, 0x80), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_create(31, 5, FREE), 7);
	CU_ASSERT(chunk(7)->capacity == 1 && chunk(7)->emergency_size == 5);
}

/* SHARK-08: a chunk that is not to be deleted is kept, and that is no error. */
PXT_TEST_FRESH(a_chunk_that_is_not_to_be_deleted_stays)
{
	const int a = make(4, FREE | FTRACE_CHUNK_FLAG_NODEL);
	const int b = make(4, FREE);

	CU_ASSERT_EQUAL(FTrace_chunk_delete(a), 0);
	CU_ASSERT_PTR_NOT_NULL(chunk(a));
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(b), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_delete(b), -1);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_delete(b), 0);
	CU_ASSERT_PTR_NULL(chunk(b));
	CU_ASSERT_EQUAL(FTrace_chunk_delete(b), -1);
	CU_ASSERT_EQUAL(FTrace_enable(), -1);
}

/* SHARK-09, SHARK-10, SHARK-16: eight flags, one of which is no bit. */
PXT_TEST_FRESH(flags_are_kept_and_found)
{
	static const FTrace_flags flags[] = { 0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40 };
	FTrace_flags got;

	CU_ASSERT(CYC == 0 && FREE == 1 && FTRACE_CHUNK_FLAG_FULL == 2 && JTN == 4 && STOP == 8);
	CU_ASSERT(FTRACE_CHUNK_FLAG_BUSY == 16 && FTRACE_CHUNK_FLAG_NODEL == 32 &&
	          FTRACE_CHUNK_FLAG_COMPR == 64);
	for (int i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(make(4, flags[i]), i);
		CU_ASSERT(FTrace_get_chunk_flags(i, &got) == 0 && got == flags[i]);
		CU_ASSERT_EQUAL(FTrace_get_first_chunk(flags[i]), i);
	}
	CU_ASSERT_EQUAL(FTrace_get_first_chunk(FREE | JTN), -1);
	CU_ASSERT_EQUAL(FTrace_set_chunk_flags(5, FREE | JTN), 0);
	CU_ASSERT_EQUAL(FTrace_get_first_chunk(FREE | JTN), 5);
	CU_ASSERT_EQUAL(FTrace_set_chunk_flags(5, 0x80), -1);
	CU_ASSERT(FTrace_get_chunk_flags(5, &got) == 0 && got == (FREE | JTN));
	CU_ASSERT_EQUAL(FTrace_get_chunk_flags(5, NULL), -1);
}

/* SHARK-14: only a free chunk, and it is no more. */
PXT_TEST_FRESH(only_a_free_chunk_is_selected)
{
	const int a = make(4, FREE);
	FTrace_flags got;

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT(FTrace_get_chunk_flags(a, &got) == 0 && got == 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), -1);
	CU_ASSERT_EQUAL(FTrace_set_chunk_flags(a, FREE), 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
}

/* SHARK-11, SHARK-46: the newest stay, and the oldest of them comes first. */
PXT_TEST_FRESH(a_cyclic_chunk_keeps_the_newest_events)
{
	const int a = make(100, FREE | CYC);

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 300);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 200, 300));
	CU_ASSERT(chunk(a)->overwritten == 200 && chunk(a)->refused == 0);
}

/* SHARK-13: the oldest stay; the flag says that some found no room. */
PXT_TEST_FRESH(a_chunk_that_stops_keeps_the_oldest_events)
{
	const int a = make(100, FREE | STOP);
	FTrace_flags got;

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 100);
	CU_ASSERT(FTrace_get_chunk_flags(a, &got) == 0 && got == STOP);
	log_points(100, 300);
	CU_ASSERT(FTrace_get_chunk_flags(a, &got) == 0 && got == (STOP | FTRACE_CHUNK_FLAG_FULL));
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 0, 100));
	CU_ASSERT(chunk(a)->overwritten == 0 && chunk(a)->refused == 200);
}

/* SHARK-12, SHARK-15: no event falls between; at the end of the chain they are refused and counted. */
PXT_TEST_FRESH(a_full_chunk_goes_on_in_the_next)
{
	const int a = make(100, FREE | JTN);
	const int b = make(50, FREE | JTN);
	const int c = make(30, FREE | STOP);

	CU_ASSERT_EQUAL(FTrace_chunk_link(a, b), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_link(b, c), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_link(c, a), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_link(a, 99), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_link(99, a), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_link(a, -1), -1);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 200);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 0, 100));
	CU_ASSERT(holds(b, 100, 150));
	CU_ASSERT(holds(c, 150, 180));
	CU_ASSERT_EQUAL(chunk(c)->refused, 20);
}

/* A ring of chunks that are not free any more does not overwrite what nobody has sent. */
PXT_TEST_FRESH(a_chunk_that_is_not_free_is_not_gone_on_to)
{
	const int a = make(10, FREE | JTN);
	const int b = make(10, FREE | JTN);

	CU_ASSERT_EQUAL(FTrace_chunk_link(a, b), 0);
	CU_ASSERT_EQUAL(FTrace_chunk_link(b, a), 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 25);
	CU_ASSERT(holds(a, 0, 10));
	CU_ASSERT_EQUAL(FTrace_set_chunk_flags(a, FREE | JTN), 0);
	log_points(25, 30);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 25, 30));
	CU_ASSERT(holds(b, 10, 20));
	CU_ASSERT_EQUAL(chunk(b)->refused, 5);
}

/* SHARK-42: it is not stored, and what comes later is in the next chunk. */
PXT_TEST_FRESH(the_next_chunk_event_goes_on_and_is_not_stored)
{
	const int a = make(100, FREE | CYC);
	const int b = make(100, FREE | CYC);

	CU_ASSERT_EQUAL(FTrace_chunk_link(a, b), 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 5);
	TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
	log_points(5, 8);
	/* Nothing is linked to b: the tracer stays. */
	TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
	log_points(8, 9);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT(holds(a, 0, 5));
	CU_ASSERT(holds(b, 5, 9));
}

/* SHARK-24, SHARK-25, SHARK-44: 1 keeps a family out, 0 lets it in; the call is an event that stays. */
PXT_TEST_FRESH(a_filter_that_is_on_keeps_its_family_out)
{
	const int a = make(1000, FREE | CYC);
	DWORD next = 0;

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	for (int family = 0; family < 12; family++) {
		FTrace_set_filter((BYTE)(FTrace_filter_trace_Events + family), 1);
		for (int other = 1; other < 12; other++)
			TRACER_LOGEVENT(0x10 | other, 1, 2);
		FTrace_set_filter((BYTE)(FTrace_filter_trace_Events + family), 0);
		TRACER_LOGEVENT(0x10 | family, 3, 4);
	}
	FTrace_set_filter(0xFC, 1);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	for (int family = 0; family < 12; family++) {
		CU_ASSERT(at(a, next).code == 0xF0 + family && at(a, next).par1 == 1);
		next++;
		for (int other = 1; other < 12; other++)
			if (other != family) {
				CU_ASSERT(
				    at(a, next).code == (0x10 | other) && at(a, next).par1 == 1);
				next++;
			}
		CU_ASSERT(at(a, next).code == 0xF0 + family && at(a, next).par1 == 0);
		CU_ASSERT(at(a, next + 1).code == (0x10 | family) && at(a, next + 1).par1 == 3);
		next += 2;
	}
	CU_ASSERT_EQUAL(chunk(a)->events, next);
}

/* SHARK-26: all 68 codes but the empty one and next_chunk, others, and parameters at their ends. */
PXT_TEST_FRESH(every_code_comes_back_with_its_parameters)
{
	const int a = make(1000, FREE | CYC);
	DWORD next = 0;

	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	for (int code = 0; code < 0xFF; code++)
		TRACER_LOGEVENT(code, 0xFFFF - code, 0xFFFFFFFFu - (DWORD)code);
	TRACER_LOGEVENT(0x8001, 1, 2);
	TRACER_LOGEVENT(0xFFFF, 3, 4);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	for (int code = 1; code < 0xFF; code++) {
		const struct event event = at(a, next++);

		CU_ASSERT(event.code == code && event.par1 == 0xFFFF - code);
		CU_ASSERT_EQUAL(event.par2, 0xFFFFFFFFu - (DWORD)code);
	}
	CU_ASSERT(at(a, next).code == 0x8001 && at(a, next + 1).code == 0xFFFF);
	CU_ASSERT_EQUAL(chunk(a)->events, next + 2);
}

/* SHARK-45, SHARK-47: the stamp is the counter that stamps native events, whole. */
PXT_TEST_FRESH(the_stamp_is_the_streams_counter)
{
	const int a = make(10, FREE | CYC);
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra = { .posix_ticks_np = 0 };
	unsigned char data[16];
	uint64_t ticks[3] = { 0, 0, 0 };
	trace_event_id_t native;
	trace_id_t stream;
	size_t bytes;
	int found = 0;
	int none = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	CU_ASSERT_EQUAL(posix_trace_eventid_open("native", &native), 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	posix_trace_event(native, "1", 1);
	log_points(7, 8);
	posix_trace_event(native, "2", 1);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	while (
	    found < 3 &&
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &bytes, &none) == 0 &&
	    !none)
		if (info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT) {
			char name[TRACE_EVENT_NAME_MAX + 1];

			CU_ASSERT_EQUAL(
			    posix_trace_eventid_get_name(stream, info.posix_event_id, name), 0);
			CU_ASSERT_STRING_EQUAL(name, found == 1 ? "FTrace_EVT_ipoint" : "native");
			(void)posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra));
			ticks[found++] = extra.posix_ticks_np;
		}
	CU_ASSERT_EQUAL(found, 3);
	CU_ASSERT(holds(a, 7, 8));
	CU_ASSERT(ticks[0] <= at(a, 0).tsc && at(a, 0).tsc <= ticks[2]);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

#define WRITERS 4
#define EACH    5000

static void *logs(void *context)
{
	for (int i = 0; i < EACH; i++)
		TRACER_LOGEVENT(FTrace_EVT_user_event_0, *(const WORD *)context, i);
	return NULL;
}

/* Through 64 chunks, beside each other: each event once, in its thread's order. */
PXT_TEST_FRESH(nothing_is_lost_or_doubled_where_threads_go_on_together)
{
	const WORD names[WRITERS] = { 0, 1, 2, 3 };
	DWORD next[WRITERS] = { 0, 0, 0, 0 };
	pthread_t threads[WRITERS];
	uint64_t events = 0;
	bool ordered = true;
	int last = -1;

	for (int i = 0; i < 64; i++) {
		const int made = make(WRITERS * EACH / 60, FREE | JTN);

		if (last >= 0)
			CU_ASSERT_EQUAL(FTrace_chunk_link(last, made), 0);
		last = made;
	}
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(0), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	for (int i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL_FATAL(
		    pthread_create(&threads[i], NULL, logs, (void *)(uintptr_t)&names[i]), 0);
	for (int i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	for (int i = 0; i <= last; i++) {
		events += chunk(i)->events;
		CU_ASSERT_EQUAL(chunk(i)->refused, 0);
		for (DWORD k = 0; k < chunk(i)->events; k++) {
			const struct event event = at(i, k);

			ordered &= event.par1 < WRITERS && event.par2 == next[event.par1 % WRITERS];
			next[event.par1 % WRITERS] = event.par2 + 1;
		}
	}
	CU_ASSERT_EQUAL(events, WRITERS * EACH);
	CU_ASSERT(ordered);
	CU_ASSERT(chunk(50)->events != 0);
}

/* ---- Sending ---- */

/* SHARK-19, SHARK-20, SHARK-21: files with a number in front, when the process exits. */
PXT_TEST_FRESH(chunks_become_files_when_the_process_exits)
{
	char folder[] = "sharkXXXXXX";
	char path[64];
	unsigned char bytes[64];
	FTrace_flags got = 0;
	int status;
	pid_t child;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	child = fork();
	if (child == 0) {
		const int a = make(3, FREE | CYC);
		const int b = make(3, FREE | CYC);
		bool right = FTrace_send_chunk(a, 0, FREE) == -1;

		(void)snprintf(path, sizeof(path), "%s/trace.dat", folder);
		right &= FTrace_chunk_link(a, b) == 0 && FTrace_actual_chunk_select(a) == 0 &&
		         FTrace_enable() == 0;
		log_points(0, 5);
		TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
		log_points(5, 6);
		right &= FTrace_init_disk_writer(path, 0, NULL, NULL) == 0;
		right &= FTrace_send_chunk(b, 0, FREE) == -1;
		right &= FTrace_disable() == 0;
		right &= FTrace_send_chunk(a, 0, FREE | JTN) == 0;
		right &= FTrace_get_chunk_flags(a, &got) == 0 && got == (FREE | JTN);
		FTrace_disk_writer(FTrace_get_chunk_table()[b]);
		FTrace_disk_writer(NULL);
		/* What is sent stays as it was. */
		right &= FTrace_actual_chunk_select(a) == 0 && FTrace_enable() == 0;
		log_points(77, 79);
		right &= FTrace_disable() == 0;
		right &=
		    FTrace_send_chunk(99, 0, FREE) == -1 && FTrace_send_chunk(a, 0, 0x80) == -1;
		right &= FTrace_init_disk_writer("", 0, NULL, NULL) == -1;
		exit(right ? 0 : 9);
	}
	CU_ASSERT(waitpid(child, &status, 0) == child && status == 0);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%dtrace.dat", folder, i);
		FILE *file = fopen(path, "rb");

		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		CU_ASSERT_EQUAL(fread(bytes, 1, sizeof(bytes), file), i == 0 ? 48 : 16);
		CU_ASSERT_EQUAL(decode(bytes).par1, i == 0 ? 2 : 5);
		(void)fclose(file);
		(void)unlink(path);
	}
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static uint32_t number_at(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* SHARK-22, SHARK-23: packets of at most 60 events, numbered, with their magic. */
PXT_TEST_FRESH(chunks_become_datagrams)
{
	const int a = make(150, FREE | CYC);
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(20000) };
	unsigned char packet[2000];
	uint32_t events = 0;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	/* An address of the machine's own that nobody else uses. */
	here.sin_addr.s_addr = htonl(0x7f000000u | ((uint32_t)getpid() & 0xffff) << 8 | 9u);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&here, sizeof(here)), 0);
	CU_ASSERT_EQUAL(FTrace_OSD_init_udp(1, NULL, "nowhere"), -1);
	CU_ASSERT_EQUAL(FTrace_OSD_init_udp(1, "1.2.3.4", "127.0.0.1"), -1);
	CU_ASSERT_EQUAL(FTrace_OSD_init_udp(1, NULL, NULL), -1);
	CU_ASSERT_EQUAL(FTrace_OSD_init_udp(1, "127.0.0.1", inet_ntoa(here.sin_addr)), 0);
	CU_ASSERT_EQUAL(FTrace_actual_chunk_select(a), 0);
	CU_ASSERT_EQUAL(FTrace_enable(), 0);
	log_points(0, 150);
	CU_ASSERT_EQUAL(FTrace_disable(), 0);
	CU_ASSERT_EQUAL(FTrace_send_chunk(a, 0, FREE), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const ssize_t got = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

		CU_ASSERT(got <= 1000 && memcmp(packet, "TRACER-V1.0", 12) == 0);
		CU_ASSERT_EQUAL(number_at(&packet[12]), i);
		CU_ASSERT_EQUAL(number_at(&packet[16]), i < 2 ? 60 : 30);
		CU_ASSERT_EQUAL(number_at(&packet[20]), (uint32_t)got);
		CU_ASSERT_EQUAL(got, 24 + 16 * (i < 2 ? 60 : 30));
		CU_ASSERT_EQUAL(decode(&packet[24]).par1, events);
		events += number_at(&packet[16]);
	}
	CU_ASSERT(recv(fd, packet, sizeof(packet), MSG_DONTWAIT) < 0);
	(void)close(fd);
	/* Nobody is there: told, sooner or later. */
	CU_ASSERT_EQUAL(FTrace_send_chunk(a, 0, FREE), -1);
}

/* SHARK-18: the original's compression never worked either. */
PXT_TEST_FRESH(calls_that_make_no_sense_are_refused)
{
	const int a = make(4, FREE);
	FTrace_flags got;

	CU_ASSERT_EQUAL(FTrace_compress_chunk(a, FREE), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_dump(99), -1);
	CU_ASSERT_EQUAL(FTrace_chunk_dump(a), 0);
	for (int number = -1; number <= 256; number += 257) {
		CU_ASSERT_EQUAL(FTrace_chunk_delete(number), -1);
		CU_ASSERT_EQUAL(FTrace_set_chunk_flags(number, FREE), -1);
		CU_ASSERT_EQUAL(FTrace_get_chunk_flags(number, &got), -1);
		CU_ASSERT_EQUAL(FTrace_actual_chunk_select(number), -1);
		CU_ASSERT_EQUAL(FTrace_send_chunk(number, 0, FREE), -1);
	}
}
