# SPDX-License-Identifier: MIT
#
# Kconfig for the build: profile < .config < -DCONFIG_PTRACE_X=v.  Sets PXT_<SYMBOL> to 0, 1 or a
# number for each symbol and writes pxt_config.h (private) and trace_config.h (installed).

set(PTRACE_DEFCONFIG "configs/full_defconfig" CACHE STRING "Profile: a file of Kconfig settings")

# The first python3 in PATH need not be the one that sees Debian's modules.
function(ptrace_find_python)
	if(PTRACE_PYTHON)
		return()
	endif()
	set(seen)
	string(REPLACE ":" ";" directories "$ENV{PATH}:/usr/bin:/usr/local/bin")
	foreach(directory IN LISTS directories)
		set(candidate "${directory}/python3")
		if(NOT EXISTS "${candidate}" OR candidate IN_LIST seen)
			continue()
		endif()
		list(APPEND seen "${candidate}")
		execute_process(COMMAND "${candidate}" -c "import kconfiglib" RESULT_VARIABLE failed
			OUTPUT_QUIET ERROR_QUIET)
		if(NOT failed)
			set(PTRACE_PYTHON "${candidate}" CACHE FILEPATH "A Python 3 that has Kconfiglib")
			return()
		endif()
	endforeach()
	if(seen AND EXISTS "${ptrace_premade}")
		list(GET seen 0 any)
		set(PTRACE_PYTHON "${any}" PARENT_SCOPE)
		set(PTRACE_PREMADE ON PARENT_SCOPE)
		return()
	endif()
	list(JOIN seen ", " seen)
	message(FATAL_ERROR "No Python 3 with Kconfiglib (Debian: python3-kconfiglib; looked at: ${seen}). "
		"Name one with -DPTRACE_PYTHON=/path/to/python3.")
endfunction()

# All CONFIG_PTRACE_ variables, from the command line or from a project that includes this one.
function(ptrace_settings out)
	set(settings)
	get_cmake_property(names VARIABLES)
	get_cmake_property(cached CACHE_VARIABLES)
	list(APPEND names ${cached})
	list(REMOVE_DUPLICATES names)
	list(SORT names)
	foreach(name IN LISTS names)
		if(name MATCHES "^CONFIG_PTRACE_" OR (PROJECT_IS_TOP_LEVEL AND name MATCHES "^CONFIG_"))
			list(APPEND settings "--set=${name}=${${name}}")
		endif()
	endforeach()
	set(${out} "${settings}" PARENT_SCOPE)
endfunction()

# A refused setting must not come back from the cache at the next attempt.
function(ptrace_forget_refused)
	get_cmake_property(names CACHE_VARIABLES)
	foreach(name IN LISTS names)
		if(name MATCHES "^CONFIG_" AND NOT "--set=${name}=${${name}}" IN_LIST PTRACE_ACCEPTED)
			unset(${name} CACHE)
			foreach(setting IN LISTS PTRACE_ACCEPTED)
				if(setting MATCHES "^--set=${name}=(.*)$")
					set(${name} "${CMAKE_MATCH_1}" CACHE STRING "")
				endif()
			endforeach()
		endif()
	endforeach()
	unset(PTRACE_DEFCONFIG CACHE)
	if(PTRACE_ACCEPTED_DEFCONFIG)
		set(PTRACE_DEFCONFIG "${PTRACE_ACCEPTED_DEFCONFIG}" CACHE STRING "Profile: a file of Kconfig settings")
	endif()
endfunction()

get_filename_component(ptrace_profile "${PTRACE_DEFCONFIG}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
get_filename_component(PTRACE_PROFILE "${ptrace_profile}" NAME)
string(REGEX REPLACE "_?defconfig$" "" PTRACE_PROFILE "${PTRACE_PROFILE}")
# Where the project is part of another, its targets keep out of the other's way.
set(ptrace_prefix "")
if(NOT PROJECT_IS_TOP_LEVEL)
	set(ptrace_prefix "ptrace-")
endif()
# A release's archive has what Kconfiglib makes of the profiles (scripts/release), for who has not got it.
set(ptrace_premade "${PROJECT_SOURCE_DIR}/premade/${PTRACE_PROFILE}")
set(PTRACE_PREMADE OFF)
ptrace_find_python()
set(PTRACE_KCONFIG_TOOL "${PROJECT_SOURCE_DIR}/cmake/kconfig_tool.py")
set(PTRACE_DOTCONFIG "${PROJECT_BINARY_DIR}/.config")
set(PTRACE_PRIVATE_DIR "${PROJECT_BINARY_DIR}/private")
set(PTRACE_PUBLIC_DIR "${PROJECT_BINARY_DIR}/include")
if(NOT EXISTS "${PTRACE_DOTCONFIG}")
	file(WRITE "${PTRACE_DOTCONFIG}" "# Settings here win over the profile; -DCONFIG_PTRACE_... wins over both.\n")
endif()
ptrace_settings(ptrace_set)
if(PTRACE_PREMADE)
	file(STRINGS "${PTRACE_DOTCONFIG}" ptrace_own REGEX "^CONFIG_")
	if(ptrace_set OR ptrace_own)
		message(FATAL_ERROR "Without Kconfiglib (Debian: python3-kconfiglib) a profile is built as it is, "
			"without: ${ptrace_set} ${ptrace_own}")
	endif()
	message(STATUS "No Kconfiglib (Debian: python3-kconfiglib): the profile ${PTRACE_PROFILE} as it is, no menuconfig")
	configure_file("${ptrace_premade}/pxt_config.h" "${PTRACE_PRIVATE_DIR}/pxt_config.h" COPYONLY)
	configure_file("${ptrace_premade}/trace_config.h" "${PTRACE_PUBLIC_DIR}/trace_config.h" COPYONLY)
	include("${ptrace_premade}/kconfig.cmake")
	return()
endif()

set(PTRACE_KCONFIG_ARGS --kconfig "${PROJECT_SOURCE_DIR}/Kconfig" --profile "${ptrace_profile}"
	--dotconfig "${PTRACE_DOTCONFIG}" ${ptrace_set})
execute_process(
	COMMAND "${PTRACE_PYTHON}" "${PTRACE_KCONFIG_TOOL}" generate ${PTRACE_KCONFIG_ARGS}
		--full "${PROJECT_SOURCE_DIR}/configs/full_defconfig"
		--version "${PROJECT_VERSION}" --private "${PTRACE_PRIVATE_DIR}/pxt_config.h"
		--public "${PTRACE_PUBLIC_DIR}/trace_config.h" --cmake "${PROJECT_BINARY_DIR}/kconfig.cmake"
	RESULT_VARIABLE ptrace_failed ERROR_VARIABLE ptrace_reasons)
if(ptrace_failed)
	ptrace_forget_refused()
	message(FATAL_ERROR "The configuration asks for what cannot be:\n${ptrace_reasons}")
endif()
set(PTRACE_ACCEPTED "${ptrace_set}" CACHE INTERNAL "")
set(PTRACE_ACCEPTED_DEFCONFIG "${PTRACE_DEFCONFIG}" CACHE INTERNAL "")
include("${PROJECT_BINARY_DIR}/kconfig.cmake")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PXT_KCONFIG_FILES}
	"${ptrace_profile}" "${PTRACE_DOTCONFIG}" "${PTRACE_KCONFIG_TOOL}")

# The usual targets.
foreach(command IN ITEMS menuconfig guiconfig olddefconfig)
	add_custom_target(${ptrace_prefix}${command}
		COMMAND "${PTRACE_PYTHON}" "${PTRACE_KCONFIG_TOOL}" ${command} ${PTRACE_KCONFIG_ARGS}
		COMMAND "${CMAKE_COMMAND}" "${CMAKE_BINARY_DIR}"
		USES_TERMINAL VERBATIM)
endforeach()
foreach(command IN ITEMS savedefconfig listnewconfig)
	add_custom_target(${ptrace_prefix}${command}
		COMMAND "${PTRACE_PYTHON}" "${PTRACE_KCONFIG_TOOL}" ${command} ${PTRACE_KCONFIG_ARGS}
			--output "${PROJECT_BINARY_DIR}/defconfig"
		USES_TERMINAL VERBATIM)
endforeach()
