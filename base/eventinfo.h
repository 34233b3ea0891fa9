/* SPDX-License-Identifier: MIT */
/* eventinfo.h - the private members of struct posix_trace_event_info, for those who fill it in. */
#ifndef PXT_EVENTINFO_H
#define PXT_EVENTINFO_H

/*
 * _pxt_cpu          the CPU, or -1
 * _pxt_flags        PXT_EVENT_...
 * _pxt_ticks        the raw counter
 * _pxt_lost_before  records lost directly before this event
 * _pxt_number       the record's number in the life of a log, with PXT_EVENT_NUMBERED
 */
#define PXT_EVENT_THREAD_EXACT 1u /* posix_thread_id was recorded */
#define PXT_EVENT_NUMBERED     2u /* _pxt_number was filled in */

#endif
