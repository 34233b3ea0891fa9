/* SPDX-License-Identifier: MIT */
/*
 * port_local.h - what the unit Attached Processes asks of the system: processes of one machine that
 * find each other by a path, exchange messages and descriptors, and notice each other's end.
 *
 * No function is a cancellation point, none touches errno, none raises a signal, none is ended by a
 * handler that runs in between.  All descriptors are closed by exec, and none is 0, 1 or 2.  None of
 * the functions waits, but for those that have a time limit.
 *
 * The program may close a descriptor that these functions gave out, and open its own at that number.  Each
 * use looks first at what the number is open on, by device and inode.  What is another's is neither read,
 * written nor closed: to these functions its other side is gone.
 *
 * concurrency: one caller at a time for one descriptor; ring() and kept() also beside all others.
 */
#ifndef PXT_PORT_LOCAL_H
#define PXT_PORT_LOCAL_H

#include "port/port.h"

/* Who opens several: from begin() to end() the calling thread asks once which of the numbers 0 to 2 are free. */
void pxt_port_local_begin(void);
void pxt_port_local_end(void);

/* ---- Places: sockets in the file system (the owner's side) ---- */

/* The two folders in which the calling user's names may be (format/ctlsock.h). */
enum pxt_port_folder {
	PXT_PORT_FOLDER_OWN,
	PXT_PORT_FOLDER_SHARED
};

/*
 * Such a folder, without a slash after it.  @make: it is made where it is missing.  EACCES: it
 * cannot be made, or is another user's, or others may enter it; ENOENT: there is none, or no place
 * for it; EINVAL: @room is too small; or 0.
 */
int pxt_port_local_folder(enum pxt_port_folder which, bool make, char *path, size_t room);
/* @path made independent of the working folder, where that fits into @room bytes; else as it is. */
void pxt_port_local_absolute(const char *name, char *path, size_t room);
/*
 * Keeps other calls of this kind away from the folder of @path until the descriptor is released.  Gives up
 * after @patience_ms: then, and where the folder cannot be opened, -1.
 */
int pxt_port_local_reserve(const char *path, unsigned patience_ms);
void pxt_port_local_release(int fd);
/* What is there: 0, a socket; ENOENT; EACCES; EINVAL, something else, or a path that leads nowhere. */
int pxt_port_local_look(const char *path, struct pxt_port_place *place);
/*
 * A socket that clients can connect to.  EEXIST: something is there; EACCES; EINVAL: the path leads nowhere or
 * is too long; EAGAIN: no descriptor; ENOMEM.
 */
int pxt_port_local_listen(const char *path, int *fd, struct pxt_port_place *place);
/* Removes the socket at @path if it still is that one. */
int pxt_port_local_remove(const char *path, const struct pxt_port_place *place);
/*
 * EAGAIN: no process is there any more; EMFILE: no descriptor for it; EBADF: the program has closed the
 * listener; or 0.  @pid: whose it is.
 */
int pxt_port_local_accept(int listener, int *fd, int32_t *pid);

/*
 * *fd becomes ready when the process at the other side of @connection, @pid, has ended, whatever became of
 * the connection.  *number is of this process alone, however often the system uses its pid again; 0: there is none
 * (before Linux 6.9).  ESRCH: it has ended; EAGAIN: no descriptor; ENOTSUP.
 */
int pxt_port_local_life(int connection, int32_t pid, int *fd, uint64_t *number);

/*
 * One descriptor, *door, for @listener and all that enter it: whether somebody waits there, in front of it or with a
 * message.  EAGAIN: no descriptor; ENOMEM.
 */
int pxt_port_local_door(int listener, int *door);
/* Until @fd is closed. */
void pxt_port_local_door_enter(int door, int fd);
/* Does not wait.  Also beside all others. */
bool pxt_port_local_door_awaits(int door);

/* ---- Messages ---- */

/* Descriptors that come or go with one message. */
#define PXT_PORT_PASSED 3u

struct pxt_port_passed {
	unsigned count;
	int fd[PXT_PORT_PASSED];
};

/*
 * The client's way in; waits at most @timeout_ms.  ENOENT: nothing is there; ECONNREFUSED: no process listens
 * any more; EACCES; EINVAL: something else than such a socket; ETIMEDOUT; EAGAIN: no descriptor; ENOMEM.
 */
int pxt_port_local_connect(const char *path, unsigned timeout_ms, int *fd);
/*
 * One whole message with the descriptors @passed (NULL: none), which stay the caller's.  Does not
 * wait.  EAGAIN: the other side has not taken what it was sent before; EPIPE: it is gone; EMSGSIZE.
 */
int pxt_port_local_send(
    int fd, const void *message, size_t bytes, const struct pxt_port_passed *passed);
/*
 * One whole message.  Does not wait: EAGAIN, there is none.  EPIPE: the other side is gone (an empty message
 * says the same).  EMSGSIZE: it is longer than @room.  EPROTO: it came with more than PXT_PORT_PASSED
 * descriptors, or there was no room for one.  @passed: descriptors, from now on the caller's; there is
 * none after an error.
 */
int pxt_port_local_receive(
    int fd, void *buffer, size_t room, size_t *bytes, struct pxt_port_passed *passed);
/* Waits for the next message; ETIMEDOUT. */
int pxt_port_local_await(int fd, void *buffer, size_t room, unsigned timeout_ms, size_t *bytes,
    struct pxt_port_passed *passed);
/* Those that came; then there is none. */
void pxt_port_local_drop(struct pxt_port_passed *passed);
/* Whether @fd still is what it was opened as.  Async-signal-safe. */
bool pxt_port_local_kept(int fd);
/* Does nothing with a negative one.  Async-signal-safe. */
void pxt_port_local_close(int fd);
/* The same, and no other process that has the socket, a forked child, keeps the connection or the place alive. */
void pxt_port_local_hang_up(int fd);
/*
 * Whether @fd is a regular file open for writing, in memory or on a file system that is known not to
 * wait for other machines or processes.  Unknown ones are refused.
 */
bool pxt_port_local_takes_log(int fd);
/* Bytes in use of a file that has no name, so that no process keeps it: what none has given back yet; else 0. */
uint64_t pxt_port_local_unread(int fd);
/* An empty file in memory that can be sealed (memfd).  EAGAIN: no descriptor; ENOMEM. */
int pxt_port_local_memory(int *fd);

/* ---- Waiting for several at once ---- */

#define PXT_PORT_WATCH_MAX 320u

struct pxt_port_watch {
	int fd; /* negative: nothing */
	/* A message is there, or a connection, or the other side is gone, or the program has closed it. */
	bool ready;
};

/* Returns when something is ready, or after @timeout_ms (negative: no limit). */
void pxt_port_local_watch(struct pxt_port_watch *watch, unsigned count, int timeout_ms);

/* @bell becomes ready when @ringer is rung, until it is hushed.  EAGAIN: no descriptor; ENOMEM. */
int pxt_port_bell_open(int *bell, int *ringer);
/* Async-signal-safe; never waits. */
void pxt_port_bell_ring(int ringer);
/* False: the program has closed one of the two, and nobody rings any more. */
bool pxt_port_bell_hush(int bell);

#endif
