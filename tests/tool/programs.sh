#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pxtrace run with programs of Debian's: each once plain and once traced, with the same output and exit
# status; as many events as an independent count; the law exact. (LPT-30, QNX-51)
# timeout: 120

. "$(dirname "$0")/common.sh"
counter=$PXT_BUILD/tests/libcounter.so
[ -e "$PXT_BUILD/sysevents/libptrace-preload.so" ] && [ -e "$counter" ] || {
	echo 'no library that is loaded before others in this build: skipped'
	exit 77
}
unset PXTRACE_PRELOAD LD_PRELOAD

# make_input: two megabytes that can be compressed
make_input() { seq 300000 >input; }

# same PROGRAM...: traced, it does what it does
same()
{
	"$@" >plain 2>plain_err
	plain_status=$?
	COUNTER=$here/count LD_PRELOAD=$counter "$pxtrace" run -q -o run.ptl --only mutex,threads -- "$@" >traced 2>traced_err
	status=$?
	[ $status -eq $plain_status ] || fail "status $status, not $plain_status"
	cmp -s plain traced || fail 'other output'
	"$pxtrace" check run.ptl >out 2>err || fail 'the log is not sound'
	grep -q 'lost 0 ' out || fail 'events were lost'
}

# counted: as many locks as reached the C library (each lock is tried first, and asked for where it waits)
counted()
{
	grep -v '^pxtrace ' count >program_count
	read -r program locks tries <program_count || fail 'no count'
	waits=$("$pxtrace" print --event posix_trace_mutex_wait run.ptl | wc -l)
	events=$("$pxtrace" print --event posix_trace_mutex_lock run.ptl | wc -l)
	[ $((locks + tries - waits)) -eq "$events" ] ||
		fail "$events events; $locks locks and $tries tries reached the C library, $waits after a wait"
}

xz_compresses_to_the_same_bytes()
{
	need xz
	make_input
	same xz -T2 -c input
	counted
}

zstd_compresses_to_the_same_bytes()
{
	need zstd
	make_input
	same zstd -q -T2 -c input
	counted
}

pigz_compresses_to_the_same_bytes()
{
	need pigz
	make_input
	same pigz -n -p 2 -c input
	counted
}

threads_of_python_say_the_same()
{
	cat >threads.py <<-'END'
	import threading
	total = []
	def work():
	    for turn in range(30):
	        total.append(sum(range(3000)))
	threads = [threading.Thread(target=work) for number in range(3)]
	for thread in threads:
	    thread.start()
	for thread in threads:
	    thread.join()
	print(len(total), sum(total))
	raise SystemExit(3)
	END
	[ -x /usr/bin/python3 ] || { echo 'no python3: skipped'; exit 77; }
	same /usr/bin/python3 threads.py
	counted
}

sqlite_answers_the_same()
{
	need sqlite3
	same sqlite3 :memory: 'create table t(n); insert into t values (1), (2), (3); select sum(n) from t;'
	counted
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
	"$pxtrace" run -q -o run.ptl -- ./wait >out 2>err || fail 'another status'
	out_has 1
	"$pxtrace" print --event 'posix_trace_call_*' run.ptl >out
	grep -q 'call=futex_wait' out || fail 'no wait'
}

"$case"
