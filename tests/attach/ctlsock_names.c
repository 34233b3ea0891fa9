/* SPDX-License-Identifier: MIT */
/*
 * ctlsock_names.c - names of streams: which there are, who gets them, what is left of them.
 * (LPT-31, LPT-32)
 */
#define _GNU_SOURCE
#include "logs.h"

#include "format/owndescriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_there(const char *path)
{
	struct stat state;

	return lstat(path, &state) == 0;
}

/* ---- Which names there are ---- */

static const char *name_in(const trace_attr_t *attr)
{
	static char name[POSIX_TRACE_SHARENAME_MAX_NP + 1];

	PXT_EQ(posix_trace_attr_getsharename_np(attr, name, sizeof(name)), 0);
	return name;
}

PXT_TEST(attributes_tell_the_name_that_they_were_given_last)
{
	char text[] = "first";
	trace_attr_t attr;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "");
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, text), 0);
	memset(text, 'x', sizeof(text) - 1);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "first");
	PXT_EQ(posix_trace_attr_getsharename_np(&attr, text, sizeof(text) - 1), ERANGE);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, "second"), 0);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "second");
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, NULL), 0);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "");
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, "second"), 0);
	if (PXT_CHECKS_ARGUMENTS) {
		PXT_EQ(posix_trace_attr_setsharename_np(&attr, ".."), EINVAL);
		CU_ASSERT_STRING_EQUAL(name_in(&attr), "second");
	}
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, NULL), 0);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "");
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

PXT_TEST(what_is_no_socket_stays_and_is_refused)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	int fd;

	at_path(path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT(fd >= 0 && write(fd, "mine", 4) == 4);
	(void)close(fd);
	PXT_EQ(at_create(path, LOOP, &trid), EINVAL);
	CU_ASSERT(is_there(path));
	PXT_EQ(unlink(path), 0);
	PXT_EQ(symlink("/nowhere", path), 0);
	PXT_EQ(at_create(path, LOOP, &trid), EINVAL);
	CU_ASSERT(is_there(path));
	PXT_EQ(unlink(path), 0);
}

PXT_TEST(a_stream_socket_of_somebody_else_is_refused)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at_path(path);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	PXT_EQ(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	PXT_EQ(listen(fd, 1), 0);
	PXT_EQ(at_create(path, LOOP, &trid), EINVAL);
	CU_ASSERT(is_there(path));
	(void)close(fd);
	PXT_EQ(unlink(path), 0);
}

/* ---- Who gets them ---- */

PXT_TEST(two_streams_do_not_get_one_name)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	trace_id_t other = 0;

	PXT_EQ(at_create(path, LOOP, &other), EEXIST);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(at_create(path, LOOP, &other), 0);
	PXT_EQ(posix_trace_shutdown(other), 0);
	CU_ASSERT(!is_there(path));
}

/* LPT-31: its owner is too busy to let anybody in, and lives. */
PXT_TEST(a_name_at_which_others_wait_in_vain_is_in_use)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	int owner = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int other;

	at_path(path);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	PXT_EQ(bind(owner, (const struct sockaddr *)&at, sizeof(at)), 0);
	/* One may wait, and does. */
	PXT_EQ(listen(owner, 0), 0);
	other = at_connect(path);
	CU_ASSERT(other >= 0);
	PXT_EQ(at_create(path, LOOP, &trid), EEXIST);
	CU_ASSERT(is_there(path));
	(void)close(other);
	(void)close(owner);
	PXT_EQ(unlink(path), 0);
}

static int die_with_a_stream(void *argument)
{
	trace_id_t trid = 0;

	PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == 0);
	(void)kill(getpid(), SIGKILL);
	return __LINE__;
}

PXT_TEST(a_dead_process_place_is_taken_over)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	struct pxt_ctlsock_status status;

	at_path(path);
	PXT_EQ(pxt_in_child(die_with_a_stream, path), -SIGKILL);
	CU_ASSERT(is_there(path));
	PXT_EQ(at_create(path, LOOP, &trid), 0);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.pid, getpid());
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(!is_there(path));
}

/* Between the moment at which a socket is there and the moment at which it answers. */
static long listen_late_ms;

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

int __wrap_listen(int fd, int backlog)
{
	pxt_sleep_ms(listen_late_ms);
	return __real_listen(fd, backlog);
}

static char raced[PXT_CTLSOCK_PATH];

static void *race(void *argument)
{
	pthread_barrier_t *begin = argument;
	trace_id_t trid = 0;
	intptr_t error;
	trace_attr_t attr;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setsharename_np(&attr, raced);
	(void)pthread_barrier_wait(begin);
	error = posix_trace_create(0, &attr, &trid);
	(void)posix_trace_attr_destroy(&attr);
	(void)pthread_barrier_wait(begin);
	if (error == 0)
		(void)posix_trace_shutdown(trid);
	return (void *)error;
}

/* Two of one process stand for two processes: the place in the file system is all they share. */
PXT_TEST(of_those_who_take_a_dead_place_at_once_one_gets_it)
{
	for (int round = 0; round < 30; round++) {
		pthread_barrier_t begin;
		pthread_t other;
		void *theirs = NULL;
		intptr_t mine;

		at_path(raced);
		PXT_EQ(pxt_in_child(die_with_a_stream, raced), -SIGKILL);
		listen_late_ms = round < 5 ? 20 : 0;
		PXT_EQ(pthread_barrier_init(&begin, NULL, 2), 0);
		PXT_EQ_FATAL(pthread_create(&other, NULL, race, &begin), 0);
		mine = (intptr_t)race(&begin);
		PXT_EQ(pthread_join(other, &theirs), 0);
		(void)pthread_barrier_destroy(&begin);
		PXT_CHECK(
		    (mine == 0 && (intptr_t)theirs == EEXIST) || (mine == EEXIST && theirs == NULL),
		    "round %d: %d and %d", round, (int)mine, (int)(intptr_t)theirs);
	}
	listen_late_ms = 0;
}

/* Whoever may read the folder may lock it. */
PXT_TEST(somebody_who_locks_the_folder_stops_nobody)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	int fd = open(pxt_temp_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	at_path(path);
	PXT_EQ(pxt_in_child(die_with_a_stream, path), -SIGKILL);
	PXT_EQ(flock(fd, LOCK_EX), 0);
	PXT_EQ(at_create(path, LOOP, &trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(!is_there(path));
	(void)close(fd);
}

/* Whether the folder was locked when something was removed from it. */
static bool looks_at_the_lock;
static unsigned unlinked_locked;
static unsigned unlinked_unlocked;

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

int __wrap_unlink(const char *path)
{
	if (looks_at_the_lock) {
		int fd = open(pxt_temp_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
			unlinked_locked++;
		else
			unlinked_unlocked++;
		(void)close(fd);
	}
	return __real_unlink(path);
}

/* Else somebody who takes a dead place over in between could lose the new name. */
PXT_TEST(a_name_is_given_back_while_nobody_can_take_it_over)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);

	unlinked_locked = 0;
	unlinked_unlocked = 0;
	looks_at_the_lock = true;
	PXT_EQ(posix_trace_shutdown(trid), 0);
	looks_at_the_lock = false;
	PXT_EQ(unlinked_locked, 1);
	PXT_EQ(unlinked_unlocked, 0);
	CU_ASSERT(!is_there(path));
}

/* Somebody removed the socket, and something else has its place. */
PXT_TEST(what_is_not_the_stream_s_own_is_not_removed)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	trace_id_t other = 0;
	struct pxt_ctlsock_status status;

	PXT_EQ(unlink(path), 0);
	PXT_EQ(at_create(path, LOOP, &other), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_shutdown(other), 0);
	CU_ASSERT(!is_there(path));
}

PXT_TEST(a_path_holds_when_the_working_folder_changes)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;
	int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CU_ASSERT_FATAL(before >= 0 && chdir(pxt_temp_folder()) == 0);
	PXT_EQ(at_create("./held", LOOP, &trid), 0);
	PXT_EQ(fchdir(before), 0);
	(void)snprintf(path, sizeof(path), "%s/held", pxt_temp_folder());
	CU_ASSERT(is_there(path));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(!is_there(path));
	(void)close(before);
}

/* ---- Permissions ---- */

/* A user that no system has, and no other test that runs beside this one. */
static unsigned nobody;

static bool is_root(void)
{
	if (!nobody)
		nobody = 64000u + (unsigned)getpid() % 1000u;
	if (geteuid() == 0)
		return true;
	pxt_skip("needs another user");
	return false;
}

static bool become_nobody(void)
{
	return setresgid(nobody, nobody, nobody) == 0 && setresuid(nobody, nobody, nobody) == 0;
}

static int try_to_connect(void *argument)
{
	int fd;

	PXT_CHILD_CHECK(become_nobody());
	fd = at_connect(argument);
	PXT_CHILD_CHECK(fd < 0 && errno == EACCES);
	return 0;
}

PXT_TEST(who_may_not_write_to_the_socket_gets_eacces)
{
	char path[PXT_CTLSOCK_PATH];
	mode_t before = umask(022);
	trace_id_t trid;

	if (!is_root()) {
		(void)umask(before);
		return;
	}
	CU_ASSERT(chmod(pxt_temp_folder(), 0711) == 0);
	trid = at_stream(LOOP, path);
	(void)umask(before);
	PXT_EQ(pxt_in_child(try_to_connect, path), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static int create_where_nobody_may(void *argument)
{
	trace_id_t trid = 0;

	PXT_CHILD_CHECK(become_nobody());
	PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == EACCES);
	return 0;
}

PXT_TEST(a_folder_that_is_not_to_be_written_to_is_refused)
{
	char path[PXT_CTLSOCK_PATH];

	if (!is_root())
		return;
	at_path(path);
	CU_ASSERT(chmod(pxt_temp_folder(), 0711) == 0);
	PXT_EQ(pxt_in_child(create_where_nobody_may, path), 0);
}

/* A living one of another user's: it is there, and nothing else is learnt. */
PXT_TEST(another_user_s_stream_is_not_taken_over)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid;
	struct pxt_ctlsock_status status;

	if (!is_root())
		return;
	trid = at_stream(LOOP, path);
	PXT_EQ(chmod(path, 0700), 0);
	CU_ASSERT(chmod(pxt_temp_folder(), 0777) == 0);
	PXT_EQ(pxt_in_child(create_where_nobody_may, path), 0);
	CU_ASSERT(chmod(pxt_temp_folder(), 0700) == 0);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- The user's folder; as a user who has none ---- */

static char nobodys[64];

static int use_the_folder(void *argument)
{
	char path[PXT_CTLSOCK_PATH];
	struct stat state;
	trace_id_t trid = 0;
	int want = *(const int *)argument;

	PXT_CHILD_CHECK(become_nobody());
	PXT_CHILD_CHECK(at_create("name", LOOP, &trid) == want);
	if (want)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/name", nobodys);
	PXT_CHILD_CHECK(is_there(path));
	PXT_CHILD_CHECK(stat(nobodys, &state) == 0 && (state.st_mode & 07777) == 0700);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(!is_there(path));
	return 0;
}

static bool have_nobody(void)
{
	char left[PXT_CTLSOCK_PATH];

	if (!is_root())
		return false;
	(void)snprintf(nobodys, sizeof(nobodys), PXT_CTLSOCK_FOLDER, nobody);
	/* What a run that was killed left. */
	(void)snprintf(left, sizeof(left), "%s/name", nobodys);
	if (unlink(left) == 0 || access(nobodys, F_OK) == 0)
		(void)rmdir(nobodys);
	if (access("/dev/shm", W_OK) == 0 && !is_there(nobodys))
		return true;
	pxt_skip("needs another user, and /dev/shm");
	return false;
}

PXT_TEST(the_user_s_folder_is_made_for_him_alone)
{
	int want = 0;
	mode_t before;

	if (!have_nobody())
		return;
	before = umask(0);
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0);
	(void)umask(before);
	/* It is there the second time. */
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0);
	PXT_EQ(rmdir(nobodys), 0);
}

PXT_TEST(a_folder_that_others_may_enter_is_refused)
{
	int want = EACCES;

	if (!have_nobody())
		return;
	PXT_EQ(mkdir(nobodys, 0700), 0);
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0); /* root's */
	PXT_EQ(chown(nobodys, nobody, nobody), 0);
	PXT_EQ(chmod(nobodys, 0710), 0);
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0);
	PXT_EQ(chmod(nobodys, 0701), 0);
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0);
	PXT_EQ(rmdir(nobodys), 0);
	PXT_EQ(symlink("/tmp", nobodys), 0);
	PXT_EQ(pxt_in_child(use_the_folder, &want), 0);
	PXT_EQ(unlink(nobodys), 0);
}

/* ---- What is left ---- */

PXT_TEST(shutdown_leaves_no_file_descriptor_or_thread)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path); /* whatever the first one needs for ever */
	unsigned descriptors;
	unsigned threads;

	PXT_EQ(posix_trace_shutdown(trid), 0);
	descriptors = at_descriptors();
	threads = at_threads();
	for (int i = 0; i < 20; i++) {
		int asks;

		trid = at_stream(LOOP, path);
		asks = at_connect(path);
		CU_ASSERT(asks >= 0);
		PXT_EQ(at_tell(asks, PXT_CTLSOCK_STATUS), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		CU_ASSERT(at_ended(asks));
		(void)close(asks);
		CU_ASSERT(!is_there(path));
	}
	CU_ASSERT(at_closed_down_to(descriptors));
	CU_ASSERT(at_threads_down_to(threads));
}

/*
 * What others ask for shall not displace the program's real-time threads.  Some C libraries have no
 * sched_setscheduler(): musl's only says ENOSYS.
 */
static int helpers_policy(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int policy = -1;

	CU_ASSERT_FATAL(tasks != NULL);
	while ((entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (tid > 0 && tid != getpid())
			policy = (int)syscall(SYS_sched_getscheduler, tid);
	}
	(void)closedir(tasks);
	return policy;
}

static int create_in_real_time(void *argument)
{
	static const int policies[] = { SCHED_FIFO, SCHED_RR };
	struct sched_param param = { .sched_priority = 5 };

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		trace_id_t trid = 0;

		if (syscall(SYS_sched_setscheduler, 0, policies[i], &param) != 0)
			return 0;
		PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == 0);
		PXT_CHILD_CHECK(helpers_policy() == SCHED_OTHER);
		PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	}
	return 0;
}

static int create_in_the_background(void *argument)
{
	struct sched_param param = { .sched_priority = 0 };
	trace_id_t trid = 0;

	PXT_CHILD_CHECK(syscall(SYS_sched_setscheduler, 0, SCHED_IDLE, &param) == 0);
	PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == 0);
	PXT_CHILD_CHECK(helpers_policy() == SCHED_IDLE);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	return 0;
}

PXT_TEST(the_helper_is_no_real_time_thread)
{
	char path[PXT_CTLSOCK_PATH];

	at_path(path);
	PXT_EQ(pxt_in_child(create_in_real_time, path), 0);
	PXT_EQ(pxt_in_child(create_in_the_background, path), 0);
}

struct child {
	int wait[2]; /* at its end of file the child goes */
	pid_t pid;
};

static void fork_child(struct child *child, trace_id_t trid)
{
	PXT_EQ_FATAL(pipe(child->wait), 0);
	child->pid = fork();
	CU_ASSERT_FATAL(child->pid >= 0);
	if (child->pid == 0) {
		char byte;

		(void)close(child->wait[1]);
		/* What its parent had is not there. */
		if (posix_trace_shutdown(trid) != EINVAL)
			_exit(1);
		_exit(read(child->wait[0], &byte, 1) == 0 ? 0 : 2);
	}
	(void)close(child->wait[0]);
}

static void end_child(const struct child *child)
{
	int status = -1;

	(void)close(child->wait[1]);
	CU_ASSERT(waitpid(child->pid, &status, 0) == child->pid);
	PXT_EQ(status, 0);
}

/* It has neither the name nor the connections, so nobody takes it for the owner. (DEC-24) */
PXT_TEST(a_forked_child_has_no_part_in_the_name)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int asks = at_connect(path);
	struct child child;

	PXT_EQ(at_tell(asks, PXT_CTLSOCK_STATUS), 0);
	fork_child(&child, trid);
	/* The parent goes on. */
	PXT_EQ(at_tell(asks, PXT_CTLSOCK_STATUS), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(at_ended(asks));
	(void)close(asks);
	end_child(&child);
}

static unsigned before_the_ctlsock;
static bool had_an_input;

static int count_in_child(void *argument)
{
	PXT_CHILD_CHECK(posix_trace_shutdown(*(trace_id_t *)argument) == EINVAL);
	PXT_CHILD_CHECK(at_descriptors() == before_the_ctlsock);
	/* Nor was another one closed instead. */
	PXT_CHILD_CHECK(fcntl(0, F_GETFD) != -1 || !had_an_input);
	return 0;
}

/* What a first stream leaves open for good is not counted; @more of the test's own will be. */
static void count_before(unsigned more)
{
	char path[PXT_CTLSOCK_PATH];

	PXT_EQ(posix_trace_shutdown(at_stream(LOOP, path)), 0);
	before_the_ctlsock = at_descriptors() + more;
	had_an_input = fcntl(0, F_GETFD) != -1;
}

PXT_TEST(a_forked_child_keeps_no_descriptor_of_the_ctlsock)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid;

	count_before(0);
	trid = at_stream(LOOP, path);
	CU_ASSERT(at_descriptors() > before_the_ctlsock);
	PXT_EQ(pxt_in_child(count_in_child, &trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(at_descriptors(), before_the_ctlsock);
}

/* Its thread, socket and connections are found by the stream's place, and this is the last one. */
PXT_TEST(nor_one_of_the_last_stream_that_there_can_be)
{
	trace_id_t others[TRACE_SYS_MAX];
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid;

	for (unsigned i = 0; i + 1u < TRACE_SYS_MAX; i++)
		PXT_EQ_FATAL(posix_trace_create(0, NULL, &others[i]), 0);
	count_before(0);
	trid = at_stream(LOOP, path);
	CU_ASSERT(at_descriptors() > before_the_ctlsock);
	PXT_EQ(pxt_in_child(count_in_child, &trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 0; i + 1u < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_shutdown(others[i]), 0);
}

static int die_before_my_child(void *argument)
{
	struct child child;
	trace_id_t trid = 0;

	PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == 0);
	PXT_CHILD_CHECK(pipe(child.wait) == 0);
	child.pid = fork();
	PXT_CHILD_CHECK(child.pid >= 0);
	if (child.pid == 0) {
		(void)close(child.wait[0]);
		/* So that the fork handlers have run for sure when the parent goes on. */
		(void)!write(child.wait[1], "x", 1);
		pxt_sleep_ms(1000);
		_exit(0);
	}
	PXT_CHILD_CHECK(read(child.wait[0], argument, 0) == 0);
	{
		char byte;

		PXT_CHILD_CHECK(read(child.wait[0], &byte, 1) == 1);
	}
	(void)kill(getpid(), SIGKILL);
	return __LINE__;
}

PXT_TEST(a_dead_owner_s_living_child_does_not_hold_the_place)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = 0;

	at_path(path);
	PXT_EQ(pxt_in_child(die_before_my_child, path), -SIGKILL);
	PXT_EQ(at_create(path, LOOP, &trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static int end_without_shutdown(void *argument)
{
	trace_id_t trid = 0;

	PXT_CHILD_CHECK(at_create(argument, LOOP, &trid) == 0);
	exit(0);
}

/* DEC-23 */
PXT_TEST(the_end_of_the_process_gives_the_name_back)
{
	char path[PXT_CTLSOCK_PATH];

	at_path(path);
	PXT_EQ(pxt_in_child(end_without_shutdown, path), 0);
	CU_ASSERT(!is_there(path));
}

PXT_TEST(attributes_of_a_stream_tell_no_name)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	trace_attr_t attr;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	CU_ASSERT_STRING_EQUAL(name_in(&attr), "");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Nothing but its own word wakes the helper: nobody is attached, the stream stands still. */
PXT_TEST(who_calls_first_is_heard_though_descriptor_0_says_nothing)
{
	char path[PXT_CTLSOCK_PATH];
	int kept = dup(0);
	trace_id_t trid;
	int silent[2];
	int fd;

	CU_ASSERT_FATAL(pipe2(silent, O_CLOEXEC) == 0 && dup2(silent[0], 0) == 0);
	trid = at_stream(LOOP, path);
	fd = at_connect(path);
	for (int i = 0; i < 3; i++)
		PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(silent[0]);
	(void)close(silent[1]);
	(void)(kept >= 0 ? dup2(kept, 0) : close(0));
	if (kept >= 0)
		(void)close(kept);
}

/* Where no number is free above the program's own, one of those is taken. */
PXT_TEST(a_stream_gets_its_name_where_no_high_descriptor_is_free)
{
	char path[PXT_CTLSOCK_PATH];
	int before = _pxt_own_descriptors.first;
	trace_id_t trid;

	/* Beyond every limit. */
	_pxt_own_descriptors.first = INT_MAX - 1;
	trid = at_stream(POSIX_TRACE_LOOP, path);
	_pxt_own_descriptors.first = before;
	PXT_EQ(at_tell(at_connect(path), PXT_CTLSOCK_START), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
