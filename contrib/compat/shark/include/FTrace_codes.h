/* SPDX-License-Identifier: MIT */
/* FTrace_codes.h - event codes and filters, by codes.py of the manual's tables. */
#ifndef FTRACE_CODES_H
#define FTRACE_CODES_H

#include <stdint.h>

/* clang-format off */
#define FTrace_EVT_empty                 0x00
#define FTrace_EVT_cycles_per_msec       0x10
#define FTrace_EVT_trace_start           0x20
#define FTrace_EVT_trace_stop            0x30
#define FTrace_EVT_blackout_start        0x40
#define FTrace_EVT_blackout_end          0x50
#define FTrace_EVT_id                    0x60
#define FTrace_EVT_numevents             0x70
#define FTrace_EVT_ipoint                0x01
#define FTrace_EVT_task_create           0x02
#define FTrace_EVT_task_activate         0x12
#define FTrace_EVT_task_dispatch         0x22
#define FTrace_EVT_task_epilogue         0x32
#define FTrace_EVT_task_end              0x42
#define FTrace_EVT_task_begin_cycle      0x52
#define FTrace_EVT_task_end_cycle        0x62
#define FTrace_EVT_task_sleep            0x72
#define FTrace_EVT_task_schedule         0x82
#define FTrace_EVT_task_timer            0x92
#define FTrace_EVT_task_disable          0xA2
#define FTrace_EVT_task_deadline_miss    0xB2
#define FTrace_EVT_task_wcet_violation   0xC2
#define FTrace_EVT_interrupt_start       0x03
#define FTrace_EVT_interrupt_end         0x13
#define FTrace_EVT_interrupt_hit         0x23
#define FTrace_EVT_interrupt_count       0x33
#define FTrace_EVT_to_real_mode          0x04
#define FTrace_EVT_to_protected_mode     0x14
#define FTrace_EVT_CLI                   0x24
#define FTrace_EVT_STI                   0x34
#define FTrace_EVT_set_priority          0x05
#define FTrace_EVT_context_switch        0x15
#define FTrace_EVT_inheritance           0x25
#define FTrace_EVT_set_mutex_create      0x06
#define FTrace_EVT_set_mutex_lock        0x16
#define FTrace_EVT_set_mutex_inherit     0x26
#define FTrace_EVT_set_mutex_unlock      0x36
#define FTrace_EVT_set_mutex_wait        0x46
#define FTrace_EVT_set_mutex_post        0x56
#define FTrace_EVT_signal                0x07
#define FTrace_EVT_server_create         0x08
#define FTrace_EVT_server_replenish      0x18
#define FTrace_EVT_server_exhaust        0x28
#define FTrace_EVT_server_reclaiming     0x38
#define FTrace_EVT_server_remove         0x48
#define FTrace_EVT_server_active         0x58
#define FTrace_EVT_server_using_rec      0x68
#define FTrace_EVT_user_event_0          0x09
#define FTrace_EVT_user_event_1          0x19
#define FTrace_EVT_user_event_2          0x29
#define FTrace_EVT_user_event_3          0x39
#define FTrace_EVT_user_event_4          0x49
#define FTrace_EVT_user_event_5          0x59
#define FTrace_EVT_user_event_6          0x69
#define FTrace_EVT_user_event_7          0x79
#define FTrace_EVT_user_event_8          0x89
#define FTrace_EVT_user_event_9          0x99
#define FTrace_EVT_user_event_10         0xA9
#define FTrace_EVT_user_event_11         0xB9
#define FTrace_EVT_user_event_12         0xC9
#define FTrace_EVT_user_event_13         0xD9
#define FTrace_EVT_user_event_14         0xE9
#define FTrace_EVT_timer_post            0x0B
#define FTrace_EVT_timer_delete          0x1B
#define FTrace_EVT_timer_wakeup_start    0x2B
#define FTrace_EVT_timer_wakeup_end      0x3B
#define FTrace_EVT_data_pointer          0x1A
#define FTrace_EVT_next_chunk            0xFF
#define FTrace_filter_trace_Events       0xF0
#define FTrace_filter_ipoint             0xF1
#define FTrace_filter_task               0xF2
#define FTrace_filter_interrupt          0xF3
#define FTrace_filter_CPU                0xF4
#define FTrace_filter_priority           0xF5
#define FTrace_filter_mutex              0xF6
#define FTrace_filter_signal             0xF7
#define FTrace_filter_server             0xF8
#define FTrace_filter_user               0xF9
#define FTrace_filter_data               0xFA
#define FTrace_filter_timer              0xFB
#define FTrace_family_mask               0x0F

/* name, code, what the two parameters are: of each event but the first, which is none,
   and the last, which is not stored */
#define FTRACE_EVENTS(X) \
	X(FTrace_EVT_cycles_per_msec, par1, clk_msec) \
	X(FTrace_EVT_trace_start, par1, par2) \
	X(FTrace_EVT_trace_stop, par1, par2) \
	X(FTrace_EVT_blackout_start, par1, par2) \
	X(FTrace_EVT_blackout_end, par1, par2) \
	X(FTrace_EVT_id, context, pid) \
	X(FTrace_EVT_numevents, par1, par2) \
	X(FTrace_EVT_ipoint, number, par2) \
	X(FTrace_EVT_task_create, context, pid) \
	X(FTrace_EVT_task_activate, context, par2) \
	X(FTrace_EVT_task_dispatch, par1, par2) \
	X(FTrace_EVT_task_epilogue, par1, par2) \
	X(FTrace_EVT_task_end, context, pid) \
	X(FTrace_EVT_task_begin_cycle, par1, par2) \
	X(FTrace_EVT_task_end_cycle, context, level) \
	X(FTrace_EVT_task_sleep, par1, par2) \
	X(FTrace_EVT_task_schedule, exec_shadow_context, exec_context) \
	X(FTrace_EVT_task_timer, context, level) \
	X(FTrace_EVT_task_disable, par1, par2) \
	X(FTrace_EVT_task_deadline_miss, context, par2) \
	X(FTrace_EVT_task_wcet_violation, context, par2) \
	X(FTrace_EVT_interrupt_start, interrupt, par2) \
	X(FTrace_EVT_interrupt_end, interrupt, par2) \
	X(FTrace_EVT_interrupt_hit, par1, par2) \
	X(FTrace_EVT_interrupt_count, par1, par2) \
	X(FTrace_EVT_to_real_mode, par1, par2) \
	X(FTrace_EVT_to_protected_mode, par1, par2) \
	X(FTrace_EVT_CLI, par1, par2) \
	X(FTrace_EVT_STI, par1, par2) \
	X(FTrace_EVT_set_priority, par1, par2) \
	X(FTrace_EVT_context_switch, context, par2) \
	X(FTrace_EVT_inheritance, exec_shadow_context, exec_context) \
	X(FTrace_EVT_set_mutex_create, par1, par2) \
	X(FTrace_EVT_set_mutex_lock, context, mutex) \
	X(FTrace_EVT_set_mutex_inherit, par1, par2) \
	X(FTrace_EVT_set_mutex_unlock, context, mutex) \
	X(FTrace_EVT_set_mutex_wait, context, mutex) \
	X(FTrace_EVT_set_mutex_post, context, mutex) \
	X(FTrace_EVT_signal, par1, par2) \
	X(FTrace_EVT_server_create, par1, server) \
	X(FTrace_EVT_server_replenish, par1, server) \
	X(FTrace_EVT_server_exhaust, par1, server) \
	X(FTrace_EVT_server_reclaiming, par1, server) \
	X(FTrace_EVT_server_remove, par1, server) \
	X(FTrace_EVT_server_active, par1, server) \
	X(FTrace_EVT_server_using_rec, reclaiming, server) \
	X(FTrace_EVT_user_event_0, par1, par2) \
	X(FTrace_EVT_user_event_1, par1, par2) \
	X(FTrace_EVT_user_event_2, par1, par2) \
	X(FTrace_EVT_user_event_3, par1, par2) \
	X(FTrace_EVT_user_event_4, par1, par2) \
	X(FTrace_EVT_user_event_5, par1, par2) \
	X(FTrace_EVT_user_event_6, par1, par2) \
	X(FTrace_EVT_user_event_7, par1, par2) \
	X(FTrace_EVT_user_event_8, par1, par2) \
	X(FTrace_EVT_user_event_9, par1, par2) \
	X(FTrace_EVT_user_event_10, par1, par2) \
	X(FTrace_EVT_user_event_11, par1, par2) \
	X(FTrace_EVT_user_event_12, par1, par2) \
	X(FTrace_EVT_user_event_13, par1, par2) \
	X(FTrace_EVT_user_event_14, par1, par2) \
	X(FTrace_EVT_timer_post, par1, par2) \
	X(FTrace_EVT_timer_delete, par1, par2) \
	X(FTrace_EVT_timer_wakeup_start, par1, par2) \
	X(FTrace_EVT_timer_wakeup_end, context, par2) \
	X(FTrace_EVT_data_pointer, par1, par2)

#define FTRACE_FILTERS(X) \
	X(FTrace_filter_trace_Events) \
	X(FTrace_filter_ipoint) \
	X(FTrace_filter_task) \
	X(FTrace_filter_interrupt) \
	X(FTrace_filter_CPU) \
	X(FTrace_filter_priority) \
	X(FTrace_filter_mutex) \
	X(FTrace_filter_signal) \
	X(FTrace_filter_server) \
	X(FTrace_filter_user) \
	X(FTrace_filter_data) \
	X(FTrace_filter_timer)

/* printed code, code: slips of the manual's tables */
#define FTRACE_SLIPS(X) \
	X(0x43, 0x36)

/* clang-format on */
#endif
