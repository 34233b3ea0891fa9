/* SPDX-License-Identifier: MIT */
/* objects.h - names of variables, out of a binary's symbols. */
#ifndef PXT_OBJECTS_H
#define PXT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The variable in @file that holds the link-time address @address: "name", or "name+8" inside of it.
 * False: none does, or this build cannot look.
 */
bool pxt_objects_name(const char *file, uint64_t address, char *name, size_t room);

#endif
