# SPDX-License-Identifier: MIT
#
# Headers, libraries, pkg-config files, the CMake package, and the manual.

include(CMakePackageConfigHelpers)

install(FILES include/trace.h include/trace_np.h include/trace_points_np.h include/trace_hooks_np.h include/ptrace.hpp
	"${PTRACE_PUBLIC_DIR}/trace_config.h"
	DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(PXT_PORT_BARE)
	install(FILES port/bare/include/trace_port.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
	install(FILES port/bare/board.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" RENAME trace_board.h)
	if(PXT_SYSEVENTS)
		install(FILES contrib/rtos/freertos_trace.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
	endif()
endif()

set(installed)
foreach(library IN LISTS PTRACE_LIBRARIES)
	list(APPEND installed ${library} ${library}_static)
	if(TARGET ${library}_shared)
		list(APPEND installed ${library}_shared)
	endif()
endforeach()
install(TARGETS ${installed} EXPORT ptrace-targets
	ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set(PTRACE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/ptrace")
install(EXPORT ptrace-targets NAMESPACE ptrace:: DESTINATION "${PTRACE_CMAKE_DIR}")
configure_package_config_file(cmake/ptrace-config.cmake.in "${PROJECT_BINARY_DIR}/ptrace-config.cmake"
	INSTALL_DESTINATION "${PTRACE_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ptrace-config-version.cmake"
	COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ptrace-config.cmake"
	"${PROJECT_BINARY_DIR}/ptrace-config-version.cmake" DESTINATION "${PTRACE_CMAKE_DIR}")
if(PXT_PORT_BARE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "cortex-m3")
	install(FILES cmake/arm-none-eabi.cmake DESTINATION "${PTRACE_CMAKE_DIR}")
endif()

# pkg-config: a prefix that follows the file, so that a tree can be moved or installed elsewhere.  In /usr, a
# package's, it is plain: compiler and pkg-config then know its folders for their own.
file(RELATIVE_PATH PTRACE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" PTRACE_PC_PREFIX "${PTRACE_PC_PREFIX}")
set(PTRACE_PC_PREFIX "\${pcfiledir}/${PTRACE_PC_PREFIX}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
	set(PTRACE_PC_PREFIX "/usr")
endif()
# The file of lib@name; @FOLDER: of its headers, behind the others'.
function(ptrace_pkg_config name)
	cmake_parse_arguments(PTRACE_PC "" "TEXT;CONFIGURATION;REQUIRES;LIBS;PRIVATE;FOLDER" "" ${ARGN})
	set(PTRACE_PC_NAME "${name}")
	configure_file("${PROJECT_SOURCE_DIR}/cmake/libptrace.pc.in" "${PROJECT_BINARY_DIR}/lib${name}.pc" @ONLY)
	install(FILES "${PROJECT_BINARY_DIR}/lib${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
foreach(library IN LISTS PTRACE_LIBRARIES)
	string(REPLACE "_" "-" name "${library}")
	set(private "")
	set(configuration "${PXT_CONFIGURATION}")
	set(libs "-l${name}")
	if(PXT_PORT_POSIX AND NOT PTRACE_SHARED)
		# Another configuration's shared library may be beside it.
		set(libs "-l:lib${name}.a")
	endif()
	set(text "POSIX tracing (posix_trace_*)")
	if(library STREQUAL "ptrace_retrieval")
		set(text "Reading of POSIX trace logs")
		set(configuration "${PXT_RETRIEVAL_CONFIGURATION}")
	elseif(PXT_PORT_POSIX)
		set(private "-pthread ${PTRACE_ENVIRONMENT}")
		if(NOT PTRACE_SHARED)
			string(APPEND libs " ${private}")
		endif()
	endif()
	ptrace_pkg_config("${name}" TEXT "${text}" CONFIGURATION "${configuration}" LIBS "${libs}" PRIVATE "${private}")
endforeach()

# The manual: sections 3, 5 and 7, made of the headers' comments, papers and Kconfig by scripts/manual.py;
# docs/man has section 1, which comes with pxtrace.  The target `site` makes HTML of all of it.
if(PROJECT_IS_TOP_LEVEL AND PXT_PORT_POSIX AND NOT PTRACE_PREMADE)
	set(manual "${PROJECT_BINARY_DIR}/docs/man")
	set(manual_command "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/manual.py")
	file(GLOB manual_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/examples/*.c"
		"${PROJECT_SOURCE_DIR}/examples/manual/*.c" "${PROJECT_SOURCE_DIR}/*/Kconfig*" "${PROJECT_SOURCE_DIR}/docs/*.md")
	list(APPEND manual_sources "${PROJECT_SOURCE_DIR}/Kconfig" "${PROJECT_SOURCE_DIR}/FORMAT.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
		"${PROJECT_SOURCE_DIR}/scripts/manual.py" "${PROJECT_SOURCE_DIR}/scripts/roff.py")
	add_custom_command(OUTPUT "${manual}/made" COMMAND ${manual_command} "${manual}"
		COMMAND "${CMAKE_COMMAND}" -E touch "${manual}/made" DEPENDS ${manual_sources} VERBATIM)
	add_custom_target(ptrace_manual ALL DEPENDS "${manual}/made")
	add_custom_target(site COMMAND "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/scripts/site.py" "${PROJECT_BINARY_DIR}/site"
		COMMENT "HTML in ${PROJECT_BINARY_DIR}/site" VERBATIM)
	foreach(section IN ITEMS 3 5 7)
		# Where somebody has built single targets, the rest is installed; check-installed misses the pages.
		install(DIRECTORY "${manual}/man${section}" DESTINATION "${CMAKE_INSTALL_MANDIR}" OPTIONAL)
	endforeach()
endif()

# The way back.
add_custom_target(${ptrace_prefix}uninstall COMMAND "${CMAKE_COMMAND}"
	"-DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt" -P "${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake" VERBATIM)

# cpack: one archive of what is installed, to be unpacked anywhere.
if(PROJECT_IS_TOP_LEVEL)
	set(CPACK_GENERATOR TXZ)
	set(CPACK_PACKAGE_NAME libptrace)
	set(CPACK_PACKAGE_FILE_NAME "libptrace-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
	set(CPACK_STRIP_FILES ON)
	set(CPACK_VERBATIM_VARIABLES ON)
	include(CPack)
endif()
