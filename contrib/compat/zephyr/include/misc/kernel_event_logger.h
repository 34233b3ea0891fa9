/* SPDX-License-Identifier: MIT */
/*
 * kernel_event_logger.h - Zephyr's kernel event logger of 2016, upon streams of libptrace.
 *
 * An event is an event of every stream of the process that runs, under a name that begins with
 * "zephyr_"; the logger's own stream, from which the collector takes them, holds nothing else.
 * contrib/compat/README.md has what is the same, what is not, and why.
 *
 * The first call of a program is made outside of signal handlers.  sys_k_event_logger_put() and
 * _put_timed() may be called there after that; the others are for threads.
 */
#ifndef KERNEL_EVENT_LOGGER_H
#define KERNEL_EVENT_LOGGER_H

#include <kernel_event_logger_config.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Data of 32-bit words: how many a variable holds. */
#ifndef SIZE32_OF
#define SIZE32_OF(x) (sizeof(x) / sizeof(uint32_t))
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#define KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID             0x0001
#define KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID                  0x0002
#define KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID                      0x0003
#define KERNEL_EVENT_LOGGER_TASK_MON_TASK_STATE_CHANGE_EVENT_ID 0x0004
#define KERNEL_EVENT_LOGGER_TASK_MON_CMD_PACKET_EVENT_ID        0x0005
#define KERNEL_EVENT_LOGGER_TASK_MON_KEVENT_EVENT_ID            0x0006
/* As the paper's example spells three of them. */
#define KERNEL_EVENT_CONTEXT_SWITCH_EVENT_ID                    KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID
#define KERNEL_EVENT_INTERRUPT_EVENT_ID                         KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID
#define KERNEL_EVENT_SLEEP_EVENT_ID                             KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID

typedef uint32_t (*sys_k_timer_func)(void);

#if CONFIG_KERNEL_EVENT_LOGGER

/*
 * Records an event with @data_size words.  It is refused and counted where the buffer has no room
 * for it and one word, where @event_id is 0, or @event_data is NULL and @data_size is not 0.
 */
void sys_k_event_logger_put(uint16_t event_id, const uint32_t *event_data, uint8_t data_size);
/* The same with one word, the time. */
void sys_k_event_logger_put_timed(uint16_t event_id);

/*
 * Takes the oldest event: its number, how many were refused before it (255: or more), and its data.
 *
 * @buffer_size: words of @buffer; then those of the event.
 *
 * Returns the number of words, or
 * 0: there is none (until the time is over, in ticks).
 * -EMSGSIZE: @buffer is too small; the event stays, *buffer_size says what it needs.
 * -EINVAL: a pointer is NULL.
 */
int sys_k_event_logger_get(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size);
int sys_k_event_logger_get_wait(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size);
int sys_k_event_logger_get_wait_timeout(uint16_t *event_id, uint8_t *dropped_event_count,
    uint32_t *buffer, uint8_t *buffer_size, uint32_t timeout);

/*
 * Counts a second of the time in messages; 0: there is no stream.  (Of a clock of the program's own the
 * program knows it.)
 */
uint64_t sys_k_event_logger_clock_hz(void);
#define SYS_CLOCK_HW_CYCLES_PER_SEC sys_k_event_logger_clock_hz()

/* Context switches of the calling thread are not recorded from now on. */
void sys_k_event_logger_register_as_collector(void);

#if CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC
extern uint32_t _kernel_event_logger_mask;

/* Bit n - 1: event n is recorded.  Events above 32 have no bit and are not. */
void sys_k_event_logger_set_mask(int value);
int sys_k_event_logger_get_mask(void);

static inline int sys_k_must_log_event(int event_type)
{
	return event_type > 0 && event_type <= 32 &&
	       (__atomic_load_n(&_kernel_event_logger_mask, __ATOMIC_RELAXED) >>
	               (unsigned)(event_type - 1) &
	           1u);
}
#else
static inline int sys_k_must_log_event(int event_type)
{
	return (void)event_type, 1;
}
#endif

#if CONFIG_KERNEL_EVENT_LOGGER_DYNAMIC && CONFIG_TASK_MONITOR
/* Of the task monitor: 1 task switch, 2 task state, 4 command packet, 8 kernel event. */
void sys_k_event_logger_set_monitor_mask(int value);
int sys_k_event_logger_get_monitor_mask(void);
#endif

#if CONFIG_KERNEL_EVENT_LOGGER_CUSTOM_TIMESTAMP
/* NULL: the hardware's clock again. */
void sys_k_event_logger_set_timer(sys_k_timer_func func);
#endif

#else /* !CONFIG_KERNEL_EVENT_LOGGER */

#define SYS_CLOCK_HW_CYCLES_PER_SEC UINT64_C(0)

static inline void sys_k_event_logger_put(
    uint16_t event_id, const uint32_t *event_data, uint8_t data_size)
{
	(void)event_id, (void)event_data, (void)data_size;
}
static inline void sys_k_event_logger_put_timed(uint16_t event_id)
{
	(void)event_id;
}
static inline int sys_k_event_logger_get(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	return (void)event_id, (void)dropped_event_count, (void)buffer, (void)buffer_size, 0;
}
static inline int sys_k_event_logger_get_wait(
    uint16_t *event_id, uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size)
{
	return sys_k_event_logger_get(event_id, dropped_event_count, buffer, buffer_size);
}
static inline int sys_k_event_logger_get_wait_timeout(uint16_t *event_id,
    uint8_t *dropped_event_count, uint32_t *buffer, uint8_t *buffer_size, uint32_t timeout)
{
	(void)timeout;
	return sys_k_event_logger_get(event_id, dropped_event_count, buffer, buffer_size);
}
static inline void sys_k_event_logger_register_as_collector(void)
{
}
static inline void sys_k_event_logger_set_mask(int value)
{
	(void)value;
}
static inline int sys_k_event_logger_get_mask(void)
{
	return 0;
}
static inline void sys_k_event_logger_set_monitor_mask(int value)
{
	(void)value;
}
static inline int sys_k_event_logger_get_monitor_mask(void)
{
	return 0;
}
static inline void sys_k_event_logger_set_timer(sys_k_timer_func func)
{
	(void)func;
}
static inline int sys_k_must_log_event(int event_type)
{
	return (void)event_type, 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
