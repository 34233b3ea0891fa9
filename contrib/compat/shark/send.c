/* SPDX-License-Identifier: MIT */
/* send.c - S.Ha.R.K.'s tracer: chunks into files at exit, or as datagrams. */
#include "shark.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT          20000
#define MAGIC         "TRACER-V1.0"
#define HEAD_BYTES    24u
#define PACKET_EVENTS 60u
#define PAUSE_NS      5000000

static int (*sender)(const struct FTrace_Chunk *c);

/* Events from the oldest one. */
static void copy(unsigned char *to, const struct FTrace_Chunk *c, DWORD from, DWORD events)
{
	for (DWORD i = 0; i < events; i++)
		memcpy(&to[(size_t)i * FTRACE_EVENT_BYTES],
		    &c->memory[(size_t)((c->oldest + from + i) % c->events) * FTRACE_EVENT_BYTES],
		    FTRACE_EVENT_BYTES);
}

/* ---- Files ---- */

/* What is written at exit. */
static struct waiting {
	struct waiting *next;
	DWORD events;
	unsigned char bytes[];
} * first, **last = &first;
static char *file_name;
static bool at_exit;

static void write_file(int number, const struct waiting *one)
{
	const char *slash = strrchr(file_name, '/');
	const int folder = slash ? (int)(slash + 1 - file_name) : 0;
	char path[PATH_MAX];
	FILE *file = NULL;

	if (snprintf(path, sizeof(path), "%.*s%d%s", folder, file_name, number,
	        file_name + folder) < (int)sizeof(path))
		file = fopen(path, "wb");
	if (!file || fwrite(one->bytes, FTRACE_EVENT_BYTES, one->events, file) != one->events ||
	    fclose(file) != 0)
		perror(path);
}

static void write_all(void)
{
	int number = 0;

	for (const struct waiting *one = first; one; one = one->next)
		write_file(number++, one);
}

static int queue(const struct FTrace_Chunk *c)
{
	struct waiting *one =
	    file_name ? malloc(sizeof(*one) + (size_t)c->events * FTRACE_EVENT_BYTES) : NULL;

	if (!one)
		return -1;
	one->next = NULL;
	one->events = c->events;
	copy(one->bytes, c, 0, c->events);
	*last = one;
	last = &one->next;
	return 0;
}

int FTrace_init_disk_writer(const char *fname, int flag, const char *l_ip, const char *t_ip)
{
	(void)flag, (void)l_ip, (void)t_ip;
	if (!fname || !*fname || !shark_lock())
		return -1;
	free(file_name);
	file_name = strdup(fname);
	at_exit = at_exit || atexit(write_all) == 0;
	if (at_exit)
		sender = queue;
	return shark_unlock(at_exit ? 0 : -1);
}

void FTrace_disk_writer(FTrace_Chunk_Ptr c)
{
	if (c && shark_lock())
		(void)shark_unlock(queue(c));
}

/* ---- Datagrams ---- */

static int out = -1;
static uint32_t packets;

/* Magic, number of the packet, events in it, bytes of it; then the events. */
static int send_packet(const struct FTrace_Chunk *c, DWORD from, DWORD events)
{
	const struct timespec pause = { 0, PAUSE_NS };
	unsigned char packet[HEAD_BYTES + PACKET_EVENTS * FTRACE_EVENT_BYTES] = MAGIC;
	const size_t bytes = HEAD_BYTES + (size_t)events * FTRACE_EVENT_BYTES;
	ssize_t sent;

	shark_little(&packet[12], packets++, 4);
	shark_little(&packet[16], events, 4);
	shark_little(&packet[20], (uint32_t)bytes, 4);
	copy(&packet[HEAD_BYTES], c, from, events);
	sent = send(out, packet, bytes, MSG_NOSIGNAL);
	(void)nanosleep(&pause, NULL);
	return sent == (ssize_t)bytes ? 0 : -1;
}

static int send_packets(const struct FTrace_Chunk *c)
{
	int result = 0;

	for (DWORD from = 0; from < c->events; from += PACKET_EVENTS)
		result |= send_packet(
		    c, from, c->events - from < PACKET_EVENTS ? c->events - from : PACKET_EVENTS);
	return result;
}

int FTrace_OSD_init_udp(int flag, const char *l_ip, const char *t_ip)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd;

	(void)flag;
	if ((l_ip && inet_pton(AF_INET, l_ip, &here.sin_addr) != 1) || !t_ip ||
	    inet_pton(AF_INET, t_ip, &there.sin_addr) != 1 || !shark_lock())
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) != 0 ||
	    connect(fd, (struct sockaddr *)&there, sizeof(there)) != 0) {
		(void)close(fd);
		return shark_unlock(-1);
	}
	(void)close(out);
	out = fd;
	sender = send_packets;
	return shark_unlock(0);
}

/* ---- Both ---- */

int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags)
{
	struct shark_chunk *chunk = new_flags & 0x80 ? NULL : shark_enter(number);
	int result;

	(void)osd_flags;
	if (!chunk)
		return -1;
	/* The actual chunk of an enabled tracer is not done. */
	if (atomic_load(&shark.actual) == number || !sender)
		return shark_unlock(-1);
	chunk->seen.flags |= FTRACE_CHUNK_FLAG_BUSY;
	result = sender(&chunk->seen);
	shark_set_flags(chunk, new_flags);
	return shark_unlock(result);
}
