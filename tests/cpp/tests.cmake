# SPDX-License-Identifier: MIT
#
# ptrace.hpp by the C++ compilers that are there; they are for the C library that they were made with.
if(PXT_IS_FULL AND TARGET ptrace_shared AND PTRACE_HAS_GLIBC AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER
		AND NOT CMAKE_CROSSCOMPILING)
	foreach(compiler IN ITEMS g++ clang++)
		add_test(NAME cpp_${compiler} COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/cpp/run.sh" ${compiler}
			"${PROJECT_SOURCE_DIR}" "$<TARGET_FILE:ptrace_shared>" "${PTRACE_PUBLIC_DIR}")
		set_tests_properties(cpp_${compiler} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS link)
	endforeach()
endif()
