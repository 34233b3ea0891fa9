# SPDX-License-Identifier: MIT
#
# Pages of `pxtrace report`: their data always, in a browser (half a minute) with --full.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME report.data COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_data.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
	set_tests_properties(report.data PROPERTIES TIMEOUT 120 LABELS tool)
	if(PTRACE_CHECKS STREQUAL "full")
		ptrace_check(report_page TIMEOUT 600 "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_page.py"
			"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
	endif()
endif()
