# SPDX-License-Identifier: MIT
#
# The suite for other implementations, exported from this tree, against a naive one and the mistakes planted there.
if(PXT_IS_FULL AND PTRACE_HAS_GLIBC AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME others_mistakes COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/others/suite.py" mistakes
		"${CMAKE_C_COMPILER}")
	set_tests_properties(others_mistakes PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS others)
endif()
