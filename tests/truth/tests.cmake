# SPDX-License-Identifier: MIT
#
# What is reported of an event lies between the caller's readings of the clock before and behind it.
# Threads preempt each other, on both processors: some 25 s, four times as long with PXT_STRESS=full.
set(truth_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME RECORD_ADDRESS !SINGLE_STREAM !LANES_MAX_1)
set(truth_logs TOLOG LOG_APPEND LOGRETRIEVAL)
ptrace_test(truth_threads PROCESSORS 2 NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH SNAPSHOT LABELS stress
	SOURCES truth/threads.c truth/crowd.c truth/readings.c conformance/story.c)
# One thread that interrupts itself: by the fakes' clock, and again by the processor's counter.
ptrace_test(truth_steps TESTPOINTS FAKES NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH !LANES_MAX_2 !TSAN
	SOURCES truth/steps.c truth/ground.c truth/readings.c conformance/story.c)
if(TARGET test_truth_steps)
	target_compile_definitions(test_truth_steps PRIVATE TRUTH_FAKE_CLOCK=1)
endif()
ptrace_test(truth_short TESTPOINTS NEEDS ${truth_needs} ${truth_logs} !LANES_MAX_2 !TSAN
	SOURCES truth/steps.c truth/ground.c truth/readings.c conformance/story.c)
# Two threads, of which one runs at a time.
ptrace_test(truth_beside TESTPOINTS FAKES NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH
	SOURCES truth/beside.c truth/ground.c truth/readings.c conformance/story.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(truth_bound TESTPOINTS NEEDS ${truth_needs} ${truth_logs} !TSAN
	SOURCES truth/bound.c truth/ground.c truth/readings.c conformance/story.c)
# Killed processes; not for ThreadSanitizer, which knows nothing of other processes.
ptrace_test(truth_dead TESTPOINTS NEEDS ${truth_needs} ${truth_logs} INHERIT RECORD_THREAD !TSAN
	SOURCES truth/dead.c truth/ground.c truth/readings.c conformance/story.c)
ptrace_test(truth_processes PROCESSORS 2 NEEDS ${truth_needs} ${truth_logs} INHERIT ATTACH FILE_STREAMS !TSAN LABELS stress
	SOURCES truth/processes.c truth/crowd.c truth/readings.c conformance/story.c)
if(TARGET test_truth_processes AND TARGET pxtrace)
	target_compile_definitions(test_truth_processes PRIVATE PXT_PXTRACE="$<TARGET_FILE:pxtrace>")
	add_dependencies(test_truth_processes pxtrace)
endif()
# Unfinished records whose writers are still there when their time is over.
ptrace_test(truth_held TESTPOINTS FAKES NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH !TSAN
	SOURCES truth/held.c truth/ground.c truth/readings.c conformance/story.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
