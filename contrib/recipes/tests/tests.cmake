# SPDX-License-Identifier: MIT
#
# With --full: the recipes that build anywhere, each with a library of its own.
if(PTRACE_CHECKS STREQUAL "full" AND PXT_IS_FULL AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME recipes COMMAND "${CMAKE_CURRENT_LIST_DIR}/check" "${PROJECT_BINARY_DIR}/checks/recipes")
	set_tests_properties(recipes PROPERTIES TIMEOUT 1500 LABELS check)
endif()
