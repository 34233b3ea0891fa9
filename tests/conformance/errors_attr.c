/* SPDX-License-Identifier: MIT */
/* errors_attr.c - attribute functions given something else than an attributes object, or no place to store. */
#include "../suite_trace.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <trace.h>

#define CANARY 0xa5

/* ---- Attribute functions: no object, a wrong object, nowhere to store ---- */

struct attr_row {
	const char *name;
	int (*call)(trace_attr_t *attr, void *out);
	bool stores;
};

#define GETTER(name, type)                                                                         \
	static int get_##name(trace_attr_t *attr, void *out)                                       \
	{                                                                                          \
		return posix_trace_attr_get##name(attr, (type *)out);                              \
	}
#define SETTER(name, value)                                                                        \
	static int set_##name(trace_attr_t *attr, void *out)                                       \
	{                                                                                          \
		(void)out;                                                                         \
		return posix_trace_attr_set##name(attr, value);                                    \
	}

GETTER(clockres, struct timespec)
GETTER(createtime, struct timespec)
GETTER(genversion, char)
GETTER(name, char)
GETTER(maxdatasize, size_t)
GETTER(maxsystemeventsize, size_t)
GETTER(streamfullpolicy, int)
GETTER(streamsize, size_t)

static int get_maxusereventsize(trace_attr_t *attr, void *out)
{
	return posix_trace_attr_getmaxusereventsize(attr, 8, (size_t *)out);
}

static int destroy(trace_attr_t *attr, void *out)
{
	return posix_trace_attr_destroy(attr);
}

#if _PXT_UNIT_CORE
SETTER(name, "name")
SETTER(maxdatasize, 8)
SETTER(streamfullpolicy, pxt_default_stream_policy_is(false))
SETTER(streamsize, 4096)
#endif
#if _PXT_UNIT_TOLOG
GETTER(logfullpolicy, int)
GETTER(logsize, size_t)
SETTER(logfullpolicy, pxt_default_log_policy_is())
SETTER(logsize, 65536)
#endif

static const struct attr_row attr_functions[] = {
	{ "getclockres", get_clockres, true },
	{ "getcreatetime", get_createtime, true },
	{ "getgenversion", get_genversion, true },
	{ "getname", get_name, true },
	{ "getmaxdatasize", get_maxdatasize, true },
	{ "getmaxsystemeventsize", get_maxsystemeventsize, true },
	{ "getmaxusereventsize", get_maxusereventsize, true },
	{ "getstreamfullpolicy", get_streamfullpolicy, true },
	{ "getstreamsize", get_streamsize, true },
#if _PXT_UNIT_CORE
	{ "setname", set_name, false },
	{ "setmaxdatasize", set_maxdatasize, false },
	{ "setstreamfullpolicy", set_streamfullpolicy, false },
	{ "setstreamsize", set_streamsize, false },
#endif
#if _PXT_UNIT_TOLOG
	{ "getlogfullpolicy", get_logfullpolicy, true },
	{ "getlogsize", get_logsize, true },
	{ "setlogfullpolicy", set_logfullpolicy, false },
	{ "setlogsize", set_logsize, false },
#endif
	{ "destroy", destroy, false },
};
#define ATTR_FUNCTIONS (sizeof(attr_functions) / sizeof(attr_functions[0]))

union attr_output {
	struct timespec time;
	size_t size;
	int number;
	char text[TRACE_NAME_MAX + 1];
	unsigned char bytes[64];
};

/* ERR-01, AGCLK-01, AGCRT-01, AGGEN-01, AGNAM-01, AGMSE-01, ADEST-01 */
PXT_TEST(attribute_functions_return_zero_and_leave_errno_alone)
{
	trace_attr_t attr;
	union attr_output out;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (size_t i = 0; i < ATTR_FUNCTIONS; i++) {
		errno = 12345;
		int error = attr_functions[i].call(&attr, &out);
		PXT_CHECK(error == 0 && errno == 12345, "%s: %d, errno %d", attr_functions[i].name,
		    error, errno);
	}
}

#if PXT_CHECKS_ARGUMENTS
static void check_bad_attr(const struct attr_row *row, trace_attr_t *attr, const char *what)
{
	union attr_output out;
	int error;

	memset(&out, CANARY, sizeof(out));
	errno = 12345;
	error = row->call(attr, &out);
	PXT_CHECK(error == EINVAL, "%s on %s returns %d", row->name, what, error);
	PXT_CHECK(errno == 12345, "%s on %s changes errno", row->name, what);
	for (size_t i = 0; i < sizeof(out); i++)
		PXT_CHECK(out.bytes[i] == CANARY, "%s on %s stores a result", row->name, what);
}

/* ADEST-E1, ADEST-02, AGCLK-E1, AGCRT-E1, AGGEN-E1, AGNAM-E1, AGLFP-E1, ASLFP-E1, AGSFP-E1, ASSFP-E1,
 * AGLSZ-E1, ASLSZ-E1, AGMDS-E1, ASMDS-E1, AGMSE-E1, AGMUE-E1, AGSSZ-E1, ASSSZ-E1, DEC-02, DEC-05 */
PXT_TEST(attribute_functions_refuse_what_is_no_attributes_object)
{
	trace_attr_t attr;

	for (size_t i = 0; i < ATTR_FUNCTIONS; i++) {
		const struct attr_row *row = &attr_functions[i];
		check_bad_attr(row, NULL, "NULL");
		memset(&attr, 0, sizeof(attr));
		check_bad_attr(row, &attr, "zeroes");
		memset(&attr, 0x5a, sizeof(attr));
		check_bad_attr(row, &attr, "garbage");
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
		check_bad_attr(row, &attr, "a destroyed object");
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		if (row->stores)
			PXT_CHECK(row->call(&attr, NULL) == EINVAL, "%s stores to NULL", row->name);
	}
	PXT_EQ(posix_trace_attr_init(NULL), EINVAL);
}
#endif
