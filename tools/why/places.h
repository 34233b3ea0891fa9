/* SPDX-License-Identifier: MIT */
/*
 * places.h - what addresses of traced processes are called: functions and lines, and the variables
 * in which locks lie.
 *
 * Images come from the events of all logs, so names are asked for when these have been read.
 */
#ifndef PXT_PLACES_H
#define PXT_PLACES_H

#include "tools/read/images.h"
#include "tools/read/source.h"

struct pxt_places;

struct pxt_places *pxt_places_new(const struct pxt_reader *reader);
void pxt_places_free(struct pxt_places *places);
/* Any event. */
void pxt_places_take(struct pxt_places *places, const struct pxt_event *event);
/* "function (file:line)", or as much of it as is known; NULL: nothing is.  Good until the next call. */
const char *pxt_places_code(
    struct pxt_places *places, unsigned source, pid_t pid, uint64_t address);
/* The variable at @address; NULL: none is known there.  Good until the next call. */
const char *pxt_places_variable(struct pxt_places *places, pid_t pid, uint64_t address);

#endif
