/* SPDX-License-Identifier: MIT */
/* logwrite.c - what tools/logwrite writes is read back by the library, in either byte order. */
#include "suite.h"

#include "base/attr.h"
#include "tools/write/logwrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREATED 1700000000
#define ID      40

static char path[300];

static void begin_case(void)
{
	(void)snprintf(path, sizeof path, "%s/made.ptl", pxt_temp_folder());
	(void)unlink(path);
}

static struct pxt_loghead some_head(void)
{
	return (struct pxt_loghead){ .name = "made",
		.clock_source = POSIX_TRACE_CLOCK_MONOTONIC_NP,
		.hz = 1000000000,
		.created = { .ticks = 5000,
		    .realtime = { CREATED, 0 },
		    .monotonic = { 100, 0 },
		    .boottime = { 200, 0 } } };
}

static void put_event(struct pxt_logwrite *log, uint64_t ticks, const char *data)
{
	const struct pxt_logevent event = { .id = ID,
		.ticks = ticks,
		.thread_index = 1,
		.address = 0x401234,
		.cpu = 3,
		.data = data,
		.bytes = strlen(data) };

	pxt_logwrite_event(log, &event);
}

static trace_id_t open_path(int flags)
{
	struct posix_trace_logerror_np why = { 0 };
	trace_id_t trid = 0;
	int fd = open(path, O_RDONLY);
	int error =
	    fd < 0 ? errno : posix_trace_log_open_np(&fd, 1, flags, &trid, &why, sizeof(why));

	PXT_CHECK(error == 0, "%s: byte %llu: %s", path, (unsigned long long)why.posix_offset_np,
	    why.posix_reason_np);
	if (fd >= 0)
		(void)close(fd);
	return trid;
}

struct got {
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	char data[8192];
	size_t bytes;
	int unavailable;
};

static void next(trace_id_t trid, struct got *got)
{
	memset(got, 0, sizeof *got);
	PXT_EQ(posix_trace_getnext_event(
	           trid, &got->info, got->data, sizeof got->data, &got->bytes, &got->unavailable),
	    0);
	if (!got->unavailable)
		PXT_EQ(
		    posix_trace_eventinfo_getextra_np(&got->info, &got->extra, sizeof(got->extra)),
		    0);
}

PXT_TEST(what_is_written_is_read_back)
{
	struct pxt_loghead head = some_head();
	struct posix_trace_logthread_np thread = { 0x7000, 4711, 4712, "sensor" };
	const struct posix_trace_loginfo_np machine = { .posix_pid_np = 4711,
		.posix_executable_np = "/bin/control",
		.posix_host_np = "box",
		.posix_boot_id_np = { 0xb0, [15] = 0xbf },
		.posix_cpus_np = 0x102,
		.posix_system_np = "riscv64 Linux 6.1" };
	const struct posix_trace_lognote_np note = { "load", "80 %" };
	struct posix_trace_lognote_np told;
	struct posix_trace_loginfo_np info;
	struct pxt_logwrite *log;
	trace_id_t trid;
	struct got got;
	char name[TRACE_EVENT_NAME_MAX + 1];
	char format[256];

	begin_case();
	log = pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head);
	CU_ASSERT_FATAL(log != NULL);
	pxt_logwrite_type(log, ID, "sample", "u32 value");
	pxt_logwrite_thread(log, 1, &thread);
	pxt_logwrite_process(log, &machine);
	pxt_logwrite_note(log, &note);
	put_event(log, 6000, "abcd");
	pxt_logwrite_loss(log, 7);
	put_event(log, 8000, "efgh");
	PXT_EQ(pxt_logwrite_events(log), 2);
	PXT_EQ(pxt_logwrite_end(log, NULL), 0);
	trid = open_path(0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_counts_np.posix_written_np, 9);
	PXT_EQ(info.posix_counts_np.posix_lost_np, 7);
	PXT_EQ(info.posix_end_np.tv_sec, CREATED);
	CU_ASSERT_STRING_EQUAL(info.posix_host_np, "box");
	CU_ASSERT(memcmp(info.posix_boot_id_np, machine.posix_boot_id_np,
	              sizeof(machine.posix_boot_id_np)) == 0);
	PXT_EQ(info.posix_cpus_np, 0x102);
	CU_ASSERT_STRING_EQUAL(info.posix_system_np, "riscv64 Linux 6.1");
	PXT_EQ(posix_trace_log_getnote_np(trid, 0, &told, sizeof(told)), 0);
	CU_ASSERT_STRING_EQUAL(told.posix_name_np, "load");
	CU_ASSERT_STRING_EQUAL(told.posix_text_np, "80 %");
	next(trid, &got);
	PXT_EQ(got.info.posix_event_id, ID);
	PXT_EQ(got.info.posix_timestamp.tv_nsec, 1000);
	PXT_EQ(got.info.posix_pid, 4711);
	PXT_EQ((uintptr_t)got.info.posix_prog_address, 0x401234);
	PXT_EQ(got.bytes, 4);
	CU_ASSERT(memcmp(got.data, "abcd", 4) == 0);
	PXT_EQ(posix_trace_eventid_get_name(trid, ID, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "sample");
	PXT_EQ(posix_trace_eventid_getformat_np(trid, ID, format, sizeof(format)), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 value");
	next(trid, &got);
	PXT_EQ(got.extra.posix_lost_before_np, 7);
	next(trid, &got);
	PXT_EQ(got.unavailable, 1);
	(void)posix_trace_close(trid);
}

PXT_TEST(a_growing_log_can_be_read_at_each_instant)
{
	struct pxt_loghead head = some_head();
	struct pxt_logwrite *log;
	trace_id_t trid;
	struct got got;

	begin_case();
	log = pxt_logwrite_begin(path, PXT_LOG_GROWING, &head);
	trid = open_path(POSIX_TRACE_OPEN_GROWING_NP);
	next(trid, &got);
	PXT_EQ(got.unavailable, 1);
	put_event(log, 6000, "abcd");
	next(trid, &got);
	PXT_EQ(got.unavailable, 1);
	pxt_logwrite_flush(log);
	next(trid, &got);
	PXT_EQ(got.unavailable, 0);
	PXT_EQ(pxt_logwrite_end(log, NULL), 0);
	next(trid, &got);
	PXT_EQ(got.unavailable, 1);
	(void)posix_trace_close(trid);
	(void)posix_trace_close(open_path(0));
}

PXT_TEST(a_whole_log_has_no_name_before_its_end)
{
	struct pxt_loghead head = some_head();
	struct pxt_logwrite *log;

	begin_case();
	log = pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head);
	pxt_logwrite_flush(log);
	CU_ASSERT(access(path, F_OK) != 0);
	pxt_logwrite_abandon(log);
	CU_ASSERT(access(path, F_OK) != 0);
	/* Nothing else was left in the folder. */
	PXT_EQ(rmdir(pxt_temp_folder()), 0);
	PXT_EQ(mkdir(pxt_temp_folder(), 0700), 0);
}

PXT_TEST(a_place_that_cannot_be_written_is_an_error_at_the_end)
{
	struct pxt_loghead head = some_head();
	struct pxt_logwrite *log;

	log = pxt_logwrite_begin("/nowhere/at/all.ptl", PXT_LOG_WHOLE, &head);
	CU_ASSERT_FATAL(log != NULL);
	put_event(log, 6000, "abcd");
	PXT_EQ(pxt_logwrite_end(log, NULL), ENOENT);
}

PXT_TEST(many_events_fill_many_blocks)
{
	struct pxt_loghead head = some_head();
	struct posix_trace_loginfo_np info;
	struct pxt_logwrite *log;
	char long_data[4000];
	trace_id_t trid;
	struct got got;
	unsigned events = 0;

	begin_case();
	memset(long_data, 'x', sizeof long_data - 1);
	long_data[sizeof long_data - 1] = '\0';
	log = pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head);
	for (unsigned i = 0; i < 1000; i++)
		put_event(log, 6000 + i, i % 10 ? "abcd" : long_data);
	PXT_EQ(pxt_logwrite_end(log, NULL), 0);
	trid = open_path(0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	CU_ASSERT(info.posix_blocks_np > 5);
	for (next(trid, &got); !got.unavailable; next(trid, &got))
		events++;
	PXT_EQ(events, 1000);
	(void)posix_trace_close(trid);
}

/* ---- The other byte order ---- */

/* As pxt_logfmt_put_header() writes, of the other order: through the file that make_golden.py made. */
static bool golden_head(const char *name, unsigned char *head)
{
	char golden[512];
	FILE *file;
	bool read;

	(void)snprintf(golden, sizeof golden, "%s/%s", PXT_GOLDEN, name);
	file = fopen(golden, "rb");
	read = file && fread(head, 1, PXT_LOG_HEADER_BYTES, file) == PXT_LOG_HEADER_BYTES;
	if (file)
		(void)fclose(file);
	return read;
}

PXT_TEST(a_log_of_either_byte_order_takes_records_and_losses)
{
	static const char *const names[] = { "le64.ptl", "be64.ptl", "le32.ptl", "be32.ptl" };

	for (unsigned i = 0; i < 4; i++) {
		unsigned char head[PXT_LOG_HEADER_BYTES];
		struct pxt_log_trailer trailer = { .log_lost = 2 };
		struct pxt_log_clock clock = { .moment = PXT_LOG_AT_FLUSH };
		struct pxt_slot slots[2] = {
			{ { PXT_SLOT_BEGIN, pxt_slot_info(31, 0, false, false, 1), 0x10, 0 } }
		};
		struct posix_trace_loginfo_np info;
		struct pxt_log_header header;
		struct pxt_logblocks log;
		trace_id_t trid;
		struct got got;

		begin_case();
		CU_ASSERT_FATAL(golden_head(names[i], head));
		CU_ASSERT_PTR_NULL(pxt_logfmt_get_header(head, &header));
		CU_ASSERT_FATAL(pxt_logblocks_open(&log, path, PXT_LOG_WHOLE, head, &header));
		if (header.swapped)
			pxt_logblocks_swap_entry(PXT_LOG_DATA, (unsigned char *)slots);
		clock.clock = header.created;
		clock.clock.ticks += 1000;
		pxt_logblocks_clock(&log, &clock);
		pxt_logblocks_loss(&log, 5);
		CU_ASSERT(pxt_logblocks_record(&log, (unsigned char *)slots, 2, 0x10));
		pxt_logblocks_flush(&log);
		trailer.attr = header.attr;
		trailer.end = header.created;
		trailer.counts.posix_written_np = 8;
		trailer.counts.posix_retrieved_np = 3;
		trailer.counts.posix_lost_np = 5;
		PXT_EQ(pxt_logblocks_close(&log, &trailer), 0);
		trid = open_path(0);
		PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
		PXT_EQ(info.posix_swapped_np, header.swapped);
		PXT_EQ(info.posix_lost_np, 7);
		PXT_EQ(info.posix_counts_np.posix_written_np, 8);
		next(trid, &got);
		PXT_EQ(got.info.posix_event_id, 31);
		PXT_EQ(got.extra.posix_lost_before_np, 5);
		PXT_EQ(got.extra.posix_ticks_np, 0x10);
		next(trid, &got);
		PXT_EQ(got.unavailable, 1);
		(void)posix_trace_close(trid);
	}
}

/* ---- Who tells what cannot be ---- */

/* One event of type 40, which nobody names, and one loss. */
static bool begin_contradictory(struct pxt_logblocks *log, struct pxt_log_trailer *trailer)
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	const struct pxt_slot slots[2] = {
		{ { PXT_SLOT_BEGIN, pxt_slot_info(40, 0, false, false, 1), 0x10, 0 } }
	};
	struct pxt_log_header header;

	begin_case();
	if (!golden_head("le64.ptl", head) || pxt_logfmt_get_header(head, &header) ||
	    header.swapped || !pxt_logblocks_open(log, path, PXT_LOG_WHOLE, head, &header))
		return false;
	pxt_logblocks_loss(log, 1);
	*trailer = (struct pxt_log_trailer){ .attr = header.attr, .end = header.created };
	return pxt_logblocks_record(log, (const unsigned char *)slots, 2, 0x10);
}

static void check_sound(uint64_t written, uint64_t lost)
{
	struct posix_trace_logfinding_np finding = { .posix_reason_np = "" };
	struct posix_trace_logcheck_np sum;
	int fd = open(path, O_RDONLY);

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), &finding, sizeof(finding), 1, NULL, NULL),
	    0);
	PXT_CHECK(sum.posix_findings_np == 0, "%s", finding.posix_reason_np);
	PXT_EQ(sum.posix_counts_np.posix_written_np, written);
	PXT_EQ(sum.posix_counts_np.posix_lost_np, lost);
	(void)close(fd);
}

PXT_TEST(a_trailer_that_contradicts_its_log_gets_the_counts_of_the_log)
{
	static const struct {
		struct posix_trace_counts_np counts;
		uint64_t log_lost;
	} wrong[] = {
		{ { 3, 1, 1, 0, 0, 0, { 0 } }, 0 },          /* written is not the sum */
		{ { 3, 2, 1, 0, 0, 0, { 0 } }, 0 },          /* more than the log has */
		{ { 1, 1, 0, 0, 0, 0, { 0 } }, 0 },          /* a loss that it does not tell */
		{ { 1, 0, 2, UINT64_MAX, 0, 0, { 0 } }, 0 }, /* the sum runs over */
		{ { 2, 1, 1, 0, 0, 0, { 0 } }, UINT64_MAX }, /* so does this one */
	};
	struct pxt_log_trailer trailer;
	struct pxt_logblocks log;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		CU_ASSERT_FATAL(begin_contradictory(&log, &trailer));
		trailer.counts = wrong[i].counts;
		trailer.log_lost = wrong[i].log_lost;
		PXT_EQ(pxt_logblocks_close(&log, &trailer), 0);
		PXT_EQ(trailer.log_lost, 0);
		check_sound(2, 1);
	}
}

PXT_TEST(a_trailer_that_fits_its_log_stays_as_it_is)
{
	struct pxt_log_trailer trailer;
	struct pxt_logblocks log;

	CU_ASSERT_FATAL(begin_contradictory(&log, &trailer));
	trailer.counts = (struct posix_trace_counts_np){ 20, 5, 3, 10, 2, 0, { 0 } };
	trailer.log_lost = 4;
	PXT_EQ(pxt_logblocks_close(&log, &trailer), 0);
	PXT_EQ(trailer.log_lost, 4);
	check_sound(20, 3);
}

PXT_TEST(losses_of_more_than_any_stream_has_do_not_run_over)
{
	struct pxt_log_trailer trailer;
	struct pxt_logblocks log;

	CU_ASSERT_FATAL(begin_contradictory(&log, &trailer));
	pxt_logblocks_loss(&log, UINT64_MAX);
	pxt_logblocks_flush(&log);
	pxt_logblocks_loss(&log, UINT64_MAX);
	PXT_EQ(pxt_logblocks_close(&log, &trailer), 0);
	check_sound(PXT_LOGBLOCKS_MOST + 1, PXT_LOGBLOCKS_MOST);
}
