/* SPDX-License-Identifier: MIT */
/* threadid.h - a thread's identifier as the number that logs list it by. */
#ifndef PXT_THREADID_H
#define PXT_THREADID_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t pxt_thread_number(pthread_t thread)
{
	uint64_t number = 0;
	size_t bytes = sizeof thread < sizeof number ? sizeof thread : sizeof number;
	const uint16_t one = 1;

	/* pthread_t is a number or a pointer everywhere we know, but need not be either. */
	if (*(const unsigned char *)&one == 1)
		memcpy(&number, &thread, bytes);
	else
		memcpy((unsigned char *)&number + sizeof number - bytes, &thread, bytes);
	return number;
}

#endif
