/* SPDX-License-Identifier: MIT */
/* locks.c - a program that knows nothing of traces, and locks five times (scripts/check-installed). */
#include <pthread.h>

int main(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 5; i++)
		if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_unlock(&mutex) != 0)
			return 1;
	return 0;
}
