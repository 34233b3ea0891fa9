/* SPDX-License-Identifier: MIT */
/*
 * shark.h - what S.Ha.R.K.'s tracer left, files of 16 bytes an event or datagrams of them, as a log.
 *
 *	struct pxt_shark shark = { .hz = 0 };
 *	if (pxt_shark_file(&shark, "0trace.dat")) ...
 *	status = pxt_shark_write(&shark, "run.ptl");
 *	pxt_shark_free(&shark);
 */
#ifndef PXT_SHARK_H
#define PXT_SHARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pxt_shark_record {
	uint64_t ticks;
	uint64_t place; /* in which it came: equal stamps stay in this order */
	uint32_t par2;
	uint16_t par1;
	uint16_t code;
};

struct pxt_shark {
	uint64_t hz; /* of the stamps; 0: what the trace says */
	struct pxt_shark_record *records;
	size_t count;
	size_t room;
	uint64_t empty;      /* places without an event */
	uint64_t packets;    /* datagrams taken */
	uint64_t spoilt;     /* datagrams that are none of these, short or too long */
	uint64_t twice;      /* datagrams whose number came before */
	uint32_t first;      /* lowest and ... */
	uint32_t last;       /* ... highest number of one */
	unsigned char *seen; /* a bit for each number */
	size_t seen_bytes;
	bool failed; /* there was no memory */
};

/* Datagrams are numbered from 0; one numbered higher is no part of a trace that anybody could have sent. */
#define PXT_SHARK_PACKETS_MAX 16777216u
/* No more are taken: what never ends would fill the memory. */
#define PXT_SHARK_EVENTS_MAX  16777216u

/* All events of a file.  An exit status; the user was told. */
int pxt_shark_file(struct pxt_shark *shark, const char *path);
/* Whether a datagram is one of these, whole or not. */
bool pxt_shark_is_packet(const unsigned char *bytes, size_t count);
void pxt_shark_packet(struct pxt_shark *shark, const unsigned char *bytes, size_t count);
/* Datagrams that did not come between those that did. */
uint64_t pxt_shark_missing(const struct pxt_shark *shark);
/* Sorts, and writes a log.  An exit status; the user was told. */
int pxt_shark_write(struct pxt_shark *shark, const char *command, const char *output);
void pxt_shark_free(struct pxt_shark *shark);

#endif
