# SPDX-License-Identifier: MIT
#
# Tests of streams share story.c.  They ask for a configuration with everything that a stream can
# say (system events, both policies, several streams); files that are not named here are test
# programs by themselves.
set(stream_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME SYSEV_ERROR !SINGLE_STREAM)
foreach(name IN ITEMS streams policies retrieval truncation order states)
	ptrace_test(${name} NEEDS ${stream_needs}
		SOURCES conformance/${name}.c conformance/story.c)
endforeach()
ptrace_test(whole NEEDS ${stream_needs} WHOLE_EVENTS TOLOG LOGRETRIEVAL LOG_APPEND
	SOURCES conformance/whole.c conformance/story.c)
ptrace_test(discard NEEDS ${stream_needs} POLICY_DISCARD
	SOURCES conformance/discard.c conformance/story.c)
foreach(name IN ITEMS log log_policies log_flush log_errors log_reading)
	ptrace_test(${name} NEEDS ${stream_needs} TOLOG LOGRETRIEVAL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND
		SYSEV_FLUSH SOURCES conformance/${name}.c conformance/logkit.c conformance/story.c)
endforeach()
ptrace_test(inherit NEEDS INHERIT ONLINE USEREVENTS POLICY_LOOP !SINGLE_STREAM
	SOURCES conformance/inherit.c)
