/* SPDX-License-Identifier: MIT */
/* attr_log_get.c - getters of the log's attributes: for Trace To Log and for Log Retrieval. */
#include "base/attr.h"

PXT_ATTR_GETTER(posix_trace_attr_getlogfullpolicy, int, logpolicy,
    kept->_pxt_log_policy ? kept->_pxt_log_policy : pxt_attr_default_log_policy());

PXT_ATTR_GETTER(posix_trace_attr_getlogsize, size_t, logsize, (size_t)kept->_pxt_log_size);
