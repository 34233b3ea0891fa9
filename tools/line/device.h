/* SPDX-License-Identifier: MIT */
/*
 * device.h - where a receiver gets its bytes: a serial device, a network, a FIFO, a file.
 *
 * What is not there yet, or goes away (a cable, a target that is reset), is waited for; only
 * standard input and a file come to an end.
 */
#ifndef PXT_LINKDEVICE_H
#define PXT_LINKDEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pxt_linkdevice_kind {
	PXT_FROM_STDIN,
	PXT_FROM_PATH, /* FIFO, or a file of received bytes */
	PXT_FROM_SERIAL,
	PXT_FROM_UDP,
	PXT_FROM_TCP,
	PXT_FROM_TCP_LISTEN
};

struct pxt_linkdevice {
	enum pxt_linkdevice_kind kind;
	const char *command; /* in whose name the user is told */
	bool writes;         /* set before the first read: bytes go there, too */
	const char *text;    /* as the user gave it */
	char where[256];     /* path, or host */
	char port[32];
	unsigned baud;
	unsigned char sender[24]; /* of the last packet: family, port and address, then zeros */
	int fd;
	int listener;
	bool fresh;   /* bytes came since it was opened */
	bool waiting; /* it was told that it is waited for */
};

/* "-", "serial:DEV,BAUD", "udp:[HOST:]PORT", ...; false, with a word to the user: it is none. */
bool pxt_linkdevice_parse(struct pxt_linkdevice *from, const char *command, const char *text);

enum pxt_linkdevice_news {
	PXT_FROM_BYTES,
	PXT_FROM_QUIET,   /* nothing came in time, or a signal did */
	PXT_FROM_WAITING, /* the same; and it is not there (told once) */
	PXT_FROM_BROKEN,  /* it went away, and is waited for */
	PXT_FROM_END,
	PXT_FROM_ERROR /* the user was told */
};

/* One read, or one packet, after waiting @ms milliseconds at most. */
enum pxt_linkdevice_news pxt_linkdevice_read(
    struct pxt_linkdevice *from, unsigned char *bytes, size_t room, size_t *count, int ms);
/* To a serial device or a connection that is open.  False: it is not, or took not all within @ms at a time. */
bool pxt_linkdevice_write(
    struct pxt_linkdevice *to, const unsigned char *bytes, size_t count, int ms);
bool pxt_linkdevice_has_packets(const struct pxt_linkdevice *from);
void pxt_linkdevice_close(struct pxt_linkdevice *from);

#endif
