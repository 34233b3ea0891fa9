#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of pxtrace report, without its data, into two C arrays, packed as LZ4 blocks (pack.c).

usage: embed.py OUTPUT.c PAGE.html STYLE.css SCRIPT.js...

The page's @STYLE@ and @SCRIPT@ become the files' contents, @POLICY@ a Content-Security-Policy that
allows exactly this style and this script and nothing else (no network, no other script even if
somebody found a way to write one into the page), and @DATA@ is where the arrays are divided.
"""
import base64
import hashlib
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Comments and indentation are for those who read the sources.
    lines = [line.strip() for line in text.split("\n")]
    return "\n".join(line for line in lines if not line.startswith("//") and "SPDX-License-Identifier" not in line) + "\n"


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def length_beyond(value):
    """What does not fit into the four bits of a token."""
    return [] if value < 15 else [255] * ((value - 15) // 255) + [(value - 15) % 255]


def packed(data):
    """An LZ4 block: tokens, each with bytes as they are and a copy of earlier ones."""
    out, seen, at, begin = bytearray(), {}, 0, 0

    def copy_at(at):
        longest, distance = 0, 0
        for place in seen.get(data[at:at + 4], [])[-32:]:
            length = 4
            while at + length < len(data) - 5 and data[place + length] == data[at + length]:
                length += 1
            if length >= longest and at - place < 65536:
                longest, distance = length, at - place
        return longest, distance

    def put(literals, length, distance):
        out.append(min(len(literals), 15) << 4 | min(max(length - 4, 0), 15))
        out.extend(length_beyond(len(literals)))
        out.extend(literals)
        if length:
            out.extend([distance & 255, distance >> 8, *length_beyond(length - 4)])

    while at < len(data) - 12:
        length, distance = copy_at(at)
        seen.setdefault(data[at:at + 4], []).append(at)
        if not length or copy_at(at + 1)[0] > length + 1:
            at += 1
            continue
        put(data[begin:at], length, distance)
        for inside in range(at + 1, at + length):
            seen.setdefault(data[inside:inside + 4], []).append(inside)
        at = begin = at + length
    put(data[begin:], 0, 0)
    return bytes(out)


def part(name, data):
    block = packed(data)
    rows = [", ".join(str(byte) for byte in block[at:at + 24]) for at in range(0, len(block), 24)]
    return (f"static const unsigned char {name}_block[] = {{\n\t" + ",\n\t".join(rows) + "\n};\n"
            f"const struct pxt_page_part {name} = {{ {name}_block, sizeof {name}_block, {len(data)} }};\n")


def main():
    output, page, style, *scripts = sys.argv[1:]
    style = read(style)
    script = "\"use strict\";\n(() => {\n" + "".join(read(path) for path in scripts) + "})();\n"
    for text in (style, script):
        if "</" in text and ("</script" in text or "</style" in text):
            sys.exit("embed.py: a closing tag inside a script or style")
    policy = ("default-src 'none'; script-src " + hash_of(script) + "; style-src " + hash_of(style)
              + "; img-src data: blob:; base-uri 'none'; form-action 'none'")
    text = (read(page).replace("@POLICY@", policy).replace("@STYLE@", style)
            .replace("@SCRIPT@", script))
    head, tail = text.lstrip().split("@DATA@")
    with open(output, "w", encoding="utf-8") as file:
        file.write("/* SPDX-License-Identifier: MIT */\n/* Made by tools/report/embed.py. */\n"
                   "#include \"tools/report/report.h\"\n\n")
        begin = ", ".join(str(byte) for byte in head.encode()[:64])
        file.write(f"const unsigned char pxt_page_begin[64] = {{ {begin} }};\n")
        file.write(part("pxt_page_head", head.encode()) + "\n")
        file.write(part("pxt_page_tail", tail.encode()))


if __name__ == "__main__":
    main()
