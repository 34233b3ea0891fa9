/* SPDX-License-Identifier: MIT */
/*
 * pxt_config.h - for another implementation than libptrace, in front of every file: what it has.  -D...=0 on the command
 * line says what it lacks: the option Trace Log is _PXT_UNIT_TOLOG and _PXT_UNIT_LOGRETRIEVAL, Trace Inherit
 * _PXT_UNIT_INHERIT, Trace Event Filter _PXT_UNIT_FILTER.
 */
#ifndef SHIM_PXT_CONFIG_H
#define SHIM_PXT_CONFIG_H

#define _PXT_UNIT_CORE       1
#define _PXT_UNIT_ONLINE     1
#define _PXT_UNIT_USEREVENTS 1
#ifndef _PXT_UNIT_FILTER
#define _PXT_UNIT_FILTER 1
#endif
#ifndef _PXT_UNIT_TOLOG
#define _PXT_UNIT_TOLOG 1
#endif
#ifndef _PXT_UNIT_LOGRETRIEVAL
#define _PXT_UNIT_LOGRETRIEVAL _PXT_UNIT_TOLOG
#endif
#ifndef _PXT_UNIT_INHERIT
#define _PXT_UNIT_INHERIT 1
#endif
#define _PXT_UNIT_ATTACH                    0
#define _PXT_UNIT_SNAPSHOT                  0
#define _PXT_UNIT_EXTENSIONS                0
#define _PXT_UNIT_INSPECT                   0
#define _PXT_UNIT_SYSEVENTS                 0
#define _PXT_LANES_MAX                      1
#define _PXT_EVENT_IDS                      (8u * sizeof(trace_event_set_t))
#define CONFIG_PTRACE_ARG_CHECKS            1
#define CONFIG_PTRACE_SINGLE_STREAM         0
#define CONFIG_PTRACE_POLICY_LOOP           1
#define CONFIG_PTRACE_POLICY_UNTIL_FULL     1
#define CONFIG_PTRACE_POLICY_FLUSH          _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_POLICY_DISCARD        0
#define CONFIG_PTRACE_LOG_LOOP              _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_LOG_UNTIL_FULL        _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_LOG_APPEND            _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_SYSEV_ERROR           1
#define CONFIG_PTRACE_SYSEV_START_STOP      1
#define CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME 1
#define CONFIG_PTRACE_SYSEV_FLUSH           _PXT_UNIT_TOLOG
#define CONFIG_PTRACE_SYSEV_FILTER          _PXT_UNIT_FILTER
#define CONFIG_PTRACE_DEFAULT_DATA_SIZE     256
#define CONFIG_PTRACE_DATA_LIMIT            4095
#define CONFIG_PTRACE_RECORD_ADDRESS        1
#define CONFIG_PTRACE_RECORD_THREAD         1
#define CONFIG_PTRACE_LIMIT_STREAM_SIZE     0

#endif
