#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the page of pxtrace report, without its data, into two C arrays.

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
    # The licence line is for those who read the sources.
    return "\n".join(line for line in text.split("\n") if "SPDX-License-Identifier" not in line)


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, data):
    rows = [", ".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
    return (f"const unsigned char {name}[] = {{\n\t" + ",\n\t".join(rows) + "\n};\n"
            f"const size_t {name}_bytes = sizeof {name};\n")


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
        file.write(array("pxt_page_head", head.encode()) + "\n")
        file.write(array("pxt_page_tail", tail.encode()))


if __name__ == "__main__":
    main()
