# SPDX-License-Identifier: MIT
#
# Tests of contrib/ (same commands, same relative paths as tests/CMakeLists.txt).
#
# ---- compat ----
#
# The other systems' interfaces.  Their libraries are built here whatever the configuration says, so
# that every build that can have them tests them; what Kconfig makes of them is contrib/compat/check.py's.
set(compat_possible OFF)
if(PXT_ONLINE AND PXT_USEREVENTS AND PXT_FILTER AND PXT_POLICY_LOOP AND PXT_POLICY_DISCARD AND PXT_PORT_POSIX)
	set(compat_possible ON)
endif()

# Zephyr's event logger, with masks at run time and without.
set(PTRACE_COMPAT_UPON ptrace_static)
if(compat_possible)
	set(KEL 1)
	set(KEL_BUFFER_SIZE 128)
	set(KEL_TICK_MS 10)
	set(KEL_TASK_MONITOR_MASK 15)
	set(KEL_CUSTOM_ID 8)
	foreach(symbol IN ITEMS CUSTOM_TIMESTAMP SLEEP INTERRUPT CONTEXT_SWITCH TASK_MONITOR)
		set(KEL_${symbol} 1)
	endforeach()
	set(KEL_DYNAMIC 0)
	ptrace_zephyr_library(ptrace_zephyr_test)
	set(KEL_DYNAMIC 1)
	ptrace_zephyr_library(ptrace_zephyr_dynamic_test)
endif()
ptrace_test(compat_zephyr NEEDS ONLINE USEREVENTS FILTER POLICY_LOOP POLICY_DISCARD PORT_POSIX
	SOURCES ../contrib/compat/tests/zephyr.c LIBRARIES ptrace_zephyr_test LABELS compat)
ptrace_test(compat_zephyr_dynamic NEEDS ONLINE USEREVENTS FILTER POLICY_LOOP POLICY_DISCARD PORT_POSIX
	SOURCES ../contrib/compat/tests/zephyr_dynamic.c LIBRARIES ptrace_zephyr_dynamic_test LABELS compat)

# The papers' own programs.  The papers are not part of this tree: PTRACE_SEEDS says where they are.
set(PTRACE_SEEDS "${PROJECT_SOURCE_DIR}/../shared/seeds" CACHE PATH "The seed papers, for tests of their programs")
function(ptrace_seed_test name library headers)
	if(NOT compat_possible OR CMAKE_CROSSCOMPILING)
		return()
	endif()
	set(tools)
	if(TARGET pxtrace)
		set(tools --pxtrace "$<TARGET_FILE:pxtrace>")
		# babeltrace2 itself has no sanitizer, which would have to be there first.
		if(NOT PTRACE_SANITIZER)
			list(APPEND tools --plugin "${PROJECT_BINARY_DIR}/tools/babeltrace")
		endif()
	endif()
	set(flags)
	foreach(folder IN LISTS headers ITEMS "${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}")
		string(APPEND flags " -I${folder}")
	endforeach()
	add_test(NAME compat.the_${name}_papers_programs_run COMMAND "${PTRACE_PYTHON}"
		"${PROJECT_SOURCE_DIR}/contrib/compat/tests/seeds.py" ${name} --seeds "${PTRACE_SEEDS}"
		--work "${CMAKE_CURRENT_BINARY_DIR}/compat" --cc "${CMAKE_C_COMPILER} ${CMAKE_C_FLAGS}${flags}"
		--libraries "$<TARGET_FILE:${library}> $<TARGET_FILE:ptrace_static>" ${tools})
	set_tests_properties(compat.the_${name}_papers_programs_run PROPERTIES SKIP_RETURN_CODE 77
		TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS "tool;compat")
endfunction()
ptrace_seed_test(zephyr ptrace_zephyr_test
	"${PROJECT_SOURCE_DIR}/contrib/compat/zephyr/include;${PROJECT_BINARY_DIR}/compat/ptrace_zephyr_test")

# Zephyr's sample project: four tables, whose figures follow from the number of meals.
if(compat_possible AND NOT CMAKE_CROSSCOMPILING)
	add_executable(compat_philosophers "${PROJECT_SOURCE_DIR}/examples/philosophers.c")
	target_link_libraries(compat_philosophers PRIVATE ptrace_build ptrace_zephyr_test Threads::Threads)
	add_test(NAME compat.the_philosophers_show_their_four_tables COMMAND sh
		"${PROJECT_SOURCE_DIR}/contrib/compat/tests/tools.sh" philosophers "$<TARGET_FILE:compat_philosophers>")
	set_tests_properties(compat.the_philosophers_show_their_four_tables PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS "example;compat")
endif()
# Each interface alone and by each compiler; in every check its library is built and its tests run.
if(PTRACE_CHECKS STREQUAL "full")
	ptrace_check(compat_builds TIMEOUT 1500 "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/contrib/compat/check.py")
endif()

# S.Ha.R.K.'s tracer.
if(compat_possible AND NOT PXT_SINGLE_STREAM)
	ptrace_shark_library(ptrace_shark_test)
	ptrace_seed_test(shark ptrace_shark_test "${PROJECT_SOURCE_DIR}/contrib/compat/shark/include")
endif()
ptrace_test(compat_shark NEEDS ONLINE USEREVENTS FILTER POLICY_LOOP POLICY_DISCARD PORT_POSIX !SINGLE_STREAM
	SOURCES ../contrib/compat/tests/shark.c ../contrib/compat/tests/shark_off.c LIBRARIES ptrace_shark_test LABELS compat)
if(TARGET plain_contrib_compat_tests_shark_off_c)
	target_include_directories(plain_contrib_compat_tests_shark_off_c PRIVATE "${PROJECT_SOURCE_DIR}/contrib/compat/shark/include")
endif()
file(GLOB manual "${PTRACE_SEEDS}/001_*.txt")
ptrace_check(shark_codes TIMEOUT 1500 "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/contrib/compat/shark/codes.py"
	"$<IF:$<BOOL:${manual}>,${manual},none>" --check)

# QNX's trace events.
if(PXT_USEREVENTS AND PXT_LOGRETRIEVAL AND PXT_PORT_POSIX)
	ptrace_qnx_library(ptrace_qnx_test)
endif()
ptrace_test(compat_qnx NEEDS TOLOG USEREVENTS LOGRETRIEVAL PORT_POSIX
	SOURCES ../contrib/compat/tests/qnx.c LIBRARIES ptrace_qnx_test LABELS compat)
if(TARGET ptrace_qnx_test AND TARGET pxtrace AND PXT_TOLOG AND NOT CMAKE_CROSSCOMPILING AND NOT PTRACE_SANITIZER)
	add_executable(compat_qnx_emit "${PROJECT_SOURCE_DIR}/contrib/compat/tests/qnx_emit.c")
	target_link_libraries(compat_qnx_emit PRIVATE ptrace_build ptrace_qnx_test Threads::Threads)
	add_test(NAME compat.the_tools_show_qnx_events COMMAND sh "${PROJECT_SOURCE_DIR}/contrib/compat/tests/tools.sh" qnx
		"$<TARGET_FILE:compat_qnx_emit>" "$<TARGET_FILE:pxtrace>" "${CMAKE_CURRENT_BINARY_DIR}/compat"
		"${PROJECT_BINARY_DIR}/tools/babeltrace")
	set_tests_properties(compat.the_tools_show_qnx_events PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS "tool;compat")
endif()

# Both others, in one program.
if(TARGET ptrace_shark_test AND TARGET pxtrace AND PXT_TOLOG AND PXT_SYSEV_START_STOP AND NOT CMAKE_CROSSCOMPILING
	AND NOT PTRACE_SANITIZER)
	add_executable(compat_tools_emit "${PROJECT_SOURCE_DIR}/contrib/compat/tests/tools_emit.c")
	target_link_libraries(compat_tools_emit PRIVATE ptrace_build ptrace_zephyr_test ptrace_shark_test Threads::Threads)
	add_test(NAME compat.the_tools_show_and_explain_the_interfaces_events COMMAND sh
		"${PROJECT_SOURCE_DIR}/contrib/compat/tests/tools.sh" events "$<TARGET_FILE:compat_tools_emit>"
		"$<TARGET_FILE:pxtrace>" "${CMAKE_CURRENT_BINARY_DIR}/compat" "${PROJECT_BINARY_DIR}/tools/babeltrace")
	set_tests_properties(compat.the_tools_show_and_explain_the_interfaces_events PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT}
		LABELS "tool;compat")
endif()

# ---- databases ----
#
# The ten questions of contrib/databases/README.md, asked of every engine that is installed, and of pxtrace.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_executable(mkfleet "${PROJECT_SOURCE_DIR}/contrib/databases/tests/mkfleet.c")
	target_link_libraries(mkfleet PRIVATE ptrace_build ptrace_static)
	target_include_directories(mkfleet PRIVATE "${PROJECT_SOURCE_DIR}" "${PTRACE_PORT_DIR}"
		"${PTRACE_PRIVATE_DIR}")
	# With --full, which installs the engines.  A "check": it says the same in every build, so one is enough.
	if(PTRACE_CHECKS STREQUAL "full")
		add_test(NAME data.engines_and_pxtrace_agree_on_a_fleet COMMAND "${PTRACE_PYTHON}"
			"${PROJECT_SOURCE_DIR}/contrib/databases/tests/fleet.py" --pxtrace "$<TARGET_FILE:pxtrace>"
			--mkfleet "$<TARGET_FILE:mkfleet>" --targets 100 --events 5000)
		set_tests_properties(data.engines_and_pxtrace_agree_on_a_fleet PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1500
			LABELS "check;data")
	endif()
	add_test(NAME data.lock_file_names_versions_but_no_registry COMMAND "${PTRACE_PYTHON}"
		"${PROJECT_SOURCE_DIR}/contrib/databases/tests/engines.py" --check-lock-file)
	set_tests_properties(data.lock_file_names_versions_but_no_registry PROPERTIES LABELS "check;data")
endif()

# ---- recipes ----
#
# Recipes, with --full: those that build anywhere, each with a library of its own.
if(PTRACE_CHECKS STREQUAL "full" AND PXT_IS_FULL AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME recipes COMMAND "${PROJECT_SOURCE_DIR}/contrib/recipes/tests/check" "${PROJECT_BINARY_DIR}/checks/recipes")
	set_tests_properties(recipes PROPERTIES TIMEOUT 1500 LABELS check)
endif()
