/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - program addresses as "function (file:line)", or "module+0x1234" where the binary is
 * not at hand, is another build, or no addr2line is installed.
 *
 * Use: pxt_symbols_want() for each address, once pxt_symbols_resolve(), then pxt_symbols_text().
 * addr2line runs once per module and resolve.
 */
#ifndef PXT_SYMBOLS_H
#define PXT_SYMBOLS_H

#include "tools/read/images.h"
#include "tools/read/source.h"

/* Distinct addresses that are looked up; those beyond are shown as module and offset. */
#define PXT_SYMBOLS_MAX 65536u

struct pxt_symbols;

/* @root (may be NULL) is before the path of every module. */
struct pxt_symbols *pxt_symbols_new(const struct pxt_source *source, const char *root);
/* Addresses of process @pid: by its images, if events told of any, else by the log's modules. */
struct pxt_symbols *pxt_symbols_of_process(
    const struct pxt_source *source, const struct pxt_images *images, pid_t pid);
void pxt_symbols_free(struct pxt_symbols *symbols);
void pxt_symbols_want(struct pxt_symbols *symbols, uint64_t address);
void pxt_symbols_resolve(struct pxt_symbols *symbols);
/* Escaped; valid until the next call. */
const char *pxt_symbols_text(struct pxt_symbols *symbols, uint64_t address);

#endif
