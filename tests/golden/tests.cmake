# SPDX-License-Identifier: MIT
#
# Tests of the log format and of Log Retrieval.  The logs are made by golden/make_golden.py.

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
ptrace_test(logfork NEEDS LOGRETRIEVAL SOURCES test_logfork.c)
