#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The corpora that fuzzing begins with.

    make_corpus.py TARGET FOLDER          writes the inputs of TARGET to FOLDER, a file each
    make_corpus.py --keep TARGET FOLDER   the files of FOLDER become the kept corpus of TARGET

A kept corpus is TARGET.corpus, an input a line, bytes beyond printable ASCII as \\xNN.  That of logs
is made of the golden logs, and lines begin with those, too; what is recovered begins with the images of
tests/recover and those logs.
"""
import importlib.util
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"


def kept(target):
    for line in (HERE / f"{target}.corpus").read_text(encoding="ascii").splitlines():
        yield line.encode("ascii").decode("unicode_escape").encode("latin-1")


def logs():
    for log in sorted(GOLDEN.glob("*.ptl")):
        content = log.read_bytes()
        for mode in (1, 3, 5):
            yield bytes([mode]) + content
        yield b"\x03" + content[:len(content) // 2]


def lines():
    path = HERE.parent / "line" / "make_frames.py"
    spec = importlib.util.spec_from_file_location("make_frames", path)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    for log in sorted(GOLDEN.glob("[bl]e*.ptl")):
        content = log.read_bytes()
        sender = maker.Sender(content, 7)
        stuffed = sender.run()
        pieces = b"".join(struct.pack("<H", len(piece)) + piece for piece in sender.pieces)
        yield b"\x28" + stuffed
        yield b"\x64" + stuffed[len(stuffed) // 3:]
        yield b"\x01" + pieces
        yield b"\x03" + pieces
        yield b"\x2a" + content


def images():
    sys.path.insert(0, str(HERE.parent / "recover"))
    import check_images
    for scene in check_images.SCENES.values():
        for i, form in enumerate(check_images.FORMS):
            content = scene(form)[0]
            yield bytes([i & 1]) + content
    for log in sorted(GOLDEN.glob("*.ptl")):
        yield b"\x02" + log.read_bytes()


def inputs(target):
    if target in ("log", "plugin"):
        yield from logs()
    if target == "line":
        yield from lines()
    if target == "recover":
        yield from images()
    if (HERE / f"{target}.corpus").exists():
        yield from kept(target)


def keep(target, folder):
    inputs = {path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    lines = []
    for content in sorted(inputs, key=lambda one: (len(one), one)):
        lines.append("".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}"
                             for byte in content))
    (HERE / f"{target}.corpus").write_text("\n".join(lines) + "\n", encoding="ascii")


def main():
    if sys.argv[1] == "--keep":
        keep(sys.argv[2], sys.argv[3])
        return
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(inputs(target)):
        (folder / f"{number:05}").write_bytes(content)


if __name__ == "__main__":
    main()
