# SPDX-License-Identifier: MIT
ptrace_test(sysevents NEEDS SYSEVENTS SYSEV_SPECIFIC ONLINE POLICY_LOOP SOURCES sysevents/events.c)
ptrace_test(sysevents_log NEEDS SYSEVENTS SYSEV_MUTEX_LOCK ONLINE TOLOG USEREVENTS LOGRETRIEVAL POLICY_LOOP
	SOURCES sysevents/log.c)
ptrace_test(sysevents_attached NEEDS SYSEVENTS SYSEV_MUTEX_LOCK ${attach_needs}
	SOURCES sysevents/attached.c attach/party.c attach/inside.c)

# Programs that know nothing of traces (tool/wrap.sh), with wrappers before them and without.
if(TARGET ptrace_preload AND TARGET pxtrace)
	add_library(behaveearly SHARED sysevents/early.c)
	add_library(behaveplugin SHARED sysevents/early.c)
	set_target_properties(behaveplugin PROPERTIES
		LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/behave_plugins")
	target_link_libraries(behaveearly PRIVATE Threads::Threads)
	target_link_libraries(behaveplugin PRIVATE Threads::Threads)
	add_executable(behave sysevents/behave.c)
	target_compile_options(behave PRIVATE -O1)
	target_link_libraries(behave PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
	target_link_options(behave PRIVATE
		"LINKER:--enable-new-dtags,-rpath,${CMAKE_CURRENT_BINARY_DIR}/behave_plugins")
	add_dependencies(behave behaveearly behaveplugin ptrace_preload)
	include(CheckLanguage)
	check_language(CXX)
	if(CMAKE_CXX_COMPILER)
		enable_language(CXX)
		add_executable(standard sysevents/standard.cpp)
		target_link_libraries(standard PRIVATE Threads::Threads)
	endif()
endif()
if(TARGET ptrace_wrap AND TARGET pxtrace)
	include(CheckCSourceCompiles)
	set(CMAKE_REQUIRED_FLAGS -static)
	check_c_source_compiles("int main(void) { return 0; }" PTRACE_CAN_LINK_STATIC)
	unset(CMAKE_REQUIRED_FLAGS)
	if(PTRACE_CAN_LINK_STATIC)
		add_executable(behave_linked sysevents/behave.c)
		add_executable(victim_linked tool/victim.c)
		foreach(program IN ITEMS behave_linked victim_linked)
			target_compile_options(${program} PRIVATE -O1)
			target_compile_definitions(${program} PRIVATE BEHAVE_STATIC=1)
			# The archive with its flags; libptrace is the static one.
			target_link_libraries(${program} PRIVATE "$<TARGET_FILE:ptrace_wrap>" ptrace_static)
			target_link_options(${program} PRIVATE -static
				"$<TARGET_PROPERTY:ptrace_wrap,INTERFACE_LINK_OPTIONS>")
			add_dependencies(${program} ptrace_wrap)
		endforeach()
	endif()
endif()
