/* SPDX-License-Identifier: MIT */
/*
 * logs.h - what one process leaves or says, and a test reads in another: logs, golden ones and those of children,
 * sets of files, black boxes, frames on a line; and children that attach to a stream by its name.
 */
#ifndef PXT_TESTS_LOGS_H
#define PXT_TESTS_LOGS_H

#include "format/ctlsock.h"
#include "format/imageheader.h"
#include "format/logfmt.h"
#include "suite.h"
#include "tools/line/frame.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_LOGRETRIEVAL

/* ---- The golden logs, as they are or damaged, in files of the test's own (golden/golden.c) ---- */

#define GOLDEN_MAX 8192

struct golden {
	unsigned char bytes[GOLDEN_MAX];
	size_t size;
};

/* Reads NAME.ptl of those that make_golden.py made. */
void golden_read(struct golden *golden, const char *name);
/* The one of 64 bits in this machine's byte order: its name, and whether that is the lowest byte first. */
const char *golden_native(void);
bool golden_little_endian(void);
/* A descriptor of a new, nameless file with these bytes. */
int golden_file(const void *bytes, size_t size);
/* Replaces the file's content. */
void golden_rewrite(int fd, const void *bytes, size_t size);
/* Makes the checksum of the head (@at 0) or of the block at @at right again. */
void golden_sign(struct golden *golden, size_t at);
/* Stores a number of 1, 2, 4 or 8 bytes in this machine's byte order; checksums stay as they were. */
void golden_put(struct golden *golden, size_t at, unsigned bytes, uint64_t number);
/* The bytes from @from up to @to are taken out, or are there twice. */
void golden_cut(struct golden *golden, size_t from, size_t to);
void golden_double(struct golden *golden, size_t from, size_t to);
/* Offset of the @which-th block (from 0) of @type in a sequential log of this byte order. */
size_t golden_block(const struct golden *golden, unsigned type, unsigned which);
/*
 * What posix_trace_log_open_np() says to these bytes, or what reading finds damaged first (EINVAL as well); a
 * log that it takes is closed.
 */
int golden_try(const void *bytes, size_t size, struct posix_trace_logerror_np *error);
/* Opens a golden log, fatally. */
trace_id_t golden_open(const char *name);

#endif

/*
 * ---- Logs that go from file to file, in a folder of their own (tolog/folder.c) ----
 *
 * And what all their files say together.
 */

#if _PXT_UNIT_LOG_ROTATE && _PXT_UNIT_LOGRETRIEVAL

#define FOLDER_FILES 64u

/* An empty folder; gone with all that is in it. */
struct folder {
	char path[64];
	int fd;
};
void folder_make(struct folder *folder);
void folder_remove(struct folder *folder);

/* Number of files; those of them that can be opened as a complete log. */
unsigned folder_count(const struct folder *folder);
bool folder_has(const struct folder *folder, const char *name);

/* A running stream of @rotation in the folder.  @attr may be NULL. */
trace_id_t folder_stream(const struct folder *folder, trace_attr_t *attr,
    const struct posix_trace_rotation_np *rotation);

/* Events that hold numbers, and behind them what no two have in common: no log has them in fewer bytes. */
void folder_record(trace_event_id_t event, uint32_t first, uint32_t last);

/* What a file holds. */
struct folder_log {
	struct posix_trace_loginfo_np info;
	uint32_t events; /* of the type that is asked for */
	uint32_t first;  /* 0: none */
	uint32_t last;
	uint64_t records;
	bool gap;   /* not one number after another */
	bool whole; /* has its end, and `pxtrace check` would find nothing */
};
/* File "NAME.number"; false: it is not there, or no log. */
bool folder_read(
    const struct folder *folder, unsigned number, const char *type, struct folder_log *log);

#endif

/*
 * ---- A stream's file as it is at this moment (blackbox/box.c) ----
 *
 * It is read in two ways that share no code: by the library's own reader, which takes a copy of the file for
 * a stream of this process, and by `pxtrace recover`, whose log is read.
 */

struct box_reader;

struct box {
	unsigned char *bytes;
	size_t size;
	const struct pxt_stream_header *header;
	const struct pxt_directory_header *directory;
	const char *procinfo;
	struct box_reader *reader;
	trace_id_t log; /* not 0: what pxtrace recover made of it */
	char type_name[TRACE_EVENT_NAME_MAX + 1];
	char type_format[POSIX_TRACE_FORMAT_MAX_NP + 1];
};

struct box_event {
	uint32_t id;
	uint32_t bytes;
	unsigned char data[4096];
	uint64_t thread;
	int32_t pid;
	uint64_t lost_before; /* as a log says it */
};

/* False: the file is no stream's.  What it claims to be beyond that is asserted. */
bool box_open(struct box *box, int fd);
/* From now on @box says what the log says that pxtrace recover makes of @fd; false: there is no pxtrace. */
bool box_recover(struct box *box, int fd);
/*
 * The log that pxtrace recover makes of @fd, a black box or a log; @all: with what the program had taken
 * itself.  Returns its exit status, and sets *salvaged if that is 0; -1: there is no pxtrace.
 */
int box_salvage(int fd, bool all, trace_id_t *salvaged);
void box_close(struct box *box);
/* The next event; false: there is none, and what is unfinished was given up. */
bool box_next(struct box *box, struct box_event *event);
void box_counts(struct box *box, struct posix_trace_counts_np *counts);
/* Whether the stream runs, as its gate says. */
bool box_runs(const struct box *box);
/* Threads that the file knows, by the library's reader alone. */
uint32_t box_threads(const struct box *box);
struct pxt_thread;
const struct pxt_thread *box_thread(const struct box *box, uint32_t index);

/* Name and description of a type, good until the next call; NULL: the file has no such type. */
const char *box_name(struct box *box, uint32_t id);
const char *box_format(struct box *box, uint32_t id);

/* Where a living stream of this process has its block. */
void *box_memory(trace_id_t trid);

/*
 * ---- A child that traces into a log and comes to an end of some kind (crash/kit.c) ----
 *
 * Its parent looks at what became of the log.
 */

struct crash {
	int stream_policy; /* 0: the default; so for the others */
	int log_policy;
	unsigned lanes;
	size_t stream_bytes;
	int fd;         /* of the log; 0: a file of its own */
	bool unwatched; /* no handler is installed */
	bool impatient; /* locks will not be had */
	/* In the child, after the first events.  A value returned is its exit status. */
	int (*act)(const struct crash *crash);
	int argument;
};

/* What the child wrote down for its parent; zero before each crash. */
struct crash_notes {
	_Atomic uint32_t written; /* events whose call has returned: 0, 1, 2 ... */
	_Atomic uint32_t begun;   /* events whose call was entered */
	_Atomic uint32_t mark;    /* the crash's own */
	_Atomic uintptr_t address;
};
extern struct crash_notes *crash_notes;

/* In the child: the stream, its descriptor, and events numbered on. */
extern trace_id_t crash_stream;
extern int crash_log;
#define CRASH_EVENTS 20u
void crash_trace(unsigned events);

/* Plays @crash in a child; returns how it ended, as of waitpid(). */
int crash_play(const struct crash *crash);
/* How long it took, in milliseconds. */
extern long crash_took_ms;

/* Of the log that the last crash left: posix_trace_open()'s result. */
int crash_open(trace_id_t *log);
/*
 * The log is complete: it has every event that was written, in order, once, and at most one that was only
 * begun; its books balance; it ends with STOP.  @signal: what it says ended the process (0: none).
 */
void crash_expect_whole(int signal);
/* Either that, or it is refused and can be read as a growing one.  True: it is complete. */
bool crash_expect_honest(int signal);

/*
 * ---- A sender that makes its numbers up (line/forge.c) ----
 *
 * Every frame is whole and its checksum right, but which one comes when, and what it says of itself, is
 * anybody's choice.
 */

#define FORGE_STREAMS 3u

struct forge {
	unsigned char head[PXT_LOG_HEADER_BYTES];
	uint32_t seed;
	bool swapped;
	uint64_t frames; /* what an honest sender would say next */
	uint64_t records;
};

/* A packet. */
struct forged {
	unsigned char bytes[PXT_LINKFRAME_BYTES];
	size_t count;
};

/* The @which-th of FORGE_STREAMS streams; the last one is of the other byte order. */
void forge_begin(struct forge *forge, unsigned which);
/* Frames with forge->frames and forge->records as their numbers, which stay as they are. */
void forge_head(const struct forge *forge, struct forged *forged);
/* @count events of type @id, or with @id 0 losses of @count records. */
void forge_data(const struct forge *forge, struct forged *forged, uint32_t id, uint32_t count);
/* An entry of a block of @type; @choice: which one. */
void forge_entry(
    const struct forge *forge, struct forged *forged, enum pxt_log_type type, uint64_t choice);

/*
 * Gives @in frames as the @count bytes at @choices say; whatever they are.  As packets, or stuffed
 * as on a serial line.
 */
struct pxt_receiver;
void forge_play(struct pxt_receiver *in, const uint8_t *choices, size_t count, bool packets);

/* ---- What a target sends of a small trace, caught as bytes (line/forge.c) ---- */

struct capture {
	unsigned char *bytes;
	size_t count;
	size_t room;
};

/* A target that writes to a descriptor of @log, in a thread of its own as far as the pipe needs. */
struct capture_script {
	int form;          /* POSIX_TRACE_LOG_..._NP */
	unsigned events;   /* numbered from 0, as u32 */
	unsigned longer;   /* every n-th has 600 bytes of data; 0: none */
	unsigned flush;    /* after every n-th */
	unsigned pause_at; /* sleeps for longer than the repetition before this event; 0: never */
	bool clear_in_the_middle;
};

/* Runs @script over a pipe; frees what @capture held. */
void capture_run(struct capture *capture, const struct capture_script *script);
void capture_free(struct capture *capture);

/* A frame of a capture: the bytes between two delimiters, and what they hold. */
struct capture_frame {
	size_t at;    /* of the first byte */
	size_t bytes; /* with the delimiter after it */
	struct pxt_linkframe frame;
	unsigned char plain[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX)];
};
/* The frame that begins at or after *@at; moves on.  False: there is no other. */
bool capture_next(const struct capture *capture, size_t *at, struct capture_frame *frame);

/* A generator of numbers that repeats. */
uint32_t capture_random(uint64_t *state);

/*
 * ---- Clients that knock by hand at the control socket of a stream with a name (attach/kit.c) ----
 */

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
size_t owner_collect(trace_id_t trid, struct pxt_got *events, size_t count, int ms);
/* How many of type @id come until @count have come, or for @ms. */
size_t owner_count(trace_id_t trid, trace_event_id_t id, size_t count, int ms);
/* Attached processes whose memory is looked at. */
unsigned owner_producers(trace_id_t trid);
/* Waits until @count processes are attached. */
void owner_wait_producers(trace_id_t trid, unsigned count);
void owner_expect_the_law(trace_id_t trid);

#endif
