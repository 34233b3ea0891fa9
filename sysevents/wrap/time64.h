/* SPDX-License-Identifier: MIT */
/*
 * time64.h - the C library's functions for programs that chose times of 64 bits on a 32-bit machine (_TIME_BITS).
 *
 * Their names are not those that such a program writes: the C library's headers put them in their place.  This
 * library is compiled without that choice, and knows both.
 */
#ifndef PXT_WRAP_TIME64_H
#define PXT_WRAP_TIME64_H

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

struct pxt_timespec64 {
	int64_t tv_sec;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	int32_t unused;
	int32_t tv_nsec;
#else
	int32_t tv_nsec;
	int32_t unused;
#endif
};

struct pxt_itimerspec64 {
	struct pxt_timespec64 it_interval;
	struct pxt_timespec64 it_value;
};

struct pxt_timeval64 {
	int64_t tv_sec;
	int64_t tv_usec;
};

struct pxt_itimerval64 {
	struct pxt_timeval64 it_interval;
	struct pxt_timeval64 it_value;
};

struct pxt_rusage64; /* is only handed on */

/* The C library's.  NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
extern int __clock_nanosleep_time64(
    clockid_t clock, int flags, const struct pxt_timespec64 *time, struct pxt_timespec64 *rest);
extern int __cnd_timedwait64(cnd_t *cond, mtx_t *mutex, const struct pxt_timespec64 *limit);
extern int __epoll_pwait2_time64(int fd, struct epoll_event *events, int count,
    const struct pxt_timespec64 *time, const sigset_t *mask);
extern int __fcntl_time64(int fd, int command, ...);
extern ssize_t __mq_timedreceive_time64(
    mqd_t queue, char *to, size_t bytes, unsigned *priority, const struct pxt_timespec64 *limit);
extern int __mq_timedsend_time64(mqd_t queue, const char *from, size_t bytes, unsigned priority,
    const struct pxt_timespec64 *limit);
extern int __mtx_timedlock64(mtx_t *mutex, const struct pxt_timespec64 *limit);
extern int __nanosleep64(const struct pxt_timespec64 *time, struct pxt_timespec64 *rest);
extern int __ppoll64(
    struct pollfd *set, nfds_t count, const struct pxt_timespec64 *time, const sigset_t *mask);
extern int __prctl_time64(int option, ...);
extern int __pselect64(int count, fd_set *in, fd_set *out, fd_set *except,
    const struct pxt_timespec64 *time, const sigset_t *mask);
extern int __pthread_clockjoin_np64(
    pthread_t thread, void **value, clockid_t clock, const struct pxt_timespec64 *limit);
extern int __pthread_cond_clockwait64(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
    const struct pxt_timespec64 *limit);
extern int __pthread_cond_timedwait64(
    pthread_cond_t *cond, pthread_mutex_t *mutex, const struct pxt_timespec64 *limit);
extern int __pthread_mutex_clocklock64(
    pthread_mutex_t *mutex, clockid_t clock, const struct pxt_timespec64 *limit);
extern int __pthread_mutex_timedlock64(pthread_mutex_t *mutex, const struct pxt_timespec64 *limit);
extern int __pthread_rwlock_clockrdlock64(
    pthread_rwlock_t *lock, clockid_t clock, const struct pxt_timespec64 *limit);
extern int __pthread_rwlock_clockwrlock64(
    pthread_rwlock_t *lock, clockid_t clock, const struct pxt_timespec64 *limit);
extern int __pthread_rwlock_timedrdlock64(
    pthread_rwlock_t *lock, const struct pxt_timespec64 *limit);
extern int __pthread_rwlock_timedwrlock64(
    pthread_rwlock_t *lock, const struct pxt_timespec64 *limit);
extern int __pthread_timedjoin_np64(
    pthread_t thread, void **value, const struct pxt_timespec64 *limit);
extern int __recvmmsg64(
    int fd, struct mmsghdr *messages, unsigned count, int flags, struct pxt_timespec64 *time);
extern ssize_t __recvmsg64(int fd, struct msghdr *message, int flags);
extern int __select64(
    int count, fd_set *in, fd_set *out, fd_set *except, struct pxt_timeval64 *time);
extern int __sem_clockwait64(sem_t *sem, clockid_t clock, const struct pxt_timespec64 *limit);
extern int __sem_timedwait64(sem_t *sem, const struct pxt_timespec64 *limit);
extern int __semtimedop64(
    int set, struct sembuf *operations, size_t count, const struct pxt_timespec64 *time);
extern int __sendmmsg64(int fd, struct mmsghdr *messages, unsigned count, int flags);
extern ssize_t __sendmsg64(int fd, const struct msghdr *message, int flags);
extern int __setitimer64(
    __itimer_which_t which, const struct pxt_itimerval64 *value, struct pxt_itimerval64 *former);
extern int __sigtimedwait64(
    const sigset_t *set, siginfo_t *info, const struct pxt_timespec64 *time);
extern int __thrd_sleep64(const struct pxt_timespec64 *time, struct pxt_timespec64 *rest);
extern int __timer_settime64(timer_t timer, int flags, const struct pxt_itimerspec64 *value,
    struct pxt_itimerspec64 *former);
extern int __timerfd_settime64(
    int fd, int flags, const struct pxt_itimerspec64 *value, struct pxt_itimerspec64 *former);
extern pid_t __wait3_time64(int *status, int options, struct pxt_rusage64 *usage);
extern pid_t __wait4_time64(pid_t pid, int *status, int options, struct pxt_rusage64 *usage);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#endif
