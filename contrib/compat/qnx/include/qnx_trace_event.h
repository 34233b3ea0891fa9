/* SPDX-License-Identifier: MIT */
/*
 * qnx_trace_event.h - QNX Neutrino's trace events, upon streams of libptrace: the structure with its
 * macros, the eight functions that emit, and a parser with callbacks.
 *
 * An event is an event of every stream of the process that runs: of type "qnx_control" and so on,
 * one type a class.  A simple event's data is its header and two words.  A combine event is as many
 * events of ours as it has parts; each has the header, the stamp that all parts share, and bytes.
 *
 * The papers give the functions' names; what arguments they take is our choice.  They return 0 or an
 * error number, and may be in signal handlers but for the strings.
 *
 * A stream that keeps less data than an event has (posix_trace_attr_setmaxdatasize(), and
 * posix_trace_set_short_np(), which is a fast mode of single classes beside others in wide mode)
 * cuts it: the parser then hands out what is before the cut.
 */
#ifndef QNX_TRACE_EVENT_H
#define QNX_TRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t __traceentry;

typedef struct traceevent {
	__traceentry header; /* CPU, event, format */
#ifdef QNX_TRACE_TIMEOFF     /* define it before the #include for a program with these names */
	uint32_t timeoff;    /* the low bits of the time */
	uint32_t data[2];    /* the event's data */
#else
	__traceentry data[3]; /* the low bits of the time, then the event's data */
#endif
} traceevent_t;

/* struct 2 bits (31, 30), CPU 6, flags 8, reserved 1, class 5, type 10 */
#define _NTO_TRACE_GETCPU(h)   ((unsigned)(h) >> 24 & 0x3fu)
#define _NTO_TRACE_GETEVENT(h) ((unsigned)(h)&0x3ffu)
#define _NTO_TRACE_GETEVENT_C(h)                                                                   \
	((unsigned)(h)&0x7c00u) /* in its place: compare with class << 10 */
/* The same bits of a variable; the others stay. */
#define _QNX_SET(h, mask, bits)        ((h) = ((h) & ~(mask)) | ((uint32_t)(bits) & (mask)))
#define _NTO_TRACE_SETCPU(h, cpu)      _QNX_SET(h, UINT32_C(0x3f000000), (uint32_t)(cpu) << 24)
#define _NTO_TRACE_SETEVENT(h, event)  _QNX_SET(h, UINT32_C(0x3ff), event)
#define _NTO_TRACE_SETEVENT_C(h, bits) _QNX_SET(h, UINT32_C(0x7c00), bits) /* class << 10 */
#define _TRACE_SET_STRUCT(h, flag)     _QNX_SET(h, UINT32_C(0xc0000000), flag)
#define _TRACE_GET_STRUCT(h)           ((unsigned)(h)&0xc0000000u)
#define _TRACE_STRUCT_S                0x00000000u /* simple event */
#define _TRACE_STRUCT_CB               0x40000000u /* combine event: begin, */
#define _TRACE_STRUCT_CC               0x80000000u /* continuation, */
#define _TRACE_STRUCT_CE               0xc0000000u /* end */

/* Classes, in the order in which the paper lists them. */
#define QNX_CLASS_EMPTY            0u /* never emitted */
#define QNX_CLASS_CONTROL          1u
#define QNX_CLASS_KERNEL_CALL      2u
#define QNX_CLASS_INTERRUPT        3u
#define QNX_CLASS_PROCESS_THREAD   4u
#define QNX_CLASS_CONTAINER        5u
#define QNX_CLASSES                32u
#define QNX_EVENTS                 1024u
#define QNX_HEADER(class_, event_) ((uint32_t)(class_) << 10 | (uint32_t)(event_))

/* A combine event that is being emitted; several may be, at once. */
typedef struct trace_state {
	uint32_t stamp;
	uint32_t parts;
} trace_state_t;

#define QNX_STRING_MAX 128

/* EINVAL: the class is empty, or struct bits or the reserved one are set. */
int add_trace_event(uint32_t header, uint32_t data0, uint32_t data1);
/* @count words in one event: simple with at most 2. */
int add_trace_buffer(uint32_t header, const uint32_t *words, unsigned count);
int add_trace_b_init(trace_state_t *state);
int add_trace_b_add(trace_state_t *state, uint32_t header, const void *bytes, unsigned length);
/* Nothing was added: nothing is emitted. */
int add_trace_b_end(trace_state_t *state, uint32_t header);
/* At most QNX_STRING_MAX characters of it, after the arguments. */
int add_trace_string(uint32_t header, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int add_trace_d1_string(uint32_t header, uint32_t d1, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int add_trace_d2_string(uint32_t header, uint32_t d1, uint32_t d2, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- The parser ---- */

struct traceparser_state;
/*
 * A whole event: a combine event's data is put together, and its header has the struct bits of a begin.
 * @length: bytes of data.  Anything but 0 ends the parsing.
 */
typedef int traceparser_callback(struct traceparser_state *state, void *user, unsigned header,
    unsigned time, const void *data, unsigned length);

struct traceparser_info {
	uint64_t events;     /* whole events */
	uint64_t parts;      /* slots or parts they were made of */
	uint64_t orphans;    /* continuations and ends without a begin */
	uint64_t unfinished; /* begins without an end */
	uint64_t cut;        /* events of which the stream kept less than there was */
	uint64_t lost;       /* events that the log says were lost */
};

/* NULL: no memory. */
struct traceparser_state *traceparser_init(void);
void traceparser_destroy(struct traceparser_state *state);
/* @function for one event of a class, or for those from @first to @last; a later call wins. */
int traceparser_cs(struct traceparser_state *state, void *user, traceparser_callback *function,
    unsigned class_, unsigned event);
int traceparser_cs_range(struct traceparser_state *state, void *user,
    traceparser_callback *function, unsigned class_, unsigned first, unsigned last);
/*
 * Events come in the order in which they begin, however they are interlaced.  0, an error number, or
 * what a callback returned.
 */
int traceparser(struct traceparser_state *state, const char *log);
/* The same of slots as the paper has them, 8 bytes of data each. */
int traceparser_slots(struct traceparser_state *state, const traceevent_t *slots, size_t count);
/* In a callback: whether the event's data ends early, because the rest was not recorded. */
int traceparser_is_cut(const struct traceparser_state *state);
void traceparser_get_info(const struct traceparser_state *state, struct traceparser_info *info);

#ifdef __cplusplus
}
#endif

#endif
