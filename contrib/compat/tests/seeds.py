#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of the seed papers, cut out of their text, compiled against the interfaces, and run.

usage: seeds.py NAME --seeds DIR --work DIR --cc "COMPILER FLAGS" --libraries "FILES" [--pxtrace FILE]

The cut-out text is not changed; the list below says which lines were added around it, and why.
Exit status 77: the papers are not here.
"""
import argparse
import errno
import glob
import os
import re
import shlex
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# What the papers leave out: (line, reason).
# ZEP-37, ZEP-38, ZEP-39: the programs of the Zephyr papers, and what must be added to each.
ZEPHYR_ADDED = (
    ("int res;", "example 1 assigns the result to a variable that it does not declare"),
    ("int ret = 0;", "example 1 compares 'ret' where it means 'res', and declares neither"),
    ("uint16_t event_id;", "example 1 passes its address and does not declare it"),
    ("uint32_t custom_data_1, custom_data_2;", "example 2's data is the reader's own"),
)
# The value of KERNEL_EVENT_LOGGER_CUSTOM_ID comes from the configuration (KEL_CUSTOM_ID).

ZEPHYR_SOURCE = """
#include <k_event_logger.h>
#include <misc/kernel_event_hooks.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace_np.h>
#include <unistd.h>

/* What each call came to, one line each, without a change to the text that makes it. */
static int seen(uint16_t *id, uint8_t *dropped, uint32_t *data, uint8_t *length)
{
	const int result = sys_k_event_logger_get_wait(id, dropped, data, length);

	printf("result %d id %u dropped %u length %u\\n", result, *id, *dropped, *length);
	fflush(stdout);
	return result;
}
#define sys_k_event_logger_get_wait seen

static void *collect(void *context)
{
	@ADDED1@
@EXAMPLE1@
	return context;
}

static void put_one(uint32_t custom_data_1, uint32_t custom_data_2)
{
@EXAMPLE2@
}

static void put_time(void)
{
@EXAMPLE3@
}

int main(int argc, char **argv)
{
	const struct timespec while_it_collects = { 0, 300000000 };
	trace_id_t stream;
	trace_attr_t attr;
	pthread_t thread;

	if (argc < 2 || posix_trace_attr_init(&attr) ||
	    posix_trace_create_withlog(0, &attr, open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666), &stream) ||
	    posix_trace_start(stream))
		return 1;
	for (uint32_t i = 0; i < 50; i++)
		put_one(i, i * 2);
	pthread_create(&thread, NULL, collect, NULL);
	nanosleep(&while_it_collects, NULL);
	put_one(50, 100);
	put_time();
	kernel_event_sleep(1, 15);
	kernel_event_context_switch(0x77);
	nanosleep(&while_it_collects, NULL);
	posix_trace_shutdown(stream);
	_exit(0); /* example 1 never ends */
}
"""

ZEPHYR_WANTED = (
    ["result 2 id 8 dropped 0 length 2", "unrecognized event id 8"] * 42
    # 8 of 50 found no room: the next one tells.
    + ["result 2 id 8 dropped 8 length 2", "unrecognized event id 8",
       "result 1 id 8 dropped 0 length 1", "unrecognized event id 8",
       # The length is not set again in the loop: one word is too small for a sleep event of three.
       f"result -{errno.EMSGSIZE} id 3 dropped 0 length 3", "result 3 id 3 dropped 0 length 3",
       "result 2 id 1 dropped 0 length 2"])


# SHARK-48: the example of the manual.
SHARK_ADDED = (
    ("int i;", "the loop's variable is not declared"),
    ("struct ... proc_table[10], exec_shadow; DWORD clk_per_msec;",
     "the kernel's own: two of ten tasks are there"),
)
# The network line is replaced by the line for the disk, as the comment behind it says.
SHARK_NETWORK = 'FTrace_OSD_init_udp(1, "192.168.1.10", "192.168.1.1");'
SHARK_DISK = 'FTrace_init_disk_writer("trace.dat", 0, NULL, NULL);'

SHARK_SOURCE = """
#include <FTrace.h>
#include <fcntl.h>
#include <trace_np.h>

static struct { int context; } proc_table[10] = { { 0 }, { 11 }, { 0 }, { 33 } };
static const int exec_shadow = 1;
static const unsigned clk_per_msec = 2596120;

static void example(void)
{
	int i;
@EXAMPLE@
	(void)f;
	(void)c;
}

int main(int argc, char **argv)
{
	trace_id_t stream;
	trace_attr_t attr;

	if (argc < 2 || posix_trace_attr_init(&attr) ||
	    posix_trace_create_withlog(0, &attr, open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666), &stream) ||
	    posix_trace_start(stream))
		return 1;
	example();
	posix_trace_shutdown(stream);
	return 0;
}
"""

# Code, parameter 1, parameter 2.
SHARK_FIRST = ((0xFB, 1, 0), (0x20, 11, 2596120), (0x60, 11, 1), (0x60, 33, 3), (0xFB, 0, 0))
SHARK_SECOND = ((0x01, 6000, 0), (0x30, 0, 0))


def fail(text):
    sys.exit(f"seeds.py: {text}")


def seed(folder, number):
    found = glob.glob(os.path.join(folder, f"{number}_*.txt"))
    if not found:
        print(f"paper {number} is not in {folder}: skipped")
        sys.exit(77)
    with open(found[0], encoding="latin-1") as text:
        return text.read()


def code_blocks(text, heading):
    """The blocks of a reStructuredText section that begins with @heading."""
    section = text[text.index(heading) + len(heading):]
    blocks = []
    for part in section.split(".. code-block:: c\n")[1:]:
        lines = []
        for line in part.split("\n"):
            if line.strip() and not line.startswith("   "):
                break
            lines.append(line)
        blocks.append("\n".join(lines))
    return blocks


def compile_and_run(args, source, name, *arguments):
    path = os.path.join(args.work, name)
    with open(path + ".c", "w", encoding="utf-8") as out:
        out.write(source)
    done = subprocess.run([*shlex.split(args.cc), "-D_POSIX_C_SOURCE=200809L", "-std=c11", path + ".c",
                           *shlex.split(args.libraries), "-pthread", "-o", path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{name}: {done.stderr}")
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False,
                          timeout=60, cwd=args.work)
    if done.returncode:
        fail(f"{name} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def same(what, found, wanted):
    for number, (one, other) in enumerate(zip(found, wanted)):
        if one != other:
            fail(f"{what}, line {number + 1}: '{one}', not '{other}'")
    if len(found) != len(wanted):
        fail(f"{what}: {len(found)} lines, not {len(wanted)}")


def tool(args, *words):
    done = subprocess.run([args.pxtrace, *words], capture_output=True, text=True, check=False,
                          timeout=60, cwd=args.work)
    if done.returncode:
        fail(f"pxtrace {' '.join(words)}: {done.stderr}")
    return done.stdout


def shown_by_tools(args, log, counts, plugin=None):
    """Every tool that shows events shows them under the interface's names: @counts of each."""
    if not args.pxtrace:
        return
    printed = tool(args, "print", log)
    stat = tool(args, "stat", log)
    for name, count in counts.items():
        lines = len(re.findall(rf"\b{name}\b", printed))
        if lines != count:
            fail(f"pxtrace print: {lines} of {name}, not {count}")
        if not re.search(rf"\b{name}\b", stat):
            fail(f"pxtrace stat does not know {name}")
    tool(args, "check", log)
    if plugin and os.path.exists(os.path.join(plugin, "babeltrace-plugin-ptrace.so")):
        try:
            done = subprocess.run(["babeltrace2", "--plugin-path", plugin, log],
                                  capture_output=True, text=True, check=False, timeout=60)
        except FileNotFoundError:
            return
        for name, count in counts.items():
            lines = len(re.findall(rf"\b{name}\b", done.stdout))
            if lines != count:
                fail(f"babeltrace2: {lines} of {name}, not {count}: {done.stderr}")


def zephyr(args):
    text = seed(args.seeds, "003")
    first = code_blocks(text, "Example: Retrieving Profiling Messages")[0]
    second, third = code_blocks(text, "Example: Adding a Kernel Event Logging Point")[:2]
    source = (ZEPHYR_SOURCE.replace("@ADDED1@", " ".join(line for line, _ in ZEPHYR_ADDED[:3]))
              .replace("@EXAMPLE1@", first).replace("@EXAMPLE2@", second)
              .replace("@EXAMPLE3@", third))
    log = os.path.join(args.work, "zephyr.ptl")
    same("example 1", compile_and_run(args, source, "zephyr_examples", log).splitlines(),
         ZEPHYR_WANTED)
    shown_by_tools(args, log, {"zephyr_event_8": 52, "zephyr_sleep": 1,
                               "zephyr_context_switch": 1}, args.plugin)
    for line, reason in ZEPHYR_ADDED:
        print(f"added: {line:45} {reason}")


def records(path):
    """What a file of the tracer holds, by the manual's expression; and its stamps."""
    with open(path, "rb") as data:
        content = data.read()
    if len(content) % 16:
        fail(f"{path}: {len(content)} bytes")
    found = [struct.unpack("<HHIII", content[at:at + 16]) for at in range(0, len(content), 16)]
    return (tuple((code, one, two) for code, one, _, _, two in found),
            [(high << 32) + low for _, _, high, low, _ in found])


def shark(args):
    text = seed(args.seeds, "001")
    example = next(block for block in re.findall(r"\\begin\{verbatim\}(.*?)\\end\{verbatim\}", text,
                                                 flags=re.S) if "FTrace_enable" in block)
    if example.count(SHARK_NETWORK) != 1 or SHARK_DISK not in example:
        fail("the example's network line, or the one for the disk, is not there")
    example = example.replace(SHARK_NETWORK, SHARK_DISK)
    example = re.sub(r"^\* *FTrace_init_disk_writer.*$", "*", example, flags=re.M)
    # @proc_table[exec_shadow].context@ is the paper's text.
    log = os.path.join(args.work, "shark.ptl")
    compile_and_run(args, SHARK_SOURCE.replace("@EXAMPLE@", example), "shark_example", log)
    first, ticks = records(os.path.join(args.work, "0trace.dat"))
    second, more = records(os.path.join(args.work, "1trace.dat"))
    if first != SHARK_FIRST or second != SHARK_SECOND:
        fail(f"files: {first}, {second}")
    if sorted(ticks + more) != ticks + more or len(set(ticks + more)) != 7:
        fail(f"stamps: {ticks + more}")
    counts = {"FTrace_filter_timer": 2, "FTrace_EVT_trace_start": 1, "FTrace_EVT_id": 2,
              "FTrace_EVT_ipoint": 1, "FTrace_EVT_trace_stop": 1}
    shown_by_tools(args, log, {**counts, "FTrace_EVT_next_chunk": 1}, args.plugin)
    if args.pxtrace:
        tool(args, "import", "shark", "1trace.dat", "0trace.dat", "-o", "both.ptl")
        shown_by_tools(args, os.path.join(args.work, "both.ptl"), counts, args.plugin)
        lines = [line for line in tool(args, "print", "both.ptl").splitlines() if "FTrace" in line]
        order = [re.search(r"FTrace_\w+", line)[0] for line in lines]
        if order != ["FTrace_filter_timer", "FTrace_EVT_trace_start", "FTrace_EVT_id",
                     "FTrace_EVT_id", "FTrace_filter_timer", "FTrace_EVT_ipoint",
                     "FTrace_EVT_trace_stop"]:
            fail(f"imported: {order}")
    for line, reason in SHARK_ADDED:
        print(f"added: {line:60} {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("zephyr", "shark"))
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--pxtrace")
    parser.add_argument("--plugin")
    args = parser.parse_args()
    args.work = os.path.join(os.path.abspath(args.work), args.name)
    os.makedirs(args.work, exist_ok=True)
    globals()[args.name](args)


if __name__ == "__main__":
    main()
