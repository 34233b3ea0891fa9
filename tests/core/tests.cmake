# SPDX-License-Identifier: MIT
#
# The ring from inside, in one thread: interrupts at every test point, wraps, dead records.
set(core_needs CORE ONLINE USEREVENTS FILTER POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME SYSEV_FILTER RECORD_THREAD RECORD_ADDRESS !SINGLE_STREAM !LANES_MAX_1)
foreach(name IN ITEMS passover edges wraps merge lengths
	reader several units wanted)
	ptrace_test(core_${name} TESTPOINTS NEEDS ${core_needs} SOURCES core/${name}.c core/kit.c)
endforeach()
ptrace_test(core_forked TESTPOINTS NEEDS ${core_needs} INHERIT FILE_STREAMS POLICY_UNTIL_FULL
	SOURCES core/forked.c core/kit.c)
ptrace_test(core_error FAKES NEEDS ${core_needs} SYSEV_ERROR TOLOG LOG_APPEND LOGRETRIEVAL SNAPSHOT
	SOURCES core/error.c conformance/story.c)
ptrace_test(core_tables NEEDS ONLINE INHERIT ATTACH !SINGLE_STREAM SOURCES core/tables.c)
ptrace_test(core_views TESTPOINTS NEEDS ${core_needs} EVENTS_AT_ONCE SOURCES core/views.c core/kit.c)
ptrace_test(core_discards TESTPOINTS NEEDS ${core_needs} POLICY_DISCARD SOURCES core/discards.c core/kit.c)
ptrace_test(core_copies TESTPOINTS FAKES NEEDS ${core_needs} POLICY_DISCARD SNAPSHOT LOGRETRIEVAL SOURCES core/copies.c core/kit.c)
ptrace_test(core_imageheaders NEEDS ${core_needs} LABELS SOURCES core/imageheaders.c core/kit.c)
# With memory that nobody may touch once it was given back.
set(core_guarded core/kit.c core/guard.c)
set(core_guard LIBRARIES -Wl,--wrap=pxt_port_free)
ptrace_test(core_interrupt TESTPOINTS NEEDS ${core_needs} SOURCES core/interrupt.c core/deeds.c
	${core_guarded} ${core_guard})
# One thread and many cases: nothing that ThreadSanitizer could see, in ten times the time.
ptrace_test(core_pairs TESTPOINTS NEEDS ${core_needs} !TSAN SOURCES core/pairs.c core/deeds.c
	${core_guarded} ${core_guard})
ptrace_test(core_beside TESTPOINTS NEEDS ${core_needs} SOURCES core/beside.c core/deeds.c ${core_guarded}
	${core_guard} -Wl,--wrap=pxt_port_pause_ns)
# Its hook is seen by the flusher's thread as well, unlocked, which ThreadSanitizer would report.
ptrace_test(core_logged TESTPOINTS NEEDS ${core_needs} TOLOG LOGRETRIEVAL POLICY_FLUSH LOG_APPEND !TSAN
	SOURCES core/logged.c ${core_guarded} ${core_guard})
ptrace_test(core_leaving TESTPOINTS NEEDS ${core_needs} SOURCES core/leaving.c ${core_guarded}
	${core_guard} -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(core_handlers TESTPOINTS NEEDS ${core_needs} INSPECT SOURCES core/handlers.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(core_patience TESTPOINTS NEEDS ${core_needs} SOURCES core/patience.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns -Wl,--wrap=pxt_port_now_ns -Wl,--wrap=poll -Wl,--wrap=clock_gettime)
ptrace_test(core_wake TESTPOINTS NEEDS ${core_needs} SOURCES core/wake.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_wake -Wl,--wrap=pxt_port_wait -Wl,--wrap=pxt_port_fence_all)
ptrace_test(core_helper NEEDS ${core_needs} TOLOG LOG_APPEND POLICY_FLUSH SOURCES core/helper.c
	LIBRARIES -Wl,--wrap=pxt_port_wake -Wl,--wrap=pxt_port_fence_all -Wl,--wrap=pxt_port_log_write -Wl,--wrap=pxt_port_log_write_at)
ptrace_test(core_reading TESTPOINTS FAKES NEEDS ${core_needs} SOURCES core/reading.c core/kit.c)
ptrace_test(core_years TESTPOINTS FAKES NEEDS ${core_needs} TOLOG LOG_APPEND LOGRETRIEVAL
	SOURCES core/years.c core/kit.c)
ptrace_test(core_back TESTPOINTS FAKES NEEDS ${core_needs} TOLOG LOG_APPEND LOGRETRIEVAL SNAPSHOT
	SOURCES core/back.c core/kit.c)
# As it is shipped; the counter's instruction is a fault that the test answers.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER)
	set(PXT_COUNTER_FAULTS 1)
endif()
ptrace_test(core_counter NEEDS ${core_needs} COUNTER_FAULTS SOURCES core/counter.c)
# As it is shipped.  musl comes without the kernel's headers, which say how to be killed at a call.
include(CheckIncludeFile)
check_include_file(linux/filter.h PXT_KERNEL_HEADERS)
ptrace_test(core_quiet NEEDS ${core_needs} TOLOG LOG_LOOP POLICY_FLUSH KERNEL_HEADERS
	SOURCES core/quiet.c)
# The processor's trap flag, and the library's own instructions: a sanitizer adds others, and hands
# out signals later or writes from stacks of its own.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER)
	set(PXT_TRAP_FLAG 1)
endif()
ptrace_test(core_steps NEEDS ${core_needs} TRAP_FLAG SOURCES core/steps.c core/deeds.c ${core_guarded} ${core_guard})
