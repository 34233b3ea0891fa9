/* SPDX-License-Identifier: MIT */
/*
 * attr.c - the attributes object: its life, its default values, the check of arguments, which policy is the
 * default and which are built; and the getters that every library has.
 */
#include "base/attr.h"

#include <errno.h>
#include <stdatomic.h>
#include <trace_np.h>

_Atomic uint32_t pxt_attr_clockres_ns = 1;

int pxt_attr_refuse(const trace_attr_t *attr, const void *other)
{
	return attr == NULL || other == NULL || attr->_pxt_kept._pxt_magic != PXT_ATTR_MAGIC
	           ? EINVAL
	           : 0;
}

bool pxt_attr_stream_policy_built(int policy)
{
	return (policy == POSIX_TRACE_LOOP && CONFIG_PTRACE_POLICY_LOOP) ||
	       (policy == POSIX_TRACE_UNTIL_FULL && CONFIG_PTRACE_POLICY_UNTIL_FULL) ||
	       (policy == POSIX_TRACE_FLUSH && CONFIG_PTRACE_POLICY_FLUSH) ||
	       (policy == POSIX_TRACE_DISCARD_NP && CONFIG_PTRACE_POLICY_DISCARD);
}

bool pxt_attr_log_policy_built(int policy)
{
	return (policy == POSIX_TRACE_LOOP && CONFIG_PTRACE_LOG_LOOP) ||
	       (policy == POSIX_TRACE_UNTIL_FULL && CONFIG_PTRACE_LOG_UNTIL_FULL) ||
	       (policy == POSIX_TRACE_APPEND && CONFIG_PTRACE_LOG_APPEND);
}

/*
 * FLUSH comes first only with a log.  The last of each row needs no question: a configuration has
 * one policy at least, and one without streams shows the standard's default.
 */
int pxt_attr_default_stream_policy(bool with_log)
{
	if (with_log && pxt_attr_stream_policy_built(POSIX_TRACE_FLUSH))
		return POSIX_TRACE_FLUSH;
	if (!with_log && pxt_attr_stream_policy_built(POSIX_TRACE_LOOP))
		return POSIX_TRACE_LOOP;
	if (pxt_attr_stream_policy_built(POSIX_TRACE_UNTIL_FULL))
		return POSIX_TRACE_UNTIL_FULL;
	return pxt_attr_stream_policy_built(POSIX_TRACE_DISCARD_NP) ? POSIX_TRACE_DISCARD_NP
	                                                            : POSIX_TRACE_LOOP;
}

int pxt_attr_default_log_policy(void)
{
	if (pxt_attr_log_policy_built(POSIX_TRACE_LOOP))
		return POSIX_TRACE_LOOP;
	if (pxt_attr_log_policy_built(POSIX_TRACE_UNTIL_FULL))
		return POSIX_TRACE_UNTIL_FULL;
	return pxt_attr_log_policy_built(POSIX_TRACE_APPEND) ? POSIX_TRACE_APPEND
	                                                     : POSIX_TRACE_LOOP;
}

void pxt_attr_defaults(struct _pxt_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->_pxt_magic = PXT_ATTR_MAGIC;
	attr->_pxt_inherit = POSIX_TRACE_CLOSE_FOR_CHILD;
	attr->_pxt_ctx_bytes = PXT_CTX_BYTES;
	attr->_pxt_stream_size = CONFIG_PTRACE_DEFAULT_STREAM_SIZE;
	attr->_pxt_max_data = CONFIG_PTRACE_DEFAULT_DATA_SIZE;
	attr->_pxt_log_size = CONFIG_PTRACE_DEFAULT_LOG_SIZE;
	attr->_pxt_clockres_nsec =
	    (int32_t)atomic_load_explicit(&pxt_attr_clockres_ns, memory_order_relaxed);
	memcpy(attr->_pxt_genversion, PXT_GENVERSION, sizeof(PXT_GENVERSION));
	attr->_pxt_system_slots = pxt_system_slots();
}

PXT_API int posix_trace_attr_init(trace_attr_t *attr)
{
	if (!pxt_arg_given(attr))
		return EINVAL;
	memset(attr, 0, sizeof(*attr));
	pxt_attr_defaults(&attr->_pxt_kept);
	return 0;
}

PXT_API int posix_trace_attr_destroy(trace_attr_t *attr)
{
	int error = pxt_attr_check(attr, attr);

	if (!error)
		attr->_pxt_kept._pxt_magic = 0;
	return error;
}

PXT_ATTR_GETTER(posix_trace_attr_getclockres, struct timespec, resolution,
    ((struct timespec){
        .tv_sec = (time_t)kept->_pxt_clockres_sec, .tv_nsec = kept->_pxt_clockres_nsec }));

PXT_ATTR_GETTER(posix_trace_attr_getcreatetime, struct timespec, createtime,
    ((struct timespec){
        .tv_sec = (time_t)kept->_pxt_create_sec, .tv_nsec = kept->_pxt_create_nsec }));

/* No more than the string: the caller's array may have TRACE_NAME_MAX bytes only (DEC-04). */
static void copy_name(char *to, const char *from)
{
	const char *end = memchr(from, '\0', TRACE_NAME_MAX);
	size_t length = end ? (size_t)(end - from) : TRACE_NAME_MAX;

	memcpy(to, from, length);
	to[length] = '\0';
}

PXT_API int posix_trace_attr_getgenversion(const trace_attr_t *attr, char *genversion)
{
	int error = pxt_attr_check(attr, genversion);

	if (!error)
		copy_name(genversion, attr->_pxt_kept._pxt_genversion);
	return error;
}

PXT_API int posix_trace_attr_getname(const trace_attr_t *attr, char *tracename)
{
	int error = pxt_attr_check(attr, tracename);

	if (!error)
		copy_name(tracename, attr->_pxt_kept._pxt_name);
	return error;
}

PXT_ATTR_GETTER(posix_trace_attr_getmaxdatasize, size_t, maxdatasize, (size_t)kept->_pxt_max_data);

PXT_ATTR_GETTER(posix_trace_attr_getmaxsystemeventsize, size_t, eventsize,
    ((size_t)kept->_pxt_system_slots + pxt_attr_may_have_lanes(kept)) * PXT_SLOT_BYTES);

PXT_API int posix_trace_attr_getmaxusereventsize(
    const trace_attr_t *restrict attr, size_t data_len, size_t *restrict eventsize)
{
	uint32_t bytes;

	if (pxt_attr_check(attr, eventsize))
		return EINVAL;
	bytes =
	    (uint32_t)(data_len < attr->_pxt_kept._pxt_max_data ? data_len
	                                                        : attr->_pxt_kept._pxt_max_data);
	*eventsize = (size_t)pxt_slots_for(attr->_pxt_kept._pxt_ctx_bytes + bytes) * PXT_SLOT_BYTES;
	return 0;
}

PXT_ATTR_GETTER(posix_trace_attr_getstreamfullpolicy, int, streampolicy,
    kept->_pxt_stream_policy ? kept->_pxt_stream_policy : pxt_attr_default_stream_policy(false));

PXT_ATTR_GETTER(posix_trace_attr_getstreamsize, size_t, streamsize, (size_t)kept->_pxt_stream_size);
