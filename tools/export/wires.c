/* SPDX-License-Identifier: MIT */
/* wires.c - the signals of a value change dump; see wires.h. */
#include "tools/export/wires.h"

#include "tools/output/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADS ((size_t)2 * PXT_WIRES_MAX)

void pxt_wires_begin(struct pxt_wires *wires, struct pxt_out *out)
{
	memset(wires, 0, sizeof *wires);
	wires->out = out;
	wires->scopes = pxt_must(calloc(PXT_SCOPES_MAX, sizeof *wires->scopes));
	wires->wires = pxt_must(calloc(PXT_WIRES_MAX, sizeof *wires->wires));
	wires->heads = pxt_must(calloc(HEADS, sizeof *wires->heads));
	wires->scope_heads = pxt_must(calloc(HEADS, sizeof *wires->scope_heads));
	wires->known = pxt_must(calloc(PXT_WIRES_MAX, sizeof *wires->known));
	wires->scope_count = 1; /* the top, which has no name */
}

void pxt_wires_free(struct pxt_wires *wires)
{
	free(wires->scopes);
	free(wires->wires);
	free(wires->heads);
	free(wires->scope_heads);
	free(wires->known);
}

/* ---- Declarations ---- */

static bool is_legal(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static void make_legal(char *to, const char *name, size_t bytes)
{
	size_t used = 0;

	if (bytes == 0 || (*name >= '0' && *name <= '9'))
		to[used++] = '_';
	/* Room for "_12345", which tells equal names apart. */
	for (size_t i = 0; i < bytes && used < PXT_WIRE_NAME - 8; i++)
		to[used++] = (char)(is_legal(name[i]) ? name[i] : '_');
	to[used] = '\0';
}

static uint32_t hash(uint32_t scope, uint64_t key)
{
	return (uint32_t)((((key ^ (uint64_t)scope << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) %
	                  HEADS);
}

uint32_t pxt_wires_find_scope(const struct pxt_wires *wires, uint32_t parent, uint64_t key)
{
	uint32_t at = wires->scope_heads[hash(parent, key)];

	while (at != 0 && (wires->scopes[at].parent != parent || wires->scopes[at].key != key))
		at = wires->scopes[at].next;
	return at != 0 ? at : PXT_SCOPE_NONE;
}

uint32_t pxt_wires_scope(
    struct pxt_wires *wires, uint32_t parent, uint64_t key, const char *name, size_t bytes)
{
	uint32_t at =
	    parent == PXT_SCOPE_NONE ? PXT_SCOPE_NONE : pxt_wires_find_scope(wires, parent, key);

	if (at != PXT_SCOPE_NONE || parent == PXT_SCOPE_NONE ||
	    wires->scope_count == PXT_SCOPES_MAX)
		return at;
	struct pxt_scope *scope = &wires->scopes[wires->scope_count];
	uint32_t *head = &wires->scope_heads[hash(parent, key)];
	scope->parent = parent;
	scope->key = key;
	scope->next = *head;
	*head = wires->scope_count;
	make_legal(scope->name, name, bytes);
	return wires->scope_count++;
}

struct pxt_wire *pxt_wires_find(struct pxt_wires *wires, uint32_t scope, uint64_t key)
{
	uint32_t at = wires->heads[hash(scope, key)];

	while (at != 0 && (wires->wires[at - 1].scope != scope || wires->wires[at - 1].key != key))
		at = wires->wires[at - 1].next;
	if (at == 0)
		wires->left_out++;
	return at != 0 ? &wires->wires[at - 1] : NULL;
}

struct pxt_wire *pxt_wires_declare(struct pxt_wires *wires, uint32_t scope, uint64_t key,
    enum pxt_wire_kind kind, unsigned width, const char *name, size_t bytes)
{
	struct pxt_wire *wire;
	uint32_t *head;

	if (scope == PXT_SCOPE_NONE)
		return NULL;
	wire = pxt_wires_find(wires, scope, key);
	if (wire || wires->wire_count == PXT_WIRES_MAX)
		return wire;
	wire = &wires->wires[wires->wire_count++];
	head = &wires->heads[hash(scope, key)];
	wire->scope = scope;
	wire->key = key;
	wire->next = *head;
	*head = wires->wire_count;
	wire->kind = (uint8_t)kind;
	wire->width = (uint8_t)width;
	wire->shown = 'x';
	make_legal(wire->name, name, bytes);
	return wire;
}

/* ---- The head ---- */

/* A signal's short name: a number in the 94 printable characters. */
static void put_code(struct pxt_wires *wires, const struct pxt_wire *wire)
{
	uint32_t number = (uint32_t)(wire - wires->wires);

	do {
		pxt_out_char(wires->out, (char)('!' + number % 94));
		number /= 94;
	} while (number != 0);
}

static void put_declaration(struct pxt_wires *wires, const struct pxt_wire *wire)
{
	static const char *const kinds[] = { "wire 1 ", "wire ", "real 64 ", "event 1 " };
	struct pxt_out *out = wires->out;

	if (wire->hidden)
		return;
	pxt_out_text(out, "$var ");
	pxt_out_text(out, kinds[wire->kind]);
	if (wire->kind == PXT_WIRE_VECTOR) {
		pxt_out_unsigned(out, wire->width);
		pxt_out_char(out, ' ');
	}
	put_code(wires, wire);
	pxt_out_char(out, ' ');
	pxt_out_text(out, wire->name);
	if (wire->kind == PXT_WIRE_VECTOR) {
		pxt_out_text(out, " [");
		pxt_out_unsigned(out, wire->width - 1u);
		pxt_out_text(out, ":0]");
	}
	pxt_out_text(out, " $end\n");
}

/* What is in one scope, by name. */
struct entry {
	uint32_t scope; /* where it is */
	uint32_t index;
	char *name;
};

static int by_scope_and_name(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;
	int order;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Equal names in one scope get a number after them. */
static void tell_apart(struct entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count;) {
		uint32_t same = i + 1;

		while (same < count && entries[same].scope == entries[i].scope &&
		       strcmp(entries[same].name, entries[i].name) == 0)
			same++;
		for (uint32_t k = i + 1; k < same; k++)
			(void)snprintf(entries[k].name + strlen(entries[k].name), 8, "_%u",
			    (unsigned)(k - i + 1));
		i = same;
	}
}

static struct entry *sort_scopes(struct pxt_wires *wires)
{
	struct entry *entries = pxt_must(calloc(wires->scope_count, sizeof *entries));

	for (uint32_t i = 1; i < wires->scope_count; i++)
		entries[i - 1] =
		    (struct entry){ wires->scopes[i].parent, i, wires->scopes[i].name };
	qsort(entries, wires->scope_count - 1, sizeof *entries, by_scope_and_name);
	tell_apart(entries, wires->scope_count - 1);
	return entries;
}

static struct entry *sort_wires(struct pxt_wires *wires)
{
	struct entry *entries = pxt_must(calloc(wires->wire_count + 1u, sizeof *entries));

	for (uint32_t i = 0; i < wires->wire_count; i++)
		entries[i] = (struct entry){ wires->wires[i].scope, i, wires->wires[i].name };
	qsort(entries, wires->wire_count, sizeof *entries, by_scope_and_name);
	tell_apart(entries, wires->wire_count);
	return entries;
}

/* The first entry of @scope. */
static uint32_t first_in(const struct entry *entries, uint32_t count, uint32_t scope)
{
	uint32_t low = 0;

	for (uint32_t high = count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (entries[middle].scope < scope)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_signals(struct pxt_wires *wires, const struct entry *signals, uint32_t scope)
{
	for (uint32_t i = first_in(signals, wires->wire_count, scope);
	     i < wires->wire_count && signals[i].scope == scope; i++)
		put_declaration(wires, &wires->wires[signals[i].index]);
}

static void open_scope(struct pxt_wires *wires, uint32_t scope)
{
	pxt_out_text(wires->out, "$scope module ");
	pxt_out_text(wires->out, wires->scopes[scope].name);
	pxt_out_text(wires->out, " $end\n");
}

static void close_scope(struct pxt_wires *wires)
{
	pxt_out_text(wires->out, "$upscope $end\n");
}

/* Two levels: processes, and in them threads. */
static void put_scopes(
    struct pxt_wires *wires, const struct entry *scopes, const struct entry *signals)
{
	uint32_t count = wires->scope_count - 1;

	for (uint32_t i = 0; i < count && scopes[i].scope == PXT_SCOPE_TOP; i++) {
		uint32_t outer = scopes[i].index;

		open_scope(wires, outer);
		put_signals(wires, signals, outer);
		for (uint32_t k = first_in(scopes, count, outer);
		     k < count && scopes[k].scope == outer; k++) {
			open_scope(wires, scopes[k].index);
			put_signals(wires, signals, scopes[k].index);
			close_scope(wires);
		}
		close_scope(wires);
	}
}

static void put_bit(struct pxt_wires *wires, const struct pxt_wire *wire)
{
	pxt_out_char(wires->out, wire->shown);
	put_code(wires, wire);
	pxt_out_char(wires->out, '\n');
}

void pxt_wires_head(struct pxt_wires *wires)
{
	struct entry *scopes = sort_scopes(wires);
	struct entry *signals = sort_wires(wires);

	put_scopes(wires, scopes, signals);
	free(scopes);
	free(signals);
	pxt_out_text(wires->out, "$enddefinitions $end\n#0\n$dumpvars\n");
	for (uint32_t i = 0; i < wires->wire_count; i++) {
		const struct pxt_wire *wire = &wires->wires[i];

		if (wire->hidden)
			continue;
		if (wire->kind == PXT_WIRE_BIT) {
			put_bit(wires, wire);
		} else if (wire->kind == PXT_WIRE_VECTOR) {
			pxt_out_text(wires->out, "bx ");
			put_code(wires, wire);
			pxt_out_char(wires->out, '\n');
		}
	}
	pxt_out_text(wires->out, "$end\n");
	wires->left_out = 0;
}

/* ---- Changes ---- */

void pxt_wires_at(struct pxt_wires *wires, uint64_t ns)
{
	if (ns <= wires->now)
		return;
	wires->now = ns;
	wires->stamped = false;
}

/* The time, before the first change at it. */
static void stamp(struct pxt_wires *wires)
{
	if (wires->stamped || wires->now == 0)
		return;
	pxt_out_char(wires->out, '#');
	pxt_out_unsigned(wires->out, wires->now);
	pxt_out_char(wires->out, '\n');
	wires->stamped = true;
}

void pxt_wires_bit(struct pxt_wires *wires, struct pxt_wire *wire, char value)
{
	if (wire->shown == value)
		return;
	stamp(wires);
	wire->shown = value;
	put_bit(wires, wire);
	if (!wire->listed) {
		wire->listed = true;
		wires->known[wires->known_count++] = (uint32_t)(wire - wires->wires);
	}
}

void pxt_wires_vector(struct pxt_wires *wires, struct pxt_wire *wire, uint64_t value)
{
	char digits[64];
	unsigned used = 0;

	stamp(wires);
	if (wire->width < 64)
		value &= (UINT64_C(1) << wire->width) - 1;
	pxt_out_char(wires->out, 'b');
	do {
		digits[sizeof digits - ++used] = (char)('0' + (value & 1));
		value >>= 1;
	} while (value != 0);
	pxt_out_bytes(wires->out, digits + sizeof digits - used, used);
	pxt_out_char(wires->out, ' ');
	put_code(wires, wire);
	pxt_out_char(wires->out, '\n');
}

void pxt_wires_real(struct pxt_wires *wires, struct pxt_wire *wire, double value, unsigned bytes)
{
	/* The format has no word for these. */
	if (!isfinite(value))
		return;
	stamp(wires);
	pxt_out_char(wires->out, 'r');
	pxt_out_float(wires->out, value, bytes);
	pxt_out_char(wires->out, ' ');
	put_code(wires, wire);
	pxt_out_char(wires->out, '\n');
}

void pxt_wires_event(struct pxt_wires *wires, struct pxt_wire *wire)
{
	stamp(wires);
	pxt_out_char(wires->out, '1');
	put_code(wires, wire);
	pxt_out_char(wires->out, '\n');
}

void pxt_wires_unknown(struct pxt_wires *wires, uint32_t top)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < wires->known_count; i++) {
		struct pxt_wire *wire = &wires->wires[wires->known[i]];

		if (wire->scope != top && wires->scopes[wire->scope].parent != top) {
			wires->known[kept++] = wires->known[i];
			continue;
		}
		wire->depth = 0;
		wire->listed = false;
		if (wire->shown == 'x')
			continue;
		wire->shown = 'x';
		stamp(wires);
		put_bit(wires, wire);
	}
	wires->known_count = kept;
}
