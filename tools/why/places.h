/* SPDX-License-Identifier: MIT */
/*
 * places.h - what addresses of traced programs are called: functions and lines, the variables in which locks
 * lie; and what descriptors are.
 *
 * Images come from the events of all logs, so names are asked for when these have been read.
 */
#ifndef PXT_PLACES_H
#define PXT_PLACES_H

#include "tools/read/source.h"
#include "tools/symbols/symbols.h"

/* An address of one log. */
struct pxt_log_address {
	unsigned source;
	struct pxt_address address;
};

struct pxt_places;

struct pxt_places *pxt_places_new(const struct pxt_reader *reader);
void pxt_places_free(struct pxt_places *places);
/* Any event. */
void pxt_places_take(struct pxt_places *places, const struct pxt_event *event);
/* Where an event was recorded. */
struct pxt_log_address pxt_places_of(const struct pxt_event *event);
/* It will be asked for: all that were wanted are looked up at once. */
void pxt_places_want(struct pxt_places *places, const struct pxt_log_address *at);
/* "function (file:line)", or as much of it as is known; NULL: no address.  Good until the next call. */
const char *pxt_places_code(struct pxt_places *places, const struct pxt_log_address *at);
/*
 * Which function of the program called the one there, if that is known: the one into which the compiler put it, or
 * else the first of its own at @above, which ends with 0.  NULL: none is known.
 */
#define PXT_PLACES_ABOVE 2u
const char *pxt_places_caller(struct pxt_places *places, const struct pxt_log_address *at,
    const uint64_t above[PXT_PLACES_ABOVE]);
/* Whether it is in a library that the system has for all programs. */
bool pxt_places_is_system(const struct pxt_places *places, const struct pxt_log_address *at);
/*
 * What descriptor @fd of that process was at that time: a path, an address; NULL: not known.  Good until the
 * next call.
 */
const char *pxt_places_descriptor(
    struct pxt_places *places, const struct pxt_log_address *at, uint64_t fd);
/* The variable at an address; NULL: none is known there.  Good until the next call. */
const char *pxt_places_variable(struct pxt_places *places, const struct pxt_log_address *at);

#endif
