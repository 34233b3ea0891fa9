/* SPDX-License-Identifier: MIT */
/*
 * target.c - a traced program with its log on a line: for tests of `pxtrace receive` from outside.
 *
 * usage: target WHERE EVENTS [MICROSECONDS]
 *
 * WHERE: "frames" or "plain" (standard output), "udp:PORT" or "tcp:PORT" (of this computer),
 * "tcp-listen:PORT", or the path of a terminal or FIFO.  Flushes after every 20 events and then
 * sleeps that long.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

static void fail(const char *what)
{
	(void)fprintf(stderr, "target: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void must(int error, const char *what)
{
	errno = error;
	if (error)
		fail(what);
}

static struct sockaddr_in loopback(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	address.sin_port = htons((uint16_t)atoi(port));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int open_connected(const char *port, int type)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, type, 0);

	/* The receiver may come later. */
	for (unsigned i = 0; i < 100; i++) {
		if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
			return fd;
		(void)usleep(20000);
	}
	fail("connect");
	return -1;
}

static int open_listening(const char *port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const int yes = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0)
		fail("listen");
	return accept(fd, NULL, NULL);
}

static int open_path(const char *path)
{
	struct termios settings;
	int fd = open(path, O_WRONLY | O_NOCTTY);

	if (fd < 0)
		fail(path);
	if (tcgetattr(fd, &settings) == 0) {
		cfmakeraw(&settings);
		(void)tcsetattr(fd, TCSANOW, &settings);
	}
	return fd;
}

static int open_where(const char *where, int *form)
{
	*form = POSIX_TRACE_LOG_AUTO_NP;
	if (strncmp(where, "udp:", 4) == 0)
		return open_connected(where + 4, SOCK_DGRAM);
	*form = POSIX_TRACE_LOG_FRAMES_NP;
	if (strcmp(where, "frames") == 0)
		return STDOUT_FILENO;
	if (strncmp(where, "tcp:", 4) == 0)
		return open_connected(where + 4, SOCK_STREAM);
	if (strncmp(where, "tcp-listen:", 11) == 0)
		return open_listening(where + 11);
	*form = POSIX_TRACE_LOG_AUTO_NP;
	return strcmp(where, "plain") == 0 ? STDOUT_FILENO : open_path(where);
}

int main(int argc, char **argv)
{
	unsigned events = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	useconds_t pause = argc > 3 ? (useconds_t)atoi(argv[3]) : 0;
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;
	int form;
	int fd;

	if (argc < 3)
		return 2;
	(void)signal(SIGPIPE, SIG_IGN);
	fd = open_where(argv[1], &form);
	must(posix_trace_attr_init(&attr), "attributes");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "log policy");
	must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), "stream policy");
	must(posix_trace_attr_setlogform_np(&attr, form), "form");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "create");
	must(posix_trace_eventid_open("tick", &id), "event");
	must(posix_trace_eventid_setformat_np(id, "u32 number"), "format");
	must(posix_trace_note_np(trid, "line", argv[1]), "note");
	must(posix_trace_start(trid), "start");
	for (uint32_t i = 0; i < events; i++) {
		posix_trace_event(id, &i, sizeof i);
		if (i % 20 == 19) {
			(void)posix_trace_flush(trid);
			if (pause)
				(void)usleep(pause);
		}
	}
	must(posix_trace_stop(trid), "stop");
	(void)posix_trace_shutdown(trid);
	return 0;
}
