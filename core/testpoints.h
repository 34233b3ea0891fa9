/* SPDX-License-Identifier: MIT */
/*
 * testpoints.h - the places after which another thread can see something new.  Off (the normal
 * build) they are nothing; on, a test's hook is called there (format/compiler.h).
 */
#ifndef PXT_TESTPOINTS_H
#define PXT_TESTPOINTS_H

enum pxt_testpoint {
	PXT_TP_ENTERED,       /* writer: marked inside */
	PXT_TP_GATE_SEEN,     /* writer: gate and filter read */
	PXT_TP_HEAD_SEEN,     /* writer: head read */
	PXT_TP_LIMIT_SEEN,    /* writer: limit read */
	PXT_TP_STAMPED,       /* writer: counter read */
	PXT_TP_RESERVED,      /* writer: head exchanged, slots reserved */
	PXT_TP_LOOKED,        /* writer: old slot looked at, not yet stored */
	PXT_TP_BEGIN_STORED,  /* writer: begin slot visible */
	PXT_TP_MIDDLE_STORED, /* writer: a continuation slot visible */
	PXT_TP_STORED,        /* writer: whole record visible */
	PXT_TP_FULL,          /* writer: decided that there is no room */
	PXT_TP_AUTO_STOPPED,  /* writer: gate flipped */
	PXT_TP_WAKES,         /* writer: a sleeper counts as woken, and is not yet */
	PXT_TP_LEFT,          /* writer: marked outside */
	PXT_TP_FRONT_SEEN,    /* consumer: begin slot accepted */
	PXT_TP_PIECE_READ,    /* consumer: a continuation slot read */
	PXT_TP_STRETCH_READ,  /* consumer: records copied, and not counted */
	PXT_TP_CONSUMED,      /* consumer: position moved, limit published */
	PXT_TP_LAPPED,        /* consumer: found itself lapped */
	PXT_TP_GIVES_UP,      /* consumer: waited long enough for an unfinished record */
	PXT_TP_PASSED,        /* consumer: passed over an unfinished record */
	PXT_TP_LANE_SEEN,     /* consumer: one lane's front looked at for the merge */
	PXT_TP_CLOSED_LANE,   /* control: one lane closed */
	PXT_TP_COUNTED,       /* control: what the writers count was read of all lanes, once */
	PXT_TP_SLEEPS,        /* reader: said that it sleeps */
	PXT_TP_COPIED_HEAD,   /* copy: one lane's head read */
	PXT_TP_COPIED_SLOT,   /* copy: one slot read */

	PXT_TP_GATE_TURNED,       /* control: gate says the new state */
	PXT_TP_LANE_CLEARED,      /* control: one lane cleared */
	PXT_TP_NAME_WRITTEN,      /* name in the map and wanted, not counted */
	PXT_TP_FILE_TAKEN,        /* create: room taken in the stream's file */
	PXT_TP_FILE_MAPPED,       /* create: that is memory now */
	PXT_TP_FILE_FILLED,       /* create: all is in the file but that it is a stream's */
	PXT_TP_VALID,             /* create: the header is valid */
	PXT_TP_FILE_ENDED,        /* shutdown: the file says that it came */
	PXT_TP_REPLICA_ENTERED,   /* new thread: says that it is among the replicas */
	PXT_TP_REPLICA_THREAD,    /* thread in a replica, not counted */
	PXT_TP_REPLICA_NAME,      /* name in a replica, not counted */
	PXT_TP_REPLICA_NAMED,     /* counted there, not in the map */
	PXT_TP_REPLICA_FORMAT,    /* description in a replica, its offset not */
	PXT_TP_REPLICA_FORMATTED, /* its offset there, not in the map */

	PXT_TP_PRODUCER_ASKED,  /* attach: the owner can hear the request */
	PXT_TP_PRODUCER_HELPED, /* attach: the helper thread may run, and waits */
	PXT_TP_PRODUCER_HEARD,  /* attach: the answer is known, the helper does not listen yet */
	PXT_TP_OWNER_MAPPED,    /* owner's helper: a producer's memory is mapped and checked */
	PXT_TP_OWNER_PRESENT,   /* owner's helper: a thread that pulls finds that memory */
	PXT_TP_OWNER_SAID,      /* owner's helper: a request is answered */
	PXT_TP_LOG_EMPTIED,     /* log: nothing is in its file, its head neither */
	PXT_TP_LOG_BEGUN,       /* create: the log has its head, the stream has no identifier yet */
	PXT_TP_FLUSH_BEGUN,     /* flush: under way, says the status */
	PXT_TP_FLUSH_ENDED,     /* flush: what belonged to it is in the log, or in vain */
	PXT_TP_LOG_TAKEN,       /* log: records are out of the stream, in a block that is not out */
	PXT_TP_LOG_FRAME,       /* log, LOOP: a frame's records are given up for new ones */
	PXT_TP_LOG_SENDING,     /* log: a piece of a block goes to the port */
	PXT_TP_LOG_SENT,        /* log: it is out, and not counted as sent */
	PXT_TP_LOG_ARRIVED,     /* log: a whole block, or the head, is out */
	PXT_TP_LOG_LAST,        /* end of a log: all is out but the trailer */
	PXT_TP_LOG_ENDED,       /* end of a log: the trailer is out, and nothing after it */
	PXT_TP_LOG_TURN_MADE, /* log, from file to file: the next file is there, with nothing in it */
	PXT_TP_LOG_TURN_REMOVED, /* the oldest one is gone */
	PXT_TP_LOG_TURN_ENDED,   /* the present one has its end, or none could be written */
	PXT_TP_LOG_TURNED,       /* the log goes on in the next one, or where it was */
	PXT_TP_LOG_TURN_LEFT,    /* the former file is closed */
	PXT_TP_COPY_MADE,        /* snapshot: the copy is made, the log not begun */
	PXT_TP_COUNT
};

#endif
