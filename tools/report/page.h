/* SPDX-License-Identifier: MIT */
/*
 * page.h - the page of pxtrace report without its data: embed.py makes these two arrays of
 * page.html, style.css and the scripts beside it.  The data are between them.
 */
#ifndef PXT_PAGE_H
#define PXT_PAGE_H

#include <stddef.h>

extern const unsigned char pxt_page_head[];
extern const size_t pxt_page_head_bytes;
extern const unsigned char pxt_page_tail[];
extern const size_t pxt_page_tail_bytes;

#endif
