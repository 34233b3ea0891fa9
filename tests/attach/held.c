/* SPDX-License-Identifier: MIT */
/*
 * held.c - the owner's helper is held up.
 *
 * A write into memory that another process sent takes as long as that process likes: it may hold the lock of the
 * memory's inode.  The stream's shutdown does not wait for that.  A helper that gets no CPU is waited for, so that
 * guests that have come and gone meanwhile are in the stream.
 */
#define _GNU_SOURCE
#include "core/process/process.h"
#include "core/stream/share.h"
#include "core/testpoints.h"
#include "logs.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <trace_hooks_np.h>
#include <unistd.h>

void (*_Atomic pxt_testpoint_hook)(int point);

static pthread_t tester;
static atomic_bool held;
static sem_t stands;
static sem_t may_go;

/* The helper, at its first write. */
static void stand(int point)
{
	if (point != PXT_TP_LOG_SENDING || pthread_equal(pthread_self(), tester) ||
	    !atomic_exchange(&held, false))
		return;
	(void)sem_post(&stands);
	while (sem_wait(&may_go) != 0)
		continue;
}

struct asker {
	int fd;
	struct at_ask ask;
	int error;
};

static void *ask(void *argument)
{
	struct asker *asker = argument;

	asker->error = at_ask(asker->fd, &asker->ask, NULL, NULL);
	return NULL;
}

/* The helper gives its place back when it comes; that is seen by the next named stream there. */
static void expect_shutdown_in_time(uint32_t what)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(POSIX_TRACE_LOOP, path);
	struct asker asker = { .fd = at_connect(path),
		.ask = { .what = what, .passed = at_memfd() } };
	pthread_t thread;
	trace_attr_t attr;
	uint64_t usual = pxt_lock_patience_ns;
	long long begun;
	int error;

	pxt_lock_patience_ns = 10000000;
	PXT_EQ(sem_init(&stands, 0, 0), 0);
	PXT_EQ(sem_init(&may_go, 0, 0), 0);
	tester = pthread_self();
	atomic_store(&held, true);
	pxt_testpoint_hook_set(stand);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, ask, &asker), 0);
	while (sem_wait(&stands) != 0)
		continue;
	begun = pxt_now_ns();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(pxt_now_ns() - begun < 30000000000);
	pxt_lock_patience_ns = usual;
	/* The name is free, but the helper has this place. */
	CU_ASSERT(access(path, F_OK) != 0);
	pxt_attr(&attr, 65536, 64, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, path), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), EAGAIN);
	(void)sem_post(&may_go);
	for (int i = 0; i < 5000; i++) {
		error = posix_trace_create(0, &attr, &trid);
		if (error != EAGAIN)
			break;
		pxt_sleep_ms(1);
	}
	PXT_EQ(error, 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	pxt_testpoint_hook_set(NULL);
	(void)close(asker.ask.passed);
	(void)close(asker.fd);
}

PXT_TEST(a_snapshot_that_is_held_does_not_hold_the_shutdown)
{
	expect_shutdown_in_time(PXT_CTLSOCK_SNAPSHOT);
}

PXT_TEST(a_log_that_grows_and_is_held_does_not_hold_the_shutdown)
{
	expect_shutdown_in_time(PXT_CTLSOCK_FOLLOW);
}

/* ---- A helper that is late, and guests ---- */

static int held_at;

static void stand_at(int point)
{
	if (point != held_at || !atomic_exchange(&held, false))
		return;
	(void)sem_post(&stands);
	while (sem_wait(&may_go) != 0)
		continue;
}

static uint64_t default_answer_ns;

static void hold_helper_at(int point)
{
	default_answer_ns = pxt_share_answer_ns;
	PXT_EQ(sem_init(&stands, 0, 0), 0);
	PXT_EQ(sem_init(&may_go, 0, 0), 0);
	held_at = point;
	atomic_store(&held, true);
	pxt_testpoint_hook_set(stand_at);
}

static void wait_until_it_stands(void)
{
	while (sem_wait(&stands) != 0)
		continue;
}

static void become_guest(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	pxt_testpoint_hook_set(NULL);
	if (posix_trace_attr_init(&attr) != 0)
		_exit(1);
	attr._pxt_kept._pxt_flags |= PXT_ATTR_GUEST;
	if (posix_trace_attach_np(owner_name, &attr, &trid) != 0)
		_exit(2);
}

static void come_and_go(void *number)
{
	trace_event_id_t id;

	become_guest();
	if (posix_trace_eventid_open("held.guest", &id) != 0)
		_exit(2);
	posix_trace_event(id, number, sizeof(uint32_t));
	_exit(0);
}

static void guest_comes_and_goes(uint32_t number)
{
	struct producer guest = producer_begin(come_and_go, &number);

	producer_end(&guest);
}

static void let_helper_be(trace_id_t trid)
{
	pxt_testpoint_hook_set(NULL);
	owner_close(trid);
	pxt_share_answer_ns = default_answer_ns;
}

/* Longer than the hold-back time, after which a stop waits for nothing else. */
static void *let_go_later(void *nothing)
{
	pxt_sleep_ms(400);
	(void)sem_post(&may_go);
	return nothing;
}

PXT_TEST(guests_that_came_and_went_while_the_helper_had_no_cpu_are_in_the_stopped_stream)
{
	trace_id_t trid = owner_open(&(struct owner_spec){ .guests = true });
	struct pxt_got events[2];
	pthread_t thread;

	hold_helper_at(PXT_TP_OWNER_MAPPED);
	pxt_share_answer_ns = UINT64_C(60000000000);
	guest_comes_and_goes(1);
	wait_until_it_stands();
	guest_comes_and_goes(2);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, let_go_later, NULL), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ_FATAL(owner_collect(trid, events, 2, 0), 2);
	for (uint32_t i = 0; i < 2; i++)
		PXT_EQ(events[i].data[0], i + 1u);
	let_helper_be(trid);
}

/* More than all its memory holds. */
static void define_and_hold(void *unused)
{
	unsigned char data[21] = { POSIX_TRACE_PROCESS_IMAGE_NP };

	become_guest();
	posix_trace_system_event_np(POSIX_TRACE_PROCESS_NP, data, sizeof(data), NULL);
	data[0] = POSIX_TRACE_PROCESS_HOLDS_NP;
	for (unsigned i = 0; i < 50000; i++)
		posix_trace_system_event_np(POSIX_TRACE_PROCESS_NP, data, sizeof(data), NULL);
	_exit(0);
}

static bool has_image(trace_id_t trid)
{
	long long begun = pxt_now_ns();
	struct pxt_got event;

	while (pxt_now_ns() - begun < 10000000000) {
		while (pxt_next(trid, &event))
			if (event.info.posix_event_id == POSIX_TRACE_PROCESS_NP &&
			    event.data[0] == POSIX_TRACE_PROCESS_IMAGE_NP)
				return true;
		pxt_sleep_ms(5);
	}
	return false;
}

PXT_TEST(what_a_guest_says_of_its_locks_overwrites_no_definition)
{
	trace_id_t trid =
	    owner_open(&(struct owner_spec){ .stream_bytes = 16 << 20, .guests = true });
	struct producer guest;

	hold_helper_at(PXT_TP_OWNER_MAPPED);
	guest = producer_begin(define_and_hold, NULL);
	wait_until_it_stands();
	producer_end(&guest);
	(void)sem_post(&may_go);
	CU_ASSERT(has_image(trid));
	let_helper_be(trid);
}

#if CONFIG_PTRACE_SYSEV_ERROR
PXT_TEST(a_guest_that_is_waited_for_in_vain_is_an_error_event)
{
	int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_ATTACH_NP, ETIMEDOUT);
	trace_id_t trid = owner_open(&(struct owner_spec){ .guests = true });
	struct pxt_got event;

	CU_ASSERT(pxt_next(trid, &event)); /* START */
	hold_helper_at(PXT_TP_OWNER_MAPPED);
	pxt_share_answer_ns = 10000000;
	guest_comes_and_goes(1);
	wait_until_it_stands();
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_expect(trid, POSIX_TRACE_ERROR, &data, sizeof(data));
	(void)sem_post(&may_go);
	let_helper_be(trid);
}
#endif

/* It would wait for the answer that it gives itself. */
PXT_TEST(a_helper_that_is_told_to_stop_does_not_wait_for_itself)
{
	trace_id_t trid = owner_open(&(struct owner_spec){ .guests = true });
	struct pxt_ctlsock_reply reply;
	struct pxt_ctlsock_request stop = {
		.magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION, .what = PXT_CTLSOCK_STOP
	};
	char text[256];
	long long begun;
	int fd = at_connect(owner_name);

	hold_helper_at(PXT_TP_OWNER_SAID);
	pxt_share_answer_ns = UINT64_C(60000000000);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	wait_until_it_stands();
	PXT_EQ(at_send(fd, &stop, sizeof(stop), NULL, 0), 0);
	guest_comes_and_goes(1);
	begun = pxt_now_ns();
	(void)sem_post(&may_go);
	while (at_hear(fd, &reply, text) < 0 && pxt_now_ns() - begun < 30000000000)
		continue;
	CU_ASSERT(pxt_now_ns() - begun < 30000000000);
	PXT_EQ(reply.error, 0);
	(void)close(fd);
	let_helper_be(trid);
}
