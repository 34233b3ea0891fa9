# SPDX-License-Identifier: MIT
#
# The library as programs meet it: loaded at run time, from C++, without position independence.
# A sanitizer's runtime would have to be there before the library is; compilers for another machine
# or without shared libraries are not looked for.
if(PXT_IS_FULL AND TARGET ptrace_shared AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_executable(dlopen_storm dlopen/storm.c)
	target_link_libraries(dlopen_storm PRIVATE ptrace_build Threads::Threads ${CMAKE_DL_LIBS})
	target_include_directories(dlopen_storm PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}")
	add_test(NAME dlopen_storm COMMAND dlopen_storm "$<TARGET_FILE:ptrace_shared>")
	set(dlopen_tests dlopen_storm)
	foreach(way IN ITEMS cxx11 clang_cxx11 no_pie static)
		foreach(kind IN ITEMS static shared)
			if(way STREQUAL "static" AND kind STREQUAL "shared")
				continue()
			endif()
			add_test(NAME link_${way}_${kind} COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/dlopen/links.sh" ${way}
				"${CMAKE_CURRENT_BINARY_DIR}/links_${kind}" "$<TARGET_FILE:ptrace_${kind}>"
				"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}")
			set_tests_properties(link_${way}_${kind} PROPERTIES ENVIRONMENT
				"LD_LIBRARY_PATH=$<TARGET_FILE_DIR:ptrace_shared>;CC=${CMAKE_C_COMPILER}${CMAKE_C_COMPILER_ARG1}")
			list(APPEND dlopen_tests link_${way}_${kind})
		endforeach()
	endforeach()
	set_tests_properties(${dlopen_tests} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS link)
endif()
