/* SPDX-License-Identifier: MIT */
/* attachfloor.c - see attachfloor.h. */
#define _GNU_SOURCE
#include "attachfloor.h"

#include "frame/out.h"
#include "frame/realtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define PAGE  ((size_t)4096)
#define REPLY ((size_t)312) /* bytes, as those of the library */
#define FAIL  (-1)

static pid_t server;

static void check(const char *what, int result)
{
	bench_ok(what, result == FAIL ? errno : 0);
}

union passing {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_memory(int connection, int memory)
{
	char request[32] = { 0 };
	union passing passing = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
		                      .cmsg_level = SOL_SOCKET,
		                      .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { request, sizeof(request) };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &passing,
		.msg_controllen = sizeof(passing.bytes) };

	memcpy(CMSG_DATA(&passing.head), &memory, sizeof(int));
	check("send", (int)sendmsg(connection, &message, MSG_NOSIGNAL));
}

/* -1: the other side is gone. */
static int receive_memory(int connection)
{
	char request[32];
	union passing passing = { .bytes = { 0 } };
	struct iovec part = { request, sizeof(request) };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &passing,
		.msg_controllen = sizeof(passing.bytes) };
	int memory = FAIL;

	if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) > 0 &&
	    message.msg_controllen >= CMSG_LEN(sizeof(int)))
		memcpy(&memory, CMSG_DATA(&passing.head), sizeof(int));
	return memory;
}

/* ---- The other side ---- */

static void wait_for(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	(void)poll(&one, 1, -1);
}

/* Head, middle and end of it, as labels and lanes are looked at. */
static void look(volatile const unsigned char *at, size_t bytes)
{
	(void)at[0];
	(void)at[bytes / 2];
	(void)at[bytes - 1];
}

static void serve_one(int connection)
{
	static const char reply[REPLY];
	struct stat state;
	void *at = MAP_FAILED;
	int memory;

	wait_for(connection);
	memory = receive_memory(connection);
	if (memory != FAIL && fstat(memory, &state) == 0)
		at = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_SHARED, memory, 0);
	if (at != MAP_FAILED) {
		look(at, (size_t)state.st_size);
		check("reply", (int)send(connection, reply, sizeof(reply), MSG_NOSIGNAL));
		(void)close(memory);
		wait_for(connection);
		(void)munmap(at, (size_t)state.st_size);
	}
	(void)close(connection);
}

static void serve(int listener)
{
	for (;;) {
		wait_for(listener);
		serve_one(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	}
}

static void name(const char *path, struct sockaddr_un *at)
{
	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	(void)snprintf(at->sun_path, sizeof(at->sun_path), "%s", path);
}

void bench_floor_begin(const char *path)
{
	struct sockaddr_un at;
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	name(path, &at);
	check("socket", listener);
	check("bind", bind(listener, (const struct sockaddr *)&at, sizeof(at)));
	check("listen", listen(listener, 8));
	(void)fflush(stdout);
	server = fork();
	check("fork", server);
	if (server == 0)
		serve(listener);
	(void)close(listener);
}

void bench_floor_end(const char *path)
{
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)unlink(path);
}

/* ---- This side ---- */

static int make_memory(size_t bytes, void **at)
{
	static unsigned char zeros[64 * 4096];
	int memory = memfd_create("floor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	check("memory", memory);
	for (size_t done = 0; done < bytes;) {
		size_t piece = bytes - done < sizeof(zeros) ? bytes - done : sizeof(zeros);

		check("memory", (int)pwrite(memory, zeros, piece, (off_t)done));
		done += piece;
	}
	*at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	bench_ok("memory", *at == MAP_FAILED ? errno : 0);
	/* In two turns: reading maps many pages at once. */
	for (size_t i = 0; i < bytes; i += PAGE)
		(void)((volatile unsigned char *)*at)[i];
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile unsigned char *)*at)[i] = 0;
	check("seal", fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE));
	return memory;
}

static void *help(void *bell)
{
	wait_for(*(int *)bell);
	return NULL;
}

double bench_floor_attach(const char *path, size_t bytes)
{
	char reply[REPLY];
	struct sockaddr_un to;
	pthread_t helper;
	uint64_t begin;
	uint64_t end;
	void *at;
	int connection;
	int memory;
	int bell;

	name(path, &to);
	begin = bench_ns();
	connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	check("connect", connect(connection, (const struct sockaddr *)&to, sizeof(to)));
	memory = make_memory(bytes, &at);
	send_memory(connection, memory);
	bell = eventfd(0, EFD_CLOEXEC);
	bench_ok("thread", pthread_create(&helper, NULL, help, &bell));
	check("answer", (int)recv(connection, reply, sizeof(reply), 0));
	end = bench_ns();
	check("bell", eventfd_write(bell, 1));
	(void)pthread_join(helper, NULL);
	(void)close(bell);
	(void)close(memory);
	(void)close(connection);
	(void)munmap(at, bytes);
	return (double)(end - begin);
}
