# SPDX-License-Identifier: MIT
#
# Pages of `pxtrace report`: their data, and in a browser that they open, draw, zoom and find; the rest of what they do with --full.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME report.data COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_data.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
	set_tests_properties(report.data PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS tool)
	set(page_tests Page.test_spans_have_their_colour_where_their_times_say_and_none_elsewhere Page.test_spans_before_the_start_stand_where_their_times_say Page.test_the_wheel_zooms_about_the_pointer
		Page.test_search_takes_fields_as_print_shows_them_and_times_in_seconds
		Page.test_a_search_that_means_nothing_says_so Page.test_a_log_without_its_end_is_not_called_whole Page.test_the_head_says_the_length_without_its_margins
		Page.test_long_names_of_threads_are_shown_whole Page.test_pointing_at_one_of_two_near_losses_names_that_one
		Page.test_search_finds_by_field_and_leads_from_hit_to_hit Page.test_hostile_names_and_texts_are_shown_as_text
		Page.test_calls_and_locks_stand_in_the_lane_of_their_thread Page.test_the_head_names_the_program_that_was_traced
		Page.test_other_processes_stand_below_the_program_and_are_folded Page.test_of_other_processes_nobody_says_whether_they_could_run
		Page.test_the_page_opens_where_its_first_answer_is Page.test_the_chain_of_an_answer_is_drawn_and_told
		Page.test_each_kind_has_a_colour_of_its_own Page.test_a_narrow_window_cuts_nothing
		Page.test_the_worst_span_is_explained_by_a_sentence_and_a_bar Page.test_a_cpu_has_a_lane_with_who_ran_on_it
		Page.test_a_thread_shows_when_it_ran_could_run_and_slept Page.test_a_loss_leaves_empty_what_nobody_knows)
	if(PTRACE_CHECKS STREQUAL "full")
		set(page_tests)
	endif()
	ptrace_check(report_page TIMEOUT 1500 "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_page.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>" ${page_tests})
endif()
