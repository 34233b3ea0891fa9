/* SPDX-License-Identifier: MIT */
/* kit.h - streams with names: clients that knock at their control socket by hand, and children that attach. */
#ifndef AT_KIT_H
#define AT_KIT_H

#include "format/ctlsock.h"

#include "suite_trace.h"

#include <stdint.h>
#include <sys/types.h>
#include <trace.h>
#include <trace_np.h>

/* Connections that a control socket has at once: PXT_CTLSOCK_PLACES of attach/owner.h. */
#define AT_PLACES (CONFIG_PTRACE_ATTACH_MAX + 8)

/* A path in the program's own folder, of which no other test knows. */
void at_path(char path[PXT_CTLSOCK_PATH]);
/* A suspended stream of this policy, 64 KiB; its error. */
int at_create(const char *name, int policy, trace_id_t *trid);
/* The same, which must succeed, at a new path. */
trace_id_t at_stream(int policy, char path[PXT_CTLSOCK_PATH]);

/* A connection; -1 and errno. */
int at_connect(const char *path);
/* One message with up to four descriptors.  0, or errno. */
int at_send(int fd, const void *bytes, size_t length, const int *passed, unsigned count);
/* The next message, waited for up to 30 seconds: its length, 0 at the end of the connection, -1: silence. */
long at_hear(int fd, struct pxt_ctlsock_reply *reply, char text[256]);
/* A whole request. */
struct at_ask {
	uint32_t what;
	int32_t how;
	const char *text;
	uint32_t bytes; /* of @text */
	int passed;     /* a descriptor, 0: none */
};
/* Asks and returns the answer's error; -1: the connection ended without one. */
int at_ask(int fd, const struct at_ask *ask, struct pxt_ctlsock_reply *reply, char text[256]);
/* The same for a request that is nothing but its number. */
int at_tell(int fd, uint32_t what);
/* On a connection of its own. */
int at_status(const char *path, struct pxt_ctlsock_status *status);
/* The connection is at its end within 30 seconds. */
bool at_ended(int fd);

int at_memfd(void);
/* Open descriptors, and threads, of this process. */
unsigned at_descriptors(void);
unsigned at_threads(void);
/* No more descriptors than @count, within 30 seconds: the other side closes its own a moment later. */
bool at_closed_down_to(unsigned count);
/* No more threads than @count, within 30 seconds: the kernel lists a joined one for a moment yet. */
bool at_threads_down_to(unsigned count);
/* Waits up to 30 seconds for it. */
bool at_until(bool (*true_by_now)(void *), void *of);

/*
 * ---- A stream with a name in this process, and forked children that attach to it by that name ----
 *
 * A forked child has nothing of its parent's stream: it is like any other process.
 */

/* The name: a path in a folder of this test's own. */
extern char owner_name[128];

struct owner_spec {
	size_t stream_bytes; /* 0: 64 KiB */
	size_t data_bytes;   /* 0: the default */
	int policy;          /* 0: LOOP */
	unsigned lanes;      /* 0: 2 */
	bool stopped;
	bool guests; /* takes programs that did not ask for it */
	bool inherited;
	bool placed; /* owner_place() was called */
};
/* Makes the folder; owner_open() does it else. */
void owner_place(void);
/* After its owner was killed: takes away what is left. */
void owner_clear_away(void);
trace_id_t owner_open(const struct owner_spec *spec);
/* Also: nothing of it is left in the file system. */
void owner_close(trace_id_t trid);

/* Entries of a folder, /proc/self/fd for example, with those of the folder itself and its parent. */
unsigned party_entries(const char *path);

/* What a child is told and tells, one word at a time. */
struct producer {
	pid_t pid;
	int to; /* the parent's ends */
	int from;
};
/* In the child: */
extern int producer_in;
extern int producer_out;
void producer_say(uint64_t word);
uint64_t producer_hear(void);
/* Attaches; @bytes of memory, 0: the default.  Ends the child with 3 if that fails. */
trace_id_t producer_attach(size_t bytes);
/* Waits until what the child traces has an effect, or has none. */
void producer_wait(trace_event_id_t id, bool wanted);

/* Starts a child that runs @body and ends with status 0. */
struct producer producer_begin(void (*body)(void *argument), void *argument);
void producer_tell(const struct producer *producer, uint64_t word);
uint64_t producer_told(const struct producer *producer);
/* Waits for its end, which must be with status 0. */
void producer_end(struct producer *producer);
void producer_kill(struct producer *producer);

/* However busy the machine is. */
#define PATIENCE_MS 30000
/* Events of user types, as they come: waits until there are @count, or for @ms. */
size_t owner_collect(trace_id_t trid, struct pxt_event *events, size_t count, int ms);
/* How many of type @id come until @count have come, or for @ms. */
size_t owner_count(trace_id_t trid, trace_event_id_t id, size_t count, int ms);
/* Attached processes whose memory is looked at. */
unsigned owner_producers(trace_id_t trid);
/* Waits until @count processes are attached. */
void owner_wait_producers(trace_id_t trid, unsigned count);
void owner_expect_the_law(trace_id_t trid);

#endif
