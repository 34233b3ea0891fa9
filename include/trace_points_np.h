/* SPDX-License-Identifier: MIT */
/*
 * trace_points_np.h - typed trace points of one line, and the points of periodic jobs.  Included
 * by trace_np.h.
 *
 * With POSIX_TRACE_OFF_NP defined before it is included, all of them compile to nothing: no code,
 * no data, no reference to the library, no argument evaluated; posix_trace_open_np() is 0.
 */
#ifndef _PXT_TRACE_POINTS_NP_H
#define _PXT_TRACE_POINTS_NP_H 1

#include "trace_np.h"
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Trace points of one line (unit User Events) ---- */

/*
 * A typed trace point: the event's name, and up to 32 pairs of type and field name.
 *
 *	POSIX_TRACE_DEFINE_NP(event, type, field, ...)
 *	POSIX_TRACE_DECLARE_NP(event, type, field, ...)
 *	POSIX_TRACE_DEFINE_TEXT_NP(event, message, type, field, ...)
 *	POSIX_TRACE_DECLARE_TEXT_NP(event, message, type, field, ...)
 *	POSIX_TRACE_DEFINE_STACK_NP(event, depth, type, field, ...)
 *	POSIX_TRACE_DECLARE_STACK_NP(event, depth, type, field, ...)
 *	posix_trace_open_np(event)
 *	posix_trace_point_id_np(event)
 *	posix_trace_point_np(event, field, ...)
 *	posix_trace_event_np(event_id, data, len)
 *
 * The definition, and a use:
 *
 *	POSIX_TRACE_DEFINE_NP(job_late, u32, job, i64, late_ns);        at file scope, once
 *	...
 *	posix_trace_point_np(job_late, job, now - deadline);            as often as wanted
 *
 * POSIX_TRACE_DEFINE_NP() makes the payload's description ("u32 job, i64 late_ns"), an identifier
 * that is 0 until it is opened, and the code that packs the arguments, without padding and in this
 * order.  All of it is static.  For a header, which several files include:
 *
 *	POSIX_TRACE_DECLARE_NP(job_late, u32, job, i64, late_ns);       and nothing else anywhere
 *
 * The files of one program or shared library then have one identifier.
 *
 * With the functions that called the one in which the point stands, innermost first (STACKS):
 *
 *	POSIX_TRACE_DEFINE_STACK_NP(refilled, 4, u32, bytes);           up to 4 of them, at most 8
 *
 * They follow the fields as caller1, caller2 and so on, of 8 bytes each; none of the fields is a
 * string.  POSIX_TRACE_DECLARE_STACK_NP() is the form for headers.  What is found, and what it
 * costs: see posix_trace_event_stack_np().
 *
 * With a message, which is put together where the event is read (posix_trace_text_np(), pxtrace):
 *
 *	POSIX_TRACE_DEFINE_TEXT_NP(too_hot, "motor %u is %.1f degrees too hot", u32, motor,
 *	                           f64, by);
 *
 * Each conversion takes the next field; flags, width and precision are printf()'s, and lengths
 * (%lu) are not needed.  POSIX_TRACE_DECLARE_TEXT_NP() is the form for headers.
 *
 *	type            argument        bytes
 *	u8 i8 x8        uint8_t int8_t uint8_t        1, and so on up to u64 i64 x64
 *	float f32       float           4
 *	double f64      double          8
 *	bool            bool            1, as u8
 *	enum            any enumeration 4, as i32
 *	size            size_t          4 or 8, as u32 or u64
 *	pointer         const void *    4 or 8, as x32 or x64
 *	text(N)         const char *    N, cut or filled up with NULs
 *	string          const char *    up to POSIX_TRACE_TEXT_MAX_NP, cut; last field only
 *
 * A NULL text is an empty one.  An event without fields is defined by its name alone.  A mistake
 * is a compiler error that names the event; an unknown type, one that lists these.  Any identifier
 * is a field's name.
 *
 * posix_trace_point_np() is a statement.  Its arguments are evaluated, once, if a running stream
 * wants the type, else not at all.
 *
 * A point that was not opened opens itself at its first use while a stream runs
 * (CONFIG_PTRACE_EXTENSIONS; without it, it stays off).  That takes the lock of the process, for
 * 1 ms at most: a handler that interrupted the lock's holder records an event of the unnamed type
 * instead, and the next use tries again.  A point whose name has another description already (it
 * was defined twice, with other fields) records unnamed events, and in front of the first one
 * POSIX_TRACE_ERROR with the cause POINT.  One whose name is too long records unnamed events, too;
 * one for whose description there is no more room records without.
 *
 * posix_trace_open_np() opens the name and describes the type ahead of that, as real-time threads
 * want it: 0, or the error of posix_trace_eventid_open() or posix_trace_eventid_setformat_np().
 * When there is no more room for names the type is the unnamed one, without description, and 0 is
 * returned, as the standard says.
 *
 * posix_trace_point_id_np() is the point's identifier, for sets of types; it opens the point first.
 * 0: that failed.
 *
 * posix_trace_event_np() is posix_trace_event() after the same inline test: @event_id is evaluated
 * once, the other arguments only if the type is wanted.
 *
 * With -DPOSIX_TRACE_WITHOUT_job_late_NP the points of that one type compile to nothing.
 *
 * @event:    the event's name, an identifier of at most TRACE_EVENT_NAME_MAX bytes.
 * @type:     one of the types above.
 * @field:    the field's name at the definition, its value where the point is used.
 * @message:  a text in quotes.
 * @depth:    how many functions at most, a number from 1 to POSIX_TRACE_STACK_MAX_NP.
 * @event_id: the number of an event type.
 * @data:     @len bytes.
 * @len:      bytes of data.
 *
 * Returns 0 or an error number from posix_trace_open_np(), and an event type from
 *         posix_trace_point_id_np(); the others are statements or declarations.
 * Errors are as of posix_trace_eventid_open() and posix_trace_eventid_setformat_np().
 * Context: as posix_trace_event().
 * Cost: as posix_trace_event(); unwanted it is two loads (identifier, table), a test and a branch
 *       that is not taken.
 * Unit: User Events.
 */
/* Macros that build declarations and lists, and a store that the check does not see: */
/* NOLINTBEGIN(bugprone-macro-parentheses, readability-non-const-parameter) */
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC system_header /* C++98 knows no variadic macros, its compilers do */
#endif
#ifndef POSIX_TRACE_TEXT_MAX_NP
#define POSIX_TRACE_TEXT_MAX_NP 256 /* bytes on the stack of a point with a trailing text */
#endif

/* What is after all arguments of a point: counted from its end. */
#define _PXT_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
    a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, \
    a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, \
    a57, a58, a59, a60, a61, a62, a63, a64, a65, n, ...)                                           \
	n
/* Pairs after the name; _half: half a pair is missing. */
#define _PXT_PAIRS(...)                                                                            \
	_PXT_PICK(__VA_ARGS__, 32, _half, 31, _half, 30, _half, 29, _half, 28, _half, 27, _half,   \
	    26, _half, 25, _half, 24, _half, 23, _half, 22, _half, 21, _half, 20, _half, 19,       \
	    _half, 18, _half, 17, _half, 16, _half, 15, _half, 14, _half, 13, _half, 12, _half,    \
	    11, _half, 10, _half, 9, _half, 8, _half, 7, _half, 6, _half, 5, _half, 4, _half, 3,   \
	    _half, 2, _half, 1, _half, 0, 0)
/* Joins names that are macros themselves; one of these may be inside of the other. */
#define _PXT_CAT(a, b)          _PXT_CAT_(a, b)
#define _PXT_CAT_(a, b)         a##b
#define _PXT_GLUE(a, b)         _PXT_GLUE_(a, b)
#define _PXT_GLUE_(a, b)        a##b
#define _PXT_FIRST(...)         _PXT_FIRST_(__VA_ARGS__, 0)
#define _PXT_FIRST_(first, ...) first

/* _off where the symbol is defined as 1, else _on. */
#define _PXT_SWITCH(symbol)         _PXT_SWITCH_(symbol)
#define _PXT_SWITCH_(value)         _PXT_SWITCH_OF(_PXT_LEFT_OUT_##value)
#define _PXT_SWITCH_OF(...)         _PXT_SECOND(__VA_ARGS__ _off, _on, )
#define _PXT_SECOND(first, it, ...) it
#define _PXT_LEFT_OUT_1             0, _off,

/* "1" for one argument, "_many" for more; of a definition, also _half. */
#define _PXT_MANY(...)       _PXT_MANY_OF(_PXT_PAIRS(__VA_ARGS__))
#define _PXT_MANY_OF(pairs)  _PXT_MANY_OF_(pairs)
#define _PXT_MANY_OF_(pairs) _PXT_MANY_ONE(_PXT_NONE_##pairs)
#define _PXT_MANY_ONE(...)   _PXT_SECOND(__VA_ARGS__ 0, _many, )
#define _PXT_WHAT(...)       _PXT_WHAT_OF(_PXT_PAIRS(__VA_ARGS__))
#define _PXT_WHAT_OF(pairs)  _PXT_WHAT_OF_(pairs)
#define _PXT_WHAT_OF_(pairs) _PXT_MANY_ONE(_PXT_NONE_##pairs _PXT_HALF_##pairs)
#define _PXT_NONE_0          0, 1,
#define _PXT_HALF__half      0, _half,

static inline __attribute__((__unused__)) int _pxt_nothing(void)
{
	return 0;
}
/* Never called: only the size of its result is asked, so that variables count as used. */
int _pxt_unused(int _zero, ...);
#define _PXT_POINT_1__off(event)          ((void)0)
#define _PXT_POINT__many__off(event, ...) ((void)sizeof(_pxt_unused(0, __VA_ARGS__)))

#if defined(POSIX_TRACE_OFF_NP)

#define POSIX_TRACE_DEFINE_NP(...)       struct _PXT_CAT(_pxt_end_, _PXT_FIRST(__VA_ARGS__))
#define POSIX_TRACE_DECLARE_NP(...)      POSIX_TRACE_DEFINE_NP(__VA_ARGS__)
#define POSIX_TRACE_DEFINE_TEXT_NP(...)  POSIX_TRACE_DEFINE_NP(__VA_ARGS__)
#define POSIX_TRACE_DECLARE_TEXT_NP(...) POSIX_TRACE_DEFINE_NP(__VA_ARGS__)
#if _PXT_UNIT_STACKS
#define POSIX_TRACE_DEFINE_STACK_NP(...)  POSIX_TRACE_DEFINE_NP(__VA_ARGS__)
#define POSIX_TRACE_DECLARE_STACK_NP(...) POSIX_TRACE_DEFINE_NP(__VA_ARGS__)
#endif
#define posix_trace_open_np(event)     _pxt_nothing()
#define posix_trace_point_id_np(event) ((trace_event_id_t)_pxt_nothing())
#define posix_trace_point_np(...)                                                                  \
	_PXT_CAT(_PXT_CAT(_PXT_POINT_, _PXT_MANY(__VA_ARGS__)), __off)(__VA_ARGS__)
#define posix_trace_event_np(event_id, data, len) _PXT_POINT__many__off(0, event_id, data, len)

#elif _PXT_UNIT_USEREVENTS

#if _PXT_UNIT_EXTENSIONS
/* Of a point that is to record, not opened yet: its identifier from now on, or for this event. */
trace_event_id_t _pxt_point_open(
    trace_event_id_t *_point, const char *_name, const char *_format) _PXT_DIRECT;
#define _PXT_OPEN_AT_USE(point, name, format)                                                      \
	if (__builtin_expect(!_pxt_id, 0))                                                         \
	_pxt_id = _pxt_point_open(point, name, format)
#else
#define _PXT_OPEN_AT_USE(point, name, format) (void)0
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define _PXT_SAY(condition, text) static_assert(condition, text);
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define _PXT_SAY(condition, text) _Static_assert(condition, text);
#elif !defined(__cplusplus) && defined(__GNUC__)
#define _PXT_SAY(condition, text) __extension__ _Static_assert(condition, text);
#else
#define _PXT_SAY(condition, text)                                                                  \
	typedef char _pxt_say[(condition) ? 1 : -1] __attribute__((__unused__));
#endif

/* Every word for a type. */
#define _PXT_WORDS                                                                                 \
	"u8 u16 u32 u64 i8 i16 i32 i64 x8 x16 x32 x64 float f32 double f64 bool enum size "        \
	"pointer text(N) string"

/*
 * What each type is as an argument; that the word is one; what the type is in the description
 * and in bytes; how it is packed; 1: it takes the rest of the data.
 */
#define _PXT_TYPE_u8     uint8_t, _known, "u8", 1u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_u16    uint16_t, _known, "u16", 2u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_u32    uint32_t, _known, "u32", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_u64    uint64_t, _known, "u64", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_i8     int8_t, _known, "i8", 1u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_i16    int16_t, _known, "i16", 2u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_i32    int32_t, _known, "i32", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_i64    int64_t, _known, "i64", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_x8     uint8_t, _known, "x8", 1u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_x16    uint16_t, _known, "x16", 2u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_x32    uint32_t, _known, "x32", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_x64    uint64_t, _known, "x64", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_float  float, _known, "float", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_f32    float, _known, "f32", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_double double, _known, "double", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_f64    double, _known, "f64", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_bool   _PXT_BOOL, _known, "u8", 1u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE__Bool  _PXT_BOOL, _known, "u8", 1u, _PXT_PACK_VALUE, 0
/* Signed and unsigned enumerations go into this type without a warning. */
#define _PXT_TYPE_enum   int64_t, _known, "i32", 4u, _PXT_PACK_ENUM, 0
#if __SIZEOF_POINTER__ > 4
#define _PXT_TYPE_size    size_t, _known, "u64", 8u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_pointer const void *, _known, "x64", 8u, _PXT_PACK_VALUE, 0
#else
#define _PXT_TYPE_size    size_t, _known, "u32", 4u, _PXT_PACK_VALUE, 0
#define _PXT_TYPE_pointer const void *, _known, "x32", 4u, _PXT_PACK_VALUE, 0
#endif
#define _PXT_TYPE_text(n) const char *, _known, "text[" #n "]", (n), _PXT_PACK_TEXT, 0
#define _PXT_TYPE_string                                                                           \
	const char *, _known, "string", POSIX_TRACE_TEXT_MAX_NP, _PXT_PACK_STRING, 1
#ifdef __cplusplus
#define _PXT_BOOL bool
#else
#define _PXT_BOOL _Bool
#endif

/* Whether a word is one of them: _known, else _other. */
#define _PXT_KIND(type)          _PXT_KIND_OF(_PXT_TYPE_##type)
#define _PXT_KIND_OF(...)        _PXT_SECOND(__VA_ARGS__ 0, _other, )
#define _PXT_SORT(what, kind)    _PXT_SORT_(what, kind)
#define _PXT_SORT_(what, kind)   what##kind
#define _PXT_KNOWN_known(type)   1
#define _PXT_KNOWN_other(type)   0
#define _PXT_UNKNOWN_known(type) ""
#define _PXT_UNKNOWN_other(type) " <" #type ">"
/* Takes the place of an invalid word, so that the compiler reports that and nothing else. */
#define _PXT_ROW_known(type)     _PXT_TYPE_##type
#define _PXT_ROW_other(type)     int, _other, "", sizeof(int), _PXT_PACK_VALUE, 0

#define _PXT_ARG_OF(arg, kind, word, size, pack, rest)  arg
#define _PXT_WORD_OF(arg, kind, word, size, pack, rest) word
#define _PXT_SIZE_OF(arg, kind, word, size, pack, rest) size
#define _PXT_PACK_OF(arg, kind, word, size, pack, rest) pack
#define _PXT_REST_OF(arg, kind, word, size, pack, rest) rest
#define _PXT_CELL(column, ...)                          column(__VA_ARGS__)
#define _PXT_SAID(what, type)                           _PXT_SORT(what, _PXT_KIND(type))(type)
#define _PXT_OF(column, type)                           _PXT_CELL(column, _PXT_SAID(_PXT_ROW, type))

#define _PXT_PACK_VALUE(value, bytes)                                                              \
	memcpy(_pxt_data + _pxt_used, &value, sizeof(value));                                      \
	_pxt_used += sizeof(value);
#define _PXT_PACK_ENUM(value, bytes) _pxt_used += _pxt_pack_enum(_pxt_data + _pxt_used, value);
#define _PXT_PACK_TEXT(value, bytes)                                                               \
	_pxt_pack_text(_pxt_data + _pxt_used, value, bytes);                                       \
	_pxt_used += (bytes);
#define _PXT_PACK_STRING(value, bytes)                                                             \
	_pxt_used += _pxt_pack_string(_pxt_data + _pxt_used, value, bytes);

/* Each pair, with or without what separates it from the one before; @more: others are after it. */
#define _PXT_MORE_PARAM(type, name, more) , _PXT_OF(_PXT_ARG_OF, type) _pxt_field_##name
#define _PXT_WORD(type, name, more)       _PXT_OF(_PXT_WORD_OF, type) " " #name
#define _PXT_MORE_WORD(type, name, more)  ", " _PXT_OF(_PXT_WORD_OF, type) " " #name
#define _PXT_SIZE(type, name, more)       +_PXT_OF(_PXT_SIZE_OF, type)
#define _PXT_PACK(type, name, more)                                                                \
	_PXT_OF(_PXT_PACK_OF, type)(_pxt_field_##name, _PXT_OF(_PXT_SIZE_OF, type))
#define _PXT_EARLY(type, name, more)   +more *_PXT_OF(_PXT_REST_OF, type)
#define _PXT_KNOWN(type, name, more)   &_PXT_SAID(_PXT_KNOWN, type)
#define _PXT_UNKNOWN(type, name, more) _PXT_SAID(_PXT_UNKNOWN, type)

/* _PXT_EACH_<pairs>(for the first pair, for later ones, pairs). */
#define _PXT_EACH_1(f, m, t, n)        f(t, n, 0)
#define _PXT_EACH_2(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_1(m, m, __VA_ARGS__)
#define _PXT_EACH_3(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_2(m, m, __VA_ARGS__)
#define _PXT_EACH_4(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_3(m, m, __VA_ARGS__)
#define _PXT_EACH_5(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_4(m, m, __VA_ARGS__)
#define _PXT_EACH_6(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_5(m, m, __VA_ARGS__)
#define _PXT_EACH_7(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_6(m, m, __VA_ARGS__)
#define _PXT_EACH_8(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_7(m, m, __VA_ARGS__)
#define _PXT_EACH_9(f, m, t, n, ...)   f(t, n, 1) _PXT_EACH_8(m, m, __VA_ARGS__)
#define _PXT_EACH_10(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_9(m, m, __VA_ARGS__)
#define _PXT_EACH_11(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_10(m, m, __VA_ARGS__)
#define _PXT_EACH_12(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_11(m, m, __VA_ARGS__)
#define _PXT_EACH_13(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_12(m, m, __VA_ARGS__)
#define _PXT_EACH_14(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_13(m, m, __VA_ARGS__)
#define _PXT_EACH_15(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_14(m, m, __VA_ARGS__)
#define _PXT_EACH_16(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_15(m, m, __VA_ARGS__)
#define _PXT_EACH_17(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_16(m, m, __VA_ARGS__)
#define _PXT_EACH_18(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_17(m, m, __VA_ARGS__)
#define _PXT_EACH_19(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_18(m, m, __VA_ARGS__)
#define _PXT_EACH_20(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_19(m, m, __VA_ARGS__)
#define _PXT_EACH_21(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_20(m, m, __VA_ARGS__)
#define _PXT_EACH_22(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_21(m, m, __VA_ARGS__)
#define _PXT_EACH_23(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_22(m, m, __VA_ARGS__)
#define _PXT_EACH_24(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_23(m, m, __VA_ARGS__)
#define _PXT_EACH_25(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_24(m, m, __VA_ARGS__)
#define _PXT_EACH_26(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_25(m, m, __VA_ARGS__)
#define _PXT_EACH_27(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_26(m, m, __VA_ARGS__)
#define _PXT_EACH_28(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_27(m, m, __VA_ARGS__)
#define _PXT_EACH_29(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_28(m, m, __VA_ARGS__)
#define _PXT_EACH_30(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_29(m, m, __VA_ARGS__)
#define _PXT_EACH_31(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_30(m, m, __VA_ARGS__)
#define _PXT_EACH_32(f, m, t, n, ...)  f(t, n, 1) _PXT_EACH_31(m, m, __VA_ARGS__)
/* Copies up to @bytes of @text; returns how many it had. */
static inline __attribute__((__unused__)) size_t _pxt_pack_string(
    unsigned char *_to, const char *_text, size_t _bytes)
{
	size_t _used = 0;

	/* Bound: @bytes, a constant of the trace point. */
	while (_text && _used < _bytes && _text[_used]) {
		_to[_used] = (unsigned char)_text[_used];
		_used++;
	}
	return _used;
}

static inline __attribute__((__unused__)) size_t _pxt_pack_enum(unsigned char *_to, int64_t _value)
{
	int32_t _number = (int32_t)_value;

	memcpy(_to, &_number, sizeof(_number));
	return sizeof(_number);
}

/* The same, filled up with NULs to @bytes. */
static inline __attribute__((__unused__)) void _pxt_pack_text(
    unsigned char *_to, const char *_text, size_t _bytes)
{
	size_t _used = _pxt_pack_string(_to, _text, _bytes);

	memset(_to + _used, 0, _bytes - _used);
}

static inline __attribute__((__unused__)) int _pxt_open_point(
    trace_event_id_t *_point, const char *_name, const char *_format)
{
	trace_event_id_t _id;
	int _error = posix_trace_eventid_open(_name, &_id);

	if (!_error && _format[0] && _id != POSIX_TRACE_UNNAMED_USEREVENT)
		_error = posix_trace_eventid_setformat_np(_id, _format);
	if (!_error)
		__atomic_store_n(_point, _id, __ATOMIC_RELAXED);
	return _error;
}

static inline __attribute__((__unused__)) trace_event_id_t _pxt_opened(
    trace_event_id_t *_point, const char *_name, const char *_format)
{
	if (!__atomic_load_n(_point, __ATOMIC_RELAXED))
		(void)_pxt_open_point(_point, _name, _format);
	return __atomic_load_n(_point, __ATOMIC_RELAXED);
}

/* The identifier: a file's own, or one for all files that have this declaration. */
#define _PXT_OWN(id)                   static trace_event_id_t id __attribute__((__unused__));
#define _PXT_COMMON(id)                                                                            \
	extern trace_event_id_t id __attribute__((__visibility__("hidden")));                      \
	__attribute__((__weak__)) trace_event_id_t id;

/* How long an event's data is at most, and what puts it together. */
#define _PXT_DEFINE(identifier, event, format, params, packing, room, early, known, unknown)       \
	_PXT_SAY((1 known), #event ": types of fields are " _PXT_WORDS ", and not" unknown)        \
	_PXT_SAY(sizeof(#event) <= TRACE_EVENT_NAME_MAX + 1, #event ": the name is too long")      \
	_PXT_SAY(sizeof(format) <= POSIX_TRACE_FORMAT_MAX_NP + 1,                                  \
	    #event ": the description of its fields is too long")                                  \
	_PXT_SAY((0 early) == 0, #event ": a string can only be the last field")                   \
	identifier(_pxt_id_##event) static const char _pxt_format_##event[]                        \
	    __attribute__((__unused__)) = format;                                                  \
	enum {                                                                                     \
		_pxt_room_of_##event = 1u room                                                     \
	};                                                                                         \
	static inline __attribute__((__always_inline__, __unused__))                               \
	size_t _pxt_bytes_of_##event params                                                        \
	{                                                                                          \
		size_t _pxt_used = 0;                                                              \
                                                                                                   \
		_pxt_data[0] = 0; /* or an empty payload would look uninitialised */               \
		packing return _pxt_used;                                                          \
	}                                                                                          \
	struct _pxt_end_##event

#define _PXT_DEFINE_1(each, identifier, message, event)                                            \
	_PXT_DEFINE(identifier, event, "" message, (unsigned char *_pxt_data), , , , , "")
#define _PXT_DEFINE__many(each, identifier, message, event, ...)                                   \
	_PXT_DEFINE(identifier, event, each(_PXT_WORD, _PXT_MORE_WORD, __VA_ARGS__) message,       \
	    (unsigned char *_pxt_data each(_PXT_MORE_PARAM, _PXT_MORE_PARAM, __VA_ARGS__)),        \
	    each(_PXT_PACK, _PXT_PACK, __VA_ARGS__), each(_PXT_SIZE, _PXT_SIZE, __VA_ARGS__),      \
	    each(_PXT_EARLY, _PXT_EARLY, __VA_ARGS__), each(_PXT_KNOWN, _PXT_KNOWN, __VA_ARGS__),  \
	    each(_PXT_UNKNOWN, _PXT_UNKNOWN, __VA_ARGS__))
#define _PXT_DEFINE__half(each, identifier, message, event, ...)                                   \
	_PXT_SAY(0, #event ": each field is a type and a name, at most 32 of them")                \
	struct _pxt_end_##event
#define _PXT_DEFINE_AS(identifier, message, ...)                                                   \
	_PXT_CAT(_PXT_DEFINE_, _PXT_WHAT(__VA_ARGS__))                                             \
	(_PXT_CAT(_PXT_EACH_, _PXT_PAIRS(__VA_ARGS__)), identifier, message, __VA_ARGS__)

/* The message after the event's name, and fields after that or none. */
#define _PXT_TEXT_1(identifier, event, message) _PXT_DEFINE_AS(identifier, "; " message, event)
#define _PXT_TEXT__many(identifier, event, message, ...)                                           \
	_PXT_DEFINE_AS(identifier, "; " message, event, __VA_ARGS__)
#define _PXT_TEXT_AS(identifier, event, ...)                                                       \
	_PXT_GLUE(_PXT_TEXT_, _PXT_MANY(__VA_ARGS__))(identifier, event, __VA_ARGS__)

#if _PXT_UNIT_STACKS
/* Into @_to, the functions that called, at most @_depth; returns their bytes. */
size_t _pxt_stack_callers(unsigned char *_to, unsigned _depth) _PXT_DIRECT;

/* The number of functions after the event's name, and fields after that or none. */
#define _PXT_ANY_REST(type, name, more) +_PXT_OF(_PXT_REST_OF, type)
#define _PXT_PACK_STACK(n)              _pxt_used += _pxt_stack_callers(_pxt_data + _pxt_used, n);
#define _PXT_DEEP_1                     0, _known,
#define _PXT_DEEP_2                     0, _known,
#define _PXT_DEEP_3                     0, _known,
#define _PXT_DEEP_4                     0, _known,
#define _PXT_DEEP_5                     0, _known,
#define _PXT_DEEP_6                     0, _known,
#define _PXT_DEEP_7                     0, _known,
#define _PXT_DEEP_8                     0, _known,
#define _PXT_STACKED_other(identifier, event, ...)                                                 \
	_PXT_SAY(0, #event ": the functions that called are a number from 1 to 8")                 \
	struct _pxt_end_##event
#define _PXT_STACKED_1(identifier, event, depth)                                                   \
	_PXT_DEFINE(identifier, event, POSIX_TRACE_STACK_NP(depth), (unsigned char *_pxt_data),    \
	    _PXT_PACK_STACK(depth), +8u * (depth), , , "")
#define _PXT_STACKED__many(identifier, event, depth, ...)                                          \
	_PXT_CAT(_PXT_STACKED_OF_, _PXT_WHAT(event, __VA_ARGS__))                                  \
	(_PXT_CAT(_PXT_EACH_, _PXT_PAIRS(event, __VA_ARGS__)), _PXT_PAIRS(event, __VA_ARGS__),     \
	    identifier, depth, event, __VA_ARGS__)
#define _PXT_STACKED_OF__half(each, pairs, identifier, depth, event, ...)                          \
	_PXT_DEFINE__half(each, identifier, , event, __VA_ARGS__)
#define _PXT_STACKED_OF__many(each, pairs, identifier, depth, event, ...)                          \
	_PXT_SAY(pairs + (depth) <= POSIX_TRACE_FIELDS_MAX_NP,                                     \
	    #event ": fields and callers are at most 32 together")                                 \
	_PXT_DEFINE(identifier, event,                                                             \
	    each(_PXT_WORD, _PXT_MORE_WORD, __VA_ARGS__) ", " POSIX_TRACE_STACK_NP(depth),         \
	    (unsigned char *_pxt_data each(_PXT_MORE_PARAM, _PXT_MORE_PARAM, __VA_ARGS__)),        \
	    each(_PXT_PACK, _PXT_PACK, __VA_ARGS__) _PXT_PACK_STACK(depth),                        \
	    each(_PXT_SIZE, _PXT_SIZE, __VA_ARGS__) + 8u * (depth),                                \
	    each(_PXT_ANY_REST, _PXT_ANY_REST, __VA_ARGS__),                                       \
	    each(_PXT_KNOWN, _PXT_KNOWN, __VA_ARGS__),                                             \
	    each(_PXT_UNKNOWN, _PXT_UNKNOWN, __VA_ARGS__))
#define _PXT_STACKED_known(identifier, event, ...)                                                 \
	_PXT_GLUE(_PXT_STACKED_, _PXT_MANY(__VA_ARGS__))(identifier, event, __VA_ARGS__)
#define _PXT_DEEP(depth)         _PXT_KIND_OF(_PXT_DEEP_##depth)
#define _PXT_DEEP_OF(depth, ...) _PXT_DEEP(depth)
#define _PXT_STACKED_AS(identifier, event, ...)                                                    \
	_PXT_SORT(_PXT_STACKED, _PXT_DEEP_OF(__VA_ARGS__, 0))(identifier, event, __VA_ARGS__)
#define POSIX_TRACE_DEFINE_STACK_NP(event, ...)  _PXT_STACKED_AS(_PXT_OWN, event, __VA_ARGS__)
#define POSIX_TRACE_DECLARE_STACK_NP(event, ...) _PXT_STACKED_AS(_PXT_COMMON, event, __VA_ARGS__)
#endif

#define POSIX_TRACE_DEFINE_NP(...)              _PXT_DEFINE_AS(_PXT_OWN, , __VA_ARGS__)
#define POSIX_TRACE_DECLARE_NP(...)             _PXT_DEFINE_AS(_PXT_COMMON, , __VA_ARGS__)
#define POSIX_TRACE_DEFINE_TEXT_NP(event, ...)  _PXT_TEXT_AS(_PXT_OWN, event, __VA_ARGS__)
#define POSIX_TRACE_DECLARE_TEXT_NP(event, ...) _PXT_TEXT_AS(_PXT_COMMON, event, __VA_ARGS__)

/* The call is where the point is used: so the program address is that place in every debugger. */
#define _PXT_POINT_ON(event, ...)                                                                  \
	do {                                                                                       \
		trace_event_id_t _pxt_id = __atomic_load_n(&_pxt_id_##event, __ATOMIC_RELAXED);    \
		if (__builtin_expect(_pxt_is_wanted(_pxt_id), 0)) {                                \
			unsigned char _pxt_data[_pxt_room_of_##event];                             \
			size_t _pxt_used;                                                          \
			_PXT_OPEN_AT_USE(&_pxt_id_##event, #event, _pxt_format_##event);           \
			_pxt_used = _pxt_bytes_of_##event(__VA_ARGS__);                            \
			posix_trace_event(_pxt_id, _pxt_data, _pxt_used);                          \
		}                                                                                  \
	} while (0)
#define _PXT_POINT_1__on(event)          _PXT_POINT_ON(event, _pxt_data)
#define _PXT_POINT__many__on(event, ...) _PXT_POINT_ON(event, _pxt_data, __VA_ARGS__)
#define _PXT_POINT_1(event)                                                                        \
	_PXT_GLUE(_PXT_POINT_1_, _PXT_SWITCH(POSIX_TRACE_WITHOUT_##event##_NP))(event)
#define _PXT_POINT__many(event, ...)                                                               \
	_PXT_GLUE(_PXT_POINT__many_, _PXT_SWITCH(POSIX_TRACE_WITHOUT_##event##_NP))                \
	(event, __VA_ARGS__)
#define _PXT_OPEN__off(event) _pxt_nothing()
#define _PXT_OPEN__on(event)  _pxt_open_point(&_pxt_id_##event, #event, _pxt_format_##event)

#define posix_trace_open_np(event)                                                                 \
	_PXT_GLUE(_PXT_OPEN_, _PXT_SWITCH(POSIX_TRACE_WITHOUT_##event##_NP))(event)
#define posix_trace_point_id_np(event) _pxt_opened(&_pxt_id_##event, #event, _pxt_format_##event)
#define posix_trace_point_np(...)      _PXT_CAT(_PXT_POINT_, _PXT_MANY(__VA_ARGS__))(__VA_ARGS__)
/* After a call: it is no jump that ends the caller, so the program address is in the caller. */
#define _PXT_RETURN_HERE()             __asm__ __volatile__("")
#define posix_trace_event_np(event_id, data, len)                                                  \
	do {                                                                                       \
		const trace_event_id_t _pxt_id = (event_id);                                       \
		if (__builtin_expect(_pxt_is_wanted(_pxt_id), 0)) {                                \
			posix_trace_event(_pxt_id, data, len);                                     \
			_PXT_RETURN_HERE();                                                        \
		}                                                                                  \
	} while (0)

#endif

/* ---- Events in pieces (unit User Events) ---- */

#if _PXT_UNIT_USEREVENTS || defined(POSIX_TRACE_OFF_NP)
/*
 * An event whose data is put together piece by piece:
 *
 *	struct posix_trace_pieces_np pieces;
 *	char data[256];
 *
 *	posix_trace_pieces_begin_np(&pieces, event_id, data, sizeof(data));
 *	posix_trace_pieces_add_np(&pieces, &header, sizeof(header));   as often as wanted
 *	posix_trace_pieces_end_np(&pieces);
 *
 * The event has the time and the place of the end.  Nothing is copied if no stream wanted the type
 * at the beginning.  A sequence without a piece is no event (of an event without data:
 * posix_trace_event()).
 *
 * Object and memory are the caller's.  What does not fit is left out.
 *
 * @pieces: the caller's object, the same from begin to end.
 * @buffer: where the pieces are put together, @room bytes; the caller's until the end.
 * @data:   a piece, of @bytes bytes; copied.
 * @bytes:  of the piece.
 *
 * Returns how many bytes were left out from posix_trace_pieces_end_np(), and nothing from the
 * others.
 * Context: as posix_trace_event(), each thread or handler with an object of its own.
 * Cost: the bytes' copying, and posix_trace_event() at the end.  Unit: User Events.
 */
struct posix_trace_pieces_np {
	unsigned char *_pxt_data;
	size_t _pxt_room;
	size_t _pxt_used;
	size_t _pxt_left_out;
	trace_event_id_t _pxt_id; /* 0: no stream wants it */
};
#endif

#if _PXT_UNIT_USEREVENTS && !defined(POSIX_TRACE_OFF_NP)
static inline __attribute__((__unused__)) void posix_trace_pieces_begin_np(
    struct posix_trace_pieces_np *_pieces, trace_event_id_t _event_id, void *_buffer, size_t _room)
{
	_pieces->_pxt_id = _pxt_is_wanted(_event_id) ? _event_id : 0;
	_pieces->_pxt_data = (unsigned char *)_buffer;
	_pieces->_pxt_room = _room;
	_pieces->_pxt_used = 0;
	_pieces->_pxt_left_out = 0;
}

static inline __attribute__((__unused__)) void posix_trace_pieces_add_np(
    struct posix_trace_pieces_np *_pieces, const void *_data, size_t _bytes)
{
	size_t _room = _pieces->_pxt_room - _pieces->_pxt_used;

	if (!_pieces->_pxt_id || !_bytes)
		return;
	if (_bytes > _room) {
		_pieces->_pxt_left_out += _bytes - _room;
		_bytes = _room;
	}
	memcpy(_pieces->_pxt_data + _pieces->_pxt_used, _data, _bytes);
	_pieces->_pxt_used += _bytes;
}

/* Always inline: the event's program address is the caller's. */
static inline __attribute__((__always_inline__, __unused__)) size_t posix_trace_pieces_end_np(
    struct posix_trace_pieces_np *_pieces)
{
	if (_pieces->_pxt_id && _pieces->_pxt_used) {
		posix_trace_event(_pieces->_pxt_id, _pieces->_pxt_data, _pieces->_pxt_used);
		_PXT_RETURN_HERE();
	}
	return _pieces->_pxt_left_out;
}
#elif defined(POSIX_TRACE_OFF_NP)
#define posix_trace_pieces_begin_np(pieces, event_id, data, room)                                  \
	_PXT_POINT__many__off(0, pieces, event_id, data, room)
#define posix_trace_pieces_add_np(pieces, data, bytes) _PXT_POINT__many__off(0, pieces, data, bytes)
#define posix_trace_pieces_end_np(pieces)              ((size_t)0 * sizeof(_pxt_unused(0, pieces)))
#endif

/* ---- Periodic jobs (unit User Events) ---- */

/*
 * The trace points of a periodic job, in the words that `pxtrace why` knows.
 *
 *	POSIX_TRACE_DEFINE_JOB_NP(job)
 *	posix_trace_open_job_np(job)
 *	posix_trace_job_release_np(job, number)
 *	posix_trace_job_begin_np(job, number)
 *	posix_trace_job_end_np(job, number)
 *	posix_trace_job_miss_np(job, number, late_ns)
 *	posix_trace_job_overrun_np(job, number, over_ns)
 *
 * For a job called control:
 *
 *	POSIX_TRACE_DEFINE_JOB_NP(control);                     at file scope, once
 *	...
 *	error = posix_trace_open_job_np(control);               ahead of its first use, if need be
 *	...
 *	posix_trace_job_release_np(control, number);            from now on it may begin
 *	posix_trace_job_begin_np(control, number);
 *	posix_trace_job_end_np(control, number);
 *	posix_trace_job_miss_np(control, number, late_ns);      its deadline was so long ago
 *	posix_trace_job_overrun_np(control, number, over_ns);   it ran longer than it may
 *
 * They are points of the types control_release, control_begin, control_end (u64 number),
 * control_deadline_miss (u64 number, i64 late_ns), and control_overrun (u64 number, i64 over_ns):
 * what is said of posix_trace_point_np() holds for each.  Not all of them need be used.  Release,
 * begin and end may be traced by different threads, the latter two by one.
 *
 * posix_trace_open_job_np() opens all five.
 *
 * @job:     a name for the job, an identifier.
 * @number:  of this release, from any number on.
 * @late_ns: how long ago the deadline was, in nanoseconds.
 * @over_ns: how much longer than it may the job ran, in nanoseconds.
 *
 * Returns 0 or the first error from posix_trace_open_job_np(); the others are statements or
 *         declarations.
 * Errors are as of posix_trace_open_np().
 * Context: as posix_trace_event().
 * Cost: as posix_trace_point_np().  Unit: User Events.
 */
#define POSIX_TRACE_DEFINE_JOB_NP(job)                                                             \
	POSIX_TRACE_DEFINE_NP(job##_release, u64, number);                                         \
	POSIX_TRACE_DEFINE_NP(job##_begin, u64, number);                                           \
	POSIX_TRACE_DEFINE_NP(job##_end, u64, number);                                             \
	POSIX_TRACE_DEFINE_NP(job##_deadline_miss, u64, number, i64, late_ns);                     \
	POSIX_TRACE_DEFINE_NP(job##_overrun, u64, number, i64, over_ns)
#define posix_trace_open_job_np(job)                                                               \
	_pxt_first_error(posix_trace_open_np(job##_release), posix_trace_open_np(job##_begin),     \
	    posix_trace_open_np(job##_end), posix_trace_open_np(job##_deadline_miss),              \
	    posix_trace_open_np(job##_overrun))
#define posix_trace_job_release_np(job, number) posix_trace_point_np(job##_release, number)
#define posix_trace_job_begin_np(job, number)   posix_trace_point_np(job##_begin, number)
#define posix_trace_job_end_np(job, number)     posix_trace_point_np(job##_end, number)
#define posix_trace_job_miss_np(job, number, late_ns)                                              \
	posix_trace_point_np(job##_deadline_miss, number, late_ns)
#define posix_trace_job_overrun_np(job, number, over_ns)                                           \
	posix_trace_point_np(job##_overrun, number, over_ns)

static inline __attribute__((__unused__)) int _pxt_first_error(
    int _release, int _begin, int _end, int _miss, int _overrun)
{
	if (_release || _begin || _end)
		return _release ? _release : _begin ? _begin : _end;
	return _miss ? _miss : _overrun;
}
/* NOLINTEND(bugprone-macro-parentheses, readability-non-const-parameter) */

#ifdef __cplusplus
}
#endif

#endif
