/* SPDX-License-Identifier: MIT */
/* kit.c - see kit.h. */
#define _GNU_SOURCE
#include "logs.h"

#include "attach/owner.h"
#include "core/process/process.h"
#include "format/attr_marks.h"
#include "format/ids.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

void at_path(char path[PXT_CTLSOCK_PATH])
{
	static unsigned number;

	CU_ASSERT_FATAL(snprintf(path, PXT_CTLSOCK_PATH, "%s/s%d.%u", pxt_temp_folder(),
	                    (int)getpid(), number++) < (int)PXT_CTLSOCK_PATH);
}

int at_create(const char *name, int policy, trace_id_t *trid)
{
	trace_attr_t attr;
	int error;

	pxt_attr(&attr, 65536, 64, policy);
	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, name), 0);
	error = posix_trace_create(0, &attr, trid);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	return error;
}

trace_id_t at_stream(int policy, char path[PXT_CTLSOCK_PATH])
{
	trace_id_t trid = 0;

	at_path(path);
	PXT_EQ_FATAL(at_create(path, policy, &trid), 0);
	return trid;
}

int at_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error;

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		(void)close(fd);
	errno = error;
	return -1;
}

int at_send(int fd, const void *bytes, size_t length, const int *passed, unsigned count)
{
	union {
		struct cmsghdr align;
		unsigned char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = (socklen_t)CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = (socklen_t)CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(head), passed, count * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

long at_hear(int fd, struct pxt_ctlsock_reply *reply, char text[256])
{
	struct {
		struct pxt_ctlsock_reply reply;
		char text[PXT_CTLSOCK_TEXT];
	} in;
	struct pollfd one = { .fd = fd, .events = POLLIN };
	long got;

	memset(&in, 0, sizeof(in));
	if (poll(&one, 1, 30000) <= 0)
		return -1;
	got = (long)recv(fd, &in, sizeof(in), 0);
	if (got < 0)
		got = 0;
	*reply = in.reply;
	if (text)
		(void)snprintf(text, 256, "%.255s", in.text);
	return got;
}

int at_ask(int fd, const struct at_ask *ask, struct pxt_ctlsock_reply *reply, char text[256])
{
	struct {
		struct pxt_ctlsock_request request;
		char text[PXT_CTLSOCK_TEXT];
	} out = { .request = { .magic = PXT_CTLSOCK_MAGIC,
		      .version = PXT_CTLSOCK_VERSION,
		      .what = ask->what,
		      .how = ask->how,
		      .hz = pxt_clock.hz,
		      .clock_source = (uint32_t)pxt_clock.source,
		      .text_bytes = ask->bytes } };
	struct pxt_ctlsock_reply mine;

	if (!reply)
		reply = &mine;
	if (ask->bytes)
		memcpy(out.text, ask->text, ask->bytes);
	if (at_send(
	        fd, &out, sizeof(out.request) + ask->bytes, &ask->passed, ask->passed ? 1 : 0) ||
	    at_hear(fd, reply, text) < (long)sizeof(*reply))
		return -1;
	CU_ASSERT(reply->magic == PXT_CTLSOCK_MAGIC && reply->version == PXT_CTLSOCK_VERSION);
	return reply->error;
}

int at_tell(int fd, uint32_t what)
{
	const struct at_ask ask = { .what = what };

	return at_ask(fd, &ask, NULL, NULL);
}

int at_status(const char *path, struct pxt_ctlsock_status *status)
{
	const struct at_ask ask = { .what = PXT_CTLSOCK_STATUS };
	struct pxt_ctlsock_reply reply = { 0 };
	int fd = at_connect(path);
	int error;

	CU_ASSERT_FATAL(fd >= 0);
	error = at_ask(fd, &ask, &reply, NULL);
	*status = reply.status;
	(void)close(fd);
	return error;
}

bool at_ended(int fd)
{
	struct pxt_ctlsock_reply reply;
	long got;

	/* What was said before comes first. */
	do
		got = at_hear(fd, &reply, NULL);
	while (got > 0);
	return got == 0;
}

int at_memfd(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static unsigned entries(const char *folder)
{
	DIR *open = opendir(folder);
	unsigned count = 0;

	CU_ASSERT_FATAL(open != NULL);
	while (readdir(open))
		count++;
	(void)closedir(open);
	return count;
}

unsigned at_descriptors(void)
{
	return entries("/proc/self/fd");
}

unsigned at_threads(void)
{
	return pxt_threads_running();
}

bool at_until(bool (*true_by_now)(void *), void *of)
{
	for (int left = 30000; left > 0; left--) {
		if (true_by_now(of))
			return true;
		pxt_sleep_ms(1);
	}
	return false;
}

static bool no_more(void *of)
{
	return at_descriptors() <= *(unsigned *)of;
}

static bool no_more_threads(void *of)
{
	return at_threads() <= *(unsigned *)of;
}

bool at_threads_down_to(unsigned count)
{
	return at_until(no_more_threads, &count);
}

bool at_closed_down_to(unsigned count)
{
	return at_until(no_more, &count);
}

/* ---- A stream with a name, for children that attach to it ---- */

char owner_name[128];
int producer_in;
int producer_out;
static char folder[64];

void owner_place(void)
{
	(void)strcpy(folder, "/tmp/pxt-attach-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
	(void)snprintf(owner_name, sizeof(owner_name), "%s/s", folder);
}

void owner_clear_away(void)
{
	(void)unlink(owner_name);
	PXT_EQ(rmdir(folder), 0);
}

trace_id_t owner_open(const struct owner_spec *spec)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	if (!spec->placed)
		owner_place();
	pxt_attr(&attr, spec->stream_bytes ? spec->stream_bytes : 65536, spec->data_bytes,
	    spec->policy ? spec->policy : POSIX_TRACE_LOOP);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, spec->lanes ? spec->lanes : 2), 0);
	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, owner_name), 0);
	if (spec->inherited)
		attr._pxt_kept._pxt_inherit = POSIX_TRACE_INHERITED;
	attr._pxt_kept._pxt_flags |= spec->guests ? PXT_ATTR_GUEST : 0u;
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	if (!spec->stopped)
		PXT_EQ_FATAL(posix_trace_start(trid), 0);
#if defined(__SANITIZE_ADDRESS__)
	/* A thread that begins holds the sanitizer's locks, which a child forked meanwhile would wait for. */
	pxt_sleep_ms(50);
#endif
	return trid;
}

void owner_close(trace_id_t trid)
{
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_CHECK(rmdir(folder) == 0, "%s is not empty", folder);
}

unsigned party_entries(const char *path)
{
	DIR *entries = opendir(path);
	unsigned count = 0;

	while (entries && readdir(entries))
		count++;
	if (entries)
		(void)closedir(entries);
	return count;
}

/* ---- Children ---- */

static void say(int fd, uint64_t word)
{
	if (write(fd, &word, sizeof(word)) != (ssize_t)sizeof(word))
		_exit(4);
}

static uint64_t hear(int fd)
{
	uint64_t word = 0;
	ssize_t got;

	do
		got = read(fd, &word, sizeof(word));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(word) ? word : UINT64_MAX;
}

void producer_say(uint64_t word)
{
	say(producer_out, word);
}

uint64_t producer_hear(void)
{
	return hear(producer_in);
}

trace_id_t producer_attach(size_t bytes)
{
	trace_attr_t attr;
	trace_id_t trid;
	int error;

	if (posix_trace_attr_init(&attr) != 0 ||
	    (bytes && posix_trace_attr_setstreamsize(&attr, bytes) != 0))
		_exit(5);
	error = posix_trace_attach_np(owner_name, &attr, &trid);
	if (error) {
		(void)fprintf(stderr, "attach: %s\n", strerror(error));
		_exit(3);
	}
	return trid;
}

void producer_wait(trace_event_id_t id, bool wanted)
{
	for (int i = 0; i < PATIENCE_MS && (posix_trace_wanted_np(id) != 0) != wanted; i++)
		pxt_sleep_ms(1);
	if ((posix_trace_wanted_np(id) != 0) != wanted)
		_exit(6);
}

struct producer producer_begin(void (*body)(void *argument), void *argument)
{
	struct producer producer;
	int down[2];
	int up[2];

	(void)signal(SIGPIPE, SIG_IGN);
	PXT_EQ_FATAL(pipe(down), 0);
	PXT_EQ_FATAL(pipe(up), 0);
	(void)fflush(stdout);
	producer.pid = fork();
	CU_ASSERT_FATAL(producer.pid >= 0);
	if (producer.pid == 0) {
		(void)close(down[1]);
		(void)close(up[0]);
		producer_in = down[0];
		producer_out = up[1];
		(void)alarm(120);
		body(argument);
		_exit(0);
	}
	(void)close(down[0]);
	(void)close(up[1]);
	producer.to = down[1];
	producer.from = up[0];
	return producer;
}

void producer_tell(const struct producer *producer, uint64_t word)
{
	if (write(producer->to, &word, sizeof(word)) != (ssize_t)sizeof(word))
		CU_FAIL("the child does not listen");
}

uint64_t producer_told(const struct producer *producer)
{
	return hear(producer->from);
}

static int reap(struct producer *producer)
{
	int status = -1;

	while (waitpid(producer->pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)close(producer->to);
	(void)close(producer->from);
	return status;
}

void producer_end(struct producer *producer)
{
	int status = reap(producer);

	PXT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", status);
}

void producer_kill(struct producer *producer)
{
	(void)kill(producer->pid, SIGKILL);
	(void)reap(producer);
}

/* ---- The owner ---- */

/* One event of a user type. */
static bool next(trace_id_t trid, struct pxt_got *event, int ms)
{
	for (int i = 0; i <= ms; i++) {
		while (pxt_next(trid, event)) {
			if (event->info.posix_event_id >= PXT_ID_UNNAMED)
				return true;
		}
		pxt_sleep_ms(1);
	}
	return false;
}

size_t owner_collect(trace_id_t trid, struct pxt_got *events, size_t count, int ms)
{
	size_t got = 0;

	while (got < count && next(trid, &events[got], ms))
		got++;
	return got;
}

size_t owner_count(trace_id_t trid, trace_event_id_t id, size_t count, int ms)
{
	struct pxt_got event;
	size_t got = 0;

	while (got < count && next(trid, &event, ms))
		got += event.info.posix_event_id == id;
	return got;
}

void owner_wait_producers(trace_id_t trid, unsigned count)
{
	int i;

	for (i = 0; i < PATIENCE_MS && owner_producers(trid) != count; i++)
		pxt_sleep_ms(1);
	PXT_CHECK(i < PATIENCE_MS, "%u processes are attached", owner_producers(trid));
}

void owner_expect_the_law(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, counts.posix_retrieved_np + counts.posix_lost_np +
	                                    counts.posix_cleared_np + counts.posix_held_np);
}

/* ---- What only the library itself knows ---- */

unsigned owner_producers(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	const struct pxt_ctlsock *ctlsock = stream ? stream->share : NULL;
	unsigned count = 0;

	for (unsigned i = 0; ctlsock && i < PXT_CTLSOCK_MEMORIES; i++)
		count += ctlsock->present[i] != NULL;
	if (stream)
		pxt_stream_unlock(stream);
	return count;
}
