# SPDX-License-Identifier: MIT
ptrace_test(sysevents NEEDS SYSEVENTS SYSEV_SPECIFIC ONLINE POLICY_LOOP SOURCES sysevents/events.c)
ptrace_test(sysevents_log NEEDS SYSEVENTS SYSEV_MUTEX_LOCK ONLINE TOLOG USEREVENTS LOGRETRIEVAL POLICY_LOOP
	SOURCES sysevents/log.c)
ptrace_test(sysevents_attached NEEDS SYSEVENTS SYSEV_MUTEX_LOCK ${attach_needs}
	SOURCES sysevents/attached.c attach/party.c attach/inside.c)
