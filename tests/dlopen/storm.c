/* SPDX-License-Identifier: MIT */
/*
 * storm.c - a program that knows the library at run time only: it is loaded, closed and loaded
 * again while threads trace through it.  Writers may be anywhere in it at any time, so closing
 * must not unmap it (it is linked with -z nodelete), and a stream lives on from one loading to
 * the next.  usage: storm LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace.h>

#define ROUNDS  300
#define THREADS 3
#define SKIPPED 77

typedef int open_function(const char *, trace_event_id_t *);
typedef void event_function(trace_event_id_t, const void *, size_t);
typedef int create_function(pid_t, const trace_attr_t *, trace_id_t *);
typedef int control_function(trace_id_t);
typedef int next_function(
    trace_id_t, struct posix_trace_event_info *, void *, size_t, size_t *, int *);

static event_function *trace;
static trace_event_id_t type;
static atomic_int ending;
static atomic_ulong traced;

/* ISO C has no conversion from an object's address to a function's; dlsym() needs one. */
static void *find(void *library, const char *name, void *function, size_t size)
{
	void *address = dlsym(library, name);

	if (!address)
		fprintf(stderr, "%s: %s\n", name, dlerror());
	memcpy(function, &address, size);
	return address;
}
#define FIND(library, name, function) find(library, name, &(function), sizeof(function))

static void *trace_on(void *unused)
{
	(void)unused;
	while (!atomic_load(&ending)) {
		trace(type, &type, sizeof(type));
		atomic_fetch_add(&traced, 1);
	}
	return NULL;
}

static unsigned long long drain(void *library, trace_id_t stream)
{
	struct posix_trace_event_info info;
	unsigned long long events = 0;
	next_function *next;
	char data[64];
	size_t bytes;
	int none = 0;

	if (!FIND(library, "posix_trace_trygetnext_event", next))
		return 0;
	while (next(stream, &info, data, sizeof(data), &bytes, &none) == 0 && !none)
		events += info.posix_event_id == type;
	return events;
}

static int begin(const char *path, trace_id_t *stream)
{
	void *library = dlopen(path, RTLD_NOW);
	control_function *start;
	create_function *create;
	open_function *open;

	if (!library) {
		const char *why = dlerror();

		/* musl takes such libraries at the start of a program only. */
		fprintf(stderr, "%s\n", why);
		return strstr(why, "initial-exec TLS") ? SKIPPED : 1;
	}
	if (!FIND(library, "posix_trace_eventid_open", open) ||
	    !FIND(library, "posix_trace_create", create) ||
	    !FIND(library, "posix_trace_start", start) ||
	    !FIND(library, "posix_trace_event", trace))
		return 1;
	if (open("storm", &type) != 0 || create(0, NULL, stream) != 0 || start(*stream) != 0)
		return 1;
	return dlclose(library);
}

/* What the threads have left in the stream is still there. */
static int end(const char *path, trace_id_t stream, unsigned long long *events)
{
	void *library = dlopen(path, RTLD_NOW);
	control_function *shutdown;

	if (!library || !FIND(library, "posix_trace_shutdown", shutdown))
		return 1;
	*events += drain(library, stream);
	return shutdown(stream) != 0 || dlclose(library) != 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned long long events = 0;
	const struct timespec pause = { .tv_sec = 0, .tv_nsec = 1000000 };
	trace_id_t stream = 0;
	int failed = argc == 2 ? begin(argv[1], &stream) : 2;

	if (failed)
		return failed;
	for (int i = 0; i < THREADS; i++)
		failed |= pthread_create(&threads[i], NULL, trace_on, NULL) != 0;
	for (int i = 0; i < ROUNDS && !failed; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library)
			return 3;
		events += drain(library, stream);
		failed |= dlclose(library) != 0;
		(void)nanosleep(&pause, NULL);
	}
	atomic_store(&ending, 1);
	for (int i = 0; i < THREADS; i++)
		failed |= pthread_join(threads[i], NULL) != 0;
	failed |= end(argv[1], stream, &events);
	printf("%llu traced, %llu read\n", (unsigned long long)atomic_load(&traced), events);
	return failed || events == 0 || events > atomic_load(&traced) ? 4 : 0;
}
