/* SPDX-License-Identifier: MIT */
/*
 * ctlsock.h - streams of other processes, by their names: format/ctlsock.h from the client's side;
 * a stream of another process as it goes on, into a log.
 *
 * A process that answers may be anybody: a reply counts when it has the size, the numbers and the text that
 * the protocol says; texts are cut at their ends, numbers beyond their ranges are shown as what they
 * are, and nothing is waited for without an end that the user can make.
 */
#ifndef PXT_REMOTE_CTLSOCK_H
#define PXT_REMOTE_CTLSOCK_H

#include "format/ctlsock.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>

/* So long a process may take to be reached, and to answer what it can answer at once. */
#define PXT_REMOTE_WAIT_MS 2000

enum pxt_reach {
	PXT_REACH_OK,
	PXT_REACH_REFUSED,   /* it answered: remote->error, and remote->text says why */
	PXT_REACH_NAME,      /* no stream can have such a name; remote->text */
	PXT_REACH_NONE,      /* there is no such name */
	PXT_REACH_DEAD,      /* the socket is there, its process is not */
	PXT_REACH_DENIED,    /* this user may not */
	PXT_REACH_NO_SOCKET, /* something else has that name */
	PXT_REACH_MUTE,      /* no answer in time */
	PXT_REACH_GONE,      /* the connection ended before the answer */
	PXT_REACH_STRANGE,   /* what came is no answer */
	PXT_REACH_VERSION,   /* another version of the protocol: remote->error is its number */
	PXT_REACH_SYSTEM,    /* remote->error */
};

struct pxt_remote {
	const char *name; /* as the user gave it */
	char path[PXT_CTLSOCK_PATH];
	int fd;                           /* of the connection; -1: none */
	int error;                        /* see enum pxt_reach */
	struct pxt_ctlsock_status status; /* of the last answer */
	char text[PXT_CTLSOCK_TEXT];      /* what was wrong, in the owner's words or ours; "" */
};

/* What is asked. */
struct pxt_ask {
	uint32_t what; /* enum pxt_ctlsock_what */
	int32_t how;
	const char *text;
	size_t text_bytes;
	int fd; /* to be sent along; -1: none */
	/* It may take long, when it was reached once: as long as the process is there. */
	bool patient;
};

/* Connects; @remote is filled in any case. */
enum pxt_reach pxt_remote_open(struct pxt_remote *remote, const char *name);
/* One request, and its reply. */
enum pxt_reach pxt_remote_ask(struct pxt_remote *remote, const struct pxt_ask *ask);
/* The same without text and descriptor. */
enum pxt_reach pxt_remote_tell(struct pxt_remote *remote, uint32_t what);
/*
 * The same in two parts, for who has something else to do meanwhile: false while there is no answer
 * to the request of that kind, which was sent before.
 */
enum pxt_reach pxt_remote_send(struct pxt_remote *remote, const struct pxt_ask *ask);
bool pxt_remote_answered(struct pxt_remote *remote, uint32_t what, enum pxt_reach *reach);
void pxt_remote_close(struct pxt_remote *remote);

/* Says what was wrong; @reach is not OK.  Returns the exit status that it is worth. */
int pxt_remote_complain(const char *command, const struct pxt_remote *remote, enum pxt_reach reach);
/* The texts of a status may lack their ends. */
size_t pxt_remote_bytes(const char *text, size_t room);

/* ---- Names (names.c) ---- */

struct pxt_remote_names {
	char **names; /* sorted; NULL after the last */
	size_t count;
};

/*
 * The socket's path for @name.  NULL, or what is wrong with the name or with the user's folder.
 */
const char *pxt_remote_path(const char *name, char path[PXT_CTLSOCK_PATH]);
/* Whether @name is a path. */
bool pxt_remote_is_path(const char *name);
/* The sockets in the user's folders; none where there is no folder. */
void pxt_remote_list(struct pxt_remote_names *names);
void pxt_remote_list_free(struct pxt_remote_names *names);
/*
 * Says of the folders of names which is none of this user's alone.  False: they have no other one, so
 * that @command cannot tell what runs.
 */
bool pxt_remote_look(const char *command);
/* Removes the socket of a dead process.  0, EBUSY: there is life in it again, or another error. */
int pxt_remote_remove(const char *name);

/* ---- What a stream's owner says of it, in words and in per cent ---- */

/* Running, stopped, full; unknown where it is no number of enum pxt_ctlsock_state. */
const char *pxt_status_state(const struct pxt_ctlsock_status *status);
/* What it does when it is full. */
const char *pxt_status_policy(const struct pxt_ctlsock_status *status);
/* How much of its memory is in use, in per cent. */
unsigned pxt_status_fill(const struct pxt_ctlsock_status *status);

/*
 * ---- Which event types a stream knows ----
 *
 * A snapshot is a log, and says it without a request of its own.  The process writes it into memory,
 * which nobody can change once it has answered.
 */

struct pxt_remote_types {
	int memory; /* of the snapshot */
	trace_id_t trid;
	bool is_open;
};

/* Connected before.  PXT_REACH_STRANGE, with remote->text: what came is no log. */
enum pxt_reach pxt_remote_types_open(struct pxt_remote *remote, struct pxt_remote_types *types);
/* The next name, those of the program and then the standard's; false: there are no more. */
bool pxt_remote_types_next(
    struct pxt_remote_types *types, bool of_program, char name[TRACE_EVENT_NAME_MAX + 1]);
/* From the first one again. */
void pxt_remote_types_rewind(struct pxt_remote_types *types);
void pxt_remote_types_close(struct pxt_remote_types *types);

/*
 * Asks for a snapshot into memory: *@memory, -1 where there is none, is the caller's to close.  Once it is
 * settled nobody changes it.
 */
enum pxt_reach pxt_remote_types_snapshot(struct pxt_remote *remote, int *memory);
bool pxt_remote_types_settle(int memory);

/*
 * A stream of another process, as it goes on, into a log of its own.
 *
 * The process writes into memory that it was handed. From there the receiver (receive/receiver.h)
 * takes it block by block, since the process may be anybody. The log can be read at each instant, and
 * it gets an end whichever side ends it. Memory that was read is given back.
 */

struct pxt_record {
	const char *output;
	int64_t for_ns; /* so long at most; 0: no limit */
	uint64_t size;  /* no more bytes than this; 0: no limit */
	bool strict;
	bool quiet;
};

/*
 * Records until the stream is shut down, a limit is reached, or *@stop; @memory is what the owner of
 * @remote writes into, and is closed.  Returns the exit status, after a word to the user.
 */
int pxt_record_run(const struct pxt_record *record, const struct pxt_remote *remote, int memory,
    const volatile sig_atomic_t *stop);

/* ---- What a stream of another process holds, as a complete log in a file ---- */

struct pxt_snapshot {
	const char *name;   /* of the stream */
	const char *output; /* the file; "-": standard output */
	bool quiet;         /* says nothing where all went well */
};

/* Returns the exit status, after a word to the user. */
int pxt_snapshot_save(const struct pxt_snapshot *snapshot);

#endif
