/* SPDX-License-Identifier: MIT */
/* names.c - the name map: event types by name, up to TRACE_USER_EVENT_MAX, and their descriptions. */
#include "core/process/names.h"

#include "base/fields.h"
#include "core/process/directory.h"
#include "core/process/forks.h"
#include "core/process/replica.h"
#include "core/testpoints.h"

void (*pxt_names_comes)(unsigned id);

void pxt_names_init(struct pxt_directory *directory)
{
	directory->names.name_bytes = PXT_NAME_BYTES;
	directory->names.names_max = PXT_NAMES_MAX;
	directory->names.pool_bytes = CONFIG_PTRACE_FORMAT_POOL_BYTES;
}

/* Counts first: what they cover does not change any more. */
void pxt_names_copy(struct pxt_directory *to, const struct pxt_directory *from)
{
	uint32_t count = atomic_load_explicit(&from->names.count, memory_order_acquire);
	uint32_t used;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = atomic_load_explicit(&from->names.format_at[i], memory_order_acquire);

		memcpy(to->names.names[i], from->names.names[i], PXT_NAME_BYTES);
		atomic_store_explicit(&to->names.format_at[i], at, memory_order_relaxed);
	}
	/* After the places in it, which are published when it covers them. */
	used = from->names.pool_used;
	memcpy(to->names.pool, from->names.pool, used);
	to->names.pool_used = used;
	atomic_store_explicit(&to->names.count, count, memory_order_release);
}

static struct pxt_names *map(void)
{
	struct pxt_directory *directory = __atomic_load_n(&pxt_directory, __ATOMIC_ACQUIRE);

	return directory ? &directory->names : NULL;
}

unsigned pxt_names_count(void)
{
	struct pxt_names *names = map();

	/* Acquire: the names counted are there. */
	return names ? atomic_load_explicit(&names->count, memory_order_acquire) : 0;
}

/* @bytes counts the NUL.  Returns 0 where no type of this name is. */
static unsigned find(const char *name, size_t bytes, unsigned count)
{
	const struct pxt_names *names = map();

	for (unsigned i = 0; i < count; i++) {
		if (memcmp(names->names[i], name, bytes) == 0)
			return PXT_ID_USER_FIRST + i;
	}
	return pxt_system_event_id(name, bytes);
}

/*
 * The name first, then the count: a fork or a reader in between sees no half of it.  Streams that
 * run want the type before that, too: another thread that opens the same name finds it as soon as
 * it is counted, and may record at once.
 */
static unsigned append(const char *name, size_t bytes, unsigned count)
{
	struct pxt_names *names = map();

	memset(names->names[count], 0, PXT_NAME_BYTES);
	memcpy(names->names[count], name, bytes);
	if (pxt_names_comes)
		pxt_names_comes(PXT_ID_USER_FIRST + count);
	PXT_TESTPOINT(PXT_TP_NAME_WRITTEN);
	pxt_replica_names_add(names, count);
	atomic_store_explicit(&names->count, count + 1, memory_order_release);
	return PXT_ID_USER_FIRST + count;
}

/* Another thread may have defined it since the last look. */
int pxt_names_find_or_append(
    const char *name, size_t bytes, struct pxt_patience *patience, unsigned *found, bool *is_new)
{
	int error = pxt_directory_start();
	unsigned count;

	if (error)
		return error;
	if (!pxt_forks_lock(patience))
		return EAGAIN;
	if (pxt_forks_any())
		pxt_replica_names_follow(map());
	count = pxt_names_count();
	*found = find(name, bytes, count);
	if (*found == 0 && count < PXT_NAMES_MAX) {
		*found = append(name, bytes, count);
		*is_new = true;
	}
	pxt_forks_unlock();
	return 0;
}

/* At most PXT_NAME_BYTES, which no name has. */
static size_t length_of(const char *name)
{
	size_t length = 0;

	while (length < PXT_NAME_BYTES && name[length])
		length++;
	return length;
}

int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	size_t bytes = length_of(name) + 1;
	struct pxt_patience patience;
	unsigned found;
	int error = 0;

	/* A forked process may have defined it: then it is not in this process' wanted table. */
	*is_new = pxt_forks_any();
	if (bytes > PXT_NAME_BYTES)
		return ENAMETOOLONG;
	found = find(name, bytes, pxt_names_count());
	/* What a forked process has defined may not be in this process' files yet. */
	if (found == 0 || (pxt_forks_any() && pxt_replica_any())) {
		pxt_process_lock();
		pxt_patience_begin(&patience, pxt_holdback_ns);
		error = pxt_names_find_or_append(name, bytes, &patience, &found, is_new);
		pxt_process_unlock();
	}
	if (!error)
		*id = found != 0 ? found : PXT_ID_UNNAMED;
	return error;
}

const char *pxt_names_of(unsigned id)
{
	if (id < PXT_ID_USER_FIRST)
		return pxt_system_event_name(id);
	return id - PXT_ID_USER_FIRST < pxt_names_count() ? map()->names[id - PXT_ID_USER_FIRST]
	                                                  : NULL;
}

const char *pxt_names_format(unsigned id)
{
	const struct pxt_names *names = map();
	uint32_t at;

	if (!pxt_names_of(id))
		return NULL;
	if (id < PXT_ID_USER_FIRST)
		return pxt_sysspecific_format(id);
	/* Acquire: the text is there. */
	at = atomic_load_explicit(&names->format_at[id - PXT_ID_USER_FIRST], memory_order_acquire);
	return at != 0 ? &names->pool[at - 1] : "";
}

/* Room is taken before it is written: a child forked in between loses it, and reuses nothing. */
static int add_format(unsigned index, const char *text, size_t bytes)
{
	struct pxt_names *names = map();
	uint32_t at = names->pool_used;

	if (bytes > names->pool_bytes - at)
		return ENOMEM;
	names->pool_used = at + (uint32_t)bytes;
	memcpy(&names->pool[at], text, bytes);
	pxt_replica_names_format(names, index, at, (uint32_t)bytes);
	atomic_store_explicit(&names->format_at[index], at + 1, memory_order_release);
	return 0;
}

/* With forked processes kept out. */
static int set_format(unsigned id, const char *text, size_t bytes)
{
	const char *present = pxt_names_format(id);

	if (pxt_forks_any())
		pxt_replica_names_follow(map());
	if (present[0] == '\0')
		return add_format(id - PXT_ID_USER_FIRST, text, bytes);
	return pxt_same_text(present, text, bytes) ? 0 : EBUSY;
}

int pxt_names_describe(unsigned id, const char *text, size_t bytes, struct pxt_patience *patience)
{
	int error = EAGAIN;

	if (pxt_forks_lock(patience)) {
		error = set_format(id, text, bytes);
		pxt_forks_unlock();
	}
	return error;
}

int pxt_names_set_format(unsigned id, const char *text)
{
	struct pxt_patience patience;
	size_t bytes;
	int error;

	if (id < PXT_ID_USER_FIRST || !pxt_names_of(id) || pxt_fields_check(text, &bytes) != 0)
		return EINVAL;
	pxt_process_lock();
	pxt_patience_begin(&patience, pxt_holdback_ns);
	error = pxt_names_describe(id, text, bytes, &patience);
	pxt_process_unlock();
	return error;
}

/* ---- The type of a trace point that is met for the first time while a stream runs ---- */

#define AT_USE_NS 1000000u

/*
 * Under the process lock.  A description for which there is no room is left out.  EAGAIN: a forked
 * process does not give its lock.
 */
static int open_described(const char *name, size_t bytes, const char *format,
    struct pxt_patience *patience, trace_event_id_t *opened)
{
	size_t format_bytes;
	unsigned id = 0;
	bool is_new;
	int error = pxt_names_find_or_append(name, bytes, patience, &id, &is_new);

	if (error || id < PXT_ID_USER_FIRST)
		return error == EAGAIN ? EAGAIN : 0;
	if (format[0] != '\0' && pxt_fields_check(format, &format_bytes) == 0)
		error = pxt_names_describe(id, format, format_bytes, patience);
	if (error == EBUSY || error == EAGAIN)
		return error;
	/* One that a forked process has defined is not in this process' wanted table. */
	if (pxt_names_comes)
		pxt_names_comes(id);
	/* Who records first is known by its name, though it may end soon. */
	pxt_directory_introduce();
	*opened = id;
	return 0;
}

int pxt_names_open_at_use(const char *name, const char *format, trace_event_id_t *id)
{
	size_t bytes = length_of(name) + 1;
	struct pxt_patience patience;
	int error;

	*id = PXT_ID_UNNAMED;
	/* A child that is not started is not traced: its event is dropped. */
	if (bytes > PXT_NAME_BYTES)
		return 0;
	if (pxt_fork_epoch() == 0 && !pxt_process_begin_late())
		return EAGAIN;
	pxt_patience_begin(&patience, AT_USE_NS);
	if (!pxt_process_lock_within(&patience))
		return EAGAIN;
	error = open_described(name, bytes, format, &patience, id);
	pxt_process_unlock();
	return error;
}
