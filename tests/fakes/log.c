/* SPDX-License-Identifier: MIT */
/* log.c - log output that stops in the middle. */
#include "fakes.h"
#include "port/port_log.h"

#include <string.h>

struct pxt_fault pxt_fault_write;
struct pxt_fault pxt_fault_truncate;

static size_t accepted(size_t bytes)
{
	return pxt_fault_write.accept < bytes ? pxt_fault_write.accept : bytes;
}

PXT_WRAPPED(int, pxt_port_log_write,
    (struct pxt_port_log * log, const void *data, size_t bytes, size_t *done))
{
	int error;

	if (!pxt_fault_hit(&pxt_fault_write))
		return __real_pxt_port_log_write(log, data, bytes, done);
	error = __real_pxt_port_log_write(log, data, accepted(bytes), done);
	return error != 0 ? error : pxt_fault_write.error;
}

PXT_WRAPPED(int, pxt_port_log_write_at,
    (struct pxt_port_log * log, uint64_t offset, const void *data, size_t bytes, size_t *done))
{
	int error;

	if (!pxt_fault_hit(&pxt_fault_write))
		return __real_pxt_port_log_write_at(log, offset, data, bytes, done);
	error = __real_pxt_port_log_write_at(log, offset, data, accepted(bytes), done);
	return error != 0 ? error : pxt_fault_write.error;
}

PXT_WRAPPED(int, pxt_port_log_truncate, (struct pxt_port_log * log, uint64_t size))
{
	if (pxt_fault_hit(&pxt_fault_truncate))
		return pxt_fault_truncate.error;
	return __real_pxt_port_log_truncate(log, size);
}

#if CONFIG_PTRACE_LOG_ROTATE
struct pxt_fault pxt_fault_next;
struct pxt_fault pxt_fault_remove;

PXT_WRAPPED(int, pxt_port_log_next, (struct pxt_port_log * next, struct pxt_port_log *log))
{
	if (pxt_fault_hit(&pxt_fault_next))
		return pxt_fault_next.error;
	return __real_pxt_port_log_next(next, log);
}

PXT_WRAPPED(int, pxt_port_log_remove,
    (struct pxt_port_log * log, uint32_t number, const struct pxt_port_place *place))
{
	if (pxt_fault_hit(&pxt_fault_remove))
		return pxt_fault_remove.error;
	return __real_pxt_port_log_remove(log, number, place);
}
#endif

/* ---- Bytes that are not random ---- */

static bool fixed;
static unsigned char fixed_byte;

PXT_WRAPPED(void, pxt_port_random, (void *bytes, size_t count))
{
	if (fixed)
		memset(bytes, fixed_byte, count);
	else
		__real_pxt_port_random(bytes, count);
}

void pxt_fake_random(unsigned char byte)
{
	fixed_byte = byte;
	fixed = true;
}
