/* SPDX-License-Identifier: MIT */
/* semwait.h - waits for another thread's sem_post(), over signals. */
#ifndef PXT_TEST_SEMWAIT_H
#define PXT_TEST_SEMWAIT_H

#include <errno.h>
#include <semaphore.h>

static inline void semwait(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0 && errno == EINTR)
		;
}

#endif
