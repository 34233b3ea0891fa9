/* SPDX-License-Identifier: MIT */
/*
 * wires.h - the signals of a value change dump (VCD, IEEE 1364): first all are declared, in scopes,
 * then their changes follow in the order of time.
 *
 * A signal is known by its scope and a number of the caller's.  Names become legal (letters, digits,
 * underscores) and different within their scope.
 *
 * Bounded: PXT_SCOPES_MAX scopes, PXT_WIRES_MAX signals; what goes beyond is left out, and counted.
 */
#ifndef PXT_WIRES_H
#define PXT_WIRES_H

#include "tools/output/out.h"

#include <stdbool.h>
#include <stdint.h>

#define PXT_SCOPES_MAX 8192u
#define PXT_WIRES_MAX  32768u
#define PXT_WIRE_NAME  64u

enum pxt_wire_kind {
	PXT_WIRE_BIT,    /* 0, 1, or unknown */
	PXT_WIRE_VECTOR, /* a number of @width bits */
	PXT_WIRE_REAL,
	PXT_WIRE_EVENT /* a moment */
};

struct pxt_wire {
	uint32_t scope;
	uint64_t key;
	uint32_t next; /* in the hash chain, + 1 */
	uint8_t kind;
	uint8_t width;
	char shown;     /* of a bit: what was written last */
	bool listed;    /* among the known ones */
	bool optional;  /* the caller's: perhaps it will not be needed */
	bool hidden;    /* it is not: set before the head is written */
	uint32_t depth; /* the caller's */
	char name[PXT_WIRE_NAME];
};

struct pxt_scope {
	uint32_t parent;
	uint64_t key;
	uint32_t next; /* in the hash chain; 0: the last */
	char name[PXT_WIRE_NAME];
};

struct pxt_wires {
	struct pxt_out *out;
	uint64_t left_out; /* asked for, and not there */
	bool stamped;
	uint64_t now;
	uint32_t scope_count;
	uint32_t wire_count;
	struct pxt_scope *scopes;
	struct pxt_wire *wires;
	uint32_t *heads; /* hash tables */
	uint32_t *scope_heads;
	uint32_t *known; /* bits that may be shown as 0 or 1 */
	uint32_t known_count;
};

#define PXT_SCOPE_TOP  0u
#define PXT_SCOPE_NONE UINT32_MAX

void pxt_wires_begin(struct pxt_wires *wires, struct pxt_out *out);
void pxt_wires_free(struct pxt_wires *wires);

/* Scope number @key below @parent, declared when it is new; PXT_SCOPE_NONE when there are too many. */
uint32_t pxt_wires_scope(
    struct pxt_wires *wires, uint32_t parent, uint64_t key, const char *name, size_t bytes);
/* A signal, declared when it is new; NULL when there are too many. */
struct pxt_wire *pxt_wires_declare(struct pxt_wires *wires, uint32_t scope, uint64_t key,
    enum pxt_wire_kind kind, unsigned width, const char *name, size_t bytes);
/* One that was declared, or NULL. */
struct pxt_wire *pxt_wires_find(struct pxt_wires *wires, uint32_t scope, uint64_t key);
/* PXT_SCOPE_NONE: no such one. */
uint32_t pxt_wires_find_scope(const struct pxt_wires *wires, uint32_t parent, uint64_t key);

/* All declarations, and what is known at the beginning: bits as @shown says. */
void pxt_wires_head(struct pxt_wires *wires);
/* Time goes on; it never goes back. */
void pxt_wires_at(struct pxt_wires *wires, uint64_t ns);
/* '0', '1' or 'x'; what is so already is not written. */
void pxt_wires_bit(struct pxt_wires *wires, struct pxt_wire *wire, char value);
void pxt_wires_vector(struct pxt_wires *wires, struct pxt_wire *wire, uint64_t value);
void pxt_wires_real(struct pxt_wires *wires, struct pxt_wire *wire, double value, unsigned bytes);
void pxt_wires_event(struct pxt_wires *wires, struct pxt_wire *wire);
/* Nothing is known of the signals below scope @top any more. */
void pxt_wires_unknown(struct pxt_wires *wires, uint32_t top);

#endif
