# SPDX-License-Identifier: MIT
#
# Every command of docs/tutorial.md and of README.md, in an empty folder with an installed prefix.
find_program(PTRACE_GIT git)
find_program(PTRACE_BASH bash)
find_program(PTRACE_PKG_CONFIG pkg-config)
if(NOT PTRACE_GIT OR NOT PTRACE_BASH OR NOT PTRACE_PKG_CONFIG)
	message(STATUS "git, bash or pkg-config not found: docs/tutorial.md and README.md are not run")
elseif(TARGET pxtrace AND TARGET ptrace_shared AND PXT_IS_FULL AND PTRACE_INSTALL AND NOT PTRACE_SANITIZER AND
	NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER MATCHES "musl")
	# Its programs are built by plain cc: the library must be of the same C library, and of no sanitizer.
	foreach(page IN ITEMS docs/tutorial.md README.md)
		get_filename_component(name "${page}" NAME_WE)
		string(TOLOWER "${name}" name)
		add_test(NAME ${name} COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/tutorial/run.py"
			"${PROJECT_SOURCE_DIR}/${page}" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
	endforeach()
	set_tests_properties(tutorial readme PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS tool)
endif()
