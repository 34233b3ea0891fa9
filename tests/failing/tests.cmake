# SPDX-License-Identifier: MIT
#
# Calls that fail, that are interrupted, and whose system fails below them: nothing is left behind.
set(failing_needs ONLINE TOLOG USEREVENTS FILTER INHERIT ATTACH LOGRETRIEVAL SNAPSHOT FILE_STREAMS LOG_SEAL
	ARG_CHECKS POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND SYSEV_START_STOP
	!SINGLE_STREAM)
ptrace_test(failing_errors FAKES NEEDS ${failing_needs}
	SOURCES failing/errors.c failing/scene.c failing/provoke.c failing/reading.c failing/left.c golden/golden.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
if(TARGET test_failing_errors)
	target_compile_definitions(test_failing_errors PRIVATE "PXT_GOLDEN=\"${PROJECT_SOURCE_DIR}/tests/golden\"")
	ptrace_program(program test_failing_errors)
	add_test(NAME failing_listed COMMAND "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/failing/listed.py" "${program}")
endif()
ptrace_test(failing_signals NEEDS ${failing_needs} SOURCES failing/signals.c attach/party.c attach/inside.c)
