/* SPDX-License-Identifier: MIT */
/* emit.c - QNX: simple and combine events. */
#include "../own.h"
#include "qnx.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static trace_event_id_t types[QNX_CLASSES];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool opened;
static _Atomic uint32_t stamps;

static void open_types(void)
{
	char name[QNX_NAME_BYTES];

	for (unsigned class_ = 1; class_ < QNX_CLASSES; class_++) {
		qnx_class_name(class_, name);
		/* No description fits both kinds of events; the data is shown as bytes and text. */
		if (compat_open_type(name, NULL, &types[class_]) != 0)
			types[class_] = 0;
	}
	/* Release: a thread that sees it sees the types. */
	atomic_store_explicit(&opened, true, memory_order_release);
}

/* So that the first call of all may be in a signal handler. */
__attribute__((constructor)) static void open_ahead(void)
{
	(void)pthread_once(&once, open_types);
}

static int check(uint32_t header)
{
	if (!atomic_load_explicit(&opened, memory_order_acquire))
		(void)pthread_once(&once, open_types);
	return (header & QNX_FORBIDDEN) || _NTO_TRACE_GETEVENT_C(header) == 0 ? EINVAL : 0;
}

/* The parts of a combine event have one stamp, and no other's of the process have that. */
static uint32_t new_stamp(void)
{
	return atomic_fetch_add_explicit(&stamps, 1u, memory_order_relaxed) + 1u;
}

static void emit_part(uint32_t header, uint32_t stamp, const void *bytes, size_t length)
{
	unsigned char data[QNX_HEAD_BYTES + QNX_PART_BYTES];

	memcpy(&data[0], &header, sizeof(header));
	memcpy(&data[4], &stamp, sizeof(stamp));
	if (length != 0)
		memcpy(&data[QNX_HEAD_BYTES], bytes, length);
	posix_trace_event(
	    types[_NTO_TRACE_GETEVENT_C(header) >> 10], data, QNX_HEAD_BYTES + length);
}

static void emit_pieces(trace_state_t *state, uint32_t header, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	size_t piece;

	do {
		piece = length < QNX_PART_BYTES ? length : QNX_PART_BYTES;
		emit_part(header | (state->parts == 0 ? _TRACE_STRUCT_CB : _TRACE_STRUCT_CC),
		    state->stamp, from, piece);
		state->parts++;
		from += piece;
		length -= piece;
	} while (length != 0);
}

int add_trace_event(uint32_t header, uint32_t data0, uint32_t data1)
{
	/* Its stamp is the event's own. */
	const uint32_t data[] = { header, data0, data1 };
	const int error = check(header);

	if (!error)
		posix_trace_event(types[_NTO_TRACE_GETEVENT_C(header) >> 10], data, sizeof(data));
	return error;
}

int add_trace_b_init(trace_state_t *state)
{
	if (!state)
		return EINVAL;
	*state = (trace_state_t){ .stamp = new_stamp() };
	return 0;
}

int add_trace_b_add(trace_state_t *state, uint32_t header, const void *bytes, unsigned length)
{
	const int error = !state || (!bytes && length != 0) ? EINVAL : check(header);

	if (!error && length != 0)
		emit_pieces(state, header, bytes, length);
	return error;
}

int add_trace_b_end(trace_state_t *state, uint32_t header)
{
	const int error = !state ? EINVAL : check(header);

	if (!error && state->parts != 0)
		emit_part(header | _TRACE_STRUCT_CE, state->stamp, NULL, 0);
	if (!error)
		state->parts = 0;
	return error;
}

static int emit_whole(uint32_t header, const void *bytes, size_t length)
{
	trace_state_t state;

	(void)add_trace_b_init(&state);
	emit_pieces(&state, header, bytes, length);
	return add_trace_b_end(&state, header);
}

int add_trace_buffer(uint32_t header, const uint32_t *words, unsigned count)
{
	const int error = !words && count != 0 ? EINVAL : check(header);

	if (error)
		return error;
	if (count <= 2)
		return add_trace_event(header, count > 0 ? words[0] : 0, count > 1 ? words[1] : 0);
	return emit_whole(header, words, count * sizeof(words[0]));
}

__attribute__((format(printf, 4, 0))) static int emit_string(
    uint32_t header, const uint32_t *arguments, size_t count, const char *format, va_list list)
{
	char data[2 * sizeof(uint32_t) + QNX_STRING_MAX + 1];
	char *text = &data[count * sizeof(uint32_t)];
	int error = format ? check(header) : EINVAL;

	if (error)
		return error;
	if (count != 0)
		memcpy(data, arguments, count * sizeof(uint32_t));
	if (vsnprintf(text, QNX_STRING_MAX + 1, format, list) < 0)
		return EINVAL;
	return emit_whole(header, data, count * sizeof(uint32_t) + strlen(text));
}

int add_trace_string(uint32_t header, const char *format, ...)
{
	va_list list;
	int error;

	va_start(list, format);
	error = emit_string(header, NULL, 0, format, list);
	va_end(list);
	return error;
}

int add_trace_d1_string(uint32_t header, uint32_t d1, const char *format, ...)
{
	va_list list;
	int error;

	va_start(list, format);
	error = emit_string(header, &d1, 1, format, list);
	va_end(list);
	return error;
}

int add_trace_d2_string(uint32_t header, uint32_t d1, uint32_t d2, const char *format, ...)
{
	const uint32_t arguments[] = { d1, d2 };
	va_list list;
	int error;

	va_start(list, format);
	error = emit_string(header, arguments, 2, format, list);
	va_end(list);
	return error;
}
