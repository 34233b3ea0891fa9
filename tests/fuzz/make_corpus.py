#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the inputs that fuzzing of a target begins with, a file each; they are the same in every run.

    make_corpus.py TARGET FOLDER        and in the folder around it words.dict: words of conditions, of rules for
                                        pxtrace why, and of descriptions

Logs are the golden ones, and lines begin with those, too; what is recovered begins with the images of
tests/recover and those logs; all else is told below.
"""
import base64
import pathlib
import random
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden"))
sys.path.insert(0, str(HERE.parent / "line"))
sys.path.insert(0, str(HERE.parent / "recover"))
import make_frames  # noqa: E402
import make_golden  # noqa: E402

GOLDEN = make_golden.logs()


WORDS = """== != <= >= !~ ~ && || late_ns job real label code huge event thread time tid lost cut ms min 0x 1e5
18446744073709551615 frame_in frame_out sched_switch mtx_lock note # char[ text[ ] , 4095
""".split() + [r"\\x", r"\"ct*\"", r"\x0a", r"\x00", " and ", " or "] + [
    word + " " for word in """not has job-release job-start job-end deadline-miss lock-wait lock-acquire lock-release
    block wake switch u8 u16 u32 u64 i8 i16 i32 i64 x8 x16 x32 x64 text float f32 double f64 string""".split()] + [
    " " + word for word in """span= class= key=number key=who delay=age late=d lock=addr on=n thread=tid from=prev_tid
    to=next_tid cpu=cpu state=prev_state to-name=next_comm""".split()]


def drawn(what):
    """Chance that is the same in every run."""
    return random.Random(what)


def damaged(content, chance):
    """@content with a piece of it changed, cut out, doubled or moved."""
    at, to = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    piece = content[at:to]
    return chance.choice((content[:at] + bytes([chance.randrange(256)]) + content[at + 1:], content[:at] + content[to:],
                          content[:to] + piece + content[to:], piece + content[:at] + content[to:], content[:at]))


def logs():
    for content in GOLDEN.values():
        for mode in (1, 3, 5):
            yield bytes([mode]) + content
        yield b"\x03" + content[:len(content) // 2]
    # A record that says a length it has not: heads fit together, and reading ends with an error.
    content = GOLDEN["boot-le64"]
    yield b"\x01" + content[:2528] + b"\x09\x34\x71" + content[2531:]
    # A set: the same blocks in each of its files, whose numbers are told apart.
    for name in ("le32", "le64"):
        files = [GOLDEN[name][:148] + struct.pack("<I", number) + GOLDEN[name][152:] for number in (2, 1, 3)]
        for mode in (9, 11, 13):
            yield bytes([mode]) + b"".join(files)
            yield bytes([mode]) + files[0] + files[1][:len(files[1]) // 2 & ~15] + files[2]


def lines():
    for name in ("be32", "be64", "le32", "le64"):
        content = GOLDEN[name]
        sender = make_frames.Sender(content, 7)
        stuffed = sender.run()
        pieces = b"".join(struct.pack("<H", len(piece)) + piece for piece in sender.pieces)
        # The same slots, called COMPACT, are records of any kind.
        compact = [piece[:1] + bytes([piece[1] | 0xc0]) + piece[2:] if piece[1] >> 6 == 0 else piece
                   for piece in sender.pieces]
        packed = b"".join(struct.pack("<H", len(piece)) + piece for piece in compact)
        yield b"\x01" + packed
        yield b"\x03" + packed
        yield b"\x28" + stuffed
        yield b"\x64" + stuffed[len(stuffed) // 3:]
        yield b"\x01" + pieces
        yield b"\x03" + pieces
        yield b"\x2a" + content
        chance = drawn(name)
        for mode in b"\x28\x64\x01\x03\x2a\xff" * 4:
            yield bytes([mode]) + damaged(pieces if mode & 0x3c == 0 else stuffed, chance)
    # Choices of a sender that makes its numbers up: four bytes a frame.
    for mode in (0x80, 0x81):
        yield bytes([mode]) + bytes(i * 37 % 256 for i in range(400))


def images():
    import check_images
    for state in check_images.SCENES.values():
        for i, form in enumerate(check_images.FORMS):
            content = state(form)[0]
            if len(content) < 65536:
                yield bytes([i & 1]) + content
    for log in GOLDEN.values():
        yield b"\x02" + log


# As the table of types in fuzz_why.c.
DEEDS = ("begin end release enter exit miss wait lock unlock block wake switch wakeup odd_begin odd_end note "
         "frame_in frame_out").split()


def story(mode, deeds, roles=b""):
    """@deeds: (deed, thread, two values) each; a '!' in front: events were lost before."""
    content = bytes([mode, len(roles)]) + roles
    for deed, thread, a, b in deeds:
        kind = DEEDS.index(deed.lstrip("!")) | (0xE0 if deed[0] == "!" else 0)
        content += bytes([kind, thread, 40, 3, a, b])
    return content


def stories():
    inversion = [("release", 1, 1, 0), ("wait", 3, 5, 0), ("lock", 3, 5, 0), ("switch", 3, 0, 1), ("begin", 1, 1, 20),
                 ("wait", 1, 5, 0), ("switch", 1, 0, 2), ("begin", 2, 2, 0), ("enter", 2, 0, 0), ("exit", 2, 0, 0),
                 ("end", 2, 2, 0), ("unlock", 3, 5, 0), ("lock", 1, 5, 0), ("unlock", 1, 5, 0), ("end", 1, 1, 0),
                 ("miss", 1, 1, 40)]
    sleep = [("odd_begin", 2, 0, 65), ("block", 2, 7, 0), ("switch", 2, 0, 0), ("wakeup", 2, 2, 0), ("!note", 3, 1, 1),
             ("switch", 2, 0, 2), ("wake", 3, 2, 0), ("odd_end", 2, 0, 65), ("begin", 0x22, 1, 0), ("end", 0x22, 1, 0)]
    frames = [("frame_in", 1, 4, 9), ("note", 2, 1, 200), ("frame_out", 1, 9, 0), ("frame_in", 1, 4, 8)]
    deadlock = [("begin", 1, 1, 0), ("lock", 1, 1, 0), ("lock", 2, 2, 0), ("wait", 2, 1, 0), ("wait", 1, 2, 0),
                ("note", 3, 0, 0), ("end", 1, 1, 0)]
    roles = b"job-start frame_in span=f key=number delay=age\njob-end frame_out span=f key=number\n"
    for mode in (0, 1, 2, 4, 8, 64):
        for deeds in (inversion, sleep, deadlock):
            yield story(mode, deeds)
    yield story(16, [(deed, thread | 32 * (thread & 1), a, b) for deed, thread, a, b in inversion + sleep])
    yield story(32, frames, roles)
    yield story(96, frames, roles + b"lock-wait note lock=addr class=m # ask\nswitch sched_switch from=cpu to=cpu\n")


# As the records in fuzz_sched.c: type, CPU, thread, another one, time, number.
def records():
    switches = [(5, 0, 10, 11, 1, 10), (18, 0, 10, 50, 2, 0), (2, 0, 50, 51, 3, 0), (3, 0, 10, 51, 1, 0),
                (4, 0, 10, 0, 1, 3), (9, 1, 50, 11, 2, 0), (10, 1, 50, 11, 1, 1), (8, 1, 50, 11, 1, 1),
                (7, 1, 11, 0, 1, 9), (0, 1, 11, 0, 1, 0), (1, 1, 11, 0, 1, 0), (6, 1, 11, 10, 1, 0),
                (2, 1, 255, 0, 1, 0), (11, 0, 10, 1, 1, 77)]
    for mode in (0, 1, 3, 7, 0x21, 0x53, 0xf0):
        yield bytes([mode]) + b"".join(bytes(one) for one in switches)
    # Whole records of the ring: a switch, a name, a loss, a sample.
    place = struct.pack("<iiQII", 10, 10, 5, 0, 0)
    raw = (struct.pack("<IHH", 15, 0x6000, 40) + struct.pack("<ii", 50, 50) + place
           + struct.pack("<IHH", 3, 0x2000, 48) + struct.pack("<ii8s", 10, 10, b"name") + place
           + struct.pack("<IHH", 2, 0, 48) + struct.pack("<QQ", 1, 7) + place
           + struct.pack("<IHH", 9, 0, 72) + place + struct.pack("<I", 36) + struct.pack("<H34x", 318))
    for mode in (8, 9, 0x0b, 0x29, 0xfb):
        yield bytes([mode]) + raw


# Binaries as small as they can be: an address, then a table of symbols in several sections.
def binaries():
    names = b"\0variable\0_Z1fv\0"
    def section(kind, at, size, link=0, info=0, each=0):
        return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, link, info, 8, each)
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 0x10 | kind, 0, 1, 0x1000 + 64 * i, 80)
                                   for i, (name, kind) in enumerate([(1, 1), (10, 2), (1, 1)]))
    for kinds in ((2,), (11, 2), (2, 2, 11)):
        heads = bytes(64) + section(3, 64, len(names)) + b"".join(
            section(kind, 64 + len(names), len(symbols), 1, 1, 24) for kind in kinds)
        yield struct.pack("<Q", 0x1000) + b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(names) + len(symbols), 0, 64, 56, 0, 64, len(kinds) + 2,
            1) + names + symbols + heads


# As the steps in fuzz_files.c: what, process, address, size, path, -, time.
def mappings():
    steps = [(0, 1, 1, 8, 47, 65, 0, 1), (0, 1, 4, 8, 47, 66, 0, 1), (128, 1, 1, 3, 0, 0, 0, 0),
             (0, 1, 2, 16, 47, 67, 0, 1), (128, 1, 1, 3, 0, 0, 0, 2), (2, 1, 4, 0, 0, 0, 0, 1),
             (128, 1, 4, 0, 0, 0, 0, 0), (64, 1, 6, 0, 97, 98, 0, 0), (0, 1, 6, 8, 47, 66, 0, 1),
             (64, 1, 6, 0, 97, 0, 0, 0), (68, 1, 6, 0, 97, 98, 21, 0), (0, 1, 6, 8, 47, 66, 0, 1), (3, 1, 0, 0, 0, 0, 0, 1), (128, 1, 2, 0, 0, 0, 0, 1)]
    yield b"".join(bytes(step) for step in steps)


# Frames of zstd that compress nothing, and one of zeros.
def frames():
    def block(last, kind, size, content):
        return struct.pack("<I", last | kind << 1 | size << 3)[:3] + content
    head = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)
    log = GOLDEN["le64"][:3000]
    for first in (0, 1):
        yield bytes([first]) + head + block(1, 0, len(log), log)
        yield bytes([first]) + head + block(0, 0, len(log), log) + block(1, 1, 65536, b"\0")
        yield bytes([first]) + head + block(1, 1, 131072, b"\0") + head + block(1, 0, 8, log[:8])


# Of S.Ha.R.K.'s tracer: 16 bytes an event; datagrams begin with what pxt_shark_is_packet() wants.
def sharks():
    events = b"".join(struct.pack("<QIHH", 1000 * i, i, i % 7, code)
                      for i, code in enumerate((0, 1, 3, 0x20, 0x21, 0x30, 2)))
    for first in (0, 2, 0x52):
        yield bytes([first]) + events
    yield b"\x01" + bytes([len(events) // 8]) + events
    # SystemView: a sync, the rate, a task's name, its switch, an interrupt, a loss.
    yield (b"\x04; x\n" + bytes(10) + b"\x0a\x00\x18\x05\xc0\x84\x3d\x01\x00\x00" + b"\x09\x05\x01\x04task\x00"
           b"\x04\x05\x07\x02\x0f\x01\x06\x05\x01\x03\x01\x01\x02\x01\x11\x01")


def texts():
    lines = [
        "  job-42    [001] d..2.     3.000100: sched_switch: prev_comm=job prev_pid=42 prev_prio=120 prev_state=S "
        "==> next_comm=other next_pid=43 next_prio=98",
        "  job-42    [000] d..3.     3.000200: sched_waking: comm=job pid=42 prio=120 target_cpu=001",
        "  <idle>-0  [000] dN.3.     3.000300: sched_wakeup: job:42 [120] success=1 CPU:001",
        "CPU:1 [LOST 17 EVENTS]",
        "  other-43  [001] d..2.     4000000000: sched_switch: other:43 [98] R ==> job:42 [120]",
        "# tracer: nop",
        "  job 41/42 [001] 3.000400: 250000 task:task_rename: pid=42 oldcomm=a b newcomm=c oom_score_adj=0",
        "  job 41/42 [001] 3.000500: sys_enter: NR 1 (0, 1)",
    ]
    for clock in (0, 1, 2, 3, 4, 12):
        yield bytes([clock]) + "\n".join(lines).encode() + b"\n"


# As the messages in fuzz_ctlsock.c.
def messages():
    def message(what, flags=0, how=0, text=b""):
        return bytes([what, flags, how, len(text)]) + text
    changes = [b"", bytes([8, 0, 0, 255]), bytes([64, 0, 128, 7]), bytes([0, 4, 0, 1, 16, 1, 128, 255])]
    for change in changes:
        yield message(1, 64, 0, change) + message(2)
    yield message(3) + message(6, 0, 1, b"one\0other\0") + message(7, 0, 1, b"one\0") + message(4) + message(5)
    yield message(8, 64) + message(9, 64) + message(2, 1, 1) + message(2, 2, 1) + message(2, 4, 1)
    yield message(1, 16) + message(2, 8) + message(2, 32, 0, b"raw")


# For the two types in fuzz_files.c: each test, each value beside it, and sentences of them.
def conditions():
    chance = drawn("where")
    fields = "job minus late_ns real mask code label huge pid tid cpu lost cut bytes event thread time nobody".split()
    values = ["0", "-1", "-3", "5", "0xdeadbeef", "0Xf", "18446744073709551615", "1e5", "-1.5", "1e-3", "9e999", ".5",
              "1ms", "2min", "22s", "1.5us", "'ok'", '"ok"', "\"c*t\"", "'\\x00\\n\\\\'", "'\\xD0a'", "''", '"', "job"]
    operators = ["=", "==", "!=", "<", "<=", ">", ">=", "~", "!~"]
    tests = [f"{field} {operator} {chance.choice(values)}" for field in fields for operator in operators]
    tests += [f"{chance.choice(fields)}{chance.choice(operators)}{value}" for value in values]
    tests += [f"{word}{field}" for field in fields for word in ("", "has ", "not ", "!", "not has ")]
    yield from (test.encode() for test in tests)
    for i in range(160):
        parts = [chance.choice(tests) for _ in range(chance.randrange(2, 12))]
        text = chance.choice((" and ", " or ", "&&", "||", ") or not (", " and !(", "\t")).join(parts).encode()
        yield b"(" * (i % 5) + text + b")" * (i % 4)
        yield damaged(text, chance)
    yield from (word * 70 for word in (b"(", b"!", b"not ", b"job or ", b"9", b"_", b"0x1", b"'\\x0"))


# What describes a payload, and behind it what the payload is.
def descriptions():
    chance = drawn("description")
    types = [f"{kind}{bits}" for kind in "uix" for bits in (8, 16, 32, 64)]
    types += ["f32", "f64", "float", "double", "char", "string", "text", "char[1]", "text[16]", "char[08]", "char[4095]",
              "text[4096]", "text[]", "char[", "u7", ""]
    names = ["a", "job", "late_ns", "_", "x" * 64, "9", "", "u8", "caf\xe9"]
    yield from (f"{kind} {name}".encode("latin-1") for kind in types for name in names[:3])
    yield from (f"u8 {name}".encode("latin-1") for name in names)
    for _ in range(120):
        fields = [f"{chance.choice(types)}{chance.choice((' ', '  ', chr(9)))}{chance.choice(names)}{i}"
                  for i in range(chance.randrange(1, 40))]
        text = chance.choice((", ", ",", " ,\t", ",,")).join(fields).encode("latin-1")
        yield text + b"\0" + chance.randbytes(chance.randrange(64))
        yield damaged(text, chance)


# Of pxtrace link: a head and answers, also to other orders, with lengths for fuzz_files.c, or as a line has them.
def answers():
    for order, name in (("<", "le64"), (">", "be32")):
        sender = make_frames.Sender(GOLDEN[name], 7)
        sender.head(bytes(64))
        for number, what in ((0x0201, 2), (0x0202, 1), (0x0201, 1), (0x0201, 1), (0x0203, 1)):
            sender.send(make_frames.KIND_META, struct.pack(order + "HHHHBBBBQQQ", 12, 1, 32, number, what, 0, 1, 0, 9, 7, 2))
        pieces = b"".join(struct.pack("<H", len(piece)) + piece for piece in sender.pieces)
        console = b"booting\r\n" + b"".join(b"PTL:" + base64.b64encode(sender.out[at:at + 48]) + b"\r\n"
                                            for at in range(0, len(sender.out), 48))
        for mode in (0, 0x40, 0xfc):
            yield bytes([mode]) + bytes(sender.out)
            yield bytes([mode | 1]) + console
            yield bytes([mode | 2]) + pieces


def inputs(target):
    makers = {"symbols": binaries, "images": mappings, "packed": frames, "import": sharks, "ftrace": texts,
              "ctlsock": messages, "where": conditions, "description": descriptions, "line": lines,
              "recover": images, "sched": records, "why": stories, "link": answers}
    if target in ("top", "flight"):
        return (bytes([log[0], 200 + i % 10]) + log[1:] for i, log in enumerate(logs()))
    if target == "export":
        return (bytes([log[0] & 1 | i % 9 << 1]) + log[1:] for i, log in enumerate(logs()))
    if target == "plugin":
        return (bytes([log[0] | sink]) + log[1:] for log in logs() for sink in (0, 64))
    return makers.get(target, logs)()


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "words.dict").write_text("".join(f'"{word}"\n' for word in WORDS), encoding="ascii")
    for number, content in enumerate(inputs(target)):
        (folder / f"{number:05}").write_bytes(content)


if __name__ == "__main__":
    main()
