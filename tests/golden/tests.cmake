# SPDX-License-Identifier: MIT
#
# Tests of the log format and of Log Retrieval.  golden/make_golden.py made the logs in golden/.

foreach(name IN ITEMS logread logviews logblocks logcheck logdamage loggrowing logfmt)
	set(needs LOGRETRIEVAL)
	if(name STREQUAL "logfmt")
		list(APPEND needs TOLOG)
	endif()
	ptrace_test(${name} NEEDS ${needs} SOURCES test_${name}.c golden/golden.c)
endforeach()
foreach(name IN ITEMS loglock logswap)
	ptrace_test(${name} NEEDS LOGRETRIEVAL SOURCES test_${name}.c)
endforeach()
ptrace_test(logmemory FAKES NEEDS CORE LOGRETRIEVAL SOURCES test_logmemory.c golden/golden.c)
if(TARGET test_logmemory)
	target_compile_definitions(test_logmemory PRIVATE PXT_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden")
endif()
ptrace_test(logfork NEEDS LOGRETRIEVAL SOURCES test_logfork.c)
