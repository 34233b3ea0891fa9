/* SPDX-License-Identifier: MIT */
/* attr_marks.h - what is in an attributes object besides attributes: its mark and its flags. */
#ifndef PXT_ATTR_MARKS_H
#define PXT_ATTR_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define PXT_ATTR_MAGIC 0x50585441u /* "PXTA" */

/* struct _pxt_attr, _pxt_flags */
#define PXT_ATTR_POLLING  1u
#define PXT_ATTR_ORDERED  2u
#define PXT_ATTR_FRAMES   4u /* the log goes out as frames; neither of both: as the output is */
#define PXT_ATTR_PLAIN    8u
#define PXT_ATTR_PRODUCER 16u /* not from attributes: memory that another process reads (attach/) */
/*
 * Of an attachment: the program did not ask for it (sysevents/wrap/start.c).  Of a stream with a name: takes
 * such (tools/run/recorder.c).
 */
#define PXT_ATTR_GUEST    32u
#define PXT_ATTR_AGES     64u  /* the oldest files of the log are removed */
#define PXT_ATTR_NAMED    128u /* not from attributes: others find the stream by a name */
#define PXT_ATTR_SIZED    256u /* somebody has set the stream's size */
#define PXT_ATTR_COUNTS   512u /* of a guest: its file has room for counts of locks */
#define PXT_ATTR_LOGGED   (PXT_ATTR_POLLING | PXT_ATTR_ORDERED) /* those in a log */

/*
 * In a forked child of a guest: @begin attaches it at its first event of a user type, or of a system type in @system
 * (bit by type), or at its first control call.  Async-signal-safe.  NULL: it never does.  False: the child goes on
 * with a stream, or has another log to begin, so who wants it attached does that now.  Exported, for wrappers;
 * attach/producer.c has it.
 */
extern __attribute__((visibility("default"))) bool _pxt_attach_late(
    bool (*begin)(void), uint64_t system);
/* Of the last guest's attachment, which stays mapped; NULL: none.  A forked child does not have it. */
struct pxt_locktally;
extern __attribute__((visibility("default"))) struct pxt_locktally *_pxt_attach_counts;

#endif
