/* SPDX-License-Identifier: MIT */
/* environment.c - the environment's wishes: variables, opening and locking the file of a log, complaints. */
#define _GNU_SOURCE
#include "port/port_environment.h"
#include "port/port_untold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

const char *pxt_port_environment(const char *name)
{
	return secure_getenv(name);
}

/*
 * The lock is the open file's, so the library's duplicate has it, too, until the log is closed: a program
 * that this one starts has the same environment.
 */
int pxt_port_environment_file(const char *path, int *fd)
{
	int error = 0;

	pxt_port_untold_begin();
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (*fd < 0)
		error = errno;
	else if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
		error = errno == EWOULDBLOCK ? EBUSY : errno;
	if (error && *fd >= 0)
		(void)close(*fd);
	pxt_port_untold_end();
	return error;
}

void pxt_port_environment_close(int fd)
{
	pxt_port_untold_begin();
	(void)close(fd);
	pxt_port_untold_end();
}

static struct iovec piece(const char *text)
{
	union {
		const char *from;
		void *to;
	} text_of = { text };

	return (struct iovec){ text_of.to, strlen(text) };
}

void pxt_port_environment_complain(const char *name, const char *value, int error)
{
	/* Before main(), and the texts of known errors are constants: NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *text = strerror(error);
	struct iovec line[] = { piece("libptrace: "), piece(name), piece("="), piece(value),
		piece(": "), piece(text), piece("\n") };

	(void)!writev(STDERR_FILENO, line, sizeof(line) / sizeof(line[0]));
}
