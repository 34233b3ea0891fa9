/* SPDX-License-Identifier: MIT */
/* qnx.h - the form of QNX's events as events of ours, which the emitting half and readers share. */
#ifndef COMPAT_QNX_H
#define COMPAT_QNX_H

#include "include/qnx_trace_event.h"

#include <stdio.h>
#include <string.h>

#define QNX_NAME_BYTES sizeof("qnx_process_thread")
#define QNX_HEAD_BYTES 8u  /* of a part: header, stamp */
#define QNX_LEAST      4u  /* without a header it is no event */
#define QNX_SIMPLE     12u /* bytes of a simple event: header, two words */
#define QNX_PART_BYTES 64u /* most data of a part */
#define QNX_FORBIDDEN  0xc0008000u

/* @name: QNX_NAME_BYTES; of the class's type. */
static inline void qnx_class_name(unsigned class_, char *name)
{
	static const char *const names[] = { "empty", "control", "kernel_call", "interrupt",
		"process_thread", "container" };

	if (class_ < sizeof(names) / sizeof(names[0]))
		(void)snprintf(name, QNX_NAME_BYTES, "qnx_%s", names[class_]);
	else
		(void)snprintf(name, QNX_NAME_BYTES, "qnx_class_%02u", class_ % QNX_CLASSES);
}

/* The class of a type; 0: none. */
static inline unsigned qnx_class_of(const char *type)
{
	char name[QNX_NAME_BYTES];

	for (unsigned class_ = 1; class_ < QNX_CLASSES; class_++) {
		qnx_class_name(class_, name);
		if (strcmp(name, type) == 0)
			return class_;
	}
	return 0;
}

#endif
