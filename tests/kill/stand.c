/* SPDX-License-Identifier: MIT */
/* stand.c - a child that is at a test point; see heir.h. */
#include "heir.h"

#include "core/kit.h"

#include <unistd.h>

static int to_parent;

/* Tells where it is, and waits to be killed there. */
static void stand(void *argument)
{
	int point = kit_interrupted();

	if (write(to_parent, &point, sizeof(point)) != (ssize_t)sizeof(point))
		_exit(2);
	for (;;)
		(void)pause();
}

void stand_at(uint32_t nth)
{
	kit_interrupt(nth, KIT_WRITER_POINTS, stand, NULL);
}

int stand_fork(void (*body)(const void *argument), const void *argument, pid_t *child)
{
	int point = -1;
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	*child = fork();
	CU_ASSERT_FATAL(*child >= 0);
	if (*child == 0) {
		to_parent = ends[1];
		body(argument);
		_exit(0);
	}
	(void)close(ends[1]);
	if (read(ends[0], &point, sizeof(point)) != (ssize_t)sizeof(point))
		point = -1;
	(void)close(ends[0]);
	return point;
}
