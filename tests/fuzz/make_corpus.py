#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the seed corpus of fuzz_log.c from the golden logs.

    make_corpus.py FOLDER
"""
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for log in sorted(GOLDEN.glob("*.ptl")):
        content = log.read_bytes()
        for mode in (1, 3, 5):
            (folder / f"{log.stem}-{mode}").write_bytes(bytes([mode]) + content)
        (folder / f"{log.stem}-half").write_bytes(b"\x03" + content[:len(content) // 2])


if __name__ == "__main__":
    main()
