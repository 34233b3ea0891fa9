/* SPDX-License-Identifier: MIT */
/*
 * port_log.h - what Trace-To-Log asks of the system: a place for a log's bytes; word of the signals that
 * end a process.
 *
 * concurrency: one caller at a time for one struct pxt_port_log.  No function is a
 * cancellation point, none touches errno, none raises a signal in the program (DEC-40).
 */
#ifndef PXT_PORT_LOG_H
#define PXT_PORT_LOG_H

#include "port/port.h"

#include <trace_np.h>

enum pxt_log_kind {
	PXT_LOG_FILE = 1,   /* regular file: write_at and truncate as one likes */
	PXT_LOG_APPEND,     /* regular file opened with O_APPEND: sequential, size says if empty */
	PXT_LOG_SEQUENTIAL, /* pipe, socket, terminal, character device */
};

#define PXT_LOG_PATIENCE_MS 1000

/*
 * The folder of a log that goes from file to file: NAME.0001, NAME.0002 and so on.  Its texts are the
 * caller's, and stay.
 */
struct pxt_port_logfolder {
	int fd;          /* the port's own duplicate; -1: none */
	uint32_t number; /* of the file's name */
	uint32_t mode;
	int mark; /* of @fd: the port's own */
	struct pxt_port_place place;
	const char *name;
	/* Where both are opened again if the program has closed the descriptors; NULL: they are not. */
	const char *path;
};

struct pxt_port_log {
	int fd; /* the port's own duplicate, closed by exec; -1: it is not, or no longer */
	enum pxt_log_kind kind;
	/*
	 * Set by Trace-To-Log when the process ends: a write to anything but a file is given up with
	 * ETIMEDOUT when nothing of it is taken for PXT_LOG_PATIENCE_MS.
	 */
	bool hurried;
	uint32_t piece; /* bytes that such a device takes without waiting if it takes any */
	uint64_t size;  /* bytes in a regular file when it was opened, else 0 */

	/* What the descriptor is known by (DEC-22): before each use it is compared. */
	struct pxt_port_place place;
	int mark;         /* of @fd: the port's own */
	uint64_t reached; /* a regular file has at least so many bytes */
	/* Where a PXT_LOG_FILE is opened again if the program has closed the descriptor; NULL: it is not. */
	const char *path;
#if CONFIG_PTRACE_LOG_ROTATE
	struct pxt_port_logfolder folder;
#endif
};

/*
 * Duplicates @fd (DEC-22) and says what it is.  Returns EBADF when it is not open for writing,
 * EINVAL for a directory, a block device and the like (DEC-21), EMFILE.
 */
int pxt_port_log_open(struct pxt_port_log *log, int fd);
/* Whether the number is the port's own duplicate still.  Async-signal-safe. */
bool pxt_port_log_kept(const struct pxt_port_log *log);
void pxt_port_log_close(struct pxt_port_log *log);

/*
 * What a PXT_LOG_SEQUENTIAL is to a line: bytes arrive as they are and in order (pipe, stream
 * socket); some may be lost or damaged (terminal, a board's device); or so may packets.
 * (CONFIG_PTRACE_LOG_LINE)
 */
enum pxt_log_line {
	PXT_LINE_NONE = 0,
	PXT_LINE_BYTES,
	PXT_LINE_PACKETS,
};
enum pxt_log_line pxt_port_log_line(const struct pxt_port_log *log);

/*
 * Write all @bytes, at the descriptor's own position or at @offset (PXT_LOG_FILE only).  Interrupted and
 * short writes are continued.  On an error *done says how much went out before it: ENOSPC, EFBIG, EAGAIN (a
 * device that does not wait) and so on; the caller goes on from there later.  EBADF: the program has closed
 * the descriptor, or made something else of its number, which was left alone; it stays so, but where the
 * file is still found at the path.
 */
int pxt_port_log_write(struct pxt_port_log *log, const void *data, size_t bytes, size_t *done);
int pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);

/*
 * What is written from now on does not arrive, also by a write that was interrupted before it began
 * and goes on after the handler that calls this.  (CONFIG_PTRACE_LOG_SEAL)
 */
void pxt_port_log_cut_off(struct pxt_port_log *log);

/* Cuts or extends a PXT_LOG_FILE. */
/* Whether that can be done at all: 0, or what it would fail with for good.  No one may write meanwhile. */
int pxt_port_log_may_truncate(const struct pxt_port_log *log);
int pxt_port_log_truncate(struct pxt_port_log *log, uint64_t size);

/*
 * ---- Logs that go from file to file (CONFIG_PTRACE_LOG_ROTATE) ----
 *
 * A file is always made anew: a name that is taken, also by a link, is passed over.
 */

/* The first file in the folder at @fd, which is duplicated.  EBADF, ENOTDIR; else what the system says. */
int pxt_port_log_first(struct pxt_port_log *log, int fd, const char *name, uint32_t mode);
/* One more file in @log's folder, which both have then. */
int pxt_port_log_next(struct pxt_port_log *next, struct pxt_port_log *log);
/* Removes the file of that number if it is the one at @place still.  ENOENT: it is not. */
int pxt_port_log_remove(
    struct pxt_port_log *log, uint32_t number, const struct pxt_port_place *place);

/* "NAME.0001" */
#define PXT_LOG_FILE_NAME 256u
void pxt_port_log_file_name(
    const struct pxt_port_logfolder *folder, uint32_t number, char name[PXT_LOG_FILE_NAME]);

#if CONFIG_PTRACE_LOG_ROTATE
/* For the port itself: closes the folder; the present file once more, or -1. */
void pxt_port_log_leave_folder(struct pxt_port_log *log);
int pxt_port_log_reopen(struct pxt_port_log *log);

/* Where the folder, and the present file in it, are opened again if the program has closed them. */
PXT_INLINE void pxt_port_log_folder_path(struct pxt_port_log *log, const char *path)
{
	log->folder.path = path;
}

/* A log that has no folder, or no longer. */
PXT_INLINE void pxt_port_log_no_folder(struct pxt_port_log *log)
{
	log->folder = (struct pxt_port_logfolder){ .fd = -1 };
}
#else
PXT_OFF(pxt_port_log_leave_folder, struct pxt_port_log *log);
PXT_OFF_RETURNS(-1, int, pxt_port_log_reopen, struct pxt_port_log *log);
PXT_OFF(pxt_port_log_folder_path, struct pxt_port_log *log, const char *path);
PXT_OFF(pxt_port_log_no_folder, struct pxt_port_log *log);
#endif

/*
 * Being told of the signals that end a process, before they do.
 *
 *   concurrency: watch() under a lock of the caller's; the handler at any time, in any thread.
 */

/* So many different ones can be watched in the life of a process. */
#define PXT_CRASH_SIGNALS 16

/*
 * From now on @tell is called, in a signal handler with all signals blocked, when one of @signals
 * comes to a thread; in one thread at a time.  Then the signal does what it would have done: the
 * action that was in force before comes back, and the signal is sent again, with all that the
 * system said of it, to be delivered where it interrupted the thread.
 *
 * @which:   POSIX_TRACE_SEAL_..._NP: none, those that tell of a fault, or also those by which people end programs.
 * @signals: @count more of them.
 *
 * They replace those of the last call, whose former actions come back.  What the process ignores stays ignored,
 * unless it is a fault.
 *
 * EINVAL: a signal that cannot be caught, or that ends no process.  ENOMEM: too many different
 * ones.  Nothing was changed.
 */
int pxt_port_crash_watch(
    int which, const int *signals, size_t count, void (*tell)(const struct pxt_crash *crash));
/* A forked child goes on as its parent, with those of the signals that nobody has set an action for since. */
void pxt_port_crash_inherit(void);

#endif
