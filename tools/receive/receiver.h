/* SPDX-License-Identifier: MIT */
/*
 * receiver.h - everything that one receiver gets: frames of one or several streams, or plain logs,
 * with noise between them, into one log for each run of a target.
 *
 * A stream is known by its UUID.  Several may share a line or a port, and a target that was reset
 * begins a new one; each has a log of its own, the second under the name run-2.ptl and so on.
 * Frames that came before the head of their stream wait for it.
 *
 * Anybody who reaches the port may send packets.  So a run takes those of its own sender alone; a head by
 * itself begins no log, only with another frame of its stream; and where there is no room for a stream more, it
 * is refused, unless a run of the same sender, or one that was silent for a minute, can be ended for it.
 *
 * Memory, whatever arrives: PXT_RECEIVER_RUNS open logs (receive/run.h), 1 MiB of frames that wait, as many
 * heads, one block of a plain log (1 MiB).
 */
#ifndef PXT_RECEIVER_H
#define PXT_RECEIVER_H

#include "tools/line/frame.h"
#include "tools/receive/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_RECEIVER_RUNS      16u
/* No more are made by one receiver, and as many again for those whose run is being received. */
#define PXT_RECEIVER_LOGS      1000u
/* A run of another sender is ended for a new one after so long. */
#define PXT_RECEIVER_SILENT_MS 60000u
#define PXT_RECEIVER_WAIT      1048576u

enum pxt_receiver_event {
	PXT_RECEIVER_BEGUN,   /* a log was begun; @text: its path */
	PXT_RECEIVER_ENDED,   /* a log was ended */
	PXT_RECEIVER_REFUSED, /* a head was refused; @text: why; the first one alone is told */
};

/* Sums over all runs. */
struct pxt_receive_sums {
	uint64_t events;         /* records that are in the logs */
	uint64_t bad;            /* pieces that are no frame, or have a wrong checksum */
	uint64_t frames_missing; /* on the line, by their numbers */
	uint64_t frames_again;
	uint64_t events_missing; /* records that were in those, or were cut by one */
	uint64_t target_lost;    /* records that the targets themselves lost */
	uint64_t early;          /* records before we listened */
	uint64_t odd;            /* entries and slots that make no sense */
	uint64_t strange;        /* frames of a run that another sender sent */
	uint64_t refused;        /* heads */
	unsigned ends_unknown;   /* logs whose target did not end them */
	unsigned logs;
	unsigned open;
};

/* A head whose stream is not known to be there yet: the first and the latest of its sender. */
struct pxt_receiver_head {
	unsigned char sender[PXT_RECEIVE_SENDER_BYTES];
	unsigned char first[PXT_FRAME_HEAD_BYTES];
	unsigned char latest[PXT_FRAME_HEAD_BYTES];
	bool used;
};

struct pxt_receiver {
	const char *path;
	uint64_t now_ms;             /* of any clock; the caller sets it before each packet */
	const unsigned char *sender; /* of the packet that is looked at; NULL: there is but one */
	struct pxt_receiver_head heads[PXT_RECEIVER_RUNS];
	unsigned heads_next;
	unsigned logs_most; /* no more are made; PXT_RECEIVER_LOGS unless somebody says less */
	void (*tell)(void *context, enum pxt_receiver_event event,
	    const struct pxt_receive_run *run, const char *text);
	void *context;
	struct pxt_receive_run *runs[PXT_RECEIVER_RUNS]; /* the one heard last first */
	unsigned open;
	/* Streams whose trailer came last: a packet of theirs that comes again begins no log. */
	unsigned char gone[PXT_RECEIVER_RUNS][PXT_LOG_UUID_BYTES];
	unsigned gone_next;
	struct pxt_receive_sums done; /* of runs that have ended, and what belongs to none */
	int error;                    /* of a file, an errno */

	enum {
		PXT_RECEIVER_UNDECIDED,
		PXT_RECEIVER_FRAMES,
		PXT_RECEIVER_PLAIN
	} form;
	unsigned peeked;
	unsigned char peek[8];
	struct pxt_linkcut cut;
	struct pxt_receive_plain plain;
	struct pxt_receive_run *plain_run;
	unsigned char *waiting; /* length (2 bytes) and bytes of each frame */
	size_t waiting_bytes;
};

/* @tell may be NULL.  False: no memory. */
bool pxt_receiver_init(struct pxt_receiver *in, const char *path);
/* Bytes of a line, or of a plain log, in their order. */
void pxt_receiver_bytes(struct pxt_receiver *in, const unsigned char *bytes, size_t count);
/* A packet: one frame as it is.  @sender: PXT_RECEIVE_SENDER_BYTES; NULL: nobody else can send. */
void pxt_receiver_packet(
    struct pxt_receiver *in, const unsigned char *sender, const unsigned char *bytes, size_t count);
/* The device was lost and is there again: what was begun is not continued. */
void pxt_receiver_break(struct pxt_receiver *in);
/* Receiving ends: open logs end here, and nothing after that counts as missing. */
void pxt_receiver_cut(struct pxt_receiver *in);
void pxt_receiver_flush(struct pxt_receiver *in);
void pxt_receiver_sums(const struct pxt_receiver *in, struct pxt_receive_sums *sums);
/* Ends all logs and frees what is held.  Returns the first error of a file. */
int pxt_receiver_end(struct pxt_receiver *in);

#endif
