# SPDX-License-Identifier: MIT
#
# Calls that fail, that are interrupted, and whose system fails below them: nothing is left behind.
set(failing_needs ONLINE TOLOG USEREVENTS FILTER INHERIT ATTACH LOGRETRIEVAL SNAPSHOT FILE_STREAMS LOG_SEAL
	ARG_CHECKS POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND SYSEV_START_STOP
	!SINGLE_STREAM)
ptrace_test(failing_errors FAKES NEEDS ${failing_needs}
	SOURCES failing/errors.c failing/fixture.c failing/provoke.c failing/reading.c failing/left.c golden/golden.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
if(TARGET test_failing_errors)
	ptrace_program(program test_failing_errors)
	add_test(NAME failing_listed COMMAND "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/failing/listed.py" "${program}")
endif()
ptrace_test(failing_locks FAKES NEEDS ${failing_needs} SOURCES failing/locks.c)
ptrace_test(failing_signals NEEDS ${failing_needs} SOURCES failing/signals.c attach/party.c attach/inside.c)
# The names of the C library's calls are those of glibc where words have 64 bits.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <features.h>
#if !defined(__GLIBC__) || !defined(__LP64__)
#error
#endif
int main(void) { return 0; }" PXT_CALLS_ARE_GLIBC64)
if(PXT_CALLS_ARE_GLIBC64)
	ptrace_test(failing_system FAKES NEEDS ${failing_needs} !SANITIZED
		SOURCES failing/system.c failing/calls.c failing/left.c)
	if(TARGET test_failing_system)
		target_link_options(test_failing_system PRIVATE "@${PROJECT_SOURCE_DIR}/tests/failing/calls.options")
	endif()
	ptrace_test(failing_port FAKES NEEDS ${failing_needs} !SANITIZED
		SOURCES failing/port.c failing/calls.c failing/left.c)
	if(TARGET test_failing_port)
		target_link_options(test_failing_port PRIVATE "@${PROJECT_SOURCE_DIR}/tests/failing/calls.options")
	endif()
else()
	# No tests of their own either.
	set_property(GLOBAL APPEND PROPERTY PTRACE_TEST_FILES "${PROJECT_SOURCE_DIR}/tests/failing/system.c"
		"${PROJECT_SOURCE_DIR}/tests/failing/port.c" "${PROJECT_SOURCE_DIR}/tests/failing/calls.c")
endif()
