#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `recover`, `receive` and `merge` make of input that somebody spoilt on purpose is sound.

usage: sound.py PXTRACE GOLDEN-DIRECTORY COUNT [FIRST]

Takes logs, what a line carries of them, and black boxes; changes bytes, puts numbers in their place at
which sums run over, and makes the checksums right again, so that more than the first look is tried.
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "line"))
import make_frames  # noqa: E402

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


def spoil_frames(rng, log):
    """Frames of it, some of which are others, with the checksums of their stream."""
    sender = make_frames.Sender(log, 3)
    sender.run()
    frames = []
    for piece in sender.pieces:
        while rng.random() < 0.1:
            frames.append(piece)
        if rng.random() < 0.9:
            frames.append(spoil(rng, piece) if rng.random() < 0.2 else piece)
    if rng.random() < 0.3:
        a, b = rng.randrange(len(frames) or 1), rng.randrange(len(frames) or 1)
        frames[a:b] = rng.sample(frames[a:b], len(frames[a:b]))
    out = bytearray(b"\0")
    for frame in frames:
        head = len(frame) > 1 and frame[1] >> 6 == make_frames.KIND_HEAD
        seed = b"" if head else log[32:48]
        out += make_frames.cobs(frame + struct.pack("<I", zlib.crc32(seed + frame))) + b"\0"
    return bytes(out)


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
        """What the command writes as made.ptl, and as made-2.ptl, must be sound."""
        # 1: there are several streams, and none was named.
        self.run(*words, "-o", "made.ptl", good=(0, 1, 2))
        for made in sorted(pathlib.Path(".").glob("made*")):
            self.logs += 1
            self.run("check", made.name, good=(0, 3))
            made.unlink()

    def done(self):
        for path in self.inputs:
            path.unlink()


def recover_a_box(trial, logs, boxes):
    option = trial.rng.choice([[], ["--all"]])
    trial.make("recover", trial.put(spoil(trial.rng, trial.rng.choice(boxes))), *option)


def recover_a_log(trial, logs, boxes):
    trial.make("recover", trial.put(spoil_log(trial.rng, trial.rng.choice(logs))))


def receive_frames(trial, logs, boxes):
    lines = [log for log in logs if log[23] == 1]
    trial.make("receive", trial.put(spoil_frames(trial.rng, trial.rng.choice(lines))), "-q")


def receive_a_log(trial, logs, boxes):
    trial.make("receive", trial.put(spoil_log(trial.rng, trial.rng.choice(logs))), "-q")


def merge_logs(trial, logs, boxes):
    names = [trial.put(spoil_log(trial.rng, log)) for log in trial.rng.sample(logs, 2)]
    if trial.rng.random() < 0.5:
        names.pop()
    option = trial.rng.choice([[], ["--incomplete"], ["--incomplete", "--same-boot"], ["--align", "job_start,job"]])
    trial.make("merge", *option, *names)


WAYS = [recover_a_box, recover_a_log, receive_frames, receive_a_log, merge_logs]


def main():
    pxtrace, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    count, first = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    logs = [path.read_bytes() for path in sorted(golden.glob("*.ptl"))]
    images = pathlib.Path("images")
    images.mkdir()
    subprocess.run([sys.executable, HERE.parent / "recover" / "check_images.py", "--make", images],
                   check=True, stdout=subprocess.DEVNULL)
    boxes = [path.read_bytes() for path in sorted(images.iterdir()) if path.is_file()]
    made = 0
    for number in range(first, first + count):
        trial = Trial(pxtrace, number)
        WAYS[number % len(WAYS)](trial, logs, boxes)
        trial.done()
        made += trial.logs
    print(f"{count} inputs, {made} logs, all sound")
    # Otherwise nothing was tried.
    return 0 if made >= count // 4 else 1


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
