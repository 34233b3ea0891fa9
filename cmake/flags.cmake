# SPDX-License-Identifier: MIT
#
# Flags of our own targets; nothing here reaches a project that includes this one.

set(PTRACE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual
	-Wundef -Wvla -Wformat=2 -Wmissing-prototypes -Wstrict-prototypes -Wold-style-definition
	-Wwrite-strings -Wswitch-enum -Wredundant-decls)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	list(APPEND PTRACE_WARNINGS -Wlogical-op -Wduplicated-cond -Wduplicated-branches
		-Wcast-align=strict)
endif()
if(PTRACE_WERROR)
	list(APPEND PTRACE_WARNINGS -Werror)
endif()

set(PTRACE_C_OPTIONS -fvisibility=hidden -fno-common -ffunction-sections -fdata-sections)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_C_FLAGS MATCHES "-O")
	list(APPEND PTRACE_C_OPTIONS -O2)
endif()
if(PXT_PORT_BARE)
	list(APPEND PTRACE_C_OPTIONS -ffreestanding -fbuiltin)
endif()

# Common to libraries and tests.
add_library(ptrace_build INTERFACE)
target_compile_definitions(ptrace_build INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(ptrace_build INTERFACE ${PTRACE_C_OPTIONS} ${PTRACE_WARNINGS})

# What is installed defends itself: read-only relocations, guarded stacks, checked copies, and branches that the
# processor checks, where compiler and processor know of it.  Neither the trace path nor the reading of streams,
# which would be more instructions.  Small builds and sanitizers are left as they are.
set(hardened ON)
if(NOT PXT_PORT_POSIX OR PTRACE_PROFILE MATCHES "^(minimal|tiny)$" OR CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
	set(hardened OFF)
endif()
option(PTRACE_HARDENING "Installed binaries are hardened" ${hardened})
set(PTRACE_HARDENED)
set(PTRACE_HARDENED_LINK)
if(PTRACE_HARDENING AND NOT PTRACE_SANITIZER)
	include(CheckCCompilerFlag)
	set(CMAKE_REQUIRED_FLAGS -Werror)
	foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
		string(MAKE_C_IDENTIFIER "PTRACE_HAS_${flag}" has)
		check_c_compiler_flag(${flag} ${has})
		if(${has})
			list(APPEND PTRACE_HARDENED ${flag})
		endif()
	endforeach()
	unset(CMAKE_REQUIRED_FLAGS)
	# It wants an optimizer; a level that the user chose stays.
	if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_C_FLAGS MATCHES "-O0|_FORTIFY_SOURCE")
		list(APPEND PTRACE_HARDENED -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
	endif()
	set(PTRACE_HARDENED_LINK LINKER:-z,relro LINKER:-z,now)
endif()

# Shared libraries: GNU's linker, and lld.  Others put tables where they like, and a start meets some page faults more.
include(CheckLinkerFlag)
set(PTRACE_SELDOM_LINK "LINKER:-T,${PROJECT_SOURCE_DIR}/cmake/seldom.ld")
check_linker_flag(C "${PTRACE_SELDOM_LINK}" PTRACE_HAS_SELDOM)
if(NOT PTRACE_HAS_SELDOM OR NOT PXT_PORT_POSIX)
	set(PTRACE_SELDOM_LINK "")
endif()

# The library that each traced process loads: two mappings in place of four.
set(PTRACE_FEWER_MAPPINGS "LINKER:-z,noseparate-code")
check_linker_flag(C "${PTRACE_FEWER_MAPPINGS}" PTRACE_HAS_FEWER_MAPPINGS)
if(NOT PTRACE_HAS_FEWER_MAPPINGS)
	set(PTRACE_FEWER_MAPPINGS "")
endif()

set(PTRACE_TRACE_PATH "/core/(process|read|record|ring|stream)/|/online/|/tiny/online\\.c$|/userevents/(event|point)\\.c$")

# The common case of a trace point fits into the registers that a function may use without saving
# them, if the compiler does not put its loads together with their uses.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	set_source_files_properties(core/record/slowpath.c core/record/emit.c PROPERTIES
		COMPILE_OPTIONS -fno-tree-ter)
endif()
