/* SPDX-License-Identifier: MIT */
/*
 * ctlsock.h - what processes say to each other at the control socket of a stream: a Unix socket of type
 * SOCK_SEQPACKET whose path is the stream's name (posix_trace_attr_setsharename_np()).
 *
 *   concurrency: any number of clients; each message is taken and answered whole.
 *
 * The owner believes nothing: a message that is too short, too long, of another version, or with
 * text that is not terminated is answered by an error, and its connection ends.  Both ends run on
 * one machine, so numbers have its byte order; sizes do not depend on the word's width, so that
 * a 32-bit program and a 64-bit one understand each other.  An ATTACH between them is ENOTSUP all
 * the same: what they hand over is memory, and its header tells the word's width.
 *
 *   client                                          owner
 *   one request, `text_bytes` of text after it
 *   (SNAPSHOT, FOLLOW: with one descriptor; ATTACH: two)
 *                                                   one reply, `text_bytes` of text after it
 *
 * STATUS to SNAPSHOT may be asked again and again on one connection.  After an ATTACH that
 * succeeded the connection lasts as long as the attachment: the owner sends a reply with `what`
 * START or STOP whenever tracing begins or ends (the reply to ATTACH itself says in its status
 * which of them it is), the client sends nothing more; whichever of both goes away is missed at
 * once.  After a FOLLOW that succeeded the owner writes to the descriptor until either side
 * closes the connection.  A client that reads slowly gives memory back (FALLOC_FL_PUNCH_HOLE): while
 * a file without a name holds more than 16 MiB, nothing is written to it, and the log tells later
 * what was lost.
 */
#ifndef PXT_CTLSOCK_H
#define PXT_CTLSOCK_H

#include <stdint.h>

#define PXT_CTLSOCK_MAGIC       0x44545850u /* "PXTD" */
#define PXT_CTLSOCK_VERSION     6u
#define PXT_CTLSOCK_TEXT        8192u /* bytes of text at most */
#define PXT_CTLSOCK_NAME        64u   /* bytes of a name without a slash, with its NUL */
#define PXT_CTLSOCK_PATH        108u /* bytes of a path, with its NUL: what a socket's address holds */
/*
 * Where sockets of names without a slash are: a folder of the user alone, mode 0700.  The first is
 * below XDG_RUNTIME_DIR, which nobody else can write to, where the environment names one that the
 * effective user owns, and the process has no more rights than who started it.  The second is found
 * by the user's number; but a process that is there first can make it, and lock them out.  New names go
 * into the first where it can be had; names are looked for in both, in this order.
 */
#define PXT_CTLSOCK_RUNTIME     "XDG_RUNTIME_DIR"
#define PXT_CTLSOCK_OWN         "/pxtrace"
#define PXT_CTLSOCK_SHARED      "/dev/shm/pxtrace-" /* and the user's number */
#define PXT_CTLSOCK_FOLDER      PXT_CTLSOCK_SHARED "%u"
/* A longer XDG_RUNTIME_DIR has no room for a name after it, and is left alone. */
#define PXT_CTLSOCK_RUNTIME_MAX (PXT_CTLSOCK_PATH - PXT_CTLSOCK_NAME - sizeof(PXT_CTLSOCK_OWN))
/* Bytes of a client's memory for events, all lanes together: what an owner maps at most. */
#define PXT_CTLSOCK_MEMORY      (UINT64_C(1) << (SIZE_MAX > UINT32_MAX ? 30 : 26))

enum pxt_ctlsock_what {
	/*
	 * Descriptors: a memfd that holds a stream of the client's (core/control/filestream.h), and one with
	 * its directory (core/process/directory.h).
	 */
	PXT_CTLSOCK_ATTACH = 1,
	PXT_CTLSOCK_STATUS,
	PXT_CTLSOCK_START,
	PXT_CTLSOCK_STOP,
	PXT_CTLSOCK_CLEAR,
	PXT_CTLSOCK_FLUSH,
	/* `how`: POSIX_TRACE_SET_EVENTSET, ...; text: names of event types, each with its NUL. */
	PXT_CTLSOCK_FILTER,
	/* Descriptor: gets what the stream holds as a complete log. */
	PXT_CTLSOCK_SNAPSHOT,
	/* Descriptor: gets what the stream holds and what comes as a log that grows. */
	PXT_CTLSOCK_FOLLOW,
	/*
	 * Descriptor: a memfd that holds a stream of the client's with its directory behind it, a page in which the
	 * owner writes what it wants (core/stream/share.h), and perhaps its counts of locks
	 * (format/locktally.h); some of its pages may not be there yet.  Attaches a program that
	 * did not ask for it (pxtrace run): no reply comes, and the connection ends at once.  The attachment lasts as long as the process, or until
	 * it attaches so again, after an exec.  `how` not 0, without descriptors: why there are none (an errno
	 * value).
	 */
	PXT_CTLSOCK_GUEST,
};

struct pxt_ctlsock_request {
	uint32_t magic;
	uint32_t version;
	uint32_t what;
	int32_t how;
	uint64_t hz; /* ATTACH: stamps of both have one clock, or they cannot share a stream */
	uint32_t clock_source;
	uint32_t text_bytes;
};

enum pxt_ctlsock_state {
	PXT_CTLSOCK_STOPPED = 0,
	PXT_CTLSOCK_RUNNING,
	PXT_CTLSOCK_FULL, /* stopped automatically */
};

struct pxt_ctlsock_status {
	int32_t pid;
	uint32_t state;      /* enum pxt_ctlsock_state */
	int32_t full_policy; /* POSIX_TRACE_LOOP, ... */
	uint32_t with_log;   /* not 0: has a log */
	uint32_t producers;  /* attached processes */
	uint32_t filtered;   /* event types that the filter keeps out */
	uint64_t slot_count; /* 16-byte slots of the stream, all lanes */
	uint64_t slots_used;
	uint64_t written, retrieved, lost, cleared, held; /* struct posix_trace_counts_np */
	int64_t created_sec;                              /* CLOCK_REALTIME */
	uint32_t created_nsec;
	uint32_t reserved;
	char name[64];        /* the trace-name; "": none */
	char executable[128]; /* path; its end behind a + where it is longer; "": not known */
};

struct pxt_ctlsock_reply {
	uint32_t magic;
	uint32_t version;
	uint32_t what;
	int32_t error; /* 0, or one that the function of that name returns, or EPROTO, ENOTSUP */
	struct pxt_ctlsock_status status; /* zero where there was an error */
	uint32_t text_bytes;              /* after an error: what was wrong, with its NUL */
	uint32_t reserved;
};

_Static_assert(sizeof(struct pxt_ctlsock_request) == 32, "a request has 32 bytes everywhere");
_Static_assert(sizeof(struct pxt_ctlsock_status) == 288, "a status has 288 bytes everywhere");
_Static_assert(sizeof(struct pxt_ctlsock_reply) == 312, "a reply has 312 bytes everywhere");

#endif
