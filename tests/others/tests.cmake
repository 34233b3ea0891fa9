# SPDX-License-Identifier: MIT
#
# The suite for other implementations, exported from this tree and run against this one.
if(PXT_IS_FULL AND PTRACE_HAS_GLIBC AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME others_suite COMMAND sh -c "\"$0\" \"$1/suite.py\" export suite-for-others && \"$0\" suite-for-others/suite.py run \
		--cc \"$2\" --cflags \"$3\" --libs \"$4\" --program eventset --program names --program log_reading"
		"${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/others" "${CMAKE_C_COMPILER}"
		"-I${PROJECT_SOURCE_DIR}/include -I${PTRACE_PUBLIC_DIR}" "$<TARGET_FILE:ptrace_static>")
	set_tests_properties(others_suite PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS others)
endif()
