/* SPDX-License-Identifier: MIT */
/* freertos.c - FreeRTOS' trace macros (contrib/rtos/freertos_trace.h), called as its scheduler does. */
#include <stddef.h>
#include <stdint.h>

/* As much of its structures as its documentation tells of. */
typedef struct tcb {
	const void *xStateListItem; /* the list that it is in */
	void *pvThreadLocalStoragePointers[1];
	uint32_t uxTCBNumber;
	uint32_t uxTaskNumber; /* what a trace tool writes there */
	uint32_t uxPriority;
	const char *pcTaskName;
} * TaskHandle_t;
#define configNUM_THREAD_LOCAL_STORAGE_POINTERS 1
#define queueQUEUE_TYPE_MUTEX                   1u
#define queueQUEUE_TYPE_RECURSIVE_MUTEX         4u
#define ucQueueGetQueueType(queue)              ((void)(queue), queueQUEUE_TYPE_MUTEX)
#define xQueueGetMutexHolder(mutex)             ((void)(mutex), holder)
#define uxTaskGetTaskNumber(task)               ((task)->uxTaskNumber)
#define listIS_CONTAINED_WITHIN(list, item)     (*(item) == (list))
static char pxReadyTasksLists[10];
static TaskHandle_t pxCurrentTCB;
static TaskHandle_t holder;

#define FREERTOS_TRACE_TASKS 4
#include "contrib/rtos/freertos_trace.h"

typedef TaskHandle_t task_t;
static int mutex;

static void play_switch(task_t to)
{
	if (pxCurrentTCB)
		traceTASK_SWITCHED_OUT();
	pxCurrentTCB = to;
	traceTASK_SWITCHED_IN();
}

static void play_ready(task_t task)
{
	traceMOVED_TASK_TO_READY_STATE(task);
	task->xStateListItem = &pxReadyTasksLists[task->uxPriority];
}

static task_t play_task(const char *name, unsigned urgency)
{
	static struct tcb tasks[3];
	static uint32_t count;
	task_t task = &tasks[count++];

	*task = (struct tcb){
		.uxTCBNumber = count, .uxPriority = 9u - 2u * urgency, .pcTaskName = name
	};
	traceTASK_CREATE(task);
	play_ready(task);
	if (count == 1)
		play_switch(task);
	return task;
}

static void play_sleep(void)
{
	traceTASK_DELAY();
	pxCurrentTCB->xStateListItem = NULL;
}

static void play_wait(void)
{
	traceBLOCKING_ON_QUEUE_RECEIVE(&mutex);
	pxCurrentTCB->xStateListItem = NULL;
}

static void play_take(void)
{
	holder = pxCurrentTCB;
	traceQUEUE_RECEIVE(&mutex);
}

static void play_give(void)
{
	holder = NULL;
	traceQUEUE_SEND(&mutex);
}

#include "story.h"

int main(void)
{
	struct tcb short_lived = { .uxTCBNumber = 9, .pcTaskName = "short" };
	int result = story();

	/* A fifth task finds a place when the fourth was deleted. */
	for (unsigned i = 0; i < 9; i++) {
		traceTASK_CREATE(&short_lived);
		MUST(FREERTOS_TRACE_WORDS(&short_lived) == &freertos_trace_words[3]);
		traceTASK_DELETE(&short_lived);
	}
	traceTASK_PRIORITY_INHERIT(&short_lived, 7);
	traceTASK_PRIORITY_DISINHERIT(&short_lived, 3);
	traceBLOCKING_ON_QUEUE_SEND(&mutex);
	traceQUEUE_SEND_FROM_ISR(&mutex);
	traceTIMER_EXPIRED(&mutex);
	traceTASK_SUSPEND(&short_lived);
	return result;
}
