# SPDX-License-Identifier: MIT
"""The mistakes of tests/mutants.txt, in all other places of the library that have the same code.

A mutant quotes the lines that it changes.  Where the same lines stand in another function, the same
mistake could be made there; a test of the first place says nothing about it.  So each such place that no
mutant is listed for is a mutant of its own, of the kind "sibling" (scripts/drawn-mutants.py --siblings).
"""
import functools

import drawn
import mutants

SHORTEST = 25  # characters of code: less is the same by chance


@functools.lru_cache(maxsize=None)
def functions_of(text):
    return list(mutants.functions(text))


def in_functions(text, pattern):
    """(function, match) of each place inside a function."""
    for name, first, last in functions_of(text):
        for match in pattern.finditer(text, first, last):
            yield name, match


def all_of(texts):
    """The siblings in @texts, {file: text}, as drawn.Mutant, file by file."""
    listed = [mutant for mutant in mutants.read_list() if mutant.function]
    patterns = [(mutant, mutant.pattern()) for mutant in listed]
    taken = {file: [match.span() for mutant, pattern in patterns if mutant.file == file
                    for name, match in in_functions(text, pattern) if name == mutant.function]
             for file, text in texts.items()}
    for file, text in texts.items():
        ordinals = {}
        seen = set()
        for mutant, pattern in patterns:
            if len(mutant.code()) < SHORTEST:
                continue
            new = "\n".join(mutant.new)
            for function, match in in_functions(text, pattern):
                first, last = match.span()
                if (first, new) in seen or any(a < last and first < b for a, b in taken[file]):
                    continue
                seen.add((first, new))
                ordinals[function] = ordinals.get(function, 0) + 1
                yield drawn.Mutant.of(text, file, function, "sibling", ordinals[function], first, last, new)
