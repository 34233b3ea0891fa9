/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - a program closes all descriptors, the control socket's and an attachment's among them, and their
 * numbers become its own: they stay so, and no call waits for ever.
 */
#define _GNU_SOURCE /* syscall() */
#include "../suite.h"
#include "port/port_local.h"
#include "port/port_log.h"
#include "port/port_sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#define FIRST 3
#define OWN   24 /* numbers that become the program's */

static void name_it(char name[64], const char *what)
{
	(void)snprintf(name, 64, "descriptors-%s-%d", what, (int)getpid());
}

static bool share(const char *name, trace_id_t *trid)
{
	trace_attr_t attr;

	return posix_trace_attr_init(&attr) == 0 &&
	       posix_trace_attr_setsharename_np(&attr, name) == 0 &&
	       posix_trace_create(0, &attr, trid) == 0 && posix_trace_start(*trid) == 0;
}

/* From here on the numbers are files of the program's, all empty. */
static bool take_numbers(void)
{
	(void)syscall(SYS_close_range, (unsigned)FIRST, ~0u, 0u);
	for (int fd = FIRST; fd < FIRST + OWN; fd++) {
		char path[] = "/tmp/ptrace-test-XXXXXX";

		if (mkstemp(path) != fd)
			return false;
		(void)unlink(path);
	}
	return true;
}

static bool are_untouched(void)
{
	for (int fd = FIRST; fd < FIRST + OWN; fd++) {
		struct stat state;

		if (fstat(fd, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size != 0)
			return false;
	}
	return true;
}

static int close_as_owner(void *unused)
{
	trace_id_t trid;
	char name[64];

	(void)alarm(120);
	name_it(name, "owner");
	PXT_CHILD_CHECK(share(name, &trid) && take_numbers());
	PXT_CHILD_CHECK(posix_trace_stop(trid) == 0 && posix_trace_start(trid) == 0);
	PXT_CHILD_CHECK(are_untouched());
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(are_untouched());
	/* The place is free again. */
	PXT_CHILD_CHECK(share(name, &trid) && posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(are_untouched());
	return 0;
}

/* DEC-22 */
PXT_TEST(an_owner_that_closed_everything_touches_no_file_at_its_numbers_and_ends)
{
	PXT_EQ(pxt_in_child(close_as_owner, NULL), 0);
}

static int exit_as_owner(void *unused)
{
	trace_id_t trid;
	char name[64];

	(void)alarm(120);
	name_it(name, "exit");
	PXT_CHILD_CHECK(share(name, &trid) && take_numbers());
	exit(0);
}

PXT_TEST(exit_of_an_owner_that_closed_everything_returns)
{
	PXT_EQ(pxt_in_child(exit_as_owner, NULL), 0);
}

/* The owner is a process of its own; it ends when this one closes @tube. */
static pid_t start_owner(const char *name, int tube[2])
{
	trace_id_t trid;
	char byte;
	pid_t owner;
	int ready[2];

	if (pipe(tube) != 0 || pipe(ready) != 0)
		return -1;
	owner = fork();
	if (owner == 0) {
		(void)close(tube[1]);
		if (share(name, &trid))
			(void)!write(ready[1], "", 1);
		(void)!read(tube[0], &byte, 1);
		_exit(0);
	}
	(void)close(ready[1]);
	return read(ready[0], &byte, 1) == 1 ? owner : -1;
}

static int close_as_producer(void *unused)
{
	trace_id_t trid;
	char name[64];
	int tube[2];
	pid_t owner;

	(void)alarm(120);
	name_it(name, "producer");
	owner = start_owner(name, tube);
	PXT_CHILD_CHECK(owner > 0 && posix_trace_attach_np(name, NULL, &trid) == 0);
	PXT_CHILD_CHECK(take_numbers());
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(are_untouched());
	PXT_CHILD_CHECK(waitpid(owner, NULL, 0) == owner);
	return 0;
}

PXT_TEST(an_attached_process_that_closed_everything_touches_no_file_at_its_numbers)
{
	PXT_EQ(pxt_in_child(close_as_producer, NULL), 0);
}

/* ---- Functions of the port ---- */

/* At @fd there is another socket from now on, with a byte in it; returns its peer. */
static int replace(int fd)
{
	int pair[2];

	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	CU_ASSERT_FATAL(dup2(pair[0], fd) == fd);
	(void)close(pair[0]);
	CU_ASSERT(send(pair[1], "x", 1, 0) == 1);
	return pair[1];
}

/* Nothing was sent to it, its byte was not taken, and it is not closed. */
static void expect_untouched(int fd, int peer)
{
	char byte = 0;

	CU_ASSERT(recv(peer, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	CU_ASSERT(recv(fd, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x');
	(void)close(fd);
	(void)close(peer);
}

PXT_TEST(a_bell_that_became_another_descriptor_is_not_rung_nor_read_nor_closed)
{
	int bell;
	int ringer;
	int peer[2];

	PXT_EQ_FATAL(pxt_port_bell_open(&bell, &ringer), 0);
	pxt_port_bell_ring(ringer);
	CU_ASSERT(pxt_port_bell_hush(bell));
	peer[0] = replace(bell);
	peer[1] = replace(ringer);
	pxt_port_bell_ring(ringer);
	CU_ASSERT(!pxt_port_bell_hush(bell));
	pxt_port_local_close(bell);
	pxt_port_local_close(ringer);
	expect_untouched(bell, peer[0]);
	expect_untouched(ringer, peer[1]);
}

/* Who waits for it would spin otherwise. */
PXT_TEST(a_bell_whose_other_end_was_closed_says_so)
{
	int bell;
	int ringer;

	PXT_EQ_FATAL(pxt_port_bell_open(&bell, &ringer), 0);
	(void)close(ringer);
	CU_ASSERT(!pxt_port_bell_hush(bell));
	pxt_port_local_close(ringer);
	pxt_port_local_close(bell);
}

PXT_TEST(a_connection_that_became_another_descriptor_is_left_alone)
{
	struct pxt_port_passed passed;
	struct pxt_port_watch watch;
	char path[108];
	char byte;
	size_t bytes;
	struct pxt_port_place place;
	int listener;
	int fd;
	int peer;

	(void)snprintf(path, sizeof(path), "%s/descriptors", pxt_temp_folder());
	PXT_EQ_FATAL(pxt_port_local_listen(path, &listener, &place), 0);
	PXT_EQ_FATAL(pxt_port_local_connect(path, 1000, &fd), 0);
	peer = replace(fd);
	watch.fd = fd;
	CU_ASSERT(!pxt_port_local_kept(fd));
	pxt_port_local_watch(&watch, 1, -1);
	CU_ASSERT(watch.ready);
	PXT_EQ(pxt_port_local_send(fd, "y", 1, NULL), EPIPE);
	PXT_EQ(pxt_port_local_receive(fd, &byte, 1, &bytes, &passed), EPIPE);
	PXT_EQ(pxt_port_local_await(fd, &byte, 1, 1000, &bytes, &passed), EPIPE);
	pxt_port_local_hang_up(fd);
	expect_untouched(fd, peer);
	pxt_port_local_close(listener);
	(void)unlink(path);
}

/* Whoever still believes in the number would take it for its own. */
PXT_TEST(a_number_that_was_closed_behind_the_library_is_not_taken_again)
{
	int one;
	int other;

	PXT_EQ_FATAL(pxt_port_local_memory(&one), 0);
	(void)close(one);
	PXT_EQ_FATAL(pxt_port_local_memory(&other), 0);
	CU_ASSERT(other != one && pxt_port_local_kept(other) && !pxt_port_local_kept(one));
	pxt_port_local_close(one);
	CU_ASSERT(pxt_port_local_kept(other));
	pxt_port_local_close(other);
}

static int listen_of_own(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	(void)unlink(path);
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 4) == 0 ? fd : -1;
}

PXT_TEST(a_client_of_the_programs_own_listener_is_not_let_in)
{
	struct pxt_port_place place;
	struct pollfd own;
	char path[108];
	char other[108];
	int32_t pid;
	int listener;
	int client;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/listener", pxt_temp_folder());
	(void)snprintf(other, sizeof(other), "%s/own", pxt_temp_folder());
	PXT_EQ_FATAL(pxt_port_local_listen(path, &listener, &place), 0);
	fd = listen_of_own(other);
	CU_ASSERT_FATAL(fd >= 0 && dup2(fd, listener) == listener);
	PXT_EQ_FATAL(pxt_port_local_connect(other, 1000, &client), 0);
	PXT_EQ(pxt_port_local_accept(listener, &fd, &pid), EBADF);
	own = (struct pollfd){ .fd = listener, .events = POLLIN };
	CU_ASSERT(poll(&own, 1, 0) == 1);
	pxt_port_local_hang_up(listener);
	CU_ASSERT(fcntl(listener, F_GETFD) >= 0);
	pxt_port_local_close(client);
	(void)unlink(path);
	(void)unlink(other);
}

/* All epoll descriptors have one inode. */
PXT_TEST(a_door_that_became_another_epoll_descriptor_is_left_alone)
{
	struct pxt_port_place place;
	char path[108];
	int listener;
	int door;

	(void)snprintf(path, sizeof(path), "%s/door", pxt_temp_folder());
	PXT_EQ_FATAL(pxt_port_local_listen(path, &listener, &place), 0);
	PXT_EQ_FATAL(pxt_port_local_door(listener, &door), 0);
	CU_ASSERT_FATAL(dup3(epoll_create1(EPOLL_CLOEXEC), door, O_CLOEXEC) == door);
	pxt_port_local_door_enter(door, listener);
	CU_ASSERT(epoll_ctl(door, EPOLL_CTL_DEL, listener, NULL) != 0 && errno == ENOENT);
	pxt_port_local_close(door);
	CU_ASSERT(fcntl(door, F_GETFD) >= 0);
	(void)close(door);
	pxt_port_local_close(listener);
	(void)unlink(path);
}

/* ---- A program that closed 0, 1 and 2 ---- */

static _Atomic bool watched;
static _Atomic unsigned seen;

/* What cannot be read nor written is as good as none. */
static void *watch_low_numbers(void *unused)
{
	while (atomic_load(&watched)) {
		for (int low = 0; low < FIRST; low++) {
			int flags = fcntl(low, F_GETFL);

			if (flags >= 0 && (flags & O_PATH) == 0)
				(void)atomic_fetch_add(&seen, 1);
		}
	}
	return unused;
}

static bool pass_one(const char *path, int listener)
{
	struct pxt_port_passed passed = { .count = 1 };
	struct pxt_port_passed came;
	uint64_t number;
	size_t bytes;
	int32_t pid;
	char byte;
	int client;
	int life;
	int fd;

	if (pxt_port_local_connect(path, 1000, &client) || pxt_port_local_memory(&passed.fd[0]) ||
	    pxt_port_local_accept(listener, &fd, &pid) ||
	    pxt_port_local_send(client, "x", 1, &passed) ||
	    pxt_port_local_receive(fd, &byte, 1, &bytes, &came) || came.count != 1)
		return false;
	if (pxt_port_local_life(fd, pid, &life, &number) == 0)
		pxt_port_local_close(life);
	pxt_port_local_drop(&came);
	pxt_port_local_close(passed.fd[0]);
	pxt_port_local_close(client);
	pxt_port_local_close(fd);
	return true;
}

static bool use_sockets(void)
{
	struct pxt_port_place place;
	char path[108];
	int listener;
	int bell[2];
	int door;
	bool done = true;

	(void)snprintf(path, sizeof(path), "%s/low", pxt_temp_folder());
	if (pxt_port_local_listen(path, &listener, &place) ||
	    pxt_port_local_door(listener, &door) || pxt_port_bell_open(&bell[0], &bell[1]))
		return false;
	for (int i = 0; i < 300; i++)
		done = pass_one(path, listener) && done;
	pxt_port_local_release(pxt_port_local_reserve(path, 1000));
	(void)unlink(path);
	return done;
}

/* The program closes each, and its path gives it back. */
static bool use_logs(int folder)
{
	struct pxt_port_log log;
	struct pxt_port_log next;
	size_t done = 0;

	if (pxt_port_log_first(&log, folder, "low", 0600))
		return false;
	pxt_port_log_folder_path(&log, pxt_temp_folder());
	for (int i = 0; i < 100; i++) {
		(void)close(log.fd);
		if (pxt_port_log_write_at(&log, 0, "log", 3, &done) || done != 3 ||
		    pxt_port_log_next(&next, &log))
			return false;
		log.folder.fd = -1;
		pxt_port_log_close(&log);
		log = next;
	}
	return true;
}

static void use_proc(void)
{
	unsigned char boot[PXT_BOOT_ID_BYTES];
	struct timespec start;

	for (int i = 0; i < 300; i++) {
		pxt_port_boot_id(boot);
		pxt_port_process_start(&start);
	}
}

static int run_without_low_numbers(void *unused)
{
	int folder = open(pxt_temp_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pthread_t watcher;

	for (int low = 0; low < FIRST; low++)
		(void)close(low);
	atomic_store(&watched, true);
	PXT_CHILD_CHECK(pthread_create(&watcher, NULL, watch_low_numbers, NULL) == 0);
	PXT_CHILD_CHECK(use_sockets() && use_logs(folder));
	use_proc();
	atomic_store(&watched, false);
	PXT_CHILD_CHECK(pthread_join(watcher, NULL) == 0);
	PXT_CHILD_CHECK(atomic_load(&seen) == 0);
	for (int low = 0; low < FIRST; low++)
		PXT_CHILD_CHECK(fcntl(low, F_GETFD) < 0);
	return 0;
}

/* What the program would print by mistake goes nowhere. */
PXT_TEST(a_program_that_closed_0_to_2_finds_nothing_there_that_can_be_read_or_written)
{
	PXT_EQ(pxt_in_child(run_without_low_numbers, NULL), 0);
}
