# SPDX-License-Identifier: MIT
#
# The module of python/, with this build's library, which has to be of the interpreter's kind.
if(PXT_IS_FULL AND TARGET ptrace_retrieval_shared AND TARGET pxtrace AND PTRACE_HAS_GLIBC
		AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME python_module COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/python/test_module.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>" "${PTRACE_PUBLIC_DIR}" "${PROJECT_VERSION}")
	set_tests_properties(python_module PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} ENVIRONMENT
		"PXTRACE_LIBRARY=$<TARGET_FILE:ptrace_retrieval_shared>;CC=${CMAKE_C_COMPILER};PYTHONDONTWRITEBYTECODE=1")
endif()
