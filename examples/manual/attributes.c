/* SPDX-License-Identifier: MIT */
/*
 * attributes.c - a stream of 64 KiB with a name and a policy; then what of it is in force.
 *
 * Page: posix_trace_attr_init, posix_trace_attr_destroy - begin and end the life of an attributes
 * object
 * Page: posix_trace_attr_getname, posix_trace_attr_setname, posix_trace_attr_getclockres,
 * posix_trace_attr_getcreatetime, posix_trace_attr_getgenversion - identify a stream and its clock
 * Page: posix_trace_attr_setstreamfullpolicy, posix_trace_attr_getstreamfullpolicy,
 * posix_trace_attr_getlogfullpolicy, posix_trace_attr_setlogfullpolicy,
 * posix_trace_attr_getinherited, posix_trace_attr_setinherited - what a full stream and a full log
 * do, and who inherits a stream
 * Page: posix_trace_attr_setstreamsize, posix_trace_attr_getstreamsize,
 * posix_trace_attr_getlogsize, posix_trace_attr_setlogsize, posix_trace_attr_getmaxdatasize,
 * posix_trace_attr_setmaxdatasize, posix_trace_attr_getmaxsystemeventsize,
 * posix_trace_attr_getmaxusereventsize - sizes of a stream and its log
 * Page: posix_trace_attr_setlanes_np, posix_trace_attr_getlanes_np,
 * posix_trace_attr_setorderedstamps_np, posix_trace_attr_getorderedstamps_np,
 * posix_trace_attr_setpolling_np, posix_trace_attr_getpolling_np - lanes of a stream, its order,
 * and how readers wait
 * Page: posix_trace_attr_setflushpriority_np, posix_trace_attr_getflushpriority_np,
 * posix_trace_attr_setlogform_np, posix_trace_attr_getlogform_np - how a log is flushed, and its
 * form
 *
 * Prints:
 *	engine: 65536 bytes in 1 lane; a full stream overwrites
 *	an event of 100 bytes takes 160 bytes
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	char name[TRACE_NAME_MAX + 1];
	size_t size;
	size_t event_size;
	unsigned lanes;
	int policy;

	must(posix_trace_attr_init(&attr));
	must(posix_trace_attr_setname(&attr, "engine"));
	must(posix_trace_attr_setstreamsize(&attr, 65536));
	must(posix_trace_attr_setmaxdatasize(&attr, 100));
	must(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	must(posix_trace_attr_setlanes_np(&attr, 1));
	must(posix_trace_create(0, &attr, &trid));
	must(posix_trace_attr_destroy(&attr));

	/* What is in force may be more than was asked for. */
	must(posix_trace_get_attr(trid, &attr));
	must(posix_trace_attr_getname(&attr, name));
	must(posix_trace_attr_getstreamsize(&attr, &size));
	must(posix_trace_attr_getlanes_np(&attr, &lanes));
	must(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	must(posix_trace_attr_getmaxusereventsize(&attr, 100, &event_size));
	(void)printf("%s: %zu bytes in %u lane; a full stream %s\n", name, size, lanes,
	    policy == POSIX_TRACE_LOOP ? "overwrites" : "stops");
	(void)printf("an event of 100 bytes takes %zu bytes\n", event_size);
	must(posix_trace_shutdown(trid));
	return 0;
}
