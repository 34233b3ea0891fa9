# SPDX-License-Identifier: MIT
#
# Tests of the log format and of Log Retrieval.  golden/make_golden.py made the logs in golden/.

foreach(name IN ITEMS logread logdamage loggrowing)
	ptrace_test(${name} NEEDS LOGRETRIEVAL SOURCES test_${name}.c golden/golden.c)
	if(TARGET test_${name})
		target_compile_definitions(test_${name}
			PRIVATE PXT_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden")
	endif()
endforeach()
ptrace_test(logfmt NEEDS TOLOG LOGRETRIEVAL SOURCES test_logfmt.c)
ptrace_test(crc32 NEEDS LOGRETRIEVAL SOURCES test_crc32.c)
