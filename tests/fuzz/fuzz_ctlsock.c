/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ctlsock.c - whatever a peer sends to the control socket of a stream, and whatever the memory of an
 * attached process holds, the owner answers the next question, and its counts add up.
 *
 * Messages, each of a head of 4 bytes:
 *
 *	what is asked; FLAGS: what is wrong with the message; `how`; bytes that follow
 *
 * What follows is the text; of an ATTACH changes to the memory of a process that had attached and traced,
 * 4 bytes each: which memory and where (17 bits), and a value.
 */
#define _GNU_SOURCE
#include "core/process/process.h"
#include "format/ctlsock.h"
#include "tests/fuzz/input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>

#define MAGIC   1u
#define VERSION 2u
#define LENGTH  4u
#define MORE    8u  /* one descriptor more than belongs to it */
#define LESS    16u /* none at all */
#define RAW     32u /* the text is the whole message */
#define READ    64u /* the owner reads in between */

#define STREAM_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static trace_id_t stream;
static struct memory {
	size_t bytes;
	unsigned char *content;
} memories[2];

/* ---- The owner, and one that attaches ---- */

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	abort();
}

static void create_stream(void)
{
	trace_attr_t attr;
	char folder[64];

	(void)snprintf(folder, sizeof folder, "/tmp/fuzz-ctlsock-%ld", (long)getpid());
	must(mkdir(folder, 0700) == 0, folder);
	(void)snprintf(address.sun_path, sizeof address.sun_path, "%s/stream", folder);
	must(posix_trace_attr_init(&attr) == 0 &&
	         posix_trace_attr_setsharename_np(&attr, address.sun_path) == 0 &&
	         posix_trace_attr_setstreamsize(&attr, STREAM_BYTES) == 0 &&
	         posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP) == 0,
	    "attributes");
	errno = posix_trace_create(0, &attr, &stream);
	must(errno == 0, "create");
	must(posix_trace_start(stream) == 0, "start");
}

static void attach_and_trace(int ready)
{
	trace_event_id_t id;
	trace_id_t own;
	char byte;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	byte = (char)posix_trace_attach_np(address.sun_path, NULL, &own);

	for (unsigned i = 0; byte == 0 && i < 40; i++) {
		if (i % 10 == 0 && posix_trace_eventid_open(i % 20 ? "one" : "other", &id) != 0)
			byte = 1;
		posix_trace_event(id, &i, i % 4 ? sizeof i : 0);
	}
	(void)!write(ready, &byte, 1);
	for (;;)
		(void)pause();
}

/* What the child handed over, as it is mapped there: the stream is the larger one. */
static void copy_memories(pid_t child)
{
	unsigned long inodes[2] = { 0, 0 };
	char line[300];
	unsigned found = 0;
	FILE *maps;
	int mem;

	(void)snprintf(line, sizeof line, "/proc/%ld/mem", (long)child);
	mem = open(line, O_RDONLY | O_CLOEXEC);
	(void)snprintf(line, sizeof line, "/proc/%ld/maps", (long)child);
	maps = fopen(line, "re");
	must(maps && mem >= 0, line);
	while (found < 2 && fgets(line, sizeof line, maps)) {
		struct memory *memory = &memories[found];
		unsigned long from;
		unsigned long to;
		unsigned long offset;
		unsigned long inode;

		if (!strstr(line, "ptrace-producer") ||
		    sscanf(line, "%lx-%lx %*s %lx %*s %lu", &from, &to, &offset, &inode) != 4 ||
		    offset != 0 || inode == inodes[0])
			continue;
		inodes[found++] = inode;
		memory->bytes = to - from;
		memory->content = malloc(memory->bytes);
		must(memory->content && pread(mem, memory->content, memory->bytes, (off_t)from) ==
		                            (ssize_t)memory->bytes,
		    "memory of an attached process");
	}
	(void)fclose(maps);
	(void)close(mem);
	must(found == 2, "memories of an attached process");
	if (memories[0].bytes < memories[1].bytes) {
		struct memory other = memories[0];

		memories[0] = memories[1];
		memories[1] = other;
	}
}

/* ---- A peer ---- */

static int connect_to_owner(void)
{
	const struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	must(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0,
	    "socket");
	while (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
		must(errno == EAGAIN || errno == ECONNREFUSED, "connect");
	return fd;
}

static int changed_memory(const struct memory *memory, const uint8_t *changes, size_t bytes)
{
	int fd = memfd_create("fuzz-producer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	unsigned which = memory == &memories[1];

	must(fd >= 0 && ftruncate(fd, (off_t)memory->bytes) == 0 &&
	         pwrite(fd, memory->content, memory->bytes, 0) == (ssize_t)memory->bytes,
	    "memory");
	for (; bytes >= 4; bytes -= 4, changes += 4) {
		size_t at = ((size_t)changes[0] | (size_t)changes[1] << 8 |
		                (size_t)(changes[2] & 1u) << 16) %
		            memory->bytes;

		if ((changes[2] >> 7) == which)
			must(pwrite(fd, changes + 3, 1, (off_t)at) == 1, "memory");
	}
	must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) == 0, "seals");
	return fd;
}

static unsigned make_descriptors(const uint8_t *head, const uint8_t *text, size_t bytes, int fds[3])
{
	unsigned count = 0;

	if (head[0] % 11 == PXT_CTLSOCK_ATTACH) {
		fds[count++] = changed_memory(&memories[0], text, bytes);
		fds[count++] = changed_memory(&memories[1], text, bytes);
	} else if (head[0] % 11 == PXT_CTLSOCK_SNAPSHOT || head[0] % 11 == PXT_CTLSOCK_FOLLOW) {
		fds[count++] = memfd_create("fuzz-log", MFD_CLOEXEC);
	}
	if (head[1] & MORE)
		fds[count++] = memfd_create("fuzz-more", MFD_CLOEXEC);
	return count;
}

static void send_message(int to, const uint8_t *head, const uint8_t *text, size_t bytes)
{
	struct pxt_ctlsock_request request = {
		.magic = PXT_CTLSOCK_MAGIC ^ (head[1] & MAGIC ? head[2] : 0u),
		.version = PXT_CTLSOCK_VERSION + (head[1] & VERSION ? head[2] : 0u),
		.what = head[0] % 11,
		.how = (int8_t)head[2],
		.hz = pxt_clock.hz,
		.clock_source = (uint32_t)pxt_clock.source + (head[1] & LENGTH ? head[2] : 0u),
	};
	bool attaches = request.what == PXT_CTLSOCK_ATTACH;
	struct iovec parts[2] = { { &request, sizeof request },
		{ (void *)(uintptr_t)text, attaches ? 0 : bytes } };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	int fds[3];
	unsigned count = make_descriptors(head, text, bytes, fds);

	request.text_bytes = (uint32_t)parts[1].iov_len + (head[1] & LENGTH ? head[2] : 0u);
	if (head[1] & RAW)
		parts[0].iov_len = 0;
	if (count && !(head[1] & LESS)) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	}
	(void)sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (count > 0)
		(void)close(fds[--count]);
}

/* The fuzzer's own timer interrupts a call that has a limit. */
static void receive(int fd, struct pxt_ctlsock_reply *reply)
{
	ssize_t got;

	do
		got = recv(fd, reply, sizeof *reply, 0);
	while (got < 0 && errno == EINTR);
	must(got == (ssize_t)sizeof *reply, "no answer");
}

/* A proper request is answered, whatever other clients did. */
static void ask_status(void)
{
	const struct pxt_ctlsock_request request = { .magic = PXT_CTLSOCK_MAGIC,
		.version = PXT_CTLSOCK_VERSION,
		.what = PXT_CTLSOCK_STATUS };
	struct pxt_ctlsock_reply reply;
	int fd = connect_to_owner();

	must(send(fd, &request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request, "send");
	receive(fd, &reply);
	must(reply.what == PXT_CTLSOCK_STATUS && reply.error == 0, "another answer");
	must(reply.status.written == reply.status.retrieved + reply.status.lost +
	                                 reply.status.cleared + reply.status.held,
	    "counts");
	(void)close(fd);
}

/* Memory that nobody changed is taken: else only refusals would be tried. */
static void check_attach(void)
{
	const uint8_t head[4] = { PXT_CTLSOCK_ATTACH };
	struct pxt_ctlsock_reply reply;
	int fd = connect_to_owner();

	send_message(fd, head, head, 0);
	receive(fd, &reply);
	errno = reply.error;
	must(errno == 0, "memory of a process that had attached is refused");
	(void)close(fd);
}

static void begin(void)
{
	int ends[2];
	char byte = 1;
	pid_t child;

	must(pipe(ends) == 0, "pipe");
	create_stream();
	child = fork();
	if (child == 0)
		attach_and_trace(ends[1]);
	must(child > 0 && read(ends[0], &byte, 1) == 1 && byte == 0, "attach");
	copy_memories(child);
	check_attach();
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void read_events(void)
{
	struct posix_trace_event_info event;
	char data[4096];
	int unavailable = 0;
	size_t bytes;

	for (unsigned i = 0; i < 10000 && !unavailable; i++)
		if (posix_trace_trygetnext_event(
		        stream, &event, data, sizeof data, &bytes, &unavailable))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	if (!memories[0].content)
		begin();
	fd = connect_to_owner();
	while (size >= 4) {
		const uint8_t *head = data;
		size_t bytes = head[3] < size - 4 ? head[3] : size - 4;

		send_message(fd, head, data + 4, bytes);
		if (head[1] & READ)
			read_events();
		data += 4 + bytes;
		size -= 4 + bytes;
	}
	ask_status();
	read_events();
	(void)close(fd);
	(void)posix_trace_start(stream);
	return 0;
}
