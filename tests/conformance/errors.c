/* SPDX-License-Identifier: MIT */
/*
 * errors.c - the errors that each function lists (table 6.3), one row for each cell.  EINVAL for
 * identifiers is in identifiers.c, for attributes in errors_attr.c.
 */
#include "../suite_trace.h"

#include "../fakes/fakes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define STALE 4711 /* in outputs that a failure must not touch */

struct error_row {
	const char *function;
	const char *how;
	int error;
	int (*provoke)(void); /* the error number, or -1 when it stored a result nevertheless */
};

#if _PXT_UNIT_ONLINE || PXT_CAN_LOG
static void on_signal(int number)
{
	(void)number;
}
#endif

/* ---- create ---- */

#if _PXT_UNIT_ONLINE
static int create_with(pid_t pid, const trace_attr_t *attr)
{
	trace_id_t trid = STALE;
	int error = posix_trace_create(pid, attr, &trid);

	if (error == 0)
		PXT_EQ(posix_trace_shutdown(trid), 0);
	return error != 0 && trid != STALE ? -1 : error;
}

/* Every stream there may be, then one more. */
static int create_too_many(void)
{
	trace_id_t streams[TRACE_SYS_MAX];
	size_t count = 0;
	int error;

	for (; count < TRACE_SYS_MAX; count++) {
		error = posix_trace_create(0, NULL, &streams[count]);
		PXT_CHECK(error == 0, "stream %zu of %d: %d", count + 1, TRACE_SYS_MAX, error);
		if (error != 0)
			break;
	}
	error = create_with(0, NULL);
	while (count > 0)
		PXT_EQ(posix_trace_shutdown(streams[--count]), 0);
	return error;
}

static int create_without_memory(void)
{
	pxt_fault_arm_from(&pxt_fault_alloc, 1, ENOMEM);
	int error = create_with(0, NULL);
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	return error;
}

static pid_t living_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			pause();
	}
	CU_ASSERT_FATAL(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int create_for_another(void)
{
	pid_t child = living_child();
	int error = create_with(child, NULL);

	end_child(child);
	return error;
}

static int create_for_init(void)
{
	return create_with(1, NULL);
}

/* The number of a process that has ended and been waited for. */
static pid_t dead_pid(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

static int create_for_the_dead(void)
{
	return create_with(dead_pid(), NULL);
}

static int create_for_minus_one(void)
{
	return create_with(-1, NULL);
}

static int create_for_a_group(void)
{
	return create_with(-getpid(), NULL);
}

static int create_with_flush_policy(void)
{
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	if (posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH) != 0)
		return EINVAL;
	return create_with(0, &attr);
}

static int create_for_own_pid(void)
{
	return create_with(getpid(), NULL);
}

static int create_for_zero(void)
{
	return create_with(0, NULL);
}
#endif

#if _PXT_UNIT_ONLINE && PXT_CHECKS_ARGUMENTS
static int create_with_destroyed_attr(void)
{
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	return create_with(0, &attr);
}

static int create_without_place(void)
{
	return posix_trace_create(0, NULL, NULL);
}
#endif

/* ---- create_withlog ---- */

#if _PXT_UNIT_TOLOG
static int create_log(int fd, const trace_attr_t *attr, pid_t pid)
{
	trace_id_t trid = STALE;
	int error = posix_trace_create_withlog(pid, attr, fd, &trid);

	if (error == 0)
		PXT_EQ(posix_trace_shutdown(trid), 0);
	return error != 0 && trid != STALE ? -1 : error;
}

static int log_on_file(pid_t pid)
{
	int fd = pxt_temp_file();
	int error = create_log(fd, NULL, pid);

	close(fd);
	return error;
}

static int log_on_bad_descriptor(void)
{
	return create_log(-1, NULL, 0);
}

static int log_on_closed_descriptor(void)
{
	int fd = pxt_temp_file();

	close(fd);
	return create_log(fd, NULL, 0);
}

static int log_on_read_only(void)
{
	int fd = open(pxt_suite_program, O_RDONLY);
	int error = create_log(fd, NULL, 0);

	close(fd);
	return error;
}

static int log_for_init(void)
{
	return log_on_file(1);
}

static int log_for_minus_one(void)
{
	return log_on_file(-1);
}

/* A device that is always full, with the one policy that devices can have. */
static int log_without_space(void)
{
	trace_attr_t attr;
	int fd = open("/dev/full", O_WRONLY);
	int error;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	if (fd < 0 || posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND) != 0)
		return ENOSPC;
	error = create_log(fd, &attr, 0);
	close(fd);
	return error;
}

static int log_without_memory(void)
{
	int fd = pxt_temp_file();

	pxt_fault_arm_from(&pxt_fault_alloc, 1, ENOMEM);
	int error = create_log(fd, NULL, 0);
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	close(fd);
	return error;
}

static int log_too_many(void)
{
	trace_id_t streams[TRACE_SYS_MAX];
	size_t count = 0;
	int fd = pxt_temp_file();
	int error = 0;

	for (; count < TRACE_SYS_MAX && error == 0; count++) {
		int own = pxt_temp_file();
		error = posix_trace_create_withlog(0, NULL, own, &streams[count]);
		PXT_EQ(error, 0);
		close(own);
	}
	error = create_log(fd, NULL, 0);
	while (count > 0)
		PXT_EQ(posix_trace_shutdown(streams[--count]), 0);
	close(fd);
	return error;
}

/* A log policy that needs a file, on something that is none. */
static int log_on(int fd, int policy)
{
	trace_attr_t attr;
	int error;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	error = posix_trace_attr_setlogfullpolicy(&attr, policy);
	if (error == 0)
		error = create_log(fd, &attr, 0);
	return error;
}

static int log_on_pipe_with(int policy)
{
	int ends[2];
	int error;

	CU_ASSERT_FATAL(pipe(ends) == 0);
	error = log_on(ends[1], policy);
	close(ends[0]);
	close(ends[1]);
	return error;
}

static int loop_log_on_pipe(void)
{
	return log_on_pipe_with(POSIX_TRACE_LOOP);
}

static int until_full_log_on_pipe(void)
{
	return log_on_pipe_with(POSIX_TRACE_UNTIL_FULL);
}

static int loop_log_on_append_only(void)
{
	int fd = pxt_temp_file();
	int error;

	CU_ASSERT_FATAL(fcntl(fd, F_SETFL, O_APPEND) == 0);
	error = log_on(fd, POSIX_TRACE_LOOP);
	close(fd);
	return error;
}

static int append_log_behind_other_bytes(void)
{
	int fd = pxt_temp_file();
	int error;

	CU_ASSERT_FATAL(write(fd, "old", 3) == 3);
	CU_ASSERT_FATAL(fcntl(fd, F_SETFL, O_APPEND) == 0);
	error = log_on(fd, POSIX_TRACE_APPEND);
	close(fd);
	return error;
}

#endif

/* ---- flush and shutdown ---- */

#if _PXT_UNIT_TOLOG && _PXT_UNIT_USEREVENTS
static void put_events(trace_id_t trid)
{
	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 8; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
}
/* Lets all writes fail; returns what flush or, if that is asked for, shutdown makes of it. */
static int write_failure(int error, bool at_shutdown)
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	int got = 0;

	put_events(trid);
	pxt_fault_arm_from(&pxt_fault_write, 1, error);
	if (!at_shutdown)
		got = posix_trace_flush(trid);
	int last = posix_trace_shutdown(trid);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	close(fd);
	/* Gone even so (SHUT-02). */
	PXT_EQ(posix_trace_shutdown(trid), EINVAL);
	return at_shutdown ? last : got;
}

static int flush_without_space(void)
{
	return write_failure(ENOSPC, false);
}

static int flush_beyond_file_size(void)
{
	return write_failure(EFBIG, false);
}

static int shutdown_without_space(void)
{
	return write_failure(ENOSPC, true);
}

static int shutdown_beyond_file_size(void)
{
	return write_failure(EFBIG, true);
}
#endif

/* ---- Names ---- */

#if _PXT_UNIT_USEREVENTS || _PXT_UNIT_FILTER
static const char *long_name(void)
{
	static char name[TRACE_EVENT_NAME_MAX + 2];

	memset(name, 'e', TRACE_EVENT_NAME_MAX + 1);
	return name;
}
#endif

#if _PXT_UNIT_USEREVENTS
static int open_too_long(void)
{
	trace_event_id_t id = STALE;
	int error = posix_trace_eventid_open(long_name(), &id);

	return id == STALE ? error : -1;
}
#endif

#if _PXT_UNIT_FILTER && PXT_CAN_CREATE
static int trid_open_too_long(void)
{
	trace_event_id_t id = STALE;
	trace_id_t trid = pxt_any_stream(NULL);
	int error = posix_trace_trid_eventid_open(trid, long_name(), &id);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	return id == STALE ? error : -1;
}
#endif

#if PXT_CAN_CREATE
static int name_of_no_type(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "stale";
	trace_id_t trid = pxt_any_stream(NULL);
	int error = posix_trace_eventid_get_name(trid, 0, name);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	return strcmp(name, "stale") == 0 ? error : -1;
}
#endif

/* ---- Readers ---- */

#if _PXT_UNIT_ONLINE
static int timed(const struct timespec *until)
{
	struct posix_trace_event_info event;
	size_t len = STALE;
	int unavailable = 0;
	trace_id_t trid = pxt_stream(0, 0, 0);
	int error =
	    posix_trace_timedgetnext_event(trid, &event, NULL, 0, &len, &unavailable, until);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	return len == STALE && unavailable != 0 ? error : -1;
}

static int timed_in_the_past(void)
{
	return timed(&(struct timespec){ .tv_sec = 1 });
}

static int timed_soon(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 20000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return timed(&until);
}

static int timed_with_negative_nanoseconds(void)
{
	return timed(&(struct timespec){ .tv_sec = 1, .tv_nsec = -1 });
}

static int timed_with_too_many_nanoseconds(void)
{
	return timed(&(struct timespec){ .tv_sec = 1, .tv_nsec = 1000000000 });
}

static pthread_t waiting_thread;
static atomic_bool wait_is_over;

static void *send_signals(void *argument)
{
	/* Until one of them met the call: the first ones may come before it. */
	for (int i = 0; i < 3000 && !atomic_load(&wait_is_over); i++) {
		pxt_sleep_ms(10);
		pthread_kill(waiting_thread, SIGUSR1);
	}
	return argument;
}

static int interrupted(bool with_limit)
{
	struct sigaction action;
	struct sigaction old;
	struct posix_trace_event_info event;
	size_t len = STALE;
	int unavailable = 0;
	pthread_t sender;
	struct timespec until;
	trace_id_t trid = pxt_stream(0, 0, 0);
	int error;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, &old);
	waiting_thread = pthread_self();
	atomic_store(&wait_is_over, false);
	CU_ASSERT_FATAL(pthread_create(&sender, NULL, send_signals, NULL) == 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	if (with_limit)
		error = posix_trace_timedgetnext_event(
		    trid, &event, NULL, 0, &len, &unavailable, &until);
	else
		error = posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable);
	atomic_store(&wait_is_over, true);
	pthread_join(sender, NULL);
	sigaction(SIGUSR1, &old, NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return len == STALE && unavailable != 0 ? error : -1;
}

static int getnext_interrupted(void)
{
	return interrupted(false);
}

static int timedgetnext_interrupted(void)
{
	return interrupted(true);
}
#endif

/* ---- open ---- */

#if _PXT_UNIT_LOGRETRIEVAL
static int open_fd(int fd)
{
	trace_id_t trid = STALE;
	int error = posix_trace_open(fd, &trid);

	if (error == 0)
		PXT_EQ(posix_trace_close(trid), 0);
	return error != 0 && trid != STALE ? -1 : error;
}

static int open_bad_descriptor(void)
{
	return open_fd(-1);
}

static int open_closed_descriptor(void)
{
	int fd = pxt_temp_file();

	close(fd);
	return open_fd(fd);
}

static int open_empty_file(void)
{
	int fd = pxt_temp_file();
	int error = open_fd(fd);

	close(fd);
	return error;
}

static int open_foreign_file(void)
{
	int fd = pxt_temp_file();
	static const char text[8192] = "This is no log.";
	int error;

	CU_ASSERT_FATAL(write(fd, text, sizeof(text)) == (ssize_t)sizeof(text));
	lseek(fd, 0, SEEK_SET);
	error = open_fd(fd);
	close(fd);
	return error;
}

static int open_write_only(void)
{
	int fd = open("/dev/null", O_WRONLY);
	int error = open_fd(fd);

	close(fd);
	return error;
}

static int open_directory(void)
{
	int fd = open("/", O_RDONLY);
	int error = open_fd(fd);

	close(fd);
	return error;
}
#endif

/* Where the standard says "shall", by table 6.3. */
static const struct error_row rows[] = {
#if _PXT_UNIT_ONLINE
	{ "create", "one stream too many", EAGAIN, create_too_many },
	{ "create", "FLUSH without log", EINVAL, create_with_flush_policy },
	{ "create", "no memory", ENOMEM, create_without_memory },
	{ "create", "a child", EPERM, create_for_another },
	{ "create", "process 1", EPERM, create_for_init },
	{ "create", "ended process", ESRCH, create_for_the_dead },
	{ "create", "pid -1", ESRCH, create_for_minus_one },
	{ "create", "process group", ESRCH, create_for_a_group },
	{ "create", "own pid", 0, create_for_own_pid },
	{ "create", "pid 0", 0, create_for_zero },
#endif
#if _PXT_UNIT_ONLINE && PXT_CHECKS_ARGUMENTS
	{ "create", "destroyed attributes", EINVAL, create_with_destroyed_attr },
	{ "create", "no place for the identifier", EINVAL, create_without_place },
#endif
#if _PXT_UNIT_TOLOG
	{ "create_withlog", "descriptor -1", EBADF, log_on_bad_descriptor },
	{ "create_withlog", "closed descriptor", EBADF, log_on_closed_descriptor },
	{ "create_withlog", "read-only descriptor", EBADF, log_on_read_only },
	{ "create_withlog", "one stream too many", EAGAIN, log_too_many },
	{ "create_withlog", "no memory", ENOMEM, log_without_memory },
	{ "create_withlog", "process 1", EPERM, log_for_init },
	{ "create_withlog", "pid -1", ESRCH, log_for_minus_one },
	{ "create_withlog", "full device", ENOSPC, log_without_space },
	{ "create_withlog", "LOOP on a pipe", EINVAL, loop_log_on_pipe },
	{ "create_withlog", "UNTIL_FULL on a pipe", EINVAL, until_full_log_on_pipe },
	{ "create_withlog", "LOOP with O_APPEND", EINVAL, loop_log_on_append_only },
	{ "create_withlog", "O_APPEND, not empty", EINVAL, append_log_behind_other_bytes },
#endif
#if _PXT_UNIT_TOLOG && _PXT_UNIT_USEREVENTS
	{ "flush", "no space", ENOSPC, flush_without_space },
	{ "flush", "file too large", EFBIG, flush_beyond_file_size },
	{ "shutdown", "no space", ENOSPC, shutdown_without_space },
	{ "shutdown", "file too large", EFBIG, shutdown_beyond_file_size },
#endif
#if _PXT_UNIT_USEREVENTS
	{ "eventid_open", "long name", ENAMETOOLONG, open_too_long },
#endif
#if _PXT_UNIT_FILTER && PXT_CAN_CREATE
	{ "trid_eventid_open", "long name", ENAMETOOLONG, trid_open_too_long },
#endif
#if PXT_CAN_CREATE
	{ "eventid_get_name", "no such type", EINVAL, name_of_no_type },
#endif
#if _PXT_UNIT_ONLINE
	{ "timedgetnext_event", "time passed", ETIMEDOUT, timed_in_the_past },
	{ "timedgetnext_event", "time passes", ETIMEDOUT, timed_soon },
	{ "timedgetnext_event", "tv_nsec -1", EINVAL, timed_with_negative_nanoseconds },
	{ "timedgetnext_event", "tv_nsec 1e9", EINVAL, timed_with_too_many_nanoseconds },
	{ "timedgetnext_event", "signal", EINTR, timedgetnext_interrupted },
	{ "getnext_event", "signal", EINTR, getnext_interrupted },
#endif
#if _PXT_UNIT_LOGRETRIEVAL
	{ "open", "descriptor -1", EINVAL, open_bad_descriptor },
	{ "open", "closed descriptor", EINVAL, open_closed_descriptor },
	{ "open", "empty file", EINVAL, open_empty_file },
	{ "open", "foreign file", EINVAL, open_foreign_file },
	{ "open", "write-only descriptor", EINVAL, open_write_only },
	{ "open", "directory", EINVAL, open_directory },
#endif
	{ NULL, NULL, 0, NULL },
};

/* CREATE-E1, CREATE-E3, CREATE-E4, CREATE-E5, CREATE-E6, CRLOG-E1, CRLOG-E2, CRLOG-E3, LOGP-05, FLUSH-E2,
 * FLUSH-E3, SHUT-E2, SHUT-E3, EVOPEN-E1, TREVO-E2, EVNAM-E2, TIMED-E2, TIMED-E3, TIMED-E4, GETNX-E2, OPEN-E2,
 * ERR-01, ERR-02, ERR-03, PROC-01, DEC-20, DEC-21, DEC-30, DEC-33, DEC-35, DEC-40 */
PXT_TEST(each_function_returns_the_errors_that_its_page_lists)
{
	for (const struct error_row *row = rows; row->function; row++) {
		int got = row->provoke();
		PXT_CHECK(got == row->error, "%s, %s: %d, not %d", row->function, row->how, got,
		    row->error);
	}
}

#if _PXT_UNIT_ONLINE
/* CREATE-10, CREATE-07, SHUT-08, DEC-36 */
PXT_TEST(failures_cost_no_stream)
{
	for (int round = 0; round < 3; round++) {
		for (const struct error_row *row = rows; row->function; row++) {
			if (strcmp(row->function, "create") == 0)
				row->provoke();
		}
		PXT_EQ(create_too_many(), EAGAIN);
	}
}

/* CREATE-10, CREATE-E4 */
PXT_TEST(a_create_that_fails_at_any_allocation_leaves_nothing_behind)
{
	for (unsigned n = 1; n < 100; n++) {
		pxt_fault_arm(&pxt_fault_alloc, n, ENOMEM);
		int error = create_with(0, NULL);
		bool reached = pxt_fault_alloc.calls >= n;
		pxt_fault_arm(&pxt_fault_alloc, 0, 0);
		PXT_CHECK(error == (reached ? ENOMEM : 0), "allocation %u: %d", n, error);
		if (!reached)
			break;
		PXT_EQ(create_with(0, NULL), 0);
	}
	PXT_EQ(create_too_many(), EAGAIN);
}
#endif

/* ---- Nothing but the readers is ever interrupted ---- */

#if (_PXT_UNIT_ONLINE && _PXT_UNIT_FILTER) || PXT_CAN_LOG
static atomic_bool storm_over;
static pthread_t stormed;

static void *signal_storm(void *argument)
{
	(void)argument;
	while (!atomic_load(&storm_over)) {
		pthread_kill(stormed, SIGUSR2);
		struct timespec pause = { .tv_nsec = 20000 };
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static struct sigaction before_storm;

static pthread_t begin_storm(void)
{
	struct sigaction action;
	pthread_t sender;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR2, &action, &before_storm);
	stormed = pthread_self();
	atomic_store(&storm_over, false);
	CU_ASSERT_FATAL(pthread_create(&sender, NULL, signal_storm, NULL) == 0);
	return sender;
}

static void end_storm(pthread_t sender)
{
	atomic_store(&storm_over, true);
	pthread_join(sender, NULL);
	sigaction(SIGUSR2, &before_storm, NULL);
}
#endif

#if _PXT_UNIT_ONLINE && _PXT_UNIT_FILTER
/* CREATE-E2, START-E2, STOP-E2, GFILT-E2, SFILT-E2, SFILT-05, DEC-35 */
PXT_TEST(control_calls_are_never_interrupted)
{
	trace_event_set_t set;
	trace_id_t trid = 0;
	pthread_t sender = begin_storm();

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	for (int i = 0; i < 200; i++) {
		PXT_EQ(posix_trace_create(0, NULL, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
		PXT_EQ(posix_trace_get_filter(trid, &set), 0);
		PXT_EQ(posix_trace_stop(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
	end_storm(sender);
}
#endif

#if PXT_CAN_LOG
/* OPEN-E1, CREATE-E2, DEC-35 */
PXT_TEST(calls_that_use_files_are_never_interrupted)
{
	int fd = pxt_temp_file();
	pthread_t sender = begin_storm();

	for (int i = 0; i < 50; i++) {
		trace_id_t trid = 0;
		lseek(fd, 0, SEEK_SET);
		PXT_EQ(posix_trace_create_withlog(0, NULL, fd, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		lseek(fd, 0, SEEK_SET);
		PXT_EQ(posix_trace_open(fd, &trid), 0);
		PXT_EQ(posix_trace_close(trid), 0);
	}
	end_storm(sender);
	close(fd);
}
#endif

/* ---- DEC-02: pointers to nothing ---- */

#if _PXT_UNIT_ONLINE && PXT_CHECKS_ARGUMENTS
/* DEC-02, GETNX-05, DEC-33 */
PXT_TEST(readers_refuse_missing_places_and_consume_nothing)
{
	struct posix_trace_event_info event;
	char data[16];
	size_t len = STALE;
	int unavailable = 0;
	trace_id_t trid = pxt_stream(0, 0, 0);

	if (!pxt_has_type(trid, POSIX_TRACE_START)) {
		PXT_EQ(posix_trace_shutdown(trid), 0);
		pxt_skip("no START event");
		return;
	}
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, NULL, data, 16, &len, &unavailable), EINVAL);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	unavailable = 0;
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, NULL, 16, &len, &unavailable), EINVAL);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 16, NULL, &unavailable), EINVAL);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 16, &len, NULL), EINVAL);
	PXT_EQ(posix_trace_getnext_event(trid, NULL, data, 16, &len, &unavailable), EINVAL);
	PXT_EQ(len, STALE);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, NULL, 0, &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(event.posix_event_id, POSIX_TRACE_START);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CAN_CREATE && PXT_CHECKS_ARGUMENTS
/* DEC-02 */
PXT_TEST(stores_to_nowhere_are_refused)
{
	trace_event_id_t id = 0;
	int unavailable = 0;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_get_attr(trid, NULL), EINVAL);
	PXT_EQ(posix_trace_get_status(trid, NULL), EINVAL);
	PXT_EQ(posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USEREVENT, NULL), EINVAL);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, NULL, &unavailable), EINVAL);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &id, NULL), EINVAL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_USEREVENTS && PXT_CHECKS_ARGUMENTS
/* DEC-02 */
PXT_TEST(names_from_nowhere_are_refused)
{
	trace_event_id_t id = STALE;

	PXT_EQ(posix_trace_eventid_open(NULL, &id), EINVAL);
	PXT_EQ(posix_trace_eventid_open("errors_nowhere", NULL), EINVAL);
	PXT_EQ(id, STALE);
}
#endif
