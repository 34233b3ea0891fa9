# SPDX-License-Identifier: MIT
#
# libptrace (what the configuration holds) and libptrace-retrieval (base and Log Retrieval alone),
# static and shared.

option(PTRACE_SHARED "Build shared libraries" ${PXT_PORT_POSIX})
set(PTRACE_SANITIZER "" CACHE STRING "asan or tsan where CMAKE_C_FLAGS ask for it")
find_package(Threads)

# The names that leave the shared libraries, as the headers have them: a node for each release that brought some
# (kconfig_tool.py).  Both libraries have the same nodes: a name of one must be able to stand for the other's.
# Names that have a size in them (trace.h) have nodes of their own, which the loader looks for at the start.  What
# debuggers and the other library look up is no program's.  @rest: what else leaves the library.
function(ptrace_version_script out rest)
	set(nodes "")
	set(before "")
	foreach(release IN LISTS PXT_RELEASES)
		list(TRANSFORM PXT_NAMES_${release} PREPEND "\t\t" OUTPUT_VARIABLE names)
		list(JOIN names ";\n" names)
		string(APPEND nodes "LIBPTRACE_${release} {\n\tglobal:\n${names};\n")
		if(NOT before)
			string(APPEND nodes "\t\tposix_trace_*_time64;\n${rest}")
		endif()
		string(APPEND nodes "}${before};\n")
		set(before " LIBPTRACE_${release}")
	endforeach()
	list(TRANSFORM PXT_NAMES_PRIVATE PREPEND "\t\t" OUTPUT_VARIABLE private)
	list(JOIN private ";\n" private)
	file(CONFIGURE OUTPUT "${out}" CONTENT "@nodes@LIBPTRACE_@PXT_EVENT_IDS@_TYPES {
	global:
		posix_trace_*_of_*_types;
		_pxt_wanted_of_*;
};
LIBPTRACE_@PXT_EVENT_NAME_MAX@_BYTES {
	global:
		posix_trace_*_of_*_bytes;
};
LIBPTRACE_PRIVATE {
	global:
@private@;
};
" @ONLY)
endfunction()
set(PTRACE_VERSION_SCRIPT "${PROJECT_BINARY_DIR}/libptrace.map")
ptrace_version_script("${PTRACE_VERSION_SCRIPT}" "\tlocal:\n\t\t*;\n")

set(PTRACE_PORT_DIR "${PROJECT_SOURCE_DIR}/port/posix")
if(PXT_PORT_BARE)
	set(PTRACE_PORT_DIR "${PROJECT_SOURCE_DIR}/port/bare")
endif()

# What every library of ours needs, whatever its kind.
function(ptrace_library target)
	target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ptrace_build>)
	set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
	target_include_directories(${target}
		PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
			"$<BUILD_INTERFACE:${PTRACE_PUBLIC_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
		PRIVATE "${PROJECT_SOURCE_DIR}" "${PTRACE_PORT_DIR}" "${PTRACE_PRIVATE_DIR}")
	if(PXT_PORT_BARE)
		target_include_directories(${target} PUBLIC
			"$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/port/bare/include>")
	endif()
endfunction()

# Objects are compiled once for all libraries that hold them; a shared one needs what a static one may have.
function(ptrace_objects name)
	add_library(${name} OBJECT ${ARGN})
	set(cold ${ARGN})
	list(FILTER cold EXCLUDE REGEX "${PTRACE_TRACE_PATH}")
	set_property(SOURCE ${cold} APPEND PROPERTY COMPILE_OPTIONS ${PTRACE_HARDENED})
	ptrace_library(${name})
	set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ${PXT_PORT_POSIX})
endfunction()

# @configuration: its name.  The full one's shared library is lib<name>.so.0 (PTRACE_ABI); every other one's
# has the configuration in what programs load it by, lib<name>.so.0-minimal-1f0a7c3e, so that no program meets another one
# under that.  What is linked, lib<name>.so and .a, belongs to what was installed last, as the headers do.
function(ptrace_pair name export configuration objects)
	add_library(${name}_static STATIC ${objects})
	ptrace_library(${name}_static)
	string(REPLACE "_" "-" output "${name}")
	set_target_properties(${name}_static PROPERTIES OUTPUT_NAME "${output}" EXPORT_NAME "${export}_static")
	add_library(ptrace::${export}_static ALIAS ${name}_static)
	set(preferred ${name}_static)
	if(PTRACE_SHARED)
		set(preferred ${name}_shared)
		set(ending "")
		if(NOT configuration STREQUAL "full")
			set(ending "-${configuration}")
		endif()
		add_library(${name}_shared SHARED ${objects})
		ptrace_library(${name}_shared)
		set_target_properties(${name}_shared PROPERTIES OUTPUT_NAME "${output}"
			EXPORT_NAME "${export}_shared" SOVERSION "${PTRACE_ABI}${ending}" VERSION "${PROJECT_VERSION}${ending}"
			LINK_DEPENDS "${PTRACE_VERSION_SCRIPT}")
		target_link_options(${name}_shared PRIVATE
			"LINKER:--version-script=${PTRACE_VERSION_SCRIPT}" LINKER:-z,nodelete LINKER:-z,relro
			${PTRACE_HARDENED_LINK} ${PTRACE_SELDOM_LINK})
		# A sanitizer's own names are defined by the program.
		if(NOT PTRACE_SANITIZER)
			target_link_options(${name}_shared PRIVATE LINKER:-z,defs)
		endif()
		add_library(ptrace::${export}_shared ALIAS ${name}_shared)
	endif()
	# The name that programs use: the shared library where there is one.  An installed package that differs in
	# the configuration alone is another one: CMake then removes what the former has left beside it.
	add_library(${name} INTERFACE)
	set_target_properties(${name} PROPERTIES EXPORT_NAME "${export}" PTRACE_CONFIGURATION "${configuration}"
		EXPORT_PROPERTIES PTRACE_CONFIGURATION)
	target_link_libraries(${name} INTERFACE ${preferred})
	add_library(ptrace::${export} ALIAS ${name})
endfunction()

# A static program takes the log that the environment asks for (tolog/environment.c) out of the archive
# only if the linker is asked for it.
set(PTRACE_ENVIRONMENT "")
if(PXT_LOG_ENVIRONMENT)
	set(PTRACE_ENVIRONMENT "-Wl,-u,pxt_environment_start")
endif()

set(PTRACE_LIBRARIES)
if(PXT_CORE)
	ptrace_objects(ptrace_objects ${PTRACE_SOURCES})
	ptrace_pair(ptrace ptrace "${PXT_CONFIGURATION}" "$<TARGET_OBJECTS:ptrace_objects>")
	list(APPEND PTRACE_LIBRARIES ptrace)
	target_link_options(ptrace_static INTERFACE ${PTRACE_ENVIRONMENT})
	if(Threads_FOUND AND PXT_PORT_POSIX)
		target_link_libraries(ptrace_static PUBLIC Threads::Threads)
		if(TARGET ptrace_shared)
			target_sources(ptrace_shared PRIVATE port/posix/configuration.c)
			target_link_libraries(ptrace_shared PRIVATE Threads::Threads)
		endif()
	endif()
endif()
if(PXT_LOGRETRIEVAL)
	# What libptrace holds as well is taken from there.
	set(own ${PTRACE_RETRIEVAL_SOURCES})
	set(objects)
	if(PXT_CORE)
		list(REMOVE_ITEM own ${PTRACE_SOURCES})
		set(common ${PTRACE_RETRIEVAL_SOURCES})
		list(REMOVE_ITEM common ${own})
		list(TRANSFORM common REPLACE "^${PROJECT_SOURCE_DIR}/(.*)\\.c$" "\\1")
		list(JOIN common "|" common)
		set(objects "$<FILTER:$<TARGET_OBJECTS:ptrace_objects>,INCLUDE,/(${common})[.]c[.]o>")
	endif()
	if(own)
		ptrace_objects(ptrace_retrieval_objects ${own})
		list(APPEND objects "$<TARGET_OBJECTS:ptrace_retrieval_objects>")
	endif()
	ptrace_pair(ptrace_retrieval retrieval "${PXT_RETRIEVAL_CONFIGURATION}" "${objects}")
	list(APPEND PTRACE_LIBRARIES ptrace_retrieval)
endif()
