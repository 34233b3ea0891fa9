#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run with what changes when a program has a thread, a descriptor or a signal more: each kind of program
# once plain and once traced, with the same output and exit status, and a fact of the log. (LPT-30)

. "$(dirname "$0")/common.sh"
[ -e "$PXT_BUILD/sysevents/libptrace-preload.so" ] || {
	echo 'no library that is loaded before others in this build: skipped'
	exit 77
}
unset PXTRACE_PRELOAD LD_PRELOAD

# alike FACT PROGRAM...: plain as it runs here at all, then traced; FACT is in the log.  Messages may have numbers
# of processes in them.
alike()
{
	fact=$1
	shift
	command -v "$1" >/dev/null || { echo "no $1: skipped"; exit 77; }
	timeout 300 "$@" >plain 2>plain_err </dev/null || { echo "$1 does not run here: skipped"; exit 77; }
	timeout 300 "$pxtrace" run -q -o run.ptl --only mutex,threads,file -- "$@" >out 2>err </dev/null ||
		fail "$*: another status"
	cmp -s plain out || fail "$*: another output"
	# A program that kills its own processes may end one inside an event.
	"$pxtrace" check run.ptl >checked 2>err
	grep -q ' 0 damaged, 0 missing' checked || fail "$*: $(cat checked)"
	"$pxtrace" print --event posix_trace_process run.ptl >told
	grep -q "$fact" told || fail "$*: not in the log: $fact"
}

# serves FACT SOCKET QUESTION SERVER...: a server is asked by a program that starts and ends it
serves()
{
	cat >ask.py <<-'END'
	import os, signal, socket, subprocess, sys, time
	where, question, server = sys.argv[1], sys.argv[2].encode().decode("unicode_escape"), sys.argv[3:]
	child = subprocess.Popen(server, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	for turn in range(1200):
	    link = socket.socket(socket.AF_UNIX)
	    try:
	        link.connect(where)
	        break
	    except OSError:
	        if child.poll() is not None:
	            sys.exit(1)
	        time.sleep(0.05)
	link.sendall(question.encode())
	answer = b""
	while b"END" not in answer:
	    more = link.recv(4096)
	    if not more:
	        break
	    answer += more
	print([line for line in answer.decode().splitlines() if not line.startswith("Date:")])
	child.send_signal(signal.SIGTERM)
	sys.exit(min(child.wait(), 1))
	END
	command -v "$4" >/dev/null || { echo "no $4: skipped"; exit 77; }
	[ -x /usr/bin/python3 ] || { echo 'no python3 of the system: skipped'; exit 77; }
	fact=$1
	shift
	alike "$fact" /usr/bin/python3 ask.py "$@"
	grep -q END plain || fail 'no answer'
}

memcached_with_its_threads_answers_alike()
{
	serves 'what=thread_begin' "$PWD/m" 'set key 0 0 5\r\nvalue\r\nget key\r\n' memcached -s "$PWD/m" -u "$(id -un)" -t 2
}

nginx_with_a_process_that_works_answers_alike()
{
	mkdir temp
	cat >nginx.conf <<-END
	daemon off;
	pid $PWD/pid;
	error_log $PWD/errors;
	worker_processes 1;
	user root;
	events { }
	http {
		access_log off;
		client_body_temp_path $PWD/temp;
		proxy_temp_path $PWD/temp;
		fastcgi_temp_path $PWD/temp;
		uwsgi_temp_path $PWD/temp;
		scgi_temp_path $PWD/temp;
		server { listen unix:$PWD/n; return 200 "body END"; }
	}
	END
	serves 'what=fork' "$PWD/n" 'GET / HTTP/1.0\r\n\r\n' nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/errors"
}

a_pipeline_of_gstreamer_runs_alike()
{
	alike 'what=thread_begin' gst-launch-1.0 -q videotestsrc num-buffers=10 ! fakesink
}

chromium_with_its_zygote_prints_a_page_alike()
{
	alike 'what=fork' chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --dump-dom \
		'data:text/html,<p>word</p>'
}

node_with_its_pool_runs_alike()
{
	alike 'what=thread_begin' node -e 'setTimeout(() => console.log("later"), 5)'
}

java_with_its_threads_runs_alike()
{
	alike 'what=thread_begin' java -version
}

what_leaves_its_user_namespace_runs_alike()
{
	alike 'what=exec' unshare -U true
}

# Its numbers of processes are its own.
a_container_with_pids_and_times_of_its_own_runs_alike()
{
	alike 'what=exit ' unshare -Urpf --time sh -c 'echo $$; sh -c "exit 0"; true'
	[ "$(cat plain)" = 1 ] || fail "not the first process: $(cat plain)"
}

processes_of_a_shell_that_are_joined_by_pipes_run_alike()
{
	alike 'what=fork' sh -c 'echo one | sed s/o/0/ | (read word; echo "$word")'
}

a_child_of_another_c_library_runs_alike()
{
	need musl-gcc
	printf '#include <stdio.h>\nint main(void) { return puts("musl") < 0; }\n' >child.c
	musl-gcc child.c -o child 2>/dev/null || { echo 'musl-gcc cannot build here: skipped'; exit 77; }
	alike 'what=untraced .*another C library' sh -c './child; ./child'
}

"$case"
