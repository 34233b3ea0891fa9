#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/papers.py finds in a paper, and scripts/citations.py in the tree, and what they let pass."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import citations  # noqa: E402
import papers  # noqa: E402

WORDS = {"pxt_ring", "struct", "posix_trace_event", "PTRACE_LOG_LOOP", "CONFIG_PTRACE_LOG_LOOP", "quick"}
PATHS = {"core", "core/ring.c", "core/ring.h", "docs", "docs/man", "docs/man/page-why.scd"}


class Form(unittest.TestCase):
    def test_a_line_of_more_than_100_columns_is_found_but_in_tables_links_marks_and_output(self):
        wide = "x" * 101
        self.assertEqual([1], [number for number, _ in papers.long_lines(wide)])
        self.assertEqual([], list(papers.long_lines("x" * 100)))
        for line in (f"| {wide} |", f"[here]({wide})", f"5<!-- size: {wide} -->"):
            self.assertEqual([], list(papers.long_lines(line)), line)
        block = f"```console\n$ a\n{wide}\n$ {wide}\n```\n{wide}"
        self.assertEqual([4, 6], [number for number, _ in papers.long_lines(block)])

    def test_sentences_end_at_stops_items_paragraphs_tables_and_code(self):
        def lengths(text):
            return [words for words, _ in papers.sentences(text)]

        self.assertEqual([3, 2], lengths("One two three. Four\nfive."))
        self.assertEqual([2, 1, 1], lengths("One two\n\nthree\n## heading of four words\nfour"))
        self.assertEqual([1, 2, 1], lengths("All:\n- one two\n- three"))
        self.assertEqual([1, 1], lengths("One\n```\ntwo three\n```\nfour\n| five | six |"))
        self.assertEqual([4], lengths("A `name (with, words)` is one"))
        self.assertEqual([2], lengths("Version 1.1"))

    def test_names_that_are_in_the_tree_are_there_and_others_are_not(self):
        for name in ("struct pxt_ring", "posix_trace_event()", "core/ring.c", "core/ring", "core/*.h", "--quick",
                     "-DCONFIG_PTRACE_LOG_LOOP=n", "PTRACE_LOG_...", "docs/man/page-NAME.scd", "ring.c"):
            self.assertTrue(papers.is_there(name, WORDS | {"ring"}, PATHS), name)
        for name in ("struct pxt_hot", "core/rings.c", "core/*.py", "--slow", "PTRACE_RING_...", "CONFIG_PTRACE_X"):
            self.assertFalse(papers.is_there(name, WORDS, PATHS), name)

    def test_exceptions_only_shrink(self):
        figures = papers.EXCEPTIONS
        try:
            papers.EXCEPTIONS = {name: (10**6,) * 4 for name in figures}
            self.assertEqual([], [line for line in papers.check_form() if "EXCEPTIONS" not in line])
            papers.EXCEPTIONS = {"FORMAT.md": (10**6,) * 4, **papers.EXCEPTIONS}
            self.assertTrue(any("FORMAT.md: keeps the form" in line for line in papers.check_form()))
        finally:
            papers.EXCEPTIONS = figures


class Citations(unittest.TestCase):
    def test_identifiers_are_found_wherever_they_stand(self):
        text = "/* POL-09, DEC-10; rulings 7, 12 and 23 */ rule 3, CRC-32, ASMDS-E1, RFC-4648, mistake 4"
        self.assertEqual({"POL-09", "DEC-10", "ASMDS-E1", "ruling 7", "ruling 12", "ruling 23", "rule 3", "mistake 4"},
                         citations.identifiers(text))

    def test_what_has_no_text_and_what_a_header_cites_is_a_problem(self):
        texts, problems = citations.read_texts()
        self.assertEqual([], problems)
        citations.scan_tree(texts, problems)
        self.assertEqual([], problems)
        del texts["DEC-10"]
        citations.scan_tree(texts, problems)
        self.assertTrue(any("DEC-10: docs/decisions.md has no text" in line for line in problems))


if __name__ == "__main__":
    unittest.main()
