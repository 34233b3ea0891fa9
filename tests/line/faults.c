/* SPDX-License-Identifier: MIT */
/*
 * faults.c - a device that takes only parts of what it is given, says "not now" or fails: what a
 * receiver makes of the frames holds everything that was recorded, or counts it.  (DEC-40)
 */
#include "logs.h"

#include "fakes/fakes.h"
#include "format/logfmt.h"
#include "tools/receive/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 300u

static char path[300];

static void name_it(void)
{
	(void)snprintf(path, sizeof path, "%s/run.ptl", pxt_temp_folder());
}

static unsigned char bytes[262144];
static size_t count;

/* What the other end of the line got so far. */
static void drain(int fd)
{
	ssize_t got;

	while ((got = read(fd, bytes + count, sizeof bytes - count)) > 0)
		count += (size_t)got;
}

struct line {
	int ends[2];
	trace_id_t trid;
	trace_event_id_t id;
	struct posix_trace_counts_np counts;
};

static void open_line(struct line *line)
{
	trace_attr_t attr;

	count = 0;
	CU_ASSERT_FATAL(pipe(line->ends) == 0);
	(void)fcntl(line->ends[0], F_SETFL, O_NONBLOCK);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, line->ends[1], &line->trid), 0);
	PXT_EQ(posix_trace_eventid_open("fault_event", &line->id), 0);
	PXT_EQ(posix_trace_start(line->trid), 0);
}

static void put_events(struct line *line, unsigned from, unsigned events)
{
	for (uint32_t i = from; i < from + events; i++)
		posix_trace_event(line->id, &i, sizeof i);
}

static void close_line(struct line *line)
{
	PXT_EQ(posix_trace_stop(line->trid), 0);
	PXT_EQ(posix_trace_getcounts_np(line->trid, &line->counts, sizeof(line->counts)), 0);
	(void)posix_trace_shutdown(line->trid);
	drain(line->ends[0]);
	(void)close(line->ends[0]);
	(void)close(line->ends[1]);
}

struct found {
	unsigned ours; /* numbered events, in order and each once */
	unsigned all;
	struct posix_trace_loginfo_np info;
	struct pxt_receive_sums sums;
	bool complete; /* its own trailer has come */
};

static void receive(struct found *found)
{
	static struct pxt_receiver in;
	struct posix_trace_event_info event;
	unsigned char data[64];
	int unavailable = 0;
	uint32_t next = 0;
	size_t length;
	trace_id_t trid;
	int fd;

	memset(found, 0, sizeof *found);
	name_it();
	(void)unlink(path);
	CU_ASSERT_FATAL(pxt_receiver_init(&in, path));
	pxt_receiver_bytes(&in, bytes, count);
	found->complete = in.open == 0;
	PXT_EQ(pxt_receiver_end(&in), 0);
	pxt_receiver_sums(&in, &found->sums);
	fd = open(path, O_RDONLY);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	while (posix_trace_getnext_event(trid, &event, data, sizeof data, &length, &unavailable) ==
	           0 &&
	       !unavailable) {
		uint32_t number;

		found->all++;
		if (event.posix_event_id < 32)
			continue;
		memcpy(&number, data, sizeof number);
		CU_ASSERT(number >= next);
		next = number + 1;
		found->ours++;
	}
	PXT_EQ(posix_trace_log_getinfo_np(trid, &found->info, sizeof(found->info)), 0);
	(void)posix_trace_close(trid);
	(void)close(fd);
}

/* True when the @n-th write failed, after @accept bytes, with @error; the flush was tried again. */
static bool fail_once(unsigned n, size_t accept, int error)
{
	struct line line;
	struct found found;
	bool reached;

	open_line(&line);
	pxt_fault_arm(&pxt_fault_write, n, error);
	atomic_store(&pxt_fault_write.accept, accept);
	for (unsigned i = 0; i < EVENTS; i += 100) {
		put_events(&line, i, 100);
		(void)posix_trace_flush(line.trid);
		drain(line.ends[0]);
	}
	reached = atomic_load(&pxt_fault_write.calls) >= n;
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	close_line(&line);
	receive(&found);
	PXT_EQ(found.ours, EVENTS);
	PXT_EQ(found.sums.bad, 0);
	PXT_EQ(found.sums.frames_missing, 0);
	PXT_EQ(found.info.posix_lost_np, 0);
	PXT_EQ(found.info.posix_counts_np.posix_written_np, line.counts.posix_written_np);
	return reached;
}

PXT_TEST(a_write_that_fails_is_gone_on_with)
{
	static const size_t parts[] = { 0, 1, 30, 390 };
	static const int errors[] = { EAGAIN, ENOSPC, EIO };

	for (unsigned p = 0; p < 4; p++)
		for (unsigned e = 0; e < 3; e++)
			for (unsigned n = 1; fail_once(n, parts[p], errors[e]); n++)
				CU_ASSERT_FATAL(n < 200);
}

/*
 * A device that fails for good at the end: what was under way is given up, a frame may be torn, and
 * the short words of the end still come through when it recovers for them.
 */
PXT_TEST(what_is_given_up_is_counted)
{
	unsigned torn = 0;
	unsigned calls = 1;

	for (unsigned n = 1; n <= calls; n++) {
		struct line line;
		struct found found;
		unsigned sent;

		open_line(&line);
		put_events(&line, 0, EVENTS);
		pxt_fault_arm(&pxt_fault_write, n, EIO);
		atomic_store(&pxt_fault_write.accept, 100);
		close_line(&line);
		calls = atomic_load(&pxt_fault_write.calls);
		pxt_fault_arm(&pxt_fault_write, 0, 0);
		receive(&found);
		sent = found.ours;
		/* START and STOP are records, too. */
		PXT_CHECK(found.all + found.info.posix_lost_np == EVENTS + 2,
		    "call %u: %u kept, %llu lost of %u", n, found.all,
		    (unsigned long long)found.info.posix_lost_np, EVENTS + 2);
		PXT_EQ(found.info.posix_counts_np.posix_written_np, EVENTS + 2);
		torn += found.sums.bad > 0;
		/* The trailer itself is not tried again. */
		PXT_CHECK(found.complete || calls == n, "call %u of %u", n, calls);
		CU_ASSERT_FATAL(n < 100);
		CU_ASSERT(sent <= EVENTS);
	}
	CU_ASSERT(torn > 0);
}

static trace_id_t stream_to_packets(int type, int ends[2])
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	CU_ASSERT_FATAL(socketpair(AF_UNIX, type, 0, ends) == 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, ends[1], &trid), 0);
	return trid;
}

/* The nobody-listens of a packet socket is no error of the trace. */
static void packets_that_fail_are_only_lost(int error)
{
	struct posix_trace_status_info status;
	trace_event_id_t id;
	trace_id_t trid;
	int ends[2];

	trid = stream_to_packets(SOCK_DGRAM, ends);
	PXT_EQ(posix_trace_eventid_open("fault_event", &id), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(id, &id, sizeof id);
	pxt_fault_arm_from(&pxt_fault_write, 1, error);
	atomic_store(&pxt_fault_write.accept, 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_error, 0);
	CU_ASSERT(atomic_load(&pxt_fault_write.calls) > 0);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	/* What did not fail was one whole frame each. */
	for (ssize_t got; (got = recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
		struct pxt_linkframe frame;

		CU_ASSERT(pxt_linkframe_parse(&frame, bytes, (size_t)got));
		CU_ASSERT(got <= 1472);
	}
	(void)close(ends[0]);
	(void)close(ends[1]);
}

PXT_TEST(a_packet_that_is_refused_is_only_lost)
{
	packets_that_fail_are_only_lost(ECONNREFUSED);
}

PXT_TEST(so_is_one_that_finds_no_way)
{
	packets_that_fail_are_only_lost(EHOSTUNREACH);
	packets_that_fail_are_only_lost(ENETUNREACH);
}

/* One whole frame a packet, the head first, as for those that may come in any order. */
PXT_TEST(packets_that_come_in_their_order_are_frames_too)
{
	static const unsigned char magic[] = PXT_LOG_MAGIC;
	struct pxt_linkframe frame;
	trace_id_t trid;
	ssize_t got;
	int ends[2];

	trid = stream_to_packets(SOCK_SEQPACKET, ends);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	got = recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT);
	CU_ASSERT_FATAL(got > 0 && pxt_linkframe_parse(&frame, bytes, (size_t)got));
	PXT_EQ(frame.kind, PXT_FRAME_HEAD);
	CU_ASSERT(pxt_linkframe_sound(&frame, 0));
	/* The log's header is what it holds; of a plain log, it would be the packet itself. */
	CU_ASSERT(memcmp(frame.contents, magic, sizeof(magic)) == 0);
	while ((got = recv(ends[0], bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
		CU_ASSERT(pxt_linkframe_parse(&frame, bytes, (size_t)got));
	(void)close(ends[0]);
	(void)close(ends[1]);
}

PXT_TEST(frames_are_for_devices_only)
{
	trace_attr_t attr;
	trace_id_t trid;
	int form = -1;
	int fd;

	name_it();
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
	PXT_EQ(form, POSIX_TRACE_LOG_AUTO_NP);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, 3), EINVAL);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, -1), EINVAL);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP), 0);
	PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
	PXT_EQ(form, POSIX_TRACE_LOG_PLAIN_NP);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP), 0);
	PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
	PXT_EQ(form, POSIX_TRACE_LOG_FRAMES_NP);
	PXT_EQ(posix_trace_attr_getlogform_np(&attr, NULL), EINVAL);
	PXT_EQ(posix_trace_attr_setlogform_np(NULL, 0), EINVAL);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_create_withlog(0, &attr, fd, &trid), EINVAL);
	(void)close(fd);
}
