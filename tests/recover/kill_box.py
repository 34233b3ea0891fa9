#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills a program that traces into a black box, again and again, and looks at what is left of it.

    kill_box.py PXTRACE BOX ROUNDS

Of what had been recorded when the process died (each thread says how many of its trace points had
returned) nothing may be missing: all of it in a stream with room, all that was not overwritten in
one that overwrites; a thread's events follow each other without a gap. The log is in no
contradiction with itself.
"""
import json
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

THREADS = 3


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def fail(*what):
    print("FAILED:", *what)
    sys.exit(1)


def kill(box, folder, policy, lanes, room, early):
    """@early: at any moment of its life; else when it traces."""
    words = [box, f"{folder}/box", f"{folder}/counts", policy, str(lanes), str(THREADS), str(room)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        if not early:
            child.stdout.readline()
        time.sleep(random.uniform(0, 0.02))
        child.send_signal(signal.SIGKILL)


def check_thread(story, thread, count, overwrites, setting):
    """@story: (thread, number), or None for a loss, behind which a thread may go on anywhere."""
    expected = 0
    for one in story:
        if one is None:
            expected = None if overwrites else expected
        elif one[0] == thread:
            if expected is not None and one[1] != expected:
                fail(setting, f"thread {thread}: {one[1]} comes where {expected} should")
            expected = one[1] + 1
    if expected is not None and expected < count:
        fail(setting, f"thread {thread} ends before {expected}, {count} trace points had returned")


def look(pxtrace, folder, policy, setting):
    log = f"{folder}/log.ptl"
    if not pathlib.Path(folder, "box").exists():
        return 0
    status, _, said = run(pxtrace, "recover", f"{folder}/box", "-o", log)
    content = pathlib.Path(folder, "box").read_bytes()
    if status == 2 and content[:4] != b"PXTR":
        return 0  # killed before it was a stream
    if status:
        fail(setting, status, said)
    status, report, _ = run(pxtrace, "check", "--json", log)
    if status not in (0, 3):
        fail(setting, report)
    sums = json.loads(report)
    _, text, _ = run(pxtrace, "print", "--json", log)
    story = [None if "event" not in entry else
             (entry["fields"]["who"], entry["fields"]["number"])
             for entry in map(json.loads, text.splitlines())
             if entry.get("event", "job") == "job"]
    counts = struct.unpack(f"{THREADS}I", pathlib.Path(folder, "counts").read_bytes()[:4 * THREADS])
    # What was being written, one a thread (and the one that defines names): nothing else is missing
    # in a stream with room. One that was full by then stopped by itself; what came later is lost.
    full = '"posix_trace_stop"' in text
    if full:
        counts = [0] * THREADS
    if policy == "until_full" and not full and sums["lost"] > THREADS + 1:
        fail(setting, f"{sums['lost']} lost in a stream with room")
    for thread in range(THREADS):
        check_thread(story, thread, counts[thread], policy == "loop", setting)
    if policy == "loop" and sums["written"] < sum(counts):
        fail(setting, f"{sums['written']} written, {sum(counts)} trace points returned")
    return sum(1 for one in story if one)


def main():
    pxtrace, box, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(time.time())
    random.seed(seed)
    seen = 0
    for i in range(rounds):
        policy = ("loop", "until_full")[i % 2]
        lanes = (1, 4)[i // 2 % 2]
        setting = f"round {i}, seed {seed}, {policy}, {lanes} lanes:"
        with tempfile.TemporaryDirectory() as folder:
            kill(box, folder, policy, lanes, 65536 if policy == "loop" else 16 << 20,
                 i % 4 == 3)
            seen += look(pxtrace, folder, policy, setting)
    if not seen:
        fail("no round had any event")
    print(f"{rounds} rounds, {seen} events")


if __name__ == "__main__":
    main()
