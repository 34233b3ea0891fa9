# SPDX-License-Identifier: MIT
#
# Streams that live in files.
set(box_needs FILE_STREAMS ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	RECORD_THREAD !SINGLE_STREAM !LANES_MAX_1)
ptrace_test(blackbox_create FAKES NEEDS ${box_needs} ARG_CHECKS TOLOG POLICY_FLUSH
	SOURCES blackbox/create.c blackbox/box.c
	LIBRARIES -Wl,--wrap=posix_fallocate -Wl,--wrap=posix_fallocate64 -Wl,--wrap=pxt_port_process_start)
# Killed processes; not for ThreadSanitizer, which knows nothing of other processes.
ptrace_test(blackbox_kill TESTPOINTS NEEDS ${box_needs} !TSAN
	SOURCES blackbox/kill.c blackbox/box.c core/kit.c)
# The same with a log beside the box; its writes go out in pieces, between which it is killed, too.
ptrace_test(blackbox_kill_log TESTPOINTS NEEDS ${box_needs} LOG_LOOP LOG_APPEND LOG_UNTIL_FULL POLICY_FLUSH SNAPSHOT LOGRETRIEVAL
	!TSAN
	SOURCES blackbox/kill_log.c blackbox/box.c core/kit.c LIBRARIES -Wl,--wrap=pxt_port_log_write_at)
# With memory that nobody may touch once it was given back.
ptrace_test(blackbox_replicas TESTPOINTS NEEDS ${box_needs}
	SOURCES blackbox/replicas.c blackbox/box.c core/kit.c core/guard.c
	LIBRARIES -Wl,--wrap=pxt_port_free)
ptrace_test(blackbox_random NEEDS ${box_needs} !TSAN LABELS stress
	SOURCES blackbox/random.c blackbox/box.c)
# The processor's trap flag, and the library's own instructions.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER)
	set(PXT_TRAP_FLAG 1)
endif()
ptrace_test(blackbox_steps NEEDS ${box_needs} TRAP_FLAG SOURCES blackbox/steps.c blackbox/box.c core/kit.c)
# What pxtrace recover makes of the files must be the same.
foreach(name IN ITEMS kill kill_log random)
	if(TARGET test_blackbox_${name} AND TARGET pxtrace AND PXT_LOGRETRIEVAL)
		target_compile_definitions(test_blackbox_${name} PRIVATE PXT_PXTRACE="$<TARGET_FILE:pxtrace>")
		add_dependencies(test_blackbox_${name} pxtrace)
	endif()
endforeach()
