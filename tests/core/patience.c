/* SPDX-License-Identifier: MIT */
/*
 * patience.c - waits with a limit end in time by the clock, also on a machine whose short sleeps take
 * long.  Link with -Wl,--wrap of the pause and of the clock that measures it.
 */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include "kit.h"

#include "core/process/directory.h"
#include "core/process/forks.h"
#include "core/process/process.h"
#include "core/stream/share.h"

#include "port_atomic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAN_LOG   (CONFIG_PTRACE_TOLOG && CONFIG_PTRACE_LOGRETRIEVAL)
#define CAN_HURRY (CONFIG_PTRACE_TOLOG && CONFIG_PTRACE_PORT_POSIX)
#if CAN_HURRY
#include "port/port_log.h"

#include <poll.h>
#include <time.h>
#endif
#if CAN_LOG
#include "logretrieval/log.h"
#include "tolog/tolog.h"
#endif

#define MS_NS UINT64_C(1000000)

/* ---- A machine whose sleeps last ---- */

struct slow {
	uint64_t now_ns;
	uint64_t pauses;
	uint64_t last; /* nanoseconds that any pause lasts at least; 0: they are real ones */
};
static struct slow *slow; /* seen by children, too */
/* Other threads have the real clock: their sleeps are not the ones that are counted. */
static _Thread_local bool slow_here;

static void (*in_a_pause)(void); /* another's step, in the next one */

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
uint64_t __real_pxt_port_now_ns(void);
uint64_t __wrap_pxt_port_now_ns(void);

void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (!slow_here || !slow->last) {
		__real_pxt_port_pause_ns(ns);
		return;
	}
	slow->pauses++;
	slow->now_ns += ns < slow->last ? slow->last : ns;
	if (in_a_pause) {
		void (*now)(void) = in_a_pause;

		in_a_pause = NULL;
		now();
	}
}

uint64_t __wrap_pxt_port_now_ns(void)
{
	return slow_here && slow->last ? slow->now_ns : __real_pxt_port_now_ns();
}

static void begin_slow(uint64_t last)
{
	if (!slow)
		slow = mmap(
		    NULL, sizeof(*slow), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(slow != MAP_FAILED);
	*slow = (struct slow){ .now_ns = 1, .last = last };
	slow_here = true;
}

/* It was waited, for @ns and one sleep at most. */
static void end_slow(uint64_t ns)
{
	uint64_t waited = slow->now_ns - 1;

	CU_ASSERT(waited >= ns);
	CU_ASSERT(waited < ns + slow->last);
	slow->last = 0;
}

/* ---- Control calls, while a writer stays inside ---- */

#define HOLDBACK (100 * MS_NS)
#define LAST     (3 * MS_NS)

#if CAN_LOG
static int empty_file(void)
{
	FILE *file = tmpfile();
	int fd = file ? dup(fileno(file)) : -1;

	CU_ASSERT_FATAL(fd >= 0);
	(void)fclose(file);
	return fd;
}

static trace_id_t with_log(int fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	/* No flusher: it would hold a lock for a real moment, in which a second passes here. */
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	/* A device gets as many bytes as the stream holds. */
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 2), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	(void)posix_trace_attr_destroy(&attr);
	return trid;
}
#endif

static const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 2, .bytes = 4096 };
static trace_id_t stream;

static void stop_it(void *unused)
{
	PXT_EQ(posix_trace_stop(stream), 0);
}

static void shut_it_down(void *unused)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static void filter_it(void *unused)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static void copy_it(void *unused)
{
#if CAN_LOG
	int fd = empty_file();

	PXT_EQ(posix_trace_snapshot_np(stream, fd), 0);
	close(fd);
#endif
}

static void beside_a_writer(uint32_t point, void (*deed)(void *))
{
	stream = kit_open(&spec);
	pxt_holdback_ns = HOLDBACK;
	kit_start(stream);
	kit_interrupt(0, UINT64_C(1) << point, deed, NULL);
	begin_slow(LAST);
	kit_write(1, 30);
	PXT_EQ(kit_interrupted(), (int)point);
	end_slow(HOLDBACK);
}

PXT_TEST(a_stop_waits_no_longer_where_sleeps_last)
{
	beside_a_writer(PXT_TP_STAMPED, stop_it);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST(a_shutdown_waits_no_longer_where_sleeps_last)
{
	beside_a_writer(PXT_TP_STAMPED, shut_it_down);
}

PXT_TEST(a_filter_waits_no_longer_where_sleeps_last)
{
	beside_a_writer(PXT_TP_STAMPED, filter_it);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST(a_snapshot_waits_no_longer_where_sleeps_last)
{
#if CAN_LOG
	beside_a_writer(PXT_TP_RESERVED, copy_it);
	PXT_EQ(posix_trace_shutdown(stream), 0);
#else
	(void)copy_it;
#endif
}

static void stop_beside_one_without_a_place(void)
{
	struct pxt_pass pass;

	kit_start(stream);
	kit_lose_place();
	CU_ASSERT(pxt_enter(&pass));
	begin_slow(LAST);
	stop_it(NULL);
	end_slow(HOLDBACK);
	pxt_leave(&pass);
	kit_regain_place();
}

PXT_TEST(a_stop_waits_no_longer_for_threads_without_a_place)
{
	stream = kit_open(&spec);
	pxt_holdback_ns = HOLDBACK;
	stop_beside_one_without_a_place();
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Who was given up and has left since takes nothing from the wait for those who come later. */
PXT_TEST(a_thread_without_a_place_is_waited_for_though_one_was_given_up_before)
{
	stream = kit_open(&spec);
	pxt_holdback_ns = HOLDBACK;
	for (unsigned i = 0; i < 2; i++) {
		stop_beside_one_without_a_place();
		/* Nobody is inside: it is seen that the one who was given up has left. */
		kit_start(stream);
		stop_it(NULL);
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* A clock that stands still: then the sleeps that were asked for are counted. */
PXT_TEST(a_patience_ends_where_the_clock_stands_still)
{
	struct pxt_patience patience;

	begin_slow(1);
	pxt_patience_begin(&patience, 10 * MS_NS);
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT(pxt_patience_pause(&patience, MS_NS));
		slow->now_ns = 1;
	}
	CU_ASSERT(!pxt_patience_pause(&patience, MS_NS));
	PXT_EQ(slow->pauses, 10);
	slow->last = 0;
}

PXT_TEST(the_last_slice_is_what_is_left)
{
	struct pxt_patience patience;

	begin_slow(1);
	pxt_patience_begin(&patience, 10 * MS_NS);
	slow->now_ns += 9 * MS_NS + 1;
	CU_ASSERT(pxt_patience_pause(&patience, 5 * MS_NS));
	CU_ASSERT(!pxt_patience_pause(&patience, 5 * MS_NS));
	end_slow(10 * MS_NS);
}

/* ---- Other locks and other units ---- */

/* A process that ends waits so long for locks that nobody gives back, all in all. */
PXT_TEST(a_lock_that_nobody_gives_back_is_waited_for_as_long_as_patience_lasts)
{
	static const uint64_t amounts[] = { 1000000u, 20000000u, 100000000u };
	struct pxt_port_mutex mutex;

	pxt_port_mutex_init(&mutex);
	pxt_port_mutex_lock(&mutex);
	for (unsigned i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		uint64_t before = pxt_port_now_ns();
		struct pxt_patience patience;

		pxt_patience_begin(&patience, amounts[i]);
		CU_ASSERT(!pxt_process_mutex_within(&mutex, &patience));
		/* A slice that is no whole one any more is not slept. */
		CU_ASSERT(pxt_port_now_ns() - before >= amounts[i] / 2u);
		CU_ASSERT(!pxt_process_mutex_within(&mutex, &patience));
	}
	pxt_port_mutex_unlock(&mutex);
}

#if CONFIG_PTRACE_INHERIT
PXT_TEST(a_forked_process_that_keeps_the_names_is_waited_for_no_longer)
{
	struct pxt_patience patience;

	stream = kit_open(&spec);
	pxt_forks_begin();
	atomic_store(&pxt_directory->lock, (uint32_t)getppid());
	begin_slow(LAST);
	pxt_patience_begin(&patience, 10 * MS_NS);
	CU_ASSERT(!pxt_forks_lock(&patience));
	end_slow(10 * MS_NS);
	atomic_store(&pxt_directory->lock, 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
#endif

#if CONFIG_PTRACE_ATTACH
static uint64_t pull_nothing(struct pxt_stream *shared, uint64_t clock, bool all)
{
	return 0;
}

static bool await_nobody(struct pxt_stream *shared, bool last)
{
	return false;
}

PXT_TEST(producers_are_waited_for_no_longer)
{
	static const struct pxt_share_ops ops = { .pull = pull_nothing, .awaits = await_nobody };
	const struct pxt_share_ops *before = pxt_share_ops;

	stream = kit_open(&spec);
	pxt_holdback_ns = HOLDBACK;
	kit_start(stream);
	pxt_share_ops = &ops;
	kit_stream(stream)->share = (void *)&stream;
	begin_slow(LAST);
	pxt_share_settle(stream);
	end_slow(HOLDBACK);
	kit_stream(stream)->share = NULL;
	pxt_share_ops = before;
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
#endif

#if CONFIG_PTRACE_ATTACH && CAN_LOG
static uint64_t known_until;

static uint64_t pull_what_is_known(struct pxt_stream *shared, uint64_t clock, bool all)
{
	return known_until < clock ? known_until : clock;
}

static uint64_t stamp_in(int fd, trace_event_id_t wanted)
{
	struct posix_trace_event_info info = { 0 };
	trace_id_t log;
	size_t bytes;
	uint64_t ns;
	int end = 0;

	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	while (!end && info.posix_event_id != wanted)
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, &(char[64]){ 0 }, 64, &bytes, &end), 0);
	CU_ASSERT(!end);
	ns = (uint64_t)info.posix_timestamp.tv_sec * 1000 * MS_NS +
	     (uint64_t)info.posix_timestamp.tv_nsec;
	PXT_EQ(posix_trace_close(log), 0);
	return ns;
}

/* A process that is not attached yet has recorded since then, and its records come after this flush. */
PXT_TEST(a_flush_has_the_time_up_to_which_all_producers_are_known)
{
	static const struct pxt_share_ops ops = { .pull = pull_what_is_known,
		.awaits = await_nobody };
	const struct pxt_share_ops *before = pxt_share_ops;
	int fd = empty_file();

	stream = with_log(fd);
	PXT_EQ(posix_trace_start(stream), 0);
	pxt_share_ops = &ops;
	kit_stream(stream)->share = (void *)&stream;
	known_until = pxt_port_ticks_ordered();
	__real_pxt_port_pause_ns(50 * MS_NS);
	PXT_EQ(posix_trace_flush(stream), 0);
	kit_stream(stream)->share = NULL;
	pxt_share_ops = before;
	PXT_EQ(posix_trace_shutdown(stream), 0);
	CU_ASSERT(stamp_in(fd, POSIX_TRACE_FLUSH_START) + 40 * MS_NS <
	          stamp_in(fd, POSIX_TRACE_FLUSH_STOP));
	close(fd);
}
#endif

#if CAN_LOG
PXT_TEST(a_fork_waits_no_longer_for_a_log)
{
	int fd = empty_file();
	const struct pxt_ops *ops;
	struct pxt_log *log;
	trace_id_t trid;
	pid_t child;

	PXT_EQ_FATAL(posix_trace_shutdown(with_log(fd)), 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	log = pxt_handle_find(trid, &ops);
	pxt_log_lock(log);
	begin_slow(LAST);
	child = fork();
	if (child == 0)
		_exit(0);
	end_slow(1000 * MS_NS);
	PXT_EQ(waitpid(child, NULL, 0), child);
	pxt_log_unlock(log);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}
#endif

#if CAN_LOG
static int drain;

/* Out of that pipe, and so in each pause that follows. */
static void take_a_page(void)
{
	char page[4096];
	ssize_t taken = read(drain, page, sizeof(page));

	(void)taken;
	in_a_pause = take_a_page;
}

/* FLUSH-01: a device that takes something now and then may take long in all. */
PXT_TEST(a_device_that_takes_a_page_at_a_time_is_waited_for_to_its_end)
{
	int ends[2];

	PXT_EQ_FATAL(pipe2(ends, O_NONBLOCK), 0);
	CU_ASSERT(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	stream = with_log(ends[1]);
	kit_start(stream);
	for (unsigned i = 0; i < 400; i++)
		posix_trace_event(kit_type(), "0123456789abcdef0123456789abcdef", 32);
	drain = ends[0];
	in_a_pause = take_a_page;
	begin_slow(400 * MS_NS);
	PXT_EQ(posix_trace_flush(stream), 0);
	/* Longer than what takes nothing is waited for. */
	CU_ASSERT(slow->now_ns > 2000 * MS_NS);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	slow->last = 0;
	in_a_pause = NULL;
	close(ends[0]);
	close(ends[1]);
}
#endif

/* ---- At exit ---- */

#if CAN_HURRY
#define BETWEEN_MS 600 /* a device takes a piece, less than PXT_LOG_PATIENCE_MS */

static _Thread_local int64_t device_ms; /* its clock; 0: there is no such device */

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __real_pxt_vdso_gettime(clockid_t clock, struct timespec *now);
int __wrap_pxt_vdso_gettime(clockid_t clock, struct timespec *now);

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	if (!device_ms)
		return __real_poll(fds, count, ms);
	device_ms += ms < BETWEEN_MS ? ms : BETWEEN_MS;
	return ms < BETWEEN_MS ? 0 : __real_poll(fds, count, 0);
}

int __wrap_pxt_vdso_gettime(clockid_t clock, struct timespec *now)
{
	if (!device_ms)
		return __real_pxt_vdso_gettime(clock, now);
	now->tv_sec = (time_t)(device_ms / 1000);
	now->tv_nsec = (long)(device_ms % 1000) * 1000000;
	return 0;
}

/* DEC-23: the patience is for each piece. */
PXT_TEST(a_device_that_takes_a_piece_now_and_then_gets_all_that_is_written_at_exit)
{
	static const char bytes[4 * 512] = "0123456789abcdef";
	static char back[sizeof(bytes)];
	struct pxt_port_log log;
	size_t done = 0;
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	PXT_EQ_FATAL(pxt_port_log_open(&log, ends[1]), 0);
	log.piece = 512;
	log.hurried = true;
	device_ms = 1;
	PXT_EQ(pxt_port_log_write(&log, bytes, sizeof(bytes), &done), 0);
	CU_ASSERT(device_ms > 2 * PXT_LOG_PATIENCE_MS);
	device_ms = 0;
	PXT_EQ_FATAL(done, sizeof(bytes));
	PXT_EQ(read(ends[0], back, sizeof(back)), sizeof(back));
	CU_ASSERT(memcmp(back, bytes, sizeof(bytes)) == 0);
	pxt_port_log_close(&log);
	close(ends[0]);
	close(ends[1]);
}
#endif

static void end_child(uint64_t ns, int (*run)(void *))
{
	PXT_EQ(pxt_in_child(run, NULL), 0);
	end_slow(ns);
}

static int leave_a_reader(void *unused)
{
	stream = kit_open(&spec);
	pxt_holdback_ns = HOLDBACK;
	atomic_store(&kit_stream(stream)->users, 1u);
	begin_slow(LAST);
	exit(0);
}

PXT_TEST(an_exit_waits_no_longer_for_a_reader)
{
	begin_slow(LAST);
	end_child(HOLDBACK, leave_a_reader);
}

static int leave_a_shutdown(void *unused)
{
	stream = kit_open(&spec);
	kit_stream(stream)->closing = 1;
	begin_slow(LAST);
	exit(0);
}

PXT_TEST(an_exit_waits_no_longer_for_another_thread_s_shutdown)
{
	begin_slow(LAST);
	end_child(3000 * MS_NS, leave_a_shutdown);
}

#if CAN_LOG
static struct pxt_tolog *log_to_leave(void)
{
	stream = with_log(empty_file());
	pxt_holdback_ns = HOLDBACK;
	return pxt_tolog_of(kit_stream(stream));
}

static int leave_a_turn(void *unused)
{
	struct pxt_tolog *log = log_to_leave();

	atomic_store(&log->busy, 1u);
	log->holder = 0;
	begin_slow(LAST);
	exit(0);
}

PXT_TEST(an_exit_waits_no_longer_for_a_turn)
{
	begin_slow(LAST);
	end_child(3000 * MS_NS, leave_a_turn);
}

/* As another thread. */
static void take_the_log(void)
{
	struct pxt_stream *found = kit_stream(stream);

	pxt_port_mutex_lock(&found->mutex);
	pxt_tolog_lock(found);
	pxt_tolog_of(found)->holder = 0;
	pxt_stream_unlock(found);
}

static void give_the_log_back(void)
{
	struct pxt_stream *found = kit_stream(stream);

	pxt_port_mutex_lock(&found->mutex);
	pxt_tolog_unlock(found);
	pxt_stream_unlock(found);
}

static void hand_the_log_on(void)
{
	give_the_log_back();
	take_the_log();
}

/* DEC-23: who has it by then began later: he is hurried. */
PXT_TEST(an_exit_does_not_wait_for_a_log_that_changed_hands)
{
	stream = with_log(empty_file());
	take_the_log();
	begin_slow(LAST);
	in_a_pause = hand_the_log_on;
	CU_ASSERT(pxt_tolog_at_exit(kit_stream(stream)));
	PXT_EQ(slow->pauses, 1);
	slow->last = 0;
	give_the_log_back();
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Once; ten seconds later the log is given back, so that a wait without end is seen. */
static void one_piece_goes_out(void)
{
	if (slow->pauses == 1)
		atomic_fetch_add(&pxt_tolog_of(kit_stream(stream))->pieces, 1u);
	if (slow->now_ns < 10000 * MS_NS)
		in_a_pause = one_piece_goes_out;
	else
		give_the_log_back();
}

/* DEC-23 */
PXT_TEST(an_exit_waits_anew_for_each_piece_that_goes_out_and_no_longer)
{
	stream = with_log(empty_file());
	take_the_log();
	begin_slow(LAST);
	in_a_pause = one_piece_goes_out;
	CU_ASSERT(!pxt_tolog_at_exit(kit_stream(stream)));
	in_a_pause = NULL;
	end_slow(3000 * MS_NS + LAST);
	if (atomic_load(&pxt_tolog_of(kit_stream(stream))->busy))
		give_the_log_back();
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static int leave_one_who_waits_for_a_turn(void *unused)
{
	log_to_leave()->users = 1;
	begin_slow(LAST);
	exit(0);
}

PXT_TEST(an_exit_waits_no_longer_for_those_who_wait_for_a_turn)
{
	begin_slow(LAST);
	end_child(HOLDBACK, leave_one_who_waits_for_a_turn);
}
#endif

static void come_out_in_the_third_pause(void)
{
	if (slow->pauses == 3)
		atomic_fetch_add(&pxt_threads->entry[pxt_self.index].passes, 1u);
	else
		in_a_pause = come_out_in_the_third_pause;
}

/* Ruling 12: not as one that was waited for in vain, whose memory would be kept. */
PXT_TEST(a_thread_that_comes_out_while_it_is_waited_for_has_left)
{
	stream = kit_open(&spec);
	kit_start(stream);
	kit_write(1, 4);
	begin_slow(LAST);
	atomic_fetch_add(&pxt_threads->entry[pxt_self.index].passes, 1u);
	in_a_pause = come_out_in_the_third_pause;
	CU_ASSERT(pxt_threads_wait_left(HOLDBACK, PXT_OWN));
	PXT_EQ(slow->pauses, 3);
	slow->last = 0;
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
