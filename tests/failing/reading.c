/* SPDX-License-Identifier: MIT */
/* reading.c - how reading streams and logs comes to fail, and attaching. */
#define _GNU_SOURCE
#include "fixture.h"

#include "fakes/fakes.h"
#include "format/logfmt.h"
#include "logs.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- Waiting for an event ---- */

static pthread_t waiting;
static atomic_bool over;
static trace_id_t empty;

static void *signal_it(void *argument)
{
	/* Until one of them met the call: the first ones may come before it. */
	while (!atomic_load(&over)) {
		pxt_sleep_ms(2);
		(void)pthread_kill(waiting, SIGUSR1);
	}
	return argument;
}

static void *shut_it_down(void *argument)
{
	pxt_sleep_ms(5);
	PXT_EQ(posix_trace_shutdown(empty), 0);
	return argument;
}

static int wait_beside(void *(*other)(void *), const struct timespec *until)
{
	pthread_t thread;
	size_t size;
	int error;

	empty = pxt_stream(4096, 16, 0);
	waiting = pthread_self();
	atomic_store(&over, false);
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, other, NULL) == 0);
	gone = 0;
	if (until)
		error = TRY(posix_trace_timedgetnext_event(
		    empty, &out.event, NULL, 0, &size, &gone, until));
	else
		error = TRY(posix_trace_getnext_event(empty, &out.event, NULL, 0, &size, &gone));
	atomic_store(&over, true);
	CU_ASSERT(gone != 0);
	(void)pthread_join(thread, NULL);
	return error;
}

int shut_down_meanwhile(const struct timespec *until)
{
	return wait_beside(shut_it_down, until);
}

static void on_signal(int number)
{
}

int interrupted(const struct timespec *until)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction old;
	int error;

	(void)sigaction(SIGUSR1, &action, &old);
	error = wait_beside(signal_it, until);
	(void)sigaction(SIGUSR1, &old, NULL);
	PXT_EQ(posix_trace_shutdown(empty), 0);
	return error;
}

int views_without_memory(void)
{
	trace_id_t trid = pxt_running_stream(4096, 16, 0);
	int error;

	pxt_fault_arm(&pxt_fault_alloc, 1, ENOMEM);
	error =
	    TRY(posix_trace_getnext_events_np(trid, out.views, sizeof(*out.views), 4, &out.size));
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return error;
}

int second_field(void)
{
	struct posix_trace_field_np field;
	size_t cursor = 0;

	PXT_EQ(posix_trace_field_next_np("u32 a", "abcd", 4, 0, &cursor, &field, sizeof(field)), 0);
	return TRY(
	    posix_trace_field_next_np("u32 a", "abcd", 4, 0, &cursor, &field, sizeof(field)));
}

/* ---- Logs that cannot be read any more ---- */

/* What reading stores before it finds the end is not looked at. */
int read_one(trace_id_t trid)
{
	struct posix_trace_event_info event;
	size_t size;
	int error;

	do
		error = TRY(posix_trace_getnext_event(trid, &event, NULL, 0, &size, &gone));
	while (error == 0 && !gone);
	return error;
}

int read_whole(trace_id_t trid)
{
	struct posix_trace_event_info event;
	unsigned char data[4096];
	size_t size;
	int error;

	do
		error = TRY(posix_trace_trygetnext_whole_np(
		    trid, &event, data, sizeof(data), &size, &gone));
	while (error == 0 && !gone);
	return error;
}

/* The first event has @bytes bytes of data. */
static int short_of(trace_id_t trid, size_t bytes)
{
	struct posix_trace_event_info event;
	unsigned char data[1];
	size_t size = 0;
	int error = TRY(posix_trace_trygetnext_whole_np(trid, &event, data, 1, &size, &gone));

	PXT_EQ(size, bytes);
	return error;
}

int short_of_streams_event(void)
{
	trace_id_t trid = pxt_running_stream(4096, 16, 0);
	int error;

	PXT_EQ(posix_trace_clear(trid), 0);
	posix_trace_event(env.id, "12345678", 8);
	error = short_of(trid, 8);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return error;
}

int short_of_logs_event(void)
{
	return short_of(env.log, sizeof(trace_event_set_t));
}

int read_many(trace_id_t trid)
{
	struct posix_trace_eventview_np views[16];
	size_t count;
	int error;

	do
		error = TRY(posix_trace_getnext_events_np(trid, views, sizeof(*views), 16, &count));
	while (error == 0 && count > 0);
	PXT_EQ(count, 0);
	return error;
}

int next_block(trace_id_t trid)
{
	struct posix_trace_logblock_np block;
	int error;

	do
		error = TRY(posix_trace_log_nextblock_np(trid, &block, sizeof(block), &gone));
	while (error == 0 && !gone);
	return error;
}

int seek_end(trace_id_t trid)
{
	return TRY(posix_trace_seek_np(trid, INT64_MAX, NULL, 0));
}

int unreadable(asking *ask)
{
	int error;

	pxt_fault_arm_from(&pxt_fault_read, 1, EIO);
	error = ask(env.log);
	pxt_fault_arm(&pxt_fault_read, 0, 0);
	PXT_EQ(posix_trace_rewind(env.log), 0);
	return error;
}

static int copy_of_log(void)
{
	int fd = pxt_temp_file();
	char bytes[4096];
	ssize_t got;

	(void)lseek(env.log_file, 0, SEEK_SET);
	while ((got = read(env.log_file, bytes, sizeof(bytes))) > 0)
		PXT_EQ(write(fd, bytes, (size_t)got), got);
	return fd;
}

int cut_short(asking *ask)
{
	int fd = copy_of_log();
	trace_id_t trid = pxt_open_log(fd);
	int error;

	PXT_EQ(ftruncate(fd, 1024), 0);
	error = ask(trid);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
	return error;
}

/* ---- Opening ---- */

static int closed_again(int error)
{
	if (error == 0)
		PXT_EQ(posix_trace_close(out.trid), 0);
	return error == 0 ? -1 : error;
}

int open_plain(int fd, trace_id_t *trid)
{
	return closed_again(TRY(posix_trace_open(fd, trid)));
}

int open_explained(int fd, trace_id_t *trid)
{
	struct posix_trace_logerror_np why;

	return closed_again(TRY(posix_trace_log_open_np(&fd, 1, 0, trid, &why, sizeof(why))));
}

int open_growing(int fd, trace_id_t *trid)
{
	return closed_again(
	    TRY(posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, trid, NULL, 0)));
}

int with_bytes(opening *opened, const void *bytes, size_t count)
{
	int fd = golden_file(bytes, count);
	int error = opened(fd, &out.trid);

	close(fd);
	return error;
}

int with_golden(opening *opened, const char *name)
{
	struct golden golden;

	golden_read(&golden, name);
	return with_bytes(opened, golden.bytes, golden.size);
}

int with_damage(opening *opened)
{
	struct golden golden;

	golden_read(&golden, golden_native());
	golden.bytes[golden_block(&golden, PXT_LOG_TYPES, 0) + 100] ^= 1;
	return with_bytes(opened, golden.bytes, golden.size);
}

int open_without_descriptors(opening *opened)
{
	int error;

	ways_no_descriptors(0);
	error = opened(env.log_file, &out.trid);
	ways_descriptors();
	return error;
}

int open_without_memory(opening *opened, unsigned n)
{
	int error;

	pxt_fault_arm(&pxt_fault_heap, n, ENOMEM);
	error = opened(env.log_file, &out.trid);
	pxt_fault_arm(&pxt_fault_heap, 0, 0);
	return error;
}

int open_unreadable(opening *opened)
{
	int error;

	pxt_fault_arm_from(&pxt_fault_read, 1, EIO);
	error = opened(env.log_file, &out.trid);
	pxt_fault_arm(&pxt_fault_read, 0, 0);
	return error;
}

/* ---- Checking ---- */

int check_plain(int fd)
{
	struct posix_trace_logcheck_np result;

	return TRY(posix_trace_log_check_np(fd, &result, sizeof(result), NULL, 0, 0, NULL, NULL));
}

int check_without_descriptors(checking *check)
{
	int error;

	ways_no_descriptors(0);
	error = check(env.log_file);
	ways_descriptors();
	return error;
}

int check_without_memory(checking *check, unsigned n)
{
	int error;

	pxt_fault_arm(&pxt_fault_heap, n, ENOMEM);
	error = check(env.log_file);
	pxt_fault_arm(&pxt_fault_heap, 0, 0);
	return error;
}

/* ---- Passing over damage ---- */

static int skip(trace_id_t trid, enum skip how)
{
	struct posix_trace_logfinding_np finding;
	int error;

	if (how == SKIP_UNREADABLE)
		pxt_fault_arm_from(&pxt_fault_read, 1, EIO);
	if (how == SKIP_NO_MEMORY)
		pxt_fault_arm_from(&pxt_fault_heap, 1, ENOMEM);
	error = TRY(posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)));
	pxt_fault_arm(&pxt_fault_read, 0, 0);
	pxt_fault_arm(&pxt_fault_heap, 0, 0);
	return error;
}

int skip_damage(enum skip how)
{
	struct golden golden;
	trace_id_t trid;
	size_t size;
	size_t at;
	int error;
	int fd;

	golden_read(&golden, golden_native());
	at = golden_block(&golden, PXT_LOG_DATA, 1);
	golden.bytes[at + 100] ^= 0xff;
	fd = golden_file(golden.bytes, how == SKIP_NOTHING_BEHIND ? at + 300 : golden.size);
	PXT_EQ_FATAL(
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0), 0);
	if (how == SKIP_UNREAD)
		PXT_EQ(posix_trace_getnext_event(trid, &env.event, NULL, 0, &size, &gone), 0);
	else
		PXT_EQ(read_one(trid), 0);
	error = skip(trid, how);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
	return error;
}

/* ---- Attaching ---- */

static struct owner {
	int listener;
	uint32_t version;
	int error;
	pthread_t thread;
} owner;

static void listen_there(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", ways_path());
	owner.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(owner.listener >= 0);
	CU_ASSERT_FATAL(bind(owner.listener, (struct sockaddr *)&at, sizeof(at)) == 0);
	CU_ASSERT_FATAL(listen(owner.listener, 1) == 0);
}

static void listen_no_more(void)
{
	close(owner.listener);
	PXT_EQ(unlink(ways_path()), 0);
}

/* One client, whatever it asks. */
static void *answer(void *argument)
{
	int fd = accept(owner.listener, NULL, NULL);
	struct pxt_ctlsock_reply reply = { .magic = PXT_CTLSOCK_MAGIC,
		.version = owner.version,
		.what = PXT_CTLSOCK_ATTACH,
		.error = owner.error };
	char byte;

	if (owner.version) {
		(void)send(fd, &reply, sizeof(reply), MSG_NOSIGNAL);
		/* Until the client hangs up; what it passed along is closed with the message. */
		while (recv(fd, &byte, 1, 0) > 0)
			;
	}
	close(fd);
	return argument;
}

static int attach(const trace_attr_t *attr)
{
	int error = TRY(posix_trace_attach_np(ways_path(), attr, &out.trid));

	if (error == 0)
		PXT_EQ(posix_trace_shutdown(out.trid), 0);
	return error == 0 ? -1 : error;
}

/* Somebody listens, but never answers. */
int attach_with(const trace_attr_t *attr)
{
	int error;

	listen_there();
	error = attach(attr);
	listen_no_more();
	return error;
}

int attach_to_silence(void)
{
	return attach_with(NULL);
}

int attach_to_the_dead(void)
{
	int error;

	listen_there();
	close(owner.listener);
	error = attach(NULL);
	PXT_EQ(unlink(ways_path()), 0);
	return error;
}

int attach_answered(uint32_t version, int error)
{
	int got;

	listen_there();
	owner.version = version;
	owner.error = error;
	CU_ASSERT_FATAL(pthread_create(&owner.thread, NULL, answer, NULL) == 0);
	got = attach(NULL);
	(void)pthread_join(owner.thread, NULL);
	listen_no_more();
	return got;
}

int attach_to_own(void)
{
	trace_attr_t attr = env.good;
	trace_id_t trid;
	int error;

	PXT_EQ(posix_trace_attr_setsharename_np(&attr, ways_path()), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	error = attach(NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return error;
}

int attach_to_closed(void)
{
	int error;

	listen_there();
	PXT_EQ(chmod(ways_path(), 0), 0);
	CU_ASSERT(ways_nobody(true));
	error = attach(NULL);
	CU_ASSERT(ways_nobody(false));
	listen_no_more();
	return error;
}

static int attach_one(pid_t pid, const trace_attr_t *attr)
{
	return attach(attr);
}

int attach_beside_too_many(void)
{
	int error;

	listen_there();
	error = too_many(attach_one);
	listen_no_more();
	return error;
}

int attach_without_thread(void)
{
	int error;

	pxt_fault_arm(&pxt_fault_thread, 1, EAGAIN);
	error = attach_with(NULL);
	pxt_fault_arm(&pxt_fault_thread, 0, 0);
	return error;
}

int attach_without_descriptors(unsigned left)
{
	int error;

	listen_there();
	ways_no_descriptors(left);
	error = attach(NULL);
	ways_descriptors();
	listen_no_more();
	return error;
}

int attach_unmapped(void)
{
	int error;

	pxt_fault_arm(&pxt_fault_filemap, 1, ENOMEM);
	error = attach_with(NULL);
	pxt_fault_arm(&pxt_fault_filemap, 0, 0);
	return error;
}

int attach_without_room(void)
{
	struct rlimit before;
	struct rlimit none;
	int error;

	PXT_EQ_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 4096;
	PXT_EQ_FATAL(setrlimit(RLIMIT_FSIZE, &none), 0);
	error = attach_with(NULL);
	PXT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	return error;
}
