#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `merge` makes of logs that somebody spoilt on purpose is sound (recover, receive: fuzz_recover.c, fuzz_line.c).

usage: sound.py PXTRACE GOLDEN-DIRECTORY COUNT [FIRST]

Takes logs, changes bytes, puts numbers in their place at which sums run over, and makes the checksums right
again, so that more than the first look is tried.
Each input has a number, from which it follows: COUNT of them, beginning with FIRST (1).  Every log
that comes out is given to `pxtrace check`, which must find nothing in it.  Works in the current folder.
Exit status: 0 all was sound, 1 not; then the input is left there.
"""
import contextlib
import os
import pathlib
import random
import struct
import subprocess
import sys
import zlib

ODD = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 2**62, 2**63, 2**64 - 1]
SECONDS = 20
# What they find is told from what pxtrace says.
SANITIZERS = {name: f"{os.environ.get(name, '')}:exitcode=99"
              for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}


# ---- Right checksums ----

def order_of(log):
    return ">" if log[8:12] == b"\x01\x02\x03\x04" else "<"


def sign(log):
    """The head of a log, and each block as long as it says that it is."""
    log = bytearray(log)
    order = order_of(log)
    if len(log) < 512:
        return bytes(log)
    struct.pack_into(order + "I", log, 508, zlib.crc32(log[:508]))
    at = 512
    while at + 96 <= len(log):
        length = struct.unpack_from(order + "I", log, at + 8)[0]
        if log[at:at + 4] != b"PTLB" or length < 96 or at + length > len(log):
            at += 16
            continue
        sum_of_head = zlib.crc32(log[at:at + 92])
        struct.pack_into(order + "I", log, at + 92,
                         zlib.crc32(log[at + 96:at + length], sum_of_head))
        at += length
    return bytes(log)


# ---- Spoiling ----

def spoil(rng, data, first=0):
    """A few numbers of one to eight bytes become others."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        size = rng.choice([1, 2, 4, 8])
        if len(data) < first + size:
            continue
        at = rng.randrange(first, len(data) - size + 1)
        at -= rng.choice([0, at % size]) if at - at % size >= first else 0
        number = rng.choice(ODD + [rng.getrandbits(64)]) & (2**(8 * size) - 1)
        if rng.random() < 0.3:
            number = data[at] ^ 1 << rng.randrange(8)
        data[at:at + size] = number.to_bytes(size, rng.choice(["little", "big"]))
    return bytes(data)


def spoil_log(rng, log):
    spoilt = spoil(rng, log, rng.choice([0, 16, 512, 512, 512]))
    if rng.random() < 0.2:
        spoilt = spoilt[:rng.randrange(len(spoilt))]
    # The place of a block's head that says how long it is stays right most of the time.
    return sign(spoilt) if rng.random() < 0.9 else spoilt


# ---- Running ----

class Trial:
    def __init__(self, pxtrace, number):
        self.pxtrace, self.number = pxtrace, number
        self.rng = random.Random(number)
        self.logs = 0
        self.inputs = []

    def fail(self, text, run):
        print(f"input {self.number}: {text}: {' '.join(map(str, run.args))}")
        print(run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace"))
        sys.exit(1)

    def run(self, *words, good):
        run = subprocess.run([self.pxtrace, *words], capture_output=True, timeout=SECONDS,
                             check=False, env={**os.environ, **SANITIZERS})
        if run.returncode not in good:
            self.fail(f"exit status {run.returncode}", run)

    def put(self, data):
        path = pathlib.Path(f"input-{self.number}-{len(self.inputs)}")
        path.write_bytes(data)
        self.inputs.append(path)
        return path.name

    def make(self, *words):
        """What the command writes, if it writes something, must be sound."""
        made = pathlib.Path("made.ptl")
        self.run(*words, "-o", made.name, good=(0, 2))
        if made.exists():
            self.logs += 1
            self.run("check", made.name, good=(0, 3))
            made.unlink()

    def done(self):
        for path in self.inputs:
            path.unlink()


def merge_logs(trial, logs):
    names = [trial.put(spoil_log(trial.rng, log)) for log in trial.rng.sample(logs, 2)]
    if trial.rng.random() < 0.5:
        names.pop()
    option = trial.rng.choice([[], ["--incomplete"], ["--incomplete", "--same-boot"], ["--align", "job_start,job"]])
    trial.make("merge", *option, *names)


def main():
    pxtrace, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    count, first = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    logs = [path.read_bytes() for path in sorted(golden.glob("*.ptl"))]
    made = 0
    for number in range(first, first + count):
        trial = Trial(pxtrace, number)
        merge_logs(trial, logs)
        trial.done()
        made += trial.logs
    print(f"{count} inputs, {made} logs, all sound")
    # Otherwise nothing was tried.
    return 0 if made >= count // 4 else 1


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
