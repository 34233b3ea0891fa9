/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - program addresses of a log as "function (file:line)", or "module+0x1234" where the binary
 * is not at hand, is another build, or no addr2line is installed; and the variables at addresses of data.
 *
 * Addresses belong to a process.  What events told of its images says where they lie
 * (pxt_symbols_take(), images.h); of the log's writer, if none told, the log's own table of modules does.
 *
 * Use: pxt_symbols_take() for each event, pxt_symbols_want() for each address, once
 * pxt_symbols_resolve(), then pxt_symbols_text().  addr2line runs once per module and resolve.
 */
#ifndef PXT_SYMBOLS_H
#define PXT_SYMBOLS_H

#include "tools/read/images.h"
#include "tools/read/source.h"

/* Distinct addresses that are looked up; those beyond are shown as module and offset. */
#define PXT_SYMBOLS_MAX 65536u

/* What was at @value of the memory of process @pid at @ns. */
struct pxt_address {
	uint64_t value; /* 0: none */
	pid_t pid;
	int64_t ns;
	/* It is where a function begins; else where a call returns to, and the call is the byte before. */
	bool begins;
};

struct pxt_symbols;

/* @root (may be NULL) is before the path of every module. */
struct pxt_symbols *pxt_symbols_new(const struct pxt_source *source, const char *root);
void pxt_symbols_free(struct pxt_symbols *symbols);
/* Any event of the log. */
void pxt_symbols_take(struct pxt_symbols *symbols, const struct pxt_event *event);
/* Where an event was recorded; of one that tells of a function's begin or end, that function. */
struct pxt_address pxt_symbols_address(const struct pxt_event *event);
void pxt_symbols_want(struct pxt_symbols *symbols, struct pxt_address at);
void pxt_symbols_resolve(struct pxt_symbols *symbols);
/* Escaped; valid until the next call. */
const char *pxt_symbols_text(struct pxt_symbols *symbols, struct pxt_address at);
/* The variable there, escaped; NULL: none is known.  Valid until the next call. */
const char *pxt_symbols_variable(struct pxt_symbols *symbols, struct pxt_address at);

#endif
