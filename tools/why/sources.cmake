# SPDX-License-Identifier: MIT
#
# pxtrace why.
target_sources(pxtrace_parts PRIVATE
	cmd_why.c
	why/blame.c
	why/keys.c
	why/late.c
	why/locks.c
	why/roles.c
	why/rolesfile.c
	why/scene.c
	why/sched.c
	why/spans.c
	why/tell.c
	why/tell_json.c
	why/tell_text.c
	why/threads.c
	why/words.c)
