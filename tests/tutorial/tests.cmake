# SPDX-License-Identifier: MIT
#
# Every command of docs/tutorial.md, in an empty folder with an installed prefix.
find_program(PTRACE_GIT git)
find_program(PTRACE_BASH bash)
find_program(PTRACE_PKG_CONFIG pkg-config)
if(NOT PTRACE_GIT OR NOT PTRACE_BASH OR NOT PTRACE_PKG_CONFIG)
	message(STATUS "git, bash or pkg-config not found: docs/tutorial.md is not run")
elseif(TARGET pxtrace AND TARGET ptrace_shared AND PXT_IS_FULL AND PTRACE_INSTALL AND NOT PTRACE_SANITIZER AND
	NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER MATCHES "musl")
	# Its programs are built by plain cc: the library must be of the same C library, and of no sanitizer.
	add_test(NAME tutorial COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/tutorial/run.py"
		"${PROJECT_SOURCE_DIR}/docs/tutorial.md" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
	set_tests_properties(tutorial PROPERTIES TIMEOUT 300 LABELS tool)
endif()
