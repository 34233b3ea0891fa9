/* SPDX-License-Identifier: MIT */
/* label.c - what `pxtrace recover` finds in the memory of a board; see tiny.h. */
#include "core/process/names.h"
#include "format/imageheader.h"
#include "port/port.h"
#include "tiny/tiny.h"

/* The next one of them. */
_Static_assert(offsetof(struct posix_trace_task_np, _pxt_own) == 0, "it begins a task's words");

#define STATE(member) offsetof(struct pxt_tiny, member)

/* In memory, not with the constants: a dump of a board's RAM has it. */
static struct {
	struct pxt_small_label label;
	const volatile void *part[PXT_SMALL_PARTS];
} tiny_label = {
	.label = {
		.magic = PXT_SMALL_MAGIC,
		.order = PXT_IMAGEHEADER_ORDER,
		.version = PXT_SMALL_VERSION,
		.word_bytes = sizeof(void *),
		.contents = (CONFIG_PTRACE_RECORD_THREAD ? PXT_SMALL_THREAD : 0u) |
		            (CONFIG_PTRACE_RECORD_ADDRESS ? PXT_SMALL_ADDRESS : 0u) |
		            (CONFIG_PTRACE_RECORD_CPU ? PXT_SMALL_CPU : 0u) |
		            (CONFIG_PTRACE_LARGER_PRIORITY ? PXT_SMALL_LARGER : 0u) |
		            (PXT_TINY_PACKED ? PXT_SMALL_SHORT : 0u) |
		            (CONFIG_PTRACE_EXCLUSIVES ? PXT_SMALL_HALVES : 0u),
		.first_user_id = PXT_ID_USER_FIRST,
		.names_bytes = CONFIG_PTRACE_NAME_POOL_BYTES,
		.formats_bytes = PXT_POOL_ROOM,
		.name_bytes = sizeof(pxt_tiny.name),
		.second_bytes = sizeof(pxt_tiny.anchor.tv_sec),
		.at = { [PXT_SMALL_TRID] = STATE(trid),
		    [PXT_SMALL_RUNNING] = STATE(running),
		    [PXT_SMALL_MASK] = STATE(mask),
		    [PXT_SMALL_MAX_DATA] = STATE(max_data),
		    [PXT_SMALL_HEAD] = STATE(head),
		    [PXT_SMALL_TAIL] = STATE(tail),
		    [PXT_SMALL_PUT] = STATE(counts.put),
		    [PXT_SMALL_GONE] = STATE(counts.gone),
		    [PXT_SMALL_RETRIEVED] = STATE(counts.retrieved),
		    [PXT_SMALL_CLEARED] = STATE(counts.cleared),
		    [PXT_SMALL_ANCHOR] = STATE(anchor_ticks),
		    [PXT_SMALL_SECONDS] = STATE(anchor.tv_sec),
		    [PXT_SMALL_NANOSECONDS] = STATE(anchor.tv_nsec),
		    [PXT_SMALL_NAME] = STATE(name),
		    [PXT_SMALL_TASK_NUMBER] = offsetof(struct posix_trace_task_np, _pxt_number),
		    [PXT_SMALL_TASK_NAME] = offsetof(struct posix_trace_task_np, _pxt_name) },
	},
	.part = { [PXT_SMALL_SELF] = &tiny_label,
	    [PXT_SMALL_STATE] = &pxt_tiny,
	    [PXT_SMALL_SLOTS] = pxt_tiny_slots,
	    [PXT_SMALL_NAMES] = pxt_tiny_names,
	    [PXT_SMALL_COUNT] = &pxt_tiny_names_count,
	    [PXT_SMALL_FORMATS] = pxt_tiny_pool,
	    [PXT_SMALL_FORMAT_AT] = pxt_tiny_format_at,
	    [PXT_SMALL_TASKS] = PXT_TINY_TASKS,
	    [PXT_SMALL_ENDED] = PXT_TINY_ENDED_ONES },
};

void pxt_tiny_label_set(void)
{
	struct pxt_clock_rate rate;

	pxt_port_clock_start(&rate);
	tiny_label.label.clock_source = (uint32_t)rate.source;
	tiny_label.label.clock_error_ppm = rate.error_ppm;
	tiny_label.label.pid = pxt_port_pid();
	tiny_label.label.hz = rate.hz;
}
