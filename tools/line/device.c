/* SPDX-License-Identifier: MIT */
/* device.c - devices and sockets. */
#define _DEFAULT_SOURCE
#include "tools/line/device.h"

#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define AGAIN_MS      100
#define RECEIVE_BYTES (4 * 1024 * 1024)

/* ---- The user's words ---- */

static const struct {
	unsigned baud;
	speed_t code;
} speeds[] = {
	{ 1200, B1200 },
	{ 2400, B2400 },
	{ 4800, B4800 },
	{ 9600, B9600 },
	{ 19200, B19200 },
	{ 38400, B38400 },
	{ 57600, B57600 },
	{ 115200, B115200 },
	{ 230400, B230400 },
	{ 460800, B460800 },
	{ 500000, B500000 },
	{ 576000, B576000 },
	{ 921600, B921600 },
	{ 1000000, B1000000 },
	{ 1500000, B1500000 },
	{ 2000000, B2000000 },
	{ 2500000, B2500000 },
	{ 3000000, B3000000 },
	{ 3500000, B3500000 },
	{ 4000000, B4000000 },
};

static bool speed_code(unsigned baud, speed_t *code)
{
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
		if (speeds[i].baud == baud) {
			*code = speeds[i].code;
			return true;
		}
	}
	return false;
}

static bool copy(char *to, size_t room, const char *from, size_t bytes)
{
	if (bytes >= room)
		return false;
	memcpy(to, from, bytes);
	to[bytes] = '\0';
	return true;
}

/* DEV,BAUD */
static bool parse_serial(struct pxt_linkdevice *from, const char *rest)
{
	const char *comma = strrchr(rest, ',');
	char *end = NULL;
	unsigned long baud = comma ? strtoul(comma + 1, &end, 10) : 0;
	speed_t code;

	if (!comma || comma == rest || !*(comma + 1) || *end) {
		pxt_complain("%s: \"%s\": a serial line wants device and speed, as "
		             "serial:/dev/ttyUSB0,115200",
		    from->command, from->text);
		return false;
	}
	if (baud > 100000000 || !speed_code((unsigned)baud, &code)) {
		pxt_complain("%s: \"%s\": no serial line runs at %s baud; usual are 9600, "
		             "115200, 921600, 3000000",
		    from->command, from->text, comma + 1);
		return false;
	}
	from->baud = (unsigned)baud;
	if (copy(from->where, sizeof from->where, rest, (size_t)(comma - rest)))
		return true;
	pxt_complain("%s: \"%s\": the name is too long", from->command, from->text);
	return false;
}

/* HOST:PORT, [HOST]:PORT with colons in HOST, or PORT alone. */
static bool parse_network(struct pxt_linkdevice *from, const char *rest, bool host_needed)
{
	const char *colon = strrchr(rest, ':');
	const char *port = colon ? colon + 1 : rest;
	size_t bytes = colon ? (size_t)(colon - rest) : 0;
	char *end = NULL;
	unsigned long number = strtoul(port, &end, 10);

	if (bytes >= 2 && rest[0] == '[' && rest[bytes - 1] == ']') {
		rest++;
		bytes -= 2;
	}
	if (!*port || *end || number == 0 || number > 65535) {
		pxt_complain(
		    "%s: \"%s\": \"%s\" is no port (1 to 65535)", from->command, from->text, port);
		return false;
	}
	if (host_needed && !bytes) {
		pxt_complain("%s: \"%s\": whom to connect to? tcp:HOST:PORT, or to be "
		             "connected to: tcp-listen:PORT",
		    from->command, from->text);
		return false;
	}
	/* Whom all the network reaches, somebody must have asked for.  A name may mean ::1 alone. */
	if (!bytes) {
		rest = "127.0.0.1";
		bytes = strlen(rest);
	} else if (bytes == 1 && *rest == '*') {
		bytes = 0;
	}
	if (copy(from->where, sizeof from->where, rest, bytes) &&
	    copy(from->port, sizeof from->port, port, strlen(port)))
		return true;
	pxt_complain("%s: \"%s\": the name is too long", from->command, from->text);
	return false;
}

/* A path: of something that bytes can be read from in their order. */
static bool parse_path(struct pxt_linkdevice *from)
{
	struct stat st;

	from->kind = PXT_FROM_PATH;
	if (stat(from->text, &st) != 0) {
		pxt_complain("%s: %s: %s", from->command, from->text, strerror(errno));
		pxt_explain("sources are serial:DEV,BAUD udp:[HOST:]PORT tcp:HOST:PORT "
		            "tcp-listen:[HOST:]PORT, a FIFO or file, and - for standard input");
		return false;
	}
	if (S_ISCHR(st.st_mode)) {
		pxt_complain("%s: %s is a device: at which speed? serial:%s,115200", from->command,
		    from->text, from->text);
		return false;
	}
	if (!S_ISFIFO(st.st_mode) && !S_ISREG(st.st_mode)) {
		pxt_complain("%s: %s is neither a FIFO nor a file", from->command, from->text);
		return false;
	}
	if (copy(from->where, sizeof from->where, from->text, strlen(from->text)))
		return true;
	pxt_complain("%s: \"%s\": the name is too long", from->command, from->text);
	return false;
}

bool pxt_linkdevice_parse(struct pxt_linkdevice *from, const char *command, const char *text)
{
	memset(from, 0, sizeof *from);
	from->command = command;
	from->text = text;
	from->fd = from->listener = -1;
	if (strcmp(text, "-") == 0) {
		from->kind = PXT_FROM_STDIN;
		from->fd = STDIN_FILENO;
		return true;
	}
	if (strncmp(text, "serial:", 7) == 0) {
		from->kind = PXT_FROM_SERIAL;
		return parse_serial(from, text + 7);
	}
	if (strncmp(text, "udp:", 4) == 0) {
		from->kind = PXT_FROM_UDP;
		return parse_network(from, text + 4, false);
	}
	if (strncmp(text, "tcp:", 4) == 0) {
		from->kind = PXT_FROM_TCP;
		return parse_network(from, text + 4, true);
	}
	if (strncmp(text, "tcp-listen:", 11) == 0) {
		from->kind = PXT_FROM_TCP_LISTEN;
		return parse_network(from, text + 11, false);
	}
	return parse_path(from);
}

/* ---- Opening ---- */

static int open_serial(const struct pxt_linkdevice *from)
{
	struct termios settings;
	speed_t code = B0;
	int fd = open(
	    from->where, (from->writes ? O_RDWR : O_RDONLY) | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	(void)speed_code(from->baud, &code);
	if (tcgetattr(fd, &settings) == 0) {
		cfmakeraw(&settings);
		settings.c_cflag |= CLOCAL | CREAD;
		(void)cfsetispeed(&settings, code);
		(void)cfsetospeed(&settings, code);
		if (tcsetattr(fd, TCSANOW, &settings) == 0)
			return fd;
	}
	return pxt_close_with(fd, errno);
}

static int open_address(const struct pxt_linkdevice *from, const struct addrinfo *address)
{
	const int yes = 1;
	const int much = RECEIVE_BYTES;
	int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (from->kind == PXT_FROM_UDP)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &much, sizeof much);
	/* Questions are short, and each is waited for. */
	if (from->kind == PXT_FROM_TCP)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	if (from->kind == PXT_FROM_TCP_LISTEN)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (from->kind == PXT_FROM_TCP ? connect(fd, address->ai_addr, address->ai_addrlen) == 0
	                               : bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
	                                     (from->kind == PXT_FROM_UDP || listen(fd, 4) == 0))
		return fd;
	return pxt_close_with(fd, errno);
}

static int open_network(const struct pxt_linkdevice *from)
{
	const struct addrinfo hints = { .ai_socktype =
		                            from->kind == PXT_FROM_UDP ? SOCK_DGRAM : SOCK_STREAM,
		.ai_flags = from->kind == PXT_FROM_TCP ? 0 : AI_PASSIVE };
	struct addrinfo *found = NULL;
	int fd = -1;
	int error = getaddrinfo(*from->where ? from->where : NULL, from->port, &hints, &found);

	if (error) {
		errno = error == EAI_SYSTEM ? errno : EADDRNOTAVAIL;
		return -1;
	}
	for (const struct addrinfo *address = found; address && fd < 0; address = address->ai_next)
		fd = open_address(from, address);
	error = errno;
	freeaddrinfo(found);
	errno = error;
	return fd;
}

static int open_any(struct pxt_linkdevice *from)
{
	switch (from->kind) {
	case PXT_FROM_SERIAL:
		return open_serial(from);
	case PXT_FROM_PATH:
		return open(from->where, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	case PXT_FROM_UDP:
	case PXT_FROM_TCP_LISTEN:
	case PXT_FROM_TCP:
		return open_network(from);
	case PXT_FROM_STDIN:
	default:
		return STDIN_FILENO;
	}
}

/* Whether the thing may come (back) by itself. */
static bool may_come(const struct pxt_linkdevice *from, int error)
{
	if (from->kind == PXT_FROM_SERIAL)
		return error == ENOENT || error == ENXIO || error == ENODEV || error == EIO ||
		       error == EBUSY;
	if (from->kind == PXT_FROM_TCP)
		return error == ECONNREFUSED || error == ETIMEDOUT || error == EHOSTUNREACH ||
		       error == ENETUNREACH || error == ECONNRESET || error == EINTR;
	return false;
}

static void nap(int ms)
{
	(void)poll(NULL, 0, ms < AGAIN_MS ? ms : AGAIN_MS);
}

static enum pxt_linkdevice_news try_open(struct pxt_linkdevice *from, int ms)
{
	bool first = !from->waiting;
	int fd = open_any(from);

	from->fresh = false;
	if (fd >= 0 && from->kind == PXT_FROM_TCP_LISTEN) {
		from->listener = fd;
		return PXT_FROM_WAITING;
	}
	from->fd = fd;
	if (fd >= 0) {
		from->waiting = false;
		return PXT_FROM_QUIET;
	}
	if (!may_come(from, errno)) {
		pxt_complain("%s: %s: %s", from->command, from->text, strerror(errno));
		return PXT_FROM_ERROR;
	}
	from->waiting = true;
	nap(ms);
	return first ? PXT_FROM_WAITING : PXT_FROM_QUIET;
}

/* ---- Reading ---- */

static void drop(struct pxt_linkdevice *from)
{
	(void)close(from->fd);
	from->fd = -1;
}

static enum pxt_linkdevice_news at_end(struct pxt_linkdevice *from, int ms)
{
	struct stat st;
	bool fresh = from->fresh;

	if (from->kind == PXT_FROM_STDIN)
		return PXT_FROM_END;
	if (from->kind == PXT_FROM_PATH) {
		if (fstat(from->fd, &st) != 0 || S_ISREG(st.st_mode))
			return PXT_FROM_END;
		/* A FIFO without a writer; it stays open for the next one. */
		from->fresh = false;
		if (!fresh)
			nap(ms);
		return fresh ? PXT_FROM_BROKEN : PXT_FROM_QUIET;
	}
	drop(from);
	return PXT_FROM_BROKEN;
}

static void note_sender(struct pxt_linkdevice *from, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;

	_Static_assert(sizeof from->sender >= 4 + sizeof six->sin6_addr, "an address fits");
	memset(from->sender, 0, sizeof from->sender);
	from->sender[0] = (unsigned char)address->ss_family;
	if (address->ss_family == AF_INET) {
		memcpy(from->sender + 2, &four->sin_port, 2);
		memcpy(from->sender + 4, &four->sin_addr, sizeof four->sin_addr);
	} else if (address->ss_family == AF_INET6) {
		memcpy(from->sender + 2, &six->sin6_port, 2);
		memcpy(from->sender + 4, &six->sin6_addr, sizeof six->sin6_addr);
	}
}

static ssize_t receive_packet(struct pxt_linkdevice *from, unsigned char *bytes, size_t room)
{
	struct sockaddr_storage address = { 0 };
	socklen_t length = sizeof address;
	ssize_t got = recvfrom(
	    from->fd, bytes, room, MSG_DONTWAIT, (struct sockaddr *)(void *)&address, &length);

	if (got >= 0)
		note_sender(from, &address);
	return got;
}

static enum pxt_linkdevice_news read_some(
    struct pxt_linkdevice *from, unsigned char *bytes, size_t room, size_t *count, int ms)
{
	ssize_t got = from->kind == PXT_FROM_UDP ? receive_packet(from, bytes, room)
	                                         : read(from->fd, bytes, room);

	if (got > 0 || (got == 0 && from->kind == PXT_FROM_UDP)) {
		*count = (size_t)got;
		from->fresh = true;
		return PXT_FROM_BYTES;
	}
	if (got == 0)
		return at_end(from, ms);
	if (errno == EINTR || errno == EAGAIN)
		return PXT_FROM_QUIET;
	if (from->kind == PXT_FROM_SERIAL || from->kind == PXT_FROM_TCP ||
	    from->kind == PXT_FROM_TCP_LISTEN) {
		drop(from);
		return PXT_FROM_BROKEN;
	}
	pxt_complain("%s: %s: %s", from->command, from->text, strerror(errno));
	return PXT_FROM_ERROR;
}

static void accept_one(struct pxt_linkdevice *from)
{
	from->fd = accept(from->listener, NULL, NULL);
	from->fresh = false;
	if (from->fd >= 0)
		(void)fcntl(from->fd, F_SETFD, FD_CLOEXEC);
}

enum pxt_linkdevice_news pxt_linkdevice_read(
    struct pxt_linkdevice *from, unsigned char *bytes, size_t room, size_t *count, int ms)
{
	bool listening = from->fd < 0 && from->listener >= 0;
	struct pollfd ready = { .fd = listening ? from->listener : from->fd, .events = POLLIN };

	*count = 0;
	if (ready.fd < 0)
		return try_open(from, ms);
	if (poll(&ready, 1, ms) <= 0)
		return PXT_FROM_QUIET;
	if (listening) {
		accept_one(from);
		return PXT_FROM_QUIET;
	}
	return read_some(from, bytes, room, count, ms);
}

/* A line takes few bytes at once, and what it is slow to take is waited for. */
bool pxt_linkdevice_write(
    struct pxt_linkdevice *to, const unsigned char *bytes, size_t count, int ms)
{
	struct pollfd ready = { .fd = to->fd, .events = POLLOUT };
	size_t done = 0;

	while (to->fd >= 0 && done < count) {
		ssize_t wrote = to->kind == PXT_FROM_SERIAL
		                    ? write(to->fd, bytes + done, count - done)
		                    : send(to->fd, bytes + done, count - done, MSG_NOSIGNAL);

		if (wrote > 0) {
			done += (size_t)wrote;
		} else if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
			drop(to);
		} else if (poll(&ready, 1, ms) <= 0) {
			break;
		}
	}
	return done == count;
}

bool pxt_linkdevice_has_packets(const struct pxt_linkdevice *from)
{
	return from->kind == PXT_FROM_UDP;
}

void pxt_linkdevice_close(struct pxt_linkdevice *from)
{
	if (from->fd >= 0 && from->kind != PXT_FROM_STDIN)
		(void)close(from->fd);
	if (from->listener >= 0)
		(void)close(from->listener);
	from->fd = from->listener = -1;
}
