/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - programs close descriptors that they do not know, the log's among them, and its number becomes
 * something of their own; writes that fail end no program.
 */
#define _GNU_SOURCE /* syscall(), pipe2() */
#include "../conformance/story.h"

#include "../suite.h"
#include "core/copy/copy.h"
#include "port/port_file.h"
#include "port/port_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OWN  "the program's own"
#define LAST 64 /* of the descriptors that are looked at */

static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

static bool same_file(int one, int other)
{
	struct stat first;
	struct stat second;

	return fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* The library's own descriptor of the log whose file is also open at @fd. */
static int number_of_log(int fd)
{
	for (int other = 3; other < LAST; other++) {
		if (other != fd && same_file(other, fd))
			return other;
	}
	return -1;
}

static int own_file(int flags)
{
	char path[] = "/tmp/ptrace-test-XXXXXX";
	int made = mkstemp(path);
	int fd = open(path, flags);

	if (made < 0 || fd < 0 || write(made, OWN, sizeof(OWN)) != (ssize_t)sizeof(OWN))
		return -1;
	(void)close(made);
	(void)unlink(path);
	return fd;
}

static bool is_untouched(int fd)
{
	char back[64] = "";

	return st_file_bytes(fd) == (int64_t)sizeof(OWN) &&
	       pread(fd, back, sizeof(back), 0) == (ssize_t)sizeof(OWN) &&
	       memcmp(back, OWN, sizeof(OWN)) == 0;
}

static int64_t lost(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	return st_law(trid, &counts) && counts.posix_retrieved_np == 0
	           ? (int64_t)counts.posix_lost_np
	           : -1;
}

static void say(int count)
{
	st_say_many(1, count);
}

/* The stream holds the START of its life and 100 events, the log none. */
#define TAKEN 101
static trace_id_t begun(struct st_spec *spec)
{
	trace_id_t trid;

	spec->policy = POSIX_TRACE_LOOP;
	spec->with_log = true;
	trid = st_started(spec);
	say(100);
	return trid;
}

static int replace_by_a_file(void *argument)
{
	struct st_spec spec = { .log_policy = *(const int *)argument, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int64_t before = st_file_bytes(spec.fd);
	int number = number_of_log(spec.fd);
	int own = own_file(O_RDWR);

	PXT_CHILD_CHECK(number >= 0 && dup2(own, number) == number);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF);
	PXT_CHILD_CHECK(lost(trid) == TAKEN);
	say(10);
	/* It stays so, and takes nothing out of the stream any more. */
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_clear(trid) == EBADF);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(is_untouched(own) && same_file(number, own));
	PXT_CHILD_CHECK(st_file_bytes(spec.fd) == before);
	return 0;
}

/* DEC-22, FLUSH-07, SHUT-02 */
PXT_TEST(a_file_at_the_number_of_the_log_is_neither_written_nor_cut_nor_closed)
{
	for (size_t i = 0; i < 3; i++)
		PXT_EQ(pxt_in_child(replace_by_a_file, (void *)(uintptr_t)&policies[i]), 0);
}

static int close_all(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	struct posix_trace_status_info status;

	(void)syscall(SYS_close_range, 3u, ~0u, 0u);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_get_status(trid, &status) == 0);
	PXT_CHILD_CHECK(status.posix_stream_flush_error == EBADF);
	PXT_CHILD_CHECK(status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	return 0;
}

/* STA-05, LOGP-08 */
PXT_TEST(a_log_whose_descriptor_was_closed_is_ebadf_and_its_events_are_lost)
{
	PXT_EQ(pxt_in_child(close_all, NULL), 0);
}

static int replace_by_a_socket(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	char byte;
	trace_id_t trid;
	int theirs[2];
	int own[2];

	PXT_CHILD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, theirs) == 0);
	PXT_CHILD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, own) == 0);
	spec.fd = theirs[1];
	trid = begun(&spec);
	PXT_CHILD_CHECK(dup2(own[1], number_of_log(spec.fd)) >= 0);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(recv(own[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	return 0;
}

PXT_TEST(a_socket_at_the_number_of_the_log_is_sent_nothing)
{
	PXT_EQ(pxt_in_child(replace_by_a_socket, NULL), 0);
}

/* A packet socket's trouble is a line's usual one; this is not. */
static int replace_a_line(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	char byte;
	trace_id_t trid;
	int theirs[2];
	int own[2];

	PXT_CHILD_CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, theirs) == 0);
	PXT_CHILD_CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, own) == 0);
	spec.fd = theirs[1];
	trid = begun(&spec);
	PXT_CHILD_CHECK(dup2(own[1], number_of_log(spec.fd)) >= 0);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(recv(own[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	return 0;
}

PXT_TEST(a_socket_at_the_number_of_a_line_is_sent_nothing)
{
	PXT_EQ(pxt_in_child(replace_a_line, NULL), 0);
}

static int open_once_more(int fd, int flags)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static int open_again_to_append(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int number = number_of_log(spec.fd);
	int again = open_once_more(spec.fd, O_WRONLY | O_APPEND);

	PXT_CHILD_CHECK(again >= 0 && dup2(again, number) == number);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(fcntl(number, F_GETFL) >= 0);
	return 0;
}

PXT_TEST(a_log_that_is_cut_off_leaves_the_program_its_descriptor_of_the_file)
{
	int fd = own_file(O_RDWR);
	struct pxt_port_log log;
	int number;

	PXT_EQ_FATAL(pxt_port_log_open(&log, fd), 0);
	number = dup2(open_once_more(fd, O_RDONLY), log.fd);
	pxt_port_log_cut_off(&log);
	CU_ASSERT(same_file(number, fd));
	(void)close(number);
	(void)close(fd);
}

/* It would wait for a reader that gives memory back. */
PXT_TEST(a_follower_whose_number_became_a_large_file_is_told_so)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .fd = pxt_temp_file() };
	trace_id_t trid = st_started(&spec);
	int log = pxt_temp_file();
	int own = own_file(O_RDWR);
	struct pxt_follow *follow;

	PXT_EQ(posix_fallocate(own, 0, PXT_FOLLOW_UNREAD + 4096), 0);
	PXT_EQ_FATAL(pxt_follow_begin(trid, log, &follow), 0);
	PXT_EQ(pxt_follow_step(follow), 0);
	(void)dup2(own, number_of_log(log));
	say(1);
	PXT_EQ(pxt_follow_step(follow), EBADF);
	pxt_follow_end(follow, false);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(own);
	(void)close(log);
}

/* By position nothing can be written there. */
PXT_TEST(the_logs_own_file_opened_again_to_append_is_not_the_log)
{
	PXT_EQ(pxt_in_child(open_again_to_append, NULL), 0);
}

static int open_again_to_read(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int number = number_of_log(spec.fd);
	int again = open_once_more(spec.fd, O_RDONLY);

	PXT_CHILD_CHECK(dup3(again, number, O_CLOEXEC) == number);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(fcntl(number, F_GETFL) >= 0);
	return 0;
}

/* A program that closed everything and reads its own log. */
PXT_TEST(the_logs_own_file_opened_again_to_read_is_not_closed)
{
	PXT_EQ(pxt_in_child(open_again_to_read, NULL), 0);
}

static int read_the_pipe(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid;
	int ends[2];
	int reader;
	int number;

	PXT_CHILD_CHECK(pipe2(ends, O_CLOEXEC) == 0);
	reader = fcntl(ends[0], F_DUPFD, LAST);
	(void)close(ends[0]);
	spec.fd = ends[1];
	trid = begun(&spec);
	number = number_of_log(spec.fd);
	PXT_CHILD_CHECK(number >= 0 && dup3(reader, number, O_CLOEXEC) == number);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(fcntl(number, F_GETFL) >= 0);
	return 0;
}

/* Both have one inode. */
PXT_TEST(the_other_end_of_the_logs_pipe_is_not_the_log)
{
	PXT_EQ(pxt_in_child(read_the_pipe, NULL), 0);
}

/* What is written there is in the log. */
static int open_again_to_write(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int number = number_of_log(spec.fd);

	PXT_CHILD_CHECK(dup2(open_once_more(spec.fd, O_RDWR), number) == number);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == 0 && posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(fcntl(number, F_GETFL) >= 0);
	return 0;
}

PXT_TEST(the_logs_own_file_opened_by_the_program_is_not_closed)
{
	PXT_EQ(pxt_in_child(open_again_to_write, NULL), 0);
}

/* As the library opens its own. */
static int open_again_to_write_until_exec(void *argument)
{
	struct st_spec spec = { .log_policy = *(const int *)argument, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int number = number_of_log(spec.fd);

	PXT_CHILD_CHECK(dup3(open_once_more(spec.fd, O_RDWR), number, O_CLOEXEC) == number);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(fcntl(number, F_GETFL) >= 0);
	return 0;
}

PXT_TEST(the_logs_own_file_opened_by_the_program_until_exec_is_not_closed)
{
	for (size_t i = 0; i < 3; i++)
		PXT_EQ(
		    pxt_in_child(open_again_to_write_until_exec, (void *)(uintptr_t)&policies[i]),
		    0);
}

#define NOT_REUSED 4711

static int inherit_the_inode(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	char path[] = "/tmp/ptrace-test-XXXXXX";
	struct stat before;
	struct stat after;
	trace_id_t trid;
	int number;

	spec.fd = mkstemp(path);
	trid = begun(&spec);
	number = number_of_log(spec.fd);
	PXT_CHILD_CHECK(number >= 0 && fstat(number, &before) == 0);
	(void)close(number);
	(void)close(spec.fd);
	(void)unlink(path);
	/* Some file systems give the number of the inode that is free now. */
	spec.fd = own_file(O_RDWR);
	PXT_CHILD_CHECK(dup2(spec.fd, number) == number && fstat(number, &after) == 0);
	if (before.st_ino != after.st_ino)
		return NOT_REUSED;
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF);
	PXT_CHILD_CHECK(is_untouched(number));
	return 0;
}

PXT_TEST(a_file_that_has_the_inode_of_the_removed_log_is_left_alone)
{
	int result = pxt_in_child(inherit_the_inode, NULL);

	if (result == NOT_REUSED)
		pxt_skip("this file system gives numbers of inodes out once");
	else
		PXT_EQ(result, 0);
}

/* ---- Another thread, between the library's comparison and its use of a number ---- */

static struct {
	int number; /* becomes @own behind an answer of fstat() about it; 0: none */
	int own;
	int looks; /* before that one */
} change;

int __real_fstat(int fd, void *state);
int __real_fstat64(int fd, void *state);
int __wrap_fstat(int fd, void *state);
int __wrap_fstat64(int fd, void *state);

static int changed(int fd, int result)
{
	if (change.number && fd == change.number && change.looks-- == 0) {
		change.number = 0;
		(void)dup2(change.own, fd);
	}
	return result;
}

int __wrap_fstat(int fd, void *state)
{
	return changed(fd, __real_fstat(fd, state));
}

#ifdef __GLIBC__
int __wrap_fstat64(int fd, void *state)
{
	return changed(fd, __real_fstat64(fd, state));
}
#endif

static void change_behind_the_next_look(int number, int own)
{
	change.own = own;
	change.looks = 0;
	change.number = number;
}

/* The bytes are in the other file: there is no system call that compares and writes. */
static int change_before_a_write(void *argument)
{
	struct st_spec spec = { .log_policy = *(const int *)argument, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int number = number_of_log(spec.fd);
	int own = own_file(O_RDWR);
	struct posix_trace_counts_np counts;

	PXT_CHILD_CHECK(posix_trace_flush(trid) == 0);
	say(10);
	change_behind_the_next_look(number, own);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && change.number == 0);
	PXT_CHILD_CHECK(st_law(trid, &counts) && counts.posix_lost_np == 10);
	PXT_CHILD_CHECK(counts.posix_retrieved_np == TAKEN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EBADF && same_file(number, own));
	return 0;
}

PXT_TEST(what_is_written_while_the_number_changes_counts_as_lost)
{
	for (size_t i = 0; i < 3; i++)
		PXT_EQ(pxt_in_child(change_before_a_write, (void *)(uintptr_t)&policies[i]), 0);
}

/* Whether it could be cut is asked, not tried. */
PXT_TEST(a_file_that_takes_the_number_while_a_clear_is_possible_is_not_cut)
{
	for (int looks = 0; looks < 2; looks++) {
		int fd = own_file(O_RDWR);
		int own = own_file(O_RDWR);
		struct pxt_port_log log;
		size_t done = 0;

		PXT_EQ_FATAL(pxt_port_log_open(&log, fd), 0);
		PXT_EQ(pxt_port_log_write_at(&log, 4096, "log", 4, &done), 0);
		change_behind_the_next_look(log.fd, own);
		change.looks = looks;
		(void)pxt_port_log_may_truncate(&log);
		change.number = 0;
		CU_ASSERT(is_untouched(own));
		(void)close(log.fd);
		(void)close(own);
		(void)close(fd);
	}
}

/* A pipe that has the number takes no write by position: ESPIPE is not the log's. */
static int change_to_a_pipe(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file() };
	trace_id_t trid = begun(&spec);
	int ends[2];
	char byte;

	PXT_CHILD_CHECK(pipe2(ends, O_NONBLOCK) == 0);
	change_behind_the_next_look(number_of_log(spec.fd), ends[1]);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EBADF && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(read(ends[0], &byte, 1) < 0 && errno == EAGAIN);
	return 0;
}

PXT_TEST(a_pipe_that_takes_the_number_meanwhile_is_written_nothing)
{
	PXT_EQ(pxt_in_child(change_to_a_pipe, NULL), 0);
}

PXT_TEST(a_log_with_a_path_has_what_was_written_while_its_number_changed)
{
	char path[] = "/tmp/ptrace-test-XXXXXX";
	int fd = mkstemp(path);
	int own = own_file(O_RDWR);
	struct pxt_port_log log;
	char back[sizeof(OWN)] = "";
	size_t done = 0;

	PXT_EQ_FATAL(pxt_port_log_open(&log, fd), 0);
	log.path = path;
	change_behind_the_next_look(log.fd, own);
	PXT_EQ(pxt_port_log_write_at(&log, 0, "log", 4, &done), 0);
	CU_ASSERT(done == 4 && pread(fd, back, 4, 0) == 4 && strcmp(back, "log") == 0);
	change_behind_the_next_look(log.fd, own);
	PXT_EQ(pxt_port_log_truncate(&log, 2), 0);
	PXT_EQ(st_file_bytes(fd), 2);
	pxt_port_log_close(&log);
	(void)close(own);
	(void)close(fd);
	(void)unlink(path);
}

/* ---- Readers that are gone, files that may not grow ---- */

static int leave_the_pipe(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	sigset_t pending;
	trace_id_t trid;
	int ends[2];

	(void)signal(SIGPIPE, SIG_DFL);
	PXT_CHILD_CHECK(pipe2(ends, O_CLOEXEC) == 0);
	spec.fd = ends[1];
	trid = begun(&spec);
	(void)close(ends[0]);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EPIPE);
	PXT_CHILD_CHECK(lost(trid) == TAKEN);
	say(10);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EPIPE && lost(trid) == TAKEN);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EPIPE);
	PXT_CHILD_CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
	return 0;
}

/* DEC-40, LOGP-08 */
PXT_TEST(without_a_reader_of_the_pipe_events_are_lost_and_no_signal_comes)
{
	PXT_EQ(pxt_in_child(leave_the_pipe, NULL), 0);
}

static int meet_the_limit(void *unused)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct st_spec spec = {
		.size = 1 << 16, .log_policy = POSIX_TRACE_APPEND, .fd = pxt_temp_file()
	};
	trace_id_t trid = begun(&spec);

	(void)signal(SIGXFSZ, SIG_DFL);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == 0);
	/* Less than the events take. */
	limit.rlim_cur = (rlim_t)lseek(spec.fd, 0, SEEK_END) + 1024u;
	PXT_CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	say(1000);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EFBIG);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EFBIG);
	return 0;
}

/* DEC-40, FLUSH-E2 */
PXT_TEST(at_the_limit_of_file_size_no_signal_comes)
{
	PXT_EQ(pxt_in_child(meet_the_limit, NULL), 0);
}

static int keep_what_was_pending(void *unused)
{
	struct st_spec spec = { .log_policy = POSIX_TRACE_APPEND };
	sigset_t set;
	trace_id_t trid;
	int ends[2];

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	PXT_CHILD_CHECK(pipe2(ends, O_CLOEXEC) == 0);
	spec.fd = ends[1];
	trid = begun(&spec);
	(void)close(ends[0]);
	(void)raise(SIGPIPE);
	PXT_CHILD_CHECK(posix_trace_flush(trid) == EPIPE);
	PXT_CHILD_CHECK(sigpending(&set) == 0 && sigismember(&set, SIGPIPE) == 1);
	PXT_CHILD_CHECK(sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGPIPE) == 1);
	PXT_CHILD_CHECK(sigismember(&set, SIGXFSZ) == 0);
	return 0;
}

PXT_TEST(a_signal_that_the_program_has_pending_stays_the_programs)
{
	PXT_EQ(pxt_in_child(keep_what_was_pending, NULL), 0);
}

/* ---- Reading ---- */

/* A log that was opened and read, at whose number the program then has a file of its own. */
struct replaced {
	struct pxt_port_file file;
	int log;
	int own;
	int number;
};

static struct replaced open_and_replace(void)
{
	struct replaced it = { .log = own_file(O_RDWR), .own = own_file(O_RDWR) };
	size_t done = 0;
	char byte = 0;

	PXT_EQ_FATAL(pxt_port_file_open(&it.file, it.log), 0);
	PXT_EQ(pxt_port_file_read(&it.file, 0, &byte, 1, &done), 0);
	it.number = dup2(it.own, it.file.fd);
	return it;
}

static void close_replaced(struct replaced *it)
{
	pxt_port_file_close(&it->file);
	CU_ASSERT(same_file(it->number, it->own));
	(void)close(it->number);
	(void)close(it->own);
	(void)close(it->log);
}

PXT_TEST(a_file_at_the_number_of_an_opened_log_is_neither_read_nor_closed)
{
	struct replaced it = open_and_replace();
	uint64_t size = 0;
	size_t done = 1;
	char byte = 0;

	PXT_EQ(pxt_port_file_read(&it.file, 0, &byte, 1, &done), EBADF);
	PXT_EQ(pxt_port_file_size(&it.file, &size), EBADF);
	CU_ASSERT(done == 0 && size == 0);
	close_replaced(&it);
}

PXT_TEST(after_reads_that_are_looked_at_later_the_size_says_that_the_number_is_anothers)
{
	struct replaced it = open_and_replace();
	uint64_t size = 0;
	size_t done = 0;
	char byte = 0;

	it.file.looked_at_later = true;
	PXT_EQ(pxt_port_file_read(&it.file, 0, &byte, 1, &done), 0);
	PXT_EQ(pxt_port_file_size(&it.file, &size), EBADF);
	it.file.looked_at_later = false;
	PXT_EQ(pxt_port_file_read(&it.file, 0, &byte, 1, &done), EBADF);
	close_replaced(&it);
}

/* Also the same file, opened by the program itself. */
PXT_TEST(the_file_of_an_opened_log_that_the_program_opens_at_its_number_is_not_closed)
{
	static const int flags[] = { 0, O_CLOEXEC };

	for (size_t i = 0; i < 2; i++) {
		int log = own_file(O_RDWR);
		struct pxt_port_file file;
		int number;

		PXT_EQ_FATAL(pxt_port_file_open(&file, log), 0);
		number = dup3(open_once_more(log, O_RDONLY), file.fd, flags[i]);
		pxt_port_file_close(&file);
		CU_ASSERT(fcntl(number, F_GETFD) >= 0);
		(void)close(number);
		(void)close(log);
	}
}
