#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run with programs of Debian's: each once plain and once traced, with the same output and exit
# status; as many events as an independent count; the law exact. (LPT-30, QNX-51)  Then those that change
# when they have a thread, a descriptor or a signal more, with a fact of the log each; and programs that were
# compiled with -finstrument-functions (QNX-54).

. "$(dirname "$0")/common.sh"
counter=$PXT_BUILD/tests/libcounter.so
need_preload "$counter"
unset PXTRACE_PRELOAD LD_PRELOAD

# make_input: two megabytes that can be compressed
make_input() { seq 300000 >input; }

# What a program is run by, as another user; nothing: by nothing.
as=

# witnessed OPTIONS... -- PROGRAM...: traced in run.ptl, and counted in ./count
witnessed()
{
	rm -rf count
	$as mkdir count
	$as env COUNTER="$PWD/count" LD_PRELOAD="$counter" "$pxtrace" run -q --all -o run.ptl "$@"
}

# same PROGRAM...: traced, it does what it does
same()
{
	"$@" >plain 2>plain_err
	plain_status=$?
	witnessed --only mutex,sem,threads,file,sleep,futex -- "$@" >traced 2>traced_err
	status=$?
	[ $status -eq $plain_status ] || fail "status $status, not $plain_status"
	cmp -s plain traced || fail 'other output'
	nothing_lost
}

nothing_lost()
{
	"$pxtrace" check run.ptl >out 2>err || fail 'the log is not sound'
	grep -q 'lost 0 ' out || fail 'events were lost'
}

# Events of that type, and with that in their line, before the program's exit: told EVENT [WORDS]
told()
{
	[ before_exit -nt run.ptl ] || "$pxtrace" print run.ptl | awk '{ pid = $2 ~ /^[0-9]+$/ ? $2 : 0 }
		/ posix_trace_process .*what=exit / { gone[pid] = 1 }
		!(pid in gone)' >before_exit
	grep -c "posix_trace_$1.*${2:-}" before_exit
}

# as_many WHAT COUNT EVENTS
as_many() { [ "$2" -eq "$3" ] || fail "$1: $3 are told of $2"; }

# counted: as many events as calls reached the C library (each lock is tried first, and asked for where it
# waits), of all processes together.  What libraries do at their end comes after: libptrace may be gone by
# then.
counted()
{
	rm -f count/pxtrace.*
	od -A n -v -t u8 -w64 count/* >numbers || fail 'no count'
	awk '{ for (i = 1; i <= 7; i++) sum[i] += $i } END { for (i = 1; i <= 7; i++) printf "%d ", sum[i]; print "" }' numbers >sums
	read -r locks tries posts takes writes sleeps futexes <sums
	waits=$(told mutex_wait)
	# A thread that waits at the exit has been asked for twice, and told as a wait.
	waiting=$((waits - $(told mutex_lock 'waited_us=[1-9]')))
	as_many locks $((locks + tries - waits - waiting)) "$(told mutex_lock)"
	as_many posts "$posts" "$(told call_exit 'call=sem_post ')"
	as_many 'waits for semaphores' "$takes" "$(told call_exit 'call=sem_wait ')"
	as_many writes "$writes" "$(told call_exit 'call=write ')"
	as_many sleeps "$sleeps" "$(told call_exit 'call=sleep ')"
	as_many futexes "$futexes" "$(told call_exit 'call=futex_')"
}

zstd_compresses_to_the_same_bytes()
{
	need zstd
	make_input
	same zstd -q -T2 -c input
	counted
}

sqlite_answers_the_same()
{
	need sqlite3
	same sqlite3 :memory: 'create table t(n); insert into t values (1), (2), (3); select sum(n) from t;'
	counted
}

# serve PREFIX...: a server with threads of input and output answers some questions; answers in ./answers
serve()
{
	"$@" redis-server --port 0 --unixsocket s --save '' --appendonly no --io-threads 2 --io-threads-do-reads yes >server 2>&1 &
	server=$!
	await [ -S s ]
	{
		seq 500 | sed 's/.*/set key:& value-&/'
		seq 500 | sed 's/.*/get key:&/'
		printf 'incr n\nlpush list a b c\nlrange list 0 -1\neval "return 6*7" 0\ndbsize\nshutdown nosave\n'
	} | timeout 300 redis-cli -s s >answers 2>&1
	wait $server
}

# Its threads are told by their names, and which lock they wait for.
a_server_answers_the_same()
{
	need redis-cli
	# Debian's server is its redis-check-rdb under another name; the package redis-server brings that name alone,
	# and a service.
	command -v redis-server >/dev/null || {
		need redis-check-rdb
		ln -s "$(command -v redis-check-rdb)" redis-server
		PATH=$PWD:$PATH
	}
	serve env
	plain_status=$?
	mv answers plain
	grep -q 'value-500' plain || { echo 'redis-server does not run here: skipped'; exit 77; }
	serve witnessed --only locks,io,threads,sleep,futex --
	[ $? -eq $plain_status ] || fail 'another status'
	cmp -s plain answers || fail "other answers: $(diff plain answers | head -n 5)"
	sound run.ptl
	nothing_lost
	counted
	[ "$(told mutex_lock)" -gt 0 ] && [ "$(told call_exit 'call=epoll_wait ')" -gt 0 ] || fail 'no locks, or no calls'
	"$pxtrace" print --event 'posix_trace_process' run.ptl >out
	grep -q 'name="io_thd_1"' out || fail 'a thread without its name'
}

# Threads of a child fight for a lock; the child ends without what the C library does at exit.
# One child: of two, the one that is last to begin ends in one run of ten with "could not create any pthreads"
# (untraced, stress-ng 0.15), because the other has done all operations.  Its threads ask for SCHED_FIFO; where
# they may have it, one keeps a busy machine from the thread that creates them, and it ends in the same way.
stress_ng_ends_as_without()
{
	need stress-ng
	if [ "$(id -u)" -eq 0 ]; then
		need setpriv
		as='setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice'
	fi
	$as timeout 300 stress-ng --mutex 1 --mutex-ops 2000 -q >plain 2>&1 || { echo 'stress-ng does not run here: skipped'; exit 77; }
	witnessed --only mutex,sem,threads,file,sleep,futex -- timeout 300 stress-ng --mutex 1 --mutex-ops 2000 -q >traced 2>&1 ||
		fail "another status: $(cat traced)"
	cmp -s plain traced || fail 'other output'
	sound run.ptl
	nothing_lost
	counted
	[ "$(told mutex_lock)" -ge 2000 ] || fail "$(told mutex_lock) locks of 2,000"
	[ "$(told mutex_lock)" -eq "$(told mutex_unlock)" ] || fail 'locks and unlocks are not as many'
}

a_cpp_program_waits_on_its_condition_variables()
{
	need g++
	cat >wait.cc <<-'END'
	#include <chrono>
	#include <condition_variable>
	#include <cstdio>
	#include <mutex>
	#include <thread>
	int main()
	{
		std::mutex mutex;
		std::condition_variable changed;
		bool ready = false;
		std::thread other([&] { std::lock_guard<std::mutex> lock(mutex); ready = true; changed.notify_all(); });
		std::unique_lock<std::mutex> lock(mutex);
		changed.wait(lock, [&] { return ready; });
		bool late = changed.wait_until(lock, std::chrono::steady_clock::now() + std::chrono::milliseconds(5)) == std::cv_status::timeout;
		lock.unlock();
		other.join();
		std::puts(late ? "timeout" : "woken");
		return late ? 0 : 1;
	}
	END
	g++ -std=c++17 -O1 wait.cc -o wait -pthread 2>cc_err || { cat cc_err; fail 'cannot be built'; }
	same ./wait
	"$pxtrace" run -q -o run.ptl -- ./wait >out 2>err || fail 'another status'
	"$pxtrace" print --event 'posix_trace_cond_resume' run.ptl >out
	grep -q 'result=110' out || fail 'no time-out'
	"$pxtrace" print --event 'posix_trace_cond_broadcast' run.ptl >out
	lines 1
}

a_rust_program_waits_by_futexes()
{
	need rustc
	cat >wait.rs <<-'END'
	use std::sync::{Arc, Mutex};
	use std::{thread, time::Duration};
	fn main() {
	    let lock = Arc::new(Mutex::new(0));
	    let held = lock.lock().unwrap();
	    let other = { let lock = lock.clone(); thread::spawn(move || { *lock.lock().unwrap() += 1; }) };
	    thread::sleep(Duration::from_millis(20));
	    drop(held);
	    other.join().unwrap();
	    println!("{}", *lock.lock().unwrap());
	}
	END
	rustc -O wait.rs -o wait 2>cc_err || { echo 'rustc cannot build here: skipped'; exit 77; }
	same ./wait
	counted
	mv traced out
	out_has 1
	"$pxtrace" print --event 'posix_trace_call_*' run.ptl >out
	grep -q 'call=futex_wait' out || fail 'no wait'
}

# ---- With a thread, a descriptor or a signal more ----

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

# The recorder hears of both when both have ended.
a_process_with_the_number_of_another_one_has_its_own_name()
{
	cat >again.py <<-'END'
	import os, signal, subprocess
	os.kill(os.getppid(), signal.SIGSTOP)
	for name in "red", "blue":
	    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
	        last.write("1999")
	    print(subprocess.run(["./" + name, "-c", "echo $$"], stdout=subprocess.PIPE).stdout)
	os.kill(os.getppid(), signal.SIGCONT)
	END
	cp /bin/sh red
	cp /bin/sh blue
	[ -x /usr/bin/python3 ] || { echo 'no python3 of the system: skipped'; exit 77; }
	unshare -Urpf --mount-proc "$pxtrace" run -q -o run.ptl --only file -- /usr/bin/python3 again.py >out 2>err ||
		{ echo "no process with a chosen number here: skipped: $(cat err)"; exit 77; }
	[ "$(grep -c 2000 out)" = 2 ] || fail "other numbers: $(cat out)"
	"$pxtrace" print --event posix_trace_process run.ptl >told
	grep -q ' blue/2000 .*what=traced' told || fail "$(grep 2000 told)"
}

# The scheduler tells numbers alone.
what_the_scheduler_tells_of_a_number_is_of_the_thread_that_had_it_then()
{
	cat >again.py <<-'END'
	import subprocess
	for name in "red", "blue":
	    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
	        last.write("1999")
	    print(subprocess.run(["./" + name, "-c", "echo $$; sleep 0.05; :"], stdout=subprocess.PIPE).stdout)
	END
	cp /bin/sh red
	cp /bin/sh blue
	[ -x /usr/bin/python3 ] || { echo 'no python3 of the system: skipped'; exit 77; }
	unshare -Urpf --mount-proc "$pxtrace" run -q -o run.ptl -- /usr/bin/python3 again.py >out 2>err ||
		{ echo "no process with a chosen number here: skipped: $(cat err)"; exit 77; }
	[ "$(grep -c 2000 out)" = 2 ] || fail "other numbers: $(cat out)"
	"$pxtrace" print run.ptl >told
	grep -q 'sched_switch .*2000' told || { echo 'the scheduler is not recorded here: skipped'; exit 77; }
	awk '/ blue\/2000 .*what=traced/ { later = 1 } / sched_process_exit .* tid=2000 / { ended = 1 }
		!ended && / blue\/2000 / || later && / red\/2000 /' told >wrong
	[ ! -s wrong ] || fail "$(cat wrong)"
	for name in red blue; do
		grep -q " $name/2000 .*sched_switch" told || fail "nothing of $name: $(grep 2000 told)"
	done
	"$pxtrace" stat run.ptl >told
	grep -q '^red/2000 ' told && grep -q '^blue/2000 ' told || fail "$(grep 2000 told)"
}

libfaketime_dates_the_program_and_not_its_events()
{
	alike 'what=traced' faketime '2001-02-03 04:05:06' date +%Y
	grep -q 2001 out || fail "$(cat out)"
	"$pxtrace" print run.ptl >told
	awk '$1 < 0 || $1 > 300 { exit 1 }' told || fail "$(cat told)"
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

# ---- Compiled with -finstrument-functions ----

instrumented()
{
	need cc
	archive=$PXT_BUILD/sysevents/libptrace-function.a
	[ -e "$archive" ] && [ -e "$PXT_BUILD/libptrace.so.0" ] || { echo 'no library for that in this build: skipped'; exit 77; }
	grep -q 'libc\.so\.6' "$PXT_BUILD/libptrace.so.0" || { echo 'the library is for another C library than cc: skipped'; exit 77; }
	cat >work.c <<-'END'
	static int inner(int n) { return n + 1; }
	int outer(int n) { return inner(n) + inner(n); }
	int main(void) { return outer(1) != 4; }
	END
	cc -O0 -g -finstrument-functions work.c "$archive" "$PXT_BUILD/libptrace.so.0" \
		-Wl,-rpath,"$PXT_BUILD" -o work || fail 'cannot be linked'
}

functions_are_told_as_they_begin_and_end()
{
	instrumented
	PXTRACE_OUT=work.ptl ./work || fail 'another result'
	run 0 print --event 'posix_trace_function_*' work.ptl
	lines 8
	[ "$(grep -c function_enter out)" -eq 4 ] || fail 'not four begins'
	run 0 stat work.ptl
	out_has 'posix_trace_function'
}

where_nobody_traces_the_program_is_as_it_was()
{
	instrumented
	./work || fail 'another result'
}

"$case"
