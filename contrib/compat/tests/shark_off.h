/* SPDX-License-Identifier: MIT */
/* shark_off.h - what a file without the tracer has for shark.c. */
#ifndef TESTS_COMPAT_SHARK_OFF_H
#define TESTS_COMPAT_SHARK_OFF_H

/* Logs an event whose parameters are @argument++ twice; returns @argument. */
int log_without_tracer(int argument);

#endif
