/* SPDX-License-Identifier: MIT */
/*
 * imageheader.h - what a block of trace memory says of itself, so that it can be read where its process
 * is gone: in a file, in a core file, in a dump of a board's memory.
 *
 *   concurrency: written once before the block is found by anybody, never changed.
 *
 * A header is at the beginning of every stream's block and of every process' directory.  Fields
 * have the widths written here on every machine; the byte order is the recorder's, and `order`
 * tells which that is.  All places are counted in bytes from the header's beginning.
 */
#ifndef PXT_IMAGEHEADER_H
#define PXT_IMAGEHEADER_H

/* Behind a log's name: the black box of its stream, where PXTRACE_OUT asked for the log. */
#define PXT_BOX_ENDING ".box"

#include <stdint.h>

#define PXT_IMAGEHEADER_VERSION 3u
#define PXT_IMAGEHEADER_ORDER   0x01020304u

/* Found by search: 16 bytes that nothing else begins with. */
#define PXT_STREAM_MAGIC    "PXTRACE\x01STREAM\n"
#define PXT_DIRECTORY_MAGIC "PXTRACE\x01THREAD\n"

struct pxt_imageheader {
	char magic[16];
	uint32_t order;   /* PXT_IMAGEHEADER_ORDER */
	uint32_t version; /* PXT_IMAGEHEADER_VERSION */
	uint64_t bytes;   /* of the whole block */
	uint64_t key;     /* one number of the process: ties its streams to its directory */
	int32_t pid;
	uint32_t word_bytes; /* 4 or 8: of a pointer */
};

/* How 64-bit values that writers change are kept (port_atomic.h). */
#define PXT_IMAGEHEADER_WHOLE  0u /* one 64-bit number; cells are slots */
#define PXT_IMAGEHEADER_WORDS  1u /* 32-bit words (port/posix/words.h); cells have eight of them */
/* Of has_thread: of the priorities in system events the larger one is more urgent. */
#define PXT_IMAGEHEADER_LARGER 2u
/* ... and context switches have their short form. */
#define PXT_IMAGEHEADER_SHORT  4u

struct pxt_stream_header {
	struct pxt_imageheader header;
	uint64_t directory_at;   /* of a copy of the directory in the same file; 0: none */
	uint64_t procinfo_at;    /* of process information in the same file; 0: none */
	uint32_t procinfo_bytes; /* ... whole lines, see below */
	/* In a lane: 64-bit position and number that are read next; 0: not there. */
	uint32_t state_at;
	uint64_t lanes_at; /* of the first lane's words */
	uint64_t lane_stride;
	uint32_t lanes;
	uint32_t slots; /* of a lane; a power of two */
	uint32_t form;  /* PXT_IMAGEHEADER_WHOLE or PXT_IMAGEHEADER_WORDS */
	uint32_t cell_bytes;
	uint32_t cells_at; /* slots of the first lane; those of the others follow */
	uint32_t head_at;  /* in a lane: its cursor, */
	uint32_t epoch_at;
	uint32_t refused_at;
	uint32_t limit_at;    /* 32 bits; low half of the position that is read next */
	uint32_t ctx_bytes;   /* PXT_CTX_BYTES */
	uint32_t has_thread;  /* the context holds a thread's index (1); _LARGER, _SHORT */
	uint32_t has_address; /* ... an address */
	uint32_t gate_at;     /* in the block: the gate word, */
	/* ... five 64-bit numbers: retrieved, lost, cleared, oob_records, barriers. */
	uint32_t counts_at;
	uint32_t oobs_at;      /* ... START and STOP that are beside the lanes, */
	uint32_t oob_bytes;    /* ... their size, */
	uint32_t oobs;         /* ... and number */
	uint32_t full_policy;  /* POSIX_TRACE_LOOP, ... */
	uint32_t id_count;     /* size of a set of event types, in bits; 0: no Event Filter */
	uint32_t clock_source; /* POSIX_TRACE_CLOCK_..._NP */
	uint32_t clock_error_ppm;
	uint32_t ended; /* not 0: shut down by its program, which had stopped it before */
	uint64_t hz;
	/* The clocks at creation. */
	uint64_t created_ticks;
	int64_t created_sec[3]; /* REALTIME, MONOTONIC, BOOTTIME */
	uint32_t created_nsec[3];
	uint32_t max_data;
	uint32_t generation_at; /* attributes of the stream: text with a NUL, */
	uint32_t generation_bytes;
	uint32_t name_at; /* ... the trace-name */
	uint32_t name_bytes;
	/* In a lane: 32 bits for each out-of-band record, the position it is before. */
	uint32_t oob_pos_at;
	uint32_t oob_set_at; /* in the block: data of the START among them */
};

/*
 * Text about the process: lines that end in \n, each a word, a blank and the rest.  Control
 * characters within are '?'; what is not known has no line; readers pass over words they do not know.
 *
 *	executable PATH
 *	host NAME
 *	started SECONDS.NANOSECONDS             CLOCK_REALTIME of the process' start
 *	boot ID                                 32 hexadecimal digits, the same for all of one boot
 *	module BASE LOW HIGH BUILD-ID PATH      numbers hexadecimal without 0x; "-": no build-id
 *
 * The magic number of a stream is written when all else is there.  What a reader or a control call
 * was changing when its process died may be half changed: position and number that a lane reads
 * next need not belong together (tags and cursor tell which they are), nor counts to either.
 */

/*
 * A smallest Core's label (tiny/label.c).  Its memory is not one block: the label has addresses, its own among
 * them, so that a dump tells how far from the label each part is.
 */
#define PXT_SMALL_MAGIC   "PXTRACE\x01SMALL\n\0"
#define PXT_SMALL_VERSION 1u
/* Of contents. */
#define PXT_SMALL_THREAD                                                                           \
	1u /* the upper 16 bits of a stamp are the task's number, or an interrupt's */
#define PXT_SMALL_ADDRESS 2u
#define PXT_SMALL_CPU     4u
#define PXT_SMALL_LARGER  8u  /* the larger priority is more urgent */
#define PXT_SMALL_SHORT   16u /* a context switch is a begin slot alone */
#define PXT_SMALL_HALVES  32u /* a counter's second word counts multiples of 2^31, not of 2^32 */

/* Where something is in the state. */
enum pxt_small_place {
	PXT_SMALL_TRID,     /* u32; 0: shut down */
	PXT_SMALL_RUNNING,  /* u8 */
	PXT_SMALL_MASK,     /* u32: slots less 1 */
	PXT_SMALL_MAX_DATA, /* u32 */
	PXT_SMALL_HEAD,     /* u32, of slots, which runs freely */
	PXT_SMALL_TAIL,
	PXT_SMALL_PUT,  /* u32 */
	PXT_SMALL_GONE, /* counters, as section 11 of FORMAT.md has them */
	PXT_SMALL_RETRIEVED,
	PXT_SMALL_CLEARED,
	PXT_SMALL_ANCHOR, /* u64, of ticks at creation */
	PXT_SMALL_SECONDS,
	PXT_SMALL_NANOSECONDS,
	PXT_SMALL_NAME,
	PXT_SMALL_TASK_NUMBER, /* in a task's words: u32 */
	PXT_SMALL_TASK_NAME,   /* ... a pointer */
	PXT_SMALL_PLACES
};

/* Pointers behind the label; those of tasks are NULL where none are recorded. */
enum pxt_small_part {
	PXT_SMALL_SELF, /* the label */
	PXT_SMALL_STATE,
	PXT_SMALL_SLOTS,
	PXT_SMALL_NAMES, /* one behind the other */
	PXT_SMALL_COUNT, /* of them: u32 */
	PXT_SMALL_FORMATS,
	PXT_SMALL_FORMAT_AT, /* u16 for each name: in formats, plus 1; 0: none */
	PXT_SMALL_TASKS,     /* the first task; each begins with the next one, as u64 */
	PXT_SMALL_ENDED,     /* 4 tasks that ended: u32 number, 0: none, name of 16 bytes */
	PXT_SMALL_PARTS
};

struct pxt_small_label {
	char magic[16];
	uint32_t order;   /* PXT_IMAGEHEADER_ORDER */
	uint32_t version; /* PXT_SMALL_VERSION */
	uint32_t word_bytes;
	uint32_t contents;
	uint64_t hz; /* 0: there was no stream */
	uint32_t clock_source;
	uint32_t clock_error_ppm;
	int32_t pid;
	uint32_t first_user_id;
	uint16_t names_bytes;
	uint16_t formats_bytes;
	uint16_t name_bytes;   /* room of the stream's name */
	uint16_t second_bytes; /* 4 or 8 */
	uint16_t at[PXT_SMALL_PLACES];
};

struct pxt_directory_header {
	struct pxt_imageheader header;
	/* The table: count (32 bits), what its owners need, then from entries_at on. */
	uint32_t threads_at;
	uint32_t entries_at;
	uint32_t entry_bytes;
	uint32_t entries;    /* entry 0 is unused */
	uint32_t passes_at;  /* in an entry: odd while the thread is inside a trace point */
	uint32_t thread_at;  /* ... pthread_t, 64 bits (WHOLE) or a wide of words.h */
	uint32_t pid_at;     /* ... 32 bits */
	uint32_t tid_at;     /* ... 32 bits, 0: not known */
	uint32_t name_at;    /* ... 16 bytes, or as many as are before a NUL */
	uint32_t names_at;   /* 0: no User Events; else struct pxt_names (core/process/names.h): */
	uint32_t name_bytes; /* ... of one name with its NUL */
	uint32_t names_max;
	uint32_t names_count_at;
	uint32_t format_offsets_at; /* 32 bits each: place in the pool plus 1; 0: no description */
	uint32_t names_first_at;
	uint32_t pool_at;
	uint32_t pool_bytes;
	uint32_t first_user_id; /* of the first name */
	uint32_t form;
	uint32_t started_nsec; /* the process' start, CLOCK_REALTIME */
	char executable[128];  /* path; its end behind a + where it is longer; "": not known */
	char host[64];
	int64_t started_sec; /* 0: not known */
};

/* Nothing that an ABI would pad is in them: they are the same bytes everywhere. */
_Static_assert(sizeof(struct pxt_stream_header) == 256, "a stream's header has 256 bytes");
_Static_assert(sizeof(struct pxt_directory_header) == 328, "a directory's header has 328 bytes");

#endif
