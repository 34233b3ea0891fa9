/* SPDX-License-Identifier: MIT */
/*
 * serial_line.c - a target that sends its trace over a serial line, while it runs.  Nothing but the
 * descriptor differs from a log in a file: to a terminal device the log goes in frames with
 * checksums, and what a receiver must know is said again and again, so that it may start late and
 * may lose some.
 *
 *	serial_line DEVICE           for example /dev/ttyUSB0, at 115200 baud
 *	serial_line                  without hardware: makes a pseudo terminal, says which one,
 *	                             waits half a minute for a receiver, and sends
 *
 * At the other end: pxtrace receive serial:DEVICE,115200 -o run.ptl --once
 */
#define _XOPEN_SOURCE 700
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MEASUREMENTS 200u
#define PERIOD_MS    5
#define WAIT_MS      30000
#define LOOK_MS      20
#define LINGER_MS    5000

POSIX_TRACE_DEFINE_NP(measured, u32, number, i32, millivolt);

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "serial_line: %s: %s\n", what, strerror(error));
	exit(1);
}

static void must(const char *what, int error)
{
	if (error != 0)
		die(what, error);
}

static void sleep_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Bytes as they are: no echo, no line ends, no flow control by characters. */
static void make_raw(int fd, const char *path)
{
	struct termios mode;

	if (tcgetattr(fd, &mode) != 0)
		die(path, errno);
	mode.c_iflag = 0;
	mode.c_oflag = 0;
	mode.c_lflag = 0;
	mode.c_cflag = (mode.c_cflag & ~(tcflag_t)(CSIZE | PARENB | CSTOPB)) | CS8 | CREAD | CLOCAL;
	(void)cfsetispeed(&mode, B115200);
	(void)cfsetospeed(&mode, B115200);
	if (tcsetattr(fd, TCSANOW, &mode) != 0)
		die(path, errno);
}

static int open_device(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		die(path, errno);
	make_raw(fd, path);
	return fd;
}

/* The other end exists once somebody has it open: until then, and only after it was closed once,
 * the pseudo terminal reports that nobody is there. */
static int somebody_is_there(int fd)
{
	struct pollfd look = { .fd = fd, .events = POLLOUT };

	(void)poll(&look, 1, 0);
	return !(look.revents & POLLHUP);
}

static int open_pseudo_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	const char *path = fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0 ? ptsname(fd) : NULL;

	if (!path)
		die("pseudo terminal", errno);
	(void)close(open_device(path));
	(void)printf(
	    "serial_line: waiting for: pxtrace receive serial:%s,115200 -o run.ptl --once\n", path);
	(void)fflush(stdout);
	for (int ms = 0; ms < WAIT_MS; ms += LOOK_MS) {
		if (somebody_is_there(fd))
			return fd;
		sleep_ms(LOOK_MS);
	}
	(void)fprintf(stderr, "serial_line: nobody came\n");
	exit(1);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open_device(argv[1]) : open_pseudo_terminal();
	struct posix_trace_counts_np counts;
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "serial_line"));
	must("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	must("create", posix_trace_create_withlog(0, &attr, fd, &trid));
	must("event", posix_trace_open_np(measured));
	must("start", posix_trace_start(trid));
	for (uint32_t number = 0; number < MEASUREMENTS; number++) {
		posix_trace_point_np(measured, number, 3300 - (int32_t)(number % 50));
		/* A slow line is fed often, rather than much at once. */
		if (number % 20 == 19)
			must("flush", posix_trace_flush(trid));
		sleep_ms(PERIOD_MS);
	}
	must("stop", posix_trace_stop(trid));
	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	must("shutdown", posix_trace_shutdown(trid));
	(void)tcdrain(fd);
	/* What nobody has read when this end closes is gone: with --once the receiver goes after
	 * the last byte. */
	for (int ms = 0; argc == 1 && ms < LINGER_MS && somebody_is_there(fd); ms += LOOK_MS)
		sleep_ms(LOOK_MS);
	(void)printf("serial_line: %llu events sent, %llu lost\n",
	    (unsigned long long)counts.posix_written_np, (unsigned long long)counts.posix_lost_np);
	(void)close(fd);
	return 0;
}
