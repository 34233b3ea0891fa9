# SPDX-License-Identifier: MIT
#
# Snapshots: what is in them, what becomes of them when the system fails, and who goes on meanwhile.
set(snapshot_needs SNAPSHOT ONLINE USEREVENTS LOGRETRIEVAL POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH
	LOG_UNTIL_FULL SYSEV_START_STOP SYSEV_OVERFLOW_RESUME RECORD_THREAD RECORD_ADDRESS !SINGLE_STREAM
	!LANES_MAX_1 !LANES_MAX_2)
set(snapshot_kit snapshot/kit.c conformance/story.c)
ptrace_test(snapshot_window NEEDS ${snapshot_needs} POLICY_DISCARD SOURCES snapshot/window.c ${snapshot_kit})
ptrace_test(snapshot_faults FAKES NEEDS ${snapshot_needs} LOG_METADATA SOURCES snapshot/faults.c ${snapshot_kit})
ptrace_test(snapshot_race TESTPOINTS NEEDS ${snapshot_needs} SOURCES snapshot/race.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
# 20 times as much with PXT_STRESS=full in the environment; for a sanitizer, with PXT_STRESS=whole.
ptrace_test(snapshot_writers NEEDS ${snapshot_needs} LABELS stress SOURCES snapshot/writers.c stress/events.c
	${snapshot_kit})
