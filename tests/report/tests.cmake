# SPDX-License-Identifier: MIT
#
# Pages of `pxtrace report`: their data, and in a browser that they open, draw, zoom and find; the rest of what they do with --full.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME report.data COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_data.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
	set_tests_properties(report.data PROPERTIES TIMEOUT 120 LABELS tool)
	set(page_tests Page.test_spans_have_their_colour_where_their_times_say_and_none_elsewhere Page.test_spans_before_the_start_stand_where_their_times_say Page.test_the_wheel_zooms_about_the_pointer
		Page.test_search_finds_by_field_and_leads_from_hit_to_hit Page.test_hostile_names_and_texts_are_shown_as_text)
	if(PTRACE_CHECKS STREQUAL "full")
		set(page_tests)
	endif()
	ptrace_check(report_page TIMEOUT 600 "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_page.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>" ${page_tests})
endif()
