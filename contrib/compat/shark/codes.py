#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the table of S.Ha.R.K.'s event codes of the tables in the manual's text (LaTeX).

usage: codes.py MANUAL [--check]     writes include/FTrace_codes.h, or compares it

The low four bits of a code are its family.  A code whose family is another one than that of the rest
of its table is a slip of the pen: it gets the place that is missing in its family, and the printed
code stands in the list of those that readers of old files accept, too.
"""
import argparse
import os
import re
import sys

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include", "FTrace_codes.h")
EVENTS, FILTERS = 68, 12


def rows(text):
    """Tables of (name, code, parameter 1, parameter 2), without what prints nothing."""
    tables = []
    for table in re.findall(r"\\begin\{tabular\}\{\|l\|c.*?\\end\{tabular\}", text, flags=re.S):
        found = []
        for row in re.split(r"\\\\", re.sub(r"\\(?:hline|cline\{[\d-]+\})", "", table)):
            cells = [cell.strip() for cell in row.replace("\n", " ").split("&")]
            name = re.search(r"(FTrace\\_\w[\w\\]*)", cells[0])
            if name and len(cells) > 1 and re.match(r"0x[0-9A-F]{2}$", cells[1]):
                found.append((name[1].replace("\\_", "_"), int(cells[1], 16), *cells[2:]))
        if found:
            tables.append(found)
    return tables


def parameter(text, number):
    """A field's name, of what the table says the parameter is."""
    words = re.sub(r"\W+", "_", text.replace("\\_", "_")).strip("_").lower()
    words = "interrupt" if words == "int" else words
    return words if words and words != "free" and not text.startswith("\\multicolumn") \
        and re.fullmatch(r"[a-z]\w*", words) else f"par{number}"


def mended(table):
    """Codes with those in a foreign family put where they belong; and the slips."""
    families = [code & 15 for _, code, *_ in table]
    family = max(set(families), key=families.count)
    taken = {code for _, code, *_ in table}
    free = [code for code in range(family, max(taken), 16) if code not in taken]
    slips, result = [], []
    for name, code, *rest in table:
        # Two tables of one row or of two families are as they are: nobody is in the majority.
        if code & 15 != family and families.count(family) > len(table) / 2 and free:
            slips.append((code, free[0]))
            code = free.pop(0)
        result.append((name, code, *rest))
    return result, slips


def listed(name, arguments):
    """A macro that applies another one to each."""
    return [f"#define {name}(X) \\", *(f"\tX({one}) \\" for one in arguments[:-1]),
            f"\tX({arguments[-1]})"]


def header(text):
    events, filters, slips = [], [], []
    for table in rows(text):
        if table[0][0].startswith("FTrace_filter"):
            filters += table
            continue
        fixed, wrong = mended(table)
        slips += wrong
        for name, code, *rest in fixed:
            rest += [""] * (2 - len(rest))
            one, two = (parameter(cell, number + 1) for number, cell in enumerate(rest[:2]))
            if one == two:
                one, two = "par1", "par2"
            events.append((name, code, one, two))
    mask = [code for name, code, *_ in filters if name == "FTrace_family_mask"]
    filters = [row for row in filters if row[0] != "FTrace_family_mask"]
    codes = [code for _, code, *_ in events + filters]
    if (len(events), len(filters), len(mask)) != (EVENTS, FILTERS, 1) or len(set(codes)) != len(codes):
        sys.exit(f"codes.py: {len(events)} events, {len(filters)} filters, {len(mask)} masks; "
                 f"{len(codes) - len(set(codes))} codes twice")
    lines = ["/* SPDX-License-Identifier: MIT */",
             "/* FTrace_codes.h - event codes and filters, by codes.py of the manual's tables. */",
             "#ifndef FTRACE_CODES_H", "#define FTRACE_CODES_H", "", "#include <stdint.h>", "",
             "/* clang-format off */"]
    lines += [f"#define {name:32} 0x{code:02X}" for name, code, *_ in events]
    lines += [f"#define {name:32} 0x{code:02X}" for name, code, *_ in filters]
    lines += [f"#define {'FTrace_family_mask':32} 0x{mask[0]:02X}", "",
              "/* name, code, what the two parameters are: of each event but the first, which is none,",
              "   and the last, which is not stored */",
              *listed("FTRACE_EVENTS", [f"{name}, {one}, {two}" for name, code, one, two in events
                                       if code not in (0x00, 0xFF)]), "",
             *listed("FTRACE_FILTERS", [name for name, *_ in filters]), "",
             "/* printed code, code: slips of the manual's tables */",
             *listed("FTRACE_SLIPS", [f"0x{wrong:02X}, 0x{right:02X}" for wrong, right in slips])]
    lines += ["", "/* clang-format on */", "#endif", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manual")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if not os.path.exists(args.manual):
        print(f"{args.manual} is not here: skipped")
        return 77
    with open(args.manual, encoding="latin-1") as manual:
        made = header(manual.read())
    if not args.check:
        with open(HEADER, "w", encoding="utf-8") as out:
            out.write(made)
        return 0
    with open(HEADER, encoding="utf-8") as there:
        same = there.read() == made
    print("FTrace_codes.h is what the tables give" if same else "FTrace_codes.h differs")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
