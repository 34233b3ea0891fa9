/* SPDX-License-Identifier: MIT */
/* k_event_logger.h - the name that the paper gives the header. */
#ifndef K_EVENT_LOGGER_H
#define K_EVENT_LOGGER_H

#include <misc/kernel_event_logger.h>

#endif
