/* SPDX-License-Identifier: MIT */
/* own.c - types and streams of the interfaces. */
#include "own.h"

#include <errno.h>

int compat_open_type(const char *name, const char *format, trace_event_id_t *type)
{
	int error = posix_trace_eventid_open(name, type);

	if (!error && *type == POSIX_TRACE_UNNAMED_USEREVENT)
		error = ENOMEM;
	/* A description is a help to readers only: without room for it the data is shown as bytes. */
	if (!error && format)
		(void)posix_trace_eventid_setformat_np(*type, format);
	return error;
}

static int set_attributes(trace_attr_t *attr, const struct compat_own *own)
{
	size_t bytes = 0;
	int error = posix_trace_attr_setmaxdatasize(attr, own->data_bytes);

	if (!error)
		error = posix_trace_attr_getmaxusereventsize(attr, own->event_bytes, &bytes);
	if (!error)
		error = posix_trace_attr_setstreamsize(attr, own->events * bytes);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(attr, own->policy);
	if (!error)
		error = posix_trace_attr_setname(attr, own->name);
	return error ? error : posix_trace_attr_setlanes_np(attr, 1);
}

static int set_filter(trace_id_t stream, const struct compat_own *own)
{
	trace_event_set_t others;
	int error = posix_trace_eventset_fill(&others, POSIX_TRACE_ALL_EVENTS);

	for (size_t i = 0; !error && i < own->count; i++)
		if (own->types[i] != 0)
			error = posix_trace_eventset_del(own->types[i], &others);
	return error ? error : posix_trace_set_filter(stream, &others, POSIX_TRACE_SET_EVENTSET);
}

int compat_make_stream(const struct compat_own *own, trace_id_t *stream)
{
	trace_attr_t attr;
	trace_id_t made = 0;
	int error = posix_trace_attr_init(&attr);

	if (error)
		return error;
	error = set_attributes(&attr, own);
	if (!error)
		error = posix_trace_create(0, &attr, &made);
	if (!error)
		error = set_filter(made, own);
	if (!error)
		error = posix_trace_start(made);
	if (error && made)
		(void)posix_trace_shutdown(made);
	if (!error)
		*stream = made;
	(void)posix_trace_attr_destroy(&attr);
	return error;
}
