/* SPDX-License-Identifier: MIT */
/*
 * port_place.h - which file it is, whatever its name and its descriptor's number.
 *
 * A program may close any descriptor, also the library's, and the number becomes another file's then.
 * So a descriptor is kept with its place, which is compared before each use.
 */
#ifndef PXT_PORT_PLACE_H
#define PXT_PORT_PLACE_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stdint.h>

struct pxt_port_place {
	uint64_t device;
	uint64_t file;
};

PXT_INLINE bool pxt_port_same_place(
    const struct pxt_port_place *one, const struct pxt_port_place *other)
{
	return one->device == other->device && one->file == other->file;
}

#endif
