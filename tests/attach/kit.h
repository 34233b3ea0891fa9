/* SPDX-License-Identifier: MIT */
/* kit.h - streams with names, and clients that knock at their control socket by hand, well or badly behaved. */
#ifndef AT_KIT_H
#define AT_KIT_H

#include "format/ctlsock.h"
#include "suite_trace.h"

#include <stdint.h>
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

#endif
