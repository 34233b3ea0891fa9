/* SPDX-License-Identifier: MIT */
/* provoke.c - makes calls on streams and their output fail. */
#define _GNU_SOURCE /* F_SETPIPE_SZ, memfd_create */
#include "fixture.h"

#include "core/process/directory.h"
#include "fakes/fakes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATED (-1) /* what had to fail did not */

/* Pauses take no time, so that a second of them is over at once; but for those of other threads. */
static _Thread_local bool in_a_hurry;

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (!in_a_hurry)
		__real_pxt_port_pause_ns(ns);
}

void ways_hurry(bool hurry)
{
	in_a_hurry = hurry;
}

/* ---- Descriptors ---- */

static struct rlimit descriptors;

/* All below the limit but @left are in use. */
void ways_no_descriptors(unsigned left)
{
	struct rlimit none;
	int free_one = -1;

	PXT_EQ_FATAL(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
	none = descriptors;
	for (unsigned i = 0; i <= left; i++) {
		do
			free_one++;
		while (fcntl(free_one, F_GETFD) >= 0);
	}
	none.rlim_cur = (rlim_t)free_one;
	PXT_EQ_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
}

void ways_descriptors(void)
{
	PXT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
}

/* ---- Processes ---- */

struct in_new {
	int (*body)(void);
};

static int new_process(int (*body)(void))
{
	struct left before = left_now();
	char what[256];
	int error = body();

	if (fixture_changed_errno())
		return 200;
	if (!left_again(&before, what, sizeof(what))) {
		(void)fprintf(stderr, "  %s\n", what);
		return 201;
	}
	return error < 0 ? 202 : error;
}

static int run_body(void *argument)
{
	const struct in_new *new = argument;

	return new_process(new->body);
}

int in_new_process(int (*body)(void))
{
	struct in_new new = { body };

	return pxt_in_child(run_body, &new);
}

pid_t dead_pid(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	return child;
}

static int name_without_memory(void)
{
	int error;

	pxt_fault_arm(&pxt_fault_shared, 1, ENOMEM);
	error = TRY(posix_trace_eventid_open("the_first_name", &out.id));
	pxt_fault_arm(&pxt_fault_shared, 0, 0);
	return error;
}

static int register_without_memory(void)
{
	int error;

	pxt_fault_arm(&pxt_fault_shared, 1, ENOMEM);
	error = TRY(posix_trace_thread_register_np());
	pxt_fault_arm(&pxt_fault_shared, 0, 0);
	return error;
}

static int create_without_memory(void)
{
	int error;

	pxt_fault_arm(&pxt_fault_shared, 1, ENOMEM);
	error = make(0, NULL);
	pxt_fault_arm(&pxt_fault_shared, 0, 0);
	return error;
}

int fixture_first(const char *what)
{
	if (strcmp(what, "name") == 0)
		return new_process(name_without_memory);
	return new_process(
	    strcmp(what, "create") == 0 ? create_without_memory : register_without_memory);
}

int in_fresh_process(const char *what)
{
	char *argv[PXT_SUITE_ARGV];
	char role[] = "--role";
	char first[] = "first";
	char text[16];
	pid_t child;
	int status = 0;

	(void)snprintf(text, sizeof(text), "%s", what);
	pxt_suite_argv(argv, role, first, text);
	child = fork();
	if (child == 0) {
		(void)execv(argv[0], argv);
		_exit(126);
	}
	(void)waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int describe_too_much(void)
{
	struct left before;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	char name[32];
	char what[256];
	trace_event_id_t id;
	int error = 0;

	for (unsigned i = 0; i < 1000 && error == 0; i++) {
		(void)snprintf(name, sizeof(name), "described_%u", i);
		(void)snprintf(format, sizeof(format), "%-200s u32 number_%u", "", i);
		PXT_EQ_FATAL(posix_trace_eventid_open(name, &id), 0);
		before = left_now();
		error = TRY(posix_trace_eventid_setformat_np(id, format));
	}
	return left_again(&before, what, sizeof(what)) ? error : 99;
}

int dump_what_is_something_else(void)
{
	trace_event_id_t id;

	PXT_EQ_FATAL(posix_trace_eventid_open("thread_state", &id), 0);
	PXT_EQ_FATAL(posix_trace_eventid_setformat_np(id, "u32 other"), 0);
	return TRY(posix_trace_dump_threads_np(&out.size));
}

int dump_without_room(void)
{
	trace_event_id_t id = 0;
	char name[32];

	for (unsigned i = 0; i < 10000 && id != POSIX_TRACE_UNNAMED_USEREVENT; i++) {
		(void)snprintf(name, sizeof(name), "no_room_%u", i);
		PXT_EQ_FATAL(posix_trace_eventid_open(name, &id), 0);
	}
	return TRY(posix_trace_dump_threads_np(&out.size));
}

/* A name and a text of so many bytes. */
int note_too_much(unsigned name, unsigned text)
{
	char bytes[512];

	memset(bytes, 'n', sizeof(bytes));
	bytes[name] = bytes[name + 1u + text] = '\0';
	return TRY(posix_trace_note_np(env.logged, bytes, bytes + name + 1));
}

int note_too_often(void)
{
	char text[256];

	memset(text, 't', sizeof(text));
	text[255] = '\0';
	for (unsigned i = 0; i < 7; i++)
		(void)posix_trace_note_np(env.logged, "n", text);
	return TRY(posix_trace_note_np(env.logged, "n", text));
}

int seal_on_too_many(void)
{
	int signals[17];

	for (int i = 0; i < 17; i++)
		signals[i] = SIGRTMIN + i;
	return TRY(posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 17));
}

int keep_event(const struct posix_trace_handled_np *event, void *arg)
{
	return 1;
}

uint64_t no_clock(void *context)
{
	return 0;
}

int set_too_many_handlers(void)
{
	static char args[17];
	trace_id_t trid;
	int error = posix_trace_create(0, NULL, &trid);

	for (int i = 0; i < 17 && !error; i++) {
		trace_event_set_t set;
		trace_event_id_t id;
		char name[] = "handled a";

		name[8] = (char)('a' + i);
		if (posix_trace_eventid_open(name, &id) != 0 ||
		    posix_trace_eventset_empty(&set) != 0 ||
		    posix_trace_eventset_add(id, &set) != 0)
			return -1;
		error = TRY(posix_trace_set_handler_np(trid, &set, keep_event, &args[i]));
	}
	(void)posix_trace_shutdown(trid);
	return error;
}

int set_a_handler(trace_id_t trid)
{
	return TRY(posix_trace_set_handler_np(trid, &env.set, keep_event, NULL));
}

int set_no_threads(trace_id_t trid)
{
	return TRY(posix_trace_set_threads_np(trid, NULL, 0));
}

int set_no_processes(trace_id_t trid)
{
	return TRY(posix_trace_set_processes_np(trid, NULL, 0));
}

int set_short(trace_id_t trid)
{
	return TRY(posix_trace_set_short_np(trid, &env.set));
}

int rules_without_memory(changing *change)
{
	int error;

	pxt_fault_arm(&pxt_fault_shared, 1, ENOMEM);
	error = change(env.stream);
	pxt_fault_arm(&pxt_fault_shared, 0, 0);
	return error;
}

static struct {
	trace_id_t trid;
	changing *change;
	int error;
} from_inside;

static int change_from_inside(const struct posix_trace_handled_np *event, void *arg)
{
	from_inside.error = from_inside.change(from_inside.trid);
	return 1;
}

/* As if another thread did it while this one stands in a handler. */
int rules_from_inside(changing *change)
{
	trace_event_set_t set;

	from_inside.change = change;
	from_inside.error = 0;
	PXT_EQ_FATAL(posix_trace_create(0, NULL, &from_inside.trid), 0);
	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
	PXT_EQ(posix_trace_set_handler_np(from_inside.trid, &set, change_from_inside, NULL), 0);
	PXT_EQ(posix_trace_start(from_inside.trid), 0);
	ways_hurry(true);
	posix_trace_event(env.id, NULL, 0);
	ways_hurry(false);
	PXT_EQ(posix_trace_shutdown(from_inside.trid), 0);
	return from_inside.error;
}

/* ---- A forked process that stands still ---- */

int standing(int (*body)(void))
{
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child = fork();
	int error;

	if (child == 0) {
		for (;;)
			(void)pause();
	}
	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	atomic_store(&pxt_directory->lock, (uint32_t)child);
	ways_hurry(true);
	error = body();
	ways_hurry(false);
	atomic_store(&pxt_directory->lock, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return error;
}

int name_anew(void)
{
	return TRY(posix_trace_eventid_open("name_anew", &out.id));
}

int dump_threads(void)
{
	return TRY(posix_trace_dump_threads_np(&out.size));
}

int name_anew_by_stream(void)
{
	return TRY(posix_trace_trid_eventid_open(env.stream, "name_anew", &out.id));
}

int describe(void)
{
	return TRY(posix_trace_eventid_setformat_np(env.id, "u32 number"));
}

/* ---- Creating ---- */

static int created(int error)
{
	if (error == 0)
		PXT_EQ(posix_trace_shutdown(out.trid), 0);
	return error == 0 ? CREATED : error;
}

int make(pid_t pid, const trace_attr_t *attr)
{
	return created(TRY(posix_trace_create(pid, attr, &out.trid)));
}

/* Into the empty file, which stays empty. */
int make_logged(pid_t pid, const trace_attr_t *attr)
{
	int error = created(TRY(posix_trace_create_withlog(pid, attr, env.file, &out.trid)));

	PXT_EQ(ftruncate(env.file, 0), 0);
	return error;
}

static trace_attr_t given;

static trace_attr_t *fresh(void)
{
	PXT_EQ_FATAL(posix_trace_attr_init(&given), 0);
	return &given;
}

const trace_attr_t *with_policy(int policy)
{
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(fresh(), policy), 0);
	return &given;
}

const trace_attr_t *with_tiny_log(void)
{
	PXT_EQ(posix_trace_attr_setlogfullpolicy(fresh(), POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setlogsize(&given, 1), 0);
	return &given;
}

const trace_attr_t *with_priority(int priority)
{
	PXT_EQ(posix_trace_attr_setflushpriority_np(fresh(), priority), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&given, POSIX_TRACE_FLUSH), 0);
	return &given;
}

int with_file(making *made, int fd)
{
	int error;

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ_FATAL(posix_trace_attr_setfile_np(fresh(), fd), 0);
	error = made(0, &given);
	close(fd);
	return error;
}

int full_file(void)
{
	int fd = pxt_temp_file();

	PXT_EQ(write(fd, "x", 1), 1);
	return fd;
}

int sealed_file(void)
{
	int fd = memfd_create("failing", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	PXT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE), 0);
	return fd;
}

/* The room is taken, and then it cannot be mapped; or there is none. */
int file_without_room(making *made, bool extend)
{
	struct pxt_fault *fault = extend ? &pxt_fault_extend : &pxt_fault_filemap;
	int fd = pxt_temp_file();
	struct stat state;
	int error;

	pxt_fault_arm(fault, 1, ENOMEM);
	error = with_file(made, dup(fd));
	pxt_fault_arm(fault, 0, 0);
	CU_ASSERT(fstat(fd, &state) == 0 && state.st_size == 0);
	close(fd);
	return error;
}

int too_many(making *made)
{
	trace_id_t streams[TRACE_SYS_MAX];
	size_t count = 0;
	int error;

	while (count < TRACE_SYS_MAX && posix_trace_create(0, &env.good, &streams[count]) == 0)
		count++;
	error = made(0, NULL);
	while (count > 0)
		PXT_EQ(posix_trace_shutdown(streams[--count]), 0);
	return error;
}

int without_memory(making *made, unsigned n)
{
	int error;

	pxt_fault_arm(&pxt_fault_alloc, n, ENOMEM);
	error = made(0, NULL);
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	return error;
}

int without_descriptors(making *made)
{
	int error;

	ways_no_descriptors(0);
	error = made(0, NULL);
	ways_descriptors();
	return error;
}

/* ---- Names ---- */

static char socket_path[PXT_CTLSOCK_PATH];

const char *ways_path(void)
{
	(void)snprintf(socket_path, sizeof(socket_path), "%s/ctlsock", pxt_temp_folder());
	return socket_path;
}

int with_name(making *made, const char *name)
{
	int error;

	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(fresh(), name), 0);
	error = made(0, &given);
	if (access(name, F_OK) == 0)
		PXT_EQ(unlink(name), 0);
	return error;
}

const char *path_of_file(void)
{
	int fd = open(ways_path(), O_CREAT | O_WRONLY, 0600);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	return socket_path;
}

int name_twice(making *made)
{
	trace_attr_t attr;
	trace_id_t first;
	int error;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, ways_path()), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &first), 0);
	error = made(0, &attr);
	PXT_EQ(posix_trace_shutdown(first), 0);
	PXT_EQ(access(ways_path(), F_OK), -1);
	return error;
}

/* The user is one who may nothing; root, who may all, becomes them. */
bool ways_nobody(bool nobody)
{
	return geteuid() != 0 && getuid() != 0 ? true : seteuid(nobody ? 65534 : 0) == 0;
}

int with_closed_folder(making *made)
{
	char path[PXT_CTLSOCK_PATH];
	int error;

	(void)snprintf(path, sizeof(path), "%s/x", pxt_temp_folder());
	PXT_EQ(chmod(pxt_temp_folder(), 0500), 0);
	CU_ASSERT(ways_nobody(true));
	error = with_name(made, path);
	CU_ASSERT(ways_nobody(false));
	PXT_EQ(chmod(pxt_temp_folder(), 0700), 0);
	return error;
}

int name_without_thread(making *made)
{
	int error;

	pxt_fault_arm(&pxt_fault_thread, made == make ? 1 : 2, EAGAIN);
	error = with_name(made, ways_path());
	pxt_fault_arm(&pxt_fault_thread, 0, 0);
	return error;
}

/* A log takes one, the name several. */
int name_without_descriptors(making *made)
{
	int error;

	ways_no_descriptors(made == make ? 1 : 2);
	error = with_name(made, ways_path());
	ways_descriptors();
	return error;
}

/* ---- Logs ---- */

int logged_to(int fd)
{
	int error;

	PXT_EQ(posix_trace_attr_setlogfullpolicy(fresh(), POSIX_TRACE_APPEND), 0);
	error = created(TRY(posix_trace_create_withlog(0, &given, fd, &out.trid)));
	close(fd);
	return error;
}

int logged_to_pipe(int policy)
{
	PXT_EQ(posix_trace_attr_setlogfullpolicy(fresh(), policy), 0);
	return created(TRY(posix_trace_create_withlog(0, &given, env.pipe[1], &out.trid)));
}

/* Nobody reads from it, and it does not wait. */
static void full_pipe(int ends[2])
{
	char bytes[4096] = "";

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
}

static void drain(int fd)
{
	char bytes[4096];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

int logged_to_full_pipe(void)
{
	int ends[2];
	int error;

	full_pipe(ends);
	ways_hurry(true);
	error = logged_to(ends[1]);
	ways_hurry(false);
	close(ends[0]);
	return error;
}

static int broken_pipe(void)
{
	int ends[2];

	CU_ASSERT_FATAL(pipe(ends) == 0);
	close(ends[0]);
	return ends[1];
}

int logged_to_broken_pipe(void)
{
	int fd = broken_pipe();
	int error;

	(void)signal(SIGPIPE, SIG_IGN);
	error = logged_to(fd);
	(void)signal(SIGPIPE, SIG_DFL);
	return error;
}

int logged_failing(int error)
{
	int got;

	pxt_fault_arm_from(&pxt_fault_write, 1, error);
	got = make_logged(0, NULL);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	return got;
}

int logged_untruncated(int error)
{
	int got;

	pxt_fault_arm(&pxt_fault_truncate, 1, error);
	got = make_logged(0, NULL);
	pxt_fault_arm(&pxt_fault_truncate, 0, 0);
	return got;
}

int own_log_as_file(void)
{
	int fd = pxt_temp_file();
	int error;

	PXT_EQ(posix_trace_attr_setfile_np(fresh(), fd), 0);
	error = created(TRY(posix_trace_create_withlog(0, &given, fd, &out.trid)));
	close(fd);
	return error;
}

int flush_without_thread(int priority, int error)
{
	int got;

	pxt_fault_arm(&pxt_fault_thread, 1, error);
	got = make_logged(0, with_priority(priority));
	pxt_fault_arm(&pxt_fault_thread, 0, 0);
	return got;
}

static int with_priority_as_nobody(void)
{
	const struct rlimit none = { 0, 0 };

	PXT_EQ(setrlimit(RLIMIT_RTPRIO, &none), 0);
	if (geteuid() == 0 && setuid(65534) != 0)
		return 99;
	return make_logged(0, with_priority(1));
}

int priority_not_for_us(void)
{
	return in_new_process(with_priority_as_nobody);
}

/* ---- Output of streams that are there ---- */

/* A stream with a log in a new file, and something to write. */
static trace_id_t written(int fd)
{
	trace_id_t trid;

	trid = pxt_log_stream(with_policy(POSIX_TRACE_UNTIL_FULL), fd);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(env.id, "abcd", 4);
	return trid;
}

int shutdown_failing(int error)
{
	int fd = pxt_temp_file();
	trace_id_t trid = written(fd);
	int got;

	pxt_fault_arm_from(&pxt_fault_write, 1, error);
	got = TRY(posix_trace_shutdown(trid));
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	close(fd);
	return got;
}

int shutdown_untruncated(int error)
{
	int fd = pxt_temp_file();
	trace_id_t trid = written(fd);
	int got;

	pxt_fault_arm(&pxt_fault_truncate, 1, error);
	got = TRY(posix_trace_shutdown(trid));
	pxt_fault_arm(&pxt_fault_truncate, 0, 0);
	close(fd);
	return got;
}

int flush_failing(int error)
{
	int fd = pxt_temp_file();
	trace_id_t trid = written(fd);
	int got;

	pxt_fault_arm(&pxt_fault_write, 1, error);
	got = TRY(posix_trace_flush(trid));
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(fd);
	return got;
}

int flush_without_descriptor(void)
{
	int fd = pxt_temp_file();
	int next = dup(fd); /* which the library's own is going to be */
	trace_id_t trid;
	int got;

	close(next);
	trid = written(fd);
	close(next);
	got = TRY(posix_trace_flush(trid));
	PXT_EQ(posix_trace_shutdown(trid), EBADF);
	close(fd);
	return got;
}

int flush_without_reader(void)
{
	trace_id_t trid;
	int ends[2];
	int got;

	PXT_EQ(pipe(ends), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(fresh(), POSIX_TRACE_APPEND), 0);
	trid = pxt_log_stream(&given, ends[1]);
	PXT_EQ(posix_trace_start(trid), 0);
	close(ends[0]);
	got = TRY(posix_trace_flush(trid));
	PXT_EQ(posix_trace_shutdown(trid), EPIPE);
	close(ends[1]);
	return got;
}

int flush_to_full_pipe(void)
{
	int ends[2];
	trace_id_t trid;
	int error;
	char bytes[4096] = "";

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(fresh(), POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&given, POSIX_TRACE_UNTIL_FULL), 0);
	trid = pxt_log_stream(&given, ends[1]);
	PXT_EQ(posix_trace_start(trid), 0);
	while (write(ends[1], bytes, sizeof(bytes)) > 0)
		;
	ways_hurry(true);
	error = TRY(posix_trace_flush(trid));
	ways_hurry(false);
	drain(ends[0]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(ends[0]);
	close(ends[1]);
	return error;
}

int shot_into(int fd)
{
	int error = TRY(posix_trace_snapshot_np(env.stream, fd));

	close(fd);
	return error;
}

static int shot(void)
{
	int error = TRY(posix_trace_snapshot_np(env.stream, env.file));

	PXT_EQ(ftruncate(env.file, 0), 0);
	return error;
}

int shot_behind_something(void)
{
	int fd = full_file();

	PXT_EQ(fcntl(fd, F_SETFL, O_APPEND), 0);
	return shot_into(fd);
}

int shot_without_memory(unsigned n)
{
	int error;

	pxt_fault_arm(&pxt_fault_alloc, n, ENOMEM);
	error = shot();
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	return error;
}

int shot_without_descriptors(void)
{
	int error;

	ways_no_descriptors(0);
	error = shot();
	ways_descriptors();
	return error;
}

int shot_failing(int error)
{
	int got;

	pxt_fault_arm(&pxt_fault_write, 2, error);
	got = shot();
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	return got;
}

int shot_untruncated(int error)
{
	int got;

	pxt_fault_arm(&pxt_fault_truncate, 1, error);
	got = shot();
	pxt_fault_arm(&pxt_fault_truncate, 0, 0);
	return got;
}

int shot_into_full_pipe(void)
{
	int ends[2];
	int error;

	full_pipe(ends);
	ways_hurry(true);
	error = shot_into(ends[1]);
	ways_hurry(false);
	close(ends[0]);
	return error;
}

int shot_into_broken_pipe(void)
{
	int fd = broken_pipe();
	int error;

	(void)signal(SIGPIPE, SIG_IGN);
	error = shot_into(fd);
	(void)signal(SIGPIPE, SIG_DFL);
	return error;
}
