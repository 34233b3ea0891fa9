/* SPDX-License-Identifier: MIT */
/*
 * tiny.h - Trace Core for one processor, one stream and no operating system (CONFIG_PTRACE_TINY).
 *
 * A record is written behind the head slot by slot, interrupts kept away for each, and with its last slot the
 * head moves.  Who finds that the head has moved meanwhile begins anew; so records are never unfinished,
 * never torn and never out of order.  The oldest one is dropped by the writer that needs its room, and a
 * reader takes what it copied only if that is still there.  So there are no tags, no lanes, no thread table.
 * Head and tail move forward alone: who has an old one finds that it has moved.
 *
 *   concurrency     event   take   start, stop, clear   create, shutdown   names_open
 *   any two of these      -       -            -                    -               -
 *   (-: one after the other, by pxt_irq_save(), or by exclusive stores (PTRACE_EXCLUSIVES, port_atomic.h); event may
 *   be in interrupt handlers.)
 *
 * A record is a begin slot and, from the next slot on, the data without gaps:
 *
 *   word 0   as word 1 of format/slot.h: identifier, bytes of data, whether it was cut
 *   word 1   program address, where that is recorded and has 32 bits
 *   word 2   stamp
 *   word 3   stamp; where threads are recorded, its lower half, and above it the task's number or the interrupt's
 *
 * The files: emit.c has the ring, control.c makes the stream and starts and stops it, names.c and task.c know who
 * is who, state.c answers, online.c reads, line.c sends what was recorded over a line, label.c lets a
 * debugger's dump be read.
 */
#ifndef PXT_TINY_H
#define PXT_TINY_H

#include "format/ids.h"
#include "format/slot.h"
#include "port_atomic.h"

#include <time.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

#define PXT_TINY_SLOTS (CONFIG_PTRACE_STATIC_BYTES / PXT_SLOT_BYTES)

/* What begins at 0 with each stream.  Of records that are gone, those that nobody took or cleared are lost. */
struct pxt_tiny_counts {
	volatile uint32_t put; /* into the ring; it wraps */
	struct pxt_count gone; /* out of it */
	struct pxt_count retrieved;
	struct pxt_count cleared;
	volatile uint32_t told; /* of gone: read, or told as lost */
	uint32_t clears;
	uint32_t lost_told; /* of lost: what get_status() has reported */
	trace_event_id_t type_at;
};

struct pxt_tiny {
	volatile uint32_t trid; /* 0: there is no stream */
	uint32_t last;          /* identifier given out */
	volatile bool running;
	/* How interrupts were before insist(); only who came from there is here. */
	uint32_t insisted;
	uint32_t mask;          /* slots - 1, a power of two less one */
	uint32_t max_data;      /* so that the largest record takes at most half the slots */
	volatile uint32_t head; /* next free slot; head and tail run freely */
	volatile uint32_t tail; /* the oldest record */
	/* Runs: the task's number; the interrupt's where the board says that it began (task.c). */
	uint32_t who;
	struct pxt_tiny_counts counts;
	uint64_t anchor_ticks;
	struct timespec anchor;              /* time of day at anchor_ticks: creation */
	int (*at_shutdown)(trace_id_t trid); /* line.c's; NULL: there is no log */
	/* Those of the attributes of create that are not always the same. */
	uint32_t flags;
	char name[TRACE_NAME_MAX + 1];
};

extern struct pxt_tiny pxt_tiny;
extern struct pxt_slot pxt_tiny_slots[PXT_TINY_SLOTS];

#if CONFIG_PTRACE_RECORD_ADDRESS && UINTPTR_MAX == 0xffffffff
PXT_INLINE uint32_t pxt_tiny_address(const void *address)
{
	return (uint32_t)(uintptr_t)address;
}
#else
PXT_OFF_RETURNS(0, uint32_t, pxt_tiny_address, const void *address);
#endif

/* There is one processor. */
#define PXT_TINY_CPU (CONFIG_PTRACE_RECORD_CPU ? 0u : PXT_CPU_UNKNOWN)

/* ---- Who records ---- */

/* An interrupt's number in records, beside its own; so that none is a task's. */
#define PXT_TINY_INTERRUPT 0x8000u

#if CONFIG_PTRACE_RECORD_THREAD
extern struct posix_trace_task_np *pxt_tiny_tasks; /* that live, the newest first */
/* Bit by number: those that recorded.  One that is lost to another interrupt comes with the next event. */
#define PXT_TINY_SEEN 8u
extern uint32_t pxt_tiny_seen[PXT_TINY_SEEN];

/* Tasks that ended before the log had told them; number 0: none. */
#define PXT_TINY_ENDED 4u
struct pxt_tiny_ended {
	uint32_t number;
	char name[16];
};
extern struct pxt_tiny_ended pxt_tiny_ended[PXT_TINY_ENDED];
#define PXT_TINY_TASKS      &pxt_tiny_tasks
#define PXT_TINY_ENDED_ONES pxt_tiny_ended

/* The next one of them. */
PXT_INLINE struct posix_trace_task_np *pxt_tiny_task_after(const struct posix_trace_task_np *task)
{
	return (struct posix_trace_task_np *)(uintptr_t)task->_pxt_own[0];
}

PXT_INLINE void pxt_tiny_interrupt_see(uint32_t number)
{
	pxt_tiny_seen[number / 32u % PXT_TINY_SEEN] |= 1u << number % 32u;
}

/* The upper word of the stamp, as recorded: half of it is the caller's number. */
PXT_INLINE uint32_t pxt_tiny_high(uint32_t high)
{
	const uint32_t interrupt = pxt_port_interrupt();
	uint32_t who = pxt_tiny.who;

	if (interrupt) {
		pxt_tiny_interrupt_see(interrupt);
		who = PXT_TINY_INTERRUPT | interrupt;
	}
	return who << 16 | (high & 0xffffu);
}

PXT_INLINE uint32_t pxt_tiny_thread_of(const struct pxt_slot *slot)
{
	return slot->word[3] >> 16;
}

/* Its lower 48 bits were recorded, less than 2^48 ticks ago. */
PXT_INLINE uint64_t pxt_tiny_ticks(const struct pxt_slot *slot)
{
	const uint64_t now = pxt_port_ticks();

	return now - (((now << 16) - (pxt_slot_ticks(slot) << 16)) >> 16);
}
#else
#define PXT_TINY_TASKS      NULL
#define PXT_TINY_ENDED_ONES NULL

PXT_INLINE uint32_t pxt_tiny_high(uint32_t high)
{
	return high;
}

PXT_OFF_RETURNS(0, uint32_t, pxt_tiny_thread_of, const struct pxt_slot *slot);

PXT_INLINE uint64_t pxt_tiny_ticks(const struct pxt_slot *slot)
{
	return pxt_slot_ticks(slot);
}
#endif

/* A task or an interrupt that the log has not told. */
struct pxt_tiny_who {
	uint32_t number;
	const char *name;
};

#if CONFIG_PTRACE_RECORD_THREAD
/* False: all were told.  It is told from then on. */
bool pxt_tiny_who_next(struct pxt_tiny_who *who);
/* None was told. */
void pxt_tiny_who_forget(void);
#else
PXT_OFF_RETURNS(false, bool, pxt_tiny_who_next, struct pxt_tiny_who *who);
PXT_OFF(pxt_tiny_who_forget, void);
#endif

/*
 * ---- A context switch in one slot ----
 *
 * Of its six bytes (trace_hooks_np.h) both tasks are where the address is, the state where the length is, and the
 * priority where the CPU is; the bit of extra bytes tells.
 */

#if CONFIG_PTRACE_SYSEV_SHORT_SWITCH
#define PXT_TINY_PACKED 6u

PXT_INLINE bool pxt_tiny_packs(uint32_t id, size_t bytes)
{
	return id == POSIX_TRACE_CONTEXT_SWITCH_NP && bytes == PXT_TINY_PACKED;
}

PXT_INLINE uint32_t pxt_tiny_pack(const unsigned char *data)
{
	return pxt_slot_info(POSIX_TRACE_CONTEXT_SWITCH_NP, data[4], false, true, data[5]);
}

PXT_INLINE bool pxt_tiny_is_packed(uint32_t info)
{
	return pxt_info_extra(info);
}
#else
#define PXT_TINY_PACKED 0u

PXT_OFF_RETURNS(false, bool, pxt_tiny_packs, uint32_t id, size_t bytes);
PXT_OFF_RETURNS(0, uint32_t, pxt_tiny_pack, const unsigned char *data);
PXT_OFF_RETURNS(false, bool, pxt_tiny_is_packed, uint32_t info);
#endif

/* ---- Names ---- */

/* names.c's: names one behind the other, each with its NUL; descriptions, and where each is, plus 1 (0: none). */
extern char pxt_tiny_names[];
extern unsigned pxt_tiny_names_count;
extern char pxt_tiny_pool[];
extern uint16_t pxt_tiny_format_at[];

#if CONFIG_PTRACE_SYSEVENTS
#define PXT_TINY_FIRST PXT_ID_SPECIFIC_FIRST /* of the types that there can be */

PXT_INLINE const char *pxt_tiny_system_name(unsigned id)
{
	return pxt_system_event_name(id);
}
#else
#define PXT_TINY_FIRST PXT_ID_UNNAMED

PXT_INLINE const char *pxt_tiny_system_name(unsigned id)
{
	return id == PXT_ID_UNNAMED ? "posix_trace_unnamed_userevent" : NULL;
}
#endif

/* Changes with each type that comes, and each description. */
uint32_t pxt_tiny_known(void);

/* ---- The ring ---- */

/* Records from tail to head, when @gone were gone. */
PXT_INLINE uint32_t pxt_tiny_held(uint32_t gone)
{
	const uint32_t held = pxt_tiny.counts.put - gone;

	/* Where a move is counted after it, one may be missing for a moment. */
	return (int32_t)held < 0 ? 0 : held;
}

/* What is gone was counted there before it is counted here. */
PXT_INLINE uint64_t pxt_tiny_lost(void)
{
	const uint64_t others =
	    pxt_count_read(&pxt_tiny.counts.retrieved) + pxt_count_read(&pxt_tiny.counts.cleared);

	return pxt_count_read(&pxt_tiny.counts.gone) - others;
}

PXT_INLINE struct pxt_slot *pxt_tiny_slot(uint32_t at)
{
	return &pxt_tiny_slots[at & pxt_tiny.mask];
}

/* A word of the data of the record that begins at slot @at: its first byte is the lowest. */
PXT_INLINE uint32_t *pxt_tiny_word(uint32_t at, uint32_t word)
{
	return &pxt_tiny_slot(at + 1u + word / 4u)->word[word % 4u];
}

/* Slots of a record with so many bytes behind the first one. */
PXT_INLINE uint32_t pxt_tiny_slots_for(uint32_t bytes)
{
	return 1u + (bytes + PXT_SLOT_BYTES - 1u) / PXT_SLOT_BYTES;
}

PXT_INLINE uint32_t pxt_tiny_slots_of(uint32_t info)
{
	return pxt_tiny_slots_for(pxt_info_bytes(info) & (pxt_tiny_is_packed(info) - 1u));
}

/* The oldest record, but for its data. */
struct pxt_tiny_taken {
	uint32_t info;
	uint32_t address;
	uint32_t thread;
	uint32_t lost_before;
	uint64_t ticks;
};

/* Takes it, and as many bytes of its data as there is @room for.  False: there is none. */
bool pxt_tiny_take(struct pxt_tiny_taken *taken, unsigned char *data, size_t room);

/* Clears the records before @end. */
void pxt_tiny_clear_before(uint32_t end);

/* ---- The stream ---- */

/* A stream was created: from then on `pxtrace recover` finds it in the memory. */
#if CONFIG_PTRACE_LABELS
void pxt_tiny_label_set(void);
#else
PXT_OFF(pxt_tiny_label_set, void);
#endif

/* Makes it, as posix_trace_create() does. */
int pxt_tiny_create(pid_t pid, const trace_attr_t *attr, trace_id_t *trid);

/* Its attributes as they are in force. */
void pxt_tiny_get_attr(struct _pxt_attr *attr);

PXT_INLINE bool pxt_tiny_is(trace_id_t trid)
{
	return trid != 0 && trid == pxt_tiny.trid;
}

#endif
