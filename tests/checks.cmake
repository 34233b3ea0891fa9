# SPDX-License-Identifier: MIT
#
# Checks that are no test programs: scripts over the tree, and further builds with their own tests.
# PTRACE_CHECKS: OFF = the quick ones only, ON = what belongs to every change, full = everything.

set(scripts "${PROJECT_SOURCE_DIR}/scripts")
set(work "${PROJECT_BINARY_DIR}/checks")

# ptrace_check(name TIMEOUT s [COST s] command...)
# COST: seconds on one processor, of what builds.  It uses one and others run beside it, the longest first,
# so that no processor waits.
function(ptrace_check name)
	cmake_parse_arguments(check "" "TIMEOUT;COST" "" ${ARGN})
	add_test(NAME ${name} COMMAND ${check_UNPARSED_ARGUMENTS})
	set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${check_TIMEOUT} LABELS check)
	if(check_COST)
		set_tests_properties(${name} PROPERTIES COST ${check_COST}
			ENVIRONMENT CMAKE_BUILD_PARALLEL_LEVEL=1)
	endif()
endfunction()

ptrace_check(layers TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-layers.py")
ptrace_check(structure TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-structure.py")
ptrace_check(loops TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-loops.py")
# The models of proof/ and the sources agree in their labels; the models themselves further below.
ptrace_check(proof_labels TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-proof" --labels)
set_tests_properties(proof_labels PROPERTIES LABELS "check;proof")
ptrace_check(papers TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/papers.py")
# Every public name has a page with all its parts, and mandoc finds nothing wrong with it.
ptrace_check(manual TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/manual.py" --check "${work}/man")
# All links of the papers and the manual lead somewhere.
ptrace_check(site TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/site.py" --check "${work}/site")
ptrace_check(sources TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/where" --check)
ptrace_check(kconfig TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-kconfig.py")

if(NOT PTRACE_CHECKS)
	return()
endif()

# Without an optimizer the combinations say the same of headers, names and tests; size_table has the sizes.
set(combos_form --compare 25)
set(combos_cost 60)
set(long 1500)
set(tidy_form --recent)
set(tidy_cost 20)
if(PTRACE_CHECKS STREQUAL "full")
	set(combos_form --all --compare 100)
	set(combos_cost 900)
	set(long 3400)
	set(tidy_form --analyzer)
	set(tidy_cost 800)
endif()
ptrace_check(combos TIMEOUT ${long} COST ${combos_cost} "${PTRACE_PYTHON}" "${scripts}/combos.py" --level=-O0 ${combos_form}
	--work "${work}/combos")
ptrace_check(installed TIMEOUT 1500 COST 40 "${scripts}/check-installed" "${PROJECT_BINARY_DIR}" "${work}/installed")
if(PTRACE_INSTALL AND PXT_IS_FULL AND TARGET ptrace_shared)
	ptrace_check(tailored TIMEOUT 1500 COST 25 "${scripts}/check-tailored" "${PROJECT_BINARY_DIR}" "${work}/tailored")
	ptrace_check(abi TIMEOUT 1500 COST 5 "${scripts}/check-abi" "${PROJECT_BINARY_DIR}" "${work}/abi")
endif()
ptrace_check(stack TIMEOUT 1500 COST 15 "${PTRACE_PYTHON}" "${scripts}/stack-usage.py" --check)
ptrace_check(format TIMEOUT 1500 "${scripts}/check-format")
ptrace_check(tidy TIMEOUT ${long} COST ${tidy_cost} "${scripts}/check-tidy" ${tidy_form} "${PROJECT_BINARY_DIR}")
# clang's warnings are among what tidy says, its code is what tsan runs: a build of it belongs to --full.
# So does musl: another C library is met by what meets the system.  AArch64 differs in one header: of words of 32
# bits and of a weak order of memory others speak, i486 and the boards, and the models of proof/.
set(variants minimal arm mps2-an385 virt-rv32 i486 asan tsan)
if(PTRACE_CHECKS STREQUAL "full")
	list(APPEND variants aarch64 clang musl target host unchecked)
endif()
foreach(variant IN LISTS variants)
	set(cost 45)
	if(variant STREQUAL "asan")
		set(cost 60)
	elseif(variant STREQUAL "tsan")
		set(cost 80)
	endif()
	ptrace_check(variant_${variant} TIMEOUT ${long} COST ${cost} "${scripts}/variant" ${variant} "${work}")
	set_property(TEST variant_${variant} APPEND PROPERTY ENVIRONMENT "PXT_CHECKS=${PTRACE_CHECKS}"
		"PXT_PXTRACE=$<$<TARGET_EXISTS:pxtrace>:$<TARGET_FILE:pxtrace>>")
endforeach()
if(PXT_CORE AND PXT_USEREVENTS)
	ptrace_check(hotpath TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/check-hotpath.py" "${PROJECT_BINARY_DIR}")
endif()
ptrace_check(instructions TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/instructions.py" "${PROJECT_BINARY_DIR}")
ptrace_check(lines TIMEOUT 1500 "${PTRACE_PYTHON}" "${scripts}/lines.py" "${PROJECT_BINARY_DIR}")
# The whole suite once, in seconds: that its programs, statistics, tables and pictures still fit together
# (LPT-42, LPT-43, LPT-44).  Each program's output is read in every check (bench/CMakeLists.txt).
if(PTRACE_CHECKS STREQUAL "full" AND PXT_IS_FULL)
	ptrace_check(bench_smoke TIMEOUT 1500 COST 60 "${scripts}/bench" --smoke --out "${work}/bench")
endif()
set(proof_form --quick)
ptrace_check(tiny TIMEOUT 1500 COST 7 "${PTRACE_PYTHON}" "${scripts}/check-tiny.py")
set_property(TEST tiny APPEND PROPERTY ENVIRONMENT
	"PXT_PXTRACE=$<$<TARGET_EXISTS:pxtrace>:$<TARGET_FILE:pxtrace>>")
# Seconds of fuzzing are few: compiling for them costs less without an optimizer.
set(fuzz_level -O0)
set(fuzz_seconds 8)
set(fuzz_tool_seconds 1)
set(size_compilers --short)

if(PTRACE_CHECKS STREQUAL "full")
	set(fuzz_level -O1)
	set(fuzz_seconds 60)
	set(fuzz_tool_seconds 20)
	set(proof_form --full)
	set(size_compilers)
	# Many of the tests that they run sleep for half of their time: so other checks run beside them.
	ptrace_check(mutants TIMEOUT 3400 COST 1000 "${PTRACE_PYTHON}" "${scripts}/mutants.py" --jobs 2 --passed
		--build "${PROJECT_BINARY_DIR}")
endif()
if(PXT_LOGRETRIEVAL)
	set(fuzz sh "${PROJECT_SOURCE_DIR}/tests/fuzz/run" "${PROJECT_BINARY_DIR}")
	ptrace_check(fuzz_objects TIMEOUT ${long} COST 45 ${fuzz} 0 objects)
	set_tests_properties(fuzz_objects PROPERTIES FIXTURES_SETUP fuzz_objects)
	ptrace_check(fuzz TIMEOUT 1500 COST 10 ${fuzz} ${fuzz_seconds} log)
	# The tool's targets take longer to build than they run in the ordinary run.
	foreach(target where description line recover plugin why sched symbols images packed import ftrace
			ctlsock summary top export flight link)
		ptrace_check(fuzz_${target} TIMEOUT 1500 COST 10 ${fuzz} ${fuzz_tool_seconds} ${target})
		list(APPEND fuzzers fuzz_${target})
	endforeach()
	set_tests_properties(fuzz ${fuzzers} PROPERTIES FIXTURES_REQUIRED fuzz_objects)
	set_property(TEST fuzz_objects fuzz ${fuzzers} APPEND PROPERTY ENVIRONMENT "PXT_FUZZ_LEVEL=${fuzz_level}")
endif()
ptrace_check(size_table TIMEOUT ${long} COST 50 "${PTRACE_PYTHON}" "${scripts}/sizes.py" --check ${size_compilers})
ptrace_check(proof_models TIMEOUT ${long} COST 60 "${PTRACE_PYTHON}" "${scripts}/check-proof" ${proof_form})
set_tests_properties(proof_models PROPERTIES LABELS "check;proof")
