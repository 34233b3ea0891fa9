/* SPDX-License-Identifier: MIT */
/*
 * name.c - names of streams as paths of sockets, and sockets that dead processes left.
 *
 * A socket that somebody made and nobody listens at any more is refused by the system: that is what
 * a process leaves that ended without shutdown, and the next one takes the place.  A process that looks and
 * then takes keeps others from doing the same by a lock of the folder.  Where they cannot have it (another
 * user sits on it), two who take the same place over in the same moment may lose one of the two names,
 * and that is all.
 */
#include "attach/owner.h"

/* Nobody has the lock for longer than a few system calls. */
#define LOCK_PATIENCE_MS 100u
#define TRIES            4u

/* Without going beyond @room bytes: the text is a program's. */
static size_t length_up_to(const char *text, size_t room, bool *slash)
{
	size_t length = 0;

	*slash = false;
	while (length < room && text[length] != '\0')
		*slash |= text[length++] == '/';
	return length;
}

bool pxt_name_valid(const char *name)
{
	bool slash;
	size_t length = length_up_to(name, PXT_CTLSOCK_PATH, &slash);

	if (length == 0)
		return false;
	if (slash)
		return length < PXT_CTLSOCK_PATH && name[length - 1u] != '/';
	return length < PXT_CTLSOCK_NAME && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int path_in(
    enum pxt_port_folder which, const char *name, bool make, char path[PXT_CTLSOCK_PATH])
{
	int error = pxt_port_local_folder(which, make, path, PXT_CTLSOCK_PATH);
	size_t length = strlen(name);
	size_t folder;

	if (error)
		return error;
	folder = strlen(path);
	if (folder + 1u + length >= PXT_CTLSOCK_PATH)
		return EINVAL;
	path[folder] = '/';
	memcpy(path + folder + 1u, name, length + 1u);
	return 0;
}

/* Who publishes a name may have had another environment than who looks for it. */
static bool is_only_shared(const char *name, const char *own, char path[PXT_CTLSOCK_PATH])
{
	struct pxt_port_place place;

	return pxt_port_local_look(own, &place) != 0 &&
	       path_in(PXT_PORT_FOLDER_SHARED, name, false, path) == 0 &&
	       pxt_port_local_look(path, &place) == 0;
}

int pxt_name_path(const char *name, bool make, char path[PXT_CTLSOCK_PATH])
{
	char own[PXT_CTLSOCK_PATH];
	bool slash;

	(void)length_up_to(name, PXT_CTLSOCK_PATH, &slash);

	if (!pxt_name_valid(name))
		return EINVAL;
	if (slash) {
		pxt_port_local_absolute(name, path, PXT_CTLSOCK_PATH);
		return 0;
	}
	if (path_in(PXT_PORT_FOLDER_OWN, name, make, own) != 0)
		return path_in(PXT_PORT_FOLDER_SHARED, name, make, path);
	if (make || !is_only_shared(name, own, path))
		memcpy(path, own, sizeof(own));
	return 0;
}

/* Removes what a dead process left.  0: the place is free, or may be by now. */
static int take_over(const char *path)
{
	struct pxt_port_place there;
	int error = pxt_port_local_look(path, &there);
	int probe;

	if (error)
		return error == ENOENT ? 0 : error;
	error = pxt_port_local_connect(path, 0, &probe);
	pxt_port_local_hang_up(probe);
	if (error == ECONNREFUSED)
		error = pxt_port_local_remove(path, &there);
	else if (error == 0 || error == ETIMEDOUT)
		return EEXIST;
	return error == ENOENT || error == EEXIST ? 0 : error;
}

int pxt_name_claim(const char *path, int *listener, struct pxt_port_place *place)
{
	int lock = pxt_port_local_reserve(path, LOCK_PATIENCE_MS);
	int error = pxt_port_local_listen(path, listener, place);

	/* Bound: somebody else may be faster, but then it lives. */
	for (unsigned left = TRIES; left && error == EEXIST; left--) {
		error = take_over(path);
		if (error)
			break;
		error = pxt_port_local_listen(path, listener, place);
	}
	pxt_port_local_release(lock);
	return error;
}

void pxt_name_give_up(const char *path, int listener, const struct pxt_port_place *place)
{
	int lock = pxt_port_local_reserve(path, LOCK_PATIENCE_MS);

	(void)pxt_port_local_remove(path, place);
	pxt_port_local_release(lock);
	pxt_port_local_hang_up(listener);
}

/* ---- The attribute ---- */

_Static_assert(sizeof(((trace_attr_t *)NULL)->_pxt_share) == PXT_CTLSOCK_PATH &&
                   PXT_CTLSOCK_PATH == POSIX_TRACE_SHARENAME_MAX_NP + 1,
    "any name fits");

/* The table is set here, so that programs that give no names carry nothing of the unit. */
PXT_API int posix_trace_attr_setsharename_np(trace_attr_t *attr, const char *name)
{
	if (pxt_attr_check(attr, attr) || (name && !pxt_name_valid(name)))
		return EINVAL;
	if (name)
		atomic_store_explicit(&pxt_share_ops, &pxt_attach_share, memory_order_release);
	memset(attr->_pxt_share, 0, sizeof(attr->_pxt_share));
	if (name)
		memcpy(attr->_pxt_share, name, strlen(name));
	return 0;
}

PXT_API int posix_trace_attr_getsharename_np(const trace_attr_t *attr, char *name, size_t room)
{
	size_t bytes;

	if (pxt_attr_check(attr, name))
		return EINVAL;
	bytes = strlen(attr->_pxt_share) + 1;
	if (bytes > room)
		return ERANGE;
	memcpy(name, attr->_pxt_share, bytes);
	return 0;
}
