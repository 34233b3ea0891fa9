/* SPDX-License-Identifier: MIT */
/* names.c - the name map of a process that has the User Events unit. */
#include "core/names.h"

#include "base/fields.h"
#include "port/port.h"

#include <errno.h>
#include <string.h>

/* One description at the least, so that the pool is no empty array. */
#define POOL_BYTES (CONFIG_PTRACE_FORMAT_POOL_BYTES > 0 ? CONFIG_PTRACE_FORMAT_POOL_BYTES : 1)
#define NAME_BYTES (TRACE_EVENT_NAME_MAX + 1)
/* An array of no entries is no C: with a limit of 1 the entry stays unused. */
#define NAMES_ROOM (PXT_NAMES_MAX > 0 ? PXT_NAMES_MAX : 1)

/* Raise the version when this layout changes: readers of dumps look at it. */
struct names {
	char magic[8];
	uint32_t version;
	uint32_t bytes;
	uint32_t name_bytes;
	uint32_t names_max;
	uint32_t pool_bytes;
	_Atomic uint32_t count;
	uint32_t pool_used;
	uint32_t reserved;
	_Atomic uint32_t format_at[NAMES_ROOM]; /* offset in pool plus 1; 0: none */
	char names[NAMES_ROOM][NAME_BYTES];
	char pool[POOL_BYTES];
};

static struct names map;

static struct {
	struct pxt_port_mutex mutex;
	_Atomic uint32_t ready; /* 0 no, 1 being made, 2 yes */
} guard;

/*
 * Not from a constructor: another library's constructor may open names before ours runs, and a
 * bare-metal start-up may run none.
 */
static void lock(void)
{
	uint32_t state = 0;

	if (atomic_load_explicit(&guard.ready, memory_order_acquire) != 2 &&
	    atomic_compare_exchange_strong_explicit(
	        &guard.ready, &state, 1, memory_order_acquire, memory_order_acquire)) {
		pxt_port_mutex_init(&guard.mutex);
		memcpy(map.magic, "PXTNAMES", sizeof(map.magic));
		map.version = 1;
		map.bytes = sizeof(map);
		map.name_bytes = NAME_BYTES;
		map.names_max = PXT_NAMES_MAX;
		map.pool_bytes = CONFIG_PTRACE_FORMAT_POOL_BYTES;
		atomic_store_explicit(&guard.ready, 2, memory_order_release);
	}
	while (atomic_load_explicit(&guard.ready, memory_order_acquire) != 2)
		pxt_port_pause_ns(1000);
	pxt_port_mutex_lock(&guard.mutex);
}

static void unlock(void)
{
	pxt_port_mutex_unlock(&guard.mutex);
}

/* A child of a fork in the midst of lock() would wait for a thread that it does not have. */
void pxt_names_after_fork(void)
{
	uint32_t state = atomic_load_explicit(&guard.ready, memory_order_relaxed);

	if (state == 2)
		pxt_port_mutex_init(&guard.mutex);
	else
		atomic_store_explicit(&guard.ready, 0, memory_order_relaxed);
}

unsigned pxt_names_count(void)
{
	/* Acquire: the names counted are there. */
	return atomic_load_explicit(&map.count, memory_order_acquire);
}

/* @bytes counts the NUL.  Returns 0 where no type of this name is. */
static unsigned find(const char *name, size_t bytes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (memcmp(map.names[i], name, bytes) == 0)
			return PXT_ID_USER_FIRST + i;
	}
	return pxt_system_event_id(name, bytes);
}

/* The name first, then the count: a fork or a reader in between sees no half of it. */
static unsigned append(const char *name, size_t bytes, unsigned count)
{
	memset(map.names[count], 0, NAME_BYTES);
	memcpy(map.names[count], name, bytes);
	atomic_store_explicit(&map.count, count + 1, memory_order_release);
	return PXT_ID_USER_FIRST + count;
}

int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	const char *end = memchr(name, '\0', NAME_BYTES);
	size_t bytes;
	unsigned count;
	unsigned found;

	*is_new = false;
	if (!end)
		return ENAMETOOLONG;
	bytes = (size_t)(end - name) + 1;
	count = pxt_names_count();
	found = find(name, bytes, count);
	if (found == 0) {
		lock();
		/* Somebody else may have defined it since. */
		count = pxt_names_count();
		found = find(name, bytes, count);
		if (found == 0 && count < map.names_max) {
			found = append(name, bytes, count);
			*is_new = true;
		}
		unlock();
	}
	*id = found != 0 ? found : PXT_ID_UNNAMED;
	return 0;
}

const char *pxt_names_of(unsigned id)
{
	if (id < PXT_ID_USER_FIRST)
		return pxt_system_event_name(id);
	return id - PXT_ID_USER_FIRST < pxt_names_count() ? map.names[id - PXT_ID_USER_FIRST]
	                                                  : NULL;
}

const char *pxt_names_format(unsigned id)
{
	uint32_t at;

	if (!pxt_names_of(id))
		return NULL;
	if (id < PXT_ID_USER_FIRST)
		return "";
	/* Acquire: the text is there. */
	at = atomic_load_explicit(&map.format_at[id - PXT_ID_USER_FIRST], memory_order_acquire);
	return at != 0 ? &map.pool[at - 1] : "";
}

/* Room is taken before it is written: a child forked in between loses it, and reuses nothing. */
static int add_format(unsigned index, const char *text, size_t bytes)
{
	uint32_t at = map.pool_used;

	if (bytes > map.pool_bytes - at)
		return ENOMEM;
	map.pool_used = at + (uint32_t)bytes;
	memcpy(&map.pool[at], text, bytes);
	atomic_store_explicit(&map.format_at[index], at + 1, memory_order_release);
	return 0;
}

int pxt_names_set_format(unsigned id, const char *text)
{
	const char *present;
	size_t bytes;
	int error;

	if (id < PXT_ID_USER_FIRST || !pxt_names_of(id) || pxt_fields_check(text, &bytes) != 0)
		return EINVAL;
	lock();
	present = pxt_names_format(id);
	if (present[0] == '\0')
		error = add_format(id - PXT_ID_USER_FIRST, text, bytes);
	else
		error = pxt_same_text(present, text, bytes) ? 0 : EBUSY;
	unlock();
	return error;
}
