# SPDX-License-Identifier: MIT
#
# At installation: what babeltrace2 must be told where it does not look for the plugin by itself.
# PLUGINS is the plugin's folder, LIBDIR babeltrace2's own library folder.
if(NOT IS_ABSOLUTE "${PLUGINS}")
	set(PLUGINS "${CMAKE_INSTALL_PREFIX}/${PLUGINS}")
endif()
get_filename_component(PLUGINS "${PLUGINS}" ABSOLUTE)
get_filename_component(here "${PLUGINS}" REALPATH)
string(REPLACE ":" ";" looked "$ENV{BABELTRACE_PLUGIN_PATH}")
list(APPEND looked "${LIBDIR}/babeltrace2/plugins" "$ENV{HOME}/.local/lib/babeltrace2/plugins")
set(found OFF)
foreach(folder IN LISTS looked)
	get_filename_component(folder "${folder}" REALPATH)
	if(folder STREQUAL here)
		set(found ON)
	endif()
endforeach()
if(NOT found)
	message(STATUS "babeltrace2 does not look there for its plugins; so that it reads logs, set:")
	message(STATUS "  export BABELTRACE_PLUGIN_PATH=\"${PLUGINS}\"")
endif()
