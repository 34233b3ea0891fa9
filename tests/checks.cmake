# SPDX-License-Identifier: MIT
#
# Checks that are no test programs: scripts over the tree, and further builds with their own tests.
# PTRACE_CHECKS: OFF = the quick ones only, ON = what belongs to every change, full = everything.

set(PTRACE_CHECKS OFF CACHE STRING "OFF, ON or full")
set(scripts "${PROJECT_SOURCE_DIR}/scripts")
set(work "${PROJECT_BINARY_DIR}/checks")

# ptrace_check(name TIMEOUT s command...)
function(ptrace_check name)
	cmake_parse_arguments(check "" "TIMEOUT" "" ${ARGN})
	add_test(NAME ${name} COMMAND ${check_UNPARSED_ARGUMENTS})
	set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${check_TIMEOUT} LABELS check)
endfunction()

# A check that builds uses all processors: nothing runs beside it.
function(ptrace_heavy_check name)
	ptrace_check(${name} ${ARGN})
	set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
endfunction()

ptrace_check(layers TIMEOUT 60 "${PTRACE_PYTHON}" "${scripts}/check-layers.py")
ptrace_check(loops TIMEOUT 60 "${PTRACE_PYTHON}" "${scripts}/check-loops.py")
# The models of proof/ and the sources agree in their labels; the models themselves further below.
ptrace_check(proof_labels TIMEOUT 60 "${PTRACE_PYTHON}" "${scripts}/check-proof" --labels)
set_tests_properties(proof_labels PROPERTIES LABELS "check;proof")
ptrace_check(kconfig TIMEOUT 60 "${PTRACE_PYTHON}" "${scripts}/check-kconfig.py")
ptrace_check(bench_statistics TIMEOUT 60 "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/bench/test_values.py")
ptrace_check(bench_report TIMEOUT 60 "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/bench/test_report.py")

if(NOT PTRACE_CHECKS)
	return()
endif()

ptrace_heavy_check(combos TIMEOUT 400 "${PTRACE_PYTHON}" "${scripts}/combos.py" --work "${work}/combos")
ptrace_heavy_check(installed TIMEOUT 300 "${scripts}/check-installed" "${PROJECT_BINARY_DIR}" "${work}/installed")
ptrace_check(stack TIMEOUT 300 "${PTRACE_PYTHON}" "${scripts}/stack-usage.py" --check)
ptrace_heavy_check(format TIMEOUT 120 "${scripts}/check-format")
ptrace_heavy_check(tidy TIMEOUT 900 "${scripts}/check-tidy" "${PROJECT_BINARY_DIR}")
set(variants clang minimal musl arm aarch64 i486 asan tsan)
if(PTRACE_CHECKS STREQUAL "full")
	list(APPEND variants target host unchecked)
endif()
foreach(variant IN LISTS variants)
	ptrace_heavy_check(variant_${variant} TIMEOUT 1500 "${scripts}/variant" ${variant} "${work}")
	set_tests_properties(variant_${variant} PROPERTIES ENVIRONMENT "PXT_CHECKS=${PTRACE_CHECKS}")
endforeach()
if(PXT_CORE AND PXT_USEREVENTS)
	ptrace_check(hotpath TIMEOUT 120 "${PTRACE_PYTHON}" "${scripts}/check-hotpath.py" "${PROJECT_BINARY_DIR}")
endif()
ptrace_heavy_check(instructions TIMEOUT 120 "${PTRACE_PYTHON}" "${scripts}/instructions.py" "${PROJECT_BINARY_DIR}")
ptrace_heavy_check(lines TIMEOUT 120 "${PTRACE_PYTHON}" "${scripts}/lines.py" "${PROJECT_BINARY_DIR}")
# The whole suite once, in seconds: that its programs, statistics, tables and pictures still fit together.
if(PTRACE_BENCH AND PXT_IS_FULL)
	set(bench_build --build "${PROJECT_BINARY_DIR}")
	if(PTRACE_CHECKS STREQUAL "full")
		set(bench_build "")
	endif()
	ptrace_heavy_check(bench_smoke TIMEOUT 600 "${scripts}/bench" --smoke ${bench_build} --out "${work}/bench")
endif()
set(proof_form)
ptrace_check(tiny TIMEOUT 120 "${PTRACE_PYTHON}" "${scripts}/check-tiny.py")
set(fuzz_seconds 20)
set(fuzz_tool_seconds 1)
set(size_compilers --gcc)
ptrace_check(mutants_apply TIMEOUT 60 "${PTRACE_PYTHON}" "${scripts}/mutants.py" --check)

if(PTRACE_CHECKS STREQUAL "full")
	set(fuzz_seconds 300)
	set(fuzz_tool_seconds 180)
	set(proof_form --full)
	set(size_compilers)
	ptrace_heavy_check(analyzer TIMEOUT 1800 "${scripts}/check-tidy" --analyzer "${PROJECT_BINARY_DIR}")
	ptrace_heavy_check(mutants TIMEOUT 3000 "${PTRACE_PYTHON}" "${scripts}/mutants.py")
endif()
if(PXT_LOGRETRIEVAL)
	ptrace_check(fuzz TIMEOUT 600 sh "${PROJECT_SOURCE_DIR}/tests/fuzz/run" "${PROJECT_BINARY_DIR}" ${fuzz_seconds} log)
	# The tool's targets take longer to build than they run in the ordinary run.
	foreach(target where description line recover plugin why)
		ptrace_check(fuzz_${target} TIMEOUT 600 sh "${PROJECT_SOURCE_DIR}/tests/fuzz/run" "${PROJECT_BINARY_DIR}"
			${fuzz_tool_seconds} ${target})
	endforeach()
endif()
ptrace_heavy_check(size_table TIMEOUT 600 "${PTRACE_PYTHON}" "${scripts}/sizes.py" --check ${size_compilers})
# Two runs at a time, on all processors there may be.
ptrace_heavy_check(proof_models TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-proof" ${proof_form})
set_tests_properties(proof_models PROPERTIES LABELS "check;proof")
