/* SPDX-License-Identifier: MIT */
/* logline.c - whatever the board sends on is a line. */
#include "port/port_log.h"

enum pxt_log_line pxt_port_log_line(const struct pxt_port_log *log)
{
	(void)log;
	return PXT_LINE_BYTES;
}
