/* SPDX-License-Identifier: MIT */
/*
 * create.c - streams that live in files: which files are taken, what is in them, what is left of an
 * attempt that failed.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "fakes/fakes.h"
#include "logs.h"
#include "port/port_file.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static trace_attr_t with_file(int fd)
{
	trace_attr_t attr;

	pxt_attr(&attr, 4096, 64, LOOP);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, 2), 0);
	PXT_EQ_FATAL(posix_trace_attr_setfile_np(&attr, fd), 0);
	return attr;
}

static int try_create(int fd)
{
	trace_attr_t attr = with_file(fd);
	trace_id_t trid;
	int error = posix_trace_create(0, &attr, &trid);

	if (!error)
		PXT_EQ(posix_trace_shutdown(trid), 0);
	return error;
}

static off_t size_of(int fd)
{
	struct stat state;

	PXT_EQ_FATAL(fstat(fd, &state), 0);
	return state.st_size;
}

static trace_id_t boxed_stream(int fd)
{
	trace_attr_t attr = with_file(fd);
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	return trid;
}

/* ---- The attribute ---- */

/* DEC-02 */
PXT_TEST(the_attribute_is_none_at_first_and_what_was_set_then)
{
	trace_attr_t attr;
	int fd = 17;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, &fd), 0);
	PXT_EQ(fd, -1);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, 0), 0);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, &fd), 0);
	PXT_EQ(fd, 0);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, -2), EINVAL);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, INT32_MAX), EINVAL);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, &fd), 0);
	PXT_EQ(fd, 0);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, -1), 0);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, &fd), 0);
	PXT_EQ(fd, -1);
	PXT_EQ(posix_trace_attr_setfile_np(NULL, 1), EINVAL);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, NULL), EINVAL);
	PXT_EQ(posix_trace_attr_getfile_np(NULL, &fd), EINVAL);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, 1), EINVAL);
}

PXT_TEST(a_streams_own_attributes_name_no_descriptor)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);
	trace_attr_t attr;
	int file = 17;

	(void)close(fd);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getfile_np(&attr, &file), 0);
	PXT_EQ(file, -1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Which files ---- */

static void refused(int fd, const char *what)
{
	int error = try_create(fd);

	PXT_CHECK(error == EINVAL, "%s: error %d", what, error);
	if (fd >= 0)
		(void)close(fd);
}

PXT_TEST(what_is_no_empty_regular_file_for_reading_and_writing_is_refused)
{
	char path[] = "/tmp/pxt-box-XXXXXX";
	int kept = mkstemp(path);
	int ends[2];

	CU_ASSERT_FATAL(kept >= 0);
	refused(open(path, O_RDONLY), "read only");
	refused(open(path, O_WRONLY), "write only");
	refused(open(path, O_PATH), "a path");
	refused(open("/tmp", O_RDONLY | O_DIRECTORY), "a directory");
	refused(open("/dev/null", O_RDWR), "a device");
	PXT_EQ_FATAL(pipe(ends), 0);
	refused(ends[0], "a pipe");
	refused(ends[1], "a pipe");
	PXT_EQ(try_create(1000000), EINVAL);
	PXT_EQ((int)write(kept, "x", 1), 1);
	refused(open(path, O_RDWR), "not empty");
	PXT_EQ(size_of(kept), 1);
	PXT_EQ(ftruncate(kept, 0), 0);
	PXT_EQ(try_create(kept), 0);
	(void)close(kept);
	(void)unlink(path);
}

PXT_TEST(a_former_black_box_is_not_overwritten_until_it_is_emptied)
{
	int fd = pxt_temp_file();
	struct box box;

	PXT_EQ(try_create(fd), 0);
	PXT_EQ(try_create(fd), EINVAL);
	CU_ASSERT_FATAL(box_open(&box, fd));
	box_close(&box);
	PXT_EQ(ftruncate(fd, 0), 0);
	PXT_EQ(try_create(fd), 0);
	(void)close(fd);
}

PXT_TEST(a_living_streams_file_is_no_other_streams)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);

	PXT_EQ(try_create(fd), EINVAL);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

PXT_TEST(a_file_that_is_appended_to_will_do)
{
	char path[] = "/tmp/pxt-box-XXXXXX";
	int made = mkstemp(path);
	int fd = open(path, O_RDWR | O_APPEND);

	CU_ASSERT_FATAL(made >= 0 && fd >= 0);
	PXT_EQ(try_create(fd), 0);
	(void)close(fd);
	(void)close(made);
	(void)unlink(path);
}

#if PXT_CAN_LOG
#endif

/* ---- Room ---- */

static int beyond_the_limit_of_the_process(void *argument)
{
	const struct rlimit limit = { 65536, 65536 };
	int fd = pxt_temp_file();
	trace_attr_t attr = with_file(fd);
	trace_id_t trid;

	PXT_CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	PXT_CHILD_CHECK(posix_trace_create(0, &attr, &trid) == ENOMEM);
	PXT_CHILD_CHECK(size_of(fd) == 0);
	return 0;
}

/* SIGXFSZ would end the program. */
PXT_TEST(beyond_the_limit_of_file_sizes_there_is_no_room_and_no_signal)
{
	PXT_EQ(pxt_in_child(beyond_the_limit_of_the_process, NULL), 0);
}

/* ---- A system whose allocation ends at a signal ---- */

static bool fast_timer;
static int no_room;

static int allocate(int fd, off_t offset, off_t bytes)
{
	sigset_t held;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &held);
	if (fast_timer && !sigismember(&held, SIGALRM))
		return EINTR;
	if (no_room)
		return no_room;
	return fallocate(fd, 0, offset, bytes) == 0 ? 0 : errno;
}

int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes);
int __wrap_posix_fallocate64(int fd, off_t offset, off_t bytes);

int __wrap_posix_fallocate(int fd, off_t offset, off_t bytes)
{
	return allocate(fd, offset, bytes);
}

int __wrap_posix_fallocate64(int fd, off_t offset, off_t bytes)
{
	return allocate(fd, offset, bytes);
}

PXT_TEST(signals_do_not_keep_the_room_from_being_taken)
{
	sigset_t before;
	sigset_t after;
	int fd = pxt_temp_file();

	PXT_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
	fast_timer = true;
	PXT_EQ(try_create(fd), 0);
	fast_timer = false;
	PXT_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
	PXT_EQ(sigismember(&after, SIGALRM), sigismember(&before, SIGALRM));
	(void)close(fd);
}

/* Before anything is stored: what the disk does not have is known at once. */
PXT_TEST(all_room_is_taken_before_it_is_used)
{
	const int files[] = { pxt_temp_file(), memfd_create("box", 0) };

	for (unsigned i = 0; i < 2; i++) {
		struct stat state;

		PXT_EQ(pxt_port_filemap_extend(files[i], 1u << 20), 0);
		PXT_EQ(fstat(files[i], &state), 0);
		PXT_EQ(state.st_size, 1 << 20);
		CU_ASSERT(state.st_blocks * 512 >= state.st_size);
		(void)close(files[i]);
	}
}

/* ---- What fails leaves nothing ---- */

static struct pxt_fault *const faults[] = { &pxt_fault_extend, &pxt_fault_filemap,
	&pxt_fault_alloc };

/* Every step of create fails once with each error; then the file is empty, and will do again. */
PXT_TEST_FRESH(after_every_failure_the_file_is_empty)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (unsigned n = 1; n < 100; n++) {
			int fd = pxt_temp_file();
			int error;

			pxt_fault_arm(faults[i], n, ENOMEM);
			error = try_create(fd);
			pxt_fault_arm(faults[i], 0, 0);
			if (!error) {
				(void)close(fd);
				break;
			}
			PXT_EQ(error, ENOMEM);
			PXT_EQ(size_of(fd), 0);
			PXT_EQ(try_create(fd), 0);
			(void)close(fd);
		}
	}
}

#if PXT_CAN_LOG
static int create_with_log(int fd, int log, trace_id_t *trid)
{
	trace_attr_t attr = with_file(fd);

	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
	return posix_trace_create_withlog(0, &attr, log, trid);
}

/* Call @n of the kind fails; false: create makes no so many. */
static bool log_fails(struct pxt_fault *fault, unsigned n)
{
	int fd = memfd_create("box", MFD_ALLOW_SEALING);
	int log = pxt_temp_file();
	trace_id_t trid;
	int error;

	pxt_fault_arm(fault, n, ENOMEM);
	error = create_with_log(fd, log, &trid);
	pxt_fault_arm(fault, 0, 0);
	if (error) {
		PXT_EQ(size_of(fd), 0);
		PXT_EQ(create_with_log(fd, log, &trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
	(void)close(log);
	return error != 0;
}

PXT_TEST(a_log_that_cannot_begin_leaves_the_file_empty)
{
	struct pxt_fault *const more[] = { &pxt_fault_write, &pxt_fault_alloc, &pxt_fault_truncate,
		&pxt_fault_thread, &pxt_fault_extend, &pxt_fault_filemap };

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		unsigned n = 1;

		while (log_fails(more[i], n))
			n++;
		CU_ASSERT(n > 1);
	}
}
#endif

/* ---- What the file is ---- */

PXT_TEST(create_leaves_the_descriptor_alone_and_needs_it_no_more)
{
	int fd = pxt_temp_file();
	trace_id_t trid;

	PXT_EQ((int)lseek(fd, 0, SEEK_SET), 0);
	trid = boxed_stream(fd);
	PXT_EQ((int)lseek(fd, 0, SEEK_CUR), 0);
	PXT_EQ(close(fd), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(pxt_open_event("closed"), "abcd", 4);
	PXT_EQ(pxt_drain(trid, pxt_open_event("closed")), 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_memfd_that_allows_it_is_sealed_against_shrinking)
{
	int fd = memfd_create("box", MFD_ALLOW_SEALING);
	int plain = memfd_create("box", 0);
	trace_id_t trid = boxed_stream(fd);

	CU_ASSERT(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
	PXT_EQ(ftruncate(fd, 0), -1);
	PXT_EQ(errno, EPERM);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(try_create(plain), 0);
	(void)close(plain);
	(void)close(fd);
}

PXT_TEST(a_memfd_sealed_against_growing_is_refused)
{
	int fd = memfd_create("box", MFD_ALLOW_SEALING);

	PXT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	PXT_EQ(try_create(fd), EINVAL);
	(void)close(fd);
	fd = memfd_create("box", MFD_ALLOW_SEALING);
	PXT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	PXT_EQ(try_create(fd), EINVAL);
	PXT_EQ(size_of(fd), 0);
	(void)close(fd);
}

static int trace_into_what_is_gone(void *argument)
{
	int fd = *(int *)argument;
	trace_id_t trid = boxed_stream(fd);

	(void)signal(SIGBUS, SIG_DFL);
	PXT_CHILD_CHECK(posix_trace_start(trid) == 0);
	PXT_CHILD_CHECK(ftruncate(fd, 0) == 0);
	posix_trace_event(pxt_open_event("nowhere"), "abcd", 4);
	return 0;
}

/* So says the manual; nothing can be done but to seal the file. */
PXT_TEST(a_file_that_is_cut_short_under_its_stream_is_a_bus_error)
{
	int fd = pxt_temp_file();

	PXT_EQ(pxt_in_child(trace_into_what_is_gone, &fd), -SIGBUS);
	(void)close(fd);
}

static bool is_mapped(const char *name)
{
	char line[512];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");

	CU_ASSERT_FATAL(maps != NULL);
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	(void)fclose(maps);
	return found;
}

PXT_TEST(after_shutdown_nothing_is_mapped)
{
	int fd = memfd_create("pxt-seen-in-maps", 0);
	trace_id_t trid = boxed_stream(fd);

	CU_ASSERT(is_mapped("pxt-seen-in-maps"));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(!is_mapped("pxt-seen-in-maps"));
	(void)close(fd);
}

static int find_no_mapping(void *argument)
{
	/* mincore() says ENOMEM where nothing is mapped. */
	unsigned char there;

	PXT_CHILD_CHECK(mincore(argument, 1, &there) != 0 && errno == ENOMEM);
	return 0;
}

/* DEC-34; ruling 20 */
PXT_TEST(a_forked_child_does_not_have_the_file)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);

	PXT_EQ(pxt_in_child(find_no_mapping, box_memory(trid)), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

static int go_on_without_it(void *argument)
{
	trace_attr_t attr;
	trace_event_id_t id;
	trace_id_t trid;
	int fd = pxt_temp_file();

	PXT_CHILD_CHECK(posix_trace_eventid_open("the child's own", &id) == 0);
	PXT_CHILD_CHECK(posix_trace_thread_register_np() == 0);
	/* A stream of its own, in a file of its own. */
	attr = with_file(fd);
	PXT_CHILD_CHECK(posix_trace_create(0, &attr, &trid) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_open("another one", &id) == 0);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	return 0;
}

/* DEC-34 */
PXT_TEST(what_a_forked_child_defines_is_not_in_its_parents_file)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);
	trace_event_id_t next;
	struct box box;

	PXT_EQ(pxt_in_child(go_on_without_it, NULL), 0);
	next = pxt_open_event("the parent's next");
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT_STRING_EQUAL(box_name(&box, next), "the parent's next");
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

#if _PXT_UNIT_INHERIT
static trace_id_t inherited_stream(int fd)
{
	trace_attr_t attr = with_file(fd);
	trace_id_t trid;

	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
}

static int trace_and_die(void *argument)
{
	trace_event_id_t id;

	PXT_CHILD_CHECK(posix_trace_eventid_open("a child's", &id) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_setformat_np(id, "u32 of_child") == 0);
	posix_trace_event(id, "chil", 4);
	(void)raise(SIGKILL);
	return 1;
}

static bool find_event(struct box *box, const char *name, struct box_event *event)
{
	while (box_next(box, event)) {
		const char *found = box_name(box, event->id);

		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

/* DEC-43, DEC-42 */
PXT_TEST_FRESH(a_killed_childs_events_and_names_are_in_the_inherited_file)
{
	int fd = pxt_temp_file();
	trace_id_t trid = inherited_stream(fd);
	struct box_event event;
	struct box box;

	PXT_EQ(pxt_in_child(trace_and_die, NULL), -SIGKILL);
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT_FATAL(find_event(&box, "a child's", &event));
	CU_ASSERT(event.bytes == 4 && !memcmp(event.data, "chil", 4));
	CU_ASSERT(event.pid != getpid() && event.pid > 0);
	CU_ASSERT_STRING_EQUAL(box_format(&box, event.id), "u32 of_child");
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* The child does not have it: the parent brings the name when it opens it. */
PXT_TEST_FRESH(a_childs_name_is_in_its_parents_other_file_when_the_parent_uses_it)
{
	int shared = pxt_temp_file();
	int own = pxt_temp_file();
	trace_id_t first = inherited_stream(shared);
	trace_id_t second = boxed_stream(own);
	trace_event_id_t id;
	struct box box;

	PXT_EQ(pxt_in_child(trace_and_die, NULL), -SIGKILL);
	id = pxt_open_event("a child's");
	CU_ASSERT_FATAL(box_open(&box, own));
	CU_ASSERT_FATAL(box_name(&box, id) != NULL);
	CU_ASSERT_STRING_EQUAL(box_name(&box, id), "a child's");
	CU_ASSERT_STRING_EQUAL(box_format(&box, id), "u32 of_child");
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(first), 0);
	PXT_EQ(posix_trace_shutdown(second), 0);
	(void)close(shared);
	(void)close(own);
}
#endif

static bool procinfo_has(const struct box *box, const char *text)
{
	return memmem(box->procinfo, box->header->procinfo_bytes, text, strlen(text)) != NULL;
}

/* The program again, as a file of another name, with a stream in @fd. */
static void run_named(const char *path, int fd)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	struct stat state;
	char number[12];
	int status = -1;
	pid_t child;

	CU_ASSERT_FATAL(from >= 0 && to >= 0 && fstat(from, &state) == 0);
	while (sendfile(to, from, NULL, (size_t)state.st_size) > 0)
		;
	(void)close(from);
	(void)close(to);
	(void)snprintf(number, sizeof(number), "%d", fd);
	(void)fcntl(fd, F_SETFD, 0);
	child = fork();
	if (child == 0) {
		(void)execl(path, path, "--role", "boxed", number, (char *)NULL);
		_exit(127);
	}
	PXT_EQ(waitpid(child, &status, 0), child);
	PXT_EQ(status, 0);
	(void)unlink(path);
}

/* No test runs in it: it has no assertions. */
PXT_ROLE(argc, argv)
{
	trace_attr_t attr;
	trace_id_t trid;

	if (argc != 2 || strcmp(argv[0], "boxed") != 0)
		return 2;
	return posix_trace_attr_init(&attr) != 0 ||
	       posix_trace_attr_setfile_np(&attr, atoi(argv[1])) != 0 ||
	       posix_trace_create(0, &attr, &trid) != 0 || posix_trace_shutdown(trid) != 0;
}

PXT_TEST(a_path_keeps_its_letters_and_loses_what_would_break_a_line)
{
	int fd = pxt_temp_file();
	char path[400];
	struct box box;

	if (pxt_emulated())
		return; /* the system runs no file of the processor that is emulated */
	(void)snprintf(path, sizeof(path), "%s/tr\xc3\xa4ger\x7f\n", pxt_temp_folder());
	run_named(path, fd);
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT(procinfo_has(&box, "/tr\xc3\xa4ger??\n"));
	box_close(&box);
	(void)close(fd);
}

PXT_TEST(the_file_tells_executable_host_start_and_modules)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);
	char path[512] = "executable ";
	char host[300] = "\nhost ";
	struct box box;
	ssize_t length = readlink("/proc/self/exe", path + 11, sizeof(path) - 12);

	CU_ASSERT_FATAL(length > 0 && box_open(&box, fd));
	(void)strcat(path, "\n");
	PXT_EQ(gethostname(host + 6, sizeof(host) - 8), 0);
	(void)strcat(host, "\n");
	CU_ASSERT(!strncmp(box.procinfo, path, strlen(path)));
	CU_ASSERT(procinfo_has(&box, host));
	CU_ASSERT(procinfo_has(&box, "\nstarted 1") || procinfo_has(&box, "\nstarted 2"));
	CU_ASSERT(
	    procinfo_has(&box, "\nboot ") || access("/proc/sys/kernel/random/boot_id", R_OK) != 0);
	CU_ASSERT(procinfo_has(&box, "\nsystem ") && procinfo_has(&box, " Linux ") &&
	          procinfo_has(&box, "\ncpus "));
	CU_ASSERT(procinfo_has(&box, "\nmodule "));
	CU_ASSERT(
	    !strncmp(box.directory->executable, path + 11, strlen(box.directory->executable)));
	CU_ASSERT(!strncmp(box.directory->host, host + 6, strlen(box.directory->host)));
	CU_ASSERT(box.directory->started_sec > 1600000000);
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

void __real_pxt_port_process_start(struct timespec *start);
void __wrap_pxt_port_process_start(struct timespec *start);

static const struct timespec *begun; /* when the process was; NULL: as the system says */

void __wrap_pxt_port_process_start(struct timespec *start)
{
	if (begun)
		*start = *begun;
	else
		__real_pxt_port_process_start(start);
}

PXT_TEST(the_process_start_has_all_its_nanoseconds_in_both_places)
{
	static const struct timespec early = { .tv_sec = 1700000000, .tv_nsec = 50000007 };
	int fd = pxt_temp_file();
	trace_id_t trid;
	struct box box;

	begun = &early;
	trid = boxed_stream(fd);
	begun = NULL;
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT(procinfo_has(&box, "\nstarted 1700000000.050000007\n"));
	PXT_EQ(box.directory->started_sec, early.tv_sec);
	PXT_EQ(box.directory->started_nsec, early.tv_nsec);
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

PXT_TEST(what_is_behind_the_text_is_zero)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);
	struct box box;
	size_t end;
	bool zero = true;

	CU_ASSERT_FATAL(box_open(&box, fd));
	end = (size_t)box.header->procinfo_at + box.header->procinfo_bytes;
	for (size_t i = end; i < box.size; i++)
		zero &= box.bytes[i] == 0;
	CU_ASSERT(zero);
	CU_ASSERT(box.size - end <= 4096);
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* ---- What happens is in the file ---- */

/* Nothing may write into a file that is nobody's any more. */
PXT_TEST(after_shutdown_the_file_stays_as_it_is_and_says_so)
{
	int fd = pxt_temp_file();
	trace_id_t trid = boxed_stream(fd);
	trace_event_id_t type = pxt_open_event("left behind");
	struct box_event event;
	struct box box;

	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(type, "abcd", 4);
	CU_ASSERT_FATAL(box_open(&box, fd));
	PXT_EQ(box.header->ended, 0);
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)pxt_open_event("too late for the file");
	CU_ASSERT_FATAL(box_open(&box, fd));
	PXT_EQ(box.header->ended, 1);
	CU_ASSERT(!box_runs(&box));
	CU_ASSERT(box_name(&box, type) != NULL);
	CU_ASSERT(box_name(&box, type + 1) == NULL);
	CU_ASSERT(box_next(&box, &event) && event.id == POSIX_TRACE_START);
	CU_ASSERT(box_next(&box, &event) && event.id == type);
	CU_ASSERT(box_next(&box, &event) && event.id == POSIX_TRACE_STOP);
	CU_ASSERT(!box_next(&box, &event));
	box_close(&box);
	(void)close(fd);
}

#if PXT_CAN_LOG
PXT_TEST(what_the_log_has_is_not_in_the_file_any_more)
{
	int fd = pxt_temp_file();
	int log = pxt_temp_file();
	trace_attr_t attr = with_file(fd);
	trace_event_id_t type = pxt_open_event("logged");
	struct box_event event;
	struct box box;
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, log, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(type, "abcd", 4);
	PXT_EQ(posix_trace_flush(trid), 0);
	posix_trace_event(type, "efgh", 4);
	CU_ASSERT_FATAL(box_open(&box, fd));
	CU_ASSERT(box_next(&box, &event) && event.id == type && !memcmp(event.data, "efgh", 4));
	box_close(&box);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
	(void)close(log);
}
#endif
