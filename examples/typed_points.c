/* SPDX-License-Identifier: MIT */
/*
 * typed_points.c - trace points of one line that stay in shipped code.  Their arguments are packed
 * as the definition says, and not even evaluated while nobody wants the event.  Compiled with
 * -DPOSIX_TRACE_OFF_NP they are gone altogether.
 *
 * Reading back: the description travels with the type, so the reader needs no header of the
 * writer's.
 *
 * Page: posix_trace_point_np, POSIX_TRACE_DEFINE_NP, POSIX_TRACE_DECLARE_NP,
 * POSIX_TRACE_DEFINE_TEXT_NP, POSIX_TRACE_DECLARE_TEXT_NP, posix_trace_open_np,
 * posix_trace_point_id_np, posix_trace_event_np - typed trace points of one line
 * Page: posix_trace_eventid_setformat_np, posix_trace_eventid_getformat_np,
 * posix_trace_field_next_np, posix_trace_text_np - describe the data of a type, and read it
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

POSIX_TRACE_DEFINE_NP(temperature, u32, sensor, double, celsius, text(8), place);

static unsigned measurements;

static double measure(void)
{
	measurements++;
	return 20.0 + (double)measurements / 4;
}

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "typed_points: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void print_field(const struct posix_trace_field_np *field, const unsigned char *data)
{
	(void)printf(" %s=", field->posix_name_np);
	if (field->posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP)
		(void)printf("%.*s", (int)field->posix_bytes_np,
		    (const char *)data + field->posix_offset_np);
	else if (field->posix_kind_np == POSIX_TRACE_FIELD_FLOAT_NP)
		(void)printf("%.2f", field->posix_value_np.posix_f_np);
	else
		(void)printf("%lld", (long long)field->posix_value_np.posix_i_np);
}

static void print_event(
    trace_id_t trid, trace_event_id_t id, const unsigned char *data, size_t length)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_field_np field;
	size_t cursor = 0;

	must("name", posix_trace_eventid_get_name(trid, id, name));
	must("format", posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)));
	(void)printf("%s:", name);
	while (
	    posix_trace_field_next_np(format, data, length, 0, &cursor, &field, sizeof(field)) == 0)
		print_field(&field, data);
	(void)printf("\n");
}

int main(void)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_id_t trid;
	size_t length;
	int nothing;

	must("create", posix_trace_create(0, NULL, &trid));
	posix_trace_point_np(temperature, 1, measure(), "cellar"); /* not running: not measured */
	must("start", posix_trace_start(trid));
	posix_trace_point_np(temperature, 1, measure(), "cellar");
	posix_trace_point_np(temperature, 2, measure(), "roof");
	must("stop", posix_trace_stop(trid));
	while (
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &length, &nothing) == 0 &&
	    !nothing) {
		if (info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT)
			print_event(trid, info.posix_event_id, data, length);
	}
	(void)printf("typed_points: measured %u times for 3 trace points\n", measurements);
	return posix_trace_shutdown(trid) != 0;
}
