/* SPDX-License-Identifier: MIT */
/*
 * introduce.h - a thread says its name, while it can be asked.
 *
 *   concurrency: under the process lock; the names are read at any time.
 */
#ifndef PXT_INTRODUCE_H
#define PXT_INTRODUCE_H

/*
 * The calling thread has time and says its name, once: who creates a stream, attaches or is the first to
 * name a type is known where no thread can be asked any more.  [process lock held]
 */
void pxt_introduce_self(void);

#endif
