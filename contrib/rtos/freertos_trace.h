/* SPDX-License-Identifier: MIT */
/*
 * freertos_trace.h - FreeRTOS' trace macros as libptrace's hooks.  Include it at the end of FreeRTOSConfig.h.
 *
 * It needs one processor core, configUSE_TRACE_FACILITY 1, a pointer of thread-local storage more than the program
 * uses (configNUM_THREAD_LOCAL_STORAGE_POINTERS; the last one is taken), INCLUDE_xSemaphoreGetMutexHolder 1, and
 * CONFIG_PTRACE_LARGER_PRIORITY in libptrace.  One source file of the program defines FREERTOS_TRACE_TASKS before
 * the include, as the number of tasks that live at the same time, idle and timer task too: it holds their words.
 *
 * FreeRTOS calls most of these with interrupts masked or the scheduler suspended, and in its own source
 * files, where it knows its structures.
 */
#ifndef FREERTOS_TRACE_H
#define FREERTOS_TRACE_H

/* An assembler includes FreeRTOSConfig.h, too. */
#ifndef __ASSEMBLER__

#include <stdint.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

/* ---- The words of tasks ---- */

/* A place with number 0 is nobody's. */
extern struct posix_trace_task_np freertos_trace_words[];
extern const uint32_t freertos_trace_places;
extern uint32_t freertos_trace_out; /* number of the task that ran ... */
extern int32_t freertos_trace_out_priority;
extern uint8_t freertos_trace_out_waits; /* ... and whether it could not go on */

#ifdef FREERTOS_TRACE_TASKS
struct posix_trace_task_np freertos_trace_words[FREERTOS_TRACE_TASKS];
const uint32_t freertos_trace_places = FREERTOS_TRACE_TASKS;
uint32_t freertos_trace_out;
int32_t freertos_trace_out_priority;
uint8_t freertos_trace_out_waits;
#endif

/* NULL: there are more tasks than places; its events have no task. */
static inline void *freertos_trace_begin(uint32_t _number, const char *_name)
{
	for (uint32_t _i = 0; _i < freertos_trace_places; _i++) {
		if (freertos_trace_words[_i]._pxt_number)
			continue;
		posix_trace_task_begin_np(&freertos_trace_words[_i], _number, _name);
		return &freertos_trace_words[_i];
	}
	return NULL;
}

static inline void freertos_trace_end(void *_words)
{
	struct posix_trace_task_np *_task = (struct posix_trace_task_np *)_words;

	if (!_task)
		return;
	posix_trace_task_end_np(_task);
	_task->_pxt_number = 0;
}

#define FREERTOS_TRACE_WORDS(tcb)                                                                  \
	((tcb)->pvThreadLocalStoragePointers[configNUM_THREAD_LOCAL_STORAGE_POINTERS - 1])
#define FREERTOS_TRACE_STATE(tcb, state, object)                                                   \
	posix_trace_hook_task_state_np((uint32_t)(tcb)->uxTCBNumber, (state),                      \
	    (int32_t)(tcb)->uxPriority, (uint64_t)(uintptr_t)(object))

/* ---- Tasks ---- */

#define traceTASK_CREATE(pxNewTCB)                                                                 \
	do {                                                                                       \
		/* For queue.c, which cannot look into a task. */                                  \
		(pxNewTCB)->uxTaskNumber = (pxNewTCB)->uxTCBNumber;                                \
		FREERTOS_TRACE_WORDS(pxNewTCB) = freertos_trace_begin(                             \
		    (uint32_t)(pxNewTCB)->uxTCBNumber, (pxNewTCB)->pcTaskName);                    \
		FREERTOS_TRACE_STATE(pxNewTCB, POSIX_TRACE_TASK_CREATED_NP, 0);                    \
	} while (0)
#define traceTASK_DELETE(pxTaskToDelete)                                                           \
	do {                                                                                       \
		FREERTOS_TRACE_STATE(pxTaskToDelete, POSIX_TRACE_TASK_ENDED_NP, 0);                \
		if ((pxTaskToDelete) == pxCurrentTCB)                                              \
			posix_trace_task_switch_np(NULL);                                          \
		freertos_trace_end(FREERTOS_TRACE_WORDS(pxTaskToDelete));                          \
		FREERTOS_TRACE_WORDS(pxTaskToDelete) = NULL;                                       \
	} while (0)
#define traceMOVED_TASK_TO_READY_STATE(pxTCB)                                                      \
	FREERTOS_TRACE_STATE(pxTCB, POSIX_TRACE_TASK_READY_NP, 0)
#define traceTASK_DELAY()                  FREERTOS_TRACE_STATE(pxCurrentTCB, POSIX_TRACE_TASK_SLEEPING_NP, 0)
#define traceTASK_DELAY_UNTIL(xTimeToWake) traceTASK_DELAY()
#define traceTASK_SUSPEND(pxTask)          FREERTOS_TRACE_STATE(pxTask, POSIX_TRACE_TASK_SUSPENDED_NP, 0)
#define traceTASK_SWITCHED_OUT()                                                                   \
	do {                                                                                       \
		freertos_trace_out = (uint32_t)pxCurrentTCB->uxTCBNumber;                          \
		freertos_trace_out_priority = (int32_t)pxCurrentTCB->uxPriority;                   \
		/* However it came to wait: by a queue, a notification, a delay, or for ever. */   \
		freertos_trace_out_waits = !listIS_CONTAINED_WITHIN(                               \
		    &pxReadyTasksLists[pxCurrentTCB->uxPriority], &pxCurrentTCB->xStateListItem);  \
	} while (0)
#define traceTASK_SWITCHED_IN()                                                                    \
	do {                                                                                       \
		if (freertos_trace_out != (uint32_t)pxCurrentTCB->uxTCBNumber) {                   \
			posix_trace_hook_context_switch_np(0, freertos_trace_out,                  \
			    (uint32_t)pxCurrentTCB->uxTCBNumber, freertos_trace_out_waits,         \
			    freertos_trace_out_priority, (int32_t)pxCurrentTCB->uxPriority);       \
			posix_trace_task_switch_np(                                                \
			    (struct posix_trace_task_np *)FREERTOS_TRACE_WORDS(pxCurrentTCB));     \
		}                                                                                  \
	} while (0)
#define traceTASK_PRIORITY_SET(pxTask, uxNewPriority)                                              \
	posix_trace_hook_priority_np((uint32_t)(pxTask)->uxTCBNumber, (int32_t)(uxNewPriority))
#define traceTASK_PRIORITY_INHERIT(pxTCBOfMutexHolder, uxInheritedPriority)                        \
	traceTASK_PRIORITY_SET(pxTCBOfMutexHolder, uxInheritedPriority)
#define traceTASK_PRIORITY_DISINHERIT(pxTCBOfMutexHolder, uxOriginalPriority)                      \
	traceTASK_PRIORITY_SET(pxTCBOfMutexHolder, uxOriginalPriority)

/* ---- Queues; a mutex is one ---- */

#define FREERTOS_TRACE_IS_MUTEX(pxQueue)                                                           \
	(ucQueueGetQueueType(pxQueue) == queueQUEUE_TYPE_MUTEX ||                                  \
	    ucQueueGetQueueType(pxQueue) == queueQUEUE_TYPE_RECURSIVE_MUTEX)
#define FREERTOS_TRACE_OBJECT(pxQueue) ((uint64_t)(uintptr_t)(pxQueue))

#define traceBLOCKING_ON_QUEUE_RECEIVE(pxQueue)                                                    \
	do {                                                                                       \
		if (FREERTOS_TRACE_IS_MUTEX(pxQueue)) {                                            \
			TaskHandle_t xHolder = xQueueGetMutexHolder(pxQueue);                      \
			posix_trace_hook_mutex_wait_np(FREERTOS_TRACE_OBJECT(pxQueue),             \
			    xHolder ? (uint32_t)uxTaskGetTaskNumber(xHolder) : 0u);                \
		} else {                                                                           \
			posix_trace_hook_call_enter_np(                                            \
			    POSIX_TRACE_CALL_MQ_NP, FREERTOS_TRACE_OBJECT(pxQueue), 0);            \
		}                                                                                  \
	} while (0)
#define traceBLOCKING_ON_QUEUE_SEND(pxQueue)                                                       \
	posix_trace_hook_call_enter_np(POSIX_TRACE_CALL_MQ_NP, FREERTOS_TRACE_OBJECT(pxQueue), 1)
#define traceQUEUE_RECEIVE(pxQueue)                                                                \
	do {                                                                                       \
		if (FREERTOS_TRACE_IS_MUTEX(pxQueue))                                              \
			posix_trace_hook_mutex_lock_np(FREERTOS_TRACE_OBJECT(pxQueue), 0, 0);      \
		else                                                                               \
			posix_trace_hook_call_exit_np(                                             \
			    POSIX_TRACE_CALL_MQ_NP, FREERTOS_TRACE_OBJECT(pxQueue), 0, 0);         \
	} while (0)
#define traceQUEUE_SEND(pxQueue)                                                                   \
	do {                                                                                       \
		if (FREERTOS_TRACE_IS_MUTEX(pxQueue))                                              \
			posix_trace_hook_mutex_unlock_np(FREERTOS_TRACE_OBJECT(pxQueue), 0);       \
		else                                                                               \
			posix_trace_hook_call_exit_np(                                             \
			    POSIX_TRACE_CALL_MQ_NP, FREERTOS_TRACE_OBJECT(pxQueue), 1, 0);         \
	} while (0)
#define traceQUEUE_SEND_FROM_ISR(pxQueue)                                                          \
	posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_MQ_NP, FREERTOS_TRACE_OBJECT(pxQueue), 1, 0)

/* ---- Timers ---- */

#define traceTIMER_EXPIRED(pxTimer)                                                                \
	posix_trace_hook_kernel_np(                                                                \
	    POSIX_TRACE_KERNEL_TIMER_POST_NP, 0, (uint64_t)(uintptr_t)(pxTimer))

#endif
#endif
