/* SPDX-License-Identifier: MIT */
/* kit.c - see kit.h. */
#define _GNU_SOURCE
#include "attach/kit.h"

#include "core/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
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
