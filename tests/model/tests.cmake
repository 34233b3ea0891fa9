# SPDX-License-Identifier: MIT
#
# Drawn histories against a naive reference.  With PXT_STRESS=full in the environment 20 times as many.
ptrace_test(histories NEEDS CORE ONLINE USEREVENTS FILTER TOLOG LOGRETRIEVAL POLICY_LOOP
	POLICY_UNTIL_FULL POLICY_DISCARD POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME
	SYSEV_FILTER SYSEV_FLUSH RECORD_THREAD RECORD_ADDRESS ARG_CHECKS !SINGLE_STREAM !LANES_MAX_1 !LANES_MAX_2
	SOURCES model/histories.c model/history.c model/play.c model/reference.c
	LIBRARIES -Wl,--wrap=pxt_port_thread_start -Wl,--wrap=pxt_port_thread_join)
