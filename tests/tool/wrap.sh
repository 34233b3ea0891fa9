#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Wrappers of the C library's functions (sysevents/wrap/): a program behaves as without them, by either door,
# and they tell what it does. (LPT-30, QNX-22, QNX-24, SHARK-37, SHARK-38, SHARK-43, ZEP-05, ZEP-27)

. "$(dirname "$0")/common.sh"
# An answer is one line.
export COLUMNS=9999
tests=$PXT_BUILD/tests
preload=$PXT_BUILD/sysevents/libptrace-preload.so
need_preload "$tests/behave"
unset LD_PRELOAD
PXTRACE_PRELOAD=$preload
export PXTRACE_PRELOAD

# traced STATUS OPTIONS... -- PROGRAM...: the log is run.ptl
traced()
{
	wanted=$1
	shift
	run "$wanted" run -q -o run.ptl "$@"
}
# events PATTERN [FILE]: as lines in ./events; count of them
events() { "$pxtrace" print --event "posix_trace_$1" "${2:-run.ptl}" | grep -v 'LOST HERE \*\*\*$' >events; }
count() { grep -c -- "$1" events; }
# same OPTIONS... -- WORDS...: plain and traced, output and status
same()
{
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	"$tests/behave" "$@" >plain 2>&1
	[ $? -eq 5 ] || fail 'the program does not run'
	# shellcheck disable=SC2086
	"$pxtrace" run -q -o run.ptl $options -- "$tests/behave" "$@" >out 2>&1
	[ $? -eq 5 ] || fail "another status under $options"
	cmp -s plain out || fail "another output: $(diff plain out | head -n 5)"
	sound run.ptl
}

# QNX-22
each_kind_of_mutex_behaves_as_without()
{
	same --all -- kinds
	grep -q ': 131$' plain || fail 'no mutex that cannot be repaired'
	grep -q ': 130$' plain || fail 'no mutex whose holder died'
	events process
	made=$(count 'what=memory .*size=40 ')
	[ "$made" -ge 6 ] && [ $((made % 2)) -eq 0 ] || fail "$made begins and ends of mutexes"
	same -- kinds
}

# LPT-30
condition_variables_of_both_ages_work_and_are_told()
{
	same -- conditions
	events 'cond_*'
	# One of the present, one of former times; the clock's wait is there for the present alone.
	[ "$(count 'result=110')" -eq 3 ] || fail "$(count 'result=110') waits that timed out, not 3"
	[ "$(count cond_broadcast)" -eq 2 ] || fail 'other broadcasts than 2'
	[ "$(count cond_wait)" -eq "$(count cond_resume)" ] || fail 'a wait without its end'
}

# QNX-22, LPT-30
the_locks_and_threads_of_c11_behave_as_without_and_are_told()
{
	same -- c11
	same --all -- c11
	grep -q 'mtx_trylock(&c11_mutex): 1$' plain || fail 'no lock that was busy'
	events 'mutex_lock'
	tries=$(count 'result=16$\|result=16 ')
	late=$(count 'result=110')
	[ "$tries" -eq 2 ] && [ "$late" -eq 2 ] || fail "$tries busy, $late late, not 2 and 2"
	[ "$(count .)" -eq 14 ] || fail "$(count .) locks, not 14"
	events 'mutex_unlock'
	# Two that are refused have a second event, which says so.
	[ "$(count .)" -eq 14 ] && [ "$(count 'result=1 \|result=1$')" -eq 2 ] || fail "$(count .) unlocks, not 14"
	events 'cond_*'
	[ "$(count 'result=110')" -eq 1 ] || fail 'no wait that timed out'
	[ "$(count cond_wait)" -eq "$(count cond_resume)" ] || fail 'a wait without its end'
	[ "$(count cond_broadcast)" -eq 1 ] && [ "$(count cond_signal)" -eq 2 ] || fail 'other signals'
	events 'process'
	[ "$(count 'what=thread_create')" -eq 3 ] && [ "$(count 'what=thread_end')" -eq 3 ] || fail 'other threads than 3'
	events 'call_exit'
	[ "$(count 'call=join ')" -eq 3 ] || fail 'other joins than 3'
	[ "$(count 'call=sleep ')" -eq 2 ] && [ "$(count 'call=sleep .*result=0')" -eq 1 ] || fail 'other sleeps than 2'
	# Other objects may be the C library's.
	sed -n 's/.*call=once .*\(object=[^ ]*\).*/\1/p' events >once
	[ -s once ] && [ -z "$(sort once | uniq -d)" ] || fail 'a call that found it done is told'
	[ "$(count 'call=once .*result=0 ')" -eq "$(wc -l <once)" ] || fail 'one that ran its function failed'
}

# The lock's taking was free, so it is counted; who has it is told when another thread does not get it.
a_lock_that_is_tried_in_vain_is_told_by_default_with_its_holder()
{
	same -- c11
	events 'mutex_lock'
	[ "$(count 'result=16$\|result=16 ')" -ge 1 ] || fail 'no lock that was busy'
	events process
	[ "$(count 'what=holds ')" -ge 1 ] || fail 'nobody had it'
}

# QNX-22
a_cancelled_thread_leaves_no_lock_and_tells_the_end_of_its_wait()
{
	same -- cancelled
	events 'cond_resume'
	[ "$(count 'result=125')" -eq 1 ] || fail 'the wait for a condition has no end'
	events 'call_exit'
	for call in read sem_wait sleep poll; do
		[ "$(count "call=$call .*result=-125")" -eq 1 ] || fail "$call has no end"
	done
}

# SHARK-36
changes_of_a_threads_priority_are_told()
{
	same --only threads -- priorities
	events 'call_exit'
	[ "$(count 'call=priority .*result=0 ')" -eq 6 ] && [ "$(count 'call=priority .*result=-22 ')" -eq 1 ] ||
		fail 'not six and one that is refused'
	events 'call_enter'
	[ "$(count 'call=priority .*size=0')" -eq 4 ] && [ "$(count 'call=priority .*size=127')" -eq 1 ] &&
		[ "$(count 'call=priority .*size=1000')" -eq 1 ] ||
		fail 'other priorities'
}

results_and_errno_are_those_of_the_c_library()
{
	same -- errors
	events 'call_exit'
	[ "$(count 'call=read .*result=-9 ')" -ge 1 ] || fail 'no error number of a read'
}

files_that_are_made_have_the_modes_that_were_asked_for()
{
	same -- modes
	grep -q '^mode 620$' plain || fail 'no file'
	grep -q '^mode 630$' plain || { echo 'no files without a name here: skipped'; exit 77; }
}

# SHARK-37
limits_of_waits_for_descriptors_are_told_in_milliseconds()
{
	same -- limits
	events 'call_enter'
	for call in poll select; do
		[ "$(count "call=$call .*size=1020 ")" -eq 2 ] || fail "$(grep "call=$call " events)"
	done
	[ "$(count 'call=epoll_wait .*size=1020 ')" -eq 1 ] || fail "$(grep epoll events)"
}

# asked PATTERN FROM TO: the events that match were to last so many nanoseconds, each at least FROM, less than TO
asked()
{
	grep -- "$1" events >these || fail "no $1"
	sed -n 's/.*asked_ns=//p' these | awk -v from="$2" -v to="$3" '$1 < from || $1 >= to { exit 1 }' ||
		fail "not from $2 to $3: $(cat these)"
	! grep -qv 'asked_ns=' these || fail "no limit: $(cat these)"
}

# Between the date and the event only time passes: what is left of 8 ms may be any less.
what_a_wait_asks_for_is_told_in_nanoseconds_from_then_on()
{
	same -- dates
	events 'c*_*'
	grep 'call_enter.*call=sleep ' events >sleeps
	sed -n 1p sleeps >events
	asked call=sleep 1 8000001
	sed -n 2p sleeps >events
	asked call=sleep -900000000 0
	sed -n 3p sleeps >events
	asked call=sleep 500000 500001
	events process
	[ "$(count 'what=semaphore  number=0 ')" -eq 1 ] || fail 'no semaphore was made'
	events 'c*_*'
	asked 'call_enter.*call=sem_wait' 1 6000001
	asked cond_wait 1 4000001
	asked 'call_enter.*call=timer' 1 10000001
	# It went off after 10 ms, and was not looked at for 35; a file that has its number has no limit.
	grep 'call_enter.*call=read .*size=8' events >reads
	sed -n 1p reads >events
	asked call=read -900000000 -24999999
	sed -n 2p reads >events
	asked call=read -900000000 10000001
	sed -n 3p reads | grep -q 'size=8$' || fail "a limit of a file: $(cat reads)"
}

what_descriptors_are_is_told_and_said_of_waits()
{
	same -- names
	events 'process'
	[ "$(count 'what=descriptor .*name="made"$')" -eq 1 ] || fail 'a file without its path'
	[ "$(count 'what=descriptor  number=100 .*name=""$')" -eq 1 ] || fail 'no copy'
	[ "$(count 'what=descriptor .*name="127.0.0.1:0"$')" -eq 1 ] || fail 'no address of its own'
	[ "$(count 'what=descriptor .*name="127.0.0.1:[1-9][0-9]*"$')" -eq 3 ] ||
		fail "other peers than 3: $(grep 127 events)"
	[ "$(count 'what=descriptor .*name="a pipe"$')" -eq 2 ] || fail 'not both ends of a pipe'
	[ "$(count 'what=descriptor .*name="behave.socket"$')" -eq 1 ] || fail 'no path of a socket'
	# A number is never called what a stream that was closed had been.
	number=$(sed -n 's/.*what=descriptor  number=\([0-9]*\) .*name="an epoll set"$/\1/p' events)
	[ -n "$number" ] || fail 'no epoll set'
	eventfd=$(sed -n 's/.*what=descriptor  number=\([0-9]*\) .*name="an eventfd"$/\1/p' events)
	events 'call_exit'
	[ "$(count "call=close  object=0x$(printf %x "$number")  result=0")" -ge 1 ] || fail 'no end of a stream'
	[ "$(count "call=write  object=0x$(printf %x "$eventfd")  result=8")" -eq 1 ] || fail 'no eventfd_write()'
	[ "$(count "call=read  object=0x$(printf %x "$eventfd")  result=-11")" -eq 1 ] || fail 'no eventfd_read()'
	run 0 why run.ptl
	grep -q 'was in read from 127\.0\.0\.1:[1-9]' out || fail "nobody says whose: $(head -n 3 out)"
}

a_name_that_a_thread_gets_from_another_or_gives_itself_is_told()
{
	same -- renamed
	events process
	tid=$(sed -n 's/.*what=thread_begin  number=\([0-9]*\) .*/\1/p' events | tail -n 1)
	for name in 'by another' 'by itself, at l'; do
		[ "$(count "what=thread_name  number=$tid .*name=\"$name\"\$")" -ge 1 ] ||
			fail "$name of $tid: $(grep thread_ events)"
	done
}

a_mutex_that_another_process_has_is_told_with_the_place_where_it_took_it()
{
	same --only mutex -- shared
	run 0 why --locks run.ptl
	grep -q 'waited .* while .* had it, taken in have_shared' out || fail "$(cat out)"
}

queues_and_semaphores_of_system_v_are_told()
{
	same --only sem,mq -- queues
	events call_exit
	[ "$(count 'call=semop .*result=0 ')" -eq 2 ] || fail 'not two operations that succeeded'
	[ "$(count 'call=semop .*result=-11 .*took_us=\([2-9][0-9]\{3\}\|[1-9][0-9]\{4,\}\)')" -eq 1 ] || fail 'none that was waited for'
	[ "$(count 'call=msgsnd .*result=0 ')" -eq 1 ] || fail 'no message was sent'
	[ "$(count 'call=msgrcv .*result=8 ')" -eq 1 ] || fail 'no message was received'
	[ "$(count 'call=msgrcv .*result=-42 ')" -eq 1 ] || fail 'nothing of the one that was not there'
}

a_library_that_stops_the_programs_clock_does_not_stop_ours()
{
	need cc
	cat >still.c <<-'END'
	#include <time.h>
	int clock_gettime(clockid_t clock, struct timespec *now)
	{
		(void)clock;
		now->tv_sec = 1000;
		now->tv_nsec = 0;
		return 0;
	}
	END
	cat >sleeps.c <<-'END'
	#include <time.h>
	int main(void)
	{
		struct timespec time = { 0, 3000000 }, begin, end;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		nanosleep(&time, 0);
		clock_gettime(CLOCK_MONOTONIC, &end);
		return end.tv_sec - begin.tv_sec + end.tv_nsec - begin.tv_nsec != 0;
	}
	END
	cc -shared -fPIC still.c -o still.so && cc sleeps.c -o sleeps || fail 'cc'
	for order in '$PWD/still.so:$LD_PRELOAD' '$LD_PRELOAD:$PWD/still.so'; do
		traced 0 -- sh -c "LD_PRELOAD=$order; export LD_PRELOAD; exec ./sleeps"
		events call_exit
		sed -n 's/.*call=sleep .*took_us=//p' events | awk '$1 >= 3000 { found = 1 } END { exit !found }' ||
			fail "$order: $(grep sleep events)"
	done
}

locks_of_the_kernels_with_priority_inheritance_are_told_as_futexes()
{
	same -- inherited
	grep -q 'UNLOCK_PI.*: 0$' plain || { echo 'no such locks here: skipped'; exit 77; }
	events 'call_exit'
	[ "$(count 'call=futex_wait .*result=0 ')" -eq 1 ] || fail 'a lock that was free is not told'
	[ "$(count 'call=futex_wait .*result=-35 ')" -eq 1 ] || fail 'one that would be waited for for ever is not'
	[ "$(count 'call=futex_wake ')" -eq 1 ] || fail 'no unlock'
}

# SHARK-43
handlers_are_the_programs_own_and_are_told()
{
	same -- handlers
	events 'signal'
	[ "$(count 'what=begin ')" -eq 4 ] || fail 'other beginnings than 4'
	# Who sent it is known of all that were not set by signal(), or for once.
	[ "$(count 'what=begin .*sender=[1-9]')" -eq 2 ] || fail "other senders: $(cat events)"
	# One of them goes away with a jump.
	[ "$(count 'what=end ')" -eq 3 ] || fail 'other ends than 3'
	[ "$(count 'what=sent ')" -eq 4 ] || fail 'other sent ones than 4'
}

# SHARK-43
the_handler_of_the_last_signal_is_told()
{
	same -- last_signal
	events 'signal'
	[ "$(count 'what=begin ')" -eq 1 ] && [ "$(count 'what=end ')" -eq 1 ] || fail 'no begin, or no end'
}

# QNX-24
a_child_that_has_its_parents_memory_leaves_it_as_it_was()
{
	same -- borrowed
	events 'process'
	[ "$(count 'what=traced')" -eq 2 ] || fail 'the program that the child became is not traced'
	[ "$(count 'what=exec')" -eq 0 ] || fail 'its parent is told to have become it'
}

# QNX-24
programs_that_are_started_in_one_step_are_told()
{
	same -- spawned
	events 'process'
	[ "$(count 'what=fork')" -eq 3 ] || fail 'other children than 3'
	# The first child that is forked attaches, and executes a program.
	[ "$(count 'what=exec')" -eq 1 ] || fail 'other programs than 1'
	[ "$(count 'what=exit  number=8')" -eq 2 ] || fail 'other ends than 2'
	[ "$(count 'what=exit  number=5')" -eq 1 ] || fail 'the program has no end'
}

# ZEP-05
calls_before_all_constructors_and_after_all_destructors_work()
{
	LD_PRELOAD=$tests/libbehaveearly.so "$pxtrace" run -q -o run.ptl -- "$tests/behave" >out 2>err
	[ $? -eq 5 ] || fail 'another status'
	# The library is loaded into the command itself as well, which is silent about it.
	[ "$(grep -c 'before: 0 wrong' out)" -ge 1 ] || fail 'calls before'
	[ "$(grep -c 'after: 0 wrong' out)" -ge 1 ] || fail 'calls after'
	grep -q '[1-9] wrong' out && fail 'a call went wrong'
	return 0
}

a_plugin_is_found_by_the_path_of_its_program_and_told()
{
	same -- plugin
	grep -q 'plugin found' plain || fail 'no plugin'
	events 'process'
	[ "$(count 'what=image .*libbehaveplugin')" -eq 1 ] || fail 'it does not come'
	[ "$(count 'what=image_build')" -eq "$(count 'what=image ')" ] || fail 'images without their build'
	[ "$(count 'what=image_gone .*libbehaveplugin')" -eq 1 ] || fail 'it does not go'
}

names_outlive_a_touch_and_a_library_that_was_loaded_by_a_relative_path()
{
	need cc
	need addr2line
	cat >plugin.c <<-'END'
	#include <pthread.h>
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	void plug(void);
	void plug(void) { pthread_mutex_lock(&mutex); }
	END
	cat >program.c <<-'END'
	#include <dlfcn.h>
	#include <pthread.h>
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static void lock(void) { pthread_mutex_lock(&mutex); }
	int main(void)
	{
		lock();
		void *plugin = dlopen("./plugin.so", RTLD_NOW);
		((void (*)(void))dlsym(plugin, "plug"))();
		return 0;
	}
	END
	cc -g -O0 -shared -fPIC -Wl,--build-id plugin.c -o plugin.so || fail 'no plugin'
	cc -g -O0 -Wl,--build-id program.c -o program -ldl -pthread || fail 'no program'
	traced 0 --all -- ./program
	touch -d '1 hour' plugin.so program
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' run.ptl
	[ "$(cat out)" = "$(printf 'lock (program.c:4)\nplug (plugin.c:4)')" ] || fail 'other places'
	cc -g -O1 -shared -fPIC -Wl,--build-id plugin.c -o plugin.so
	run 0 print --address --event 'posix_trace_mutex_lock' --format '{address}' run.ptl
	grep -q '^plugin.so+0x' out || fail 'names of another build'
	err_has "$PWD/./plugin.so: is another build than the one that was traced (build-id "
}

# SHARK-38
a_long_wait_tells_the_functions_that_called()
{
	traced 0 --stack 1 --only mutex -- "$tests/victim" contend
	events 'mutex_lock'
	# A busy machine makes more waits than one long.
	long=$(count 'waited_us=[0-9]\{4,\}')
	[ "$long" -ge 1 ] || fail 'no long wait'
	[ "$(count 'caller1=0x[0-9a-f]*  caller2=')" -eq "$long" ] || fail 'no callers, or of a short wait'
	# One of them is of the program; on a busy machine a library's may be long, too.
	callers=$(sed -n 's/.*caller1=\(0x[0-9a-f]*\).*/\1/p' events)
	events 'process'
	low=$(sed -n 's/.*what=image .*address=\(0x[0-9a-f]*\) .*victim"$/\1/p' events)
	bytes=$(sed -n 's/.*what=image .*size=\([0-9]*\) .*victim"$/\1/p' events)
	for caller in $callers; do
		[ $((caller - low)) -ge 0 ] && [ $((caller - low)) -lt "$bytes" ] && return 0
	done
	fail "no caller is in the program at $low: $callers"
}

# SHARK-38: a millisecond of 900
a_wait_that_is_shorter_than_asked_for_tells_no_functions_that_called()
{
	traced 0 --stack 900 --only sleep -- "$tests/victim" each
	events 'call_exit'
	[ "$(count 'call=sleep .*took_us=[0-9]\{4,\}')" -eq 1 ] || fail 'no wait of a millisecond'
	[ "$(count caller1)" -eq 0 ] || fail 'functions that called'
}

a_wait_of_a_millisecond_tells_a_few_functions_that_called()
{
	traced 0 --only sleep -- "$tests/victim" each
	events 'call_exit'
	[ "$(count 'call=sleep .*took_us=[0-9]\{4,\}.*caller1=0x')" -eq 1 ] || fail 'nobody called'
	[ "$(count caller4)" -eq 0 ] || fail 'all who called'
	traced 0 --stack 0 --only sleep -- "$tests/victim" each
	events 'call_exit'
	[ "$(count caller1)" -eq 0 ] || fail 'they are not wanted'
}

# A coroutine's stack: above its end there is nothing, though the frame that calls says that it goes on.
a_program_whose_tables_are_not_true_runs_on_with_call_stacks()
{
	need cc
	case $(uname -m) in x86_64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	cat >program.c <<-'END'
	#include <sys/mman.h>
	#include <unistd.h>
	#define PIECE ((size_t)64 << 10)
	void call_on(void *top);
	__asm__(".text\n.globl call_on\ncall_on:\n"
	        ".cfi_startproc\n"
	        "push %rbx\n"
	        ".cfi_def_cfa_offset 16\n.cfi_offset %rbx, -16\n"
	        "mov %rsp, %rbx\nmov %rdi, %rsp\ncall called_there\nmov %rbx, %rsp\n"
	        "pop %rbx\nret\n"
	        ".cfi_endproc");
	__attribute__((used)) void called_there(void) { usleep(20000); (void)getpid(); }
	int main(void)
	{
		char *memory = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED || mprotect(memory + PIECE, PIECE, PROT_NONE) != 0)
			return 1;
		call_on(memory + PIECE);
		return 5;
	}
	END
	cc -O2 program.c -o program || fail 'it does not compile'
	traced 5 --stack 1 -- ./program
	events 'call_exit'
	[ "$(count 'call=sleep .*caller1=0x')" -eq 1 ] || fail 'not the function that called'
}

# Its number of functions is another one, or the first record lies far away.
a_program_whose_table_of_functions_is_damaged_runs_on()
{
	need cc
	need objcopy
	case $(uname -m) in x86_64 | aarch64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	printf '%s\n' '#include <unistd.h>' 'int main(void) { usleep(20000); return 5; }' >program.c
	cc -O0 program.c -o program || fail 'it does not compile'
	objcopy --dump-section .eh_frame_hdr=table program
	for first in 8 16; do
		"$PXT_PYTHON" - $first <<-'END' || fail 'no other table'
			import sys
			table = bytearray(open("table", "rb").read())
			for at in range(int(sys.argv[1]), len(table) if sys.argv[1] == "16" else 9, 8):
			    table[at:at + 4] = b"\x7f" * 4
			open("damaged", "wb").write(table)
		END
		objcopy --update-section .eh_frame_hdr=damaged program damaged.out 2>err || fail 'it does not take it'
		for stack in '' '--stack 1'; do
			# shellcheck disable=SC2086
			traced 5 $stack -- ./damaged.out
		done
	done
}

# Through a signal's frame, a frame of 100 kB, and one that the function aligned.
call_stacks_go_through_any_frame_that_compilers_and_the_kernel_make()
{
	need cc
	need addr2line
	case $(uname -m) in x86_64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	cat >program.c <<-'END'
	#include <pthread.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <unistd.h>
	static volatile size_t bytes = 100000;
	static void take(int signal) { (void)signal; usleep(20000); (void)getpid(); }
	__attribute__((noinline)) void large(void)
	{
		char volatile room[100000];

		room[0] = room[bytes - 1] = 1;
		raise(SIGUSR1);
		room[0] = 2;
	}
	__attribute__((noinline)) void aligned(int number, ...)
	{
		char volatile room[64] __attribute__((aligned(64)));
		char volatile *more = __builtin_alloca(bytes / 1000 + (size_t)number);

		room[0] = more[0] = 1;
		large();
		room[0] = more[0] = 2;
	}
	static __attribute__((noinline)) void *work(void *nothing)
	{
		aligned(1);
		return nothing;
	}
	int main(void)
	{
		struct sigaction action = { .sa_handler = take, .sa_flags = SA_ONSTACK };
		stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };
		pthread_t thread;

		sigaction(SIGUSR1, &action, NULL);
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		sigaltstack(&own, NULL);
		work(NULL);
		return 0;
	}
	END
	cc -O1 -g program.c -o program || fail 'it does not compile'
	traced 0 --stack 10 --only sleep -- ./program
	run 0 print --address --event posix_trace_call_exit run.ptl
	sed -n 's/ *called by \([a-z_]*\).*/\1/p' out | grep -x 'large\|aligned\|work\|main' | tr '\n' ' ' >said
	said='large aligned work large aligned work main '
	[ "$(cat said)" = "$said" ] || fail "others called: $(cat said)"
}

# As a just-in-time compiler writes it: push %rbp, mov %rsp,%rbp, call *%rdi, pop %rbp, ret.
call_stacks_go_by_frame_pointers_where_a_function_has_no_table()
{
	need cc
	need addr2line
	case $(uname -m) in x86_64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	cat >program.c <<-'END'
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	__attribute__((noinline)) void leaf(void) { usleep(20000); (void)getpid(); }
	__attribute__((noinline)) void host(void *at)
	{
		void (*made)(void (*function)(void)) = (void (*)(void (*)(void)))at;

		made(leaf);
		(void)getpid();
	}
	int main(void)
	{
		void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return 1;
		host(memcpy(at, code, sizeof(code)));
		return 5;
	}
	END
	cc -O1 -g -fno-omit-frame-pointer program.c -o program || fail 'it does not compile'
	traced 5 --stack 10 --only sleep -- ./program
	run 0 print --address --event posix_trace_call_exit run.ptl
	sed -n 's/ *called by \([a-z_0-9]*\).*/\1/p' out | sed 's/^0x.*/made/' | head -n 3 | tr '\n' ' ' >said
	[ "$(cat said)" = 'made host main ' ] || fail "others called: $(cat said)"
}

# As programs for Armv8.3 and later have them: the address is no place until the signature is out.
return_addresses_that_are_signed_lead_to_the_callers()
{
	need aarch64-linux-gnu-gcc
	need qemu-aarch64
	cat >signed.c <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	#include "format/cfi_walk.h"
	#include <sys/auxv.h>
	static uint64_t callers[2];
	static __attribute__((noinline)) unsigned ask(void)
	{
		struct pxt_cfi_state state = { .known = 0 };

		pxt_cfi_here(&state, getauxval(AT_RANDOM));
		return pxt_cfi_callers(&state, __builtin_return_address(0), callers, 2, 4, pxt_cfi_own);
	}
	static __attribute__((noinline)) unsigned serve(void) { return ask() + 3; }
	static __attribute__((noinline)) unsigned store(void) { return serve() + 1; }
	int main(void)
	{
		uint64_t begin = (uint64_t)(uintptr_t)store;

		return store() == 6 && callers[0] - begin < 64 ? 5 : 1;
	}
	END
	aarch64-linux-gnu-gcc -O1 -static -Wl,--eh-frame-hdr -mbranch-protection=pac-ret -I"$PXT_SOURCE" \
		-I"$PXT_SOURCE/include" -I"$PXT_BUILD/private" signed.c -o signed || fail 'it does not compile'
	qemu-aarch64 -cpu max ./signed
	[ $? -eq 5 ] || fail 'others called'
}

# The compiler leaves no frame pointers here.
where_a_thread_runs_is_told_with_the_functions_that_called()
{
	need cc
	need addr2line
	case $(uname -m) in x86_64 | aarch64) ;; *) echo 'not on this machine: skipped'; exit 77 ;; esac
	cat >program.c <<-'END'
	#include <time.h>
	static __attribute__((noinline)) long spin(long n)
	{
		for (volatile long i = 0; i < n; i++)
			;
		return n + 1;
	}
	static __attribute__((noinline)) long work(long n) { return spin(n) + spin(n); }
	int main(void)
	{
		long sum = 0;

		while (clock() < CLOCKS_PER_SEC / 5)
			sum += work(20000);
		return sum == 0;
	}
	END
	cc -g -O2 -fomit-frame-pointer program.c -o program
	traced 0 -- ./program
	run 0 print --address --event cpu_sample run.ptl
	grep -q 'cpu_sample' out || { echo 'the kernel does not tell where threads run: skipped'; exit 77; }
	grep -A 2 'cpu_sample *spin (program.c' out | grep -A 1 'called by work (program.c:8)' |
		grep -q 'called by main (program.c:14)' || fail "others called: $(tail -n 6 out)"
}

# ZEP-27
what_the_library_does_itself_is_not_told()
{
	traced 0 -- "$tests/victim" locks
	events 'call_*'
	[ ! -s events ] || fail 'calls of the library'
	events 'process'
	[ "$(count 'what=thread_begin')" -eq 1 ] || fail 'a thread of the library'
	[ -x "$tests/itself" ] || return 0
	traced 3 -- "$tests/itself"
	events 'process'
	[ "$(count 'what=thread_')" -eq 2 ] || fail 'a thread of the library in the program'
	events 'call_enter'
	[ "$(wc -l <events)" -eq 1 ] || fail 'calls of the library in the program'
}

c_plus_plus_locks_are_counted_exactly()
{
	[ -x "$tests/standard" ] || { echo 'no C++ compiler: skipped'; exit 77; }
	traced 6 --only locks -- "$tests/standard"
	[ "$(cat out)" = '1800 late' ] || fail 'another output'
	[ "$("$pxtrace" print --event posix_trace_process run.ptl |
		sed -n 's/.*what=taken .*size=\([0-9]*\)  name="mutex".*/\1/p' | awk '{ n += $1 } END { print n }')" -eq 801 ] ||
		fail "$(grep -c . events) locks, not 801"
	events 'process'
	[ "$(count 'what=thread_end')" -eq 8 ] || fail 'other ends of threads than 8'
}

python_threads_and_children_run_as_without()
{
	cat >threads.py <<'END'
import subprocess
import threading
lock, total = threading.Lock(), 0
def add():
    global total
    for _ in range(100):
        with lock:
            total += 1
threads = [threading.Thread(target=add) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(total, subprocess.run(["sh", "-c", "echo child"], capture_output=True).stdout)
END
	[ -x /usr/bin/python3 ] || { echo 'no python3 of the system: skipped'; exit 77; }
	traced 0 -- /usr/bin/python3 threads.py
	[ "$(cat out)" = "400 b'child\\n'" ] || fail 'another output'
	events 'process'
	[ "$(count 'what=thread_begin')" -ge 6 ] || fail 'a thread is not told'
}

rust_waits_are_told_as_futexes()
{
	need rustc
	cat >locks.rs <<'END'
use std::{sync::{atomic::{AtomicBool, Ordering::SeqCst}, Arc, Mutex}, thread, time::Duration};
static COMES: AtomicBool = AtomicBool::new(false);
fn main() {
    let sum = Arc::new(Mutex::new(0));
    let held = sum.lock().unwrap();
    let other = { let sum = sum.clone(); thread::spawn(move || { COMES.store(true, SeqCst); *sum.lock().unwrap() += 1 }) };
    while !COMES.load(SeqCst) { thread::sleep(Duration::from_millis(1)) }
    thread::sleep(Duration::from_millis(50));
    drop(held);
    other.join().unwrap();
    println!("{}", *sum.lock().unwrap());
    std::process::exit(4);
}
END
	rustc -O -o locks locks.rs 2>err || { echo 'rustc does not work: skipped'; exit 77; }
	traced 4 --only futex -- ./locks
	[ "$(cat out)" = 1 ] || fail 'another output'
	events 'call_exit'
	[ "$(count 'call=futex_wait')" -ge 1 ] || fail 'no wait'
	[ "$(count 'call=futex_wake')" -ge 1 ] || fail 'no wake-up'
	run 0 why run.ptl
	grep -q ' waited .* for futex .*, until .* woke it' out || fail 'who woke it is not told'
}

# ---- The linker's door ----

# An archive and its flags, in a static program, whose log the environment asks for.
a_static_program_is_traced_by_the_linkers_door()
{
	[ -x "$tests/behave_linked" ] || { echo 'no static C library: skipped'; exit 77; }
	"$tests/behave" errors handlers c11 >plain 2>&1
	PXTRACE_OUT=run.ptl "$tests/behave_linked" errors handlers c11 >out 2>&1
	[ $? -eq 5 ] || fail 'another status'
	cmp -s plain out || fail "another output: $(diff plain out | head -n 5)"
	events 'signal'
	[ "$(count 'what=begin ')" -eq 4 ] || fail 'other handlers than 4'
	lock=$(nm "$tests/behave_linked" | sed -n 's/^0*\([0-9a-f]*\) . c11_mutex$/\1/p')
	events 'mutex_lock'
	[ "$(count "lock=0x$lock ")" -eq 14 ] || fail "$(count "lock=0x$lock ") locks of C11, not 14"
	PXTRACE_OUT=locks.ptl "$tests/victim_linked" locks contend >out 2>&1 || fail 'another status'
	lock=$(nm "$tests/victim_linked" | sed -n 's/^0*\([0-9a-f]*\) . first_lock$/\1/p')
	events 'mutex_lock' locks.ptl
	[ "$(count "lock=0x$lock ")" -eq 7 ] || fail "$(count "lock=0x$lock ") locks, not 7"
	events 'process' locks.ptl
	[ "$(count 'what=thread_begin')" -eq 2 ] || fail 'threads of the library are told'
	events 'call_*' locks.ptl
	[ "$(count 'call=\(open\|write\|close\)')" -eq 0 ] || fail 'calls of the library are told'
}

# Each name that the linker is told has a wrapper, and each wrapper is told.
names_for_the_linker_are_those_of_the_archive()
{
	[ -e "$PXT_BUILD/libptrace-wrap.pc" ] || { echo 'nothing to install: skipped'; exit 77; }
	tr ' ' '\n' <"$PXT_BUILD/libptrace-wrap.pc" | sed -n 's/^-Wl,--wrap=//p' | sort >told
	nm -g --defined-only "$PXT_BUILD/sysevents/libptrace-wrap.a" |
		sed -n 's/.* T __wrap_//p' | sort >there
	cmp -s told there || fail "$(diff told there)"
	# libptrace is in it, with all of its names.
	for library in "$preload" "$PXT_BUILD/libptrace.so"; do
		nm -D --defined-only "$library" | sed 's/^[0-9a-f]* //' | sort -u >names
		[ "$library" = "$preload" ] && mv names all
	done
	[ "$(comm -13 all names)" = '' ] || fail "missing: $(comm -13 all names)"
	comm -23 all names >own
	sed -n 's/^T \([A-Za-z_0-9]*\).*/\1/p' own |
		grep -v '^_Fork$\|^_[eE]xit$\|^__libc_start_main$\|^vfork$\|^clone$' | sort -u >exported
	cmp -s told exported || fail "$(diff told exported)"
	grep -v '^[TA] ' own >out
	[ ! -s out ] || fail 'data among the names'
}

# Each library more is a tenth of what the start of a short process costs.
the_library_that_is_loaded_needs_the_c_library_alone()
{
	need readelf
	readelf -d "$preload" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >needed
	! grep -v '^libc\.so\|^ld-linux\|^libasan\|^libtsan\|^libubsan\|^libatomic' needed || fail 'others, too'
}

$case
