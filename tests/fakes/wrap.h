/* SPDX-License-Identifier: MIT */
/*
 * wrap.h - the two names that the linker gives a wrapped function: calls of f reach __wrap_f,
 * and __real_f is the port's own.
 */
#ifndef PXT_FAKES_WRAP_H
#define PXT_FAKES_WRAP_H

/* The names are the linker's choice, reserved or not. */
#define PXT_WRAPPED(result, name, parameters)                                                      \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters

#endif
