/* SPDX-License-Identifier: MIT */
/* ctlsock.c - one connection to a stream's owner: a request, a reply. */
#define _GNU_SOURCE
#include "tools/remote/ctlsock.h"

#include "tools/command/command.h"
#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ERRNO_MAX 4095

size_t pxt_remote_bytes(const char *text, size_t room)
{
	return strnlen(text, room);
}

static enum pxt_reach with(struct pxt_remote *remote, enum pxt_reach reach, const char *text)
{
	size_t bytes = strnlen(text, sizeof remote->text - 1);

	memcpy(remote->text, text, bytes);
	remote->text[bytes] = '\0';
	return reach;
}

/* What an error of the system means here. */
static enum pxt_reach because(struct pxt_remote *remote, int error)
{
	remote->error = error;
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return PXT_REACH_NONE;
	case EACCES:
	case EPERM:
		return PXT_REACH_DENIED;
	case ECONNREFUSED:
		return PXT_REACH_DEAD;
	case EAGAIN: /* SO_SNDTIMEO; the queue of those who wait at the control socket stays full */
	case ETIMEDOUT:
		return PXT_REACH_MUTE;
	case EPIPE:
	case ECONNRESET:
		return PXT_REACH_GONE;
	case EPROTOTYPE:
		return with(remote, PXT_REACH_STRANGE, "it is a socket of another kind");
	default:
		return PXT_REACH_SYSTEM;
	}
}

/* ---- Reaching it ---- */

static enum pxt_reach reach(struct pxt_remote *remote)
{
	const struct timeval limit = { .tv_sec = PXT_REMOTE_WAIT_MS / 1000 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;

	_Static_assert(sizeof address.sun_path >= PXT_CTLSOCK_PATH, "a path fits into an address");
	/* connect() says of a file that nobody listens, too. */
	if (stat(remote->path, &st) != 0)
		return because(remote, errno);
	if (!S_ISSOCK(st.st_mode))
		return PXT_REACH_NO_SOCKET;
	memcpy(address.sun_path, remote->path, strlen(remote->path));
	remote->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (remote->fd < 0)
		return because(remote, errno == EACCES ? EINVAL : errno);
	if (setsockopt(remote->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0 ||
	    connect(remote->fd, (struct sockaddr *)&address, sizeof address) != 0)
		return because(remote, errno);
	return PXT_REACH_OK;
}

enum pxt_reach pxt_remote_open(struct pxt_remote *remote, const char *name)
{
	const char *wrong;
	enum pxt_reach result;

	*remote = (struct pxt_remote){ .name = name, .fd = -1 };
	wrong = pxt_remote_path(name, remote->path);
	if (wrong)
		return with(remote, PXT_REACH_NAME, wrong);
	result = reach(remote);
	if (result != PXT_REACH_OK)
		pxt_remote_close(remote);
	return result;
}

void pxt_remote_close(struct pxt_remote *remote)
{
	if (remote->fd >= 0)
		(void)close(remote->fd);
	remote->fd = -1;
}

/* ---- A request ---- */

enum pxt_reach pxt_remote_send(struct pxt_remote *remote, const struct pxt_ask *ask)
{
	struct pxt_ctlsock_request request = { .magic = PXT_CTLSOCK_MAGIC,
		.version = PXT_CTLSOCK_VERSION,
		.what = ask->what,
		.how = ask->how,
		.text_bytes = (uint32_t)ask->text_bytes };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec parts[2] = { { &request, sizeof request },
		{ (void *)(uintptr_t)ask->text, ask->text_bytes } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = ask->text_bytes ? 2 : 1 };
	ssize_t sent;

	remote->text[0] = '\0';
	remote->error = 0;
	if (ask->fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &ask->fd, sizeof(int));
	}
	do
		sent = sendmsg(remote->fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? because(remote, errno) : PXT_REACH_OK;
}

/* ---- Its reply ---- */

union reply {
	struct pxt_ctlsock_reply head;
	char bytes[sizeof(struct pxt_ctlsock_reply) + PXT_CTLSOCK_TEXT +
	           1]; /* one more than may come */
};

/* Says so once when it takes long; then for as long as somebody is there who could answer. */
static enum pxt_reach wait_for(struct pxt_remote *remote, bool patient)
{
	struct pollfd wait = { .fd = remote->fd, .events = POLLIN };
	int ready = poll(&wait, 1, PXT_REMOTE_WAIT_MS);

	if (ready == 0 && patient) {
		pxt_complain("%s: still waiting for process %ld (Ctrl-C ends it)", remote->name,
		    (long)remote->status.pid);
		ready = poll(&wait, 1, -1);
	}
	if (ready < 0)
		return because(remote, errno);
	return ready == 0 ? PXT_REACH_MUTE : PXT_REACH_OK;
}

/* The reply's own numbers, which anybody may have made up. */
static enum pxt_reach check(
    struct pxt_remote *remote, const union reply *reply, size_t bytes, uint32_t what)
{
	const struct pxt_ctlsock_reply *head = &reply->head;
	const char *text = reply->bytes + sizeof *head;

	if (bytes < 8 || head->magic != PXT_CTLSOCK_MAGIC)
		return with(remote, PXT_REACH_STRANGE, "its answer is none of a stream's owner");
	if (head->version != PXT_CTLSOCK_VERSION) {
		remote->error = head->version > INT32_MAX ? INT32_MAX : (int)head->version;
		return PXT_REACH_VERSION;
	}
	if (bytes < sizeof *head)
		return with(remote, PXT_REACH_STRANGE, "its answer is too short");
	if (head->text_bytes > PXT_CTLSOCK_TEXT || bytes != sizeof *head + head->text_bytes)
		return with(
		    remote, PXT_REACH_STRANGE, "its answer has another length than it says");
	if (head->text_bytes > 0 && text[head->text_bytes - 1] != '\0')
		return with(remote, PXT_REACH_STRANGE, "its answer's text has no end");
	if (head->error < 0 || head->error > ERRNO_MAX)
		return with(remote, PXT_REACH_STRANGE,
		    "its answer has an error number that does not exist");
	/* 0: it did not even understand the question. */
	if (head->what != what && (head->what != 0 || head->error == 0))
		return with(remote, PXT_REACH_STRANGE, "it answers another question");
	return PXT_REACH_OK;
}

static enum pxt_reach receive_reply(struct pxt_remote *remote, uint32_t what)
{
	static union reply reply;
	enum pxt_reach result;
	ssize_t bytes;

	/* Descriptors that somebody might send along are closed by the system. */
	do
		bytes = recv(remote->fd, reply.bytes, sizeof reply.bytes, MSG_DONTWAIT);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return because(remote, errno);
	if (bytes == 0)
		return PXT_REACH_GONE;
	result = check(remote, &reply, (size_t)bytes, what);
	if (result != PXT_REACH_OK)
		return result;
	remote->error = reply.head.error;
	if (remote->error == 0) {
		remote->status = reply.head.status;
		return PXT_REACH_OK;
	}
	if (reply.head.text_bytes > 0)
		(void)with(remote, PXT_REACH_REFUSED, reply.bytes + sizeof reply.head);
	return remote->error == EACCES || remote->error == EPERM ? PXT_REACH_DENIED
	                                                         : PXT_REACH_REFUSED;
}

enum pxt_reach pxt_remote_ask(struct pxt_remote *remote, const struct pxt_ask *ask)
{
	enum pxt_reach result;

	result = pxt_remote_send(remote, ask);
	if (result == PXT_REACH_OK)
		result = wait_for(remote, ask->patient);
	if (result == PXT_REACH_OK)
		result = receive_reply(remote, ask->what);
	return result;
}

bool pxt_remote_answered(struct pxt_remote *remote, uint32_t what, enum pxt_reach *reach)
{
	struct pollfd wait = { .fd = remote->fd, .events = POLLIN };

	if (poll(&wait, 1, 0) <= 0)
		return false;
	*reach = receive_reply(remote, what);
	return true;
}

enum pxt_reach pxt_remote_tell(struct pxt_remote *remote, uint32_t what)
{
	const struct pxt_ask ask = { .what = what, .fd = -1 };

	return pxt_remote_ask(remote, &ask);
}

/* ---- What was wrong, in words ---- */

/* Which streams there are, of which one was perhaps meant. */
static void explain_names(const char *name)
{
	struct pxt_remote_names names;
	char line[400];
	size_t used = 0;
	size_t i;

	if (pxt_remote_is_path(name))
		return;
	pxt_remote_list(&names);
	const char *meant = pxt_suggest(name, (const char *const *)names.names);
	line[0] = '\0';
	/* Room for a comma and a name of any length. */
	for (i = 0; i < names.count && used + PXT_CTLSOCK_NAME + 2 < sizeof line; i++)
		used += (size_t)snprintf(
		    line + used, sizeof line - used, "%s%s", i > 0 ? ", " : "", names.names[i]);
	if (meant)
		pxt_explain("did you mean \"%s\"?", meant);
	if (names.count > 0)
		pxt_explain("there are: %s%s", line, i < names.count ? ", ..." : "");
	else
		pxt_explain("this user has no stream with a name "
		            "(posix_trace_attr_setsharename_np())");
	pxt_remote_list_free(&names);
}

/* What errors mean that the functions of a stream give, where nothing else was said. */
static const char *words_for(const char *command, int error)
{
	switch (error) {
	case EINVAL:
		return strcmp(command, "flush") == 0
		           ? "it has no log (snapshot saves what it holds)"
		           : NULL;
	case EAGAIN:
		return "as many as may be look on already";
	case ECANCELED:
		return "it is being shut down";
	case ENOTSUP:
		return "its process was built without that unit";
	default:
		return NULL;
	}
}

static void complain_refused(const char *command, const struct pxt_remote *remote)
{
	const char *words = remote->text[0] ? remote->text : words_for(command, remote->error);

	if (words)
		pxt_complain("%s: %s: %s", command, remote->name, words);
	else
		pxt_complain(
		    "%s: %s: its process says: %s", command, remote->name, strerror(remote->error));
}

int pxt_remote_complain(const char *command, const struct pxt_remote *remote, enum pxt_reach reach)
{
	const char *name = remote->name;

	switch (reach) {
	case PXT_REACH_NAME:
		pxt_complain("%s: \"%s\" names no stream: %s", command, name, remote->text);
		return PXT_EXIT_USAGE;
	case PXT_REACH_NONE:
		pxt_complain("%s: there is no stream \"%s\"", command, name);
		explain_names(name);
		break;
	case PXT_REACH_DEAD:
		pxt_complain("%s: %s: its process is gone", command, name);
		pxt_explain(
		    "`pxtrace ps --clean` removes the name; what a black box or a core file "
		    "has kept: `pxtrace recover`");
		break;
	case PXT_REACH_DENIED:
		pxt_complain("%s: %s: permission denied", command, name);
		pxt_explain("who may write to the socket may control the stream");
		break;
	case PXT_REACH_NO_SOCKET:
		pxt_complain("%s: %s: is no socket, so no stream", command, name);
		break;
	case PXT_REACH_MUTE:
		pxt_complain("%s: %s: no answer within %d s: is its process stopped?", command,
		    name, PXT_REMOTE_WAIT_MS / 1000);
		break;
	case PXT_REACH_GONE:
		pxt_complain("%s: %s: its process went away", command, name);
		break;
	case PXT_REACH_STRANGE:
		pxt_complain("%s: %s: %s", command, name, remote->text);
		break;
	case PXT_REACH_VERSION:
		pxt_complain("%s: %s: its process has version %d of what is said here, this "
		             "pxtrace %u",
		    command, name, remote->error, PXT_CTLSOCK_VERSION);
		pxt_explain("use the pxtrace of the library that the program was built with");
		break;
	case PXT_REACH_REFUSED:
		complain_refused(command, remote);
		break;
	case PXT_REACH_OK:
	case PXT_REACH_SYSTEM:
	default:
		pxt_complain("%s: %s: %s", command, name, strerror(remote->error));
		break;
	}
	return PXT_EXIT_LOG;
}

/* ---- A stream's state, in words and in per cent ---- */

const char *pxt_status_state(const struct pxt_ctlsock_status *status)
{
	static const char *const words[] = {
		[PXT_CTLSOCK_STOPPED] = "stopped",
		[PXT_CTLSOCK_RUNNING] = "running",
		[PXT_CTLSOCK_FULL] = "full",
	};

	return status->state < sizeof words / sizeof *words ? words[status->state] : "unknown";
}

const char *pxt_status_policy(const struct pxt_ctlsock_status *status)
{
	switch (status->full_policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until-full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_DISCARD_NP:
		return "discard";
	default:
		return "unknown";
	}
}

/* What was asked while the stream is in use may be a little more than all. */
unsigned pxt_status_fill(const struct pxt_ctlsock_status *status)
{
	if (status->slot_count == 0 || status->slots_used >= status->slot_count)
		return status->slot_count == 0 ? 0 : 100;
	if (status->slots_used > UINT64_MAX / 100)
		return (unsigned)(status->slots_used / (status->slot_count / 100 + 1));
	return (unsigned)(status->slots_used * 100 / status->slot_count);
}

/* ---- The event types of a stream of another process ---- */

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* ---- A snapshot in memory ---- */

enum pxt_reach pxt_remote_types_snapshot(struct pxt_remote *remote, int *memory)
{
	struct pxt_ask ask = { .what = PXT_CTLSOCK_SNAPSHOT, .patient = true };

	*memory = ask.fd = memfd_create("pxtrace-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ask.fd >= 0)
		return pxt_remote_ask(remote, &ask);
	remote->error = errno;
	return PXT_REACH_SYSTEM;
}

bool pxt_remote_types_settle(int memory)
{
	return fcntl(memory, F_ADD_SEALS, SEALS) == 0;
}

/* ---- Its types ---- */

static enum pxt_reach read_log(struct pxt_remote *remote, struct pxt_remote_types *types)
{
	struct posix_trace_logerror_np error = { 0 };

	types->is_open =
	    pxt_remote_types_settle(types->memory) &&
	    posix_trace_log_open_np(&types->memory, 1, 0, &types->trid, &error, sizeof error) == 0;
	if (types->is_open)
		return PXT_REACH_OK;
	(void)snprintf(remote->text, sizeof remote->text, "its snapshot is no log");
	return PXT_REACH_STRANGE;
}

enum pxt_reach pxt_remote_types_open(struct pxt_remote *remote, struct pxt_remote_types *types)
{
	enum pxt_reach reach;

	*types = (struct pxt_remote_types){ .memory = -1 };
	reach = pxt_remote_types_snapshot(remote, &types->memory);
	return reach == PXT_REACH_OK ? read_log(remote, types) : reach;
}

void pxt_remote_types_rewind(struct pxt_remote_types *types)
{
	(void)posix_trace_eventtypelist_rewind(types->trid);
}

bool pxt_remote_types_next(
    struct pxt_remote_types *types, bool of_program, char name[TRACE_EVENT_NAME_MAX + 1])
{
	trace_event_id_t id;
	int unavailable = 0;

	while (posix_trace_eventtypelist_getnext_id(types->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		if ((id > POSIX_TRACE_UNNAMED_USEREVENT) == of_program &&
		    posix_trace_eventid_get_name(types->trid, id, name) == 0)
			return true;
	}
	return false;
}

void pxt_remote_types_close(struct pxt_remote_types *types)
{
	if (types->is_open)
		(void)posix_trace_close(types->trid);
	if (types->memory >= 0)
		(void)close(types->memory);
}
